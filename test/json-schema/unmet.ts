import type { Verdict } from './served-verdicts.ts';

/** A reason why a value may fare otherwise than the specification says. */
export interface Unmet {
  /** As docs/json-schema.md calls it. */
  readonly name: string;
  readonly explains: (verdict: Verdict, schema: unknown, valid: boolean) => boolean;
}

/** Every reason there is. What none of them explains is a fault. */
export const unmet: readonly Unmet[] = [
  {
    name: 'no other document is fetched',
    explains: (verdict, schema) => verdict === 'unstatable: shapes/refused' && refersOutside(schema),
  },
  {
    name: 'there is one dialect',
    explains: (verdict, schema) =>
      (verdict === 'unstatable: form/wrong-value' && holdsKey(schema, ['$schema'])) ||
      (isUnknownKey(verdict) && holdsKey(schema, ['$vocabulary', '$schema'])),
  },
  {
    name: 'a keyword that is not known is a misspelling',
    explains: (verdict, schema) => isUnknownKey(verdict) && !holdsKey(schema, ['$vocabulary']),
  },
  {
    name: 'formats are asserted',
    explains: (verdict, schema, valid) => verdict === 'refused' && valid && holdsKey(schema, ['format']),
  },
  { name: 'a default fits its schema', explains: (verdict) => verdict === 'unstatable: shapes/default-misfit' },
  {
    name: 'bounds leave something between them',
    explains: (verdict) => verdict === 'unstatable: shapes/admits-nothing' || verdict === 'unstatable: shapes/no-allowed-value',
  },
  {
    name: 'contains evaluates every item',
    explains: (verdict, schema, valid) =>
      verdict === 'taken' && !valid && holdsKey(schema, ['contains']) && holdsKey(schema, ['unevaluatedItems']),
  },
];

function isUnknownKey(verdict: Verdict): boolean {
  return verdict === 'unstatable: form/unknown-key';
}

/** Whether a schema has one of these keywords at any depth; a property of that name counts too, which does no harm. */
function holdsKey(value: unknown, keys: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => keys.includes(key) || holdsKey(inner, keys));
}

function refersOutside(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) =>
      (/^\$(?:dynamicR|r)ef$/.test(key) && typeof inner === 'string' && !inner.startsWith('#')) || refersOutside(inner),
  );
}
