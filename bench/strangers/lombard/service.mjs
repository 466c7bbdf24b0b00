// The Lombard: lends money on things. `node service.mjs --port N --clock-port M [--fault ID]`
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { clockDoor } from './clock.mjs';
import { broken, Problem } from './problems.mjs';
import { House } from './house.mjs';
import { Gate } from './gate.mjs';

const { values: options } = parseArgs({
  options: { port: { type: 'string', default: '4870' }, 'clock-port': { type: 'string' }, fault: { type: 'string' } },
});
const house = new House(options.fault ?? process.env.LOMBARD_FAULT ?? '');
const gate = new Gate(house);

const LARGEST_READ = 1 << 20;
async function bodyOf(incoming) {
  const chunks = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length <= LARGEST_READ) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(outgoing, { status, json, headers = {} }, headOnly) {
  if (outgoing.destroyed) return;
  if (json === undefined) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(json));
  outgoing.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  outgoing.end(headOnly ? undefined : bytes);
}

const server = createServer({ maxHeaderSize: 1 << 16 }, async (incoming, outgoing) => {
  try {
    const body = await bodyOf(incoming);
    let headerBytes = 0;
    for (const one of incoming.rawHeaders) headerBytes += Buffer.byteLength(one) + 2;
    const answer = await gate.answer({
      method: incoming.method,
      target: incoming.url,
      headers: incoming.headers,
      chunked: incoming.headers['transfer-encoding'] !== undefined,
      headerBytes,
      body,
      address: incoming.socket.remoteAddress,
    });
    send(outgoing, answer, incoming.method === 'HEAD');
  } catch (error) {
    console.error(error);
    send(outgoing, broken(error instanceof Problem ? error : new Problem('broken')));
  }
});
server.listen(Number(options.port), '127.0.0.1', () => console.log(`lombard listens on ${options.port}`));
if (options['clock-port']) clockDoor(house, Number(options['clock-port']));
