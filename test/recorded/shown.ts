import type { Chance } from '../../bench/drawn/chance.ts';
import type { Service } from '../../src/index.ts';
import type { Wanted } from './wanted.ts';

/** A request with the credentials of its caller, as they were made for this run; what is shown is no part of what is written down. */
export interface Showing {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  /** Whose they are and what is wrong with them, in words. */
  readonly words: string;
}

/** What a caller shows: the credentials of its user, now and then misspelt, cut off, another one's or shown in another way. */
export function shown({ credentials }: Service, { caller }: Wanted, chance: Chance): Showing {
  if (caller === undefined) return { headers: {}, query: '', words: 'nothing' };
  const how = chance.between(1, 20);
  const own = credentials.filter(({ user, signs }) => user === caller.user && signs === undefined);
  const some = how === 1 ? credentials.filter(({ signs }) => signs === undefined).slice(0, 3) : own;
  const headers: Record<string, string> = {};
  let query = '';
  for (const { in: place, name, value } of some) {
    const spoilt = spoil[how]?.(value) ?? value;
    if (place === 'query') query += `&${name}=${encodeURIComponent(spoilt)}`;
    else if (place === 'cookie') headers.cookie = [headers.cookie, `${name}=${spoilt}`].filter(Boolean).join('; ');
    else headers[name.toLowerCase()] = spoilt;
  }
  return { headers, query, words: `${caller.user} ${how}` };
}

const spoil: Readonly<Record<number, (value: string) => string>> = {
  2: (value) => `${value.slice(0, -3)}xyz`,
  3: (value) => value.slice(0, value.length / 2),
  4: () => '',
  5: (value) => value.replace(/^\w+ /, 'Other '),
  6: (value) => `${value}, ${value}`,
  7: (value) => value.replace(/^\w+ /, (word) => word.toLowerCase()),
  8: (value) => `${value} more`,
};
