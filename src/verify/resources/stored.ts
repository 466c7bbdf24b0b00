import type { Json } from '../../document/document.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import { lookAt } from '../make/look.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Trial } from '../trial.ts';
import { claimRow } from './claim-row.ts';
import { foreignValue } from './foreign-value.ts';

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
      for (const [field, stated] of entriesOf(resource.fields)) {
        const value = foreignValue(stated);
        if (value === undefined || isWritable(model.spec, resource, stated)) continue;
        const fact = { kind: 'allowed values', subject: `${name}.${field}` };
        yield {
          name: `${name} with ${field}`,
          facts: [fact],
          run: (session) => createAndLook(session, name, 'plain', { [field]: value }),
        };
      }
      for (const [round, style] of rounds.entries()) {
        yield { name: `${name}, ${style} ${round}`, facts, run: (session) => createAndLook(session, name, style) };
      }
    }
  },
};

async function createAndLook(
  session: Session,
  resource: string,
  style: 'plain' | 'full',
  body: Readonly<Record<string, Json>> = {},
): Promise<void> {
  const row = await session.make(resource, { style, body });
  const change = row.made;
  session.need(change !== undefined, `rows of ${resource} are given, not made`);
  claimLeftOut(session, resource, change);
  claimRow(session, { resource, change, seen: change, reason: 'answered' });
  const { done } = await lookAt(session, row);
  claimRow(session, { resource, change, seen: done, reason: 'stored' });
}

/** What may be left out was left out, and the row was made without it. */
function claimLeftOut(session: Session, name: string, change: Done<Exchange>): void {
  const resource = session.model.resource(name);
  for (const [field, stated] of resource ? entriesOf(resource.fields) : []) {
    if (statedValue(stated.required) !== false) continue;
    session.claim({
      ...{ fact: { kind: 'required flags', subject: `${name}.${field}` }, reason: 'left out', of: [change] as const },
      judge(exchange: Exchange) {
        const sent = fieldsOf({ body: exchange.sent.json });
        return isDone(exchange) && sent?.[field] === undefined ? undefined : moot('it was not left out');
      },
    });
  }
}
