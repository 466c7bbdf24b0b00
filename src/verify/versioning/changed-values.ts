import type { Json } from '../../document/document.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { machineOf } from '../../parts/states.ts';
import type { ResourceCarry } from '../../parts/versions/carry.ts';
import type { Model } from '../model/model.ts';
import { boundsOf } from '../values/numbers.ts';
import { carried, type Versions } from './versions.ts';

type Body = Readonly<Record<string, Json>>;

/** How many numbers are looked at for one that is easily cut wrong. */
const numbersMax = 500;

/**
 * Members to make rows with, so that each value that was changed since a version is seen: at first what is drawn, with numbers
 * that are easily cut wrong where they were mapped; then each of the values that were renamed.
 */
export function bodiesFor(
  model: Model,
  { history }: Versions,
  version: string,
  resource: string,
  carry: ResourceCarry,
): (Body | undefined)[] {
  const changes = history.steps.flatMap(({ level, change }) => (level >= history.levelOf(version) ? [change] : []));
  const mapped: Record<string, Json> = {};
  const renamed: Body[] = [];
  for (const change of changes) {
    if ((change.kind !== 'map' && change.kind !== 'enum') || change.resource !== resource) continue;
    if (!isSent(model, resource, change.field)) continue;
    if (change.kind === 'enum') renamed.push(...Object.values(change.values).map((value) => ({ [change.field]: value })));
    else Object.assign(mapped, brittle(model, resource, change.field, carry));
  }
  return [Object.keys(mapped).length === 0 ? undefined : mapped, ...renamed];
}

function isSent(model: Model, resource: string, name: string): boolean {
  const field = entryOf(model.resource(resource)?.fields ?? { standing: 'open', at: '' }, name);
  return field !== undefined && !field.readOnly && machineOf(model.spec.states, resource)?.field !== name;
}

/** A whole number whose older value, multiplied back, comes out a little less: who cuts it off instead of rounding is one short. */
function brittle(model: Model, resource: string, name: string, carry: ResourceCarry): Body {
  const field = entryOf(model.resource(resource)?.fields ?? { standing: 'open', at: '' }, name);
  const shape = field && statedValue(field.shape);
  const older = carry.newer(name)?.older;
  if (shape?.type !== 'integer' || older === undefined || Array.isArray(shape.enum)) return {};
  const { min, max, step } = boundsOf(shape, 'integer');
  for (
    let count = 0, value = Math.ceil(Math.max(min, 1) / step) * step;
    count < numbersMax && value <= max;
    count++, value += step
  ) {
    const was = carried(() => carry.down({ [name]: value }))?.[older];
    if (typeof was !== 'number' || Number.isInteger(was) || was === 0) continue;
    const factor = Math.round(value / was);
    if (Math.abs(was * factor - value) < 1e-6 && Math.trunc(was * factor) !== value) return { [name]: value };
  }
  return {};
}
