import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { isCut, perName } from '../../parts/limits.ts';
import type { Model } from '../model/model.ts';
import { hidesRows, totalBesideHidden } from '../trials/endpoints/totals.ts';
import { broughtInBy, isBroughtIn } from '../trials/limits/brought-in.ts';
import { costOf } from '../trials/limits/counted.ts';
import { statedPaginationOf } from '../trials/limits/pages.ts';
import { whatIsLeft } from '../trials/limits/rate-told.ts';
import { leavingLooks } from '../trials/limits/rows-left.ts';
import { stayingLooks } from '../trials/limits/rows-staying.ts';
import { inChunks } from '../trials/limits/sizes.ts';
import { countedOnes } from '../trials/limits/told-costs.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** A claim of this reason. */
export function looksFor(name: string, reason: string = name, why?: string): Obligation {
  return { name, ...(why !== undefined && { why }), isMetBy: ({ claim }) => claim.reason === reason };
}

/** Each size, on both sides of its bound; of a body also where its length is not told before. */
export function looksAtSizes({ spec }: Model): Obligation[] {
  const stated = statedValue(spec.limits.size) ?? {};
  const ways = Object.keys(stated).flatMap((what) => (what === 'body' ? [what, inChunks] : [what]));
  return ways.flatMap((what) => [looksFor(`${what} up to the bound`), looksFor(`${what} above the bound`)]);
}

/** Each time that is waited for. */
export function looksAtTimeouts({ spec }: Model): Obligation[] {
  const { requestMs, idleMs } = statedValue(spec.limits.timeout) ?? {};
  return [
    ...(requestMs === undefined ? [] : [looksFor('a request that does not end', 'request')]),
    ...(idleMs === undefined ? [] : [looksFor('a connection that is idle', 'idle')]),
  ];
}

/** The usual size of a page, the largest, what is larger, and the total, also where others have rows that its reader may not see. */
export function looksAtPages(model: Model, { subject }: LedgerFact): Obligation[] {
  const endpoint = model.endpoints.find(({ key }) => key === subject);
  const stated = endpoint && statedPaginationOf(model.spec, endpoint);
  if (!isCut(stated)) return [];
  const isSized = stated.size !== undefined && stated.max !== undefined;
  return [
    ...(stated.default === undefined ? [] : [looksFor('a page of the usual size', 'default')]),
    ...(isSized ? [looksFor('the largest page', 'at the most')] : []),
    ...(isSized && stated.overMax !== undefined ? [looksFor('a larger one', 'above the most')] : []),
    ...(stated.self === undefined || endpoint?.response.standing !== 'open' ? [] : [looksFor('its own path')]),
    ...(stated.total === undefined || endpoint?.response.standing !== 'open' ? [] : looksAtTotal(model, endpoint)),
  ];
}

/** A total, and one of a list of which others have rows that its reader may not see. */
function looksAtTotal(model: Model, endpoint: Endpoint): Obligation[] {
  return [looksFor('a total', 'total'), ...(hidesRows(model, endpoint) ? [looksFor(totalBesideHidden)] : [])];
}

/** Each rate: no more gets through, and no less. */
export function looksAtRates(model: Model, { subject }: LedgerFact): Obligation[] {
  const { spec } = model;
  if (subject === 'at once') return [looksFor('more than are allowed', 'kept'), looksFor('room for others', 'room again')];
  const each = looksAtEach(
    statedValue(spec.limits.rate) ?? [],
    ['kept', 'not earlier'],
    (rate) => `${rate.limit} in ${rate.windowMs / 1000} s per ${perName(rate)}`,
  );
  const isTold = each.length > 0 && statedValue(spec.limits.headers)?.remaining !== undefined;
  return isTold ? [...each, looksFor('what is told to be left', whatIsLeft), ...costLooks(model)] : each;
}

/** Each stated cost of an operation, where it is told what is left of its rate, and each answer that is not counted. */
function costLooks(model: Model): Obligation[] {
  const told = countedOnes(model).filter(({ rate, operation, status }) => status !== undefined || costOf(rate, operation) !== 1);
  return [...new Set(told.map(({ reason }) => reason))].map((reason) => looksFor(reason));
}

/** Each quota, the same, and that it begins anew; of rows, that no more come to be. */
export function looksAtQuotas(model: Model, { subject }: LedgerFact): Obligation[] {
  if (subject !== 'service') {
    const rules = (statedValue(model.spec.limits.rows) ?? []).filter(({ of }) => subject === `rows of ${of}`);
    const moved = rules.flatMap((rule) => [...leavingLooks(model, rule), ...stayingLooks(model, rule)]);
    const left = moved.map((name) => looksFor(name));
    const changed = rules.some((rule) => isBroughtIn(model, rule)) ? [looksFor('one too many by a change', broughtInBy)] : [];
    return [looksFor('several at once', 'kept, raced'), looksFor('one too many', 'kept'), ...left, ...changed];
  }
  return looksAtEach(
    statedValue(model.spec.limits.quota) ?? [],
    ['kept', 'not earlier', 'begins anew'],
    (quota) => `${quota.limit} in a ${quota.window} per ${perName(quota)}`,
  );
}

/** Of each limit, by the place that its claims name, a claim of each of these reasons. */
function looksAtEach<T extends { readonly at: string }>(
  limits: readonly T[],
  reasons: readonly string[],
  nameOf: (limit: T) => string,
): Obligation[] {
  return limits.flatMap((limit) =>
    reasons.map((reason) => ({
      name: `${nameOf(limit)}, ${reason}`,
      isMetBy: ({ claim }: HeldClaim) => claim.at === limit.at && claim.reason === reason,
    })),
  );
}
