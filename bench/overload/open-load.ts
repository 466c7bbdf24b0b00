/** An open load: requests come as often as is said, whether the server keeps up or not, and whoever waits too long goes away. */
import { connect, type Socket } from 'node:net';
import { AnswerReader } from '../answer-reader.ts';

/** A stretch of the load. */
export interface Stretch {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenLoadJob {
  readonly port: number;
  /** Connections at the most. A request for which none is free is not sent, and counts as one that failed. */
  readonly connections: number;
  /** Whole requests, head and body, one after the other and from the beginning again. */
  readonly requests: readonly string[];
  /** A text that stands once in a request, and gives way to a number of as many digits that is sent in no other. */
  readonly unique?: string;
  /** What answers are good. */
  readonly statuses: readonly number[];
  /** After so long nobody waits any more, and the connection is closed. */
  readonly deadlineMs: number;
  readonly stretches: readonly Stretch[];
  /** Called at the end of each, before the next begins. */
  readonly stretchEnded?: () => void;
}

/** What came of the requests that were due in one stretch. */
export interface StretchResult {
  readonly due: number;
  /** Answered as was asked for, within the deadline. */
  readonly good: number;
  /** Answered with 429 or 503. */
  readonly refused: number;
  /** Nobody waited for an answer any more. */
  readonly late: number;
  /** No connection was free. */
  readonly unsent: number;
  /** Answered otherwise, or cut off. */
  readonly failed: number;
  readonly firstFailure?: string;
  readonly goodP50Ms: number;
  readonly goodP99Ms: number;
  readonly refusedP99Ms: number;
  /** From its beginning until the last request in it that was not good or took longer than 100 ms; 0 = there was none. */
  readonly settledMs: number;
}

/** Answers that take longer are not those of a service that has room. */
const promptMs = 100;
const tickMs = 4;

/** Puts the load on the server; one result for each stretch. */
export function openLoad(job: OpenLoadJob): Promise<StretchResult[]> {
  return new OpenLoad(job).run();
}

class Tally {
  readonly fromMs: number;
  readonly goodMs: number[] = [];
  readonly refusedMs: number[] = [];
  readonly counts = { due: 0, late: 0, unsent: 0, failed: 0 };
  firstFailure: string | undefined;
  settledMs = 0;

  constructor(fromMs: number) {
    this.fromMs = fromMs;
  }

  unsettled(dueMs: number): void {
    this.settledMs = Math.max(this.settledMs, dueMs - this.fromMs);
  }

  result(): StretchResult {
    const good = this.goodMs.toSorted((a, b) => a - b);
    const refused = this.refusedMs.toSorted((a, b) => a - b);
    return {
      ...this.counts,
      good: good.length,
      refused: refused.length,
      ...(this.firstFailure !== undefined && { firstFailure: this.firstFailure }),
      goodP50Ms: at(good, 0.5),
      goodP99Ms: at(good, 0.99),
      refusedP99Ms: at(refused, 0.99),
      settledMs: this.settledMs,
    };
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

interface Line {
  readonly socket: Socket;
  /** Under which stretch its request counts; nothing while none is under way. */
  asked: { readonly tally: Tally; readonly dueMs: number } | undefined;
  isOpen: boolean;
}

class OpenLoad {
  readonly #job: OpenLoadJob;
  readonly #requests: readonly { readonly bytes: Buffer; readonly uniqueAt: number }[];
  readonly #free: Line[] = [];
  readonly #lines = new Set<Line>();
  #sent = 0;

  constructor(job: OpenLoadJob) {
    this.#job = job;
    this.#requests = job.requests.map((text) => {
      const bytes = Buffer.from(text);
      return { bytes, uniqueAt: job.unique === undefined ? -1 : bytes.indexOf(job.unique) };
    });
  }

