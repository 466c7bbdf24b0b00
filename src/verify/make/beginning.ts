import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import type { Machine, Target } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { callerContext } from '../model/access.ts';
import type { Follow } from '../model/expectation.ts';
import { expectedAfter } from '../model/expected.ts';
import { hintsIn } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
import { followedIn, watched } from '../model/row-known.ts';
import type { Session } from '../session/session.ts';
import { withMember, withoutMember } from '../values/at-path.ts';
import { edgesOf } from '../values/variants.ts';

/** A body, and where what is made of it begins, as far as that can be known. */
export interface Beginning {
  readonly json: Symbolic;
  /** Which of its values each member has that decides it: two bodies are as like as these are. */
  readonly picks: readonly number[];
  readonly begins: Target | undefined;
}

/** A creation whose body decides where its row begins. */
export interface Creating {
  readonly machine: Machine;
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
  readonly base: Symbolic;
}

/** So many bodies are thought of. */
const bodiesMost = 400;

/** Bodies that are like one but for what decides where a row begins, the one itself first. `kept` are the members that stay as they are. */
export function* beginnings(session: Session, creating: Creating, kept: ReadonlySet<string> = new Set()): Iterable<Beginning> {
  const { machine, endpoint, caller, base } = creating;
  const { model } = session;
  const choices = membersRead(model, machine, endpoint)
    .filter((name) => !kept.has(name))
    .map((name) => [name, valuesFor(model, machine, name)] as const);
  const seen = session.run.results.filter((one) => isExchange(one));
  const begun = (json: Symbolic) => initialTarget(model, machine, imagined(session, endpoint, caller, json), seen);
  yield { json: base, picks: choices.map(() => -1), begins: begun(base) };
  const count = choices.reduce((product, [, values]) => product * values.length, 1);
  for (let at = 0; at < Math.min(count, bodiesMost); at++) {
    let rest = at;
    const picks: number[] = [];
    let json = base;
    for (const [name, values] of choices) {
      const pick = rest % values.length;
      rest = Math.floor(rest / values.length);
      picks.push(pick);
      const value = values[pick];
      if (value !== undefined) json = withMember(json, [name], value);
      else if (!isNeeded(model, machine, name)) json = withoutMember(json, [name]);
    }
    yield { json, picks, begins: begun(json) };
  }
}

/** The body that is nearest to one and begins where a row is wanted, or from where it may come there; the one itself where there is none. */
export function aimedAt(
  session: Session,
  creating: Creating,
  {
    state,
    leads,
    kept,
  }: { readonly state: string; readonly leads: (from: string) => boolean; readonly kept: ReadonlySet<string> },
): Symbolic {
  if (creating.machine.initial.length < 2) return creating.base;
  let leading: Symbolic | undefined;
  for (const { json, begins } of beginnings(session, creating, kept)) {
    if (begins?.answer !== undefined || begins === undefined) continue;
    if (begins.state === state) return json;
    if (leading === undefined && leads(begins.state)) leading = json;
  }
  return leading ?? creating.base;
}

function imagined(session: Session, endpoint: Endpoint, caller: TrialCaller | undefined, json: Symbolic): TrialExchange {
  const nowMs = session.run.clock.toService(Date.now());
  const sent = { method: endpoint.method, target: '', headers: {}, path: {}, query: {}, json: resolve(json, session.run) };
  const answered = { status: 201, headers: {}, text: '', body: undefined, fromMs: nowMs, toMs: nowMs };
  return { ...answered, endpoint, sent, ...(caller && { caller }) };
}

/** The members of a body that decide where a row begins. */
function membersRead(model: Model, { initial }: Machine, endpoint: Endpoint): string[] {
  const reads = initial.flatMap((one) => (one.if ? model.expressions.readsOf(one.if, endpoint.operation) : []));
  const roots = new Set(['next', 'request']);
  return [...new Set(reads.flatMap(({ root, path: [name] }) => (roots.has(root) && name !== undefined ? [name] : [])))];
}

function isNeeded(model: Model, { resource }: Machine, name: string): boolean {
  const field = entryOf(model.resource(resource)?.fields, name);
  return field !== undefined && statedValue(field.required) === true && field.default === undefined;
}

/** What a member can be sent as: not at all, or as what its shape and the conditions make of it; a reference as a row that is stated. */
function valuesFor(model: Model, { resource, initial }: Machine, name: string): readonly (Json | undefined)[] {
  const field = entryOf(model.resource(resource)?.fields, name);
  const shape = field && statedValue(field.shape);
  if (!field || !shape) return [undefined];
  if (field.ref !== undefined) {
    const id = model.identifierField(field.ref);
    return [undefined, ...(model.resource(field.ref)?.rows ?? []).map(({ fields }) => fields[id])];
  }
  const fits = model.schemas.of(shape, 'sent');
  const stated = Array.isArray(shape.enum) ? (shape.enum as readonly Json[]) : [];
  const hints = initial.flatMap((one) => (one.if ? hintsIn(one.if.source) : []));
  // What conditions speak of decides most: of many values these are thought of first.
  const others = [...hints, ...stated, true, false, ...[...edgesOf(shape)].map(({ value }) => value)];
  return [undefined, ...new Set(others.filter((value) => value !== null && fits(value).length === 0))];
}

/**
 * Where a creation begins, as far as its request tells, and what it refers to: rows that are there from the start, as they are stated, and those
 * that exchanges showed. Nothing where that cannot be known.
 */
export function initialTarget(
  model: Model,
  { resource, initial }: Machine,
  exchange: TrialExchange,
  seen: readonly TrialExchange[],
): Target | undefined {
  const { endpoint, sent, caller } = exchange;
  if (!endpoint) return undefined;
  const follow = followedFrom(model, seen);
  const expected = expectedAfter(model, { ...exchange, status: 201 }, undefined, follow);
  const next: Record<string, Json> = {};
  const unseen = new Set<string>();
  for (const [name, field] of entriesOf(model.resource(resource)?.fields)) {
    const one = expected.get(name);
    const own = isMap(sent.json) ? sent.json[name] : undefined;
    if (one?.is === 'value') next[name] = one.value;
    // What is taken and never kept is read as it was sent.
    else if (!field.stored) Object.assign(next, own === undefined ? {} : { [name]: own });
    else if (one?.is !== 'absent') unseen.add(name);
  }
  const context = { ...callerContext(caller), next, request: sent.json ?? {}, operation: endpoint.operation, follow };
  for (const target of initial) {
    if (!target.if) return target;
    const holds = model.expressions.evaluate(target.if, endpoint.operation, { context, unseen: { next: unseen } });
    if (typeof holds === 'string') return undefined;
    if (holds.value === true) return target;
  }
  return undefined;
}

/** Reads rows that are stated, as far as nobody can change them, and others as they were shown. */
function followedFrom(model: Model, seen: readonly TrialExchange[]): Follow {
  const others = followedIn(model, seen);
  return (name, key) => {
    const resource = model.resource(name);
    const identifier = model.identifierField(name);
    const row = resource?.rows?.find(({ fields }) => fields[identifier] === key);
    if (!resource || !row) return others(name, key);
    const created = new Set(model.endpointsThat('create', name).map(({ operation }) => operation));
    const isKept = (field: Field) =>
      (field.immutable || !isWritable(model.spec, resource, field)) &&
      Object.keys(field.set).every((word) => word === 'create' || created.has(word));
    const moving = entriesOf(resource.fields).flatMap(([field, stated]) => (isKept(stated) ? [] : [field]));
    return watched(row.fields, new Set(moving));
  };
}
