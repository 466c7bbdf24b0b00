import type { Json, JsonMap } from '../document/document.ts';
import { isMap, newMap } from '../document/values.ts';
import { formats } from '../kinds/formats/all.ts';
import { entryOf } from '../parts/fact.ts';
import { writableShape } from '../parts/payload.ts';
import { sampleOfPattern } from '../parts/samples/pattern.ts';
import { standardExamples } from '../parts/samples/standard-examples.ts';
import { isComposed, unionOf } from '../parts/shapes/branches.ts';
import type { Spec } from '../parts/spec.ts';
import { valueShape } from '../parts/value-shape.ts';

/**
 * A small value of a shape: required fields only, each as short as its bounds let it be. Undefined where none is found by
 * simple means, and for the identifier of a row, which has to exist first.
 */
export function sampleOf(spec: Spec, shape: JsonMap, name = 'text', depth = 0): Json | undefined {
  if (depth > depthMost || 'ref' in shape) return undefined;
  if ('const' in shape) return shape.const;
  const listed = [shape.enum, shape.examples].find((values) => Array.isArray(values) && values.length > 0);
  if (Array.isArray(listed)) return listed[0];
  if ('example' in shape) return shape.example;
  const union = unionOf(shape);
  if (union) return firstSample(spec, union.branches, name, depth);
  if (typeof shape.resource === 'string') {
    const whole = valueShape(spec, shape.resource);
    if (whole) return sampleOf(spec, whole, shape.resource, depth + 1);
    const resource = entryOf(spec.resources.all, shape.resource);
    return resource && sampleOf(spec, writableShape(spec, resource, []), shape.resource, depth + 1);
  }
  if (isComposed(shape)) return undefined;
  return sampleOfType(spec, shape, name, depth);
}

const depthMost = 8;

function firstSample(spec: Spec, shapes: readonly Json[], name: string, depth: number): Json | undefined {
  for (const shape of shapes) {
    const sample = isMap(shape) && shape.type !== 'null' ? sampleOf(spec, shape, name, depth + 1) : undefined;
    if (sample !== undefined) return sample;
  }
  return undefined;
}

function sampleOfType(spec: Spec, shape: JsonMap, name: string, depth: number): Json | undefined {
  const types = Array.isArray(shape.type) ? shape.type : [shape.type];
  switch (types.find((type) => type !== 'null')) {
    case 'object':
      return sampleMap(spec, shape, depth);
    case 'array':
      return sampleList(spec, shape, name, depth);
    case 'integer':
      return sampleNumber(shape, true);
    case 'number':
      return sampleNumber(shape, false);
    case 'boolean':
      return false;
    case 'string':
      return sampleText(shape, name);
    default:
      return undefined;
  }
}

function sampleMap(spec: Spec, shape: JsonMap, depth: number): Json | undefined {
  const required = Array.isArray(shape.required) ? shape.required.filter((key) => typeof key === 'string') : [];
  const properties = isMap(shape.properties) ? shape.properties : {};
  const sample = newMap();
  for (const key of required) {
    const property = Object.hasOwn(properties, key) ? properties[key] : {};
    const value = isMap(property) ? sampleOf(spec, property, key, depth + 1) : undefined;
    if (value === undefined) return undefined;
    sample[key] = value;
  }
  return sample;
}

function sampleList(spec: Spec, shape: JsonMap, name: string, depth: number): Json | undefined {
  const length = typeof shape.minItems === 'number' ? shape.minItems : 0;
  if (length === 0) return [];
  const item = isMap(shape.items) ? sampleOf(spec, shape.items, name, depth + 1) : undefined;
  return item === undefined || length > 1 ? undefined : [item];
}

/** The least number that the bounds allow, from 1 on where they allow it. */
function sampleNumber(shape: JsonMap, isWhole: boolean): number | undefined {
  if (typeof shape.format === 'string') {
    const example = formats.find(({ name, type }) => name === shape.format && type === 'number')?.example;
    if (typeof example === 'number') return example;
  }
  const bound = (key: string): number | undefined => (typeof shape[key] === 'number' ? shape[key] : undefined);
  const step = bound('multipleOf') ?? (isWhole ? 1 : undefined);
  const above = bound('exclusiveMinimum');
  const least = bound('minimum') ?? (above === undefined ? undefined : above + (step ?? 0.5));
  const most = bound('maximum') ?? bound('exclusiveMaximum');
  const wished = least ?? (most !== undefined && most < 1 ? most - (step ?? 1) : 1);
  return step === undefined ? wished : Math.ceil(wished / step) * step;
}

function sampleText(shape: JsonMap, name: string): string | undefined {
  const least = typeof shape.minLength === 'number' ? shape.minLength : 1;
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  if (typeof shape.pattern === 'string') {
    const text = sampleOfPattern(shape.pattern);
    return text !== undefined && text.length >= least && text.length <= most ? text : undefined;
  }
  if (typeof shape.format === 'string') {
    const own = formats.find((format) => format.name === shape.format)?.example;
    return typeof own === 'string' ? own : standardExamples.get(shape.format);
  }
  if (least > textMost) return undefined;
  const text = name.replaceAll(/[_-]+/g, ' ');
  return text.padEnd(least, '.').slice(0, most);
}

const textMost = 200;
