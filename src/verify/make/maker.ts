import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, identifierParameter, pathParameters } from '../../parts/payload.ts';
import { along, withPlaced } from '../../parts/reach.ts';
import { type Machine, machineIn, stateOfDeleted } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { briefly, isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { Parts, RowMaker, SampleStyle, TrialRow, WantedRow } from '../exchange/row.ts';
import type { Step } from '../exchange/step.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { NoRoom, Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { arbitraryValuesOf, Reference } from '../values/values.ts';
import { aimedAt } from './beginning.ts';
import { allowedBeside } from './beside-parents.ts';
import { draftBody } from './body.ts';
import { callersFor } from './callers-for.ts';
import { childrenTaken, makerForChildren } from './children.ts';
import { unlessFruitless } from './fruitless.ts';
import { leadsTo, wayFor } from './legs.ts';
import { ownTries, sharedOr } from './lent-rows.ts';
import { preconditions } from './look.ts';
import { provideLookedUp } from './looked-up.ts';
import { rowMade } from './made.ts';
import { madeAlong } from './made-along.ts';
import { ownRowSteps } from './own-rows.ts';
import { findRow } from './pages.ts';
import { keyedParents, keyValues, tiedRows } from './path-keys.ts';
import { referredFor, tiedThrough } from './referred.ts';
import { remove, walkTo, withRoomFor } from './walk.ts';
import { needsTag, seenFirst, waysToCreate, withRoom } from './ways.ts';

/** As it was wanted, then drawn anew, and at last with little, which is refused the least. */
const styles = [undefined, 'full', 'full', 'plain'] as const;

/** The same for a row that is to be in a state. */
const statedStyles = [undefined, 'full', 'full', 'full'] as const;

/** Rows that need each other in a circle cannot be made. */
const depthMax = 6;

/** Gives an address that takes whatever is sent to it. */
type NewAddress = (session: Session) => Promise<Symbolic>;

/** Makes rows through the service's own operations: what a row refers to first, then the row, then the transitions to its state. */
export class Maker implements RowMaker {
  readonly #session: Session;
  readonly #address: NewAddress | undefined;

  constructor(session: Session, address?: NewAddress) {
    this.#session = session;
    this.#address = address;
  }

  /** `isOwn`: no other case refers to it, as what is made along with it is to be this one's. */
  async make(resource: string, wanted: WantedRow, depth = 0, isOwn = false): Promise<TrialRow> {
    if (depth > depthMax) throw new Untestable(`a row of ${resource} needs rows that need rows, without an end`);
    if (this.#session.run.isReadOnly) return this.#found(resource, wanted);
    const make = () => unlessFruitless(this.#session, resource, wanted, () => this.#inState(resource, wanted, depth));
    return (depth > 0 || wanted.mayBeLent) && !isOwn ? sharedOr(this.#session, resource, wanted, make) : make();
  }

  async #inState(resource: string, wanted: WantedRow, depth: number): Promise<TrialRow> {
    const { state, byClock, machine, named } = wanted;
    if (state === undefined) return this.#create(resource, wanted, depth);
    if (wanted.mayBeDeleted && state === this.#stateOfDeleted(resource)) return this.#deleted(resource, wanted, depth);
    this.#needRoom(resource, state, machine);
    // The conditions of transitions may want a row to be otherwise, or what it refers to: other draws may meet them, and rows of its own.
    let why: unknown;
    const sharing = ownTries(this.#session, `${resource} ${state}`);
    try {
      const styles: (SampleStyle | undefined)[] = wanted.style === undefined ? [...statedStyles] : [wanted.style];
      // What is added while they are gone through is gone through as well: what is only referred to may be otherwise than it was wanted.
      for (const [at, style] of styles.entries()) {
        const row = await this.#create(resource, { ...wanted, ...(style && { style }) }, depth);
        try {
          await walkTo(this.#session, row, state, { byClock, machine, named });
          return row;
        } catch (error) {
          if (!(error instanceof Untestable) || error instanceof NoRoom) throw error;
          why ??= error;
          if (sharing.refused() && at === styles.length - 1) styles.push(depth > 0 ? 'full' : style);
        }
      }
    } finally {
      sharing.end();
    }
    throw why;
  }

  /** Nothing is made for a state in which nobody may have another row now. @throws {NoRoom} */
  #needRoom(resource: string, state: string, stated: Machine | undefined): void {
    const session = this.#session;
    const machine = stated ?? machineIn(session.model.spec.states, resource, state);
    const [initial, ...others] = machine?.initial ?? [];
    if (!session.run.hasRoom || !machine || !initial || others.length > 0) return;
    for (const { endpoint, transition } of wayFor(session, machine, initial.state, state, { tried: new Set(), byClock: false }))
      if (endpoint) withRoomFor(session, resource, transition, callersFor(session, endpoint));
  }

  #stateOfDeleted(name: string): string | undefined {
    const resource = this.#session.model.resource(name);
    return resource && stateOfDeleted(this.#session.model.spec, resource);
  }

  /** A row that was deleted, and can be brought back. */
  async #deleted(resource: string, wanted: WantedRow, depth: number): Promise<TrialRow> {
    const row = await this.#create(resource, wanted, depth);
    const { value } = await remove(this.#session, row);
    if (!isDone(value) || value.status === 202) throw new Untestable(`a ${resource} could not be deleted: ${value.status}`);
    const machine = machineIn(this.#session.model.spec.states, resource, wanted.state);
    if (machine && row.fields) row.fields = { ...row.fields, [machine.field]: wanted.state ?? null };
    return row;
  }

  /** Everything that a request to an endpoint needs to be valid but for the row it is about: parents, and a body with its references. */
  async parts(endpoint: Endpoint, given: WantedRow, depth = 0): Promise<Parts> {
    if (needsTag(endpoint) && !given.changes) throw new Untestable(`${endpoint.key} asks for the tag of what is there`);
    // Whoever is going to ask makes what is asked about: another's it need not be shown.
    const asking = given.caller ?? given.for ?? callersFor(this.#session, endpoint)[0];
    const asked = await this.#heardHere(endpoint, { ...given, ...(asking && { for: asking }) });
    const make = (target: string, more: WantedRow) => this.make(target, more, depth + 1);
    const referred = await referredFor(this.#session, endpoint, asked, make);
    const parents = await keyedParents(this.#session.model, endpoint, referred, (target, tied) =>
      make(target, { for: asking, parents: tied }),
    );
    const wanted = { ...asked, parents };
    const path: Record<string, Symbolic> = keyValues(this.#session.model, endpoint, parents);
    const last = identifierParameter(endpoint);
    for (const name of pathParameters(endpoint.path)) {
      if (name !== last && path[name] === undefined) path[name] = await this.#parent(endpoint, name, wanted, depth);
    }
    const forChildren = makerForChildren(this.#session, childrenTaken(this.#session, endpoint), make);
    const makeFor = (target: string, style: SampleStyle) =>
      forChildren(target, {
        style,
        for: wanted.caller ?? wanted.for,
        parents: tiedThrough(this.#session, endpoint, target, parents),
      }).then(({ id }) => id);
    const bound = new Set(boundByPath(this.#session.model.spec, endpoint));
    const json = await draftBody(this.#session, endpoint, { ...wanted, bound, path, make: makeFor });
    const verb = statedValue(endpoint.does)?.verb;
    if (last !== undefined && verb === 'upsert') path[last] = this.#ownIdentifier(endpoint, json);
    const parts = { path, json, parents };
    if (verb === 'create') await provideLookedUp(this.#session, endpoint, wanted.caller ?? wanted.for, parts, make);
    return parts;
  }

  async creation(resource: string, wanted: WantedRow): Promise<RequestPlan> {
    const [way] = waysToCreate(this.#session, resource, wanted.caller);
    if (!way) throw new Untestable(`nobody who can be spoken for may create a ${resource}`);
    const { path, json } = await this.parts(way.endpoint, { ...wanted, caller: way.caller });
    return this.#session.model.request(way.endpoint, { path, caller: way.caller, ...(json !== undefined && { json }) });
  }

  preconditions(endpoint: Endpoint, row: TrialRow, caller: TrialCaller | undefined): Promise<Record<string, Symbolic>> {
    return preconditions(this.#session, endpoint, row, caller);
  }

  ownRows(caller: TrialCaller): Promise<readonly Step<TrialExchange>[]> {
    return ownRowSteps(this.#session, caller, (resource, wanted) => this.creation(resource, wanted));
  }

  async #create(resource: string, wanted: WantedRow, depth: number): Promise<TrialRow> {
    const { model } = this.#session;
    const given = model.seeds.isNeeded(resource) ? model.seeds.take(resource, wanted) : undefined;
    if (given) return given;
    const own = wanted.for && !wanted.caller ? waysToCreate(this.#session, resource, wanted.for) : [];
    const all = own.length > 0 ? own : waysToCreate(this.#session, resource, wanted.caller);
    const able = allowedBeside(this.#session, resource, all, wanted.parents);
    const ways = seenFirst(this.#session, resource, withRoom(this.#session, resource, able), wanted.named ?? wanted.for);
    if (ways.length === 0) {
      const along = await madeAlong(this.#session, resource, wanted, (other, more) => this.make(other, more, depth + 1, true));
      return along ?? this.#given(resource, wanted, `nobody who can be spoken for may create a ${resource}`);
    }
    let refused = '';
    // The service's own rules may refuse what is valid: other draws may pass them.
    const tries = ways.slice(0, 4).flatMap((way) => styles.map((style, at) => ({ ...way, style: style ?? wanted.style, at })));
    const isPlain = (wanted.style ?? 'plain') === 'plain' && !this.#isSubscriber(resource);
    const hopeless = new Set<string>();
    const sharing = ownTries(this.#session, resource);
    try {
      for (const { endpoint, caller, style, at } of tries) {
        const isLast = at === styles.length - 1;
        // What is refused for anything that other values do not change may be taken with little, and else never.
        if (hopeless.has(`${endpoint.key} ${caller?.name}`) && (!isLast || isPlain)) continue;
        // A service may refuse to send anything to this machine.
        const drawn = { ...wanted, ...(style && { style }), ...(caller && { caller }), isElsewhere: isLast };
        const { path, json: begun, parents } = await this.parts(endpoint, drawn, depth);
        const json = begun === undefined ? undefined : this.#aimed(endpoint, begun, drawn);
        const request = model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
        const done = await this.#session.send(request);
        if (isDone(done.value)) return rowMade(this.#session, { resource, endpoint, done, caller, path, json, parents });
        sharing.refused();
        if (!this.#isOfValues(endpoint, done.value)) hopeless.add(`${endpoint.key} ${caller?.name}`);
        refused ||= `${endpoint.key} as ${caller?.name ?? 'nobody'} was answered ${done.value.status}${briefly(done.value)}`;
      }
    } finally {
      sharing.end();
    }
    return this.#given(resource, wanted, `no ${resource} could be made: ${refused}`);
  }

  /** A body with which the row begins where it is wanted, or on the way there, where several states are begun in. */
  #aimed(endpoint: Endpoint, base: Symbolic, { state, machine: stated, byClock, body, caller }: WantedRow): Symbolic {
    const session = this.#session;
    const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
    const machine = stated ?? machineIn(session.model.spec.states, resource, state);
    if (state === undefined || !machine || endpoint.takes) return base;
    const leads = (from: string) => leadsTo(session, machine, from, state, byClock);
    return aimedAt(session, { machine, endpoint, caller, base }, { state, leads, kept: new Set(Object.keys(body ?? {})) });
  }

  /** A row that somebody gave, where none can be made. @throws {Untestable} */
  #given(resource: string, wanted: WantedRow, why: string): TrialRow {
    const { seeds } = this.#session.model;
    seeds.needs(resource);
    const row = seeds.take(resource, wanted);
    if (!row) throw new Untestable(why);
    return row;
  }

  async #found(resource: string, wanted: WantedRow): Promise<TrialRow> {
    try {
      return await findRow(this.#session, resource, wanted);
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      return this.#given(resource, wanted, error.message);
    }
  }

  /** Whether a refusal is by a rule of the service's own, or since another row has these values, and not for anything that all services refuse. */
  #isOfValues(endpoint: Endpoint, exchange: TrialExchange): boolean {
    const { refusals } = this.#session.model;
    const code = refusals.codeIn(exchange);
    const stated = code === undefined ? undefined : refusals.named(code, this.#session.model.operationOf(endpoint));
    const { when, if: condition } = stated?.rule ?? {};
    if (when === undefined) return false;
    if (when.standing !== 'open') return (statedValue(when) ?? []).includes('resource.exists');
    if (!condition) return true;
    // What stands in the path is there already, whatever is sent.
    const bound = new Set(boundByPath(this.#session.model.spec, endpoint));
    const reads = this.#session.model.expressions.readsOf(condition, endpoint.operation);
    return !reads.every(({ root, path: [name = ''] }) => root === 'caller' || (root === 'next' && bound.has(name)));
  }

  /** A subscriber that is told at an address of ours: elsewhere nobody is, and every event would be tried again and again. */
  async #heardHere(endpoint: Endpoint, wanted: WantedRow): Promise<WantedRow> {
    const { url } = statedValue(this.#session.model.spec.events.delivery)?.push?.subscribers ?? {};
    const effect = statedValue(endpoint.does);
    const isNew = (effect?.verb === 'create' || effect?.verb === 'upsert') && this.#isSubscriber(effect.resource);
    if (!isNew || url === undefined || !this.#address || wanted.isElsewhere) return wanted;
    return {
      ...wanted,
      body: withPlaced({ ...wanted.body }, url, along(wanted.body, url) ?? (await this.#address(this.#session))),
    };
  }

  #isSubscriber(resource: string): boolean {
    return statedValue(this.#session.model.spec.events.delivery)?.push?.subscribers?.resource === resource;
  }

  /** The identifier that a caller chooses: the body's, where that has one. */
  #ownIdentifier(endpoint: Endpoint, json: Symbolic | undefined): Symbolic {
    const { model } = this.#session;
    const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
    const field = model.identifierField(resource);
    const sent =
      typeof json === 'object' && json !== null && Object.hasOwn(json, field)
        ? (json as Readonly<Record<string, Symbolic>>)[field]
        : undefined;
    return sent ?? model.freshValue(resource, field) ?? null;
  }

  /** A path parameter that is no identifier is a field of its name: a parent's identifier, or a value. */
  async #parent(endpoint: Endpoint, name: string, wanted: WantedRow, depth: number): Promise<Symbolic> {
    const known = wanted.parents?.[name];
    if (known) return known.id;
    const { model } = this.#session;
    const target = model.parentOf(endpoint, name);
    if (target !== undefined) {
      const parents = endpoint.rows ? tiedRows(model, target, wanted.parents ?? {}) : {};
      return (await this.make(target, { for: wanted.caller ?? wanted.for, parents }, depth + 1)).id;
    }
    const properties = paramsShape(model.spec, endpoint).properties;
    const shape = isMap(properties) ? properties[name] : undefined;
    const draft = this.#session.chance.value(arbitraryValuesOf(model.spec, isMap(shape) ? shape : { type: 'string' }, 'plain'));
    return draft instanceof Reference
      ? (await this.make(draft.resource, { for: wanted.caller ?? wanted.for }, depth + 1)).id
      : (draft as Symbolic);
  }
}
