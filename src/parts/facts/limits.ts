import { type Fact, isStated, statedValue } from '../fact.ts';
import type { Limits } from '../limits.ts';
import type { Spec } from '../spec.ts';
import { type FactInstance, type FactKind, instance, stated } from './kind.ts';

const unlimited = 'Nothing: there is no such limit but those that protect the process, printed at start.';

/** Rates, sizes, time-outs and quotas once each, quotas of rows per limit of them, and requests at once; pagination bounds per list. */
export const limitFacts: readonly FactKind[] = [
  {
    part: 'limits',
    kind: 'rate limits',
    arises: ({ limits }) => [
      instance('service', limits.rate),
      ...(isStated(limits.atOnce) ? [stated('at once', limits.atOnce.at)] : []),
    ],
    whenOpen: unlimited,
  },
  once('size limits', (limits) => limits.size),
  once('time-outs', (limits) => limits.timeout),
  {
    part: 'limits',
    kind: 'pagination bounds',
    arises: paginationBounds,
    whenOpen: 'A list of more than 100 rows answers 501; a shorter one is a bare array.',
  },
  {
    part: 'limits',
    kind: 'quotas',
    arises: ({ limits }) => [
      instance('service', limits.quota),
      ...(statedValue(limits.rows) ?? []).map(({ of, at }) => stated(`rows of ${of}`, at)),
    ],
    whenOpen: unlimited,
  },
];

function once(kind: string, pick: (limits: Limits) => Fact<unknown>): FactKind {
  return { part: 'limits', kind, arises: (spec) => [instance('service', pick(spec.limits))], whenOpen: unlimited };
}

function paginationBounds(spec: Spec): FactInstance[] {
  const { all } = spec.endpoints;
  if (!isStated(all)) return all.standing === 'none' ? [] : [instance('service', spec.limits.pagination)];
  const lists = Object.values(all.value).filter((endpoint) => statedValue(endpoint.does)?.verb === 'list');
  return lists.map((endpoint) => instance(endpoint.key, endpoint.pagination ?? spec.limits.pagination));
}
