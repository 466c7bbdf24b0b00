import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Read } from '../../parts/expressions/compile.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath } from '../../parts/payload.ts';
import { machinesOf, transitionsOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { callerContext } from '../model/access.ts';
import { defaultsIn } from '../model/field-rules.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import { anyOwnError, ownRulesAt } from '../model/own-condition.ts';
import type { StatedRefusal } from '../model/refusals.ts';
import { rowsShown, rowWith, type ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** An error of the service's own that would refuse a creation, as far as that can be reckoned before it is sent. */
export function refusedByOwn(
  session: Session,
  endpoint: Endpoint,
  { path, json }: { readonly path: Readonly<Record<string, Symbolic>>; readonly json: Symbolic },
  caller: TrialCaller | undefined,
): StatedRefusal | undefined {
  const verb = statedValue(endpoint.does)?.verb;
  const rules = verb !== undefined && writing.has(verb) ? ownRulesAt(session.model, endpoint) : [];
  if (rules.length === 0) return undefined;
  const plainly = refusedPlainly(session, endpoint, rules, json, caller);
  if (plainly !== 'unknown') return plainly;
  const seen = session.run.results.filter((result) => isExchange(result)).filter(isDone);
  const nowMs = session.run.clock.toService(Date.now());
  const meant: TrialExchange = {
    endpoint,
    status: 201,
    headers: {},
    text: '',
    body: undefined,
    fromMs: nowMs,
    toMs: nowMs,
    ...(caller && { caller }),
    sent: {
      method: endpoint.method,
      target: '',
      headers: {},
      path: resolve(path, session.run) as Readonly<Record<string, Json>>,
      query: {},
      json: resolve(json, session.run),
    },
  };
  // What was shown may have changed since, but then it only has to be drawn again: nothing is claimed of it.
  const newestFirst = seen.toReversed();
  return anyOwnError(session.model, meant, newestFirst, true);
}

/** The same by what is sent alone, where that is all that the errors read of a new row: then nothing has to be reckoned of it. */
function refusedPlainly(
  session: Session,
  endpoint: Endpoint,
  rules: readonly StatedRefusal[],
  json: Symbolic,
  caller: TrialCaller | undefined,
): StatedRefusal | undefined | 'unknown' {
  const { model, run } = session;
  const plain = plainRules(model, endpoint, rules);
  const sent = plain.size > 0 ? resolve(json, run) : undefined;
  if (!isMap(sent)) return 'unknown';
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const next = { ...(resource && defaultsIn(resource)), ...sent };
  const context = { ...callerContext(caller), next, request: sent, operation: endpoint.operation };
  const now = run.clock.toService(Date.now());
  for (const stated of rules) {
    const told = plain.has(stated)
      ? model.expressions.evaluate(stated.rule.if!, endpoint.operation, { context: { ...context, now } })
      : 'unknown';
    if (typeof told === 'string') return 'unknown';
    if (told.value === true) return stated;
  }
  return undefined;
}

/** Found once for the errors of an endpoint. */
const plainAt = new WeakMap<readonly StatedRefusal[], ReadonlySet<StatedRefusal>>();

/** The errors of a creation that read nothing but what is sent, who asks and the time. */
function plainRules(model: Model, endpoint: Endpoint, rules: readonly StatedRefusal[]): ReadonlySet<StatedRefusal> {
  const known = plainAt.get(rules);
  if (known) return known;
  const effect = statedValue(endpoint.does);
  const name = resourceOfEffect(effect) ?? '';
  const isNew = effect?.verb === 'create' && !endpoint.takes;
  const isPlain = ({ rule }: StatedRefusal): boolean => {
    const reads = rule.if && model.expressions.readsOf(rule.if, endpoint.operation);
    return (
      isNew &&
      reads?.every(({ root, path: [field = ''], follows }) => {
        if (root === 'now' || root === 'caller' || root === 'operation' || root === 'request') return true;
        return root === 'next' && !follows && isSendable(model, name, field);
      }) === true
    );
  };
  const found = new Set(rules.filter(isPlain));
  plainAt.set(rules, found);
  return found;
}

/** Whether an error of the service's own refuses some members for what they are, whatever is sent beside them: nobody challenges themself. */
export function refusesAlone(
  { model, run }: Session,
  endpoint: Endpoint,
  sent: Readonly<Record<string, Json>>,
  caller: TrialCaller | undefined,
): boolean {
  const { operation } = endpoint;
  const now = run.clock.toService(Date.now());
  const context = { ...callerContext(caller), next: sent, request: sent, now, operation };
  const isOfThem = ({ root, path: [name = ''], follows }: Read) =>
    (root === 'next' || root === 'request') && !follows && Object.hasOwn(sent, name);
  return ownRulesAt(model, endpoint).some(({ rule }) => {
    const reads = rule.if ? model.expressions.readsOf(rule.if, operation) : [];
    const isAlone = reads.every((read) => isOfThem(read) || ['caller', 'now', 'operation'].includes(read.root));
    if (!rule.if || !isAlone || !reads.some(isOfThem)) return false;
    const told = model.expressions.evaluate(rule.if, operation, { context });
    return typeof told === 'object' && told.value === true;
  });
}

const writing: ReadonlySet<string> = new Set(['create', 'upsert', 'replace', 'update', 'transition']);

/** Whether what a row is, or whether it may be, depends on what it refers to: then that has to be drawn as widely. */
export function readsThrough(model: Model, endpoint: Endpoint): boolean {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const rules = ownRulesAt(model, endpoint).flatMap(({ rule }) => rule.if ?? []);
  return followsReferences(model, name) || rules.some((rule) => follows(model, rule));
}

/** Whether the fields or states of a resource are reckoned from what its rows refer to. */
function followsReferences(model: Model, name: string): boolean {
  const resource = model.resource(name);
  const moves = transitionsOf(model.spec.states, name).map(([, transition]) => transition);
  const initial = machinesOf(model.spec.states, name).flatMap((machine) => machine.initial);
  const targets = [...initial, ...moves.flatMap(({ to }) => to)].flatMap((target) => target.if ?? []);
  const set = resource ? entriesOf(resource.fields).flatMap(([, field]) => Object.values(field.set)) : [];
  return [...set, ...targets, ...moves.flatMap((move) => move.if ?? [])].some((one) => follows(model, one));
}

function follows(model: Model, expression: Expression): boolean {
  return model.expressions.readsOf(expression, undefined).some((read) => read.follows !== undefined);
}

/** References that one path of an expression may follow. */
const followsMax = 3;

/** The exchanges that showed last what rows refer to, where some expression about their resource follows a reference. */
export function referredTo(
  session: Session,
  resource: string,
  rows: readonly (ShownFields | undefined)[],
): Done<TrialExchange>[] {
  const { model } = session;
  if (!followsReferences(model, resource)) return [];
  const found = new Map<number, Done<TrialExchange>>();
  let front = rows.flatMap((row) => (row ? [{ resource, row }] : []));
  for (let depth = 0; depth < followsMax && front.length > 0; depth++) {
    front = front.flatMap((one) =>
      referencesIn(model, one.resource, one.row).flatMap(({ target, id }) => {
        const shown = lastShowing(session, target, id);
        if (!shown || found.has(shown.done.step)) return [];
        found.set(shown.done.step, shown.done);
        return [{ resource: target, row: shown.row }];
      }),
    );
  }
  return [...found.values()].sort((one, other) => one.step - other.step);
}

function referencesIn(model: Model, name: string, row: ShownFields): { readonly target: string; readonly id: Json }[] {
  const resource = model.resource(name);
  return (resource ? entriesOf(resource.fields) : []).flatMap(([field, { ref }]) => {
    const id = row[field];
    return ref === undefined || (typeof id !== 'string' && typeof id !== 'number') ? [] : [{ target: ref, id }];
  });
}

/** The exchange that showed a row last, and the row as it was shown. */
export function lastShowing(session: Session, resource: string, id: Json) {
  const { model } = session;
  const { results } = session.run;
  for (let step = results.length - 1; step >= 0; step--) {
    const value = results[step];
    if (!isExchange(value) || !isDone(value) || rowsShown(model, value)?.resource !== resource) continue;
    const row = rowWith(model, value, id);
    if (row) return { done: { step, value }, row };
  }
  return undefined;
}

/** Whether a refusal is by a rule of the service's own, or since another row has these values, and not for anything that all services refuse. */
export function isOfValues(model: Model, endpoint: Endpoint, exchange: TrialExchange): boolean {
  const { refusals } = model;
  const code = refusals.codeIn(exchange);
  const stated = code === undefined ? undefined : refusals.named(code, model.operationOf(endpoint));
  const { when, if: condition } = stated?.rule ?? {};
  if (when === undefined) return false;
  if (when.standing !== 'open') return (statedValue(when) ?? []).includes('resource.exists');
  if (!condition) return true;
  // What stands in the path is there already, whatever is sent.
  const bound = new Set(boundByPath(model.spec, endpoint));
  const reads = model.expressions.readsOf(condition, endpoint.operation);
  return !reads.every(({ root, path: [name = ''] }) => root === 'caller' || (root === 'next' && bound.has(name)));
}
