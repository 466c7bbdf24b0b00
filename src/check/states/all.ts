import type { Rule } from '../rule.ts';
import { stateFieldRules } from './field.ts';
import { machineRules } from './machines.ts';
import { reachRules } from './reach.ts';
import { transitionRules } from './transitions.ts';

/** States and transitions. */
export const statesRules: readonly Rule[] = [...machineRules, ...stateFieldRules, ...transitionRules, ...reachRules];
