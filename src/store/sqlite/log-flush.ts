import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

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
