import { pathOf, pointerOf } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Exchange, Refusal } from '../exchange.ts';
import { describeValue, type Violation } from '../wire/violation.ts';
import type { RaiseParameters } from './raised-parameters.ts';
import { valueAt } from './value-at.ts';
import type { OlderVersion } from './versions.ts';

/** Compiles the telling of refusals in the words of an older version; nothing where they are the same. */
export function compileLower(
  endpoint: Endpoint,
  older: OlderVersion,
  raised: RaiseParameters | undefined,
): ((refusal: Refusal, exchange: Exchange) => Refusal) | undefined {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const own = isStated(endpoint.request) ? older.carries.shape(endpoint.request.value) : undefined;
  const carry = own ?? (resource === undefined ? undefined : older.carries.resource(resource));
  if (!carry && !raised) return undefined;
  const lower = (violation: Violation, exchange: Exchange): Violation => {
    if (violation.in !== 'body') return { ...violation, path: raised?.olderName(violation.path) ?? violation.path };
    const place = carry?.place(pathOf(violation.path));
    if (!place) return violation;
    const path = pointerOf(place.path);
    if (!place.isMapped) return { ...violation, path };
    const found = describeValue(valueAt(exchange.older?.body ?? exchange.request, place.path));
    return { ...violation, path, found, expected: `what is ${violation.expected} in the newest version` };
  };
  return (refusal, exchange) =>
    refusal.violations && !refusal.inVersion
      ? { ...refusal, violations: refusal.violations.map((violation) => lower(violation, exchange)) }
      : refusal;
}
