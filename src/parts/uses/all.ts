import type { Pointer } from '../../document/document.ts';
import type { ExpressionUse } from '../expressions/scope.ts';
import type { Spec } from '../spec.ts';
import { versioningUses } from '../versions/change-values.ts';
import { authenticationUses, errorUses, limitUses } from './callers.ts';
import { endpointUses } from './endpoints.ts';
import { eventUses } from './events.ts';
import { resourceUses } from './resources.ts';
import { stateUses } from './states.ts';

/** The expressions of each part that has any, by its name, in the order of the parts. */
const usesByPart: Readonly<Record<string, (spec: Spec) => ExpressionUse[]>> = {
  resources: resourceUses,
  states: stateUses,
  endpoints: endpointUses,
  authentication: authenticationUses,
  events: eventUses,
  errors: errorUses,
  limits: limitUses,
  versioning: versioningUses,
};

/** Every expression of a document, in the order of its parts. */
export function expressionUses(spec: Spec): ExpressionUse[] {
  return Object.values(usesByPart).flatMap((usesOf) => usesOf(spec));
}

/** The expressions of the part that a pointer leads into. */
export function expressionUsesNear(spec: Spec, at: Pointer): ExpressionUse[] {
  return usesByPart[partOf(at)]?.(spec) ?? [];
}

/** The part that a pointer leads into. */
export function partOf(at: Pointer): string {
  return at.split('/', 2)[1] ?? '';
}
