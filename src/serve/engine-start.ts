import { entriesOf } from '../parts/fact.ts';
import { basePath } from '../parts/purpose.ts';
import type { Spec } from '../parts/spec.ts';
import type { Store } from '../store/store.ts';
import { systemChance, systemClock } from './clock.ts';
import { startCompilation } from './compilation.ts';
import type { Engine } from './engine.ts';
import type { BeforeHandlers, Handlers } from './handlers.ts';
import { compileLimits } from './limits.ts';
import { compileCursors } from './lists/cursor.ts';
import { migrate } from './migrate.ts';
import { compileModels } from './rows/model.ts';
import { Sampling } from './sampling/sampling.ts';
import type { ServeOptions } from './service.ts';
import { compileVersionList } from './versioning/versions.ts';

/** What outlasts a document that is served in place of another. */
export type Lasting = Pick<Engine, 'inFlight' | 'timersChanged' | 'events' | 'counters' | 'credentials' | 'development'>;

/** Compiles a document over a store. @throws {Misfits} where stored rows do not fit it. */
export async function startEngine(spec: Spec, store: Store, lasting: Lasting, options: ServeOptions): Promise<Engine> {
  const sampling = options.sample ? new Sampling(spec, options.seedValue ?? '', options.strict ?? false) : undefined;
  const compilation = startCompilation(spec, options.as ?? entriesOf(spec.purpose.users)[0]?.[0], sampling);
  const models = compileModels(compilation);
  const chance = options.chance ?? systemChance;
  await migrate(store, models, compilation, options.acceptMisfits ?? false);
  const clock = options.clock ?? systemClock;
  const onFailure = options.onFailure ?? (() => {});
  const secret = await store.setting('cursor key', () => Buffer.from(chance.bytes(32)).toString('base64url'));
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
    ...lasting,
    versions: compileVersionList(spec, compilation.validator, () => clock.now()),
    basePath: basePath(spec.purpose),
    acceptsOpen: options.open === 'accept' || sampling !== undefined,
    relaxesAuth: options.relax === 'auth',
    onFailure,
    limits: compileLimits(spec.limits, { clock, counters: lasting.counters, onFailure }),
  };
}
