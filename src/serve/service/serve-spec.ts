import type { Json } from '../../document/document.ts';
import { entriesOf } from '../../parts/fact.ts';
import { basePath } from '../../parts/purpose.ts';
import type { Spec } from '../../parts/spec.ts';
import { openSqlite } from '../../store/sqlite/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { Credentials } from '../callers/credentials.ts';
import { Development, lendingTo } from '../callers/development.ts';
import { compileTargets } from '../callers/vary.ts';
import { startEvents } from '../events/events.ts';
import type { GivenWebhook } from '../events/subscribers.ts';
import { compileVersionList } from '../exchange/versions.ts';
import { withFollowing } from '../following/follow.ts';
import type { Call } from '../http/call.ts';
import { type Clock, type Entropy, type SettableClock, systemChance, systemClock } from '../http/clock.ts';
import { compileLimits, type LimitsSetting } from '../limits/limits.ts';
import { RateCounters } from '../limits/rate-counters.ts';
import type { Engine } from '../operations/engine.ts';
import type { BeforeHandlers, Handlers } from '../operations/handlers.ts';
import { compileCursors } from '../resources/lists/cursor.ts';
import { compileModels } from '../resources/model.ts';
import { startStandIn } from '../resources/stand-in/start.ts';
import { startViewCompilation } from '../resources/view-compilation.ts';
import type { Stage } from '../scenarios/stage.ts';
import type { Workbench } from '../scenarios/workbench.ts';
import { compileAdmin, openAdmin } from './admin/administer.ts';
import { brokerNotes, givenWebhooks, webhookTargets } from './broker.ts';
import { settledSoon } from './clock-door.ts';
import { CoverageCount } from './coverage.ts';
import { compileRawRefusals, type DoorsServed, doorsOf } from './doors.ts';
import { type DocumentStore, type NewestDocument, newestOf, storeOfDocument, tellingNewest } from './newest.ts';
import { compileNote, noteAll, quietly } from './note-exchange.ts';
import { notesOf } from './notes.ts';
import { bringRowsUp } from './rederive.ts';
import { seedRows, seedStated } from './seed.ts';
import type { ServeOptions, Service } from './service.ts';
import { type CountingPlace, type SharedService, startCounting, startSharing } from './sharing.ts';
import { compileServe } from './steps.ts';
import { lastingOf, type Migrated, migrate } from './stored/migrate.ts';
import { startTimers, type Timers } from './timers.ts';
import type { Note } from './unrouted.ts';
import { type OperatorWatch, startOperatorWatch } from './watched.ts';
import { stageOf, startWorkbench } from './workbench-door.ts';

/**
 * Runs the service that a sound document describes.
 * @throws {Misfits} where stored rows do not fit it.
 * @throws {BadRows} where the rows to start with do not.
 */
export async function serveSpec(spec: Spec, options: ServeOptions = {}): Promise<Service> {
  const { clock = systemClock, chance = systemChance, store = openSqlite(':memory:') } = options;
  const engine = () => served.engine;
  const timers = startTimers(engine);
  const stage = stageOf(options);
  const count = options.coverage ? new CoverageCount() : undefined;
  const logged = options.onExchange && compileNote(options.onExchange, clock, (call) => served.target(call), options.notes);
  const watched = options.watch ? startOperatorWatch(engine, timers) : undefined;
  const note = noteAll([count, watched], logged);
  const webhooks = await givenWebhooks(options.webhooks ?? [], store, chance);
  const events = startEvents(engine, { webhooks, targets: webhookTargets(options), broker: options.broker });
  const credentials = new Credentials(store, chance);
  const development = options.development ? new Development(credentials, clock, chance, provingOf(options).signsAll) : undefined;
  const counters = new RateCounters(systemChance);
  const counting = startCounting(options, store);
  const timersChanged = () => timers.changed();
  const newest = newestOf(options, store, clock, async (next) => {
    await replace(next);
    events.changedElsewhere(true);
  });
  const onFailure = tellingNewest(newest, quietly(options.onFailure ?? (() => {}), clock));
  const heard = { timersChanged, events, onFailure };
  const lasting = { inFlight: new Set<string>(), counters, counting, credentials, development, stage, ...heard };
  const sharing = await (store.shared && startSharing(store.shared, { timers, events, credentials, onFailure }));
  let served = await startServed(spec, store, lasting, note, options);
  sharing?.begin();
  await seedStated(served.engine);
  if (options.rows) await seedRows(served.engine, options.rows);
  timers.changed();
  await events.resume();
  async function replace(next: Spec): Promise<void> {
    const { own: before } = served;
    before.isPast = true;
    try {
      served = await startServed(next, store, lasting, note, { ...options, migration: lastingOf(options.migration) });
    } catch (failure) {
      before.isPast = false;
      throw failure;
    }
    await seedStated(served.engine);
    timers.changed();
    await events.resume();
  }

  const running = { store, clock, chance, timers, count, webhooks, watched, sharing, newest, replace, options };
  return serviceOf({ ...lasting, ...running, served: () => served });
}

/** What a service that runs is made of. */
interface Parts extends Pick<Lasting, 'counters' | 'counting' | 'credentials' | 'development' | 'events' | 'stage'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Entropy;
  readonly timers: Timers;
  readonly count: CoverageCount | undefined;
  readonly watched: OperatorWatch | undefined;
  readonly sharing: SharedService | undefined;
  readonly newest: NewestDocument | undefined;
  readonly webhooks: readonly GivenWebhook[];
  readonly served: () => Served;
  readonly replace: (spec: Spec) => Promise<void>;
  readonly options: ServeOptions;
}

