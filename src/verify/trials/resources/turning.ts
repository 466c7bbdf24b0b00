import { entryOf, statedValue } from '../../../parts/fact.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import type { Model } from '../../model/model.ts';

/** A number that a caller sends, at which what another field is set to turns into something else. */
export interface TurningPoint {
  readonly sent: string;
  readonly value: number;
}

/** So many are looked at of one field. */
const pointsMost = 9;

/**
 * Where what a new row is given turns: `next.height_cm >= 480 ? 'spring' : 'neap'` does between 479 and 480. Of whole numbers these are the number that it is compared
 * with and both beside it, as far as they may be sent.
 */
export function turningPoints(model: Model, resource: Resource, { set }: Field): readonly TurningPoint[] {
  const sources = [set.create, set.write].flatMap((expression) => (expression ? [expression.source] : []));
  const found = sources.flatMap((source) => [...source.matchAll(/\bnext\.(\w+)\s*[<>]=?\s*(-?\d{1,9})(?![\w.])/g)]);
  const points = found.flatMap(([, sent = '', number = '']): TurningPoint[] => {
    const own = entryOf(resource.fields, sent);
    const shape = own && statedValue(own.shape);
    if (!own || shape?.type !== 'integer' || !isWritable(model.spec, resource, own) || Object.keys(own.set).length > 0) return [];
    const [least, most] = [bound(shape.minimum, -1), bound(shape.maximum, 1)];
    const at = Number(number);
    return [at - 1, at, at + 1].filter((value) => value >= least && value <= most).map((value) => ({ sent, value }));
  });
  const unique = new Map(points.map((point) => [`${point.sent} ${point.value}`, point]));
  return [...unique.values()].slice(0, pointsMost);
}

function bound(stated: unknown, sign: number): number {
  return typeof stated === 'number' ? stated : sign * Number.POSITIVE_INFINITY;
}