  async run(): Promise<StretchResult[]> {
    const tallies: Tally[] = [];
    for (const stretch of this.#job.stretches) {
      tallies.push(await this.#through(stretch));
      this.#job.stretchEnded?.();
    }
    await pause(this.#job.deadlineMs + 2 * tickMs);
    this.#sweep();
    for (const { socket } of this.#lines) socket.destroy();
    return tallies.map((tally) => tally.result());
  }

  async #through({ perSecond, seconds }: Stretch): Promise<Tally> {
    const tally = new Tally(performance.now());
    const untilMs = tally.fromMs + seconds * 1000;
    for (let nowMs = tally.fromMs; nowMs < untilMs; nowMs = performance.now()) {
      const owed = Math.floor(((nowMs - tally.fromMs) / 1000) * perSecond) - tally.counts.due;
      for (let n = 0; n < owed; n++) this.#send(tally, nowMs);
      this.#sweep();
      await pause(tickMs);
    }
    return tally;
  }

  #send(tally: Tally, dueMs: number): void {
    tally.counts.due += 1;
    const line = this.#free.pop() ?? (this.#lines.size < this.#job.connections ? this.#open() : undefined);
    if (!line) {
      tally.counts.unsent += 1;
      tally.unsettled(dueMs);
      return;
    }
    line.asked = { tally, dueMs };
    if (line.isOpen) line.socket.write(this.#next());
  }

  #next(): Buffer {
    const { bytes, uniqueAt } = this.#requests[this.#sent++ % this.#requests.length]!;
    if (uniqueAt < 0) return bytes;
    // The socket keeps what it could not write at once, so each has bytes of its own.
    const own = Buffer.from(bytes);
    own.write(String(this.#sent).padStart(this.#job.unique!.length, '0'), uniqueAt, 'latin1');
    return own;
  }

  #open(): Line {
    const answer = new AnswerReader();
    const socket = connect({
      host: '127.0.0.1',
      port: this.#job.port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(16 * 1024),
        callback: (length: number, bytes: Uint8Array) => {
          // It is the Buffer that is handed over above.
          if (answer.take(bytes as Buffer, length)) this.#answered(line, answer.status);
          return true;
        },
      },
    });
    const line: Line = { socket, asked: undefined, isOpen: false };
    this.#lines.add(line);
    socket.on('connect', () => {
      line.isOpen = true;
      if (line.asked) socket.write(this.#next());
    });
    socket.on('error', (error) => this.#failed(line, error.message));
    socket.on('end', () => this.#failed(line, 'the server closed a connection'));
    socket.on('close', () => this.#gone(line));
    return line;
  }

  #answered(line: Line, status: number): void {
    const { asked } = line;
    if (!asked) return;
    line.asked = undefined;
    this.#free.push(line);
    const { tally, dueMs } = asked;
    const tookMs = performance.now() - dueMs;
    const isGood = this.#job.statuses.includes(status);
    if (isGood && tookMs <= this.#job.deadlineMs) tally.goodMs.push(tookMs);
    else if (status === 503 || status === 429) tally.refusedMs.push(tookMs);
    else fail(tally, `status ${status} after ${Math.round(tookMs)} ms`);
    if (!isGood || tookMs > promptMs) tally.unsettled(dueMs);
  }

  #failed(line: Line, why: string): void {
    const { asked } = line;
    line.asked = undefined;
    line.socket.destroy();
    if (!asked) return;
    fail(asked.tally, why);
    asked.tally.unsettled(asked.dueMs);
  }

  #gone(line: Line): void {
    this.#lines.delete(line);
    const index = this.#free.indexOf(line);
    if (index >= 0) this.#free.splice(index, 1);
  }

  /** Ends those that have waited for too long. */
  #sweep(): void {
    const beforeMs = performance.now() - this.#job.deadlineMs;
    for (const line of this.#lines) {
      const { asked } = line;
      if (!asked || asked.dueMs > beforeMs) continue;
      line.asked = undefined;
      asked.tally.counts.late += 1;
      asked.tally.unsettled(asked.dueMs);
      line.socket.destroy();
    }
  }
}

function fail(tally: Tally, why: string): void {
  tally.counts.failed += 1;
  tally.firstFailure ??= why;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
