import type { Json } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import { conjunctionOf, unionsOf } from '../shapes/branches.ts';
import { isPlainMap } from '../source.ts';
import type { WholeShapes } from './whole-shape.ts';

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
    const required = listOf(shape.required).map((name) => properties[String(name)] ?? {});
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

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
