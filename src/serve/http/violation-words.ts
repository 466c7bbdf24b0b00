import { below, pathOf } from '../../document/pointer.ts';
import { formats } from '../../kinds/formats/all.ts';
import { standardFormats } from '../../kinds/formats/standard.ts';
import { isUnion } from '../../parts/shapes/keywords.ts';
import type { WireError } from './ajv-branches.ts';
import { alikeItems } from './json.ts';
import { isSchema, type Schema } from './schema.ts';
import { cut, describeKind, describeValue, sort, type Violation, type ViolationSort } from './violation.ts';

/** Puts one of ajv's errors in words. Parameters (`placeOf`) are named by the first step of the path. */
export function toViolation(error: WireError, placeOf?: (name: string) => Violation['in']): Violation {
  const { path, found, expected } = describe(error);
  if (placeOf === undefined) return { in: 'body', path, found, expected, [sort]: sortOf(error) };
  const [name = ''] = pathOf(path);
  return { in: placeOf(name), path: name, found, expected };
}

function sortOf({ keyword, params }: WireError): ViolationSort {
  if (typeof params.missingProperty === 'string') return 'missing';
  if (typeof (params.additionalProperty ?? params.unevaluatedProperty) === 'string') return 'unknown';
  return keyword === 'type' || keyword === 'exactType' ? 'type' : 'value';
}

/** What a schema asks for, in a few words. */
function describeSchema(schema: Schema | boolean | undefined): string {
  if (!isSchema(schema)) return 'a value';
  if (schema.const !== undefined || schema.exactConst !== undefined)
    return `exactly ${describeValue(schema.const ?? schema.exactConst)}`;
  const allowed = schema.enum ?? schema.exactEnum;
  if (Array.isArray(allowed)) return listed(allowed);
  const format = schema.format ?? schema.exactFormat;
  if (typeof format === 'string') return formatMeaning(format);
  const types = schema.type ?? schema.exactType;
  if (types !== undefined) return typeWords(types);
  if (isSchema(schema.wireBytes)) return 'bytes';
  if (typeof schema.$ref === 'string' && /^\w+$/.test(schema.$ref))
    return `${/^[aeiou]/i.test(schema.$ref) ? 'an' : 'a'} ${schema.$ref}`;
  return 'a value';
}

interface Words {
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

function describe(error: WireError): Words {
  const { instancePath, params, parentSchema } = error;
  const keyword = error.keyword.startsWith('exact')
    ? error.keyword.charAt(5).toLowerCase() + error.keyword.slice(6)
    : error.keyword;
  const missing: unknown = params.missingProperty;
  if (typeof missing === 'string') {
    const properties = isSchema(parentSchema?.properties) ? parentSchema.properties : {};
    const stated = Object.hasOwn(properties, missing) ? properties[missing] : undefined;
    const expected = describeSchema(isSchema(stated) ? stated : undefined);
    return { path: below(instancePath, missing), found: 'nothing', expected };
  }
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof extra === 'string') {
    return {
      path: below(instancePath, cut(extra, 64)),
      found: 'a field that is not stated',
      expected: 'no such field',
    };
  }
  const words =
    (isUnion(keyword) ? unionWords : keywordWords.get(keyword))?.(error.schema, error) ?? 'a value that fits its shape';
  if (error.propertyName !== undefined) {
    const path = below(instancePath, cut(error.propertyName, 64));
    return { path, found: `the name ${describeValue(error.propertyName)}`, expected: `a name that is ${words}` };
  }
  return { path: instancePath, found: found(keyword, error), expected: words };
}

function found(keyword: string, { data, params, parentSchema }: WireError): string {
  if (keyword === 'maxLength' || keyword === 'minLength') return count([...String(data)].length, 'character');
  if (keyword === 'uniqueItems' && Array.isArray(data)) return `items ${alikeItems(data)?.join(' and ')} alike`;
  if (keyword === 'minProperties' || keyword === 'maxProperties')
    return count(Object.keys(isSchema(data) ? data : {}).length, 'field');
  if (Array.isArray(params.passingSchemas)) return `a value that fits ${params.passingSchemas.length} of them`;
  return parentSchema?.writeOnly === true ? describeKind(data) : describeValue(data);
}

