/** The service's clock. A test may move it forward, by the door in `door.js`. */
export class Clock {
  #offset = 0;
  #listeners = [];

  now() {
    return Date.now() + this.#offset;
  }

  iso(at = this.now()) {
    return new Date(at).toISOString();
  }

  onMove(listener) {
    this.#listeners.push(listener);
  }

  async move(ms) {
    this.#offset += ms;
    for (const listener of this.#listeners) await listener();
    return this.now();
  }
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const UNITS = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** `90s`, `2h`, `PT5M`, `P14D`, or a number of milliseconds. */
export function durationOf(text) {
  if (typeof text === 'number') return text;
  const short = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  if (short) return Number(short[1]) * (UNITS[short[2]] ?? 1);
  const iso = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!iso) return undefined;
  const [, d = 0, h = 0, m = 0, s = 0] = iso;
  return Number(d) * DAY + Number(h) * HOUR + Number(m) * MINUTE + Number(s) * SECOND;
}
