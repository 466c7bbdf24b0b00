import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../parts/operations.ts';
import { type Machine, machineWith } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { WantedRow } from '../exchange/row.ts';
import { resolve } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { makerMember } from './of-maker.ts';
import { refusesAlone } from './own-rules.ts';

/**
 * A field by which rules know whose a row is, and that is sent: `tenant` of `resource.tenant == caller.id`, which `assign` sets to `request.tenant`.
 * What is set to who makes the row is none.
 */
interface Entrusted {
  readonly resource: string;
  readonly field: string;
  /** What it is held against of whoever asks. */
  readonly member: string;
  /** Who is held against it. */
  readonly users: ReadonlySet<string>;
  /** The last of the references through which it is read, and the operation that it decides. */
  readonly through: { readonly resource: string; readonly field: string } | undefined;
  readonly operation: string;
}

const known = new WeakMap<Model, readonly Entrusted[]>();

function entrustedIn(model: Model): readonly Entrusted[] {
  const found = known.get(model) ?? [...find(model)];
  known.set(model, found);
  return found;
}

function* find(model: Model): Iterable<Entrusted> {
  const rules = statedValue(model.spec.authentication.permissions) ?? [];
  for (const { allow, to, if: condition } of rules) {
    if (!condition || to === 'anyone') continue;
    for (const operation of model.operations.filter((one) => namesOperation(allow, one)))
      yield* heldIn(model, operation, condition.source, new Set(to));
  }
  // What a transition asks of whoever fires it: an order is begun by whom it was assigned to.
  for (const operation of model.operations) {
    const effect = operation.endpoint && statedValue(operation.endpoint.does);
    if (effect?.verb !== 'transition') continue;
    const machine = machineWith(model.spec.states, effect.resource, effect.transition);
    const condition = machine && entryOf(machine.transitions, effect.transition)?.if;
    if (!condition) continue;
    const named = rules.filter(({ allow }) => namesOperation(allow, operation)).map(({ to }) => to);
    const users = named.includes('anyone') || named.length === 0 ? model.callers.map(({ user = '' }) => user) : named.flat();
    yield* heldIn(model, operation, condition.source, new Set(users));
  }
}

/** The fields that a condition of an operation holds against whoever asks, as far as requests set them. */
function* heldIn(
  { spec: { resources } }: Model,
  { resource: own, name }: Operation,
  source: string,
  users: ReadonlySet<string>,
): Iterable<Entrusted> {
  if (own === undefined) return;
  for (const { way, member } of comparisonsIn(source)) {
    let [target, through]: [string | undefined, Entrusted['through']] = [own, undefined];
    for (const field of way.slice(0, -1)) {
      if (target === undefined) break;
      through = { resource: target, field };
      target = entryOf(entryOf(resources.all, target)?.fields, field)?.ref;
    }
    const field = way.at(-1) ?? '';
    const stated = target === undefined ? undefined : entryOf(entryOf(resources.all, target)?.fields, field);
    if (target === undefined || !stated || makerMember(stated.set.create)) continue;
    yield { resource: target, field, member, users, through, operation: name };
  }
}

/** What an expression holds against whoever asks: `resource.plot.tenant == caller.id`. */
function comparisonsIn(source: string): { readonly way: readonly string[]; readonly member: string }[] {
  const ways = '\\b(?:resource|next)((?:\\.\\w+){1,4})(?![.\\w(])';
  const caller = '\\bcaller\\.(\\w+)(?![.\\w(])';
  const wayIn = (text: string) => text.slice(1).split('.');
  const found = [...source.matchAll(new RegExp(`${ways}\\s*==\\s*${caller}`, 'g'))];
  const turned = [...source.matchAll(new RegExp(`${caller}\\s*==\\s*${ways}`, 'g'))];
  return [
    ...found.map(([, way = '', member = '']) => ({ way: wayIn(way), member })),
    ...turned.map(([, member = '', way = '']) => ({ way: wayIn(way), member })),
  ];
}

export function heldOf({ id, attributes }: TrialCaller, member: string): Json | undefined {
  return member === 'id' ? id : attributes?.[member];
}

