import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the reference service does wrong; nothing where it does what it should. */
export type Fault =
  | 'secret' // whatever the signature is, it is good
  | 'body' // the body is not looked at
  | 'query' // nor the query
  | 'target' // what is signed is the path alone
  | 'method' // nor the method
  | 'time' // any time will do
  | 'future' // a time to come too
  | 'replay' // a nonce is taken again
  | 'covered' // what has to be covered is not asked for
  | 'parameters' // what the signature says of itself is not signed
  | 'algorithm' // whatever algorithm is named
  | 'unsigned'; // who signs nothing is somebody

const secret = 'reference-secret-of-32-characters';
export const credential = `key_reference:${secret}`;

/** A service of notes that somebody else wrote: it knows its callers by their signatures, of either kind. */
export async function openReference(kind: 'hmac' | 'message', fault?: Fault) {
  const notes: { readonly id: string; readonly owner: string; readonly text: string }[] = [];
  const nonces = new Set<string>();
  const known = kind === 'hmac' ? byHmac : byMessage;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const answer = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const refusal = known(request, body, fault, nonces);
    if (refusal !== undefined) {
      response.setHeader('www-authenticate', 'Signature realm="Vault"');
      const problem = { type: 'about:blank', title: 'Unauthorized', status: 401, detail: 'No.', code: refusal };
      return response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
    }
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const id = /^\/v1\/notes\/([^/]+)$/.exec(url.pathname)?.[1];
    if (request.method === 'POST') {
      if (!/^\s*\{.*\}\s*$/s.test(body)) return answer(400, { status: 400 });
      const note = { id: randomUUID(), owner: 'm1', text: JSON.parse(body).text };
      notes.push(note);
      response.setHeader('location', `/v1/notes/${note.id}`);
      return answer(201, note);
    }
    const text = url.searchParams.get('text');
    if (id === undefined)
      return answer(
        200,
        notes.filter((note) => text === null || note.text === text),
      );
    const found = notes.find((note) => note.id === id);
    return found ? answer(200, found) : answer(404, { status: 404 });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // The cast holds: it listens on a port.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function lateness(seconds: number, fault: Fault | undefined): string | undefined {
  const off = Date.now() / 1000 - seconds;
  if (off > 120 && fault !== 'time') return 'over';
  return off < -120 && fault !== 'future' ? 'bad' : undefined;
}

function byHmac(
  { method = '', url = '', headers }: IncomingMessage,
  body: string,
  fault: Fault | undefined,
  nonces: Set<string>,
) {
  const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-signature'] ?? '')) ?? [];
  if (headers['x-signature'] === undefined) return fault === 'unsigned' ? undefined : 'none';
  const [key, nonce] = [headers['x-key'], headers['x-nonce']];
  if (time === undefined || typeof key !== 'string' || typeof nonce !== 'string') return 'bad';
  const late = lateness(Number(time), fault);
  if (late !== undefined) return late;
  if (key !== 'key_reference' && fault !== 'secret') return 'bad';
  // What is not looked at may be whatever was signed.
  const others = (name: Fault, own: string, also: readonly string[]) => (fault === name ? [own, ...also] : [own]);
  const isGood = others('method', method, ['PUT', 'POST', 'GET']).some((verb) =>
    others('query', fault === 'target' ? (url.split('?')[0] ?? '') : url, [
      `${url}?ninefold=verify`,
      `${url}&ninefold=verify`,
    ]).some((target) =>
      others('body', body, [`${body} `]).some(
        (text) => createHmac('sha256', secret).update(`${verb}\n${target}\n${time}\n${nonce}\n${text}`).digest('hex') === given,
      ),
    ),
  );
  if (!isGood && fault !== 'secret') return 'bad';
  if (nonces.has(nonce) && fault !== 'replay') return 'bad';
  nonces.add(nonce);
  return undefined;
}

function byMessage({ method = '', url = '', headers }: IncomingMessage, body: string, fault: Fault | undefined) {
  const [input, signature] = [headers['signature-input'], headers.signature];
  if (signature === undefined) return fault === 'unsigned' ? undefined : 'none';
  const [, parameters = '', list = '', rest = ''] = /^\w+=((\([^)]*\))(.*))$/.exec(String(input ?? '')) ?? [];
  const made = /^\w+=:([^:]*):$/.exec(String(signature))?.[1];
  const names = [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  const said = (name: string) => new RegExp(`;${name}="?([^";]+)`).exec(rest)?.[1];
  const wanted = ['@method', '@target-uri', ...(body === '' ? [] : ['content-digest'])];
  if (fault !== 'covered' && wanted.some((name) => !names.includes(name))) return 'bad';
  if (said('keyid') !== 'key_reference' && fault !== 'secret') return 'bad';
  if (said('alg') !== 'hmac-sha256' && fault !== 'algorithm') return 'bad';
  const late = lateness(Number(said('created')), fault);
  if (late !== undefined) return late;
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  if (names.includes('content-digest') && headers['content-digest'] !== digest && fault !== 'body') return 'bad';
  const values: Record<string, string> = { '@method': method, '@target-uri': `http://${headers.host}${url}` };
  const lines = names.map((name) => `"${name}": ${values[name] ?? headers[name] ?? ''}`);
  // One who does not sign what is said of the signature takes whatever is said.
  const signed = (text: string) =>
    createHmac('sha256', secret)
      .update([...lines, `"@signature-params": ${text}`].join('\n'))
      .digest('base64');
  const others =
    fault === 'parameters'
      ? [-1, 1].map((by) => parameters.replace(/created=(\d+)/, (_, time) => `created=${Number(time) + by}`))
      : [];
  const algorithms = fault === 'algorithm' ? [parameters.replace(/alg="[^"]*"/, 'alg="hmac-sha256"')] : [];
  return fault === 'secret' || [parameters, ...others, ...algorithms].some((text) => signed(text) === made) ? undefined : 'bad';
}
