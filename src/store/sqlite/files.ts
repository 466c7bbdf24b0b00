/** What the driver cannot do with the files of a store: they are made for their owner alone, put in their place, and flushed. */

import {
  chmodSync,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/**
 * A new file is for its owner alone, and so are those that SQLite lays beside it, which have its mode. One that is there is not opened:
 * whoever closes a file gives up all locks that its process has on it. One that everybody could read is made its owner's; what its owner
 * has given to a group stays given.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or cannot be made: SQLite says what is wrong then.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) closeToOthers(file);
  }
}

/**
 * So many bytes of the beginning of a file; fewer are filled with zeros, and nothing where it cannot be read. Whoever closes a file gives up
 * all locks that its process has on it: it is only asked for where this process does not have it open.
 */
export function headOf(path: string, bytes: number): Buffer | undefined {
  const head = Buffer.alloc(bytes);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, head, 0, bytes, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
  return head;
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

function closeToOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // A folder that is named by mistake is no store, and whose it is, is none of ours.
  if (!found?.isFile() || (found.mode & 0o007) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch {
    // Somebody else's: whoever may not change its mode says so when it is opened.
  }
}

/** Has a new file written beside its place and put there once it is whole and on disk. @throws where a file is there already. */
export function putWhole(path: string, write: (part: string) => void): void {
  if (sizeOf(path) !== undefined) throw new Error(`${path} is there already; choose another name`);
  const part = beside(path, write);
  try {
    // Unlike a rename, this fails where somebody has made a file of that name meanwhile.
    linkSync(part, path);
  } finally {
    rmSync(part);
  }
  sync(dirname(path));
}

/** Has a file written anew and puts it in the place of the one that is there, which is kept as `kept`. There is a whole one at every moment. */
export function replaceWhole(path: string, kept: string, write: (part: string) => void): void {
  const part = beside(path, write);
  if (sizeOf(path) !== undefined) linkSync(path, kept);
  // A log that could not be folded into a damaged file must not be taken for the new one's.
  if (sizeOf(`${path}-wal`) !== undefined) renameSync(`${path}-wal`, `${kept}-wal`);
  rmSync(`${path}-shm`, { force: true });
  renameSync(part, path);
  sync(dirname(path));
}

function beside(path: string, write: (part: string) => void): string {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  makePrivate(part);
  try {
    write(part);
    sync(part);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  return part;
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** How many bytes a file has; nothing where there is none. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Brings what was written to a file to disk, and says when it is there. */
export type Sync = (file: number, done: (error: Error | null) => void) => void;

/** So long a flush may wait for a thread: all of them may hash passwords or look up names. Beyond it is carried out at once. */
const LATE_MS = 100;

/** A flush, and those who wait for it. */
interface Flush {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Brings SQLite's log to disk beside the event loop: a commit writes to the log and returns, requests are read and answered while the disk works, and
 * whoever has seen what was committed is answered once it is on disk. One flush is under way at a time; what is committed meanwhile shares the next.
 * Once a flush has failed nobody knows what the disk holds (the system may forget what it could not write), so none after it succeeds.
 */
export class LogFlush {
  readonly #file: number;
  readonly #sync: Sync;
  #running: Flush | undefined;
  #next: Flush | undefined;
  #failed: Flush | undefined;

  constructor(file: number, sync: Sync) {
    this.#file = file;
    this.#sync = sync;
  }

  /**
   * Takes the flush of each commit over from a database that was opened and written to; nothing where it has no log. SQLite itself still brings the log
   * to disk before it moves pages from it, and its head before it begins anew (https://www.sqlite.org/pragma.html#pragma_synchronous, NORMAL).
   */
  static of(database: DatabaseSync, path: string, sync: Sync = fdatasync): LogFlush | undefined {
    if (database.prepare('PRAGMA journal_mode').get()?.journal_mode !== 'wal') return undefined;
    const flush = new LogFlush(openSync(`${path}-wal`, 'r+'), sync);
    database.exec('PRAGMA synchronous = NORMAL');
    return flush;
  }

  /** Called after each commit. */
  committed(): void {
    if (this.#failed) return;
    if (this.#running) this.#next ??= makeFlush();
    else this.#run(makeFlush());
  }

  /** Resolves once all is on disk that is committed by now, and rejects where that failed; nothing where it is there already. */
  get durable(): Promise<void> | undefined {
    return (this.#failed ?? this.#next ?? this.#running)?.promise;
  }

  /** Settles once the flush that is under way has ended. */
  get running(): Promise<void> | undefined {
    return this.#running?.promise;
  }

  /** Whether a flush has failed. */
  get hasFailed(): boolean {
    return this.#failed !== undefined;
  }

  /** Brings all that is committed to disk before it returns. */
  now(): void {
    fdatasyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  #run(flush: Flush): void {
    this.#running = flush;
    const late = setTimeout(() => this.#atOnce(flush), LATE_MS);
    this.#sync(this.#file, (error) => {
      clearTimeout(late);
      this.#ended(flush, error);
    });
  }

  #atOnce(flush: Flush): void {
    try {
      this.now();
      this.#ended(flush, null);
    } catch (error) {
      this.#ended(flush, error);
    }
  }

  #ended(flush: Flush, error: unknown): void {
    if (flush !== this.#running) return;
    const next = this.#next;
    this.#running = undefined;
    this.#next = undefined;
    if (error) {
      this.#failed = flush;
      flush.reject(error);
      next?.reject(error);
      return;
    }
    if (next) this.#run(next);
    flush.resolve();
  }
}

function makeFlush(): Flush {
  const flush = Promise.withResolvers<void>();
  // Nobody may wait for it; those who do are told.
  flush.promise.catch(() => {});
  return flush;
}
