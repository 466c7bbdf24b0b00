import { documentFindings, type FindingKind } from '../document/catalogue.ts';
import { foreignFindings } from '../document/foreign/foreign.ts';
import { rules } from './all.ts';
import { openFact } from './check.ts';
import { securityRules } from './security/bounds.ts';
import { idleWaiver } from './waivers.ts';

/** What `parts/form.ts` finds where a document does not have the form of the published schema. */
export const formFindings: readonly FindingKind[] = [
  {
    code: 'form/unknown-key',
    severity: 'error',
    meaning: 'A key is none that the language has at this place.',
    remedy: 'Write the key as the language has it.',
  },
  {
    code: 'form/wrong-value',
    severity: 'error',
    meaning: 'A value is not of the form that its place asks for.',
    remedy: 'Write a value of that form, or `!open "the question"`.',
  },
  {
    code: 'form/null',
    severity: 'error',
    meaning: 'A null stands where it is no value.',
    remedy: 'Leave the key out, or write `none`, `any` or `!open "the question"`.',
  },
];

/** Every finding there is; `docs/findings.md` is held to this list. */
export const findingKinds: readonly FindingKind[] = [
  ...documentFindings,
  ...foreignFindings,
  ...formFindings,
  openFact,
  ...[...rules, ...securityRules].map(({ code, severity, meaning, remedy }) => ({ code, severity, meaning, remedy })),
  idleWaiver,
];
