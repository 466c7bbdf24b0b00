import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { FieldValues } from '../../parts/expressions/cel-value.ts';
import type { Read } from '../../parts/expressions/compile.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { requestShape } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { machineAsked, machinesOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { Untestable } from '../exchange/untestable.ts';
import { basesOf, withDerivedOfNew } from '../model/derived.ts';
import { NotSeen } from '../model/expressions.ts';
import { mayHold } from '../model/own-body.ts';
import type { ShownFields } from '../model/row-shown.ts';
import { setBySent, withSetBySent } from '../model/set-by-sent.ts';
import type { Session } from '../session/session.ts';
import { NoValue } from '../values/scalars.ts';
import { arbitraryValuesOf, type Draft } from '../values/values.ts';
import { waysToCreate } from './ways.ts';

/** A body, or a row that is made by one, that a condition reads: what can be sent for it, and what of it matters. */
export interface ConditionSubject {
  /** `body` of the request, `row` that it is about, else the references that lead from there to it: `product/shelf`. */
  readonly key: string;
  /** The slot whose field refers to it, and that field. */
  readonly from?: { readonly key: string; readonly field: string };
  readonly resource: string;
  readonly shape: Shape | undefined;
  /** The members that the condition reads, in the order of the document. */
  readonly reads: ReadonlySet<string>;
  readonly defaults: ShownFields;
  /** The field of its state, where the condition reads it, and the states that it may be in. */
  readonly machine?: { readonly field: string; readonly states: readonly string[] };
  /** What it reads that acts set to what is sent with them. */
  readonly bySent: ReadonlySet<string>;
  /** Valid bodies. */
  readonly drafts: readonly ShownFields[];
  /** What it reads that says who made it, for each of those who may. */
  readonly makers: readonly Maker[];
}

/** Somebody who may make a row, and the fields that say so: `owner`, where that is set to `caller.id`. */
interface Maker {
  readonly caller: TrialCaller;
  readonly fields: ShownFields;
}

const drafts = 120;

/** Everything that a condition reads at an endpoint, ready to be imagined. @throws {Untestable} where it reads what cannot be chosen. */
export function conditionSubjectsOf(session: Session, endpoint: Endpoint, reads: readonly Read[]): ConditionSubject[] {
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const verb = statedValue(endpoint.does)?.verb;
  const isNew = verb === 'create' || verb === 'upsert';
  const own = isNew ? 'body' : 'row';
  const wanted = new Map<string, Wanted>();
  const want = (key: string, name: string | undefined, made: Omit<Wanted, 'reads'>) => {
    const known = wanted.get(key) ?? { ...made, reads: new Set<string>() };
    wanted.set(key, known);
    if (name !== undefined) known.reads.add(name);
  };
  for (const { root, path, follows } of reads) {
    if (root !== 'next' && root !== 'resource' && root !== 'request') continue;
    const [name] = path;
    if (name === undefined) continue;
    // A reference that is followed is no value to be chosen: the row is, that it leads to.
    const chosen = follows ? undefined : name;
    // What is derived cannot be chosen: what it is derived of can.
    const bases = chosen === undefined || root === 'request' ? [chosen] : basesOf(session.model.spec, resource, chosen);
    for (const base of bases) {
      if (root !== 'resource' || isNew) want('body', base, { resource, via: endpoint });
      if (root !== 'request' && !isNew) want('row', base, { resource });
    }
    // What a change may refer to anew is said by its body.
    const isSaidAnew = root === 'next' && !isNew && mayReferAnew(session, endpoint, resource, name);
    if (follows) wantFollowed(session, { key: isSaidAnew ? 'body' : own, resource, field: name, path, follows }, want);
  }
  return [...wanted].map(([key, one]) => slotOf(session, key, one));
}

function mayReferAnew({ model }: Session, endpoint: Endpoint, resource: string, name: string): boolean {
  const verb = statedValue(endpoint.does)?.verb;
  const field = entryOf(model.resource(resource)?.fields, name);
  return (verb === 'update' || verb === 'replace') && field !== undefined && !field.immutable && mayHold(model, endpoint, name);
}

interface Wanted {
  readonly resource: string;
  readonly reads: Set<string>;
  /** The endpoint whose body it is; absent = one that makes such a row. */
  readonly via?: Endpoint;
  readonly from?: ConditionSubject['from'];
}

interface Following {
  readonly key: string;
  readonly resource: string;
  readonly field: string;
  readonly path: readonly string[];
  readonly follows: readonly string[];
}

/** What a path reads behind the references that it follows. */
function wantFollowed(
  session: Session,
  { key, resource, field, path, follows }: Following,
  want: (key: string, name: string | undefined, made: Omit<Wanted, 'reads'>) => void,
): void {
  if (path.length > 1) throw new Untestable('it follows a reference inside of a value');
  let at = { key, resource, field };
  for (const name of follows) {
    const stated = session.model.resource(at.resource);
    const target = stated && entryOf(stated.fields, at.field)?.ref;
    if (target === undefined) return;
    const place = at.key === 'body' || at.key === 'row' ? at.field : `${at.key}/${at.field}`;
    for (const base of basesOf(session.model.spec, target, name))
      want(place, base, { resource: target, from: { key: at.key, field: at.field } });
    at = { key: place, resource: target, field: name };
  }
}

