import type { Spec } from '../spec.ts';
import type { ExpressionUse } from './use.ts';
import { authenticationUses } from './uses-of-authentication.ts';
import { endpointUses } from './uses-of-endpoints.ts';
import { errorUses } from './uses-of-errors.ts';
import { eventUses } from './uses-of-events.ts';
import { resourceUses } from './uses-of-resources.ts';
import { stateUses } from './uses-of-states.ts';
import { versioningUses } from './uses-of-versioning.ts';

/** Every expression of a document, in the order of its parts. */
export function expressionUses(spec: Spec): ExpressionUse[] {
  return [
    ...resourceUses(spec),
    ...stateUses(spec),
    ...endpointUses(spec),
    ...authenticationUses(spec),
    ...eventUses(spec),
    ...errorUses(spec),
    ...versioningUses(spec),
  ];
}
