import { authenticationRules } from './authentication/all.ts';
import { endpointsRules } from './endpoints/all.ts';
import { errorsRules } from './errors.ts';
import { eventsRules } from './events/all.ts';
import { expressionsRules } from './expressions.ts';
import { limitsRules } from './limits.ts';
import { proseRules } from './prose.ts';
import { purposeRules } from './purpose.ts';
import { resourcesRules } from './resources/all.ts';
import type { Rule } from './rule.ts';
import { shapesRules } from './shapes/all.ts';
import { statesRules } from './states/all.ts';
import { versioningRules } from './versioning/all.ts';

/** Every rule, in the order of the nine parts; then those about what stands in all of them. */
export const rules: readonly Rule[] = [
  ...purposeRules,
  ...resourcesRules,
  ...statesRules,
  ...endpointsRules,
  ...authenticationRules,
  ...eventsRules,
  ...errorsRules,
  ...limitsRules,
  ...versioningRules,
  ...shapesRules,
  ...expressionsRules,
  ...proseRules,
];
