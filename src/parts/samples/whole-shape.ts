/** Levels of shapes written out, and how deep their shallowest value is. */

import type { Json, JsonMap } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue } from '../fact.ts';
import { writableShape } from '../payload.ts';
import { identifierType } from '../schemas.ts';
import type { Shape } from '../shape.ts';
import { conjunctionOf, conjunctsOf, fitsAll, hasMeaning, unionsOf, withoutConjunction } from '../shapes/branches.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';
import { machineOn } from '../states.ts';

const depthMost = 32;

/** Writes out one level of shapes: a resource as the object that its rows are, a conjunction as one shape. What stands inside stays as it is. */
export class WholeShapes {
  readonly #spec: Spec;
  readonly #ofResources = new Map<string, Shape>();
  readonly #written = new Map<string, Shape>();
  readonly #isSent: boolean;

  /** `isSent`: a resource is what a caller may send of it. */
  constructor(spec: Spec, isSent = false) {
    this.#spec = spec;
    this.#isSent = isSent;
  }

  /** A shape without a resource or a conjunction at its top; names that only lead round to themselves say nothing. */
  of(shape: Shape, depth = 0): Shape {
    if (depth > depthMost) return {};
    if (typeof shape.resource === 'string') {
      const { resource, ...rest } = shape;
      const own = this.#ofName(resource, depth);
      return Object.keys(rest).length === 0 ? own : this.of(fitsAll<Json>([own, rest]), depth + 1);
    }
    if (!hasMeaning(shape, 'conjunction')) return shape;
    const parts = conjunctsOf(shape).map((part) => this.of(part, depth + 1));
    return mergeShapes([...parts, withoutConjunction(shape)]);
  }

