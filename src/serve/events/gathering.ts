/** How long things are gathered: where more of the same is under way, and where somebody may wait for them. */
const laterMs = 50;
const soonMs = 4;
const gatherMost = 1024;

/** Gathers things for a while, and hands them over together, one batch after another. */
export class Gathering<Thing> {
  readonly #take: (things: readonly Thing[]) => Promise<void>;
  #things: Thing[] = [];
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;
  #taking: Promise<void> | undefined;

  /** `take` must not reject. */
  constructor(take: (things: readonly Thing[]) => Promise<void>) {
    this.#take = take;
  }

  /** How many wait. */
  get size(): number {
    return this.#things.length;
  }

  get isIdle(): boolean {
    return this.#things.length === 0 && this.#taking === undefined;
  }

  add(thing: Thing, when: 'now' | 'soon' | 'later'): void {
    this.#things.push(thing);
    const isMuch = this.#things.length >= gatherMost;
    this.#in(when === 'now' || isMuch ? 0 : when === 'soon' ? soonMs : laterMs);
  }

  /** Hands over what there is, and waits until it is taken. */
  async flush(): Promise<void> {
    await this.#taking;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#things.length > 0) await this.#hand();
  }

  #in(ms: number): void {
    if (this.#taking || (this.#timer && this.#dueMs <= ms)) return;
    clearTimeout(this.#timer);
    this.#dueMs = ms;
    this.#timer = setTimeout(() => void this.#hand(), ms);
  }

  async #hand(): Promise<void> {
    this.#timer = undefined;
    const things = this.#things;
    this.#things = [];
    this.#taking = this.#take(things);
    await this.#taking;
    this.#taking = undefined;
    if (this.#things.length > 0) this.#in(0);
  }
}
