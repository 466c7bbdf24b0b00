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

/** Several processes over one store, and a balancer in front that sends each request to one that is up. */
export class Fleet {
  readonly #setting: FleetSetting;
  readonly #places: (Place | undefined)[] = [];
  readonly said: string[] = [];
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
    started.line = openLine(started.url, connections);
    started.isUp = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Ends a process as the machine would. */
  async kill(place: number): Promise<void> {
    const { server } = this.#leave(place);
    await server.kill();
    this.#end(place);
  }

  /** Asks a process to stop, and gives its exit code. */
  async stop(place: number): Promise<number | null> {
    const { server } = this.#leave(place);
    if (server.pid !== undefined) process.kill(server.pid, 'SIGTERM');
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
    found.isUp = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get up(): readonly number[] {
    return [...this.#places.keys()].filter((place) => this.#places[place]?.isUp);
  }

  urlOf(place: number): string | undefined {
    return this.#places[place]?.isUp ? this.#places[place]?.url : undefined;
  }

  /** A place where a process is up, waited for. */
  async anyUp(): Promise<number> {
    for (;;) {
      const place = this.#setting.chance.one(this.up);
      if (place !== undefined) return place;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** To whichever is up. What only asks, and is answered that the store cannot be read for now, is asked again. */
  readonly line: Line = {
    send: async (method, path, headers, body) => {
      for (let tries = 1; ; tries++) {
        const found = this.#places[await this.anyUp()];
        const answer = await found?.line?.send(method, path, headers, body);
        const mayAskAgain = method === 'GET' && (answer === undefined || answer.status === 503);
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
    const found = this.#places[place];
    if (!found) throw new Error(`Nothing was started in place ${place}.`);
    found.isUp = false;
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