/** The service as whoever runs it holds it. */
function serviceOf(parts: Parts): Service {
  const { store, clock, chance, timers, events, credentials, served, replace } = parts;
  const engine = () => served().engine;
  const spec = () => engine().compilation.spec;
  const fire = async (resource: string, id: string, transition: string) => (await timers.fire(resource, id, transition)) as Json;
  const settled = () => settle(timers, events);
  const workbench = workbenchOf(parts, fire, settled);
  const over = { store, clock, chance, credentials, spec, engine, timers, workbench };
  const administer = compileAdmin({ ...over, onAdministered: parts.options.onAdministered });
  return {
    ...doorsOf(served, parts.newest, parts.options.turnAway),
    fire,
    replace,
    workbench,
    watched: parts.watched,
    administer,
    openAdmin: () => openAdmin(administer, chance),
    get credentials() {
      return parts.development?.made ?? [];
    },
    get notes() {
      const given = parts.webhooks.map(({ url, secret }) => `Every event goes to ${url}, signed with ${secret}.`);
      return [...served().carried, ...notesOf(engine()), ...given, ...brokerNotes(spec(), parts.options.broker)];
    },
    get basePath() {
      return engine().basePath;
    },
    coverage: () => parts.count?.of(spec(), engine().compilation.ledger().total.open),
    settled,
    async close() {
      parts.watched?.close();
      await timers.stop();
      await events.stop();
      await parts.sharing?.stop();
      await parts.counting.close();
      if (!parts.options.store) await store.close();
    },
  };
}

/** What trials may do to the service; nothing where nothing is played. */
function workbenchOf(
  { stage, served, clock, counters, replace, options }: Parts,
  fire: Workbench['fire'],
  settled: Workbench['settled'],
): Workbench | undefined {
  if (!stage) return undefined;
  const engine = () => served().engine;
  return startWorkbench({
    stage,
    engine,
    fire,
    settled: () => settledSoon({ settled }),
    clock: 'set' in clock ? (clock as SettableClock) : undefined,
    rows: options.rows,
    async emptied() {
      counters.forget();
      await replace(engine().compilation.spec);
    },
  });
}

/** What is fired emits, and what is sent can disable a subscriber, which emits too. */
async function settle(...parts: readonly { settled(): Promise<void> }[]): Promise<void> {
  for (let round = 0; round < 2; round++) for (const part of parts) await part.settled();
}

/** A document as it is served: all of this changes at once where another one takes its place. */
interface Served extends DoorsServed {
  /** The store as these plans have it. */
  readonly own: DocumentStore;
  /** What became of stored rows and their timers, in words. */
  readonly carried: readonly string[];
  /** What of a call's target the log may show. */
  readonly target: (call: Call) => string;
}

/** @throws {Misfits} where stored rows do not fit the document. */
async function startServed(
  spec: Spec,
  store: Store,
  lasting: Lasting,
  note: Note | undefined,
  options: ServeOptions,
): Promise<Served> {
  const own = storeOfDocument(store);
  const { engine, migrated } = await startEngine(spec, own.store, lasting, options);
  const broughtUp = await bringRowsUp(engine);
  await lasting.development?.issue(engine.compilation);
  return {
    own,
    engine,
    carried: [...migrated.done, ...broughtUp],
    road: compileServe(engine, note, lasting.stage),
    refuseRaw: compileRawRefusals(engine),
    target: compileTargets(spec),
  };
}

/** What outlasts a document that is served in place of another. */
interface Lasting
  extends Pick<Engine, 'inFlight' | 'timersChanged' | 'events' | 'credentials' | 'development' | 'onFailure'>,
    Pick<LimitsSetting, 'counters'> {
  readonly counting: CountingPlace;
  /** What trials play; nothing where others rely on the service. */
  readonly stage: Stage | undefined;
}

/** Compiles a document over a store. @throws {Misfits} where stored rows do not fit it. */
async function startEngine(
  spec: Spec,
  store: Store,
  lasting: Lasting,
  options: ServeOptions,
): Promise<{ readonly engine: Engine; readonly migrated: Migrated }> {
  const standIn = options.sample ? startStandIn(spec, options, lendingTo(lasting.credentials, spec, options.as)) : undefined;
  const compilation = startViewCompilation(spec, options.as ?? entriesOf(spec.purpose.users)[0]?.[0], standIn);
  const models = withFollowing(compileModels(compilation, compilation.access), compilation);
  const chance = options.chance ?? systemChance;
  const clock = options.clock ?? systemClock;
  const migrated = await migrate({
    store,
    models,
    compilation,
    acceptMisfits: options.acceptMisfits ?? false,
    options: options.migration ?? {},
    now: () => clock.now(),
  });
  const secret = await store.setting('cursor key', () => Buffer.from(chance.bytes(32)).toString('base64url'));
  const { counters, counting, onFailure, stage: _stage, ...own } = lasting;
  const engine: Engine = {
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
    ...provingOf(options),
    exchanges: standIn && ((endpoint) => standIn.exchangesCredential(endpoint)),
    isProduction: options.production ?? false,
    measures: options.onExchange !== undefined,
    onFailure,
    limits: compileLimits(spec.limits, {
      clock,
      counters,
      shared: counting.shared,
      compile: compilation.expression,
      onFailure,
    }),
  };
  return { engine, migrated };
}

/** A stand-in gives out tokens itself where its document says nobody's keys; one that is not strict takes what stands beside a good key. */
function provingOf({ development, sample, strict }: ServeOptions) {
  return { signsAll: development === true && sample === true, takesCompanions: sample === true && strict !== true };
}
