import { CORE_SCHEMA, load } from 'js-yaml';
import type { Json } from './document.ts';
import type { Gathering } from './gathering.ts';
import { readJson } from './json.ts';
import type { Source } from './source.ts';
import { snippetOf } from './source.ts';
import { readYaml } from './yaml.ts';

/**
 * The value of a text in JSON or YAML, without the places of what it holds: a document of megabytes is read by the platform's
 * own parser, or by one that keeps no tree. A text that they do not take is read again by the readers that say what is wrong.
 */
export function foreignValue(source: Source, gathering: Gathering): Json | undefined {
  const { text } = source;
  const isJson = /^\s*[{[]/.test(text);
  try {
    return isJson ? (JSON.parse(text) as Json) : (load(text, loading) as Json);
  } catch {
    const snippet = snippetOf(source, [[0, text.length]]);
    return (isJson ? readJson(snippet, '', 0, gathering) : readYaml(snippet, '', 0, gathering))?.value;
  }
}

/** Aliases are left to the reader that bounds what they stand for. */
const loading = { schema: CORE_SCHEMA, maxAliases: 0, maxDepth: 200 };
