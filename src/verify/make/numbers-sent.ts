import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import { requestShape } from '../../parts/payload.ts';
import { hintsIn } from '../model/expressions.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** So many numbers are tried for one member. */
const numbersMost = 60;

/**
 * Whole numbers that conditions read of a body, each as other ones: as what the conditions compare them with, what lies between two of these,
 * and a little more or less; the smallest first. Each is a member that stands in the place of the body's.
 */
export function numbersFor(
  { model }: Session,
  endpoint: Endpoint,
  conditions: readonly Expression[],
  { fields, drawn }: { readonly fields: ShownFields; readonly drawn: Json | undefined },
): readonly Readonly<Record<string, number>>[] {
  const shape = statedValue(requestShape(model.spec, endpoint));
  if (!shape || !isMap(drawn)) return [];
  const reads = conditions.flatMap((one) => model.expressions.readsOf(one, endpoint.operation));
  const numbersOf = (values: readonly unknown[]) => values.filter((one): one is number => Number.isInteger(one));
  const ofRow = numbersOf(reads.map(({ root, path: [name = ''] }) => (root === 'resource' ? fields[name] : undefined)));
  const known = [...new Set([0, ...ofRow, ...numbersOf(conditions.flatMap(({ source }) => hintsIn(source)))])];
  const apart = known.flatMap((one) => known.map((other) => one - other));
  const all = [...known, ...apart].flatMap((one) => [one, one - 1, one + 1, Math.floor(one / 2)]);
  const values = [...new Set(all)].sort((one, other) => one - other);
  const fits = model.schemas.of(shape, 'sent');
  const members = new Set(reads.flatMap(({ root, path: [name] }) => (root === 'request' && name !== undefined ? [name] : [])));
  return [...members]
    .filter((name) => typeof drawn[name] === 'number')
    .flatMap((name) => {
      const fitting = values.filter((value) => fits({ ...drawn, [name]: value }).length === 0);
      return fitting.slice(0, numbersMost).map((value) => ({ [name]: value }));
    });
}
