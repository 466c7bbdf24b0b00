/** An HTTP/1.1 load generator: keep-alive connections over plain sockets, one request in flight on each. */
import { connect, type Socket } from 'node:net';
import { AnswerReader } from './answer-reader.ts';

/** What to ask of a server, and for how long. */
export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  /** Whole requests, head and body; they are sent in this order, from the beginning again when they run out. */
  readonly requests: readonly string[];
  /** A text that stands once in a request, and gives way to a number of as many digits that is sent in no other. */
  readonly unique?: string;
  /** The status that every answer must have. */
  readonly status: number;
  /** How long answers are counted, after `warmSeconds` in which they are not. */
  readonly seconds: number;
  readonly warmSeconds: number;
  /** Stop after this many requests instead; then `seconds` is the longest it may take. */
  readonly count?: number;
}

/** What came of it. */
export interface LoadResult {
  readonly answers: number;
  /** With those in which nothing was counted. */
  readonly allAnswers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers of another status, broken connections, and requests that got no answer. */
  readonly errors: number;
  readonly firstError?: string;
  /** How much of its core the generator used: near 1, the generator was the limit and not the server. */
  readonly generatorBusy: number;
}

/** How long to wait for answers still under way when time is up. */
const graceMs = 5_000;
/** A server that is broken is given up on after this many errors. */
const mostErrors = 1_000;

/** Puts the load on the server of the job, and measures. */
export function load(job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve) => new Load(job, resolve));
}

/** Counts on through all the jobs of one process. */
let lastUnique = 0;

class Load {
  readonly #job: LoadJob;
  readonly #settle: (result: LoadResult) => void;
  readonly #requests: readonly Buffer[];
  /** Where the unique text begins in each request; -1 = it has none. */
  readonly #uniqueAt: readonly number[];
  readonly #sockets = new Set<Socket>();
  readonly #latenciesMs: number[] = [];
  readonly #cpuBefore = process.cpuUsage();
  readonly #startMs = performance.now();
  readonly #fromMs: number;
  readonly #untilMs: number;
  readonly #deadline: NodeJS.Timeout;
  #sent = 0;
  #allAnswers = 0;
  #lastAnswerMs = 0;
  #errors = 0;
  #firstError: string | undefined;

  constructor(job: LoadJob, settle: (result: LoadResult) => void) {
    this.#job = job;
    this.#settle = settle;
    this.#requests = job.requests.map((text) => Buffer.from(text));
    const { unique } = job;
    this.#uniqueAt = unique === undefined ? [] : this.#requests.map((bytes) => bytes.indexOf(unique));
    this.#fromMs = this.#startMs + job.warmSeconds * 1000;
    this.#untilMs = this.#fromMs + job.seconds * 1000;
    this.#deadline = setTimeout(() => this.#giveUp(), this.#untilMs - this.#startMs + graceMs);
    for (let i = 0; i < job.connections; i++) this.#open();
  }

  /** One connection: it asks, reads, and asks again until the load is over. */
  #open(): void {
    const answer = new AnswerReader();
    let sentMs = 0;
    const ask = (nowMs: number): void => {
      sentMs = nowMs;
      socket.write(this.#next());
    };
    const read = (length: number, bytes: Uint8Array): boolean => {
      // It is the Buffer that is handed over below.
      if (!answer.take(bytes as Buffer, length)) return true;
      const nowMs = performance.now();
      this.#count(answer.status, sentMs, nowMs);
      if (this.#isOver(nowMs)) this.#leave(socket);
      else ask(nowMs);
      return true;
    };
    const socket = connect({
      host: '127.0.0.1',
      port: this.#job.port,
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(64 * 1024), callback: read },
    });
    this.#sockets.add(socket);
    socket.on('connect', () => ask(performance.now()));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('end', () => this.#fail('the server closed a connection'));
    socket.on('close', () => {
      // One that was left is not in the set; one that broke is opened again.
      if (!this.#sockets.has(socket)) return;
      if (this.#isOver(performance.now())) this.#leave(socket);
      else setTimeout(() => this.#reopen(socket), 10);
    });
  }

  #next(): Buffer {
    const i = this.#sent++ % this.#requests.length;
    const request = this.#requests[i]!;
    const at = this.#uniqueAt[i];
    // A request that was sent has left the buffer long before its turn comes again.
    if (at !== undefined && at >= 0) request.write(String(++lastUnique).padStart(this.#job.unique!.length, '0'), at, 'latin1');
    return request;
  }

  #reopen(broken: Socket): void {
    this.#open();
    this.#sockets.delete(broken);
  }

  #count(status: number, sentMs: number, nowMs: number): void {
    this.#allAnswers++;
    if (status !== this.#job.status) this.#fail(`status ${status} instead of ${this.#job.status}`);
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) return;
    this.#latenciesMs.push(nowMs - sentMs);
    this.#lastAnswerMs = nowMs;
  }

  #fail(what: string): void {
    this.#errors++;
    this.#firstError ??= what;
  }

  #isOver(nowMs: number): boolean {
    const { count } = this.#job;
    return nowMs >= this.#untilMs || this.#errors >= mostErrors || (count !== undefined && this.#sent >= count);
  }

  #leave(socket: Socket): void {
    this.#sockets.delete(socket);
    socket.destroy();
    if (this.#sockets.size === 0) this.#finish();
  }

  #giveUp(): void {
    for (const socket of [...this.#sockets]) {
      this.#fail('no answer when time was up');
      this.#leave(socket);
    }
  }

  #finish(): void {
    clearTimeout(this.#deadline);
    const { seconds, count } = this.#job;
    const cpu = process.cpuUsage(this.#cpuBefore);
    const countedSeconds = count === undefined ? seconds : (this.#lastAnswerMs - this.#fromMs) / 1000;
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const answers = sorted.length;
    this.#settle({
      answers,
      allAnswers: this.#allAnswers,
      perSecond: answers === 0 ? 0 : answers / countedSeconds,
      p50Ms: sorted[Math.floor(answers * 0.5)] ?? 0,
      p99Ms: sorted[Math.floor(answers * 0.99)] ?? 0,
      errors: this.#errors,
      ...(this.#firstError === undefined ? {} : { firstError: this.#firstError }),
      generatorBusy: (cpu.user + cpu.system) / 1000 / (performance.now() - this.#startMs),
    });
  }
}
