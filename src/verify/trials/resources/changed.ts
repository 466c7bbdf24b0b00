import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Resource } from '../../../parts/resources.ts';
import { transitionsOf } from '../../../parts/states.ts';
import { isDone } from '../../exchange/exchange.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRow } from '../../make/claim-row.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { makeInSome } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import { writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { changesBySome } from './changed-by-some.ts';
import { changesOf, type RowChange } from './changes.ts';
import { changeRow, changingOf } from './changing.ts';

/** So many changes one row is put through: what fails is told by the shortest of scripts all the same. */
const changesMost = 12;

/** An update, replacement or upsert changes what it says and nothing else; what is read-only stays, whatever is sent. */
export const changed: Trial = {
  name: 'resources/changed',
  part: 'resources',
  about: 'An update, replacement or upsert makes of a row what the document says, and leaves the rest.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = model.resource(resourceOfEffect(effect) ?? '');
      const isChange = effect?.verb === 'update' || effect?.verb === 'replace' || effect?.verb === 'upsert';
      if (!resource || !isChange || !writesFields(model, endpoint) || endpoint.identity) continue;
      const all = changesOf(model, endpoint, resource);
      // What a transition sets is there in the states that it leads to, and stays.
      const [alone] = all.filter(({ says }) => says.endsWith(' alone'));
      for (const state of alone ? statesSettingFor(model, endpoint, resource) : []) {
        const kept = entriesOf(resource.fields).filter(([, { set }]) => Object.keys(set).length > 0);
        yield {
          name: `${endpoint.key} in ${state}`,
          facts: kept.map(([field]) => ({ kind: 'allowed values', subject: `${resource.name}.${field}` })),
          run: (session) => changeAll(session, endpoint, alone ? [alone] : [], state),
        };
      }
      for (let at = 0; at < all.length; at += changesMost) {
        const changes = all.slice(at, at + changesMost);
        const fields = [...new Set(changes.flatMap((one) => one.fields))];
        yield {
          name: `${endpoint.key}, ${changes[0]?.says} to ${changes.at(-1)?.says}`,
          facts: fields.map((field) => ({ kind: 'allowed values', subject: `${resource.name}.${field}` })),
          run: (session) => changeAll(session, endpoint, changes),
        };
      }
      yield* changesBySome(model, endpoint, resource);
    }
  },
};

/** The states in which a change is made too: those that it is stated for, else those that transitions lead to which set something. */
function statesSettingFor({ spec }: Model, endpoint: Endpoint, { name, fields }: Resource): readonly string[] {
  if (endpoint.in) return endpoint.in.slice(1);
  const setting = transitionsOf(spec.states, name).filter(([word]) => entriesOf(fields).some(([, { set }]) => set[word]));
  return [...new Set(setting.flatMap(([, { to }]) => to.map(({ state }) => state)))].slice(0, statesMost);
}

/** So many states are come to for that. */
const statesMost = 4;

/** One row, with everything in it, that is changed again and again, and read after each change. */
async function changeAll(session: Session, endpoint: Endpoint, changes: readonly RowChange[], state?: string): Promise<void> {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const row = await makeInSome(session, name, state === undefined ? endpoint.in : [state], { style: 'whole' });
  const changing = await changingOf(session, endpoint, row);
  let before = (await lookAt(session, changing.row)).done;
  let taken = 0;
  for (const { members, fields } of changes) {
    const sent = await members(session, changing.row);
    if (!sent) continue;
    const after = await changeRow(session, changing, sent, before, fields.length > 1 ? undefined : fields[0]);
    if (after) taken += 1;
    if (after || fields.length === 1) {
      before = after ?? before;
      continue;
    }
    // Of several that were refused together, each is tried alone.
    for (const name of fields) {
      const one = sent[name] === undefined ? undefined : await changeRow(session, changing, { [name]: sent[name] }, before, name);
      if (one) taken += 1;
      before = one ?? before;
    }
  }
  session.need(taken > 0, `no ${endpoint.key} was taken`);
}

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
