import { hash } from 'node:crypto';
import { entriesOf, isStated } from '../../parts/fact.ts';
import { namesOperation } from '../../parts/operations.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import { madeUpAttributes, withAttributes } from './callers.ts';
import { scopesOf } from './development.ts';
import { compileForeign } from './origin.ts';
import { type Identified, type Identify, isCalledCredential } from './presented.ts';
import type { Means } from './proofs.ts';

/**
 * Takes credentials that a client of a trial has anyhow, besides those that the service makes: wherever one is shown, behind a word or as a part of a longer
 * text of a header, as a name or a password of Basic (RFC 7617 section 2), or as a parameter of the query, but in no cookie, which browsers send by
 * themselves. Where the document states no schemes, nobody calls without one but at what is public.
 * @throws {TypeError} for a text that is empty, which every request would show, and for a service that others rely on
 */
export function withBrought(
  identify: Identify,
  brought: readonly string[],
  means: Means & { readonly isProduction: boolean },
): Identify {
  if (means.isProduction) throw new TypeError('acceptCredentials is for trials: leave it out in production.');
  if (brought.some((text) => text.trim() === '')) throw new TypeError('acceptCredentials: an empty text is no credential.');
  const { spec, user } = means.compilation;
  const { schemes, public: names } = spec.authentication;
  const scopes = [...new Set(entriesOf(schemes).flatMap(([, scheme]) => scopesOf(spec, scheme)))];
  const attributes = madeUpAttributes(spec);
  const known = brought.map((text) => {
    const id = `brought-${hash('sha256', text, 'hex').slice(0, 12)}`;
    const caller: Caller = Object.freeze(withAttributes({ id, user: user ?? '', scopes, key: 'brought' }, attributes));
    return { shows: compileShown(text), identified: Object.freeze({ caller }) };
  });
  const isForeign = compileForeign(means);
  return (call, plan) => {
    const found = known.find(({ shows }) => shows(call));
    if (found && !isForeign(call)) return found.identified;
    if (isStated(schemes) || namesOperation(names, plan.operation)) return identify(call, plan);
    return showsAny(call) ? bad : missing;
  };
}

const bad: Identified = { refusal: { when: 'caller.unknown.bad' } };
const missing: Identified = { refusal: { when: 'caller.unknown.missing' } };

function showsAny({ headers }: Call): boolean {
  return Object.keys(headers).some(isCalledCredential);
}

/** Compiles whether a request shows a text as its credential. */
function compileShown(text: string): (call: Call) => boolean {
  const within = new RegExp(`(?:^|[\\s"'=:,])${RegExp.escape(text)}(?:$|[\\s"',;/])`);
  const inQuery = new Set([text, encodeURIComponent(text)]);
  const isIn = (value: string) => within.test(value) || isPartOfBasic(value, text);
  return ({ headers, query }) =>
    Object.entries(headers).some(
      ([name, value]) => name !== 'cookie' && (typeof value === 'string' ? isIn(value) : value?.some(isIn)),
    ) ||
    (query !== '' && query.split('&').some((pair) => inQuery.has(pair.slice(pair.indexOf('=') + 1))));
}

/** Whether a name and a password, as Basic has them, are the text, or one of them is. */
function isPartOfBasic(value: string, text: string): boolean {
  const encoded = /^Basic\s+([\w+/=-]+)$/i.exec(value)?.[1];
  if (encoded === undefined) return false;
  const pair = Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  return pair === text || (colon >= 0 && (pair.slice(0, colon) === text || pair.slice(colon + 1) === text));
}
