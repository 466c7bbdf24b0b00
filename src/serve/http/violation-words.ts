/** The words of what is wrong with a value: which branch was meant, and what ajv says of it. */

import type { ErrorObject, ValidateFunction } from 'ajv';
import { below, pathOf } from '../../document/pointer.ts';
import { formats } from '../../kinds/formats/all.ts';
import { standardFormats } from '../../kinds/formats/standard.ts';
import { isUnion } from '../../parts/shapes/keywords.ts';
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

const meanings = new Map<string, string>([...standardFormats, ...formats].map(({ word, meaning }) => [word, meaning]));

/** Where the validators of inner schemas come from: `path` leads from a schema object to one in it, such as `items` or the second of some alternatives. */
export interface Branches {
  branch(parent: object, path: string): ValidateFunction | undefined;
}

/** An error with what ajv's `verbose` adds. */
type WireError = ErrorObject;

/**
 * Reduces the errors of a failed union to those of the branch that was meant: the one whose constants hold, else the one of the
 * right type with the fewest errors. Ajv leaves all branches' errors in front of the union's own; each branch is validated again
 * alone, which gives both its errors and how many to take away.
 */
export function reduceErrors(errors: readonly WireError[], branches: Branches, depth = 0): WireError[] {
  const reduced: WireError[] = [];
  for (let i = errors.length - 1; i >= 0; i--) {
    const error = errors[i];
    if (error === undefined || noise.has(error.keyword)) continue;
    const tried = depth < depthMost ? tryBranches(error, branches) : undefined;
    if (tried === undefined) {
      reduced.push(error);
      continue;
    }
    i -= tried.reduce((sum, { length }) => sum + length, 0);
    reduced.push(...choose(error, tried, branches, depth).toReversed());
  }
  return reduced.reverse();
}

/** Unions within each other that are looked into. */
const depthMost = 4;

/** Errors that only say that others follow from them. */
const noise = new Set(['if', 'propertyNames']);

/** The errors of each branch alone, in the order ajv met them; undefined where the error is about no branches. */
function tryBranches(error: WireError, branches: Branches): WireError[][] | undefined {
  const { keyword, parentSchema, schema, data } = error;
  if (parentSchema === undefined) return undefined;
  const errorsOf = (path: string, value: unknown): WireError[] => {
    const validate = branches.branch(parentSchema, path);
    return validate === undefined || validate(value) ? [] : [...(validate.errors ?? [])];
  };
  if (!isUnion(keyword) || !Array.isArray(schema)) return undefined;
  // Once two branches pass, ajv looks at no more.
  const passing: unknown = error.params.passingSchemas;
  const met = Array.isArray(passing) ? Math.max(...passing.map(Number)) + 1 : schema.length;
  return schema.slice(0, met).map((_, i) => errorsOf(`${keyword}/${i}`, data));
}

function choose(error: WireError, tried: readonly WireError[][], branches: Branches, depth: number): WireError[] {
  if (tried.some((errors) => errors.length === 0)) return [error];
  const candidates = tried.filter((errors) => !errors.some(isWrongType));
  if (candidates.length === 0) return [error];
  const constant = sharedConstant(candidates);
  if (constant !== undefined && candidates.length > 1) return [inside(error, constant)];
  const ranked = candidates.toSorted((a, b) => constantsOf(a).length - constantsOf(b).length || a.length - b.length);
  return reduceErrors(ranked[0] ?? [], branches, depth + 1).map((one) => inside(error, one));
}

function isWrongType({ keyword, instancePath }: WireError): boolean {
  return instancePath === '' && (keyword === 'type' || keyword === 'exactType');
}

/** A constant that does not hold: where, and what was wanted there. */
interface Mismatch {
  readonly place: string;
  readonly wanted: readonly unknown[];
  readonly error: WireError;
}

/** The constants that a branch wants of the value itself or of its members, and does not find. */
function constantsOf(errors: readonly WireError[]): Mismatch[] {
  return errors.flatMap((error) => {
    const { keyword, instancePath, schema, params, parentSchema } = error;
    if (/^(?:const|enum|exactConst|exactEnum)$/.test(keyword) && instancePath.lastIndexOf('/') <= 0) {
      return [{ place: instancePath, wanted: Array.isArray(schema) ? schema : [schema], error }];
    }
    if (keyword !== 'required' || instancePath !== '') return [];
    const name = String(params.missingProperty);
    const member: unknown = parentSchema?.properties?.[name];
    const wanted = isSchema(member) ? (member.const ?? member.exactConst) : undefined;
    const place = below('', name);
    return wanted === undefined
      ? []
      : [{ place, wanted: [wanted], error: { ...error, instancePath: place, params: {}, data: undefined } }];
  });
}

/** Where every branch wants another constant at one place, the error that names them all. */
function sharedConstant(candidates: readonly WireError[][]): WireError | undefined {
  const [first, ...others] = candidates.map(constantsOf);
  const shared = first?.find(({ place }) => others.every((mismatches) => mismatches.some((one) => one.place === place)));
  if (shared === undefined) return undefined;
  const same = [...(first ?? []), ...others.flat()].filter(({ place }) => place === shared.place);
  return { ...shared.error, keyword: 'enum', schema: [...new Set(same.flatMap(({ wanted }) => wanted))] };
}

function inside(outer: WireError, inner: WireError): WireError {
  return { ...inner, instancePath: outer.instancePath + inner.instancePath };
}
