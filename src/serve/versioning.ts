import type { Engine } from './engine.ts';
import type { Call, Exchange, Refusal } from './exchange.ts';
import type { Plan } from './plan.ts';

/** Which version a request is made in, and the path without what chose it. */
export interface Selected {
  /** Undefined = the newest shape: there is one version, or the current one is asked for. */
  readonly version: string | undefined;
  readonly path: string;
}

/** What the versioning part does on a request's road. */
export interface CompiledVersions {
  /** Step 2: the version that a call asks for; undefined where there is nothing to choose. */
  readonly select: ((call: Call) => Selected | { readonly refusal: Refusal }) | undefined;
  /** Whether an endpoint is there in a version. */
  readonly serves: ((plan: Plan, version: string | undefined) => boolean) | undefined;
  /** Step 4, once the caller is known: the version it is pinned to. */
  readonly pinned: ((exchange: Exchange) => string | undefined) | undefined;
  /** Carries what was sent up to the newest shape, in place of it. */
  readonly up: ((exchange: Exchange) => Refusal | undefined) | undefined;
  /** Header fields of every answer in a version: its name, its deprecation. */
  readonly headers: ((exchange: Exchange) => Readonly<Record<string, string>> | undefined) | undefined;
}

/** Compiles the versions of a document; only the newest shape is served yet. */
export function compileVersions(_engine: Engine): CompiledVersions {
  return { select: undefined, serves: undefined, pinned: undefined, up: undefined, headers: undefined };
}
