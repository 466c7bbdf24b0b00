import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** One event of a stream, as a browser would give it. */
export interface Heard {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };
}

export interface Listener {
  readonly heard: Heard[];
  /** Comments, which nobody is shown. */
  readonly comments: () => number;
  readonly status: number;
  readonly isOver: () => boolean;
  /** Waits until so many events were heard. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Reads server-sent events (WHATWG HTML section 9.2.6) from a `Response`. */
export function listenTo(response: Response): Listener {
  const heard: Heard[] = [];
  let comments = 0;
  let isOver = false;
  const reader = response.body?.getReader();
  void (async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = (await reader?.read().catch(() => undefined)) ?? { done: true, value: undefined };
      if (done) break;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (block.startsWith(':')) comments += 1;
        else heard.push(eventOf(block));
      }
    }
    isOver = true;
  })();
  return {
    heard,
    status: response.status,
    comments: () => comments,
    isOver: () => isOver,
    async until(count) {
      const end = Date.now() + 5_000;
      while (heard.length < count && !isOver && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
    },
    async close() {
      await reader?.cancel();
    },
  };
}

function eventOf(block: string): Heard {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(': ') + 2)]),
  );
  return { id: fields.id ?? '', event: fields.event ?? '', data: JSON.parse(fields.data ?? 'null') };
}

/** Opens a stream over a socket and reads nothing of it until it is told to. */
export async function openUnread(test: TestContext, url: string, headers: Readonly<Record<string, string>>): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  test.after(() => socket.destroy());
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => resolve());
  });
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return socket;
}
