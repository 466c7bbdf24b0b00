import type { JsonMap } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import { isToken } from '../http-token.ts';
import { challengeOf } from './challenges.ts';
import { asHttpKey, asKey } from './in-openapi.ts';
import type { InOpenApi, PlacedScheme, SchemeFacts, SchemeKind } from './kind.ts';
import { ofSigner } from './near-misses.ts';
import { isSignatureOf, type RequestAlgorithm, signatureOf } from './request-keys.ts';
import {
  type ReadSignature,
  type RequestSigning,
  type RequestToSign,
  readSigner,
  type SignedFields,
  type SignedHead,
  type Signer,
  type SigningMiss,
  type SigningMoment,
} from './signing.ts';
import {
  type Filled,
  fillSigned,
  fillValue,
  hmacProblems,
  plainWord,
  readValue,
  statedHmac,
  templateWords,
  type ValueTemplate,
  valueTemplate,
} from './signing-template.ts';
import { isStatedText, signingMembers, toleranceMsOf, usualSigningMisses } from './signing-words.ts';

/**
 * An HMAC over stated parts of the request, with the secret of a key that is named: `{ header: X-Signature,
 * value: "t={timestamp},v1={hmac-sha256:hex}", headers: { X-Key: "{key_id}" }, signs: "{method}\n{target}\n{timestamp}\n{body}" }`.
 */
export const hmac = {
  word: 'hmac',
  meaning: 'An HMAC over stated parts of the request, with the secret of a key that is named in it.',
  members: {
    value: { form: { type: 'string', description: 'What stands in the header: t={timestamp},v1={hmac-sha256:hex}.' } },
    headers: {
      form: {
        type: 'object',
        description: 'Further header fields of a signed request: { X-Key: "{key_id}", X-Timestamp: "{timestamp}" }.',
        additionalProperties: { type: 'string' },
      },
    },
    signs: {
      form: { type: 'string', description: 'What is signed of a request: "{method}\\n{target}\\n{timestamp}\\n{body}".' },
    },
    ...signingMembers,
  },
  proof: { by: 'signing', lacks, compile, forClients },
  hasStandardForm: true,
  problems: hmacProblems,
  challenge: ({ realm, prefix }) => challengeOf(prefix !== undefined && isToken(prefix) ? prefix : 'HMAC', [['realm', realm]]),
  takes: (text) => readSigner(text) !== undefined,
  presented: (text) => ({ text }),
  invented: 'ninefold-verify:ninefold-verify-secret',
  formFlaw: () => undefined,
  nearMisses: (_facts, text) => ofSigner(text),
  toOpenApi: inOpenApi,
  isInOpenApi: () => false,
  // What is signed of a request, no other format says.
  ofForeign: () => undefined,
  toAsyncApi: (scheme): JsonMap | undefined =>
    isNamed(scheme) ? { type: 'http', scheme: scheme.prefix ?? '' } : asHttpKey(scheme),
  compare: (before, after) => (isSame(statedHmac(before), statedHmac(after)) ? 'same' : 'other'),
} as const satisfies SchemeKind;

/** What is signed, and where it stands, has to be said. */
function lacks({ own }: SchemeFacts): string | undefined {
  return isStatedText(own.value) && isStatedText(own.signs) ? undefined : 'what is signed, and where it stands';
}

/** A stated scheme, taken apart. */
interface Parts {
  readonly own: ValueTemplate;
  readonly others: readonly (readonly [name: string, template: ValueTemplate])[];
  /** The scheme's own header field, in small letters. */
  readonly carrier: string;
  readonly form: 'hex' | 'base64';
  readonly algorithm: RequestAlgorithm;
  readonly needsBody: boolean;
  /** The header fields that are signed. */
  readonly signedHeaders: readonly string[];
  readonly fill: ReturnType<typeof fillSigned.compile>;
}

