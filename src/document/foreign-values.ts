import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import type { Json } from './document.ts';
import type { Gathering } from './gathering.ts';
import { readJson } from './json.ts';
import { type Source, snippetOf } from './source.ts';
import { readYaml } from './yaml.ts';

/**
 * The value of a text in JSON or YAML, without the places of what it holds: a document of megabytes is read by the platform's
 * own parser, or by one that keeps no tree. A text that they do not take is read again by the readers that say what is wrong.
 */
export function foreignValue(source: Source, gathering: Gathering): Json | undefined {
  const { text } = source;
  const isJson = /^\s*[{[]/.test(text);
  const value = isJson
    ? parsed(() => JSON.parse(text))
    : (parsed(() => load(text, plain)) ?? parsed(() => bounded(load(text, merging), gathering)));
  if (value !== undefined) return value;
  const snippet = snippetOf(source, [[0, text.length]]);
  return (isJson ? readJson(snippet, '', 0, gathering) : readYaml(snippet, '', 0, gathering))?.value;
}

function parsed(parse: () => unknown): Json | undefined {
  try {
    // Both parsers make values of JSON and nothing else.
    return parse() as Json;
  } catch {
    return undefined;
  }
}

/** Most texts have no alias, and nothing has to be counted. */
const plain = { schema: CORE_SCHEMA, maxAliases: 0, maxDepth: 200 };
/** Merge keys are no word of YAML 1.2, and many documents of OpenAPI have them. */
const merging = { schema: CORE_SCHEMA.withTags(mergeTag), maxAliases: 10_000, maxDepth: 200 };

/** @throws {RangeError} where aliases stand for more values than are read, or stand in what they name. */
function bounded(value: unknown, { bounds }: Gathering): unknown {
  let count = 0;
  const walk = (inner: unknown, depth: number): void => {
    count += 1;
    if (count > bounds.values / 10 || depth > bounds.depth) throw new RangeError('Aliases stand for too much.');
    if (typeof inner === 'object' && inner !== null) for (const member of Object.values(inner)) walk(member, depth + 1);
  };
  walk(value, 0);
  return value;
}
