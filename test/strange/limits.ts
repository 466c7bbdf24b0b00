/** Part 8 of strange documents: rates, sizes, times, quotas. Pages are stated list by list. */
import type { JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, laid, oneIn } from './layers.ts';

/** States what limits there are, that there are none, or nothing. */
export function layLimits(draw: Draw, draft: Draft): Draft {
  if (oneIn(draw, 5)) return draft;
  const [first] = draft.resources;
  const create = `create ${first?.name ?? ''}`;
  const rate = pick<readonly [string, JsonMap]>(draw, [
    ['rate open', {}],
    ['rate none', { rate: 'none' }],
    ['rate sliding', { rate: [{ per: 'caller', limit: 300, window: '1s' }] }],
    ['rate bucket', { rate: [{ per: 'address', limit: 400, window: '1s', burst: 500, kind: 'bucket' }] }],
    ['rate fixed', { rate: [{ per: 'everyone', limit: 40, window: '1s', kind: 'fixed', on: [create] }] }],
    ['rate cost', { rate: [{ per: 'caller', limit: 300, window: '1s', cost: { [create]: 3 } }] }],
  ]);
  const size = pick<readonly [string, JsonMap]>(draw, [
    ['size open', {}],
    ['size none', { size: 'none' }],
    ['size body', { size: { body: '32KiB' } }],
    ['size all', { size: { body: '64KiB', url: '4KiB', headers: '8KiB' } }],
  ]);
  const quota = pick<readonly [string, JsonMap]>(draw, [
    ['quota open', {}],
    ['quota none', { quota: 'none' }],
    ['quota day', { quota: [{ per: 'caller', on: [create], limit: 60, window: 'day', zone: 'UTC' }] }],
  ]);
  const timeout = pick<JsonMap>(draw, [{}, { timeout: 'none' }, { timeout: { request: '10s', idle: '60s' } }]);
  const limits = { ...rate[1], ...size[1], ...quota[1], ...timeout, ...(oneIn(draw, 3) && { trust_proxies: 'none' }) };
  if (Object.keys(limits).length === 0) return draft;
  return laid(draft, { limits }, rate[0], size[0], quota[0]);
}
