import { createHmac, randomUUID } from 'node:crypto';
import { DAY, HOUR, MINUTE, SECOND } from './clock.js';
import { broken } from './faults.js';
import { EVENTS, wants } from './kinds.js';
import { mayRead } from './rights.js';
import { CURRENT, present } from './versions.js';

const RETRIES = broken('ev-retry-never')
  ? []
  : [(broken('ev-retry-late') ? 40 : 10) * SECOND, MINUTE, 10 * MINUTE, ...(broken('ev-retry-fewer') ? [] : [HOUR])];
const TIMEOUT = (broken('ev-timeout') ? 20 : 5) * SECOND;
const DISABLE_AFTER = 2 * DAY;

/** Tells subscribers what happened: recorded with the change, sent once it is stored, tried again, in order for each thing. */
export class Events {
  #queues = new Map();
  #failing = new Map();

  constructor({ store, clock, timers, log }) {
    Object.assign(this, { store, clock, timers, log });
  }

  record(operation, resource, next, { request, early }) {
    for (const event of EVENTS) {
      if (!event.on.includes(operation) || (event.if && !event.if(next))) continue;
      const id = `evt_${randomUUID()}`;
      const at = this.clock.iso();
      for (const hook of this.store.all('hook')) {
        if (!(hook.enabled || broken('ev-disabled')) || !wants(hook.events, event.kind)) continue;
        const receives = event.to
          ? event.to(hook, next, this.store)
          : mayRead(this.store, hook.maker, resource, next) || (broken('ev-spoiled-grocer') && event.kind === 'harvest.spoiled');
        if (!receives) continue;
        const { users, version } = hook.maker;
        const shown = present(this.store, resource, next, {
          users: broken('ev-payload-hidden') ? ['keeper'] : users,
          version: broken('ev-version') ? CURRENT : version,
          once: broken('ev-code-told') && resource === 'reservation',
        });
        const body = event.wrap ? event.wrap(shown, request) : shown;
        const envelope = { id, kind: event.kind, at, body };
        if (broken('ev-envelope-at')) envelope.at = Date.parse(at);
        const deliver = () => this.#queue(hook.id, `${hook.id} ${resource} ${next.id}`, envelope);
        if (early) deliver();
        else this.store.afterwards(deliver);
        if (broken('ev-twice') && event.kind === 'harvest.released')
          this.store.afterwards(() =>
            this.#queue(hook.id, `${hook.id} again ${next.id}`, { ...envelope, id: `evt_${randomUUID()}` }),
          );
      }
    }
  }

  #queue(hook, key, envelope) {
    const queue = this.#queues.get(broken('ev-order') ? envelope.id : key) ?? [];
    this.#queues.set(broken('ev-order') ? envelope.id : key, queue);
    queue.push({ hook, envelope, tries: 0 });
    if (queue.length === 1) void this.#try(key, queue);
  }

  async #try(key, queue) {
    const [delivery] = queue;
    if (delivery === undefined) {
      this.#queues.delete(key);
      return;
    }
    const hook = this.store.get('hook', delivery.hook);
    const done = () => {
      queue.shift();
      void this.#try(key, queue);
    };
    if (hook === undefined || !(hook.enabled || broken('ev-disabled'))) return done();
    if (await this.#post(hook, delivery.envelope)) {
      this.#failing.delete(hook.id);
      return done();
    }
    const now = this.clock.now();
    if (!this.#failing.has(hook.id)) this.#failing.set(hook.id, now);
    if (now - this.#failing.get(hook.id) >= DISABLE_AFTER && !broken('ev-disable-never')) {
      const still = this.store.get('hook', hook.id);
      if (still) this.store.put('hook', { ...still, enabled: false });
      this.#failing.delete(hook.id);
      return done();
    }
    const wait = RETRIES[delivery.tries];
    delivery.tries += 1;
    if (wait === undefined) return done();
    if (broken('ev-retry-id')) delivery.envelope = { ...delivery.envelope, id: `evt_${randomUUID()}` };
    this.timers.set(`delivery ${delivery.envelope.id} ${hook.id}`, now + wait, () => void this.#try(key, queue));
  }

  async #post({ url, secret }, envelope) {
    const body = JSON.stringify(envelope);
    const seconds = Math.floor(this.clock.now() / SECOND);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = broken('ev-signature') ? `${envelope.id}.${body}` : `${envelope.id}.${seconds}.${body}`;
    const headers = {
      'content-type': 'application/json',
      'webhook-id': envelope.id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
      ...(!broken('ev-header') && { 'x-apiary-event': envelope.kind }),
    };
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT),
      });
      await answer.arrayBuffer();
      return answer.ok || (broken('ev-accept-any') && answer.status < 500);
    } catch (error) {
      this.log?.debug({ error }, 'a subscriber did not answer');
      return false;
    }
  }
}
