/** What was asked for, seen in an answer: its members, and the flags that say that it was done. */

import type { Json } from '../../../document/document.ts';
import type { Effect } from '../../../parts/effects.ts';
import type { Named } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import { isErrorName } from './open-answers.ts';

/** Says in an answer whether what was asked for is so now. */
type TellDone = (whole: Value, method: string, sent: Fields) => void;

/** The members of one map of an answer that say whether something is so: those of its top, or of a map in it. */
interface Flags {
  readonly within: string | undefined;
  readonly names: readonly string[];
}

/**
 * Compiles it: a map that tells of nothing but whether something is so (`{ data: { liked } }`, `{ deleted }`, `{ success, message }`) says after an act that it is. What
 * was done is true; after a DELETE only what is called by its removal is, and what was there (`liked`, `following`) is so no more. A map with anything else in it is a
 * thing, whose flags are its own; so is what states an example or a default.
 */
export function compileActFlags(shape: Shape, examples: Named<Json>, samples: Samples): TellDone | undefined {
  // An example is its author's word for what is answered.
  if (Object.keys(examples).length > 0) return undefined;
  const members = samples.membersOf(shape);
  const inner = Object.entries(members).flatMap(([name, one]) =>
    isPlainMap(one) ? flagsOf(name, samples.membersOf(one), samples) : [],
  );
  const all = [...flagsOf(undefined, members, samples), ...inner];
  if (all.length === 0) return undefined;
  return (whole, method, sent) => {
    if (!acts.has(method) || !isFields(whole)) return;
    for (const { within, names } of all) {
      const map = within === undefined ? whole : whole[within];
      if (!isFields(map)) continue;
      for (const name of names)
        if (typeof map[name] === 'boolean' && !Object.hasOwn(sent, name)) map[name] = isSoAfter(method, name);
    }
  };
}

const acts: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

function flagsOf(within: string | undefined, members: Readonly<Record<string, Json>>, samples: Samples): readonly Flags[] {
  const names: string[] = [];
  for (const [name, one] of Object.entries(members)) {
    const { type, example, default: usual, const: only, enum: allowed } = isPlainMap(one) ? samples.whole(one) : {};
    if (type === 'boolean') {
      if ([example, usual, only, allowed].every((stated) => stated === undefined) && !ofSomethingElse.test(name))
        names.push(name);
    } else if (!isErrorName(name) && !besides.test(name)) return [];
  }
  return names.length === 0 ? [] : [{ within, names }];
}

/** Whether what a member is called by is so once an act has succeeded. */
function isSoAfter(method: string, name: string): boolean {
  const [, plain = name] = /^(?:is|was|has)?_?(.*)$/i.exec(name) ?? [];
  return method !== 'DELETE' || removal.test(plain);
}

const removal =
  /^(?:deleted?|removed?|revoked?|cancell?ed|destroyed|detached|unlinked|archived|success(?:ful)?|succeeded|ok|done|acknowledged|un\w+ed)$/i;
/** What says nothing of the act itself. */
const ofSomethingElse = /pending|fail|error|invalid|more|required|dry_?run|already/i;
/** What may stand beside it: words about how it went. */
const besides = /^(?:message|detail|status|code|title|request_?id|ray)$/i;

/** Leaves of the rows in an answer the members that are asked for, or that its list has; changes it in place. */
type LeaveMembers = (whole: Value, exchange: Exchange) => void;

/**
 * Compiles which members of rows an answer shows. A list that states another, shorter shape of its rows than reading one does (`TaskCompact`)
 * shows what that has, and `fields=name,notes` asks for these alone, or beside those of a short list. The identifier is always there.
 */
export function compileMembers(
  shape: Shape,
  does: Effect | undefined,
  identifier: string | undefined,
  samples: Samples,
): LeaveMembers {
  if (!does || !('resource' in does) || identifier === undefined) return () => {};
  const short = does.verb === 'list' ? shortOf(shape, does.resource, samples) : undefined;
  return (whole, { params }) => {
    const asked = namesAsked(params);
    if (!short && !asked) return;
    const named = new Set([identifier, 'type', ...(short ?? []), ...(asked ?? [])]);
    for (const row of rowsIn(whole, identifier, 0)) leave(row, named, asked !== undefined && !short);
  };
}

/** The members of the items of a list, where they are a resource of their own. */
function shortOf(shape: Shape, resource: string, samples: Samples): readonly string[] | undefined {
  const items = [shape, ...Object.values(samples.membersOf(shape))].flatMap((one) => {
    const inner = isPlainMap(one) ? samples.whole(one).items : undefined;
    return isPlainMap(inner) && typeof inner.resource === 'string' ? [inner as Shape] : [];
  });
  const [only, ...more] = items;
  if (!only || more.length > 0 || only.resource === resource) return undefined;
  const names = Object.keys(samples.membersOf(only));
  return names.length > 1 ? names : undefined;
}

/** The names in `fields`, `opt_fields`, `select` or `fields[things]`; of `assignee.name` the first. */
function namesAsked(params: Exchange['params']): readonly string[] | undefined {
  for (const [name, value] of Object.entries(params)) {
    if (!selecting.test(name) || value === undefined) continue;
    const texts = (Array.isArray(value) ? value : [value]).map(String).flatMap((text) => text.split(','));
    const names = texts.map((text) => text.trim().replace(/^[-+]/, '').split(/[./(]/)[0] ?? '');
    // A star asks for all, and signs of a language for what nobody here knows.
    return names.every((one) => /^[\w-]+$/.test(one)) ? names : undefined;
  }
  return undefined;
}

const selecting = /^\$?(?:opt_|_)?(?:fields|select)(?:\[[\w-]+\])?$/i;

/** The rows that an answer holds: maps that have the identifier, in it or in a list of it. */
function rowsIn(whole: Value, identifier: string, depth: number): Fields[] {
  if (Array.isArray(whole)) return whole.flatMap((one: Value) => (isFields(one) ? [one] : []));
  if (!isFields(whole) || depth > 1) return [];
  if (Object.hasOwn(whole, identifier)) return [whole];
  return Object.entries(whole).flatMap(([name, inner]) => (name === 'included' ? [] : rowsIn(inner, identifier, depth + 1)));
}

function leave(row: Fields, named: ReadonlySet<string>, isInside: boolean): void {
  // In JSON:API the fields of a thing stand in its attributes, which are a map by what is asked above.
  const { attributes } = row;
  const isThere = isInside && isFields(attributes) && Object.keys(attributes).some((name) => named.has(name));
  const inner = isThere ? (attributes as Fields) : row;
  for (const name of Object.keys(inner)) if (!named.has(name)) delete inner[name];
}

/** Whether a flag says that more is shown of each row: "whether to include the dnssec fields". */
export function includesFields({ type, description }: Shape): boolean {
  return type === 'boolean' && /\binclud(?:e|es|ed|ing)\b[^.]{0,60}\bfields?\b/i.test(String(description ?? ''));
}
