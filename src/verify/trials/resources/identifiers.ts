import { readTemplate } from '../../../kinds/generators/template.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Identifier } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { lookAt } from '../../make/look.ts';
import { remove } from '../../make/walk.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** Identifiers have their form, are told by `Location`, name one row each, and are not used again. */
export const identifiers: Trial = {
  name: 'resources/identifiers',
  part: 'resources',
  about: 'An identifier has its form, is new, leads to its row, is gone with it and never comes again.',
  noise: 'alone',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      const identifier = statedValue(resource.identifier);
      if (!identifier) continue;
      const facts = [{ kind: 'identifiers', subject: name }];
      yield { name, facts, run: (session) => identify(session, name, identifier) };
      if (model.endpointsThat('delete', name).length > 0)
        yield { name: `${name}, deleted`, facts, run: (session) => deleteAndMake(session, name, identifier) };
    }
  },
};

async function identify(session: Session, resource: string, identifier: Identifier): Promise<void> {
  const { model } = session;
  const fact = { kind: 'identifiers', subject: resource };
  const one = await newOne(session, resource);
  const other = await newOne(session, resource);
  session.claim({
    fact,
    reason: 'form',
    of: [one] as const,
    judge: (exchange: TrialExchange) =>
      isDone(exchange) ? judgeForm(identifier, idIn(model, exchange)) : moot('nothing was made'),
  });
  session.claim({
    fact,
    reason: 'new',
    of: [one, other] as const,
    judge(first: TrialExchange, second: TrialExchange) {
      if (!isDone(first) || !isDone(second) || identifier.generate === 'client') return moot('nothing was made');
      // What came of something else is known by what shows it, and may be shown twice.
      if (first.sent.method === 'GET' && first.sent.target === second.sent.target) return moot('it may be one row, seen twice');
      const id = idIn(model, second);
      return id !== undefined && id === idIn(model, first)
        ? { promised: 'each has an identifier of its own', seen: `${asText(id)} twice` }
        : undefined;
    },
  });
}

/** What made a row, or what showed it first where it was made along with something else. */
async function newOne(session: Session, resource: string): Promise<Done<TrialExchange>> {
  const row = await session.make(resource);
  session.need(row.made !== undefined || !session.model.seeds.isNeeded(resource), `rows of ${resource} are given, not made`);
  return row.made ?? (await lookAt(session, row)).done;
}

function judgeForm({ generate }: Identifier, id: unknown): Judgement {
  if (generate === undefined || generate === 'client' || id === undefined) return moot('nothing says how it looks');
  if (generate === 'integer') {
    return typeof id === 'number' && Number.isInteger(id) ? undefined : { promised: 'a whole number', seen: JSON.stringify(id) };
  }
  const read = readTemplate(generate);
  if (!('template' in read)) return moot('nothing says how it looks');
  const fits = typeof id === 'string' && new RegExp(read.template.pattern).test(id);
  return fits ? undefined : { promised: `an identifier made as ${generate}`, seen: JSON.stringify(id) };
}

async function deleteAndMake(session: Session, resource: string, identifier: Identifier): Promise<void> {
  const { model } = session;
  const fact = { kind: 'identifiers', subject: resource };
  const row = await session.make(resource);
  const { made } = row;
  session.need(made !== undefined, `rows of ${resource} are given, not made`);
  await lookAt(session, row);
  const done = await remove(session, row);
  session.need(isDone(done.value), `it could not be deleted: ${done.value.status}`);
  const after = (await lookAt(session, row)).done;
  session.claim({
    fact,
    reason: 'gone',
    of: [made, done, after] as const,
    judge(creation: TrialExchange, deletion: TrialExchange, seen: TrialExchange) {
      if (!isDone(creation) || !isDone(deletion) || model.refusals.isHurried(seen)) return moot('nothing was deleted');
      const shown = rowWith(model, seen, idIn(model, creation));
      return shown ? { promised: 'what was deleted is not there', seen: JSON.stringify(shown) } : undefined;
    },
  });
  if (identifier.generate === 'client') return;
  const later = (await session.make(resource)).made;
  session.need(later !== undefined, `rows of ${resource} are given, not made`);
  session.claim({
    fact,
    reason: 'never again',
    of: [made, done, later] as const,
    judge(first: TrialExchange, deletion: TrialExchange, second: TrialExchange) {
      if (!isDone(first) || !isDone(deletion) || !isDone(second)) return moot('nothing was deleted and made');
      const id = idIn(model, second);
      return id !== undefined && id === idIn(model, first)
        ? { promised: 'an identifier is never used again', seen: `${asText(id)} once more` }
        : undefined;
    },
  });
}
