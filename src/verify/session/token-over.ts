import { readToken } from '../../kinds/schemes/token.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { credentialParts } from '../model/credential-parts.ts';

/** Whether a token that was given was over by the time it was sent: what it is refused with then says nothing of what was asked. */
export function isTokenOver({ caller, fromMs }: TrialExchange): boolean {
  const { credential, bad } = caller ?? {};
  const exp = credential && bad === undefined ? readToken(credentialParts(credential).text)?.claims.exp : undefined;
  return typeof exp === 'number' && exp * 1000 <= fromMs;
}
