import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { WantedRow } from '../exchange/row.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { hintsIn } from '../model/expressions.ts';
import { changeKeepsRules, sentKeepsRules } from '../model/field-rules.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import type { StatedRefusal } from '../model/refusals.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { edgesOf } from '../values/variants.ts';
import { lastShowing, refusedByOwn } from './own-rules.ts';
import { spansIn } from './timely.ts';

/** A body of a creation, and what stands in its path. */
interface Drafted {
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly json: Symbolic;
  readonly caller: TrialCaller | undefined;
}

/** So many errors are got out of the way, one after the other. */
const roundsMost = 3;
/** So many values between two that pass are drawn. */
const betweenMost = 4;

/**
 * A body that an error of the service's own would refuse, with single members so that none does: a place in a wall that is as long as this one.
 * What a member may be is tried of what the condition compares it with. Nothing where no such value is found.
 */
export function mendedBody(
  session: Session,
  endpoint: Endpoint,
  drafted: Drafted,
  { body = {}, parents = {}, changes }: Pick<WantedRow, 'body' | 'parents' | 'changes'>,
): Symbolic | undefined {
  const { path, caller } = drafted;
  const kept = new Set([...Object.keys(body), ...Object.keys(parents)]);
  let json = drafted.json;
  const refusal = (body: Symbolic) => refusedByOwn(session, endpoint, { path, json: body }, caller);
  for (let round = 0; round < roundsMost; round++) {
    const refused = refusal(json);
    if (!refused) return json;
    const better = membersOf(session, endpoint, refused, { ...drafted, json, kept }).flatMap((member) => {
      const passing = member.values.flatMap((value) => {
        const body = bareMap({ ...(json as Readonly<Record<string, Symbolic>>), [member.name]: value });
        const sent = resolve(body, session.run);
        const isBroken = changes?.fields && changeKeepsRules(session.model, endpoint, changes.fields, sent) === 'no';
        const isKept = !isBroken && sentKeepsRules(session.model, endpoint, sent) !== 'no';
        const still = isKept ? refusal(body) : refused;
        return still === refused ? [] : [{ body, value, isWhole: still === undefined }];
      });
      const best = passing.filter(({ isWhole }) => isWhole);
      return best.length > 0 ? [between(session, member, best, json, refusal) ?? best[0]!] : passing.slice(0, 1);
    });
    const found = better.find(({ isWhole }) => isWhole) ?? better[0];
    if (!found) return undefined;
    json = found.body;
  }
  return refusal(json) ? undefined : json;
}

interface Passing {
  readonly body: Symbolic;
  readonly value: Json;
  readonly isWhole: boolean;
}

/** A value that lies between two that pass, and passes too: what may have to be unique is seldom so at the edges. */
function between(
  { chance }: Session,
  { name, fits }: Member,
  passing: readonly Passing[],
  json: Symbolic,
  refusal: (body: Symbolic) => StatedRefusal | undefined,
): Passing | undefined {
  const numbers = passing.flatMap(({ value }) => (Number.isInteger(value) ? [Number(value)] : []));
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length < 2 || most - least < 2) return undefined;
  for (let tries = 0; tries < betweenMost; tries++) {
    const value = least + chance.whole(most - least + 1);
    const body = bareMap({ ...(json as Readonly<Record<string, Symbolic>>), [name]: value });
    if (fits(value) && !refusal(body)) return { body, value, isWhole: true };
  }
  return undefined;
}

interface Member {
  readonly name: string;
  readonly values: readonly Json[];
  fits(value: Json): boolean;
}

/** The members of a body that the condition of an error reads, each with what it may be instead. */
function membersOf(
  session: Session,
  endpoint: Endpoint,
  { rule }: StatedRefusal,
  drafted: Drafted & { readonly kept: ReadonlySet<string> },
): Member[] {
  const { model } = session;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const json = resolve(drafted.json, session.run);
  if (!resource || !rule.if || endpoint.takes || !isMap(json)) return [];
  const all = model.expressions.readsOf(rule.if, endpoint.operation);
  const reads = all.filter(({ root }) => root === 'next');
  const row = { ...(resolve(drafted.path, session.run) as Readonly<Record<string, Json>>), ...json };
  const compared = [
    ...hintsIn(rule.if.source),
    ...reads.flatMap((read) => readIn(session, resource, row, read)),
    ...momentsIn(session, rule.if, endpoint),
  ];
  const shapes = new Map<string, Shape>();
  for (const {
    root,
    path: [name = ''],
    follows,
  } of all) {
    if (follows || drafted.kept.has(name)) continue;
    const shape = root === 'next' ? fieldShape(model, resource, name) : root === 'request' && memberShape(model, endpoint, name);
    if (shape) shapes.set(name, shape);
  }
  return [...shapes].map(([name, shape]) => {
    const fitting = model.schemas.of(shape, 'sent');
    const fits = (value: Json) => fitting(value).length === 0;
    return { name, fits, values: [...new Set(valuesAbout(compared, shape))].filter(fits) };
  });
}

