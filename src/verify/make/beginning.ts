import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { Machine, Target } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { hintsIn } from '../model/expressions.ts';
import { initialTarget } from '../model/initial-target.ts';
import type { Model } from '../model/model.ts';
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
