import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { boundByPath } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { type Machine, machinesOf, machineWith, transitionNamed } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { beginBody } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { requestMember } from '../../make/entrusted.ts';
import { lookAt, showsWhole } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFor } from '../../make/row-where.ts';
import { identifierOfNothing, takers } from '../../make/to-nothing.ts';
import { remove, statesOf, walkTo } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith, type ShownFields, unexpanded } from '../../model/row-shown.ts';
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
        const facts = factsOf(`${name}.${field}`);
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
          for (const { machine, state } of onDelete === 'restrict' ? statesHolding(model, resource, stated) : [])
            yield {
              name: `${name}.${field}, ${onDelete}, where it is ${state}`,
              facts,
              run: (session) => deleteParent(session, resource, stated, onDelete, { machine, state }),
            };
        }
      }
    }
  },
};

/** What is said of a reference to what is not there. */
const factsOf = (subject: string): [FactName, ...FactName[]] => [
  { kind: 'types', subject },
  { kind: 'allowed values', subject },
];

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
  const done = await session.send(begun.request(withMember(begun.json, [field.name], identifierOfNothing(model, field))));
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
  held?: Held,
): Promise<void> {
  const { model } = session;
  const target = field.ref ?? '';
  const parent = await rowFor(session, resource.name, field.name, target);
  const child = await referring(session, resource, field, parent, held);
  // Who may read a row for what it refers to may not read it once that is gone.
  const reader = sureReader(model, resource.name);
  const before = (await lookAt(session, child, reader)).done;
  // What was done to the one may have moved the other.
  const isBound = model.endpointsThat('delete', target).some((endpoint) => endpoint.in !== undefined);
  if (held || isBound) await ifTestable(lookAt(session, parent));
  const done = await remove(session, parent);
  const [fact, ...others] = factsOf(`${resource.name}.${field.name}`);
  const { made } = child;
  session.need(made !== undefined, `rows of ${resource.name} are given, not made`);
  if (onDelete === 'restrict') {
    const { endpoint } = done.value;
    const isSo = (deletion: TrialExchange, was?: TrialExchange, creation?: TrialExchange) => {
      const row = was && creation && rowWith(model, was, idIn(model, creation));
      return row !== undefined && refersTo(model, resource, field, row, deletion);
    };
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
  for (const held of [fact, ...others])
    session.claim({
      fact: held,
      reason: onDelete,
      at: `${field.at}/onDelete`,
      of: [made, done, after, before] as const,
      judge: (...seen) => deletedJudgement(model, resource, field, onDelete, seen),
    });
}

/** Whether a row refers to what was deleted: what the service sets may be another. */
function refersTo(model: Model, { name }: Resource, field: Field, row: ShownFields, deletion: TrialExchange): boolean {
  const value = unexpanded(model, name, row)[field.name];
  return value !== undefined && value !== null && asText(value) === asText(idIn(model, deletion) ?? null);
}

/** What becomes of a row that refers to what was deleted: it goes along, or stays without it. */
function deletedJudgement(
  model: Model,
  resource: Resource,
  field: Field,
  onDelete: 'cascade' | 'clear',
  [creation, deletion, seen, was]: readonly [TrialExchange, TrialExchange, TrialExchange, TrialExchange],
): Judgement {
  if (!isDone(creation) || !isDone(deletion)) return moot('nothing was deleted');
  const old = rowWith(model, was, idIn(model, creation));
  if (!old) return moot('it was not shown before');
  if (!refersTo(model, resource, field, old, deletion)) return moot('it did not refer to what was deleted');
  if (onDelete === 'cascade' && !readsSurely(model, seen, old)) return moot('its reader may read it no longer');
  const row = rowWith(model, seen, idIn(model, creation));
  if (onDelete === 'cascade')
    return row ? { promised: `a ${resource.name} goes with its ${field.ref}`, seen: JSON.stringify(row) } : undefined;
  if (!row) return { promised: `a ${resource.name} stays without its ${field.ref}`, seen: `${seen.status}` };
  const value = row[field.name];
  return value === undefined || value === null
    ? undefined
    : { promised: `${field.name} is cleared`, seen: JSON.stringify(value) };
}

/** So many states of what refers are tried. */
const statesMost = 4;

/** The states beyond the first in which what refers to a row is to hold it. */
function statesHolding(model: Model, { name }: Resource, field: Field): readonly Held[] {
  const fired = firedWith(model, name, field);
  return machinesOf(model.spec.states, name)
    .filter((machine) => !fired || fired.machine === machine)
    .flatMap((machine) => {
      const clearing = entriesOf(machine.transitions).flatMap(([transition, { to }]) =>
        field.set[transition] && transition !== fired?.name ? to.map(({ state }) => state) : [],
      );
      const begun = new Set(machine.initial.map(({ state }) => state));
      const states = statesOf(machine).filter((state) => !begun.has(state) && !clearing.includes(state));
      return states.map((state) => ({ machine, state }));
    })
    .slice(0, statesMost);
}

/** The transition by which a row comes to refer, where what it refers to is sent with it: `offered: { set: { offer: request.plot } }`. */
function firedWith(model: Model, resource: string, field: Field) {
  for (const [name, set] of Object.entries(field.set)) {
    const member = requestMember(set?.source);
    const machine = machineWith(model.spec.states, resource, name);
    const transition = transitionNamed(model.spec.states, resource, name);
    const endpoint = model.endpointOfTransition(resource, name);
    if (member !== undefined && machine && transition && endpoint) return { name, member, machine, transition, endpoint };
  }
  return undefined;
}

/** A row that refers to another, in a state of its own where that is said. @throws {Untestable} */
async function referring(session: Session, resource: Resource, field: Field, parent: TrialRow, held?: Held): Promise<TrialRow> {
  const { model } = session;
  const isSent = takers(model, resource, field, ['create', 'upsert']).length > 0;
  const fired = isSent || boundSomewhere(model, resource, field) ? undefined : firedWith(model, resource.name, field);
  if (!fired) {
    const body = isSent ? { [field.name]: parent.id } : {};
    return session.make(resource.name, { parents: { [field.name]: parent }, body, ...held });
  }
  const { machine, member, transition, endpoint } = fired;
  const from = transition.from === '*' ? [] : transition.from;
  const [initial] = machine.initial;
  const isBegunIn = from.length === 0 || from.includes(initial?.state ?? '');
  const row = await session.make(resource.name, isBegunIn || from[0] === undefined ? {} : { machine, state: from[0] });
  const [caller] = callersFor(session, endpoint, row);
  const request = await requestAbout(session, row, endpoint, { caller, transition });
  const { body } = request;
  session.need(body !== undefined && 'value' in body && typeof body.value === 'object', `${endpoint.key} takes no ${member}`);
  const headers = await session.preconditions(endpoint, row, caller);
  const value = { ...(body.value as Readonly<Record<string, Symbolic>>), [member]: parent.id };
  const done = await session.send({ ...request, headers: { ...request.headers, ...headers }, body: { ...body, value } });
  session.need(isDone(done.value), `${endpoint.key} was answered ${done.value.status}`);
  await lookAt(session, row);
  if (held) await walkTo(session, row, held.state, { machine: held.machine });
  return row;
}

/** Whether a path says what a new row refers to. */
function boundSomewhere(model: Model, { name }: Resource, field: Field): boolean {
  return model.endpointsThat('create', name).some((endpoint) => boundByPath(model.spec, endpoint).includes(field.name));
}

/** The state of what refers to a row. */
interface Held {
  readonly machine: Machine;
  readonly state: string;
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
