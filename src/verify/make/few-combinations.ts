import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { Resource, Unique } from '../../parts/resources.ts';
import type { TrialRow } from '../exchange/row.ts';
import { Fresh, resolve, type Symbolic } from '../exchange/symbol.ts';
import type { Session } from '../session/session.ts';
import { roomOf } from '../values/fresh.ts';
import { boundsOf } from '../values/scalars.ts';
import { fewMost } from './places.ts';

/** When each combination was sent last, by the rule that no two rows may have the same. */
const sentLast = new WeakMap<Unique, Map<string, number>>();
let turn = 0;

/**
 * The fields of a body of which no two rows may have the same few values, such as a row of three and a place of sixty: what was sent longest ago,
 * since that is most likely not there any more. What is wanted or bound by the path stays as it is, and what a change leaves out, or cannot change, as it
 * is in the row.
 */
export function fewCombinations(
  session: Session,
  name: string,
  body: Readonly<Record<string, unknown>>,
  given: { readonly bound: ReadonlySet<string>; readonly wanted: ReadonlySet<string>; readonly changes: TrialRow | undefined },
): Readonly<Record<string, Symbolic>> {
  const resource = session.model.resource(name);
  const { bound, wanted, changes } = given;
  const isFixed = (field: string) =>
    wanted.has(field) || bound.has(field) || (changes !== undefined && entryOf(resource?.fields, field)?.immutable === true);
  const chosen: Record<string, Symbolic> = {};
  for (const rule of resource?.unique ?? []) {
    const values = resource && rule.fields.length > 1 ? fewValues(resource, rule) : undefined;
    if (!values) continue;
    const settled = rule.fields.map((field): Symbolic | undefined => {
      if (!Object.hasOwn(body, field)) return changes?.fields?.[field] ?? entryOf(resource?.fields, field)?.default?.value;
      return isFixed(field) ? (body[field] as Symbolic) : undefined;
    });
    const isFree = (field: string, at: number) => settled[at] === undefined && !Object.hasOwn(chosen, field);
    const free = rule.fields.filter(isFree);
    if (free.length === 0 || free.some((field) => !Object.hasOwn(body, field))) continue;
    const together = new Fresh((_draw, run) =>
      longestAgo(
        rule,
        values,
        settled.map((one) => (one === undefined ? undefined : resolve(one, run))),
      ),
    );
    for (const field of free) {
      const at = rule.fields.indexOf(field);
      // The cast holds: what it is drawn together with is a list of as many values as the rule has fields.
      chosen[field] = new Fresh((_draw, run) => (resolve(together, run) as readonly Json[])[at] ?? null);
    }
  }
  return chosen;
}

const known = new WeakMap<Unique, { readonly of: ReturnType<typeof valuesOf> }>();

/** The values are the same for each body: they are found once. */
function fewValues(resource: Resource, rule: Unique): ReturnType<typeof valuesOf> {
  const found = known.get(rule) ?? { of: valuesOf(resource, rule) };
  known.set(rule, found);
  return found.of;
}

/** Every value of each of the fields; nothing where there are too many, or where they are for others to say. */
function valuesOf({ fields }: Resource, rule: Unique): readonly (readonly Json[])[] | undefined {
  const shapes = rule.fields.map((name) => {
    const field = entryOf(fields, name);
    return field && field.ref === undefined && !field.readOnly ? statedValue(field.shape) : undefined;
  });
  let count = 1;
  const values: (readonly Json[])[] = [];
  for (const shape of shapes) {
    count *= shape ? roomOf(shape) : Number.POSITIVE_INFINITY;
    if (!shape || count > fewMost) return undefined;
    if (Array.isArray(shape.enum)) values.push(shape.enum as readonly Json[]);
    else if (shape.type === 'boolean') values.push([false, true]);
    else if (shape.type === 'integer' && shape.const === undefined) values.push(wholeNumbers(shape));
    else return undefined;
  }
  return values;
}

function wholeNumbers(shape: Parameters<typeof boundsOf>[0]): number[] {
  const { min, max, step } = boundsOf(shape, 'integer');
  const first = Math.ceil(min / step);
  return Array.from({ length: Math.floor(max / step) - first + 1 }, (_, at) => (first + at) * step);
}

/** The combination with the values that are settled that was sent longest ago, or never. */
function longestAgo(rule: Unique, values: readonly (readonly Json[])[], settled: readonly (Json | undefined)[]): readonly Json[] {
  const sent = sentLast.get(rule) ?? new Map<string, number>();
  sentLast.set(rule, sent);
  const able = values.map((list, at) => {
    const one = settled[at];
    return one === undefined ? list : [list.find((value) => isSame(value, one)) ?? one];
  });
  const all = able.reduce<readonly (readonly Json[])[]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])),
    [[]],
  );
  let found = all[0] ?? [];
  let oldest = Number.POSITIVE_INFINITY;
  for (const one of all) {
    const at = sent.get(JSON.stringify(one)) ?? 0;
    if (at >= oldest) continue;
    [found, oldest] = [one, at];
    if (at === 0) break;
  }
  turn += 1;
  sent.set(JSON.stringify(found), turn);
  return found;
}
