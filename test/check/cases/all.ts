import type { Case } from '../harness.ts';
import { authenticationCases } from './authentication.ts';
import { endpointsCases } from './endpoints.ts';
import { errorsCases } from './errors.ts';
import { eventLogCases } from './event-log.ts';
import { eventsCases } from './events.ts';
import { expressionsCases } from './expressions.ts';
import { formCases } from './form.ts';
import { keysCases } from './keys.ts';
import { limitsCases } from './limits.ts';
import { purposeCases } from './purpose.ts';
import { resourcesCases } from './resources.ts';
import { shapesCases } from './shapes.ts';
import { statesCases } from './states.ts';
import { versioningCases } from './versioning.ts';

/** Every change of the base document that something is found in. */
export const cases: readonly Case[] = [
  ...purposeCases,
  ...resourcesCases,
  ...statesCases,
  ...endpointsCases,
  ...keysCases,
  ...authenticationCases,
  ...eventsCases,
  ...eventLogCases,
  ...errorsCases,
  ...limitsCases,
  ...versioningCases,
  ...shapesCases,
  ...expressionsCases,
  ...formCases,
];
