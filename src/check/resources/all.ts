import type { Rule } from '../rule.ts';
import { fieldRules } from './fields.ts';
import { identifierRules } from './identifiers.ts';
import { referenceRules } from './references.ts';
import { setRules } from './set.ts';
import { suppliedRules } from './supplied.ts';
import { visibilityRules } from './visibility.ts';

/** Resources and their fields. What their shapes are made of is a matter of `shapes/`. */
export const resourcesRules: readonly Rule[] = [
  ...identifierRules,
  ...fieldRules,
  ...visibilityRules,
  ...referenceRules,
  ...setRules,
  ...suppliedRules,
];
