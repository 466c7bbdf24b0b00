import { connect } from 'node:net';

/** What came back over a connection that carried nothing else. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** How long a connection may be silent before a test calls it a hang. */
const silenceMs = 10_000;

/** Sends bytes as they are and reads until the other side ends. Status 0 = it ended without an answer. */
export function sendRaw(port: number, bytes: Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(bytes));
    socket.setTimeout(silenceMs, () => {
      socket.destroy();
      reject(new Error(`Nothing came back for ${silenceMs} ms to ${bytes.subarray(0, 200).toString('latin1')}`));
    });
    socket.on('data', (piece) => pieces.push(piece));
    // Whoever is refused before all was sent may be cut off while still sending.
    socket.on('error', () => {});
    socket.on('close', () => resolve(readAnswer(Buffer.concat(pieces))));
  });
}

/** A request of HTTP/1.1, in bytes: nothing is tidied up. */
export function rawRequest(method: string, target: string, headers: readonly string[] = [], body?: Buffer): Buffer {
  const length = body ? [`Content-Length: ${body.byteLength}`] : [];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...length, ...headers].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

function readAnswer(bytes: Buffer): RawAnswer {
  const text = bytes.toString('utf8');
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(lines.map((header) => [header.split(':')[0]!.toLowerCase(), header.replace(/^[^:]*:\s*/, '')]));
  const body = text.slice(end + 4);
  return { status: Number(line.split(' ')[1] ?? 0), headers, body: headers.get('transfer-encoding') ? unchunk(body) : body };
}

function unchunk(body: string): string {
  let rest = Buffer.from(body);
  const pieces: Buffer[] = [];
  for (;;) {
    const at = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.subarray(0, at).toString(), 16);
    if (!(size > 0)) return Buffer.concat(pieces).toString();
    pieces.push(rest.subarray(at + 2, at + 2 + size));
    rest = rest.subarray(at + 4 + size);
  }
}
