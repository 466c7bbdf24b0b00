import type { Json } from '../../../document/document.ts';
import type { Named } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
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
