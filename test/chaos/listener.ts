import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Envelope } from '../crash/told.ts';
import type { Fleet } from './fleet.ts';

/** Reads the stream of events of one process after another, and goes on where the last one ended. */
export interface Listener {
  readonly heard: number;
  /** Whether it is told of all that happens from now on. */
  readonly isListening: boolean;
  /** How often it had to begin at another one. */
  readonly connections: number;
  close(): void;
}

const againMs = 20;

export function startListener(
  fleet: Pick<Fleet, 'anyUp' | 'urlOf'>,
  heard: (envelope: Envelope) => void,
  credential: Readonly<Record<string, string>> = {},
): Listener {
  let lastId: string | undefined;
  let isOver = false;
  let end = () => {};
  const listener = { heard: 0, isListening: false, connections: 0, close };
  void listen();

  function close(): void {
    isOver = true;
    end();
  }

  async function listen(): Promise<void> {
    while (!isOver) {
      const url = fleet.urlOf(await fleet.anyUp());
      if (url === undefined || isOver) continue;
      listener.connections += 1;
      await readStream(url);
      if (!isOver) await delay(againMs);
    }
  }

  /** Resolves once the stream has ended, however it did. */
  function readStream(url: string): Promise<void> {
    return new Promise((resolve) => {
      const headers = { accept: 'text/event-stream', ...credential, ...(lastId !== undefined && { 'last-event-id': lastId }) };
      const asked = get(`${url}/events/stream`, { headers, agent: false }, (response) => {
        // Where it begins is settled before its head goes out, and where it goes on too.
        if (response.statusCode === 200) listener.isListening = true;
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text = (text + part).replace(/[\s\S]*?\n\n/g, (block) => {
            if (response.statusCode === 200) hear(block);
            return '';
          });
        });
        response.on('error', () => resolve());
        response.on('close', () => {
          listener.isListening &&= lastId !== undefined;
          resolve();
        });
      });
      asked.on('error', () => resolve());
      end = () => asked.destroy();
    });
  }

  function hear(block: string): void {
    const fields = new Map(
      block.split('\n').flatMap((line) => {
        const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, value ?? ''] as const];
      }),
    );
    const [id, data] = [fields.get('id'), fields.get('data')];
    if (id === undefined || data === undefined) return;
    lastId = id;
    listener.heard += 1;
    heard(JSON.parse(data) as Envelope);
  }

  return listener;
}
