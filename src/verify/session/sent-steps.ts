import type { Json } from '../../document/document.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import { type RequestPlan, valuesSent } from '../exchange/plan.ts';
import type { ScriptRun, Step } from '../exchange/step.ts';
import { type Fresh, freshIn } from '../exchange/symbol.ts';

/** A request that a session has sent, which another one can take over as if it were its own. */
export interface SentStep {
  readonly step: number;
  readonly plan: RequestPlan;
  readonly value: TrialExchange;
  /** What was new in it. */
  readonly fresh: readonly (readonly [Fresh, Json])[];
  /** The same for whoever takes it over, however often. */
  readonly origin: object;
}

/** What a session has sent as plans, by step, and what of it others have as well. */
export class SentSteps {
  readonly #sent = new Map<number, { readonly plan: RequestPlan; readonly origin: object }>();
  readonly #common = new Set<object>();

  note(step: number, plan: RequestPlan, origin: object): void {
    this.#sent.set(step, { plan, origin });
  }

  /** Notes that others have it as well. */
  share(origin: object): void {
    this.#common.add(origin);
  }

  /** The step that is the same as one of another session. */
  numberOf(origin: object): number | undefined {
    return this.#sent.entries().find(([, sent]) => sent.origin === origin)?.[0];
  }

  /**
   * What was done since a step and went well, but for reading, with all that it and some other steps take values from; nothing where some of
   * that was done otherwise than by sending requests one after the other, or was the session's own before.
   */
  since(
    from: number,
    also: readonly number[],
    { script, run }: { readonly script: readonly Step<unknown>[]; readonly run: ScriptRun },
  ): readonly SentStep[] | undefined {
    const wanted = new Set(also);
    for (let step = from; step < script.length; step++) {
      const value = run.results[step];
      const { plan } = this.#sent.get(step) ?? {};
      if (!plan || !isExchange(value)) return undefined;
      if (isDone(value) && plan.method !== 'GET') wanted.add(step);
    }
    // What is added while a set is gone through is gone through as well.
    for (const step of wanted) for (const { step: earlier } of script[step]?.takes ?? []) wanted.add(earlier);
    const steps = [...wanted].sort((one, other) => one - other).map((step) => this.#stepOf(step, from, run));
    if (!steps.every((one) => one !== undefined)) return undefined;
    for (const { origin } of steps) this.share(origin);
    return steps;
  }

  #stepOf(step: number, from: number, run: ScriptRun): SentStep | undefined {
    const { plan, origin } = this.#sent.get(step) ?? {};
    const value = run.results[step];
    if (!plan || !origin || !isExchange(value) || (step < from && !this.#common.has(origin))) return undefined;
    const fresh = valuesSent(plan)
      .flatMap(freshIn)
      .map((one) => [one, run.fresh.get(one) ?? null] as const);
    return { step, plan, value, origin, fresh };
  }
}
