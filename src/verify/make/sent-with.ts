import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { childNodes, type Node, type NodeOf, parseExpression } from '../../parts/expressions/node.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { conditionsOfTransition, machineOn, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { resolve } from '../exchange/symbol.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { type Aim, isAimedAt, targetTaken } from '../model/access.ts';
import { basesOf, withDerivedOfNew } from '../model/derived.ts';
import type { Before, Follow } from '../model/expectation.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import { rowKnown } from '../model/row-known.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { edgesOf } from '../values/variants.ts';
import { requestMember } from './entrusted.ts';
import { imaginedOf, valuesThatFit } from './fitting-values.ts';
import { findsIn, wayOf } from './looked-up.ts';

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
  const known = knownRow(model, row);
  return [known.fields, nextWith(session, { ...row, fields: known.fields }, transition, body)].map((next) =>
    targetTaken(model.expressions, transition, {
      operation,
      row: known.fields,
      next,
      unseen: known.unseen,
      request: body,
      caller,
      nowMs: run.clock.toService(Date.now()),
      follow,
    }),
  );
}

/** A row as its maker knows it: as it was shown, with what its making alone reveals. */
export function knownRow(model: Model, { resource, caller, fields = {}, made }: TrialRow): Before {
  return rowKnown(model, resource, { fields, unseen: model.unseenBy(resource, caller), creation: made?.value });
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
  const sought = soughtBy(firing.transition);
  for (const [member, shape] of isMap(properties) && row.fields ? Object.entries(properties) : []) {
    const ref = isMap(shape) ? shape.ref : undefined;
    const lookUp = sought.find((one) => one.member === member && (ref === undefined || one.resource === ref));
    const resource = typeof ref === 'string' ? ref : lookUp?.resource;
    if (resource === undefined) continue;
    const wanted = wantedFor(session, endpoint, row, { ...firing, member, resource, lookUp });
    const sent = wanted && (await ifTestable(session.make(resource, { ...wanted, for: firing.caller })));
    const id =
      sent && lookUp && ref === undefined && lookUp.key !== model.identifierField(resource) ? sent.known[lookUp.key] : sent?.id;
    if (sent && id !== undefined) given[member] = { ...sent, id };
  }
  return given;
}

/** A row that a transition looks up by a member of what is sent: `find(vat, { id: request.vat })`. */
interface LookUp {
  readonly member: string;
  readonly resource: string;
  /** The field by which it is found. */
  readonly key: string;
  /** The fields that conditions read of it. */
  readonly reads: readonly string[];
}

const lookUps = new WeakMap<Transition, readonly LookUp[]>();

/** The rows that the conditions of a transition look up by one member of what is sent. */
function soughtBy(transition: Transition): readonly LookUp[] {
  const found = lookUps.get(transition) ?? conditionsOfTransition(transition).flatMap(({ source }) => lookUpsIn(source));
  lookUps.set(transition, found);
  return [...Map.groupBy(found, ({ member }) => member).values()].map((alike) => ({
    ...alike[0]!,
    reads: [...new Set(alike.flatMap(({ reads }) => reads))],
  }));
}

function lookUpsIn(source: string): LookUp[] {
  const parsed = parseExpression(source);
  if ('unparsed' in parsed) return [];
  const fields = fieldsIn(parsed.node);
  return findsIn(parsed.node).flatMap((node) => {
    const [{ field = '', value } = {}, ...more] = node.keys;
    const [root, member, ...deeper] = (value && wayOf(value)) ?? [];
    if (more.length > 0 || root !== 'request' || member === undefined || deeper.length > 0) return [];
    const reads = fields.filter((one) => one.of === node).map(({ name }) => name);
    return [{ member, resource: node.resource, key: field, reads }];
  });
}

function fieldsIn(node: Node): NodeOf<'field'>[] {
  return [...(node.op === 'field' ? [node] : []), ...childNodes(node).flatMap(fieldsIn)];
}

/** Whether a reference, or a look-up by fields, leads to a row that is sent. */
export function isSent({ run }: Session, row: TrialRow, key: Parameters<Follow>[1]): boolean {
  if (typeof key === 'string') return resolve(row.id, run) === key;
  return Object.entries(key).every(([name, value]) => isSame(row.fields?.[name], value));
}

/** How a row that is sent has to be for a transition to lead where it is to; nothing where that asks nothing of it, or cannot be. */
function wantedFor(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  {
    transition,
    target,
    caller,
    member,
    resource,
    lookUp,
  }: Firing & { readonly member: string; readonly resource: string; readonly lookUp?: LookUp | undefined },
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
  // What is derived cannot be chosen: what it is derived of can.
  const fields = model.resource(resource)?.fields;
  const bases = [...read, ...(lookUp?.reads ?? [])].flatMap((name) => basesOf(model.spec, resource, name));
  const members = [...new Set(bases)].filter((name) => entryOf(fields, name)?.derive === undefined);
  const source = conditions.map((one) => one.source).join(' ');
  const choices = members.map((name) => [name, valuesIn(session, resource, name, { row, source })] as const);
  // What only has to be there is any.
  if (choices.length === 0 && lookUp) return {};
  if (choices.length === 0 || choices.some(([, values]) => values.length === 0)) return undefined;
  for (const chosen of imaginedOf(choices)) {
    const isIt = (key: Parameters<Follow>[1]) => (typeof key === 'string' ? key : lookUp && key[lookUp.key]) === sentHere;
    const sent = withDerivedOfNew(model.spec, resource, { ...chosen, ...(lookUp && { [lookUp.key]: sentHere }) });
    const follow: Follow = (_name, key) => (isIt(key) ? sent : undefined);
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
