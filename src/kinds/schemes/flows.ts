import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, newMap } from '../../document/values.ts';

/** OAuth 2.0's flows as OpenAPI writes them; nothing where there is none, or one lacks an address that OpenAPI asks for. */
export function openApiFlows(flows: JsonMap, scopes: JsonMap): JsonMap | undefined {
  const out = newMap();
  for (const [name, stated] of Object.entries(flows)) {
    const known = neededWords.get(camelCase(name));
    if (!known || !isMap(stated)) return undefined;
    const addresses = newMap();
    for (const [word, value] of Object.entries(stated)) if (addressWords.has(camelCase(word))) addresses[camelCase(word)] = value;
    if (!known.every((word) => typeof addresses[word] === 'string')) return undefined;
    out[camelCase(name)] = { ...addresses, scopes: { ...scopes } };
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** The flows, and the scopes of all of them, as this language writes them. */
export function statedFlows(flows: JsonMap): { readonly flows: JsonMap; readonly scopes: JsonMap } {
  const out = newMap();
  const scopes = newMap();
  for (const [name, flow] of Object.entries(flows)) {
    const addresses = newMap();
    for (const [word, value] of Object.entries(isMap(flow) ? flow : {})) {
      if (word === 'scopes' && isMap(value)) Object.assign(scopes, value);
      else if (addressWords.has(word)) addresses[snakeCase(word)] = value;
    }
    out[snakeCase(name)] = addresses;
  }
  return { flows: out, scopes };
}

/** Every flow as AsyncAPI writes it of which enough is stated, with the scopes that can be asked for in each of them. */
export function asyncApiFlows(flows: JsonMap, scopes: JsonMap): JsonMap | undefined {
  const out = newMap();
  for (const [name, stated] of Object.entries(flows)) {
    const needed = neededWords.get(camelCase(name));
    const addresses = newMap();
    for (const [word, url] of Object.entries(isMap(stated) ? stated : {})) {
      const known = shortWords.get(camelCase(word)) ?? camelCase(word);
      if (addressWords.has(known)) addresses[known] = url;
    }
    if (needed?.every((word) => addresses[word] !== undefined))
      out[camelCase(name)] = { ...addresses, availableScopes: { ...scopes } };
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

const shortWords: ReadonlyMap<string, string> = new Map([
  ['authorization', 'authorizationUrl'],
  ['authorize', 'authorizationUrl'],
  ['token', 'tokenUrl'],
  ['refresh', 'refreshUrl'],
]);

const neededWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['authorizationCode', ['authorizationUrl', 'tokenUrl']],
  ['clientCredentials', ['tokenUrl']],
  ['implicit', ['authorizationUrl']],
  ['password', ['tokenUrl']],
]);
const addressWords: ReadonlySet<string> = new Set(['authorizationUrl', 'tokenUrl', 'refreshUrl']);

function camelCase(word: string): string {
  return word.replace(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(word: string): Json & string {
  return word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
