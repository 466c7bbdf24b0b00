/** Thrown where something would be stored for a request that was answered with `limit.time` already. */
export class TimedOut {}

/**
 * How long one request has. Once it is over the request is answered, and nothing that it still does is stored; a change that is
 * being stored when the time comes is let through, and answered as usual.
 */
export class Deadline {
  #state: 'open' | 'applying' | 'over' | 'done' = 'open';
  #isDue = false;
  readonly #answer: () => void;
  readonly #freed: (() => void)[] = [];

  constructor(answer: () => void) {
    this.#answer = answer;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  get isDone(): boolean {
    return this.#state === 'done' || this.#state === 'over';
  }

  /** Called inside a change, before it stores anything. @throws {TimedOut} */
  apply(): void {
    if (this.#state === 'over') throw new TimedOut();
    if (this.#state === 'open') this.#state = 'applying';
  }

  /** A change stored nothing, and the request goes on. */
  release(): void {
    if (this.#state !== 'applying') return;
    this.#state = 'open';
    if (this.#isDue) this.expire();
  }

  /** The request is answered. */
  done(): void {
    if (this.#state !== 'over') this.#state = 'done';
  }

  /** What is let go of when it is over, whatever the request still does. */
  whenOver(free: () => void): void {
    this.#freed.push(free);
  }

  /** The time has come. */
  expire(): void {
    this.#isDue = true;
    if (this.#state !== 'open') return;
    this.#state = 'over';
    for (const free of this.#freed) free();
    this.#answer();
  }
}
