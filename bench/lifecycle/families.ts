/** Families of operations that paths and methods alone show: what makes a thing, reads, lists, changes and deletes it. */
import type { Described, DescribedOperation } from './description.ts';

export interface Family {
  /** The path of the collection, as it is written. */
  readonly path: string;
  /** The last literal word of that path, in the singular. */
  readonly noun: string;
  /** What the parameter is called that names one thing. */
  readonly parameter: string;
  readonly create: DescribedOperation;
  /** Whether the caller says what a new thing is called, in the path. */
  readonly isNamed: boolean;
  readonly read: DescribedOperation;
  readonly list: DescribedOperation | undefined;
  readonly changes: readonly DescribedOperation[];
  readonly remove: DescribedOperation | undefined;
}

/** All families of a description, by the address of their collection (`addressOf`). */
export function familiesOf({ operations }: Described): ReadonlyMap<string, Family> {
  const byAddress = Map.groupBy(operations, ({ path }) => addressOf(path));
  const found = new Map<string, Family>();
  for (const [address, some] of byAddress) {
    if (!address.endsWith('/{}')) continue;
    const collection = address.slice(0, -'/{}'.length);
    const others = byAddress.get(collection) ?? [];
    const family = familyOf(some, others);
    if (family) found.set(collection, family);
  }
  return found;
}

/** A path without what its parameters are called, a slash at its end or the ending `.json`. */
export function addressOf(path: string): string {
  const plain = path.replaceAll(/\{[^{}]*\}/g, '{}').replace(/\.json$/, '');
  return plain.length > 1 ? plain.replace(/\/+$/, '') : plain;
}

function familyOf(item: readonly DescribedOperation[], collection: readonly DescribedOperation[]): Family | undefined {
  const by = (some: readonly DescribedOperation[], method: string) => some.find((one) => one.method === method);
  const read = by(item, 'GET');
  if (!read || !successOf(read).some(([, { schema }]) => schema)) return undefined;
  const posted = by(collection, 'POST');
  const put = by(item, 'PUT');
  // Most that is put changes what is there: a creation says so.
  const named = put && (put.answers.has('201') || /creat|upsert/.test(put.words)) ? put : undefined;
  const create = posted && isCreation(posted) ? posted : named;
  const path = create === posted && posted ? posted.path : read.path.replace(/\/\{[^{}]*\}[^/]*$/, '');
  const parameter = /\{([^{}]*)\}[^{}]*$/.exec(read.path)?.[1] ?? '';
  if (!create || create.isForeign || isOnlyLater(create) || parameter.startsWith('+')) return undefined;
  const words = path
    .replace(/\.json$/, '')
    .split('/')
    .filter((step) => step !== '' && !step.includes('{'));
  return {
    path,
    noun: singular(words.at(-1) ?? ''),
    parameter,
    create,
    isNamed: create !== posted,
    read,
    list: by(collection, 'GET'),
    changes: [by(item, 'PATCH'), put, by(item, 'POST')].filter((one) => one !== undefined).filter((one) => !one.isForeign),
    remove: by(item, 'DELETE'),
  };
}

/** What looks things up by POST makes none. */
function isCreation(operation: DescribedOperation): boolean {
  return !/search|query|\bfind|lookup|\blist\b|\bget\b/.test(operation.words) || /creat|add|\bnew\b/.test(operation.words);
}

/** Whether what it does is not done when it answers. */
export function isOnlyLater(operation: DescribedOperation): boolean {
  const statuses = successOf(operation).map(([status]) => status);
  return statuses.length === 0 || statuses.every((status) => status === '202');
}

/** What it answers when all goes well, by status. */
export function successOf({ answers }: DescribedOperation) {
  const good = [...answers].filter(([status]) => /^2/.test(status));
  return good.length > 0 ? good : [...answers].filter(([status]) => status === 'DEFAULT');
}

export function singular(word: string): string {
  if (/ies$/i.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/i.test(word)) return word.slice(0, -2);
  return /[^s]s$/i.test(word) ? word.slice(0, -1) : word;
}

/** A name without the ways in which it may be written. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
