import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, jsonTypes } from '../../../document/values.ts';
import { describedAlways } from '../../../parts/samples/described-words.ts';
import { conjunctionOf, hasMeaning, unionOf } from '../../../parts/shapes/branches.ts';
import { keywordsThatMean } from '../../../parts/shapes/keywords.ts';

/** Reads the shapes of a document as they are written, short forms and names of resources included. */
export class Written {
  readonly resources: JsonMap;

  constructor(resources: JsonMap) {
    this.resources = resources;
  }

  /** The resource that a shape is, null aside: `customer`, `customer?`, `{ type: customer }`, and a conjunction that adds words about it alone. */
  resourceOf(shape: Json | undefined): string | undefined {
    const word = typeof shape === 'string' ? shape : isMap(shape) && typeof shape.type === 'string' ? shape.type : undefined;
    if (word === undefined) return isMap(shape) ? this.#describedResource(shape) : undefined;
    const name = word.endsWith('?') ? word.slice(0, -1) : word;
    return !jsonTypes.has(name) && Object.hasOwn(this.resources, name) ? name : undefined;
  }

  /** A resource, and beside it what only describes it. */
  #describedResource(shape: JsonMap): string | undefined {
    if (!hasMeaning(shape, 'conjunction') || !saysNoMore(shape)) return undefined;
    const [only, ...more] = conjunctionOf(shape).filter(
      (part) => !isMap(part) || !saysNoMore(part) || hasMeaning(part, 'conjunction'),
    );
    return more.length === 0 && (typeof only === 'string' || (isMap(only) && saysNoMore(only, 'type')))
      ? this.resourceOf(only)
      : undefined;
  }

  /** What a shape comes to once the names of values are followed: a map of keywords. */
  expand(shape: Json | undefined, steps = 0): JsonMap {
    if (Array.isArray(shape)) return { type: 'array', items: shape[0] as Json };
    if (typeof shape !== 'string' && !isMap(shape)) return {};
    const name = this.resourceOf(shape);
    if (name === undefined) return typeof shape === 'string' ? { type: shape.replace(/\?$/, '') } : shape;
    const resource = this.resources[name];
    if (!isMap(resource) || resource.shape === undefined || steps > 16) return { type: 'object' };
    return this.expand(resource.shape, steps + 1);
  }

  /**
   * The properties that a shape has for certain, by name; nothing where it is no map of known properties. What is named twice in a
   * conjunction is looked at once, so this ends however often parts name each other.
   */
  propertiesOf(shape: Json | undefined, seen = new Set<string>()): ShapeProperties | undefined {
    const name = this.resourceOf(shape);
    if (name !== undefined) {
      if (seen.has(name)) return undefined;
      seen.add(name);
    }
    const resource = name === undefined ? undefined : this.resources[name];
    if (isMap(resource) && isMap(resource.fields)) return { all: resource.fields, required: wordsOf(resource.required) };
    const expanded = this.expand(shape);
    const { properties, required } = expanded;
    // Of alternatives that are only one, that one is meant.
    const [only, ...more] = this.#formsOf(expanded) ?? [];
    const joined = only !== undefined && more.length === 0 ? [...conjunctionOf(expanded), only] : conjunctionOf(expanded);
    const parts = joined.flatMap((part) => this.propertiesOf(part, seen) ?? []);
    if (!isMap(properties) && parts.length === 0) return undefined;
    const all: Record<string, Json> = Object.create(null);
    for (const part of parts) Object.assign(all, part.all);
    return {
      all: Object.assign(all, isMap(properties) ? properties : {}),
      required: [...parts.flatMap((part) => part.required), ...wordsOf(required)],
    };
  }

  /** The alternatives of a union, null left out, and those that are deprecated where others are not; nothing where it is none. */
  alternativesOf(shape: Json | undefined): readonly Json[] | undefined {
    return this.#formsOf(this.expand(shape));
  }

  #formsOf(expanded: JsonMap): readonly Json[] | undefined {
    const forms = unionOf(expanded)?.branches.filter((one) => one !== 'null');
    const current = forms?.filter((one) => this.expand(one).deprecated !== true);
    return current === undefined || current.length === 0 ? forms : current;
  }

  /** The shape of the items of a list; of several parts of a conjunction the one whose items are a resource, as a page of anything is narrowed to one. */
  itemsOf(shape: Json | undefined, steps = 0): Json | undefined {
    const expanded = this.expand(shape);
    const { type, items } = expanded;
    const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
    if (isList || (type === undefined && items !== undefined)) return items;
    if (type !== undefined || steps > 4) return undefined;
    const all = conjunctionOf(expanded).flatMap((part) => this.itemsOf(part, steps + 1) ?? []);
    return all.find((one) => this.resourceOf(one) !== undefined) ?? all.at(-1);
  }

  /** The words that a shape lists, itself or in a part of its conjunction. */
  listedOf(shape: Json | undefined, steps = 0): readonly Json[] | undefined {
    const expanded = this.expand(shape);
    if (Array.isArray(expanded.enum)) return expanded.enum;
    if (steps > 4) return undefined;
    for (const part of conjunctionOf(expanded)) {
      const found = this.listedOf(part, steps + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** Whether a shape admits null. */
  admitsNull(shape: Json | undefined): boolean {
    if (typeof shape === 'string' && shape.endsWith('?')) return true;
    const { type, enum: allowed } = this.expand(shape);
    const holds = (list: Json | undefined) => Array.isArray(list) && (list.includes('null') || list.includes(null));
    return type === 'null' || holds(type) || holds(allowed) || (unionOf(this.expand(shape))?.branches.includes('null') ?? false);
  }

  /** The one value that a shape allows, wrapped. */
  constantOf(shape: Json | undefined): { readonly value: Json } | undefined {
    const { const: only, enum: allowed, type, description, pattern } = this.expand(shape);
    if (only !== undefined) return { value: only };
    if (Array.isArray(allowed)) return allowed.length === 1 ? { value: allowed[0] as Json } : undefined;
    const always = type === 'string' && pattern === undefined ? describedAlways('', description) : undefined;
    return always === undefined ? undefined : { value: always };
  }

  /** The only type of JSON that a shape has, null aside. Each resource on the way is looked at once. */
  typeOf(shape: Json | undefined, known = new Map<string, string | undefined>()): string | undefined {
    const name = this.resourceOf(shape);
    if (name === undefined) return this.#typeOf(shape, known);
    if (known.has(name)) return known.get(name);
    // What is made of itself says nothing by that.
    known.set(name, undefined);
    const type = this.#typeOf(shape, known);
    known.set(name, type);
    return type;
  }

  #typeOf(shape: Json | undefined, known: Map<string, string | undefined>): string | undefined {
    const expanded = this.expand(shape);
    const { type, enum: allowed } = expanded;
    if (type === undefined && hasMeaning(expanded, 'conjunction')) {
      for (const part of conjunctionOf(expanded)) {
        const found = this.typeOf(part, known);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    const union = type === undefined ? this.alternativesOf(shape) : undefined;
    if (union !== undefined) {
      const types = new Set(union.map((one) => this.typeOf(one, known)));
      return types.size === 1 ? [...types][0] : undefined;
    }
    if (typeof type === 'string') return type.replace(/\?$/, '');
    if (Array.isArray(type)) {
      const own = type.filter((word) => word !== 'null');
      return own.length === 1 ? String(own[0]) : undefined;
    }
    const [first] = Array.isArray(allowed) ? allowed : [];
    return typeof first === 'string' ? 'string' : undefined;
  }
}

/** Whether a shape has no words but those that ask nothing of a value, and its conjunction. */
function saysNoMore(shape: JsonMap, besides?: string): boolean {
  return Object.keys(shape).every((key) => key === besides || asksNothing.has(key));
}

const asksNothing: ReadonlySet<string> = new Set(keywordsThatMean('note', 'conjunction'));

export interface ShapeProperties {
  readonly all: JsonMap;
  readonly required: readonly string[];
}

export function wordsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === 'string') : [];
}
