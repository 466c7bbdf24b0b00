import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { transitionsOf } from '../../../parts/states.ts';
import { isDone } from '../../exchange/exchange.ts';
import { beginBody } from '../../make/begin-body.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import type { Model } from '../../model/model.ts';
import { writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { claimRow } from './claim-row.ts';

const waitMs = 60_000;

/** A change a while later: what it sets to the time of the change is not the time of the creation. */
export const changedLater: Trial = {
  name: 'resources/changed later',
  part: 'resources',
  about: 'A change that is made a minute later shows in what it sets.',
  noise: 'loud',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = model.resource(resourceOfEffect(effect) ?? '');
      if (!resource || (effect?.verb !== 'update' && effect?.verb !== 'replace') || !writesFields(model, endpoint)) continue;
      const set = entriesOf(resource.fields).filter(([, { set: by }]) => 'write' in by || effect.verb in by);
      if (set.length === 0) continue;
      const facts = set.map(([field]) => ({ kind: 'allowed values', subject: `${resource.name}.${field}` }));
      yield { name: endpoint.key, facts, run: (session) => changeLater(session, endpoint) };
    }
  },
};

/** Whether the clock alone may take a row of a resource to another state. */
function movesByClock({ spec }: Model, resource: string): boolean {
  return transitionsOf(spec.states, resource).some(([, { after, atTime }]) => after !== undefined || atTime !== undefined);
}

async function changeLater(session: Session, endpoint: Endpoint): Promise<void> {
  session.need(session.run.clock.advance !== undefined, 'it takes a minute: say how the clock is moved with --clock');
  session.need(!endsWithin(session.model, session, waitMs), 'the tokens that were given end before that');
  const begun = await beginBody(session, endpoint, 'full');
  const { row } = begun;
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  let before = (await lookAt(session, row)).done;
  await session.wait(waitMs);
  // What the clock does by itself meanwhile is no doing of the change.
  if (movesByClock(session.model, row.resource)) before = (await lookAt(session, row)).done;
  const done = await session.send(begun.request(begun.json));
  if (!isDone(done.value)) return;
  claimRow(session, { resource: row.resource, before, change: done, seen: done, reason: 'answered' });
}
