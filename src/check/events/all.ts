import type { Rule } from '../rule.ts';
import { deliveryRules } from './delivery.ts';
import { kindRules } from './kinds.ts';

/** Events. */
export const eventsRules: readonly Rule[] = [...kindRules, ...deliveryRules];
