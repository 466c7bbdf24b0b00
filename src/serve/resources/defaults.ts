import type { Json, JsonMap } from '../../document/document.ts';
import { constantsOf, fitsBranch } from '../../parts/branch-constants.ts';
import type { Shape } from '../../parts/shape.ts';
import { type Level, levelOf } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { copy } from '../http/json.ts';

/** Fills in, in place, the defaults of members that a value leaves out, at every depth at which objects are stated. */
type Fill = (value: Value) => void;

/** Compiles it for a shape; nothing where no default stands in it. */
export function compileDefaults(spec: Spec, shape: Shape): Fill | undefined {
  return new Filler(spec).ofShape(shape, 0);
}

/** Shapes can be recursive: values deeper than this get no defaults. */
const depthMax = 32;

class Filler {
  readonly #spec: Spec;
  readonly #byResource = new Map<string, { readonly fill: Fill | undefined }>();
  /** What was filled for a resource since the first of them was begun. */
  #filled = new WeakMap<object, Set<string>>();
  #depth = 0;

  constructor(spec: Spec) {
    this.#spec = spec;
  }

  ofShape(shape: JsonMap, depth: number): Fill | undefined {
    if (depth > depthMax) return undefined;
    if (typeof shape.resource === 'string') return this.#ofResource(shape.resource, depth);
    return this.#ofLevel(levelOf(this.#spec, shape), depth);
  }

  #ofLevel(level: Level, depth: number): Fill | undefined {
    const members = level.members.map(({ name, shape, field }): Member => {
      const value = field ? field.default?.value : shape.default;
      return { name, value, fill: this.ofShape(shape, depth + 1) };
    });
    const items = level.items && this.ofShape(level.items, depth + 1);
    return inTurn([combine(members, items), ...level.branches.map((branch) => this.#ofBranch(branch, depth))]);
  }

  /** A branch of a union fills what its constants do not rule out. */
  #ofBranch(branch: JsonMap, depth: number): Fill | undefined {
    const fill = this.ofShape(branch, depth + 1);
    if (!fill) return undefined;
    const constants = constantsOf(this.#spec, branch);
    return (value) => (fitsBranch(value, constants) ? fill(value) : undefined);
  }

  #ofResource(name: string, depth: number): Fill | undefined {
    const known = this.#byResource.get(name);
    if (known) return (value) => known.fill?.(value);
    const entry: { fill: Fill | undefined } = { fill: undefined };
    this.#byResource.set(name, entry);
    const fill = this.#ofLevel(levelOf(this.#spec, { resource: name }), depth);
    entry.fill = fill && ((value) => this.#once(name, value, fill));
    return entry.fill;
  }

  /** However many parts name a resource, a value is filled for it once. */
  #once(name: string, value: unknown, fill: Fill): void {
    if (typeof value !== 'object' || value === null) return;
    if (this.#depth === 0) this.#filled = new WeakMap();
    const names = this.#filled.get(value) ?? new Set<string>();
    this.#filled.set(value, names);
    if (names.has(name)) return;
    names.add(name);
    this.#depth += 1;
    try {
      fill(value);
    } finally {
      this.#depth -= 1;
    }
  }
}

interface Member {
  readonly name: string;
  readonly value: Json | undefined;
  readonly fill: Fill | undefined;
}

function combine(members: readonly Member[], items: Fill | undefined): Fill | undefined {
  const busy = members.filter(({ value, fill }) => value !== undefined || fill !== undefined);
  if (busy.length === 0 && !items) return undefined;
  return (value) => {
    if (Array.isArray(value)) {
      if (items) for (const item of value) items(item);
      return;
    }
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    // Not null and no list: an object.
    const fields = value as Fields;
    for (const member of busy) {
      const present = fields[member.name];
      if (present === undefined && member.value !== undefined)
        fields[member.name] = typeof member.value === 'object' ? copy(member.value) : member.value;
      else if (present !== undefined) member.fill?.(present);
    }
  };
}

function inTurn(fills: readonly (Fill | undefined)[]): Fill | undefined {
  const busy = fills.filter((fill) => fill !== undefined);
  if (busy.length < 2) return busy[0];
  return (value) => {
    for (const fill of busy) fill(value);
  };
}
