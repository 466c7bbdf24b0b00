/** What a value is filled with where members of it are left out that have defaults. */

import type { Json, JsonMap } from '../document/document.ts';
import type { Shape } from './shape.ts';
import { constantsOf, fitsBranch, type Level, levelOf } from './shape-level.ts';
import type { Spec } from './spec.ts';

/** Fills in, in place, the defaults of members that a value leaves out, at every depth at which objects are stated. */
export type FillDefaults = (value: unknown) => void;

/** Compiles it for a shape; nothing where no default stands in it. */
export function compileDefaults(spec: Spec, shape: Shape): FillDefaults | undefined {
  return new Filler(spec).ofShape(shape, 0);
}

/** Shapes can be recursive: values deeper than this get no defaults. */
const depthMax = 32;

class Filler {
  readonly #spec: Spec;
  readonly #byResource = new Map<string, { readonly fill: FillDefaults | undefined }>();
  /** What was filled for a resource since the first of them was begun. */
  #filled = new WeakMap<object, Set<string>>();
  #depth = 0;

  constructor(spec: Spec) {
    this.#spec = spec;
  }

  ofShape(shape: JsonMap, depth: number): FillDefaults | undefined {
    if (depth > depthMax) return undefined;
    if (typeof shape.resource === 'string') return this.#ofResource(shape.resource, depth);
    return this.#ofLevel(levelOf(this.#spec, shape), depth);
  }

  #ofLevel(level: Level, depth: number): FillDefaults | undefined {
    const members = level.members.map(({ name, shape, field }): Member => {
      const value = field ? field.default?.value : shape.default;
      return { name, value, fill: this.ofShape(shape, depth + 1) };
    });
    const items = level.items && this.ofShape(level.items, depth + 1);
    return inTurn([combine(members, items), ...level.branches.map((branch) => this.#ofBranch(branch, depth))]);
  }

  /** A branch of a union fills what its constants do not rule out. */
  #ofBranch(branch: JsonMap, depth: number): FillDefaults | undefined {
    const fill = this.ofShape(branch, depth + 1);
    if (!fill) return undefined;
    const constants = constantsOf(this.#spec, branch);
    return (value) => (fitsBranch(value, constants) ? fill(value) : undefined);
  }

  #ofResource(name: string, depth: number): FillDefaults | undefined {
    const known = this.#byResource.get(name);
    if (known) return (value) => known.fill?.(value);
    const entry: { fill: FillDefaults | undefined } = { fill: undefined };
    this.#byResource.set(name, entry);
    const fill = this.#ofLevel(levelOf(this.#spec, { resource: name }), depth);
    entry.fill = fill && ((value) => this.#once(name, value, fill));
    return entry.fill;
  }

  /** However many parts name a resource, a value is filled for it once. */
  #once(name: string, value: unknown, fill: FillDefaults): void {
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
  readonly fill: FillDefaults | undefined;
}

function combine(members: readonly Member[], items: FillDefaults | undefined): FillDefaults | undefined {
  const busy = members.filter(({ value, fill }) => value !== undefined || fill !== undefined);
  if (busy.length === 0 && !items) return undefined;
  return (value) => {
    if (Array.isArray(value)) {
      if (items) for (const item of value) items(item);
      return;
    }
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    // Not null and no list: an object.
    const fields = value as Record<string, unknown>;
    for (const member of busy) {
      const present = fields[member.name];
      if (present === undefined && member.value !== undefined)
        fields[member.name] = typeof member.value === 'object' ? structuredClone(member.value) : member.value;
      else if (present !== undefined) member.fill?.(present);
    }
  };
}

function inTurn(fills: readonly (FillDefaults | undefined)[]): FillDefaults | undefined {
  const busy = fills.filter((fill) => fill !== undefined);
  if (busy.length < 2) return busy[0];
  return (value) => {
    for (const fill of busy) fill(value);
  };
}
