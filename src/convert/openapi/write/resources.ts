import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import { type Answer, isOfChosen } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isAlwaysShown, isEverShown, isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { identifierType } from '../../../parts/schemas.ts';
import { fitsAny, hasMeaning } from '../../../parts/shapes/branches.ts';
import { alternativesWord } from '../../../parts/shapes/keywords.ts';
import type { Spec } from '../../../parts/spec.ts';
import { machineOn } from '../../../parts/states.ts';
import { followsKey, formKey, orChosenForm, prefix, resourceKey, valueKey } from '../own/stated-schema.ts';
import { paginationFor } from './following-parameters.ts';
import { statedSchema, writeDeprecated } from './stated-schema.ts';
import { type ExportWriting, statedAt } from './writing.ts';

/**
 * A resource as the schema of its answers. What is stated of it beside its fields, its machine among it, stands there too, and
 * what is neither ever shown nor sent is no property.
 */
export function resourceSchema(resource: Resource, writing: ExportWriting): JsonMap {
  const { name } = resource;
  const { tree } = writing.spec.document;
  const stated = statedAt(tree, 'resources', name);
  const out = newMap();
  const description = writing.prose(resource.at).join('\n\n');
  if (description !== '') out.description = description;
  const whole = resource.shape && isStated(resource.shape) && isMap(stated) ? stated.shape : undefined;
  if (whole === undefined) out.type = 'object';
  else {
    const schema = statedSchema(whole, writing, 'answer');
    if (description !== '' && schema.description === undefined) out[followsKey] = ['description'];
    Object.assign(out, schema, { [valueKey]: true });
  }
  out[resourceKey] = name;
  if (!isMap(stated)) return out;
  for (const [key, value] of Object.entries(stated)) {
    if (whole !== undefined) {
      if (key !== 'shape') out[`${prefix}${key}`] = value;
    } else if (key === 'fields') writeFields(out, value, resource, writing);
    else if (key === 'required') continue;
    else if (key === 'additionalProperties' && typeof value === 'boolean') continue;
    else if (key === 'deprecated') writeDeprecated(out, value);
    else out[`${prefix}${key}`] = value;
  }
  if (whole === undefined && isStated(resource.fields)) {
    writeRequired(out, stated, resource, writing.spec);
    out.additionalProperties = resource.additionalProperties;
  }
  const machine = statedAt(tree, 'states', name);
  if (machine !== undefined) out[`${prefix}states`] = machine;
  return out;
}

function writeFields(out: OpenMap, stated: Json, resource: Resource, writing: ExportWriting): void {
  if (!isMap(stated) || !isStated(resource.fields)) {
    out[`${prefix}fields`] = stated;
    return;
  }
  const properties = newMap();
  const unmet = newMap();
  for (const [name, field] of entriesOf(resource.fields)) {
    const value = stated[name];
    if (value === undefined) continue;
    if (isEverShown(field) || isWritable(writing.spec, resource, field))
      properties[name] = propertyOf(value, resource, field, writing);
    else unmet[name] = value;
  }
  out.properties = properties;
  if (Object.keys(unmet).length > 0) out[`${prefix}fields`] = unmet;
}

/** The required properties: of a list as far as every answer has them, of the fields' own flags those that say so. */
function writeRequired(out: OpenMap, stated: JsonMap, { fields }: Resource, spec: Spec): void {
  const required = entriesOf(fields).filter(([, field]) => statedValue(field.required) === true && isAlwaysShown(spec, field));
  const list: readonly Json[] = Array.isArray(stated.required) ? stated.required : [];
  const names = required.map(([name]) => name).sort((one, other) => list.indexOf(one) - list.indexOf(other));
  if (stated.required === undefined) out[`${prefix}flags`] = 'own';
  else if (!Array.isArray(stated.required) || list.join('\n') !== names.join('\n')) out[`${prefix}required`] = stated.required;
  if (names.length > 0) out.required = names;
}

function propertyOf(stated: Json, resource: Resource, field: Field, writing: ExportWriting): JsonMap {
  const { spec } = writing;
  const written = field.children ? childrenWords(stated, writing) : statedSchema(stated, writing, 'answer');
  const follows: string[] = [];
  const property = newMap();
  const add = (word: string, value: Json): void => {
    if (Object.hasOwn(written, word)) return;
    follows.push(word);
    property[word] = value;
  };
  const description = writing.prose(field.at).join('\n\n');
  if (description !== '') add('description', description);
  Object.assign(property, written);
  if (field.children && isStated(field.shape))
    for (const [word, value] of Object.entries(writing.schemas.shape(field.shape.value, 'answer'))) add(word, value);
  const states = statedValue(machineOn(spec.states, resource.name, field.name)?.states);
  if (states && !hasMeaning(written, 'alternatives')) {
    add('type', 'string');
    add('enum', [...states]);
  }
  if (!isStated(field.shape) && statedValue(resource.identifier)?.field === field.name)
    add('type', identifierType(spec, resource.name));
  if (!isEverShown(field)) add('writeOnly', true);
  else if (!isWritable(spec, resource, field)) add('readOnly', true);
  const whole = shownWhole(resource, field, writing);
  if (whole) showWhole(property, whole, follows);
  if (follows.length > 0) property[followsKey] = follows;
  return property;
}

