import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { lookAt } from '../../make/look.ts';
import { makeInSome } from '../../make/row-where.ts';
import { writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { changeRow, changingOf } from './change-row.ts';
import { changesOf, type RowChange } from './changes.ts';

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
      for (const state of alone ? (endpoint.in ?? []).slice(1) : []) {
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
    }
  },
};

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
