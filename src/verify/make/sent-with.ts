import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { conditionsOfTransition, machineOn, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { type Aim, isAimedAt, targetTaken } from '../model/access.ts';
import type { Follow } from '../model/expectation.ts';
import { isSendable } from '../model/own-body.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { edgesOf } from '../values/variants.ts';
import { requestMember } from './entrusted.ts';
import { imaginedOf, valuesThatFit } from './fitting-values.ts';

interface Firing {
  readonly transition: Transition;
  readonly target: Aim | undefined;
  readonly caller: TrialCaller | undefined;
}

/**
 * What a transition would take of a body: by the language `next` has nothing yet of what it sets, and others may mean the row as it is
 * stored. What is drawn for it serves whichever is meant.
 */
export function takenOfBody(
  session: Session,
  { operation }: Endpoint,
  row: TrialRow,
  { transition, caller }: Omit<Firing, 'target'>,
  { body, follow }: { readonly body: Json | undefined; readonly follow: Follow },
): readonly ReturnType<typeof targetTaken>[] {
  const { model, run } = session;
  const fields = row.fields ?? {};
  return [fields, nextWith(session, row, transition, body)].map((next) =>
    targetTaken(model.expressions, transition, {
      operation,
      row: fields,
      next,
      unseen: model.unseenBy(row.resource, row.caller),
      request: body,
      caller,
      nowMs: run.clock.toService(Date.now()),
      follow,
    }),
  );
}

/** A row as it is once a transition has set what it takes of a body: `lot` of `set: { mill: request.lot }`. */
function nextWith(session: Session, { resource, fields }: TrialRow, transition: Transition, body: Json | undefined): ShownFields {
  const out: Record<string, Json> = { ...fields };
  for (const [name, { set }] of entriesOf(session.model.resource(resource)?.fields)) {
    const member = requestMember(set[transition.name]?.source);
    const value = member !== undefined && isMap(body) ? body[member] : undefined;
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/**
 * The rows that a transition is sent with, as its conditions ask for them: an open lot of the material that a case is made of. Nothing where they
 * ask nothing of such a row, or none can be made so.
 */
export async function sentWith(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  firing: Firing,
): Promise<Readonly<Record<string, TrialRow>>> {
  const { model } = session;
  const properties = statedValue(model.requestShape(endpoint))?.properties;
  const given: Record<string, TrialRow> = {};
  for (const [member, shape] of isMap(properties) && row.fields ? Object.entries(properties) : []) {
    const resource = isMap(shape) ? shape.ref : undefined;
    if (typeof resource !== 'string') continue;
    const wanted = wantedFor(session, endpoint, row, { ...firing, member, resource });
    const sent = wanted && (await ifTestable(session.make(resource, { ...wanted, for: firing.caller })));
    if (sent) given[member] = sent;
  }
  return given;
}

/** How a row that is sent has to be for a transition to lead where it is to; nothing where that asks nothing of it, or cannot be. */
function wantedFor(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  { transition, target, caller, member, resource }: Firing & { readonly member: string; readonly resource: string },
): WantedRow | undefined {
  const { model } = session;
  const conditions = conditionsOfTransition(transition);
  const named = entriesOf(model.resource(row.resource)?.fields).flatMap(([name, { set }]) =>
    requestMember(set[transition.name]?.source) === member ? [name] : [],
  );
  const reads = conditions.flatMap((one) => model.expressions.readsOf(one, endpoint.operation));
  const read = reads.flatMap(({ root, path: [name = '', ...more], follows: [first, ...deeper] = [] }) => {
    const isIt = (root === 'request' && name === member) || (root === 'next' && named.includes(name));
    return isIt && more.length === 0 && first !== undefined && deeper.length === 0 ? [first] : [];
  });
  const members = [...new Set(read)];
  const source = conditions.map((one) => one.source).join(' ');
  const choices = members.map((name) => [name, valuesIn(session, resource, name, { row, source })] as const);
  if (choices.length === 0 || choices.some(([, values]) => values.length === 0)) return undefined;
  for (const chosen of imaginedOf(choices)) {
    const follow: Follow = (_name, key) => (key === sentHere ? { ...chosen } : undefined);
    const taken = takenOfBody(session, endpoint, row, { transition, caller }, { body: { [member]: sentHere }, follow });
    if (taken.some((one) => (target === undefined ? typeof one === 'object' : isAimedAt(one, target))))
      return asWanted(session, resource, chosen, row);
  }
  return undefined;
}

/** The identifier of the row that is meant, in what is imagined. */
const sentHere = '0';

/** What a member of such a row may be: a state, what fits, the row that is changed refers to itself. */
function valuesIn(
  session: Session,
  resource: string,
  name: string,
  { row, source }: { readonly row: TrialRow; readonly source: string },
): readonly Json[] {
  const { model } = session;
  const machine = machineOn(model.spec.states, resource, name);
  if (machine) return [...new Set([...machine.initial.map(({ state }) => state), ...(statedValue(machine.states) ?? [])])];
  const field = entryOf(model.resource(resource)?.fields, name);
  if (field?.ref !== undefined)
    return entriesOf(model.resource(row.resource)?.fields).flatMap(([own, { ref }]) => {
      const value = ref === field.ref ? row.fields?.[own] : undefined;
      return value === undefined ? [] : [value];
    });
  const shape = field && statedValue(field.shape);
  if (!shape || !isSendable(model, resource, name)) return [];
  // Of numbers more is more often asked for than less.
  const edges = [...edgesOf(shape)].map(({ value }) => value).filter((value) => typeof value === 'number');
  return [...new Set([...edges.sort((one, other) => other - one), ...valuesThatFit(session, shape, source)])];
}

/** The same as what is wanted of a row that is made. */
function asWanted({ model }: Session, resource: string, chosen: ShownFields, row: TrialRow): WantedRow {
  const body: Record<string, Json> = {};
  const parents: Record<string, TrialRow> = {};
  let wanted: Pick<WantedRow, 'state' | 'machine'> = {};
  for (const [name, value] of Object.entries(chosen)) {
    const machine = machineOn(model.spec.states, resource, name);
    const ref = entryOf(model.resource(resource)?.fields, name)?.ref;
    if (machine && machine.initial[0]?.state !== value) wanted = { machine, state: asText(value) };
    else if (!machine && ref === undefined) body[name] = value;
    else if (ref !== undefined) {
      const own = entriesOf(model.resource(row.resource)?.fields).find(
        ([of, field]) => field.ref === ref && row.fields?.[of] === value,
      );
      const id = (own && row.known[own[0]]) ?? value;
      parents[name] = { resource: ref, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
    }
  }
  return { body, parents, ...wanted };
}
