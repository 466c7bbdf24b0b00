import { boundsRules } from './security/bounds.ts';
import { callerRules } from './security/callers.ts';
import { dataRules } from './security/data.ts';
import { logSecurityRules } from './security/log.ts';
import type { Rule } from './subject/rule.ts';

/** What a reviewer would ask of a document, beyond what contradicts itself in it: each may be meant, and is waived with a reason then. */
export const securityRules: readonly Rule[] = [...callerRules, ...boundsRules, ...dataRules, ...logSecurityRules];