/** What rows are told apart by where only whoever it names may make one: `allow: upsert bylaw, if: next.county == caller.county`. */
export function identifiedByMaker(model: Model, resource: string): Pick<Entrusted, 'field' | 'member'> | undefined {
  const field = model.identifierField(resource);
  const isMaking = (operation: string) => operation === `upsert ${resource}` || operation === `create ${resource}`;
  return entrustedIn(model).find(
    (one) => one.resource === resource && one.field === field && one.through === undefined && isMaking(one.operation),
  );
}

/** The identifier that whoever makes a row has to give it. */
export function ownIdentifier(model: Model, resource: string, maker: TrialCaller | undefined): Json | undefined {
  const named = identifiedByMaker(model, resource);
  return named && maker && heldOf(maker, named.member);
}

/** Whom a field may name: those for whom the rules hold it against who asks. */
function candidates({ callers }: Model, { users, member }: Entrusted): readonly TrialCaller[] {
  return callers.filter((one) => users.has(one.user ?? '') && heldOf(one, member) !== undefined);
}

/** The members of a body by which a row is given to somebody, with whom it names: who is meant, else whoever asks, else anybody for whom the rules hold. */
export function namingIn(
  session: Session,
  endpoint: Endpoint,
  sent: object,
  { named, asking }: { readonly named: TrialCaller | undefined; readonly asking: TrialCaller | undefined },
): Readonly<Record<string, Json>> {
  const { model, chance } = session;
  const effect = statedValue(endpoint.does);
  const resource = resourceOfEffect(effect);
  const out: Record<string, Json> = {};
  for (const one of entrustedIn(model)) {
    const field = one.resource === resource ? entryOf(model.resource(one.resource)?.fields, one.field) : undefined;
    // A row that is referred to has to be there before.
    if (field?.ref !== undefined && effect?.verb !== 'transition') continue;
    const member = effect?.verb === 'transition' ? requestMember(field?.set[effect.transition]?.source) : one.field;
    if (!field || member === undefined || !Object.hasOwn(sent, member) || Object.hasOwn(out, member)) continue;
    const may = candidates(model, one);
    // Nobody challenges themself.
    const able = may.filter((who) => !refusesAlone(session, endpoint, { [one.field]: heldOf(who, one.member) ?? null }, asking));
    // Of somebody there is one such row: it is theirs who are meant, and anybody else's is of nobody's name.
    const isPersonal = isAloneUnique(model, one);
    const anybody = able.length > 0 && !isPersonal ? chance.pick(able) : undefined;
    const meaning = isPersonal && effect?.verb !== 'transition' ? [named] : [named, asking];
    const [meant = anybody] = meaning.filter((who) => who && able.includes(who));
    const value = meant && heldOf(meant, one.member);
    const shape = statedValue(field.shape);
    if (value !== undefined && shape && model.schemas.of(shape, 'sent')(value).length === 0) out[member] = value;
  }
  return out;
}

/** Whether no two rows name the same person: a member by the login of who it is. */
function isAloneUnique(model: Model, { resource, field }: Entrusted): boolean {
  const unique = model.resource(resource)?.unique ?? [];
  return model.identifierField(resource) !== field && unique.some(({ fields }) => fields.length === 1 && fields[0] === field);
}

/** The field and the value by which a row is the one of somebody, where there can be one of each. */
export function personalOf(
  { model, run }: Session,
  resource: string,
  { named, for: asking, body = {} }: Pick<WantedRow, 'named' | 'for' | 'body'>,
): { readonly field: string; readonly value: Json } | undefined {
  const one = entrustedIn(model).find((each) => each.resource === resource && isAloneUnique(model, each));
  if (!one) return undefined;
  const said = body[one.field];
  const value = said === undefined ? undefined : resolve(said, run);
  const isMeant = (who: TrialCaller) =>
    value === undefined ? who === (named ?? asking) : isSame(heldOf(who, one.member), value);
  const who = candidates(model, one).find(isMeant);
  return who && { field: one.field, value: heldOf(who, one.member) ?? null };
}

/**
 * What a reference of a new row names, where rules hold it against who asks: `ashford` of `resource.branch == caller.branch`. Whoever makes the
 * row is named where that decides whether it may.
 */
