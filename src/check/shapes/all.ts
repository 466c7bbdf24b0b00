import type { Rule } from '../rule.ts';
import { boundRules } from './bounds.ts';
import { nameRules } from './names.ts';
import { recursionRules } from './recursion.ts';
import { schemaRules } from './schema.ts';
import { unionRules } from './unions.ts';
import { valueRules } from './values.ts';

/** Shapes, wherever one stands: a field, a parameter, a body, an event's payload. */
export const shapesRules: readonly Rule[] = [
  ...nameRules,
  ...schemaRules,
  ...boundRules,
  ...valueRules,
  ...unionRules,
  ...recursionRules,
];
