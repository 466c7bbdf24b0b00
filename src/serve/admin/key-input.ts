import type { Json, JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Accepted, acceptedSchemes } from '../authentication/accepted.ts';
import { usersOf } from '../authentication/callers.ts';
import { Unfit } from './command.ts';

/** The scheme that a key is given out for: the one that is named, else the first that there can be keys for. */
export function schemeFor(name: string | undefined, spec: Spec): Accepted {
  const kept = acceptedSchemes(spec).filter(({ kind: { proof } }) => proof?.by === 'key' || proof?.by === 'password');
  const names = kept.map(({ scheme }) => scheme.name);
  const found = name === undefined ? kept[0] : kept.find(({ scheme }) => scheme.name === name);
  if (found) return found;
  if (kept.length === 0) throw new Unfit('The document accepts no scheme that keys or passwords are given out for.');
  const meant = nearest(name ?? '', names);
  throw new Unfit(
    `"${name}" is no scheme that keys are given out for${meant === undefined ? `; there are ${names.join(', ')}.` : `. Did you mean ${meant}?`}`,
  );
}

/** The caller's user, one that the document states. */
export function userIn(input: JsonMap, spec: Spec): string {
  const [user, users] = [text(input, 'user'), usersOf({ spec })];
  if (users === undefined || users.length === 0) return user ?? '';
  if (user !== undefined && users.includes(user)) return user;
  if (user === undefined) throw new Unfit(`A key needs the user of its caller: ${users.join(', ')}.`);
  const meant = nearest(user, users);
  throw new Unfit(
    `"${user}" is no user of the document${meant === undefined ? `; there are ${users.join(', ')}.` : `. Did you mean ${meant}?`}`,
  );
}

/** The scopes that a key is made with. */
export function scopesIn({ scopes = [] }: JsonMap): string[] {
  const list = Array.isArray(scopes) ? scopes : [scopes];
  // RFC 6749 section 3.3.
  const bad = list.find((scope: Json) => typeof scope !== 'string' || !/^[!#-[\]-~]+$/.test(scope));
  if (bad !== undefined) throw new Unfit(`${JSON.stringify(bad)} is no scope: scopes are words.`);
  return [...new Set(list as string[])];
}

/** A text, where there is one. */
export function text(input: JsonMap, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new Unfit(`${name} is a text.`);
}

/** A number of milliseconds, where there is one. */
export function number(input: JsonMap, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)) return value;
  throw new Unfit(`${name} is a number of milliseconds.`);
}
