import type { ErrorCondition } from '../parts/errors.ts';
import { entryOf, statedValue } from '../parts/fact.ts';
import type { LedgerFact } from '../parts/ledger.ts';
import type { Spec } from '../parts/spec.ts';

/** What a service comes to by itself, or in a moment that nobody can choose. */
const inward: ReadonlySet<string> = new Set<ErrorCondition>([
  'internal',
  'service.unavailable',
  'write.conflict',
  'idempotency.busy',
]);

/** Why no request can show a fact; nothing where one could. */
export function outOfReach(spec: Spec, { kind, subject }: LedgerFact): string | undefined {
  if (kind === 'purpose') return 'it is words for people';
  if (kind !== 'conditions' && kind !== 'status codes') return undefined;
  const rules = entryOf(spec.errors.codes, subject)?.rules ?? [];
  const conditions = rules.flatMap(({ when }) => statedValue(when) ?? []);
  const isInward = conditions.length > 0 && conditions.every((condition) => inward.has(condition));
  return isInward && rules.every((rule) => rule.if === undefined) ? 'nobody can bring it about from outside' : undefined;
}