function compile(scheme: PlacedScheme): RequestSigning {
  const { value, headers, signs, replay } = statedHmac(scheme);
  const own = templateOf(value);
  const others = Object.entries(headers).map(([name, text]) => [name.toLowerCase(), templateOf(text)] as const);
  const words = new Set(templateWords(signs).map(plainWord));
  const carried = [own, ...others.map(([, template]) => template)].flatMap((template) => template.words).map(plainWord);
  const parts: Parts = {
    own,
    others,
    // It is there wherever a scheme is accepted.
    carrier: (scheme.carriedIn ?? 'signature').toLowerCase(),
    form: own.words.some((word) => word.endsWith(':hex')) ? 'hex' : 'base64',
    algorithm: own.words.some((word) => word.startsWith('hmac-sha512')) ? 'hmac-sha512' : 'hmac-sha256',
    needsBody: words.has('body'),
    signedHeaders: fillSigned.headers(signs),
    fill: fillSigned.compile(signs),
  };
  const toleranceMs = carried.includes('timestamp') ? toleranceMsOf(scheme) : undefined;
  const inTarget = words.has('target') ? ['path', 'query'] : [];
  const signed = new Set([...['method', 'path', 'query', 'body'].filter((part) => words.has(part)), ...inTarget]);
  const sign: RequestSigning['sign'] = (request, signer, moment) => signBy(parts, request, signer, moment);
  const without = (name: string): SigningMiss => ({
    how: `there is no ${name}`,
    sign(request, signer, moment) {
      const { [name]: _left, ...fields } = sign(request, signer, moment);
      return fields;
    },
  });
  return {
    algorithms: [parts.algorithm],
    toleranceMs,
    signs: signed,
    isTakenOnce: replay !== null,
    read: (head, text) => readBy(parts, head, text),
    sign,
    misses: [
      ...usualSigningMisses(sign, { toleranceMs, signed, carrier: parts.carrier }),
      ...others.map(([name]) => without(name)),
    ],
  };
}

function forClients(scheme: PlacedScheme): JsonMap {
  const { value, headers, signs } = statedHmac(scheme);
  const [algorithm] = compile(scheme).algorithms;
  return { algorithms: [algorithm], fields: { [scheme.carriedIn ?? 'signature']: value, ...headers }, signs };
}

function readBy({ own, others, form, needsBody, fill }: Parts, head: SignedHead, text: string): ReadSignature | undefined {
  const said: Partial<Record<keyof Filled, string>> = {};
  if (text.length > lengthMost || !readValue(own, text, said)) return undefined;
  for (const [name, template] of others) {
    const given = head.header(name);
    if (given === undefined || given.length > lengthMost || !readValue(template, given, said)) return undefined;
  }
  const { key_id: keyId, hmac: given, nonce, atMs } = said;
  if (keyId === undefined || given === undefined) return undefined;
  const signature = Buffer.from(given, form);
  return {
    keyId,
    ...(atMs !== undefined && { atMs: Number(atMs) }),
    ...(nonce !== undefined && { nonce }),
    needsBody,
    isBy(key, body) {
      const content = fill(head, said, body);
      return content !== undefined && isSignatureOf(key, content, signature);
    },
  };
}

function signBy(parts: Parts, request: RequestToSign, { keyId, key }: Signer, { nowMs, nonce }: SigningMoment): SignedFields {
  const { own, others, carrier, form, algorithm, signedHeaders, fill } = parts;
  const fields: Record<string, string> = {};
  const filled: Filled = { key_id: keyId, atMs: String(nowMs), nonce, hmac: own.sampleHmac };
  for (const [name, template] of others) fields[name] = fillValue(template, filled);
  for (const name of signedHeaders) if (request.headers[name] === undefined && name !== 'host') fields[name] ??= 'ninefold';
  const head = headOf({ ...request, headers: { ...request.headers, ...fields } });
  // The time as it is signed is the time as it is told.
  const told: Partial<Record<keyof Filled, string>> = {};
  for (const template of [own, ...others.map(([, one]) => one)]) readValue(template, fillValue(template, filled), told);
  const content = fill(head, { ...told, key_id: keyId, nonce }, request.body ?? nothing) ?? nothing;
  const made = signatureOf({ key: key.key, algorithm }, content).toString(form);
  return { ...fields, [carrier]: fillValue(own, { ...filled, hmac: made }) };
}

const lengthMost = 2048;
const nothing = Buffer.alloc(0);

/** A template; of one that check refuses, one that no request is of. */
function templateOf(text: string): ValueTemplate {
  const read = valueTemplate(text);
  return 'wrong' in read ? { texts: ['\0'], words: [], sampleHmac: '' } : read;
}

/** A request that is to be sent, as it will come. */
function headOf({ method, target, headers, body, origin }: RequestToSign): SignedHead {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const host = headers.host ?? new URL(origin).host;
  return { method, path, query, hasBody: (body?.length ?? 0) > 0, header: (name) => (name === 'host' ? host : headers[name]) };
}

/** Whether it stands in `Authorization` behind a word of its own, as a scheme of HTTP does. */
function isNamed({ carriedIn, prefix }: PlacedScheme): boolean {
  return (
    carriedIn?.toLowerCase() === 'authorization' && prefix !== undefined && isToken(prefix) && !/^(?:basic|bearer)$/i.test(prefix)
  );
}

function inOpenApi(scheme: PlacedScheme): InOpenApi {
  return isNamed(scheme)
    ? { written: { type: 'http', scheme: scheme.prefix ?? '' }, told: [], isKindTold: false, takesScopes: false }
    : asKey(scheme, false);
}
