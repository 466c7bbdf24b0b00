/** What is due at some time of the service's clock, done in order. */
export class Timers {
  #entries = new Map();

  constructor(clock) {
    this.clock = clock;
    clock.onMove(() => this.run());
  }

  start() {
    this.poll = setInterval(() => this.run(), 25);
    this.poll.unref();
  }

  set(key, at, work) {
    this.#entries.set(key, { at, work });
  }

  cancel(key) {
    this.#entries.delete(key);
  }

  run() {
    const now = this.clock.now();
    const due = [...this.#entries].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at);
    for (const [key, entry] of due) {
      if (this.#entries.get(key) !== entry) continue;
      this.#entries.delete(key);
      entry.work();
    }
  }
}
