/** What becomes of members that were sent or left out: those that nobody may write, those that are taken along. */

import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { fieldOfMember } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { childrenTakerOf, takesChildren } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { levelOf } from '../../parts/shape-level.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { isMembers } from '../../parts/versions/carry.ts';
import type { Exchange, Fields, Value } from '../exchange/exchange.ts';
import { describeValue, sort, type Violation } from '../http/violation.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Compiles the look for fields that were sent and that the caller cannot write; nothing where they are ignored. */
export function compileReadOnlySent(
  { readOnlySent }: Endpoint,
  dropped: ReadonlySet<string>,
): ((exchange: Exchange) => readonly Violation[]) | undefined {
  if (readOnlySent === undefined) return undefined;
  // An older version has had a look of its own, at the names that it has.
  return ({ older, request }) => (older ? [] : readOnlyIn(request, dropped));
}

/** The fields of a body that are for the service alone to write. */
export function readOnlyIn(body: Value, dropped: ReadonlySet<string>): readonly Violation[] {
  if (!isMembers(body)) return [];
  return Object.keys(body)
    .filter((name) => dropped.has(name))
    .map((name) => ({
      in: 'body' as const,
      path: below('', name),
      found: describeValue(body[name]),
      expected: 'nothing: it is not for its caller to write',
      [sort]: 'read_only' as const,
    }));
}

/** The fields whose rows are taken with the one that is made or changed, by whoever makes or changes it. */
export function takenAlong({ does }: Endpoint, { fields }: RowModel): ReadonlySet<string> {
  const effect = statedValue(does);
  const taker = effect && childrenTakerOf(effect);
  return new Set([...fields.values()].filter((field) => taker && takesChildren(field, taker)).map(({ name }) => name));
}

/** What is dropped of a body and is not taken along. */
export function droppedAlone(dropped: ReadonlySet<string>, endpoint: Endpoint, model: RowModel): ReadonlySet<string> {
  const taken = takenAlong(endpoint, model);
  return taken.size === 0 ? dropped : new Set([...dropped].filter((name) => !taken.has(name)));
}

/** The shape of a body that follows by rule, less the children in it, which are looked at by themselves. */
export function shapeAlone({ request }: Endpoint, shape: Shape, names: ReadonlySet<string>): Shape {
  const { properties, required } = shape;
  if (names.size === 0 || isStated(request) || !isPlainMap(properties)) return shape;
  const isLeft = (name: Json) => !names.has(String(name));
  return {
    ...shape,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isLeft(name))),
    ...(Array.isArray(required) && { required: required.filter(isLeft) }),
  };
}

/** Of what a stand-in drops, all but what its stated body has a place for: what only answers call read-only is sent all the same. */
export function withoutStated(
  dropped: ReadonlySet<string>,
  { request, takes }: Endpoint,
  { identifier }: RowModel,
  { spec, standIn }: ViewCompilation,
): ReadonlySet<string> {
  const stated = standIn ? statedValue(request) : undefined;
  if (!stated || dropped.size === 0) return dropped;
  let inner: Shape = stated;
  for (const name of takes?.path ?? []) inner = levelOf(spec, inner).members.find((one) => one.name === name)?.shape ?? {};
  const sent = new Set(writableIn(spec, inner, 0).map((name) => fieldOfMember(takes, name)));
  return new Set([...dropped].filter((name) => name === identifier.field || !sent.has(name)));
}

const depthMost = 4;

/** The members that a shape names and does not call read-only itself. */
function writableIn(spec: Spec, shape: Shape, depth: number): string[] {
  if (depth > depthMost) return [];
  const { members, branches } = levelOf(spec, shape);
  const own = members.flatMap(({ name, shape: inner, field }) => ((field?.readOnly ?? inner.readOnly === true) ? [] : [name]));
  return [...own, ...branches.flatMap((branch) => writableIn(spec, branch as Shape, depth + 1))];
}

/** Puts the nulls of a patch, from which it was made, back into a row, where its fields keep them. */
export type KeepingNull = (next: Fields, patch: Readonly<Record<string, Value>>) => Fields;

/** Compiles it. `calledIn` gives the name that a field has in the patch. */
export function compileKeptNulls({ fields }: RowModel, calledIn = (name: string): string => name): KeepingNull {
  const kept = [...fields.values()].flatMap(({ name, keepsNull }) => (keepsNull ? [[name, calledIn(name)] as const] : []));
  if (kept.length === 0) return (next) => next;
  return (next, patch) => {
    for (const [name, sent] of kept) if (Object.hasOwn(patch, sent) && patch[sent] === null) next[name] = null;
    return next;
  };
}
