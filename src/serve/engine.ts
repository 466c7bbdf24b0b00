import type { Store } from '../store/store.ts';
import type { Models } from './acts/act.ts';
import type { Chance, Clock } from './clock.ts';
import type { Compilation } from './compilation.ts';
import type { BeforeHandlers, Handlers } from './handlers.ts';
import type { CompiledLimits, Events } from './hooks.ts';
import type { Cursors } from './lists/cursor.ts';
import type { InFlight } from './runs/idempotency.ts';
import type { ServeOptions } from './service.ts';

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
  readonly inFlight: InFlight;
  /** The prefix of the endpoints. */
  readonly basePath: string;
  /** Whether requests in doubt are let through. */
  readonly acceptsOpen: boolean;
  readonly events: Events;
  readonly limits: CompiledLimits;
  /** Called after a change that may have set a timer. */
  readonly timersChanged: () => void;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}
