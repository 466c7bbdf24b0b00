import { isSame } from '../../document/values.ts';
import type { Caller } from '../exchange/exchange.ts';
import { withAttributes } from './attributes.ts';

/** Several credentials name one caller, with the scopes of all of them; or nobody. */
export function oneCaller(callers: readonly Caller[]): Caller | undefined {
  const [first, ...others] = callers;
  if (!first || others.length === 0) return first;
  const { id, user } = first;
  const { attributes } = first;
  if (others.some((other) => other.id !== id || other.user !== user || !isSame(other.attributes, attributes))) return undefined;
  const scopes = [...new Set(callers.flatMap((caller) => caller.scopes))];
  const claims = callers.find((caller) => caller.claims)?.claims;
  const key = callers.find((caller) => caller.key !== undefined)?.key;
  return withAttributes({ id, user, scopes, ...(claims && { claims }), ...(key !== undefined && { key }) }, attributes);
}

/** Where any credential is good, several of them are one caller: the one of the first that shows all of them. */
export function joinedCaller(callers: readonly Caller[]): Caller | undefined {
  const [first, ...others] = callers;
  if (!first || others.length === 0) return first;
  const scopes = [...new Set(callers.flatMap((caller) => caller.scopes))];
  return { ...first, id: callers.map(({ id }) => id).join('+'), scopes };
}
