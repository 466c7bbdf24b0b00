import type { Json } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';

const known = new WeakMap<Spec, ReadonlyMap<string, ReadonlySet<string>>>();

/**
 * The fields of a row that a service writes at a moment of its own: whether an address has confirmed, and what is set with it. It asks while others
 * look, so one of these may be another from one look to the next, and nothing is wrong.
 */
export function toldMeanwhile(spec: Spec, resource: string): ReadonlySet<string> {
  const found = known.get(spec) ?? new Map(confirmedFields(spec));
  known.set(spec, found);
  return found.get(resource) ?? none;
}

const none: ReadonlySet<string> = new Set();

function confirmedFields(spec: Spec): [string, ReadonlySet<string>][] {
  const push = statedValue(spec.events.delivery)?.push;
  const { resource, confirmed } = push?.subscribers ?? {};
  if (push?.confirm === undefined || resource === undefined || confirmed === undefined) return [];
  const words = [`confirm ${resource}`, 'write'];
  const fields = entriesOf(entryOf(spec.resources.all, resource)?.fields);
  const set = fields.filter(([, field]) => words.some((word) => field.set[word] !== undefined));
  return [[resource, new Set([confirmed.split('.')[0] ?? confirmed, ...set.map(([name]) => name)])]];
}

/** A row without them; what is no row is as it is. */
export function steady(spec: Spec, resource: string, row: Json): Json {
  const meanwhile = toldMeanwhile(spec, resource);
  if (meanwhile.size === 0 || typeof row !== 'object' || row === null || Array.isArray(row)) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !meanwhile.has(name)));
}
