import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';

/** How requests are signed, by the names of RFC 9421 section 6.2.2, and HMAC with SHA-512. */
export const requestAlgorithms = ['hmac-sha256', 'hmac-sha512', 'ed25519', 'ecdsa-p256-sha256', 'rsa-pss-sha512'] as const;

export type RequestAlgorithm = (typeof requestAlgorithms)[number];

/** What signatures are made or judged with: a secret for an HMAC, else a private key, or a public one. */
export interface RequestKey {
  readonly algorithm: RequestAlgorithm;
  readonly key: KeyObject;
}

/** A key as it is kept: of a pair the public half alone, as base64 of its SubjectPublicKeyInfo; of an HMAC the secret itself. */
export interface KeptRequestKey {
  readonly algorithm: RequestAlgorithm;
  readonly text: string;
}

/** Whether both sides of an algorithm have the same secret. */
export function isShared(algorithm: RequestAlgorithm): boolean {
  return algorithm.startsWith('hmac-');
}

/** The algorithm of a name; nothing for a name that is none. */
export function requestAlgorithm(name: string): RequestAlgorithm | undefined {
  return requestAlgorithms.find((one) => one === name);
}

/** What a kept key is judged with. @throws where it is none */
export function requestKeyOf({ algorithm, text }: KeptRequestKey): RequestKey {
  if (isShared(algorithm)) return { algorithm, key: createSecretKey(Buffer.from(text, 'utf8')) };
  return { algorithm, key: createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }) };
}

/** What requests are signed with, of one of these algorithms: a secret, or a private key as PEM or as base64 of its PKCS #8. */
export function signingKeyOf(algorithms: readonly RequestAlgorithm[], text: string): RequestKey | undefined {
  const pair = algorithms.some((one) => !isShared(one)) ? readKey(text, 'pkcs8') : undefined;
  const ofPair = pair && algorithmOf(pair);
  if (pair && ofPair !== undefined && algorithms.includes(ofPair)) return { algorithm: ofPair, key: pair };
  const shared = algorithms.find(isShared);
  return shared === undefined || text === '' ? undefined : requestKeyOf({ algorithm: shared, text });
}

/** A key that was brought along, as it is kept: a public key as PEM or base64 of its SubjectPublicKeyInfo, or a secret; or why it is none. */
export function broughtKey(algorithms: readonly RequestAlgorithm[], given: string): KeptRequestKey | { readonly wrong: string } {
  const text = given.trim();
  const pair = readKey(text, 'spki');
  const ofPair = pair && algorithmOf(pair);
  if (pair && ofPair !== undefined && algorithms.includes(ofPair))
    return { algorithm: ofPair, text: pair.export({ format: 'der', type: 'spki' }).toString('base64') };
  const shared = algorithms.find(isShared);
  if (pair || shared === undefined)
    return {
      wrong: `A public key is brought along, as PEM, of one of ${algorithms.join(', ')}; the private one stays with its owner.`,
    };
  if (/PRIVATE KEY/.test(text))
    return { wrong: 'This is a private key, which stays with its owner: bring its public half along.' };
  if (!/^[\x21-\x7e]{16,512}$/.test(text)) return { wrong: 'A secret that is brought along has 16 to 512 visible characters.' };
  return { algorithm: shared, text };
}

/** A pair of an algorithm, by its private key: its public half as it is kept, and base64 of the PKCS #8 of the private one, which its owner alone has. */
export function pairOfKeys(
  algorithm: RequestAlgorithm,
  privateKey: KeyObject,
): { readonly kept: KeptRequestKey; readonly secret: string } {
  return {
    kept: { algorithm, text: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64') },
    secret: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  };
}

/** How JSON Web Algorithms (RFC 7518, RFC 8037) call what a pair is made for. */
export function webAlgorithm(algorithm: RequestAlgorithm): string {
  return algorithm === 'ed25519' ? 'Ed25519' : algorithm === 'ecdsa-p256-sha256' ? 'ES256' : 'PS512';
}

/** The signature of a text. */
export function signatureOf({ algorithm, key }: RequestKey, content: Uint8Array): Buffer {
  if (isShared(algorithm)) return createHmac(algorithm.slice('hmac-'.length), key).update(content).digest();
  return sign(hashOf(algorithm), content, { key, ...forms(algorithm) });
}

/** Whether a signature is that of a text, in a time that tells nothing of where it differs. */
export function isSignatureOf(by: RequestKey, content: Uint8Array, given: Uint8Array): boolean {
  if (!isShared(by.algorithm)) return verify(hashOf(by.algorithm), content, { key: by.key, ...forms(by.algorithm) }, given);
  const wanted = signatureOf(by, content);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function hashOf(algorithm: RequestAlgorithm): string | undefined {
  return algorithm === 'ed25519' ? undefined : algorithm === 'ecdsa-p256-sha256' ? 'sha256' : 'sha512';
}

/** How a signature is written (RFC 9421 sections 3.3.1 and 3.3.4). */
function forms(algorithm: RequestAlgorithm) {
  if (algorithm === 'ecdsa-p256-sha256') return { dsaEncoding: 'ieee-p1363' as const };
  return algorithm === 'rsa-pss-sha512' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 } : {};
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): RequestAlgorithm | undefined {
  if (asymmetricKeyType === 'ed25519') return 'ed25519';
  if (asymmetricKeyType === 'ec') return asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'ecdsa-p256-sha256' : undefined;
  const isLong = (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsLeast;
  return (asymmetricKeyType === 'rsa' || asymmetricKeyType === 'rsa-pss') && isLong ? 'rsa-pss-sha512' : undefined;
}

const rsaBitsLeast = 2048;

/** A key that is written as PEM, or as base64 of its DER; nothing where a text is none. A private key is no public one. */
function readKey(text: string, type: 'pkcs8' | 'spki'): KeyObject | undefined {
  const isPem = text.startsWith('-----BEGIN ');
  if (isPem && text.includes('PRIVATE KEY') !== (type === 'pkcs8')) return undefined;
  if (!isPem && !/^[A-Za-z0-9+/]{40,8192}={0,2}$/.test(text)) return undefined;
  try {
    const read = isPem ? { key: text } : { key: Buffer.from(text, 'base64'), format: 'der' as const, type };
    return type === 'pkcs8'
      ? createPrivateKey(read as Parameters<typeof createPrivateKey>[0])
      : createPublicKey(read as Parameters<typeof createPublicKey>[0]);
  } catch {
    return undefined;
  }
}
