import type { Store } from '../store/store.ts';
import type { Models } from './acts/act.ts';
import type { Credentials } from './authentication/credentials.ts';
import type { Development } from './authentication/development.ts';
import type { Chance, Clock } from './clock.ts';
import type { Compilation } from './compilation.ts';
import type { BeforeHandlers, Handlers } from './handlers.ts';
import type { CompiledLimits, Events } from './hooks.ts';
import type { RateCounters } from './limits/rate-counters.ts';
import type { Cursors } from './lists/cursor.ts';
import type { InFlight } from './runs/idempotency.ts';
import type { ServeOptions } from './service.ts';
import type { Versions } from './versioning/versions.ts';

/** What the plans of a service run on. */
export interface Engine {
  readonly compilation: Compilation;
  readonly store: Store;
  readonly models: Models;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly cursors: Cursors;
  readonly handlers: Handlers;
  readonly before: BeforeHandlers;
  /** Who calls, where somebody else finds it out. */
  readonly identify: ServeOptions['identify'];
  /** The keys and passwords that were given out. */
  readonly credentials: Credentials;
  /** Those that were made for this run alone; absent in production. */
  readonly development: Development | undefined;
  /** The variables that a document may name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file that stands beside the document. */
  readonly readFile: ((path: string) => string) | undefined;
  /** Writes the document as OpenAPI, where somebody gave the means. */
  readonly openapi: ServeOptions['openapi'];
  readonly inFlight: InFlight;
  /** What rates have counted. */
  readonly counters: RateCounters;
  /** The prefix of the endpoints. */
  readonly basePath: string;
  /** Whether requests in doubt are let through. */
  readonly acceptsOpen: boolean;
  /** Whether any credential of the declared form is taken. */
  readonly relaxesAuth: boolean;
  /** The versions that the document lists. */
  readonly versions: Versions | undefined;
  readonly events: Events;
  readonly limits: CompiledLimits;
  /** Called after a change that may have set a timer. */
  readonly timersChanged: () => void;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}
