import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Session } from '../../session/session.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** Writes what is hidden from a user and was not sent by whoever made the row, as somebody who may. */
export async function fill(
  session: Session,
  resource: Resource,
  row: TrialRow,
  user: string,
): Promise<ReadonlyMap<string, Done<TrialExchange>>> {
  const { model } = session;
  const filled = new Map<string, Done<TrialExchange>>();
  for (const [name, field] of entriesOf(resource.fields)) {
    const isSent = bodyFields({ body: row.made?.value.sent.json })?.[name] !== undefined;
    if (isSent || !isNeverShown(model.spec, field, { name: user, user }) || !isWritable(model.spec, resource, field)) continue;
    for (const endpoint of model.endpointsThat('update', resource.name)) {
      const writer = callersFor(session, endpoint, row).find(
        (one) => field.writable === undefined || field.writable.includes(one.user),
      );
      const value = writer && (model.freshValue(resource.name, name) ?? drawn(session, field));
      if (!writer || value === undefined) continue;
      const headers = await ifTestable(session.preconditions(endpoint, row, writer));
      if (!headers) continue;
      const plan = await requestAbout(session, row, endpoint, { caller: writer, headers, json: { [name]: value } });
      const done = await session.send(plan);
      if (isDone(done.value)) filled.set(name, done);
      break;
    }
  }
  return filled;
}

/** What is hidden from a user and set by the service, as somebody is shown it who may see it. */
export async function witnesses(
  session: Session,
  resource: Resource,
  row: TrialRow,
  user: string,
): Promise<ReadonlyMap<string, Done<TrialExchange>>> {
  const { spec, callers } = session.model;
  const found = new Map<string, Done<TrialExchange>>();
  for (const [name, field] of entriesOf(resource.fields)) {
    if (!isNeverShown(spec, field, { name: user, user }) || Object.keys(field.set).length === 0) continue;
    const witness = callers.find((caller) => !isNeverShown(spec, field, caller));
    const look = witness && (await ifTestable(lookAt(session, row, witness)));
    if (look) found.set(name, look.done);
  }
  return found;
}

/** Any value of a field that is no reference; nothing where there is none. */
function drawn({ model, chance }: Session, { shape }: Field): Symbolic | undefined {
  const stated = statedValue(shape);
  try {
    const value = stated && chance.value(arbitraryValuesOf(model.spec, stated, 'plain'));
    // The cast holds: what is no reference, and has none in it, is a value.
    return value === null || JSON.stringify(stated).includes('"resource"') ? undefined : (value as Symbolic | undefined);
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}
