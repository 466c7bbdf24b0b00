import type { Endpoint } from '../parts/endpoints.ts';
import type { Operation } from '../parts/operations.ts';
import type { RefusalTable } from './errors.ts';
import type { Exchange, Refusal, Reply } from './exchange.ts';
import type { Input } from './input.ts';
import type { OpenFact } from './open.ts';
import type { View } from './views.ts';
import type { Negotiate } from './wire/accept.ts';

/** One endpoint, compiled: the steps that it needs and no others. */
export interface Plan {
  readonly endpoint: Endpoint;
  readonly operation: Operation;
  readonly refusals: RefusalTable;
  readonly input: Input;
  /** The query parameters of its pages. */
  readonly paging: readonly string[];
  /** Carries what was sent up to the newest shape, in place of it. */
  readonly raise?: ((exchange: Exchange) => void) | undefined;
  /** Tells a refusal in the words of the request's version. */
  readonly lower?: ((refusal: Refusal, exchange: Exchange) => Refusal) | undefined;
  readonly negotiate: Negotiate;
  /** Step 6: no rule lets this caller do this at all. */
  readonly forbids: (exchange: Exchange) => Refusal | undefined;
  /** Header fields of every answer. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The open facts without which nothing can be done here. */
  readonly inDoubt: readonly OpenFact[];
  /** The open facts that this very request needs. */
  readonly doubtsOf: ((exchange: Exchange) => readonly OpenFact[]) | undefined;
  /** Why this service cannot do what is stated; nothing where it can. */
  readonly unsupported: { readonly type: string; readonly detail: string } | undefined;
  /** Everything from the idempotency record to the answer, for the view that the exchange has. */
  readonly run: (journey: Journey) => Reply | Promise<Reply>;
}

/** An endpoint and its plan, which is compiled when it is first called: a large document is served as soon as a small one. */
export class Planned {
  readonly endpoint: Endpoint;
  readonly #compile: () => Plan;
  #plan: Plan | undefined;

  constructor(endpoint: Endpoint, compile: () => Plan) {
    this.endpoint = endpoint;
    this.#compile = compile;
  }

  get plan(): Plan {
    this.#plan ??= this.#compile();
    return this.#plan;
  }
}

/** An exchange whose plan and view are known in whole. */
export interface Journey extends Exchange {
  readonly plan: Plan;
  view: View;
}

/** Everything from the idempotency record to the answer. Refusals come back as replies. */
export type Run = (exchange: Exchange) => Reply | Promise<Reply>;
