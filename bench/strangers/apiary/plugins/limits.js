import { DAY, MINUTE } from '../keeping/clock.js';
import { refuse } from '../keeping/errors.js';
import { broken } from '../keeping/faults.js';
import { plugin } from '../keeping/plugin.js';
import { rulesFor } from '../keeping/rights.js';

const LIMIT = broken('li-rate') ? 601 : 600;
const REFILL = 30 / MINUTE;
const BURST = broken('li-burst') ? 30 : 40;
const QUOTA = broken('li-quota') ? 61 : 60;

/** Rates of each caller, who may do what at all, and the quota of harvests. */
export const limits = plugin(async (app) => {
  const { clock } = app.deps;
  const calls = new Map();
  const buckets = new Map();
  const harvests = new Map();

  const tooMany = (ms) => refuse('too_many', { headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) } });

  app.addHook('onRequest', async (request) => {
    const { op } = request.routeOptions.config;
    const caller = request.caller
      ? `${request.caller.users.join()} ${broken('li-rate-shared') ? '' : request.caller.id}`
      : `address ${request.ip}`;
    const now = clock.now();
    const window = (calls.get(caller) ?? []).filter((at) => at > now - MINUTE);
    calls.set(caller, window);
    if (window.length >= LIMIT) {
      if (broken('li-refused-counts')) window.push(now);
      tooMany(window[0] + MINUTE - now);
    }
    if (op === 'create reservation') {
      const bucket = buckets.get(caller) ?? { left: BURST, at: now };
      bucket.left = Math.min(BURST, bucket.left + (now - bucket.at) * (broken('li-refill') ? REFILL / 2 : REFILL));
      bucket.at = now;
      buckets.set(caller, bucket);
      if (bucket.left < 1) tooMany((1 - bucket.left) / REFILL);
      bucket.left -= 1;
    }
    window.push(now);
    if (!request.routeOptions.config.public && rulesFor(request.caller, op).length === 0) refuse('not_allowed');
  });

  const harvestsOf = ({ id, users }) =>
    `${users.join()} ${broken('li-quota-shared') ? '' : id} ${broken('li-quota-never-again') ? '' : Math.floor(clock.now() / DAY)}`;

  /** The harvests of a caller's day, of UTC. */
  app.decorate('quota', {
    check(caller) {
      if ((harvests.get(harvestsOf(caller)) ?? 0) >= QUOTA) refuse('quota_spent');
    },
    spend(caller) {
      const key = harvestsOf(caller);
      harvests.set(key, (harvests.get(key) ?? 0) + 1);
    },
  });
});
