import type { JsonMap } from '../../document/document.ts';
import { stepOf } from '../../document/pointer.ts';
import type { Shape } from '../../parts/shape.ts';
import { constantsOf, fitsBranch, type Level, levelOf, reaching, resourcesIn, shapesOf } from '../../parts/shape-level.ts';
import { someInside } from '../../parts/shapes/branches.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Value } from '../exchange/exchange.ts';

/** A reference found in a value. */
export interface FoundReference {
  /** A JSON Pointer into the value. */
  readonly path: string;
  readonly target: string;
  readonly id: string;
}

export type FindReferences = (value: Value) => FoundReference[];

/** Compiles the search for every reference in a value of a shape, at any depth; nothing where the shape holds none. */
export function compileReferences(spec: Spec, shape: Shape): FindReferences | undefined {
  if (!holdsReference(spec, shape)) return undefined;
  const finder = findersBySpec.get(spec) ?? new Finder(spec);
  findersBySpec.set(spec, finder);
  const collect = finder.ofShape(shape);
  return (value) => {
    const found: FoundReference[] = [];
    collect(value, '', found);
    return found;
  };
}

function holdsReference(spec: Spec, shape: JsonMap): boolean {
  const referring =
    referringBySpec.get(spec) ?? reaching(spec, ({ name }) => shapesOf(spec, name).some((one) => someInside(one, refers)));
  referringBySpec.set(spec, referring);
  return someInside(shape, refers) || [...resourcesIn(shape)].some((name) => referring.has(name));
}

/** The resources in which, at any depth, something is referred to. */
const referringBySpec = new WeakMap<Spec, ReadonlySet<string>>();

function refers({ ref }: JsonMap): boolean {
  return typeof ref === 'string';
}

/** Collects the references in a value that stands at a path. */
type Collect = (value: Value, path: string, found: FoundReference[]) => void;

class Finder {
  readonly #spec: Spec;
  readonly #byResource = new Map<string, Collect>();

  constructor(spec: Spec) {
    this.#spec = spec;
  }

  ofShape(shape: JsonMap): Collect {
    const { ref, resource } = shape;
    if (typeof ref === 'string') {
      return (value, path, found) => {
        if (value !== undefined && typeof value !== 'object') found.push({ path, target: ref, id: String(value) });
      };
    }
    return typeof resource === 'string' ? this.#ofResource(resource) : this.#ofLevel(levelOf(this.#spec, shape));
  }

  #ofLevel(level: Level): Collect {
    const members = level.members.flatMap(({ name, shape }) =>
      holdsReference(this.#spec, shape) ? [{ name, step: stepOf(name), collect: this.ofShape(shape) }] : [],
    );
    const items = level.items && holdsReference(this.#spec, level.items) ? this.ofShape(level.items) : undefined;
    const branches = level.branches.map((branch) => this.#ofBranch(branch));
    return (value, path, found) => {
      if (value === undefined || value === null) return;
      if (Array.isArray(value) && items) {
        for (const [index, item] of value.entries()) items(item, `${path}/${index}`, found);
      }
      if (isFields(value)) {
        for (const { name, step, collect } of members) collect(own(value, name), `${path}/${step}`, found);
      }
      for (const collect of branches) collect(value, path, found);
    };
  }

  /** A branch of a union holds the references of what its constants do not rule out. */
  #ofBranch(branch: JsonMap): Collect {
    const collect = this.ofShape(branch);
    const constants = constantsOf(this.#spec, branch);
    return (value, path, found) => {
      if (fitsBranch(value, constants)) collect(value, path, found);
    };
  }

  /** Compiled once a resource, when the first value of it comes, so that recursion ends. */
  #ofResource(name: string): Collect {
    const known = this.#byResource.get(name);
    if (known) return known;
    let compiled: Collect | undefined;
    const collect: Collect = (value, path, found) => {
      compiled ??= this.#ofLevel(levelOf(this.#spec, { resource: name }));
      compiled(value, path, found);
    };
    this.#byResource.set(name, collect);
    return collect;
  }
}

const findersBySpec = new WeakMap<Spec, Finder>();

function isFields(value: Value): value is Record<string, Value> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field may be named like something that every object inherits. */
function own(value: Record<string, Value>, name: string): Value {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