type KeywordWords = (stated: unknown, error: WireError) => string;

const keywordWords = new Map<string, KeywordWords>([
  ['type', typeWords],
  ['enum', (stated) => (Array.isArray(stated) ? listed(stated) : 'a listed value')],
  ['const', (stated) => `exactly ${describeValue(stated)}`],
  ['minimum', (stated) => `at least ${stated}`],
  ['maximum', (stated) => `at most ${stated}`],
  ['exclusiveMinimum', (stated) => `more than ${stated}`],
  ['exclusiveMaximum', (stated) => `less than ${stated}`],
  ['multipleOf', (stated) => `a multiple of ${stated}`],
  ['minLength', (stated) => `a string of at least ${count(stated, 'character')}`],
  ['maxLength', (stated) => `a string of at most ${count(stated, 'character')}`],
  ['pattern', (stated) => `a string that matches ${cut(String(stated), 200)}`],
  ['format', (stated) => formatMeaning(String(stated))],
  ['minItems', (stated) => `at least ${count(stated, 'item')}`],
  ['maxItems', (stated) => `at most ${count(stated, 'item')}`],
  ['uniqueItems', () => 'items that differ'],
  ['items', (_stated, { params }) => `at most ${count(params.limit, 'item')}`],
  ['unevaluatedItems', (_stated, error) => itemsWords(error)],
  ['contains', (stated) => `an item that is ${describeSchema(isSchema(stated) ? stated : undefined)}`],
  ['minProperties', (stated) => `at least ${count(stated, 'field')}`],
  ['maxProperties', (stated) => `at most ${count(stated, 'field')}`],
  ['not', (stated) => `anything but ${describeSchema(isSchema(stated) ? stated : undefined)}`],
  ['false schema', () => 'nothing'],
  ['wireBytes', bytesWords],
]);

function itemsWords({ params, parentSchema }: WireError): string {
  const contains = parentSchema?.contains;
  return contains === undefined
    ? `at most ${count(params.limit, 'item')}`
    : `no item but ${describeSchema(isSchema(contains) ? contains : undefined)}`;
}

const unionWords: KeywordWords = (stated, { params }) =>
  Array.isArray(params.passingSchemas) ? 'exactly one of the stated forms' : branchWords(stated);

const typeNames = new Map([
  ['string', 'a string'],
  ['integer', 'an integer'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['object', 'an object'],
  ['array', 'a list'],
  ['null', 'null'],
]);

function typeWords(stated: unknown): string {
  const types = Array.isArray(stated) ? stated : [stated];
  return types.map((type) => typeNames.get(String(type)) ?? String(type)).join(' or ');
}

function listed(values: readonly unknown[]): string {
  const words = values.slice(0, 20).map((value) => (typeof value === 'string' ? cut(value, 64) : describeValue(value)));
  if (values.length > words.length) words.push(`${values.length - words.length} more`);
  return values.length === 1 ? `exactly ${describeValue(values[0])}` : `one of ${words.join(', ')}`;
}

function branchWords(stated: unknown): string {
  const words = Array.isArray(stated) ? [...new Set(stated.map((one) => describeSchema(isSchema(one) ? one : undefined)))] : [];
  return words.length === 0 || words.includes('a value') ? 'one of the stated forms' : words.join(' or ');
}

function bytesWords(stated: unknown): string {
  const { minimum, maximum } = isSchema(stated) ? stated : {};
  const least = minimum === undefined ? '' : ` at least ${count(minimum, 'byte')}`;
  const most = maximum === undefined ? '' : ` at most ${count(maximum, 'byte')}`;
  return least === '' && most === '' ? 'bytes' : `bytes, ${[least, most].filter(Boolean).join(' and').trim()}`;
}

function count(stated: unknown, noun: string): string {
  return `${stated} ${noun}${stated === 1 ? '' : 's'}`;
}

/** What a format asks for, in words. */
function formatMeaning(format: string): string {
  return meanings.get(format) ?? `a string of format ${format}`;
}

const meanings = new Map<string, string>([
  ['byte', 'bytes in base64'],
  ...[...standardFormats, ...formats].map(({ word, meaning }) => [word, meaning] as const),
]);