/** The shape of a field that a body may say freely. */
function fieldShape(model: Model, resource: Resource, name: string): Shape | undefined {
  const stated = entryOf(resource.fields, name);
  const isFree = stated && !stated.ref && isSendable(model, resource.name, name) && !isUniqueAlone(resource, name);
  return isFree ? statedValue(stated.shape) : undefined;
}

/** The shape of a member of a body that is stated for the act itself. */
function memberShape(model: Model, endpoint: Endpoint, name: string): Shape | undefined {
  const { properties } = statedValue(model.requestShape(endpoint)) ?? {};
  const member = isMap(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return member !== undefined && isMap(member) ? member : undefined;
}

/** Moments an hour before and after those that a condition compares with, where it reads the time: now, and what it adds to that. It goes on until the body comes. */
function momentsIn({ model, run }: Session, condition: Expression, endpoint: Endpoint): string[] {
  if (!model.expressions.reads(condition, endpoint.operation, 'now')) return [];
  const nowMs = run.clock.toService(Date.now());
  const all = [0, ...spansIn([condition]).flatMap((ms) => [ms, -ms])];
  return all.flatMap((ms) => [hourMs, -hourMs].map((by) => new Date(nowMs + ms + by).toISOString()));
}

/** Whether no two rows at all may have the same value, so that it has to be another one each time. */
function isUniqueAlone({ unique, fields }: Resource, name: string): boolean {
  return unique.some(
    (one) => one.fields.includes(name) && one.fields.every((field) => entryOf(fields, field)?.ref === undefined),
  );
}

const secondMs = 1_000;
const hourMs = 3_600_000;
/** So far from a time that it is compared with a time is tried: seconds, an hour, a day. */
const apartMs = [secondMs, hourMs, 86_400_000];

/** Values beside those that a condition compares, and those at the edges of the shape. */
function valuesAbout(compared: readonly Json[], shape: Shape): Json[] {
  const numbers = compared.flatMap((value) =>
    typeof value === 'number' ? [value, value - 1, value + 1, Math.floor(value / 2)] : [],
  );
  const times = compared.flatMap((value) => {
    const at = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
    const near = Number.isFinite(at)
      ? [0, ...apartMs, ...apartMs.map((ms) => -ms)].map((ms) => new Date(at + ms).toISOString())
      : [];
    return shape.format === 'date' ? near.map((text) => text.slice(0, 10)) : near;
  });
  const words = Array.isArray(shape.enum) ? (shape.enum as Json[]) : shape.type === 'boolean' ? [true, false] : [];
  return [...compared, ...numbers, ...times, ...words, ...[...edgesOf(shape)].map(({ value }) => value)];
}

/** So many references are followed from a row. */
const followsMost = 3;

/** What a read leads to: a member of the row, or of what it refers to, as that was shown last. */
function readIn(
  session: Session,
  resource: Resource,
  row: Readonly<Record<string, Json>>,
  { path: [first = ''], follows = [] }: { readonly path: readonly string[]; readonly follows?: readonly string[] },
): Json[] {
  let at: { readonly resource: Resource | undefined; readonly row: Readonly<Record<string, Json | undefined>> } = {
    resource,
    row,
  };
  const way = [first, ...follows];
  for (const [depth, name] of way.slice(0, followsMost + 1).entries()) {
    const value = at.row[name];
    if (depth === way.length - 1) return value === undefined ? [] : [value];
    const target = entryOf(at.resource?.fields, name)?.ref;
    const shown = target === undefined || value === undefined ? undefined : lastShowing(session, target, value);
    if (!shown || target === undefined) return [];
    at = { resource: session.model.resource(target), row: shown.row };
  }
  return [];
}
