import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import { resolve } from '../exchange/symbol.ts';
import { followedIn } from '../model/row-known.ts';
import type { Session } from '../session/session.ts';

interface Way {
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
}

/**
 * The ways to make a row below what is there already, without those whose caller is known to be refused for that: of a garden that is let to
 * somebody nobody else may have a turn. All of them where none remains.
 */
export function allowedBeside<T extends Way>(
  session: Session,
  resource: string,
  ways: readonly T[],
  parents: Readonly<Record<string, TrialRow>> = {},
): readonly T[] {
  const { model, run } = session;
  const given = Object.entries(parents);
  const isAsked = ({ endpoint, caller }: T): boolean =>
    caller !== undefined && (model.access.rules(model.operationOf(endpoint), caller) ?? []).some((rule) => rule.if);
  if (given.length === 0 || ways.length < 2 || !ways.some(isAsked)) return ways;
  const next = Object.fromEntries(given.map(([field, { id }]) => [field, resolve(id, run)]));
  const fields = entriesOf(model.resource(resource)?.fields).map(([name]) => name);
  const unseen = new Set(fields.filter((name) => !Object.hasOwn(next, name)));
  const follow = followedIn(
    model,
    run.results.filter((one) => isExchange(one)),
  );
  const known = { context: { next, follow }, unseen: { next: unseen } };
  const open = ways.filter(
    (way) =>
      !isAsked(way) ||
      resourceOfEffect(statedValue(way.endpoint.does)) !== resource ||
      model.access.allows(model.operationOf(way.endpoint), way.caller, known) !== 'no',
  );
  return open.length > 0 ? open : ways;
}
