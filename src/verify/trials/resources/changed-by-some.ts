import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { lookAt } from '../../make/look.ts';
import { writtenBy } from '../../make/writers.ts';
import { isHiddenFrom } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { anotherValue, changesOf } from './changes.ts';
import { changeRow, changingOf } from './changing.ts';

/** The changes of each field that only some may write: by one of them, by somebody else of another field, and away. */
export function* changesBySome(model: Model, endpoint: Endpoint, resource: Resource): Iterable<Case> {
  if (isStated(endpoint.request)) return;
  const bound = new Set(boundByPath(model.spec, endpoint));
  for (const [name, field] of entriesOf(resource.fields)) {
    if (!field.writable || field.immutable || bound.has(name) || !isWritable(model.spec, resource, field)) continue;
    if (!model.callers.some((caller) => writesAndSees(field, caller))) continue;
    yield {
      name: `${endpoint.key}, ${name} by who may write it`,
      facts: [{ kind: 'allowed values', subject: `${resource.name}.${name}` }],
      run: (session) => changeBySome(session, endpoint, resource, field),
    };
  }
}

function writesAndSees(field: Field, caller: TrialCaller): boolean {
  return field.writable?.includes(caller.user) === true && !isHiddenFrom(field, caller);
}

async function changeBySome(session: Session, endpoint: Endpoint, resource: Resource, field: Field): Promise<void> {
  const { name } = field;
  const isMeant = (caller: TrialCaller) => writesAndSees(field, caller);
  const { row, caller: writer, callers } = await writtenBy(session, endpoint, resource.name, { style: 'whole', isMeant });
  const changing = { ...(await changingOf(session, endpoint, row)), caller: writer, reader: writer };
  let before = (await lookAt(session, row, writer)).done;
  const value = await anotherValue(session, resource, field, row);
  session.need(value !== undefined, `there is no other value of ${name}`);
  const written = await changeRow(session, changing, { [name]: value }, before, name);
  session.need(written !== undefined, `no ${endpoint.key} was taken`);
  before = written;
  // What somebody else changes of the row leaves it as it is.
  const [alone] = changesOf(session.model, endpoint, resource).filter(({ says }) => says.endsWith(' alone'));
  const other = callers.find((caller) => caller !== writer) ?? writer;
  const members = alone && (await ifTestable(alone.members(session, row)));
  const kept = members && (await changeRow(session, { ...changing, caller: other }, members, before, alone.fields[0]));
  before = kept ?? before;
  if (statedValue(field.required) === false) await changeRow(session, changing, { [name]: null }, before, name);
}
