import { hash } from 'node:crypto';
import { type Component, readComponents, readSignatureFields, readsScheme, signatureBase } from './message-components.ts';
import { isSignatureOf, type RequestAlgorithm, type RequestKey, requestAlgorithms, signatureOf } from './request-keys.ts';
import {
  keyIdPattern,
  noncePattern,
  type ReadSignature,
  type RequestSigning,
  type RequestToSign,
  type SignedFields,
  type SignedHead,
  type Signer,
  type SigningMiss,
  type SigningMoment,
} from './signing.ts';
import { type BareItem, readDictionary, writeBytes, writeString } from './structured-fields.ts';

/** What a document states of signed messages. */
export interface Covering {
  /** What has to be covered at least. */
  readonly wanted: (hasBody: boolean) => readonly Component[];
  readonly algorithms: readonly [RequestAlgorithm, ...RequestAlgorithm[]];
  readonly isTakenOnce: boolean;
}

/** What a request says of its signature (RFC 9421 section 3.2); nothing where it does not cover all that it has to. */
export function readMessage(
  { wanted, algorithms, isTakenOnce }: Covering,
  head: SignedHead,
  text: string,
): ReadSignature | undefined {
  const found = readSignatureFields(head.header('signature-input') ?? '', text);
  const components = found && readComponents(found.input);
  const said = found && saidBy(found.input.parameters);
  if (!components || !said) return undefined;
  const covered = new Set(components.map((one) => one.text));
  if (!wanted(head.hasBody).every((one) => covered.has(one.text))) return undefined;
  if (said.alg !== undefined && !algorithms.some((one) => one === said.alg)) return undefined;
  if (isTakenOnce && said.nonce === undefined) return undefined;
  const digest = components.some(({ name }) => name === 'content-digest') ? head.header('content-digest') : undefined;
  return {
    keyId: said.keyid,
    atMs: said.created * 1000,
    ...(said.expires !== undefined && { expiresMs: said.expires * 1000 }),
    ...(said.nonce !== undefined && { nonce: said.nonce }),
    needsBody: digest !== undefined,
    isBy(key, body) {
      // A key is for one algorithm, whatever the request says (RFC 9421 section 3.2.6).
      if (!algorithms.includes(key.algorithm) || (said.alg !== undefined && said.alg !== key.algorithm)) return false;
      if (digest !== undefined && !isDigestOf(digest, body)) return false;
      return isOver(head, components, found.input.text, key, found.signature);
    },
  };
}

/** What the parameters of a signature say (RFC 9421 section 2.3); nothing where one is not of its form, or there is no key or no time. */
function saidBy(parameters: ReadonlyMap<string, BareItem>) {
  const text = (name: string) => {
    const value = parameters.get(name);
    return value === undefined || typeof value === 'string' ? value : null;
  };
  const time = (name: string) => {
    const value = parameters.get(name);
    return value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= 0) ? value : null;
  };
  const [keyid, alg, nonce, created, expires] = [text('keyid'), text('alg'), text('nonce'), time('created'), time('expires')];
  if (typeof keyid !== 'string' || !keyIdPattern.test(keyid) || typeof created !== 'number') return undefined;
  if (alg === null || expires === null || nonce === null || (nonce !== undefined && !noncePattern.test(nonce))) return undefined;
  return { keyid, created, alg, nonce, expires };
}

/** Whether a signature is over a request. Where its address counts, it was sent to this one by HTTPS or, with nothing in between, by HTTP. */
function isOver(
  head: SignedHead,
  components: readonly Component[],
  parameters: string,
  key: RequestKey,
  signature: Uint8Array,
): boolean {
  return (readsScheme(components) ? (['https', 'http'] as const) : (['https'] as const)).some((scheme) => {
    const base = signatureBase(head, scheme, components, parameters);
    return base !== undefined && isSignatureOf(key, base, signature);
  });
}

