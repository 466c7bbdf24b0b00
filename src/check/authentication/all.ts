import type { Rule } from '../rule.ts';
import { permissionRules } from './permissions.ts';
import { reachRules } from './reach.ts';
import { schemeRules } from './schemes.ts';
import { tokenRules } from './tokens.ts';

/** Authentication. */
export const authenticationRules: readonly Rule[] = [...schemeRules, ...tokenRules, ...permissionRules, ...reachRules];
