import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import { requestShape } from '../../parts/payload.ts';
import { hintsIn } from '../model/expressions.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** So many values are tried for one member. */
const valuesMost = 60;

/**
 * What conditions read of a body, as it may be instead: whole numbers as what the conditions compare them with, what lies between two of these,
 * and a little more or less, the smallest first; anything else as what they read of the row. Each is a member that stands in the place of the body's.
 */
export function membersFor(
  { model }: Session,
  endpoint: Endpoint,
  conditions: readonly Expression[],
  { fields, drawn }: { readonly fields: ShownFields; readonly drawn: Json | undefined },
): readonly Readonly<Record<string, Json>>[] {
  const shape = statedValue(requestShape(model.spec, endpoint));
  if (!shape || !isMap(drawn)) return [];
  const reads = conditions.flatMap((one) => model.expressions.readsOf(one, endpoint.operation));
  const numbersOf = (values: readonly unknown[]) => values.filter((one): one is number => Number.isInteger(one));
  const ofRow = reads.flatMap(({ root, path: [name = ''] }) => (root === 'resource' ? (fields[name] ?? []) : []));
  const known = [...new Set([0, ...numbersOf(ofRow), ...numbersOf(conditions.flatMap(({ source }) => hintsIn(source)))])];
  const apart = known.flatMap((one) => known.map((other) => one - other));
  const all = [...known, ...apart].flatMap((one) => [one, one - 1, one + 1, Math.floor(one / 2)]);
  const numbers = [...new Set(all)].sort((one, other) => one - other);
  const others = [...new Set(ofRow)].filter((value) => typeof value !== 'number');
  const fits = model.schemas.of(shape, 'sent');
  const members = new Set(reads.flatMap(({ root, path: [name] }) => (root === 'request' && name !== undefined ? [name] : [])));
  return [...members].flatMap((name) => {
    const values: readonly Json[] = typeof drawn[name] === 'number' ? numbers : others;
    const fitting = values.filter((value) => fits({ ...drawn, [name]: value }).length === 0);
    return fitting.slice(0, valuesMost).map((value) => ({ [name]: value }));
  });
}
