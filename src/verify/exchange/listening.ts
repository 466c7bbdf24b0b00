import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const everyMs = 100;

/** Whether somebody takes connections there again, within so many milliseconds. */
export async function listensWithin(origin: string, ms: number): Promise<boolean> {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const endMs = Date.now() + ms;
  while (Date.now() < endMs) {
    await pause(everyMs);
    if (await isListening(host, Number(port || (protocol === 'https:' ? 443 : 80)), everyMs)) return true;
  }
  return false;
}

function isListening(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const done = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => done(true));
    socket.on('timeout', () => done(false));
    socket.on('error', () => done(false));
  });
}
