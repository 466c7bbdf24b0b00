/**
 * Bounds what one question costs, however often shapes name each other: so many steps in all, and so many within each other. A
 * question that is asked while another is answered is part of it.
 */
export class StepBudget {
  readonly #stepsMost: number;
  #left = 0;
  #depth = 0;

  constructor(stepsMost: number) {
    this.#stepsMost = stepsMost;
  }

  /** What a step comes to; `beyond` where there is no work left for it. */
  step<Value>(beyond: Value, take: () => Value): Value {
    const isQuestion = this.#depth === 0;
    if (isQuestion) this.#left = this.#stepsMost;
    if (this.#depth >= depthMost) this.#left = 0;
    if (this.#left <= 0) return beyond;
    this.#left -= 1;
    this.#depth += 1;
    try {
      const value = take();
      // An answer for which steps were missing is none, whatever was made of those that were there.
      return isQuestion && this.#left <= 0 ? beyond : value;
    } finally {
      this.#depth -= 1;
    }
  }
}

const depthMost = 300;
