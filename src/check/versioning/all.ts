import type { Rule } from '../rule.ts';
import { carriedRules } from './carried.ts';
import { changeRules } from './changes.ts';
import { dateRules } from './dates.ts';
import { selectionRules } from './selection.ts';

/** Versions. */
export const versioningRules: readonly Rule[] = [...dateRules, ...selectionRules, ...changeRules, ...carriedRules];
