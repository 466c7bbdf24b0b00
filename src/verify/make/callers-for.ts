import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { machineWith } from '../../parts/states.ts';
import { canShow, type TrialCaller } from '../exchange/callers.ts';
import { isExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import { callerContext } from '../model/access.ts';
import { derivedElsewhere } from '../model/derived.ts';
import type { Known } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import { followedIn, rowKnown } from '../model/row-known.ts';
import { unexpanded } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { isKeptOut } from './let-in.ts';

/** Those who may do something, about a row where one is given: the row's maker first, then those of whom it is certain. */
export function callersFor(session: Session, endpoint: Endpoint, row?: TrialRow): TrialCaller[] {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  const isDecidedByRow = model.callers.some((caller) => model.access.rules(operation, caller)?.some((rule) => rule.if));
  const known = row && isDecidedByRow ? contextOfRow(session, row) : undefined;
  const own = row?.fields
    ? ownRulesAt(model, endpoint).filter(({ rule }) => rule.if && readsCaller(model, rule.if, endpoint))
    : [];
  const guard = row?.fields && guardOf(model, endpoint);
  const shown = (own.length > 0 || guard) && row ? (known ?? contextOfRow(session, row)) : undefined;
  const isSo = (condition: Expression | undefined, caller: TrialCaller, value: boolean) => {
    const context = { ...shown?.context, ...callerContext(caller) };
    const told = condition && model.expressions.evaluate(condition, endpoint.operation, { ...shown, context });
    return typeof told === 'object' && told.value === value;
  };
  // Whom an error of the service's own, or the transition, refuses for who it is comes last: hours are approved by somebody else.
  const isRefused = (caller: TrialCaller) => own.some(({ rule }) => isSo(rule.if, caller, true)) || isSo(guard, caller, false);
  const ranked = model.callers.flatMap((caller) => {
    const allowed = model.access.allows(operation, caller, known);
    // Who has nothing that is looked at there is nobody.
    if (allowed === 'no' || !canShow(caller, endpoint)) return [];
    const isMaker = row !== undefined && row.caller === caller;
    const isLast = isRefused(caller) || isKeptOut(model, endpoint, caller);
    return [{ caller, rank: (allowed === 'yes' ? 2 : 0) + (isMaker ? 1 : 0) - (isLast ? 4 : 0) }];
  });
  return ranked.sort((one, other) => other.rank - one.rank).map(({ caller }) => caller);
}

/** What a transition asks of whoever fires it, where it asks that of the row alone: `resource.assignee == caller.id`. */
function guardOf(model: Model, endpoint: Endpoint): Expression | undefined {
  const effect = statedValue(endpoint.does);
  if (effect?.verb !== 'transition') return undefined;
  const machine = machineWith(model.spec.states, effect.resource, effect.transition);
  const guard = machine && entryOf(machine.transitions, effect.transition)?.if;
  return guard && readsCaller(model, guard, endpoint) ? guard : undefined;
}

function readsCaller(model: Model, condition: Expression, { operation }: Endpoint): boolean {
  const reads = model.expressions.readsOf(condition, operation);
  return reads.some(({ root }) => root === 'caller') && reads.every(({ root }) => root === 'caller' || root === 'resource');
}

/** Somebody who may do something; nobody where none is needed. @throws {Untestable} where one is needed and none is given. */
export function callerFor(session: Session, endpoint: Endpoint, row?: TrialRow): TrialCaller | undefined {
  const [able] = callersFor(session, endpoint, row);
  if (able) return able;
  const { model } = session;
  if (model.access.allows(model.operationOf(endpoint), undefined) === 'no')
    throw new Untestable(`no credential is given of anybody who may ${endpoint.key}`);
  return undefined;
}

/** What is known of a row, and of the rows that it refers to, for conditions; nothing where it was never shown. */
export function contextOfRow(session: Session, row: TrialRow): Known | undefined {
  const { model, run } = session;
  if (!row.fields) return undefined;
  const reader = row.shown ? model.readerOf(row.shown.value) : row.caller;
  // What some rule leaves out, and was shown all the same, is known.
  const shown = row.fields;
  const hidden = new Set([...model.unseenBy(row.resource, reader)].filter((name) => shown[name] === undefined));
  const follow = followedIn(
    model,
    run.results.filter((result) => isExchange(result)),
  );
  const { fields, unseen } = rowKnown(model, row.resource, {
    // Conditions read what a reference names, however it is shown.
    fields: unexpanded(model, row.resource, row.fields),
    unseen: hidden,
    creation: row.made?.value,
    follow,
  });
  return {
    context: { resource: fields, follow },
    unseen: { resource: new Set([...unseen, ...derivedElsewhere(model.spec, row.resource)]) },
  };
}

const known = new WeakMap<Model, Map<string, string>>();

/**
 * A caller with its identifier: the one that was given with its credential, else the one that the service itself writes into what the
 * caller makes, `set: { create: caller.id }`. Where neither is to be had, the caller stays without.
 */
export async function identified(session: Session, caller: TrialCaller): Promise<TrialCaller> {
  if (caller.id !== undefined) return caller;
  const { model } = session;
  const ids = known.get(model) ?? new Map<string, string>();
  known.set(model, ids);
  const id = ids.get(caller.name) ?? (await signedBy(session, caller));
  if (id === undefined) return caller;
  ids.set(caller.name, id);
  return { ...caller, id };
}

/** The identifier with which a caller's own rows are signed. */
async function signedBy(session: Session, caller: TrialCaller): Promise<string | undefined> {
  for (const { resource, field } of signatures(session.model)) {
    try {
      const row = await session.make(resource, { caller });
      const id = row.fields?.[field];
      if (typeof id === 'string') return id;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
    }
  }
  return undefined;
}

/** The fields that hold who made a row. */
function signatures({ spec }: Model): { readonly resource: string; readonly field: string }[] {
  return entriesOf(spec.resources.all).flatMap(([resource, stated]) =>
    entriesOf(stated.fields).flatMap(([field, { set }]) =>
      set.create?.source.trim() === 'caller.id' ? [{ resource, field }] : [],
    ),
  );
}

/** The field that identifies a resource's rows. */
export function identifierField(model: Model, resource: string): string {
  return statedValue(model.resource(resource)?.identifier)?.field ?? 'id';
}
