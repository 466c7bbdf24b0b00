import { entriesOf } from '../parts/fact.ts';
import { basePath } from '../parts/purpose.ts';
import type { Spec } from '../parts/spec.ts';
import type { Store } from '../store/store.ts';
import { systemChance, systemClock } from './clock.ts';
import type { Engine } from './engine.ts';
import type { BeforeHandlers, Handlers } from './handlers.ts';
import { compileLimits, type LimitsSetting } from './limits.ts';
import { compileCursors } from './lists/cursor.ts';
import { migrate } from './migrate.ts';
import { compileModels } from './rows/model.ts';
import { startStandIn } from './sampling/start.ts';
import type { ServeOptions } from './service.ts';
import { compileVersionList } from './versioning/versions.ts';
import { startViewCompilation } from './view-compilation.ts';

/** What outlasts a document that is served in place of another. */
export interface Lasting
  extends Pick<Engine, 'inFlight' | 'timersChanged' | 'events' | 'credentials' | 'development'>,
    Pick<LimitsSetting, 'counters'> {}

/** Compiles a document over a store. @throws {Misfits} where stored rows do not fit it. */
export async function startEngine(spec: Spec, store: Store, lasting: Lasting, options: ServeOptions): Promise<Engine> {
  const standIn = options.sample ? startStandIn(spec, options.seedValue ?? '', options.strict ?? false) : undefined;
  const compilation = startViewCompilation(spec, options.as ?? entriesOf(spec.purpose.users)[0]?.[0], standIn);
  const models = compileModels(compilation, compilation.access);
  const chance = options.chance ?? systemChance;
  await migrate(store, models, compilation, options.acceptMisfits ?? false);
  const clock = options.clock ?? systemClock;
  const onFailure = options.onFailure ?? (() => {});
  const secret = await store.setting('cursor key', () => Buffer.from(chance.bytes(32)).toString('base64url'));
  const { counters, ...own } = lasting;
  return {
    compilation,
    store,
    models,
    clock,
    chance,
    cursors: compileCursors(secret),
    // What a handler asks of its context is for its author to have right: it is given a whole HandlerContext.
    handlers: (options.handlers ?? {}) as Handlers,
    before: (options.before ?? {}) as BeforeHandlers,
    identify: options.identify,
    environment: options.environment ?? {},
    readFile: options.readFile,
    openapi: options.openapi,
    ...own,
    versions: compileVersionList(spec, compilation.validator, () => clock.now()),
    basePath: basePath(spec.purpose),
    acceptsOpen: options.open === 'accept' || standIn !== undefined,
    relaxesAuth: options.relax === 'auth',
    onFailure,
    limits: compileLimits(spec.limits, { clock, counters, onFailure }),
  };
}
