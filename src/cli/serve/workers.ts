import cluster, { type Worker } from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isDatabase } from '../../serve/service/open-store.ts';
import { onStop } from '../terminal.ts';
import { Misuse, type VerbCall } from '../verb.ts';
import type { Log } from './log.ts';

/** Tells a process which of several it is: its place, from 0, and how often that place was taken before. */
const placeVariable = 'NINEFOLD_WORKER';

/** How long a worker that ended is waited with at first and at the most, and after what time it counts as one that ran. */
const restMs = 200;
const restMostMs = 10_000;
const soundMs = 10_000;

const workersMost = 64;

/** @throws {Misuse} for a number that there cannot be, or beside what one process alone can do. */
export function readWorkers(asked: VerbCall, store: string): number | undefined {
  const text = asked.value('workers');
  if (text === undefined) return undefined;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= 1 && count <= workersMost))
    throw new Misuse(`${asked.spelt('workers')} ${text}: write how many, from 1 to ${workersMost}.`);
  if (!isDatabase(store))
    throw new Misuse(
      `${asked.spelt('workers')} ${text}: a SQLite file is one process's, and others that hand it their requests would bring 1.4 times as many changes at the most; give --store postgres://….`,
    );
  if (!asked.has('production'))
    throw new Misuse('--workers: the credentials of a trial run are those of one process; give --production too.');
  for (const option of ['watch', 'coverage'])
    if (asked.has(option)) throw new Misuse(`--workers and --${option} do not go together: it is about one process.`);
  return count;
}

/** Which of several workers this process is; nothing where it is none. */
export function ownPlace(): { readonly place: number; readonly isFirst: boolean } | undefined {
  const text = cluster.isWorker ? process.env[placeVariable] : undefined;
  const [, place, run] = /^(\d+):(\d+)$/.exec(text ?? '') ?? [];
  return place === undefined ? undefined : { place: Number(place), isFirst: place === '0' && run === '0' };
}

/** Lets go of the process that supervises this one, which keeps it alive. */
export function leaveSupervisor(): void {
  cluster.worker?.disconnect();
}

/**
 * Runs the same command in several processes that share its port, each begun anew where it ends, until the signal to stop: then each finishes
 * what is under way. The first goes ahead, brings the tables up and says what is wrong; the others follow once it listens.
 * @returns the exit code: that of the first where it never listened.
 */
export function supervise(count: number, log: Log): Promise<number> {
  return new Promise((resolve) => new Supervisor(count, log, resolve).start());
}

class Supervisor {
  readonly #count: number;
  readonly #log: Log;
  readonly #over: (code: number) => void;
  readonly #running = new Map<number, Worker>();
  readonly #waiting = new Map<number, NodeJS.Timeout>();
  #hasListened = false;
  #code = 0;
  #isStopping = false;

  constructor(count: number, log: Log, over: (code: number) => void) {
    this.#count = count;
    this.#log = log;
    this.#over = over;
  }

  start(): void {
    onStop((signal) => this.#stop(signal));
    this.#fork(0, 0, restMs);
  }

  #fork(place: number, run: number, waitMs: number): void {
    this.#waiting.delete(place);
    const worker = cluster.fork({ [placeVariable]: `${place}:${run}` });
    this.#running.set(place, worker);
    let sinceMs = Number.POSITIVE_INFINITY;
    worker.once('listening', () => {
      sinceMs = performance.now();
      this.#listens(place, worker);
    });
    worker.once('error', () => {});
    worker.once('exit', (code, signal) => {
      this.#running.delete(place);
      const isSound = performance.now() - sinceMs >= soundMs;
      this.#ended({ place, run, code, signal, waitMs: isSound ? restMs : waitMs });
    });
  }

  #listens(place: number, worker: Worker): void {
    const { pid } = worker.process;
    const text = `Worker ${place + 1} of ${this.#count} listens (process ${pid}).`;
    this.#log.event('worker', { worker: place + 1, of: this.#count, pid }, text);
    if (this.#hasListened) return;
    this.#hasListened = true;
    for (let next = 1; next < this.#count && !this.#isStopping; next++) this.#fork(next, 0, restMs);
  }

  #ended({ place, run, code, signal, waitMs }: Ended): void {
    if (this.#isStopping || !this.#hasListened) {
      this.#code = Math.max(this.#code, code ?? 1);
      if (this.#running.size === 0) this.#over(this.#code);
      return;
    }
    const how = signal ?? `code ${code}`;
    const text = `Worker ${place + 1} ended (${how}); another begins in ${waitMs / 1000} s.`;
    this.#log.event('worker ended', { worker: place + 1, code, signal, waitMs }, text);
    const begin = () => this.#fork(place, run + 1, Math.min(restMostMs, 2 * waitMs));
    this.#waiting.set(place, setTimeout(begin, waitMs));
  }

  #stop(signal: NodeJS.Signals): void {
    this.#isStopping = true;
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    for (const worker of this.#running.values()) worker.process.kill('SIGTERM');
    this.#log.event('stopping workers', { signal }, 'Stopping: each worker finishes what is under way.');
    if (this.#running.size === 0) this.#over(0);
  }
}

/** A worker that has ended, and how long its place is left empty. */
interface Ended {
  readonly place: number;
  readonly run: number;
  readonly code: number | null;
  readonly signal: string | null;
  readonly waitMs: number;
}

/** How long after the start: the first requests are not made to wait. */
const afterMs = 1000;

/** Gives back what reading and compiling a document left behind, about 25 MiB, which the engine would hold on to for as long as little happens. */
export function giveBackMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' });
  }, afterMs).unref();
}
