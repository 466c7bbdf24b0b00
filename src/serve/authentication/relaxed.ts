import { hash } from 'node:crypto';
import type { Compilation } from '../compilation.ts';
import type { Caller } from '../exchange.ts';
import type { Accepted } from './accepted.ts';
import { scopesOf } from './development.ts';

/**
 * Takes any credential of the declared form: a name with whatever password, a key, a token. One credential is one caller, of the
 * user that callers are taken for, with every scope; whoever shows the same is the same caller.
 */
export function compileRelaxedProof(
  { scheme, kind }: Pick<Accepted, 'scheme' | 'kind'>,
  { spec, user }: Compilation,
): (text: string) => { readonly caller: Caller } | undefined {
  const scopes = Object.freeze(scopesOf(spec, scheme));
  const { proof } = kind;
  return (text) => {
    const id = proof?.by === 'password' ? proof.read(text)?.name : `${scheme.name}-${hash('sha256', text, 'hex').slice(0, 12)}`;
    return id === undefined ? undefined : { caller: Object.freeze({ id, user: user ?? '', scopes, key: 'relaxed' }) };
  };
}