export function namedByReference(
  { model, chance }: Session,
  { resource, field }: { readonly resource: string; readonly field: string },
  { named, asking }: { readonly named: TrialCaller | undefined; readonly asking: TrialCaller | undefined },
): Json | undefined {
  const held = entrustedIn(model).filter((one) => one.resource === resource && one.field === field);
  const deciding = held.find((one) => one.through === undefined && decides(one, resource, asking));
  const own = deciding && asking && heldOf(asking, deciding.member);
  if (own !== undefined) return own;
  for (const one of held) {
    const may = candidates(model, one);
    const meant = [named, asking].find((who) => who && may.includes(who)) ?? (may.length > 0 ? chance.pick(may) : undefined);
    if (meant) return heldOf(meant, one.member);
  }
  return undefined;
}

/** The member of a request that a field is set to: `tenant` of `request.tenant`. */
export function requestMember(source: string | undefined): string | undefined {
  return /^\s*request\.(\w+)\s*$/.exec(source ?? '')?.[1];
}

/** The state that a row comes to by being given to somebody, and to whom. */
interface GivenTo {
  readonly state: string;
  readonly machine: Machine;
  readonly named: TrialCaller;
}

/**
 * To whom what a new row refers to by a field is given before: whoever asks, where that decides whether it may; else whoever is to do something to the
 * new row later.
 */
export function givenBefore(
  session: Session,
  resource: string,
  field: string,
  { asking, meant }: { readonly asking: TrialCaller | undefined; readonly meant: TrialCaller | undefined },
): GivenTo | undefined {
  const read = readThrough(session.model, resource, field);
  const deciding = read.filter((one) => decides(one, resource, asking));
  for (const one of [...deciding, ...read]) {
    const may = candidates(session.model, one);
    const wanted = asking && deciding.length > 0 ? asking : meant && may.includes(meant) ? meant : undefined;
    const named = wanted ?? (may.length > 0 ? session.chance.pick(may) : undefined);
    const given = named && givenTo(session.model, one, named);
    if (given) return given;
  }
  return undefined;
}

/** The same, given to another than whoever asks, where that decides that it may not. */
export function givenToOther(session: Session, resource: string, field: string, asking: TrialCaller): GivenTo | undefined {
  for (const one of readThrough(session.model, resource, field).filter((each) => decides(each, resource, asking))) {
    const own = heldOf(asking, one.member);
    const other = candidates(session.model, one).find((who) => heldOf(who, one.member) !== own);
    const given = other && givenTo(session.model, one, other);
    if (given) return given;
  }
  return undefined;
}

/** Whether rules ask to whom rows of a resource, or what they refer to, are given. */
export function isGiven(model: Model, resource: string): boolean {
  return entrustedIn(model).some((one) => one.resource === resource || one.through?.resource === resource);
}

/** Whether what a row refers to by a field decides who may make it, by whom it is given to. */
export function isDecidedByGiven(model: Model, resource: string, field: string, asking: TrialCaller): boolean {
  return readThrough(model, resource, field).some((one) => decides(one, resource, asking));
}

function readThrough(model: Model, resource: string, field: string): readonly Entrusted[] {
  return entrustedIn(model).filter(({ through }) => through?.resource === resource && through.field === field);
}

const decides = ({ operation, users }: Entrusted, resource: string, asking: TrialCaller | undefined): boolean =>
  operation === `create ${resource}` && users.has(asking?.user ?? '');

/** The state to which the row comes by a transition that says to whom it is given. */
function givenTo(model: Model, { resource, field }: Entrusted, named: TrialCaller): GivenTo | undefined {
  const stated = entryOf(model.resource(resource)?.fields, field);
  for (const [name, set] of stated ? Object.entries(stated.set) : []) {
    const machine = machineWith(model.spec.states, resource, name);
    const to = entriesOf(machine?.transitions).find(([transition]) => transition === name)?.[1].to;
    const state = to?.length === 1 ? to[0]?.state : undefined;
    const isFired = requestMember(set?.source) !== undefined && model.endpointOfTransition(resource, name) !== undefined;
    if (machine && state !== undefined && isFired && named.credential) return { state, machine, named };
  }
  return undefined;
}
