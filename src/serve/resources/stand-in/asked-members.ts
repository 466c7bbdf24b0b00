import type { Effect } from '../../../parts/effects.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';

/** Leaves of the rows in an answer the members that are asked for, or that its list has; changes it in place. */
export type LeaveMembers = (whole: Value, exchange: Exchange) => void;

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
