import type { RequestAlgorithm, RequestKey } from './request-keys.ts';

/** How requests of one stated scheme are signed and judged. */
export interface RequestSigning {
  /** What keys may sign with: the first is for keys of which nobody says. */
  readonly algorithms: readonly [RequestAlgorithm, ...RequestAlgorithm[]];
  /** How far the time of a signature may be from now, in milliseconds; nothing where it says no time. */
  readonly toleranceMs: number | undefined;
  /** Of `method`, `path`, `query` and `body`, what a signature is over. */
  readonly signs: ReadonlySet<string>;
  /** Whether a nonce is taken once. */
  readonly isTakenOnce: boolean;
  /** What a request says of its signature, before its body is read; nothing where none that it says could be good. */
  read(head: SignedHead, text: string): ReadSignature | undefined;
  /** The header fields of a signed request, by names in small letters; `text` is what stands behind a prefix in the scheme's own. */
  sign(request: RequestToSign, signer: Signer, moment: SigningMoment): SignedFields;
  /** Requests whose signature nearly is good, and must not be taken. */
  readonly misses: readonly SigningMiss[];
}

/** A request as it came, without its body. */
export interface SignedHead {
  readonly method: string;
  /** The raw path, still encoded. */
  readonly path: string;
  /** The raw query without its `?`. */
  readonly query: string;
  readonly hasBody: boolean;
  /** A header field by its name in small letters; nothing where it did not come, or came twice. */
  header(name: string): string | undefined;
}

/** What a request says of its signature. */
export interface ReadSignature {
  readonly keyId: string;
  /** When it was signed. */
  readonly atMs?: number;
  /** When its signer lets it end. */
  readonly expiresMs?: number;
  readonly nonce?: string;
  /** Whether it is over the body, or over a hash of it. */
  readonly needsBody: boolean;
  /** Whether it was made with a key, of a request with this body. */
  isBy(key: RequestKey, body: Uint8Array): boolean;
}

/** A request before it is signed. */
export interface RequestToSign {
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Where it is sent: `https://api.example`. */
  readonly origin: string;
}

export interface Signer {
  readonly keyId: string;
  readonly key: RequestKey;
}

export interface SigningMoment {
  readonly nowMs: number;
  readonly nonce: string;
}

/** The header fields that a signature adds, by names in small letters. */
export type SignedFields = Readonly<Record<string, string>>;

/** A request that is signed otherwise than it has to be. */
export interface SigningMiss {
  /** What is wrong with it: `its body is another`. */
  readonly how: string;
  /** Whether its time is over, rather than anything else wrong. */
  readonly isOver?: true;
  /** Whether only a request with a body can be signed so. */
  readonly needsBody?: true;
  /** Whether only a request with a query can be signed so. */
  readonly needsQuery?: true;
  /** The header fields; nothing where it cannot be made of this request. */
  sign(request: RequestToSign, signer: Signer, moment: SigningMoment): SignedFields | undefined;
}

/** The longest identifier of a key, and the longest nonce. */
export const keyIdPattern = /^[\w.~@/+=-]{1,128}$/;
export const noncePattern = /^[\w.~+/=:-]{1,128}$/;

/** A credential as its owner gives it: the identifier of its key, a colon, and its secret or private key. */
export function readSigner(text: string): { readonly keyId: string; readonly secret: string } | undefined {
  const colon = text.indexOf(':');
  const keyId = text.slice(0, Math.max(0, colon));
  const secret = text.slice(colon + 1);
  return keyIdPattern.test(keyId) && secret !== '' ? { keyId, secret } : undefined;
}
