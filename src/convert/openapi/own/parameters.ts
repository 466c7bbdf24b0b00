import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { isDeprecating, readStated, type SchemaReading } from './stated-schema.ts';
import { carriedWord, followingWords } from './words.ts';

/** Reads one stated parameter back. */
export function readParameter(parameter: JsonMap, reading: SchemaReading): Json {
  const out = newMap();
  const follows = followingWords(parameter);
  if (!follows.includes('in') && parameter.in !== undefined) out.in = parameter.in;
  for (const [key, value] of Object.entries(parameter)) {
    const word = carriedWord(key);
    if (word === 'required' && parameter.required === true) continue;
    if (word !== undefined && word !== 'follows') out[word] = value;
  }
  if (parameter.required === true && parameter.in !== 'path') out.required = true;
  for (const word of ['description', 'style', 'explode', 'deprecated'] as const) {
    if (parameter[word] !== undefined && out[word] === undefined) out[word] = parameter[word];
  }
  if (out.deprecated !== undefined && isDeprecating(out.deprecated) && parameter.deprecated !== true) delete out.deprecated;
  if (!follows.includes('schema')) takeSchema(out, readStated(parameter.schema ?? {}, reading));
  return out;
}

function takeSchema(out: OpenMap, schema: Json): void {
  if (isMap(schema)) for (const [word, value] of Object.entries(schema)) out[word] ??= value;
  else if (Array.isArray(schema)) Object.assign(out, { type: 'array', items: schema[0] ?? {} });
  else if (typeof schema === 'string') out.type = schema;
}