function slotOf(session: Session, key: string, { resource, reads, via, from }: Wanted): ConditionSubject {
  const { model } = session;
  const endpoint = via ?? [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)][0];
  const made = endpoint && statedValue(requestShape(model.spec, endpoint));
  const isSent = (field: string) => isMap(made?.properties) && Object.hasOwn(made.properties, field);
  const bySent = via ? [] : setBySent(model, resource).filter(({ field }) => reads.has(field) && !isSent(field));
  const shape = made && withSetBySent(made, bySent);
  const stated = model.resource(resource);
  const isOwn = via === undefined || !isStated(via.request);
  const isWhole = via === undefined || ['create', 'upsert', 'replace'].includes(statedValue(via.does)?.verb ?? '');
  const defaults = Object.fromEntries(
    (stated && isOwn && isWhole ? entriesOf(stated.fields) : []).flatMap(([name, field]) =>
      field.default ? [[name, field.default.value]] : [],
    ),
  );
  const machine = from && machinesOf(model.spec.states, resource).find(({ field }) => reads.has(field));
  const states = machine ? { field: machine.field, states: statedValue(machine.states) ?? [] } : undefined;
  return {
    key,
    resource,
    shape,
    reads,
    defaults,
    drafts: shape ? draftsOf(session, shape) : [{}],
    makers: via === undefined ? makersOf(session, resource, reads) : [],
    bySent: new Set(bySent.map(({ field }) => field)),
    ...(from && { from }),
    ...(states && { machine: states }),
  };
}

/** Those who may make a row of which something is read that says who made it, and nobody where nothing is. */
function makersOf(session: Session, resource: string, reads: ReadonlySet<string>): Maker[] {
  const stated = entriesOf(session.model.resource(resource)?.fields);
  const signed = stated.flatMap(([name, { set }]): [string, string][] => {
    const [, member = ''] = /^\s*caller\.(\w+)\s*$/.exec(set.create?.source ?? '') ?? [];
    return member !== '' && reads.has(name) ? [[name, member]] : [];
  });
  if (signed.length === 0) return [];
  const callers = new Set(waysToCreate(session, resource, undefined).map(({ caller }) => caller));
  return [...callers].flatMap((caller) => {
    const fields = signed.map(([name, member]) => [name, member === 'id' ? caller?.id : caller?.attributes?.[member]] as const);
    // The cast holds: none of these is absent.
    return caller && fields.every(([, value]) => value !== undefined)
      ? [{ caller, fields: Object.fromEntries(fields) as ShownFields }]
      : [];
  });
}

function draftsOf(session: Session, shape: Shape): ShownFields[] {
  const { spec } = session.model;
  try {
    const full = session.chance.values(arbitraryValuesOf(spec, shape, 'full'), drafts);
    return full.map((draft) => plainOf(draft)).filter((draft): draft is ShownFields => isMap(draft));
  } catch (error) {
    if (error instanceof NoValue) throw new Untestable(`what it reads cannot be made: ${error.message}`);
    throw error;
  }
}

/** A draft without the references in it, which stand for rows that are not made yet. */
function plainOf(draft: Draft): Json | undefined {
  if (Array.isArray(draft)) return draft.flatMap((item: Draft) => plainOf(item) ?? []);
  if (typeof draft !== 'object' || draft === null) return draft as Json;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(draft))) return undefined;
  const out: Record<string, Json> = {};
  for (const [name, item] of Object.entries(draft as Readonly<Record<string, Draft>>)) {
    const plain = plainOf(item);
    if (plain !== undefined) out[name] = plain;
  }
  return out;
}

/** What each slot holds, by its key, and the state of the row that the request is about. */
export interface Scene {
  readonly values: ReadonlyMap<string, ShownFields>;
  readonly state: string | undefined;
  /** Who asks, where the condition reads that. */
  readonly caller?: TrialCaller;
}

/** The variables of a condition, were a scene so. */
export function contextOf(session: Session, endpoint: Endpoint, slots: readonly ConditionSubject[], { values, state }: Scene) {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const verb = statedValue(endpoint.does)?.verb;
  const rows = new Map<string, ShownFields>();
  for (const { key, defaults } of slots) rows.set(key, { ...defaults, ...values.get(key) });
  for (const { key, from } of slots) {
    if (from) rows.set(from.key, { ...rows.get(from.key), [from.field]: idOf(key) });
  }
  const machine = machineAsked(model.spec.states, endpoint, resource);
  const stateField = machine && state !== undefined ? { [machine.field]: state } : {};
  const body = rows.get('body');
  const row = { ...rows.get('row'), ...stateField };
  const isRow = verb !== 'create' && verb !== 'upsert';
  const next = isRow ? (verb === 'update' ? { ...row, ...body } : verb === 'replace' ? { ...stateField, ...body } : row) : body;
  return {
    ...(body && { request: body }),
    ...(isRow && { resource: withDerivedOfNew(model.spec, resource, row) }),
    ...(next && { next: withDerivedOfNew(model.spec, resource, next) }),
    params: {},
    operation: endpoint.operation,
    now: session.run.clock.toService(Date.now()),
    follow(target: string, id: string | FieldValues) {
      // Nobody knows of what is looked up whether it is there.
      if (typeof id !== 'string') throw new NotSeen('it is looked up');
      const found = [...rows].find(([key]) => idOf(key) === id)?.[1];
      return found && withDerivedOfNew(model.spec, target, found);
    },
  };
}

/** What stands for the identifier of a row that is imagined. */
function idOf(key: string): string {
  return `imagined ${key}`;
}

/** The scene with another value of one member. */
export function sceneWith({ values, state }: Scene, key: string, name: string, value: Json): Scene {
  return { state, values: new Map(values).set(key, { ...values.get(key), [name]: value }) };
}
