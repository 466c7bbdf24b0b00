import type { Rule } from '../rule.ts';
import { answerRules } from './answers.ts';
import { changeRules } from './changes.ts';
import { effectRules } from './effects.ts';
import { listRules } from './lists.ts';
import { parameterRules } from './parameters.ts';
import { pathRules } from './paths.ts';
import { routeRules } from './routes.ts';

/** Endpoints. */
export const endpointsRules: readonly Rule[] = [
  ...routeRules,
  ...pathRules,
  ...effectRules,
  ...parameterRules,
  ...listRules,
  ...changeRules,
  ...answerRules,
];