/** The fields of a request that is signed over these components. */
export function signMessage(
  { method, target, headers, body, origin }: RequestToSign,
  { keyId, key }: Signer,
  { nowMs, nonce }: SigningMoment,
  components: readonly Component[],
  says: { readonly alg?: string; readonly expires?: number } = {},
): SignedFields {
  const fields: Record<string, string> = {};
  for (const { name } of components) {
    if (name.startsWith('@') || name === 'host' || headers[name] !== undefined) continue;
    if (name === 'content-digest') fields[name] = contentDigest(body ?? new Uint8Array());
    else if (name === 'content-length') fields[name] = String(body?.length ?? 0);
    else fields[name] = name === 'date' ? new Date(nowMs).toUTCString() : 'ninefold';
  }
  const { host, protocol } = new URL(origin);
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const all: Readonly<Record<string, string>> = { host, ...headers, ...fields };
  const head = { method, path, query, hasBody: (body?.length ?? 0) > 0, header: (name: string) => all[name] };
  const parameters = [
    `(${components.map(({ text }) => text).join(' ')})`,
    `created=${Math.floor(nowMs / 1000)}`,
    ...(says.expires === undefined ? [] : [`expires=${says.expires}`]),
    `keyid=${writeString(keyId)}`,
    `alg=${writeString(says.alg ?? key.algorithm)}`,
    `nonce=${writeString(nonce)}`,
  ].join(';');
  // A parameter of the query that is not there cannot be covered; then what is sent is no good either.
  const base = signatureBase(head, protocol === 'https:' ? 'https' : 'http', components, parameters) ?? new Uint8Array();
  return { ...fields, 'signature-input': `sig1=${parameters}`, signature: `sig1=${writeBytes(signatureOf(key, base))}` };
}

/** A good signature that leaves one of the stated components out. */
export function lacking(left: Component, { wanted }: Covering): SigningMiss {
  return {
    how: `it does not cover ${left.text.replaceAll('"', '')}`,
    ...(!wanted(false).includes(left) && { needsBody: true }),
    sign(request, signer, moment) {
      const all = wanted((request.body?.length ?? 0) > 0);
      return all.includes(left)
        ? signMessage(
            request,
            signer,
            moment,
            all.filter((one) => one !== left),
          )
        : undefined;
    },
  };
}

/** Misses of what the signature says of itself. */
export function ownMisses(sign: RequestSigning['sign'], { algorithms }: Covering): SigningMiss[] {
  const input = 'signature-input';
  const edited = (how: string, edit: (text: string) => string): SigningMiss => ({
    how,
    sign(request, signer, moment) {
      const fields = sign(request, signer, moment);
      return { ...fields, [input]: edit(fields[input] ?? '') };
    },
  });
  const other = requestAlgorithms.find((name) => !algorithms.includes(name)) ?? 'hmac-sha512';
  return [
    edited('it says another time than was signed', (text) =>
      text.replace(/created=(\d+)/, (_, time: string) => `created=${Number(time) + 1}`),
    ),
    edited('it says another algorithm', (text) => text.replace(/alg="[^"]*"/, `alg="${other}"`)),
    edited('it says no key', (text) => text.replace(/;keyid="[^"]*"/, '')),
    {
      how: 'there is no signature-input',
      sign(request, signer, moment) {
        const { [input]: _left, ...fields } = sign(request, signer, moment);
        return fields;
      },
    },
    {
      how: 'its body is not that of its digest',
      needsBody: true,
      sign(request, signer, moment) {
        const fields = sign(request, signer, moment);
        return fields['content-digest'] === undefined
          ? undefined
          : { ...fields, 'content-digest': contentDigest(Buffer.from('ninefold')) };
      },
    },
  ];
}

const hashes: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** The digest of a body as `Content-Digest` has it (RFC 9530 section 2). */
function contentDigest(body: Uint8Array): string {
  return `sha-256=${writeBytes(hash('sha256', body, 'buffer'))}`;
}

/** Whether a `Content-Digest` is that of a body: each digest that there are means for is, and there is one. */
export function isDigestOf(field: string, body: Uint8Array): boolean {
  const known = [...(readDictionary(field) ?? [])].flatMap(([name, { value }]) => {
    const algorithm = hashes.get(name);
    return algorithm === undefined ? [] : [value instanceof Uint8Array && hash(algorithm, body, 'buffer').equals(value)];
  });
  return known.length > 0 && !known.includes(false);
}
