import { createHash, createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto';

/** What a test sends. */
export interface Asked {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A key as a test holds it: the text that was given out, or a private key. */
export interface Held {
  readonly keyId: string;
  readonly secret: string;
  readonly algorithm?: string;
}

/** How a test signs otherwise than it should. */
export interface Otherwise {
  readonly components?: readonly string[];
  readonly created?: number;
  readonly expires?: number;
  readonly alg?: string;
  readonly nonce?: string;
  readonly host?: string;
  readonly scheme?: string;
}

/**
 * Signs as RFC 9421 says, in the fewest words that do: it shares nothing with the code that it tests. Components are those of the
 * list; a `content-digest` is made where it is covered.
 */
export function signedMessage(asked: Asked, held: Held, host: string, components: readonly string[], more: Otherwise = {}) {
  const digest = `sha-256=:${createHash('sha256')
    .update(asked.body ?? '')
    .digest('base64')}:`;
  const headers: Record<string, string> = { ...asked.headers };
  if (components.includes('content-digest')) headers['content-digest'] ??= digest;
  const covered = more.components ?? components;
  const [path = '', query = ''] = asked.target.split('?');
  const derived: Record<string, string> = {
    '@method': asked.method,
    '@target-uri': `${more.scheme ?? 'http'}://${more.host ?? host}${asked.target}`,
    '@authority': more.host ?? host,
    '@path': path,
    '@query': `?${query}`,
    '@request-target': asked.target,
  };
  const nonce = more.nonce === undefined ? '' : `;nonce="${more.nonce}"`;
  const expires = more.expires === undefined ? '' : `;expires=${more.expires}`;
  const alg = more.alg === undefined ? '' : `;alg="${more.alg}"`;
  const parameters = `(${covered.map((name) => `"${name}"`).join(' ')});created=${more.created ?? Math.floor(Date.now() / 1000)}${expires};keyid="${held.keyId}"${alg}${nonce}`;
  const lines = covered.map((name) => `"${name}": ${derived[name] ?? headers[name] ?? ''}`);
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n');
  return {
    ...headers,
    'signature-input': `mine=${parameters}`,
    signature: `mine=:${madeBy(held, base).toString('base64')}:`,
  };
}

function madeBy({ secret, algorithm = 'hmac-sha256' }: Held, base: string): Buffer {
  if (algorithm === 'hmac-sha256') return createHmac('sha256', secret).update(base).digest();
  const key: KeyObject = createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' });
  if (algorithm === 'ed25519') return sign(null, Buffer.from(base), key);
  if (algorithm === 'ecdsa-p256-sha256') return sign('sha256', Buffer.from(base), { key, dsaEncoding: 'ieee-p1363' });
  return sign('sha512', Buffer.from(base), { key, padding: 6, saltLength: 64 });
}

/** Signs by an HMAC over `{method}\n{target}\n{timestamp}\n{nonce}\n{body}`, into `X-Signature: t=…,v1=…` and two headers beside it. */
export function signedByHmac(asked: Asked, held: Held, more: { readonly seconds?: number; readonly nonce?: string } = {}) {
  const time = String(more.seconds ?? Math.floor(Date.now() / 1000));
  const nonce = more.nonce ?? crypto.randomUUID();
  const content = `${asked.method}\n${asked.target}\n${time}\n${nonce}\n${asked.body ?? ''}`;
  const made = createHmac('sha256', held.secret).update(content).digest('hex');
  return { ...asked.headers, 'x-key': held.keyId, 'x-nonce': nonce, 'x-signature': `t=${time},v1=${made}` };
}
