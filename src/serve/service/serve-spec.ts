/** The service that runs: what outlasts a document, and the doors that calls come in by. */

import type { Json } from '../../document/document.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { openSqlite } from '../../store/sqlite/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { Credentials } from '../callers/credentials.ts';
import { Development } from '../callers/development.ts';
import { startEvents } from '../events/events.ts';
import type { GivenWebhook } from '../events/subscribers.ts';
import { UndeliveredTelling } from '../events/undelivered.ts';
import { type Clock, type Entropy, type SettableClock, systemChance, systemClock } from '../http/clock.ts';
import { fetchDoor } from '../http/fetch.ts';
import type { DoorRefusal } from '../http/refusals.ts';
import { createListener, listen } from '../http/socket.ts';
import { RateCounters } from '../limits/rate-counters.ts';
import { statedBounds } from '../limits/stated-bounds.ts';
import { connectionKey } from '../limits/whom.ts';
import type { Workbench } from '../scenarios/workbench.ts';
import type { AnswerCall } from '../serve.ts';
import { compileAdmin, openAdmin } from './admin/administer.ts';
import { brokerNotes, givenWebhooks, webhookTargets } from './broker.ts';
import { CoverageCount } from './coverage.ts';
import { compileNote, noteAll, notesOf, quietly } from './notes.ts';
import { seedRows, seedStated } from './seed.ts';
import { type DoorsServed, type Lasting, provingOf, type Served, startServed } from './served.ts';
import type { ServeOptions, Service } from './service.ts';
import { type NewestDocument, newestOf, type SharedService, startCounting, startSharing, tellingNewest } from './sharing.ts';
import { lastingOf } from './stored/migrate.ts';
import { startTimers, type Timers } from './timers.ts';
import { settledSoon, stageOf, startWorkbench } from './trial-doors.ts';
import { type OperatorWatch, startOperatorWatch } from './watched.ts';

/**
 * Runs the service that a sound document describes.
 * @throws {Misfits} where stored rows do not fit it.
 * @throws {BadRows} where the rows to start with do not.
 */
export async function serveSpec(spec: Spec, options: ServeOptions = {}): Promise<Service> {
  const { clock = systemClock, chance = systemChance, store = openSqlite(':memory:') } = options;
  const engine = () => served.engine;
  const timers = startTimers(engine);
  let latest = spec;
  const stage = stageOf(options, () => latest);
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
  const undelivered = new UndeliveredTelling(options.onUndelivered, clock);
  const heard = { timersChanged, events, undelivered, onFailure };
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
    latest = next;
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

/** The doors that calls come in by, whatever document is served at the time. */
function doorsOf(
  served: () => DoorsServed,
  newest: NewestDocument | undefined,
  turnAway: ServeOptions['turnAway'],
): Pick<Service, 'listener' | 'fetch' | 'listen'> {
  const road: AnswerCall = (call) => served().road(call);
  const newestRoad = newest ? newest.answering(road) : road;
  const answer: AnswerCall = turnAway ? (call) => turnAway(call) ?? newestRoad(call) : newestRoad;
  const options = {
    refuseRaw: (kind: DoorRefusal, path: string) => served().refuseRaw(kind, path),
    onFailure: (failure: unknown) => served().engine.onFailure(failure, 'door'),
  };
  const bounds = () => statedBounds(served().engine.compilation.spec.limits);
  return {
    listener: createListener(answer, { ...bounds(), ...options }),
    fetch: fetchDoor(answer),
    listen: (at) => {
      const countedAs = connectionKey(statedValue(served().engine.compilation.spec.limits.trustProxies) ?? []);
      return listen(answer, { ...bounds(), ...options, countedAs, host: '127.0.0.1', ...at });
    },
  };
}
