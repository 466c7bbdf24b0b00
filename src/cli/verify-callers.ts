import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { GivenCaller } from '../verify/model/callers.ts';
import { Misspelt, Misuse } from './verb.ts';

/** `merchant=KEY`, or `merchant:m7=KEY` where the caller's identifier is m7. @throws {Misspelt} */
export function callerOf(word: string): GivenCaller {
  const match = /^([^=:]+)(?::([^=]+))?=(.+)$/s.exec(word);
  if (!match) throw new Misspelt('--as wants a user and a credential: --as merchant=KEY, or --as merchant:ID=KEY.');
  const [, user = '', id, credential = ''] = match;
  return { user, credential, ...(id !== undefined && { id }) };
}

/**
 * Reads a map from user to credential, or to a list of them.
 * @throws {Misuse} where the file is none.
 */
export async function readCallers(path: string): Promise<GivenCaller[]> {
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Misuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (typeof content !== 'object' || content === null) throw wrong(path, 'it is no map from user to credential');
  return Object.entries(content).flatMap(([user, given]: [string, unknown]) =>
    (Array.isArray(given) ? given : [given]).map((one: unknown) => givenCaller(path, user, one)),
  );
}

function givenCaller(path: string, user: string, given: unknown): GivenCaller {
  if (typeof given === 'string') return { user, credential: given };
  if (typeof given !== 'object' || given === null || !('credential' in given)) throw wrong(path, `${user} has no credential`);
  const { credential } = given;
  const text = (key: 'id' | 'scheme' | 'bad') => {
    const value: unknown = key in given ? (given as Record<string, unknown>)[key] : undefined;
    return value === undefined ? {} : { [key]: String(value) };
  };
  const scopes: unknown = 'scopes' in given ? given.scopes : undefined;
  return {
    user,
    credential: String(credential),
    ...text('id'),
    ...text('scheme'),
    ...text('bad'),
    ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
  };
}

function wrong(path: string, why: string): Misuse {
  return new Misuse(`${path}: ${why}; write \`merchant: { scheme: key, credential: KEY, id: m7 }\`.`);
}
