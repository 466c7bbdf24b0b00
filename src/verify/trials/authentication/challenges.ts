import { isToken } from '../../../kinds/http-token.ts';
import { acceptedSets, kindOfScheme, type Scheme, schemePrefix } from '../../../parts/authentication.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { guardedDoors, knockableSchemes } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { type HeldRule, isByRule } from '../../model/promises.ts';

/** The reason of a claim about the challenges of a 401. */
export const challenged = 'challenge';

/** What a 401 at an endpoint has to say of how one shows who one is; nothing where it need not say it. */
export function challengeJudge(model: Model, endpoint: Endpoint): ((seen: TrialExchange) => Judgement) | undefined {
  if (!model.isHeld(challengeRule(model), endpoint)) return undefined;
  const words = model.isHeld('a challenge with 401', endpoint) ? standardWords(model, endpoint) : [];
  return (seen) => challengeJudgement(seen) ?? eachJudgement(seen, words);
}

/** Whether a 401 somewhere has to have a challenge. */
export function hasChallenges(model: Model): boolean {
  return guardedDoors(model).some(({ endpoint }) => isByRule(endpoint) && model.isHeld(challengeRule(model), endpoint));
}

/** The words of the schemes that may be shown at an endpoint and whose standard has a challenge, in lower case. */
function standardWords(model: Model, endpoint: Endpoint): string[] {
  const names = new Set(acceptedSets(model.spec.authentication, endpoint).flat());
  const schemes = knockableSchemes(model).filter((one) => names.has(one.name) && hasStandardChallenge(one));
  return [...new Set(schemes.map((one) => schemePrefix(one)?.toLowerCase() ?? ''))];
}

function hasStandardChallenge(scheme: Scheme): boolean {
  const kind = kindOfScheme(scheme);
  const isAuthorization = scheme.in === 'header' && statedValue(scheme.carrier)?.toLowerCase() === 'authorization';
  const isOwnWord = schemePrefix(scheme)?.toLowerCase() === kind?.prefix?.toLowerCase();
  return kind?.hasStandardChallenge === true && isAuthorization && isOwnWord;
}

/** A 401 has a challenge of each of these schemes (RFC 6750 section 3, RFC 7617 section 2). */
function eachJudgement({ headers }: TrialExchange, words: readonly string[]): Judgement {
  const { 'www-authenticate': field = '' } = headers;
  const told = challengeWords(field);
  const lacking = words.find((word) => !told.includes(word));
  return lacking === undefined
    ? undefined
    : { promised: `a challenge of each scheme that may be shown, ${lacking} among them`, seen: `WWW-Authenticate is ${field}` };
}

/** The schemes of the challenges in a `WWW-Authenticate` field, in lower case; parameters have a `=` behind their name. */
export function challengeWords(field: string): string[] {
  const parts = field.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').split(',');
  return parts.flatMap((part) => {
    const [word = '', next = ''] = part.trim().split(/\s+/);
    return isToken(word) && !next.startsWith('=') ? [word.toLowerCase()] : [];
  });
}

/** Which rule a challenge is held by: a scheme's own standard, where one that is accepted has one and stands where HTTP has it. */
function challengeRule(model: Model): HeldRule {
  return knockableSchemes(model).some(hasStandardChallenge)
    ? 'a challenge with 401'
    : 'a challenge with 401 for a credential of its own';
}

/** A 401 says by what scheme one has to show who one is (RFC 9110 section 15.5.2). */
function challengeJudgement(seen: TrialExchange): Judgement {
  if (seen.status !== 401) return moot('it is no 401');
  const flaw = challengeFlaw(seen.headers['www-authenticate']);
  return flaw === undefined
    ? undefined
    : { promised: 'a 401 has a challenge in WWW-Authenticate (RFC 9110 section 15.5.2)', seen: flaw };
}

/** What is wrong with the challenges of a 401 (RFC 9110 section 11.6.1): there has to be one, by a scheme's name. */
export function challengeFlaw(field: string | undefined): string | undefined {
  if (field === undefined || field.trim() === '') return 'there is no WWW-Authenticate';
  const [first = ''] = field.trim().split(/\s+/);
  return isToken(first) ? undefined : `WWW-Authenticate is ${field}, which begins with no scheme`;
}
