import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, identifierParameter, pathParameters } from '../../parts/payload.ts';
import { machineIn, stateOfDeleted } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { briefly, isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { Parts, RowMaker, SampleStyle, TrialRow, WantedRow } from '../exchange/row.ts';
import type { HeldPlace, Step } from '../exchange/step.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { arbitraryValuesOf, Reference } from '../values/values.ts';
import { aimedAt } from './beginning.ts';
import { draftBody } from './body.ts';
import { callersFor } from './callers-for.ts';
import { childrenTaken, makerForChildren } from './children.ts';
import { unlessFruitless } from './fruitless.ts';
import { heardAt, heardElsewhere, heardHere, isSubscriber, type NewAddress } from './heard-here.ts';
import { leadsTo } from './legs.ts';
import { type OwnTries, ownTries, sharedOr } from './lent-rows.ts';
import { noteLetIn } from './let-in.ts';
import { preconditions } from './look.ts';
import { provideLookedUp } from './looked-up.ts';
import { madeAlong } from './made-along.ts';
import { newcomersFor } from './newcomers.ts';
import { ownRowSteps } from './own-rows.ts';
import { isOfValues } from './own-rules.ts';
import { findRow } from './pages.ts';
import { keyedParents, keyValues, tiedRows } from './path-keys.ts';
import { personThere } from './person-there.ts';
import { isAloneBelow, referredFor, tiedThrough } from './referred.ts';
import { rowMade } from './row-made.ts';
import { identifierChosen } from './row-named.ts';
import { remove, walkTo } from './walk.ts';
import { giveBack, needsTag, placeFor, type Way, waysFor, waysToCreate } from './ways.ts';

/** As it was wanted, then drawn anew, and at last with little, which is refused the least. */
const styles = [undefined, 'full', 'full', 'plain'] as const;

/** The same for a row that is to be in a state. */
const statedStyles = [undefined, 'full', 'full', 'full'] as const;

/** So many ways are tried to make one row. */
const waysMost = 4;

/** Rows that need each other in a circle cannot be made. */
const depthMax = 6;

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
    const { state, byClock, machine, named, ahead } = wanted;
    if (state === undefined) return this.#create(resource, wanted, depth);
    if (wanted.mayBeDeleted && state === this.#stateOfDeleted(resource)) return this.#deleted(resource, wanted, depth);
    // The conditions of transitions may want a row to be otherwise, or what it refers to: other draws may meet them, and rows of its own.
    let why: unknown;
    const sharing = ownTries(this.#session, `${resource} ${state}`);
    try {
      const styles: (SampleStyle | undefined)[] = wanted.style === undefined ? [...statedStyles] : [wanted.style];
      // What is added while they are gone through is gone through as well: what is only referred to may be otherwise than it was wanted.
      for (const [at, style] of styles.entries()) {
        const held: HeldPlace[] = [];
        const row = await this.#create(resource, { ...wanted, ...(style && { style }) }, depth, held);
        try {
          await walkTo(this.#session, row, state, { byClock, machine, named, held, ahead });
          return row;
        } catch (error) {
          if (!(error instanceof Untestable)) throw error;
          why ??= error;
          if (sharing.refused() && at === styles.length - 1) styles.push(depth > 0 ? 'full' : style);
        } finally {
          giveBack(held);
        }
      }
    } finally {
      sharing.end();
    }
    throw why;
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
    const asked = await heardHere(this.#session, endpoint, { ...given, ...(asking && { for: asking }) }, this.#address);
    const make = (target: string, more: WantedRow, isOwn = false) => this.make(target, more, depth + 1, isOwn);
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
    if (last !== undefined && verb === 'upsert') path[last] = identifierChosen(this.#session, endpoint, json, wanted);
    const parts = { path, json, parents };
    return verb === 'create' ? provideLookedUp(this.#session, endpoint, wanted.caller ?? wanted.for, parts, make) : parts;
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

  /** Makes a row; the place that is held for it in the state that is wanted is added to those that are given. */
  async #create(resource: string, wanted: WantedRow, depth: number, held: HeldPlace[] = []): Promise<TrialRow> {
    const session = this.#session;
    const { seeds } = session.model;
    const given = seeds.isNeeded(resource) ? seeds.take(resource, wanted) : undefined;
    const there = given ?? (await personThere(session, resource, wanted, depth));
    if (there) return there;
    const ways = waysFor(session, resource, wanted);
    if (ways.length === 0) {
      const along = await madeAlong(session, resource, wanted, (other, more) => this.make(other, more, depth + 1, true));
      return along ?? this.#given(resource, wanted, `nobody who can be spoken for may create a ${resource}`);
    }
    let refused = '';
    const newcomers = ({ caller }: Way) => newcomersFor(session.model, resource, caller, wanted);
    const sharing = ownTries(session, resource);
    try {
      for (let untried = [...ways], count = 0; count < waysMost && untried.length > 0; count++) {
        // Who was refused for something else waits for nobody.
        const has = await placeFor(session, untried, newcomers, { mayWait: refused === '' });
        const way = session.run.places ? has?.one : untried[0];
        if (!way) break;
        untried = untried.filter((one) => one !== way);
        const made = await this.#createBy(way, resource, wanted, { depth, sharing }).catch((error: unknown) => {
          has?.place();
          throw error;
        });
        if (typeof made !== 'string') {
          if (has) held.push(has.place);
          if (wanted.state === undefined) giveBack(held);
          return made;
        }
        has?.place();
        refused ||= made;
        // Who is going to ask about it may turn out to be kept from making it.
        if (untried.length === 0 && wanted.for && !wanted.caller)
          untried = waysFor(session, resource, wanted).filter(({ caller }) => ways.every((one) => one.caller !== caller));
      }
    } finally {
      sharing.end();
    }
    const why = `no ${resource} could be made: ${refused}`;
    return (await personThere(session, resource, wanted, depth)) ?? this.#given(resource, wanted, why);
  }

  /** Makes a row in one way; says how it was refused where it was. The service's own rules may refuse what is valid: other draws may pass them. */
  async #createBy(
    { endpoint, caller }: Way,
    resource: string,
    wanted: WantedRow,
    { depth, sharing }: { readonly depth: number; readonly sharing: OwnTries },
  ): Promise<TrialRow | string> {
    const { model } = this.#session;
    const isPlain = (wanted.style ?? 'plain') === 'plain' && !isSubscriber(model, resource);
    let refused = '';
    let [isHopeless, isFull] = [false, false];
    for (const [at, stated] of styles.entries()) {
      const style = stated ?? wanted.style;
      const isLast = at === styles.length - 1;
      // What is refused for anything that other values do not change may be taken with little, and else never.
      if (isFull || (isHopeless && (!isLast || isPlain))) continue;
      // What it is given to somebody by names whoever is going to refer to it, where it is not given to another.
      const named = wanted.named ?? wanted.for;
      const drawn = {
        ...wanted,
        ...(style && { style }),
        ...(caller && { caller }),
        ...(named && { named }),
        isElsewhere: isLast,
      };
      const { path, json: begun, parents } = await this.parts(endpoint, drawn, depth);
      const json = begun === undefined ? undefined : this.#aimed(endpoint, begun, drawn);
      const request = model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
      const done = noteLetIn(model, await this.#session.send(request));
      if (isDone(done.value)) {
        if (refused !== '' && isLast) heardElsewhere(this.#session, resource);
        return rowMade(this.#session, { resource, endpoint, done, caller, path, json, parents });
      }
      sharing.refused();
      isFull ||= model.refusals.isHurried(done.value) || this.#session.run.wasFull?.([done.value]) === true;
      isHopeless ||= !isOfValues(model, endpoint, done.value);
      refused ||= `${endpoint.key} as ${caller?.name ?? 'nobody'} was answered ${done.value.status}${briefly(done.value)}`;
    }
    return refused;
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

  heardAt(resource: string): ReturnType<RowMaker['heardAt']> {
    return heardAt(this.#session, resource, this.#address);
  }

  /** A path parameter that is no identifier is a field of its name: a parent's identifier, or a value. */
  async #parent(endpoint: Endpoint, name: string, wanted: WantedRow, depth: number): Promise<Symbolic> {
    const known = wanted.parents?.[name];
    if (known) return known.id;
    const { model } = this.#session;
    const target = model.parentOf(endpoint, name);
    if (target !== undefined) {
      const parents = endpoint.rows ? tiedRows(model, target, wanted.parents ?? {}) : {};
      const above = { for: wanted.caller ?? wanted.for, parents };
      return (await this.make(target, above, depth + 1, isAloneBelow(this.#session, endpoint, name))).id;
    }
    const properties = paramsShape(model.spec, endpoint).properties;
    const shape = isMap(properties) ? properties[name] : undefined;
    const draft = this.#session.chance.value(arbitraryValuesOf(model.spec, isMap(shape) ? shape : { type: 'string' }, 'plain'));
    return draft instanceof Reference
      ? (await this.make(draft.resource, { for: wanted.caller ?? wanted.for }, depth + 1)).id
      : (draft as Symbolic);
  }
}
