import { entriesOf } from '../parts/fact.ts';
import { basePath } from '../parts/purpose.ts';
import type { Spec } from '../parts/spec.ts';
import type { Store } from '../store/store.ts';
import { systemChance, systemClock } from './clock.ts';
import { startCompilation } from './compilation.ts';
import type { Engine } from './engine.ts';
import type { Events } from './hooks.ts';
import { compileLimits, noLimits } from './limits.ts';
import { compileCursors } from './lists/cursor.ts';
import { migrate } from './migrate.ts';
import { compileModels } from './rows/model.ts';
import type { InFlight } from './runs/idempotency.ts';
import type { ServeOptions } from './service.ts';

/** Compiles a document over a store. @throws {Misfits} where stored rows do not fit it. */
export async function startEngine(
  spec: Spec,
  store: Store,
  inFlight: InFlight,
  timersChanged: () => void,
  events: Events,
  options: ServeOptions,
): Promise<Engine> {
  const compilation = startCompilation(spec, options.as ?? entriesOf(spec.purpose.users)[0]?.[0]);
  const models = compileModels(compilation);
  const chance = options.chance ?? systemChance;
  await migrate(store, models, compilation, options.acceptMisfits ?? false);
  const secret = store.setting('cursor key', () => Buffer.from(chance.bytes(32)).toString('base64url'));
  const engine: Engine = {
    compilation,
    store,
    models,
    clock: options.clock ?? systemClock,
    chance,
    cursors: compileCursors(secret),
    handlers: options.handlers ?? {},
    before: options.before ?? {},
    identify: options.identify,
    inFlight,
    basePath: basePath(spec.purpose),
    acceptsOpen: options.open === 'accept',
    timersChanged,
    events,
    onFailure: options.onFailure ?? (() => {}),
    limits: noLimits,
  };
  return { ...engine, limits: compileLimits(engine) };
}