/** What is stated of children; how many there may be is of creations alone. */
function childrenWords(stated: Json, writing: ExportWriting): JsonMap {
  const out = newMap();
  for (const [word, value] of Object.entries(statedSchema(stated, writing, 'answer')))
    out[word === 'minItems' || word === 'maxItems' ? `${prefix}${word}` : word] = value;
  return out;
}

/** What may stand in the place of a reference's identifier. */
function shownWhole(resource: Resource, { ref, show }: Field, writing: ExportWriting): JsonMap | undefined {
  if (typeof show === 'object') return writing.schemas.shape(show, 'answer');
  if (ref === undefined || show === 'id' || !(show === 'expand' || writing.expandable(resource.name))) return undefined;
  return writing.schemas.resource(ref, 'answer');
}

/** The identifier or the whole: the type stands in a branch, and both branches follow. */
function showWhole(property: OpenMap, whole: JsonMap, follows: string[]): void {
  const { type } = property;
  if (hasMeaning(property, 'alternatives') || type === undefined) return;
  delete property.type;
  Object.assign(property, fitsAny<Json>([{ type }, whole]));
  follows.push(alternativesWord);
}

/** A row, or what its caller chose of it. */
export function orChosen(whole: JsonMap, { select }: Endpoint, resource: string, { schemas }: ExportWriting): JsonMap {
  return select ? fitsAny<Json>([whole, schemas.resource(resource, 'chosen')]) : whole;
}

/** What an answer states, or, where that is the row itself and its caller may choose, what was chosen of it. */
export function statedOrChosen(shape: Json, answer: Answer | undefined, endpoint: Endpoint, writing: ExportWriting): JsonMap {
  const whole = statedSchema(shape, writing, 'answer');
  const resource = resourceOfEffect(statedValue(endpoint.does));
  if (!answer || resource === undefined || !isOfChosen(endpoint, answer)) return whole;
  return { ...orChosen(whole, endpoint, resource, writing), [formKey]: orChosenForm };
}

/** The schema of a list's answer: the stated envelope around its rows, or a bare array. */
export function pageSchema(endpoint: Endpoint, resource: string, writing: ExportWriting): JsonMap {
  const pagination = paginationFor(endpoint, writing.spec.limits.pagination);
  const row = orChosen(writing.schemas.resource(resource, 'answer'), endpoint, resource, writing);
  const rows = { type: 'array', items: row, ...longest(pagination) };
  if (pagination?.items === undefined) return rows;
  const properties = newMap();
  for (const [name, value] of Object.entries(pagination.data)) properties[name] = { const: value };
  properties[pagination.items] = rows;
  for (const { name, schema } of membersOf(pagination)) properties[name] = schema;
  const page = { type: 'object', properties, required: Object.keys(properties), [followsKey]: true };
  return writing.schemas.defineOnce(`${resource}_list`, page);
}

/** An example of the page. */
export function pageExample(endpoint: Endpoint, resource: string, writing: ExportWriting): Json | undefined {
  const row = writing.examples.ofResource(resource, 'answer');
  if (row === undefined) return undefined;
  const pagination = paginationFor(endpoint, writing.spec.limits.pagination);
  if (pagination?.items === undefined) return [row];
  const page = newMap();
  Object.assign(page, pagination.data);
  page[pagination.items] = [row];
  for (const { name, example } of membersOf(pagination)) page[name] = example;
  return page;
}

function longest(pagination: Pagination | undefined): JsonMap {
  return isCut(pagination) && pagination.max !== undefined ? { maxItems: pagination.max } : {};
}

interface Member {
  readonly name: string;
  readonly schema: JsonMap;
  readonly example: Json;
}

/** What the envelope tells beside the rows. */
function membersOf({ style, isToldInBody, next, previous, hasMore, total, self }: Pagination): Member[] {
  const step = pageStyle(style).count ? 'integer' : 'string';
  const way = (name: string | undefined, description: string): Member[] =>
    name === undefined || !isToldInBody ? [] : [{ name, schema: { type: [step, 'null'], description }, example: null }];
  return [
    ...way(next, 'What the next page is asked for with; null on the last one.'),
    ...way(previous, 'What the page before is asked for with; null on the first one.'),
    ...(hasMore === undefined
      ? []
      : [{ name: hasMore, schema: { type: 'boolean', description: 'Whether there are more.' }, example: false }]),
    ...(total === undefined
      ? []
      : [{ name: total, schema: { type: 'integer', minimum: 0, description: 'How many there are in all.' }, example: 1 }]),
    ...(self === undefined
      ? []
      : [{ name: self, schema: { type: 'string', description: 'The path of this list, without its query.' }, example: '/' }]),
  ];
}
