import { createServer } from 'node:http';

export class Clock {
  #start = Date.now();
  #since = performance.now();
  now() {
    return this.#start + Math.floor(performance.now() - this.#since);
  }
  set(ms) {
    if (ms <= this.now()) return;
    this.#start = ms;
    this.#since = performance.now();
  }
}

const DURATION = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
function millis(text) {
  const [, w = 0, d = 0, h = 0, m = 0, s = 0] = DURATION.exec(text) ?? [];
  const found = (((Number(w) * 7 + Number(d)) * 24 + Number(h)) * 60 + Number(m)) * 60_000 + Number(s) * 1000;
  if (!DURATION.test(text)) throw new Error('no duration');
  return Math.round(found);
}

/** The door by which tests move the clock. */
export function clockDoor(house, port) {
  createServer(async (incoming, outgoing) => {
    const reply = (status, json) => {
      outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
    };
    let said = '';
    for await (const chunk of incoming) said += chunk;
    if (incoming.method === 'GET') return reply(200, { now: new Date(house.clock.now()).toISOString() });
    try {
      const asked = JSON.parse(said);
      const target = asked.advance === undefined ? Date.parse(asked.now) : house.clock.now() + millis(asked.advance);
      if (!(target < Date.UTC(8000, 0))) throw new Error('no time');
      if (asked.advance === undefined && target < house.clock.now()) return reply(422, { message: 'The clock does not go back.' });
      await house.moveTo(target);
      reply(200, { now: new Date(house.clock.now()).toISOString() });
    } catch {
      reply(400, { message: 'Send {"advance":"PT1H"} or {"now":"2026-06-01T09:00:00.000Z"}.' });
    }
  }).listen(port, '127.0.0.1');
}
