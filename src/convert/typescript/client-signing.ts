/** What every client is made of, where callers sign: a request is signed once all else of it is known, and what is sent is what was signed. */
export function thatSigns(prelude: string): string {
  return signedPlaces.reduce((text, [plain, signing]) => text.replace(plain, () => signing), prelude);
}

const signedPlaces: readonly (readonly [plain: string, signing: string])[] = [
  [
    '  const response = await (options.fetch ?? globalThis.fetch)(addressOf(outgoing, options, version), {',
    `  const address = addressOf(outgoing, options, version);
  const sent = await signRequest(outgoing, operation.method, address, body, credential ?? {});
  const response = await (options.fetch ?? globalThis.fetch)(address, {`,
  ],
  ['...(body !== undefined && { body }),', '...(sent !== undefined && { body: sent }),'],
  [
    'if (found === undefined || value === undefined) return;',
    'if (found === undefined || value === undefined || found.signs) return;',
  ],
];

/** What a client whose callers sign their requests is made of besides: Web Cryptography, and nothing that a browser has not. */
export const clientSigning = `/** What is signed, and where a signature stands: an HMAC by its templates, or the components of a message (RFC 9421). */
type Signing = {
  readonly algorithms: readonly string[];
  readonly fields?: { readonly [name: string]: string };
  readonly signs?: string;
  readonly covers?: readonly string[];
};

type SigningKey = { readonly keyId: string; readonly secret: string; readonly algorithm?: string };

/** A request as it is signed. */
type Signed = {
  readonly method: string;
  readonly url: globalThis.URL;
  readonly target: string;
  readonly headers: globalThis.Headers;
  readonly body: Uint8Array;
};

/** Signs a request with each key of a credential, once all else of it is known; gives its body as it was signed. */
async function signRequest(
  outgoing: Outgoing,
  method: string,
  address: string,
  body: Body | undefined,
  credential: object,
): Promise<Body | undefined> {
  const keys = Object.entries(credential).filter(([name]) => service.schemes[name]?.signs !== undefined);
  if (keys.length === 0) return body;
  const whole = new globalThis.Response(body ?? null);
  const type = whole.headers.get('Content-Type');
  if (!outgoing.headers.has('Content-Type') && type !== null) outgoing.headers.set('Content-Type', type);
  const bytes = new Uint8Array(await whole.arrayBuffer());
  const url = new globalThis.URL(address);
  const request = { method, url, target: url.pathname + url.search, headers: outgoing.headers, body: bytes };
  for (const [name, key] of keys) {
    const { signs, name: header, prefix } = service.schemes[name]!;
    if (signs === undefined) continue;
    if (signs.covers === undefined) await signParts(request, signs, header, prefix, key);
    else await signMessage(request, signs, signs.covers, key);
  }
  // The bytes that were signed are those that are sent.
  return body === undefined ? undefined : (bytes as unknown as ArrayBuffer);
}

/** An HMAC over what the template says, into the header fields that it is told in. */
async function signParts({ method, url, target, headers, body }: Signed, signing: Signing, header: string, prefix: string | undefined, key: SigningKey) {
  const now = Date.now();
  const told: { [word: string]: string } = { key_id: key.keyId, nonce: globalThis.crypto.randomUUID() };
  const fill = (text: string, hmac: string) =>
    text.replace(/\\{([^{}]*)\\}/g, (_, word: string) => {
      if (word.startsWith('hmac-')) return hmac;
      if (!word.startsWith('timestamp')) return told[word] ?? '';
      const form = word.slice('timestamp:'.length);
      told.timestamp = form === 'http-date' ? new Date(now).toUTCString() : String(form === 'ms' ? now : Math.floor(now / 1000));
      return told.timestamp;
    });
  const fields = Object.entries(signing.fields ?? {});
  const own = fields.find(([, text]) => text.includes('{hmac-'))?.[1] ?? '';
  for (const [name, text] of fields) if (text !== own) headers.set(name, fill(text, ''));
  fill(own, '');
  const parts: { [word: string]: string } = { ...told, method, path: url.pathname, query: url.search.slice(1), target, host: url.host };
  const pieces: Uint8Array[] = [];
  for (const [at, text] of (signing.signs ?? '').split(/\\{([^{}]*)\\}/).entries()) {
    if (at % 2 === 0) pieces.push(bytesOf(text));
    else if (text === 'body') pieces.push(body);
    else if (text.startsWith('body-')) pieces.push(bytesOf(await digest(body, text.slice('body-'.length))));
    else pieces.push(bytesOf(text.startsWith('header:') ? fieldOf(headers, url, text.slice('header:'.length)) : (parts[text] ?? '')));
  }
  const [, hash = 'sha256', form = 'hex'] = /\\{hmac-(\\w+):(\\w+)\\}/.exec(own) ?? [];
  const made = await signatureBy(\`hmac-\${hash}\`, key.secret, joined(pieces));
  headers.set(header, (prefix === undefined || prefix === '' ? '' : \`\${prefix} \`) + fill(own, written(made, form)));
}

/** A message as RFC 9421 signs it, with the digest of its body (RFC 9530) where that is covered. */
async function signMessage({ method, url, target, headers, body }: Signed, signing: Signing, covers: readonly string[], key: SigningKey) {
  const ofBodies = ['content-digest', 'content-type', 'content-length', 'content-encoding'];
  const covered = body.length > 0 ? covers : covers.filter((name) => !ofBodies.includes(name));
  if (covered.includes('content-digest')) headers.set('Content-Digest', \`sha-256=:\${await digest(body, 'sha256:base64')}:\`);
  const derived: { [name: string]: string } = {
    '@method': method,
    '@target-uri': url.origin + target,
    '@authority': url.host,
    '@scheme': url.protocol.replace(':', ''),
    '@request-target': target,
    '@path': url.pathname,
    '@query': url.search === '' ? '?' : url.search,
    'content-length': String(body.length),
  };
  const parts = covered.map((component) => {
    const [, name = '', parameter] = /^([^;]+)(?:;name="(.*)")?$/.exec(component) ?? [];
    const text = parameter === undefined ? (derived[name] ?? fieldOf(headers, url, name)) : formText(url.searchParams.get(parameter) ?? '');
    return { name: parameter === undefined ? \`"\${name}"\` : \`"\${name}";name="\${parameter}"\`, text };
  });
  const algorithm = key.algorithm ?? signing.algorithms.find((name) => name.startsWith('hmac-')) ?? signing.algorithms[0] ?? '';
  const created = Math.floor(Date.now() / 1000);
  const parameters = \`(\${parts.map(({ name }) => name).join(' ')});created=\${created};keyid="\${key.keyId}";alg="\${algorithm}";nonce="\${globalThis.crypto.randomUUID()}"\`;
  const base = [...parts.map(({ name, text }) => \`\${name}: \${text}\`), \`"@signature-params": \${parameters}\`].join('\\n');
  headers.set('Signature-Input', \`sig1=\${parameters}\`);
  headers.set('Signature', \`sig1=:\${written(await signatureBy(algorithm, key.secret, bytesOf(base)), 'base64')}:\`);
}

/** A header field that is signed; one that nobody set has to say something. */
function fieldOf(headers: globalThis.Headers, url: globalThis.URL, name: string): string {
  if (name.toLowerCase() === 'host') return url.host;
  if (!headers.has(name)) headers.set(name, name.toLowerCase() === 'date' ? new Date().toUTCString() : '-');
  return headers.get(name) ?? '';
}

/** A secret as it is written, or the base64 of a private key (PKCS #8). */
async function signatureBy(algorithm: string, secret: string, content: Uint8Array): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto;
  const isShared = algorithm.startsWith('hmac-');
  const hash = algorithm.includes('512') ? 'SHA-512' : 'SHA-256';
  const name = isShared ? 'HMAC' : algorithm === 'ed25519' ? 'Ed25519' : algorithm.startsWith('ecdsa') ? 'ECDSA' : 'RSA-PSS';
  const by = { name, hash, namedCurve: 'P-256', saltLength: 64 };
  const bytes = isShared ? bytesOf(secret) : Uint8Array.from(globalThis.atob(secret), (letter) => letter.charCodeAt(0));
  const key = await subtle.importKey(isShared ? 'raw' : 'pkcs8', bytes as unknown as ArrayBuffer, by, false, ['sign']);
  return new Uint8Array(await subtle.sign(by, key, content as unknown as ArrayBuffer));
}

/** The digest of a body in its form: \`sha256:hex\`. */
async function digest(body: Uint8Array, word: string): Promise<string> {
  const [hash = '', form = ''] = word.split(':');
  const made = await globalThis.crypto.subtle.digest(hash === 'sha512' ? 'SHA-512' : 'SHA-256', body as unknown as ArrayBuffer);
  return written(new Uint8Array(made), form);
}

function written(bytes: Uint8Array, form: string): string {
  if (form === 'hex') return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return globalThis.btoa(String.fromCharCode(...bytes));
}

function bytesOf(text: string): Uint8Array {
  return new globalThis.TextEncoder().encode(text);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function formText(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (letter) => \`%\${letter.charCodeAt(0).toString(16).toUpperCase()}\`);
}`;
