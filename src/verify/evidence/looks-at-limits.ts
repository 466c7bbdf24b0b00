import { statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { isCut } from '../../parts/limits.ts';
import { statedPaginationOf } from '../limits/page.ts';
import type { Model } from '../model/model.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** A claim of this reason. */
export function looksFor(name: string, reason: string = name, why?: string): Obligation {
  return { name, ...(why !== undefined && { why }), isMetBy: ({ claim }) => claim.reason === reason };
}

/** Each size, on both sides of its bound. */
export function looksAtSizes({ spec }: Model): Obligation[] {
  const stated = statedValue(spec.limits.size) ?? {};
  return Object.keys(stated).flatMap((what) => [looksFor(`${what} up to the bound`), looksFor(`${what} above the bound`)]);
}

/** Each time that is waited for. */
export function looksAtTimeouts({ spec }: Model): Obligation[] {
  const { requestMs, idleMs } = statedValue(spec.limits.timeout) ?? {};
  return [
    ...(requestMs === undefined ? [] : [looksFor('a request that does not end', 'request')]),
    ...(idleMs === undefined ? [] : [looksFor('a connection that is idle', 'idle')]),
  ];
}

/** The usual size of a page, the largest, and what is larger. */
export function looksAtPages(model: Model, { subject }: LedgerFact): Obligation[] {
  const endpoint = model.endpoints.find(({ key }) => key === subject);
  const stated = endpoint && statedPaginationOf(model.spec, endpoint);
  if (!isCut(stated)) return [];
  const isSized = stated.size !== undefined && stated.max !== undefined;
  return [
    ...(stated.default === undefined ? [] : [looksFor('a page of the usual size', 'default')]),
    ...(isSized ? [looksFor('the largest page', 'at the most')] : []),
    ...(isSized && stated.overMax !== undefined ? [looksFor('a larger one', 'above the most')] : []),
  ];
}

/** Each rate, by the place that its claims name. */
export function looksAtRates({ spec }: Model): Obligation[] {
  return looksAtEach(
    statedValue(spec.limits.rate) ?? [],
    ({ limit, windowMs, per }) => `${limit} in ${windowMs / 1000} s per ${per}`,
  );
}

/** Each quota, the same. */
export function looksAtQuotas({ spec }: Model): Obligation[] {
  return looksAtEach(statedValue(spec.limits.quota) ?? [], ({ limit, window, per }) => `${limit} in a ${window} per ${per}`);
}

function looksAtEach<T extends { readonly at: string }>(limits: readonly T[], nameOf: (limit: T) => string): Obligation[] {
  return limits.map((limit) => ({
    name: nameOf(limit),
    isMetBy: ({ claim }: HeldClaim) => claim.at === limit.at,
  }));
}
