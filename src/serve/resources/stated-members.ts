import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import { levelOf } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import { fieldOfMember } from '../../parts/taking.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

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
