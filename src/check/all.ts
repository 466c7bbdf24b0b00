import { endpointsRules } from './endpoints/all.ts';
import { purposeRules } from './purpose.ts';
import { resourcesRules } from './resources/all.ts';
import type { Rule } from './rule.ts';
import { shapesRules } from './shapes/all.ts';
import { statesRules } from './states/all.ts';

/** Every rule, in the order of the nine parts; then those about what stands in all of them. */
export const rules: readonly Rule[] = [...purposeRules, ...resourcesRules, ...statesRules, ...endpointsRules, ...shapesRules];
