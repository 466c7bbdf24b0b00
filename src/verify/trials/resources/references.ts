import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { identifierType } from '../../../parts/schemas.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { freshText } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookAt, showsWhole } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { rowFor } from '../../make/row-where.ts';
import { remove } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { mayHold, writesFields } from '../../model/own-body.ts';
import { idIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';

/** A reference names something that is there, and what deleting that does is what the document says. */
export const references: Trial = {
  name: 'resources/references',
  part: 'resources',
  about: 'A reference to nothing is refused; deleting what is referred to is refused, takes along, or clears, as stated.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const [field, stated] of entriesOf(resource.fields)) {
        if (stated.ref === undefined || !statedValue(resource.identifier)) continue;
        const facts = [{ kind: 'types', subject: `${name}.${field}` }];
        for (const endpoint of takers(model, resource, stated)) {
          const by = statedValue(endpoint.does)?.verb === 'create' ? name : endpoint.key;
          yield {
            name: `${by} with ${field} of nothing`,
            facts,
            run: (session) => sendNothing(session, endpoint, { resource, field: stated }),
          };
        }
        const { onDelete } = stated;
        if (onDelete && model.endpointsThat('delete', stated.ref).length > 0) {
          yield {
            name: `${name}.${field}, ${onDelete}`,
            facts,
            run: (session) => deleteParent(session, resource, stated, onDelete),
          };
        }
      }
    }
  },
};

/** The endpoints that take the reference in their bodies; of those that change a row, where it may be another one than before. */
function takers(model: Model, resource: Resource, field: Field, verbs = ['create', 'upsert', 'update', 'replace']): Endpoint[] {
  return verbs
    .filter((verb) => !field.immutable || verb === 'create' || verb === 'upsert')
    .flatMap((verb) => model.endpointsThat(verb, resource.name))
    .filter(
      (endpoint) =>
        writesFields(model, endpoint) &&
        mayHold(model, endpoint, field.name) &&
        !boundByPath(model.spec, endpoint).includes(field.name) &&
        isWritable(model.spec, resource, field),
    );
}

async function sendNothing(
  session: Session,
  endpoint: Endpoint,
  { resource, field }: { readonly resource: Resource; readonly field: Field },
): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'plain');
  // Of whoever may not write it, it is not looked at.
  const { writable } = field;
  session.need(writable === undefined || writable.includes(begun.caller?.user ?? ''), `who sends it may not write ${field.name}`);
  const isNumber = identifierType(model.spec, field.ref ?? '') === 'integer';
  const nothing = isNumber
    ? 2_000_000_011
    : (model.freshValue(field.ref ?? '', model.identifierField(field.ref ?? '')) ?? freshText('nf-nothing-'));
  const done = await session.send(begun.request(withMember(begun.json, [field.name], nothing)));
  const fact = { kind: 'types', subject: `${resource.name}.${field.name}` };
  claimRefused(session, done, {
    by: { when: 'reference.missing' },
    fact,
    reason: 'reference',
    what: `a ${field.name} that is not there`,
    control: begun.valid,
  });
}

async function deleteParent(
  session: Session,
  resource: Resource,
  field: Field,
  onDelete: 'restrict' | 'cascade' | 'clear',
): Promise<void> {
  const { model } = session;
  const target = field.ref ?? '';
  const parent = await rowFor(session, resource.name, field.name, target);
  const child = await session.make(resource.name, {
    parents: { [field.name]: parent },
    body: takers(model, resource, field, ['create', 'upsert']).length > 0 ? { [field.name]: parent.id } : {},
  });
  // Who may read a row for what it refers to may not read it once that is gone.
  const reader = sureReader(model, resource.name);
  const before = (await lookAt(session, child, reader)).done;
  const done = await remove(session, parent);
  const fact = { kind: 'types', subject: `${resource.name}.${field.name}` };
  const { made } = child;
  session.need(made !== undefined, `rows of ${resource.name} are given, not made`);
  if (onDelete === 'restrict') {
    const { endpoint } = done.value;
    const isSo = (_exchange: TrialExchange, was?: TrialExchange, creation?: TrialExchange) =>
      was !== undefined && creation !== undefined && rowWith(model, was, idIn(model, creation))?.[field.name] !== undefined;
    claimRefused(session, done, {
      by: { when: 'reference.held' },
      fact,
      reason: 'restrict',
      beside: [before, made],
      isSo,
      at: `${field.at}/onDelete`,
      what: `deleting a ${target} that a ${resource.name} refers to`,
      ...(endpoint && { control: async () => (await ready(session, endpoint)).request }),
    });
    return;
  }
  session.need(isDone(done.value), `the ${target} could not be deleted: ${done.value.status}`);
  const after = (await lookAt(session, child, reader)).done;
  session.claim({
    fact,
    reason: onDelete,
    at: `${field.at}/onDelete`,
    of: [made, done, after, before] as const,
    judge(creation: TrialExchange, deletion: TrialExchange, seen: TrialExchange, was: TrialExchange) {
      if (!isDone(creation) || !isDone(deletion)) return moot('nothing was deleted');
      const old = rowWith(model, was, idIn(model, creation));
      if (!old) return moot('it was not shown before');
      if (onDelete === 'cascade' && !readsSurely(model, seen, old)) return moot('its reader may read it no longer');
      const row = rowWith(model, seen, idIn(model, creation));
      if (onDelete === 'cascade')
        return row ? { promised: `a ${resource.name} goes with its ${target}`, seen: JSON.stringify(row) } : undefined;
      if (!row) return { promised: `a ${resource.name} stays without its ${target}`, seen: `${seen.status}` };
      const value = row[field.name];
      return value === undefined || value === null
        ? undefined
        : { promised: `${field.name} is cleared`, seen: JSON.stringify(value) };
    },
  });
}

/** Somebody who may read every row of a resource, whatever it refers to. */
function sureReader(model: Model, resource: string): TrialCaller | undefined {
  const [read] = [...model.endpointsThat('read', resource).filter(showsWhole), ...model.endpointsThat('list', resource)];
  return read && model.callers.find((caller) => model.access.allows(model.operationOf(read), caller) === 'yes');
}

/** Whether an answer was given to somebody who may read the row, whatever it refers to. */
function readsSurely(model: Model, { endpoint, caller }: TrialExchange, resource: ShownFields): boolean {
  return endpoint !== undefined && model.access.allows(model.operationOf(endpoint), caller, { context: { resource } }) === 'yes';
}
