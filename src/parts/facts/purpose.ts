import { type FactKind, instance } from './kind.ts';

const goesOn = 'Nothing: it is not needed to answer.';

/** Purpose: its four kinds, once each. */
export const purposeFacts: readonly FactKind[] = [
  { part: 'purpose', kind: 'purpose', arises: (spec) => [instance('service', spec.purpose.purpose)], whenOpen: goesOn },
  { part: 'purpose', kind: 'functions', arises: (spec) => [instance('service', spec.purpose.functions)], whenOpen: goesOn },
  { part: 'purpose', kind: 'users', arises: (spec) => [instance('service', spec.purpose.users)], whenOpen: goesOn },
  {
    part: 'purpose',
    kind: 'base address',
    arises: (spec) => [instance('service', spec.purpose.baseUrls)],
    whenOpen: 'Endpoints are served at the root of the host.',
  },
];
