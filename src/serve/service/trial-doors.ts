/** What trials do to a service from this machine: the door of its workbench, what that is made of, and the door of its clock. */

import type { Json, JsonMap } from '../../document/document.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import { Samples } from '../../parts/samples/samples.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { isOnLoopback } from '../callers/origin.ts';
import type { Call, Reply } from '../http/call.ts';
import type { SettableClock } from '../http/clock.ts';
import { doorReply } from '../http/send.ts';
import { listen } from '../http/socket.ts';
import type { Engine } from '../operations/engine.ts';
import { emittable } from '../operations/handler-context.ts';
import { ownWork } from '../resources/act.ts';
import { drawOnce } from '../resources/setters.ts';
import { BadScenario } from '../scenarios/scenario.ts';
import { Stage } from '../scenarios/stage.ts';
import { demandPlayable } from '../scenarios/stated-answers.ts';
import type { RowsByResource, Workbench } from '../scenarios/workbench.ts';
import type { Administer } from './admin/administer.ts';
import { Unfit } from './admin/command.ts';
import { targetOf, workbenchCommands } from './admin/workbench.ts';
import { seedRows } from './seed.ts';
import type { ServeOptions } from './service.ts';

const bytesMost = 8 * 1024 * 1024;
const names = workbenchCommands.map(({ name }) => name);

/**
 * Opens the workbench of a service on a loopback address, for trials and never in production: `POST /scenarios/add` with the scenario as
 * its body carries out the command `scenarios add`; `GET` does so without one, and `GET /` lists the commands. docs/workbench.md is its page.
 */
export async function openWorkbench(
  administer: Administer,
  port: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { url, close } = await listen((call) => answer(call, administer), { port, host: '127.0.0.1' });
  return { url, close };
}

async function answer(call: Call, administer: Administer): Promise<Reply> {
  // No page of a browser has any business here.
  if (!isOnLoopback(call) || call.headers.origin !== undefined)
    return doorReply(403, { error: 'The workbench is for this machine alone.' });
  if (call.method !== 'GET' && call.method !== 'POST')
    return { ...doorReply(405, { error: 'GET looks, POST does.' }), headers: { allow: 'GET, POST' } };
  if (call.path === '/' && call.method === 'GET')
    return doorReply(200, { commands: names.map((name) => `/${name.replaceAll(' ', '/')}`) });
  const command = commandAt(call);
  if (command === undefined) return doorReply(404, { error: `There is nothing at ${call.path}; GET / lists what there is.` });
  const bytes = await call.body(bytesMost);
  const input = bytes === 'too large' ? bytes : inputIn(bytes);
  if (input === 'too large') return doorReply(413, { error: `A command has at most ${bytesMost} bytes.` });
  if (input === undefined) return doorReply(400, { error: 'What a command needs is a map in JSON.' });
  try {
    return doorReply(200, await administer(command, input));
  } catch (error) {
    if (error instanceof Unfit) return doorReply(422, { error: error.message });
    throw error;
  }
}

/** `/scenarios/add` is `scenarios add`; `GET /scenarios` looks at them, `GET /clock` too. */
function commandAt({ method, path }: Call): string | undefined {
  const name = path.slice(1).replaceAll('/', ' ');
  if (method === 'POST') return names.includes(name) ? name : undefined;
  return ['list', 'show'].map((look) => `${name} ${look}`).find((one) => names.includes(one)) ?? looked(name);
}

function looked(name: string): string | undefined {
  return / (?:list|show)$/.test(name) && names.includes(name) ? name : undefined;
}

function inputIn(bytes: Buffer): JsonMap | undefined {
  if (bytes.length === 0) return {};
  try {
    const input: Json = JSON.parse(bytes.toString('utf8'));
    if (isPlainMap(input)) return input;
    return undefined;
  } catch {
    return undefined;
  }
}

/** What a workbench needs of the service that it stands beside. */
interface Bench extends Pick<Workbench, 'stage' | 'fire' | 'clock' | 'settled'> {
  readonly engine: () => Engine;
  /** The rows that the service started with. */
  readonly rows: RowsByResource | undefined;
  /** What is done once nothing is there any more: counts in memory begin anew, timers and deliveries are looked for. */
  readonly emptied: () => Promise<void>;
}

