import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../crash/chance.ts';
import { type Line, openLine, type Server, startServer } from '../crash/server.ts';

/** What processes of one service are started with. */
export interface FleetSetting {
  readonly command: string;
  /** The document that a process is started with. */
  readonly document: () => string;
  readonly store: string;
  readonly more: readonly string[];
  readonly chance: Chance;
  /** Connections to each of them. */
  readonly connections: number;
  /** Whether the balancer asks `/readyz`, and knows nothing else of what is done to them. */
  readonly asksReadiness?: boolean;
}

/** One process after the other in one place. */
interface Place {
  server: Server;
  url: string | undefined;
  line: Line | undefined;
  /** Whether requests are sent there. */
  isUp: boolean;
}

const triesMost = 50;
const askAgainMs = 50;

/** What a process said when it began to listen. */
function readListening(said: readonly string[]): { readonly operations?: string } {
  const line = said.find((text) => text.startsWith('{"event":"listening"'));
  return JSON.parse(line ?? '{}') as { readonly operations?: string };
}

/** Several processes over one store, and a balancer in front that sends each request to one that is up. */
export class Fleet {
  readonly #setting: FleetSetting;
  readonly #places: (Place | undefined)[] = [];
  readonly said: string[] = [];
  /** Why connections broke with requests that were not answered, the last of them. */
  readonly unanswered: string[] = [];
  /** What those who only read were refused by a process that could not. */
  readonly unavailable: string[] = [];
  /** Waits for one that is up. */
  #waiting: (() => void)[] = [];

  constructor(setting: FleetSetting) {
    this.#setting = setting;
  }

  /** Starts a process in a place, and resolves once it answers. */
  async start(place: number): Promise<void> {
    const { command, document, store, more, connections } = this.#setting;
    const server = startServer(document(), store, more, command);
    const started: Place = { server, url: undefined, line: undefined, isUp: false };
    this.#places[place] = started;
    started.url = await server.address;
    started.line = openLine(started.url, connections, (why) => noteLast(this.unanswered, `place ${place}: ${why}`));
    if (this.#setting.asksReadiness) void this.#watch(started);
    else this.#becomeUp(started);
  }

  /** Ends a process as the machine would. */
  async kill(place: number): Promise<void> {
    const { server } = this.#leave(place);
    await server.kill();
    this.#end(place);
  }

  /** Asks a process to stop, and gives its exit code. It may be held up for a while as soon as it has heard of it. */
  async stop(place: number, heldMs = 0): Promise<number | null> {
    // One that is asked whether it is ready is left once it says that it is not.
    const { server } = this.#setting.asksReadiness ? this.#at(place) : this.#leave(place);
    const { pid, said } = server;
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
    if (pid !== undefined && heldMs > 0) {
      while (!said.some((line) => line.startsWith('{"event":"draining"'))) await delay(1);
      process.kill(pid, 'SIGSTOP');
      await delay(heldMs);
      process.kill(pid, 'SIGCONT');
    }
    const code = await server.ended;
    this.#end(place);
    return code;
  }

  /** Has a process do nothing for a while; the balancer notices. */
  async pause(place: number, ms: number): Promise<void> {
    const found = this.#leave(place);
    const { pid } = found.server;
    if (pid === undefined) return;
    process.kill(pid, 'SIGSTOP');
    await delay(ms);
    process.kill(pid, 'SIGCONT');
    this.#becomeUp(found);
  }

  #becomeUp(place: Place): void {
    place.isUp = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Asks again and again whether a process is ready, as a balancer does. */
  async #watch(place: Place): Promise<void> {
    const { operations } = readListening(place.server.said);
    while (this.#places.includes(place)) {
      const isReady = await fetch(`${operations}/readyz`).then(
        ({ ok, body }) => body?.cancel().then(() => ok) ?? ok,
        () => false,
      );
      if (isReady && !place.isUp) this.#becomeUp(place);
      place.isUp = isReady;
      await delay(askAgainMs);
    }
  }

  get up(): readonly number[] {
    return [...this.#places.keys()].filter((place) => this.#places[place]?.isUp);
  }

  urlOf(place: number): string | undefined {
    return this.#places[place]?.isUp ? this.#places[place]?.url : undefined;
  }

  /** Resolves once requests are sent there. */
  async untilUp(place: number): Promise<void> {
    while (!this.#places[place]?.isUp) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** A place where a process is up, waited for. */
  async anyUp(): Promise<number> {
    for (;;) {
      const place = this.#setting.chance.one(this.up);
      if (place !== undefined) return place;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** To whichever is up. What only asks is asked again where processes are killed: what it is about is whether what is answered is true. */
  readonly line: Line = {
    send: async (method, path, headers, body) => {
      for (let tries = 1; ; tries++) {
        const found = this.#places[await this.anyUp()];
        const answer = await found?.line?.send(method, path, headers, body);
        if (answer && method === 'GET' && answer.status >= 500)
          noteLast(this.unavailable, `${path}: ${answer.status} ${answer.text}`);
        const mayAskAgain = !this.#setting.asksReadiness && method === 'GET' && (answer === undefined || answer.status === 503);
        if (!mayAskAgain || tries === triesMost) return answer;
        await delay(tries);
      }
    },
    close: () => {},
  };

  async close(): Promise<void> {
    await Promise.all(this.#places.map((_, place) => this.kill(place).catch(() => {})));
  }

  #leave(place: number): Place {
    const found = this.#at(place);
    found.isUp = false;
    return found;
  }

  #at(place: number): Place {
    const found = this.#places[place];
    if (!found) throw new Error(`Nothing was started in place ${place}.`);
    return found;
  }

  #end(place: number): void {
    const found = this.#places[place];
    found?.line?.close();
    this.said.push(...(found?.server.said.slice(1) ?? []));
    if (this.said.length > saidMost) this.said.splice(0, this.said.length - saidMost);
    this.#places[place] = undefined;
  }
}

/** Of so many lines that processes wrote it is told. */
const saidMost = 200;

function noteLast(list: string[], line: string): void {
  list.push(line);
  if (list.length > saidMost) list.shift();
}
