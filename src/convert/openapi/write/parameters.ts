import type { JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import { choosingWords } from '../../../parts/choosing.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { choosingShape } from '../../../parts/reach.ts';
import type { Shape } from '../../../parts/shape.ts';
import { machineOn } from '../../../parts/states.ts';
import { componentName } from '../../spec/operation-names.ts';
import { followsKey, prefix } from '../own/words.ts';
import { followingParameters } from './following-parameters.ts';
import { statedSchema, writeDeprecated } from './stated-schema.ts';
import { type ExportWriting, statedAt } from './writing.ts';

/** The parameters of an endpoint: those that are stated, then those that its path, its pages, its headers and its version bring. */
export function writeParameters(endpoint: Endpoint, writing: ExportWriting): JsonMap[] {
  const stated = entriesOf(endpoint.parameters).map(([, parameter]) => statedParameter(parameter, endpoint, writing));
  const known = new Set(stated.map(({ in: place, name }) => `${String(place)} ${String(name).toLowerCase()}`));
  const own = followingParameters(endpoint, writing).filter(
    ({ in: place, name }) => !known.has(`${String(place)} ${String(name).toLowerCase()}`),
  );
  const isPath = ({ in: place }: JsonMap) => place === 'path';
  const all = [...stated, ...own.map((one) => (isPath(one) ? one : shared(one, writing)))];
  // The path's first, in its order, as readers expect them.
  return [...all.filter(isPath), ...all.filter((one) => !isPath(one))];
}

function shared(parameter: JsonMap, { components }: ExportWriting): JsonMap {
  return components.share('parameters', componentName(String(parameter.name)), parameter);
}

function statedParameter(parameter: Parameter, endpoint: Endpoint, writing: ExportWriting): JsonMap {
  const { name } = parameter;
  const stated = statedAt(writing.spec.document.tree, 'endpoints', endpoint.key, 'parameters', name);
  const words: JsonMap = isMap(stated) ? stated : newMap();
  const out = newMap();
  const follows: string[] = [];
  out.name = name;
  out.in = parameter.in;
  if (words.in === undefined) follows.push('in');
  if (parameter.in === 'path' || parameter.required) out.required = true;
  if (words.required === false) out[`${prefix}required`] = false;
  if (typeof words.description === 'string') out.description = words.description;
  if (words.deprecated !== undefined) writeDeprecated(out, words.deprecated);
  for (const [word, type] of [
    ['style', 'string'],
    ['explode', 'boolean'],
  ] as const) {
    const value = words[word];
    if (value !== undefined) out[typeof value === type ? word : `${prefix}${word}`] = value;
  }
  for (const word of ownWords) if (words[word] !== undefined) out[`${prefix}${word}`] = words[word];
  if (parameter.chooses && parameter.style !== undefined && words.style === undefined) {
    Object.assign(out, { style: parameter.style, explode: parameter.explode });
    follows.push('style', 'explode');
  }
  const own = isMap(stated) ? parameterSchema(words) : (stated ?? newMap());
  // A lone type says the same in short.
  const schema = isMap(own) && typeof own.type === 'string' && Object.keys(own).length === 1 ? own.type : own;
  const isBare = isMap(schema) && Object.keys(schema).every((word) => word === 'default');
  if (isBare) follows.push('schema');
  out.schema = isBare
    ? { ...writing.schemas.shape(followingShape(parameter, endpoint, writing), 'create'), ...(isMap(schema) ? schema : {}) }
    : statedSchema(schema, writing, 'create');
  if (isBare && isMap(schema) && schema.default !== undefined) out[`${prefix}default`] = schema.default;
  if (follows.length > 0) out[followsKey] = follows;
  return out;
}

/** The words that OpenAPI does not have. */
const ownWords = ['filters', 'op', 'sorts', 'directs', 'readOnly', ...choosingWords] as const;

const besides: ReadonlySet<string> = new Set<string>([
  ...['in', 'required', 'description', 'deprecated', 'style', 'explode'],
  ...ownWords,
]);

/** What is stated of a parameter's value. */
function parameterSchema(words: JsonMap): JsonMap {
  const schema = newMap();
  for (const [word, value] of Object.entries(words)) if (!besides.has(word)) schema[word] = value;
  return schema;
}

/** The shape that follows where none is stated: of a filter its field's, else a text. */
function followingShape(parameter: Parameter, endpoint: Endpoint, { spec }: ExportWriting): Shape {
  const { filters, op } = parameter;
  if (parameter.chooses) return choosingShape(spec, endpoint, parameter);
  if (isStated(parameter.shape)) return parameter.shape.value;
  if (filters === undefined || op === 'prefix' || op === 'contains') return { type: 'string' };
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = entryOf(spec.resources.all, name);
  const field = resource && entryOf(resource.fields, filters);
  const states = statedValue(machineOn(spec.states, name, filters)?.states);
  const one: Shape = states ? { type: 'string', enum: [...states] } : ((field && statedValue(field.shape)) ?? {});
  return op === 'in' ? { type: 'array', items: one } : one;
}
