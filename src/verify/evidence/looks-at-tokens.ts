import type { NearMiss } from '../../kinds/schemes/kind.ts';
import { beginsAfter, endedBy, readToken, type Token } from '../../kinds/schemes/token.ts';
import { entryOf } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { knockableSchemes } from '../make/knocking.ts';
import { credentialParts } from '../model/credential-parts.ts';
import type { Model } from '../model/model.ts';
import { isTokenScheme, tamperedWith } from '../trials/authentication/tampered.ts';
import { looksFor } from './looks-at-limits.ts';
import type { Obligation } from './obligation.ts';

/** Each credential that is nearly a good one of a scheme, and breaks this of it, refused; none where no good one was given that can be made bad. */
export function looksNear(model: Model, name: string, breaks: NearMiss['breaks']): Obligation[] {
  if (!knockableSchemes(model).some((scheme) => scheme.name === name)) return [];
  const { credential } = model.callers.find((caller) => caller.credential?.scheme.name === name) ?? {};
  const made = credential ? tamperedWith(credential.scheme, credentialParts(credential).text) : [];
  return made.filter((one) => one.breaks === breaks).map(({ how }) => looksFor(`${name}: ${how}`));
}

/** A token that has ended, one that does not hold yet, and one of another issuer and audience where these are stated: whoever gives them out alone can make them. */
export function looksAtTokens(model: Model, { subject }: LedgerFact): Obligation[] {
  const scheme = entryOf(model.spec.authentication.schemes, subject);
  const isToken = scheme !== undefined && isTokenScheme(scheme);
  if (!isToken) return looksNear(model, subject, 'token formats');
  const nowMs = Date.now();
  const kinds: readonly (readonly [name: string, isSo: (token: Token) => boolean])[] = [
    ['one that has ended', (token) => endedBy(token, nowMs)],
    ['one that does not hold yet', (token) => beginsAfter(token, nowMs)],
    ...(scheme.issuer === undefined
      ? []
      : [['one of another issuer', ({ claims }: Token) => claims.iss !== scheme.issuer] as const]),
    ...(scheme.audience === undefined
      ? []
      : [['one for another audience', ({ claims }: Token) => ![claims.aud].flat().includes(scheme.audience ?? '')] as const]),
  ];
  const bad = model.strangers.filter(({ credential }) => credential?.scheme.name === subject);
  return [
    { name: 'one that was made of a good one', isMetBy: ({ claim }) => claim.reason.startsWith(`${subject}: `) },
    ...kinds.map(([name, isSo]): Obligation => {
      const given = bad.filter(({ credential }) => {
        const token = credential && readToken(credentialParts(credential).text);
        return token !== undefined && isSo(token);
      });
      return {
        name,
        ...(given.length === 0 && { why: 'none was given, with the word `bad`' }),
        isMetBy: ({ claim }) => given.some(({ bad: word }) => word === claim.reason),
      };
    }),
  ];
}
