/** A relay of web hooks: subscribers' addresses lead over it while they are on their way, so that what is delivered can be altered. */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bent, Passing } from '../../test/verify/stand.ts';
import type { Altering } from './alteration.ts';

export interface Relay {
  /** A request with the addresses of receivers led over this relay. */
  bend(request: Bent): Partial<Bent>;
  /** An answer with the addresses as they were given. */
  spoil(passing: Passing): Partial<Passing>;
  close(): Promise<void>;
}

const receiver = /http:\/\/(127\.0\.0\.1:\d+)\//g;

/** Opens one on a free port of this machine. */
export async function openRelay(deliver: NonNullable<Altering['deliver']>): Promise<Relay> {
  const server = createServer(async (request, response) => {
    const [, host = '', ...path] = (request.url ?? '').split('/');
    const text = await textOf(request).catch(() => undefined);
    if (text === undefined) return;
    const told = { headers: request.headers, text };
    const altered = deliver(told);
    if (altered === undefined) return void response.writeHead(204).end();
    const { headers, text: body } = { ...told, ...altered };
    const { 'content-length': _length, host: _host, ...kept } = headers;
    const forward = httpRequest(
      `http://${host}/${path.join('/')}`,
      { method: request.method ?? 'POST', headers: { ...kept, 'content-length': String(Buffer.byteLength(body)) } },
      (answer) => {
        answer.resume();
        response.writeHead(answer.statusCode ?? 500, answer.headers).end();
      },
    );
    forward.on('error', () => response.destroy());
    forward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast holds: a server that listens on a port has an address with one.
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    bend: ({ text }) => (receiver.test(text) ? { text: text.replaceAll(receiver, `${own}$1/`) } : {}),
    spoil: ({ text }) =>
      text.includes(own) ? { text: text.replaceAll(new RegExp(`${own}(127\\.0\\.0\\.1:\\d+)/`, 'g'), 'http://$1/') } : {},
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
