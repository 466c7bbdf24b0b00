import { authenticationFacts } from './authentication.ts';
import { endpointFacts } from './endpoints.ts';
import { errorFacts } from './errors.ts';
import { eventFacts } from './events.ts';
import type { FactKind } from './kind.ts';
import { limitFacts } from './limits.ts';
import { purposeFacts } from './purpose.ts';
import { resourceFacts } from './resources.ts';
import { stateFacts } from './states.ts';
import { versioningFacts } from './versioning.ts';

/** The forty kinds of fact that an interface consists of, in the order of the nine parts. */
export const factKinds: readonly FactKind[] = [
  ...purposeFacts,
  ...resourceFacts,
  ...stateFacts,
  ...endpointFacts,
  ...authenticationFacts,
  ...eventFacts,
  ...errorFacts,
  ...limitFacts,
  ...versioningFacts,
];