export function startWorkbench({ engine, rows: first, emptied, ...bench }: Bench): Workbench {
  return {
    ...bench,
    seed: async (rows) => {
      const made = await seedRows(engine(), rows);
      engine().timersChanged();
      return made;
    },
    async reset() {
      await bench.settled();
      await engine().store.change((rows) => rows.clear());
      bench.stage.rewind();
      await emptied();
      if (first) await seedRows(engine(), first);
      engine().timersChanged();
    },
    async emit(kind, data) {
      const now = engine();
      const emitted = emittable(now, kind, data === undefined ? payloadOf(now, kind) : data);
      const draw = drawOnce(now.chance, now.clock.now());
      const recorded = await now.store.change((rows) =>
        now.events.record(ownWork(rows, now.models, draw, `emit ${kind}`), undefined, [emitted]),
      );
      now.events.recorded(recorded);
      return { kind, data: emitted.data };
    },
  };
}

/** A made-up payload of a kind. */
function payloadOf({ compilation: { spec } }: Engine, kind: string): Json {
  const stated = entryOf(spec.events.kinds, kind);
  if (!stated || !isStated(stated.payload)) return {};
  const made = new Samples(spec)
    .of(stated.payload.value)
    .make({ seed: kind, identifierOf: () => undefined, sampled: () => {} }, '');
  // What samples make is JSON, or the mark that there is none.
  if (typeof made === 'symbol') throw new Unfit(`Nothing can be made up that fits what ${kind} carries; give its data.`);
  return made as Json;
}

/** A stage where trials may play: given scenarios, a stand-in, or `trials`, and never in production. */
export function stageOf({ scenarios, sample, trials, production, seedValue }: ServeOptions, spec: () => Spec): Stage | undefined {
  if (production && (scenarios || trials)) throw new BadScenario('Scenarios are for trials: nothing is played in production.');
  const isWanted = scenarios !== undefined || sample === true || trials === true;
  return isWanted && !production ? new Stage(seedValue ?? '', (read) => demandPlayable(spec(), read), scenarios) : undefined;
}

/** The door that moves the clock of a service, and how long its work is waited for. */

/** What a clock door needs of the service whose clock it moves. */
export interface Moved {
  readonly clock: SettableClock;
  /** Resolves once what is due by the clock is done. */
  settled(): Promise<void>;
}

/**
 * Opens a door on a loopback address by which the clock of a service is read and set forward, for trials and never in
 * production. What is under way is finished before, and what has fallen due is done before it answers; a web hook whose receiver does not
 * answer is on its way. docs/verify-clock.md is its page.
 */
export async function openClock(moved: Moved, port: number): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { url, close } = await listen((call) => answerTime(call, moved), { port, host: '127.0.0.1' });
  return { url, close };
}

async function answerTime(call: Call, moved: Moved): Promise<Reply> {
  // No page of a browser has any business here.
  if (!isOnLoopback(call) || call.headers.origin !== undefined)
    return doorReply(403, { error: 'This door is for this machine alone.' });
  const { clock } = moved;
  if (call.method === 'GET') return doorReply(200, timeOf(clock));
  if (call.method !== 'POST')
    return { ...doorReply(405, { error: 'GET tells the time, POST moves it.' }), headers: { allow: 'GET, POST' } };
  const bytes = await call.body(1024);
  const target = bytes === 'too large' ? undefined : targetOf(readJson(bytes), clock.now());
  if (target === undefined)
    return doorReply(400, { error: 'Write { "now": "2026-06-01T09:00:00Z" } or { "advance": "PT1H" }, an ISO 8601 duration.' });
  if (target < clock.now()) return doorReply(422, { error: `The clock goes forward alone; it is ${timeOf(clock).now}.` });
  await settledSoon(moved);
  clock.set(target);
  await settledSoon(moved);
  return doorReply(200, timeOf(clock));
}

function timeOf(clock: SettableClock): { readonly now: string } {
  return { now: new Date(clock.now()).toISOString() };
}

function readJson(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Waits until what is due is done, but not for receivers of web hooks that do not answer. */
export function settledSoon(moved: { settled(): Promise<void> }): Promise<void> {
  return new Promise((resolve, reject) => {
    const enough = setTimeout(resolve, 300);
    moved
      .settled()
      .then(resolve, reject)
      .finally(() => clearTimeout(enough));
  });
}
