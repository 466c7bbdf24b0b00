import type { Spec } from '../../parts/spec.ts';
import type { AuthenticationSetting } from '../callers/authentication.ts';
import type { EventsSetting } from '../events/setting.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import type { CompiledLimits } from '../limits/limits.ts';
import type { Cursors } from '../resources/lists/query.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import type { BeforeHandlers, Handlers } from './handlers.ts';

/** What the plans of a service run on. What stands around an operation takes of it what its own file says. */
export interface Engine extends AuthenticationSetting, EventsSetting {
  readonly compilation: ViewCompilation;
  readonly limits: CompiledLimits;
  readonly cursors: Cursors;
  readonly handlers: Handlers;
  readonly before: BeforeHandlers;
  /** The keys whose first request is still under way. */
  readonly inFlight: Set<string>;
  /** Writes the document as OpenAPI, where somebody gave the means. */
  readonly openapi: ((spec: Spec) => PromiseOrValue<string>) | undefined;
  /** The prefix of the endpoints. */
  readonly basePath: string;
  /** Whether what is for this machine alone is for nobody. */
  readonly isProduction: boolean;
  /** Whether what exchanges cost is measured, for their lines in the log. */
  readonly measures: boolean;
  /** Called after a change that may have set a timer. */
  readonly timersChanged: () => void;
}
