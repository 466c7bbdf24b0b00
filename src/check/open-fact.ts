import type { FindingKind } from '../document/catalogue.ts';

/** The finding of a fact that is open where it was required to be stated. */
export const openFact: FindingKind = {
  code: 'ledger/open',
  severity: 'error',
  meaning: 'A fact is open in a part that is required to have none.',
  remedy: 'State it, or write `none` or `any`.',
};