  /** A resource written out once, however many shapes name it. */
  #ofName(name: string, depth: number): Shape {
    const known = this.#written.get(name);
    if (known) return known;
    // What is made of itself says nothing by that.
    this.#written.set(name, {});
    const written = this.of(this.ofResource(name), depth + 1);
    this.#written.set(name, written);
    return written;
  }

  /** What a resource is: a shape of its own, or a row with every field that it has to have. A state that is known to come first is the only one. */
  ofResource(name: string): Shape {
    const known = this.#ofResources.get(name);
    if (known) return known;
    const resource = entryOf(this.#spec.resources.all, name);
    const own = resource?.shape && statedValue(resource.shape);
    if (own) return this.#known(name, own);
    if (this.#isSent && resource) return this.#known(name, writableShape(this.#spec, resource, []));
    const fields = entriesOf(resource?.fields);
    const properties = Object.fromEntries(
      fields.map(([field, { shape, default: usual }]): [string, Json] => {
        const own = statedValue(shape) ?? {};
        const stated = usual && own.default === undefined ? { ...own, default: usual.value } : own;
        const states = statedValue(machineOn(this.#spec.states, name, field)?.states);
        return [field, states && stated.enum === undefined ? { ...stated, enum: [...states] } : stated];
      }),
    );
    const required = fields.flatMap(([field, entry]) => (statedValue(entry.required) && entry.stored ? [field] : []));
    const isClosed = resource !== undefined && fields.length > 0 && !resource.additionalProperties;
    return this.#known(name, { type: 'object', properties, required, ...(isClosed && { additionalProperties: false }) });
  }

  #known(name: string, shape: Shape): Shape {
    this.#ofResources.set(name, shape);
    return shape;
  }

  /** The JSON type of the identifiers of a resource. */
  identifierType(resource: string): Json {
    return identifierType(this.#spec, resource);
  }
}

/**
 * Several shapes that a value has to fit at once, as one: members and lists of what is required together, types that all
 * admit, and of every other keyword the first that says something. What this loses is found by testing what it leads to.
 */
function mergeShapes(shapes: readonly Shape[]): Shape {
  let merged: Record<string, Json> = Object.create(null);
  for (const shape of new Set(shapes)) merged = { ...merged, ...mergedKeywords(merged, shape) };
  return merged;
}

function mergedKeywords(before: JsonMap, shape: Shape): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(shape)) {
    const known = before[key];
    out[key] = known === undefined ? value : mergedKeyword(key, known, value);
  }
  return out;
}

function mergedKeyword(key: string, known: Json, value: Json): Json {
  if (key === 'properties' && isPlainMap(known) && isPlainMap(value)) return mergedMembers(known, value);
  // What stands in both has to fit both: a page of anything is narrowed to one of contacts.
  if (key === 'items' || key === 'additionalProperties') {
    const isBoth = isPlainMap(known) && isPlainMap(value) && known !== value;
    return isBoth ? fitsAll<Json>([known, value]) : known === true ? value : known;
  }
  if (key === 'required') return [...new Set([...listOf(known), ...listOf(value)])];
  if (key === 'type') {
    const both = wordsOf(known).filter((type) => wordsOf(value).some((other) => admits(other, type)));
    return both.length === 1 ? (both[0] ?? known) : both;
  }
  if (key === 'enum') return listOf(known).filter((one) => listOf(value).some((other) => other === one));
  if ((key === 'minimum' || key === 'minLength' || key === 'minItems') && isNumber(known) && isNumber(value))
    return Math.max(known, value);
  if ((key === 'maximum' || key === 'maxLength' || key === 'maxItems') && isNumber(known) && isNumber(value))
    return Math.min(known, value);
  return known;
}

function mergedMembers(known: JsonMap, value: JsonMap): JsonMap {
  const members: Record<string, Json> = { ...known };
  for (const [name, shape] of Object.entries(value)) {
    const before = members[name];
    const isBoth = before !== undefined && before !== shape && isPlainMap(before) && isPlainMap(shape);
    members[name] = isBoth ? fitsAll([before, shape]) : shape;
  }
  return members;
}

function admits(wide: string, narrow: string): boolean {
  return wide === narrow || (wide === 'number' && narrow === 'integer');
}

function wordsOf(value: Json): string[] {
  return (Array.isArray(value) ? value : [value]).filter((word: Json): word is string => typeof word === 'string');
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

/** How deep the shallowest value of each shape is, so that recursion is left by the shortest way; infinite where there is no end. */
export class Costs {
  readonly #whole: WholeShapes;
  readonly #ofResources = new Map<string, number>();

  constructor(whole: WholeShapes) {
    this.#whole = whole;
  }

  of(shape: Json): number {
    const met = new Set<string>();
    this.#measure(shape, met);
    if (met.size > 0) this.#settle(met);
    return this.#measure(shape, met);
  }

  /** What is known so far; resources that are not settled yet are added to those met. */
  #measure(shape: Json, met: Set<string>): number {
    if (!isPlainMap(shape)) return shape === false ? Number.POSITIVE_INFINITY : 0;
    if (typeof shape.resource === 'string') {
      const known = this.#ofResources.get(shape.resource);
      if (known === undefined) met.add(shape.resource);
      return 1 + (known ?? Number.POSITIVE_INFINITY);
    }
    if (shape.const !== undefined || Array.isArray(shape.enum) || admitsNull(shape)) return 0;
    const chosen = unionsOf(shape).map(({ branches }) => Math.min(...branches.map((branch) => this.#measure(branch, met))));
    const every = conjunctionOf(shape).map((part) => this.#measure(part, met));
    return Math.max(0, ...chosen, ...every, this.#members(shape, met));
  }

  #members(shape: Shape, met: Set<string>): number {
    const properties = isPlainMap(shape.properties) ? shape.properties : {};
    const required = listOf(shape.required).map((name) => (typeof name === 'string' && properties[name]) || {});
    const items =
      typeof shape.minItems === 'number' && shape.minItems > 0 ? [shape.items ?? {}, ...listOf(shape.prefixItems)] : [];
    const inner = [...required, ...items].map((one) => this.#measure(one, met));
    return inner.length === 0 ? 0 : 1 + Math.max(...inner);
  }

  /** Finds the costs of these resources and of all that they need, going round until nothing gets cheaper. */
  #settle(met: Set<string>): void {
    const own = new Set(met);
    for (const name of own) {
      const further = new Set<string>();
      this.#measure(this.#whole.ofResource(name), further);
      for (const other of further) own.add(other);
    }
    for (const name of own) this.#ofResources.set(name, Number.POSITIVE_INFINITY);
    for (let changed = true; changed; ) {
      changed = false;
      // Those met last are needed by those met first, so most are known after one round.
      for (const name of [...own].reverse()) {
        const cost = this.#measure(this.#whole.ofResource(name), new Set());
        if (cost >= (this.#ofResources.get(name) ?? 0)) continue;
        this.#ofResources.set(name, cost);
        changed = true;
      }
    }
  }
}

/** Whether null is a value of a shape by what stands at its top. */
export function admitsNull(shape: Shape): boolean {
  const { type } = shape;
  const isNamed = type === 'null' || (Array.isArray(type) && type.includes('null')) || shape.nullable === true;
  if (!isNamed) return false;
  return (!Array.isArray(shape.enum) || shape.enum.includes(null)) && shape.const === undefined;
}

/** A shape that admits null, without it. */
export function withoutNull(shape: Shape): Shape {
  const { nullable: _nullable, ...rest } = shape;
  if (!Array.isArray(shape.type)) return rest;
  const types = shape.type.filter((type: Json) => type !== 'null');
  return { ...rest, type: types.length === 1 ? (types[0] ?? []) : types };
}
