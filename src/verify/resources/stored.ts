import { entriesOf, statedValue } from '../../parts/fact.ts';
import { lookAt } from '../make/look.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { claimRow } from './claim-row.ts';

const rounds = ['plain', 'full', 'full', 'full'] as const;

/** What is created has every field as it was sent, defaulted, set, generated, or left out: in the answer, and when it is read again. */
export const stored: Trial = {
  name: 'resources/stored',
  part: 'resources',
  about: 'What is created is what the document makes of what was sent, in the answer and afterwards.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      const facts = entriesOf(resource.fields).map(([field]) => ({ kind: 'allowed values', subject: `${name}.${field}` }));
      for (const [round, style] of rounds.entries()) {
        yield { name: `${name}, ${style} ${round}`, facts, run: (session) => createAndLook(session, name, style) };
      }
    }
  },
};

async function createAndLook(session: Session, resource: string, style: 'plain' | 'full'): Promise<void> {
  const row = await session.make(resource, { style });
  const change = row.made;
  session.need(change !== undefined, `rows of ${resource} are given, not made`);
  claimRow(session, { resource, change, seen: change, reason: 'answered' });
  const { done } = await lookAt(session, row);
  claimRow(session, { resource, change, seen: done, reason: 'stored' });
}
