import type { KeptRequestKey } from '../../kinds/schemes/request-keys.ts';
import type { StoredCredential } from '../../store/store.ts';
import type { Caller } from '../exchange/exchange.ts';
import { withAttributes } from './callers.ts';

/** What is kept of a credential besides what it is found by. */
export interface KeptSecret {
  readonly scopes: readonly string[];
  /** What is known of its caller besides. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly createdMs: number;
  readonly expiresMs?: number;
  /** What is shown of a key to those who know it: its fixed beginning and its last four characters. */
  readonly hint?: string;
  /** The hash of a password. */
  readonly password?: string;
  /** What signatures of requests are judged with: a public key, or the secret itself, which an HMAC cannot do without. */
  readonly signing?: KeptRequestKey;
}

/** A credential that is good, and until when. */
export interface Good {
  readonly caller: Caller;
  readonly untilMs: number;
}

/** What is kept of a credential besides what it is found by. */
export function keptOf(credential: StoredCredential): KeptSecret {
  // It was written by `keys add` or `keys rotate`.
  return JSON.parse(credential.doc) as KeptSecret;
}

/** Whether its time is over. */
export function hasExpired({ expiresMs }: KeptSecret, nowMs: number): boolean {
  return expiresMs !== undefined && expiresMs <= nowMs;
}

/** Who shows a credential that is kept, and until when. */
export function goodOf(credential: StoredCredential): Good {
  const { scopes, attributes, expiresMs } = keptOf(credential);
  const caller = { id: credential.caller, user: credential.user, scopes: Object.freeze([...scopes]), key: credential.name };
  return {
    caller: Object.freeze(withAttributes(caller, attributes && Object.freeze(attributes))),
    untilMs: expiresMs ?? Number.POSITIVE_INFINITY,
  };
}
