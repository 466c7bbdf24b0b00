/** A path as it is read for what it is about. */
export interface PathParts {
  readonly segments: readonly string[];
  /** The names of its parameters, in order. */
  readonly parameters: readonly string[];
  /** The parameter that is the whole last segment. */
  readonly last: string | undefined;
  /** The path before the last segment. */
  readonly parent: string;
}

/** Reads a path without its query and fragment. */
export function pathParts(path: string): PathParts {
  const real = plainPath(path);
  const segments = real.split('/').slice(1);
  const parameters = [...real.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] as string);
  return {
    segments,
    parameters,
    last: wholeParameter(segments.at(-1)),
    parent: segments.length === 0 ? '' : `/${segments.slice(0, -1).join('/')}`.replace(/^\/$/, ''),
  };
}

/** The name of a segment that is a parameter and nothing else. */
export function wholeParameter(segment: string | undefined): string | undefined {
  return /^\{([^{}]+)\}$/.exec(segment ?? '')?.[1];
}

/** The same path whatever its parameters are called. */
export function shapeOfPath(path: string): string {
  return plainPath(path).replaceAll(/\{[^{}]*\}/g, '{}');
}

/** A path as it is read: without query and fragment, `/messages/{sid}.json` as `/messages/{sid}`, `/things/{id}:cancel` as `/things/{id}/cancel`. */
function plainPath(path: string): string {
  return path
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .split('/')
    .map((segment) => segment.replace(/\.(?:json|xml)$/i, '').replace(/^([^:]+):([A-Za-z]\w*)$/, '$1/$2'))
    .join('/');
}

/** One of many, as English has it most of the time: `addresses` is `address`, `companies` `company`. */
export function singular(word: string): string {
  if (/(?:ss|us|is)$/i.test(word)) return word;
  if (/ies$/i.test(word)) return word.replace(/ies$/i, 'y');
  if (/(?:[sxz]|[cs]h)es$/i.test(word)) return word.replace(/es$/i, '');
  return word.replace(/s$/i, '');
}

/** The words of a name: `event_type_name` and `eventTypeName` are both three. */
export function wordsOfName(name: string): string[] {
  return name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** Whether a path ends in a word for making another of the same. */
export function isCopying(path: string): boolean {
  return wordsOfName(pathParts(path).segments.at(-1) ?? '').some(isCopyWord);
}

export function isCopyWord(word: string): boolean {
  return copying.has(word);
}

const copying: ReadonlySet<string> = new Set([
  'copy',
  'copies',
  'clone',
  'clones',
  'duplicate',
  'duplicates',
  'fork',
  'forks',
  'replicate',
]);
