import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { isShared, type RequestAlgorithm, requestKeyOf, signingKeyOf } from '../../kinds/schemes/request-keys.ts';
import {
  type RequestSigning,
  type RequestToSign,
  readSigner,
  type Signer,
  type SigningMoment,
} from '../../kinds/schemes/signing.ts';
import { schemePrefix } from '../../parts/authentication.ts';
import type { Credential } from '../exchange/callers.ts';
import type { ScriptRun } from '../exchange/run.ts';
import { Untestable } from '../exchange/untestable.ts';

/** The header fields by which a request is signed; what stands for a credential in a command is left as it is. @throws {Untestable} */
export function signedFields(credential: Credential, request: RequestToSign, run: ScriptRun): Readonly<Record<string, string>> {
  const { signs, value, scheme } = credential;
  const carrier = credential.carrier.toLowerCase();
  if (!signs || !readSigner(value)) return { [carrier]: value };
  const { signing, miss } = signs;
  const fields = (miss ?? signing).sign(request, signerOf(signing, value), momentOf(run, signs.moment));
  if (!fields) throw new Untestable(`${request.method} ${request.target} cannot be signed so that ${miss?.how ?? 'it is good'}`);
  const prefix = schemePrefix(scheme) ?? '';
  const own = fields[carrier];
  return own === undefined || prefix === ''
    ? fields
    : { ...fields, [carrier]: `${prefix}${/\w$/.test(prefix) ? ' ' : ''}${own}` };
}

/** The moments of each run that have names. */
const named = new WeakMap<ScriptRun, Map<string, SigningMoment>>();

function momentOf(run: ScriptRun, name: string | undefined): SigningMoment {
  const now = { nowMs: run.clock.toService(Date.now()), nonce: randomUUID() };
  if (name === undefined) return now;
  const known = named.get(run) ?? new Map<string, SigningMoment>();
  named.set(run, known);
  const moment = known.get(name) ?? now;
  known.set(name, moment);
  return moment;
}

/** What signs for a credential; a text that is no key of these algorithms is one that nobody knows. */
function signerOf({ algorithms: [algorithm, ...others] }: RequestSigning, text: string): Signer {
  const { keyId, secret } = readSigner(text) ?? { keyId: 'ninefold-verify', secret: text };
  const known = signingKeyOf([algorithm, ...others], secret);
  if (known) return { keyId, key: known };
  if (isShared(algorithm)) return { keyId, key: requestKeyOf({ algorithm, text: 'ninefold-verify' }) };
  const key = strangers.get(algorithm) ?? newPrivateKey(algorithm);
  strangers.set(algorithm, key);
  return { keyId, key: { algorithm, key } };
}

/** A private key of each algorithm that nobody was given. */
const strangers = new Map<RequestAlgorithm, KeyObject>();

function newPrivateKey(algorithm: RequestAlgorithm): KeyObject {
  if (algorithm === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (algorithm === 'ecdsa-p256-sha256') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}
