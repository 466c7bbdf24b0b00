import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Field } from '../../../parts/resources.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { callersFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFrom } from '../../make/row-made.ts';
import { isHiddenFrom } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { claimRow } from './claim-row.ts';

/** What a user sends for a field that is for others to write is not stored. */
export const notWritable: Trial = {
  name: 'resources/not writable',
  part: 'resources',
  about: 'A field that only some users write is not written by the others.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const [, field] of entriesOf(resource.fields)) {
        const { writable } = field;
        if (writable === undefined || field.readOnly || !statedValue(resource.identifier)) continue;
        for (const endpoint of writersOf(model, name)) {
          const facts = [{ kind: 'allowed values', subject: `${name}.${field.name}` }];
          for (const user of strangersTo(model, endpoint, writable))
            yield {
              name: `${endpoint.key} with ${field.name} as ${user}`,
              facts,
              run: (session) => writeAs(session, endpoint, field, user),
            };
        }
      }
    }
  },
};

function writersOf(model: Model, resource: string): Endpoint[] {
  const verbs = ['create', 'update', 'replace', 'upsert'];
  return verbs
    .flatMap((verb) => model.endpointsThat(verb, resource))
    .filter((endpoint) => !isStated(endpoint.request) && writesFields(model, endpoint));
}

/** The users who may call an endpoint, and not write the field. */
function strangersTo(model: Model, endpoint: Endpoint, writable: readonly string[]): string[] {
  const operation = model.operationOf(endpoint);
  const able = model.callers.filter(
    (caller) => !writable.includes(caller.user) && model.access.allows(operation, caller) !== 'no',
  );
  return [...new Set(able.map(({ user }) => user))];
}

async function writeAs(session: Session, endpoint: Endpoint, field: Field, user: string): Promise<void> {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const name = effect && 'resource' in effect ? effect.resource : '';
  const isNew = effect?.verb === 'create' || effect?.verb === 'upsert';
  const value = model.freshValue(name, field.name);
  session.need(value !== undefined, `no value could be made for ${field.name}`);
  const [state] = endpoint.in ?? [];
  const row = isNew ? undefined : await session.make(name, { style: 'whole', ...(state !== undefined && { state }) });
  const caller = callersFor(session, endpoint, row).find((one) => one.user === user);
  session.need(caller !== undefined, `no ${user} may call ${endpoint.key}`);
  const reader = readerOf(model, field);
  session.need(reader !== undefined, `nobody is shown ${field.name}`);
  const before = row && (await lookAt(session, row, reader)).done;
  const plan = row
    ? await requestAbout(session, row, endpoint, { caller, headers: await session.preconditions(endpoint, row, caller) })
    : await creation(session, endpoint, caller);
  const json = plan.body && 'value' in plan.body ? plan.body.value : {};
  const body = { value: withMember(json, [field.name], value), type: plan.body?.type ?? 'application/json' };
  const change = await session.send({ ...plan, body });
  if (!isDone(change.value)) return;
  const after = await lookAt(session, row ?? rowFrom(session, name, endpoint, change), reader);
  claimRow(session, { resource: name, change, seen: after.done, reason: 'stored', ...(before && { before }) });
}

async function creation(session: Session, endpoint: Endpoint, caller: TrialCaller): Promise<RequestPlan> {
  const { path, json } = await session.parts(endpoint, { caller });
  return session.model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
}

/** Somebody who would see it. */
function readerOf(model: Model, field: Field): TrialCaller | undefined {
  return model.callers.find((caller) => !isHiddenFrom(field, caller));
}
