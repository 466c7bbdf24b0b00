import type { JsonMap } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import { type Carry, type History, isMembers, type ResourceCarry } from './carry.ts';
import { carryResource } from './carry-resource.ts';
import { carryStructure } from './carry-shape.ts';
import { ChangeValues } from './change-values.ts';
import { EarlierResources } from './earlier-resources.ts';

/**
 * Everything that goes between the newest shapes and those of one older version. What is asked for is compiled once, the
 * changes of all versions between them into one step, so that no value walks over the changes.
 */
export class Carries {
  readonly version: string;
  readonly resources: EarlierResources;
  readonly #spec: Spec;
  readonly #values: ChangeValues;
  readonly #top: number;
  readonly #bottom: number;
  readonly #known = new Map<string, ResourceCarry>();
  readonly #shapes = new Map<Shape, Carry | undefined>();
  /** Whether references may stand for what they refer to, shown whole. */
  readonly #expands: boolean;
  #expanding: Carries | undefined;

  constructor(spec: Spec, history: History, version: string, now: () => number, expands = false) {
    this.version = version;
    this.#spec = spec;
    this.#values = new ChangeValues(spec, { version, now });
    this.resources = new EarlierResources(spec, history, this.#values);
    this.#top = history.newest;
    this.#bottom = history.levelOf(version);
    this.#expands = expands;
    if (!expands) this.#expanding = new Carries(spec, history, version, now, true);
  }

  /** The same where references may be shown whole. */
  get expanding(): Carries {
    return this.#expanding ?? this;
  }

  /** The rows of a resource; nothing where they are the same in both versions. */
  resource(name: string): ResourceCarry | undefined {
    return this.#touches({ resource: name }, this.#top, this.#bottom, new Set())
      ? this.#resource(name, this.#top, this.#bottom)
      : undefined;
  }

  /** The values of a shape of the newest version; nothing where they are the same in both. */
  shape(shape: Shape): Carry | undefined {
    if (!this.#shapes.has(shape)) this.#shapes.set(shape, this.#carry(shape, this.#top, this.#bottom));
    return this.#shapes.get(shape);
  }

  #carry(shape: JsonMap, top: number, bottom: number): Carry | undefined {
    if (top <= bottom || !this.#touches(shape, top, bottom, new Set())) return undefined;
    if (typeof shape.resource === 'string') return this.#resource(shape.resource, top, bottom);
    if (typeof shape.ref === 'string')
      return shownWhole(this.#spec, shape.ref, () => this.#resource(shape.ref as string, top, bottom));
    return carryStructure(shape, top, bottom, {
      resources: this.resources,
      carry: (inner, from, to) => this.#carry(inner, from, to),
    });
  }

  /** Compiled when it is first used, so that recursion ends. */
  #resource(name: string, top: number, bottom: number): ResourceCarry {
    const key = `${name}\n${top}\n${bottom}`;
    const known = this.#known.get(key);
    if (known) return known;
    let compiled: ResourceCarry | undefined;
    const inner = {
      resources: this.resources,
      carry: (shape: JsonMap, from: number, to: number) => this.#carry(shape, from, to),
    };
    const own = () => {
      compiled ??= carryResource(name, top, bottom, inner, this.#values);
      return compiled;
    };
    const lazy: ResourceCarry = {
      get lines() {
        return own().lines;
      },
      get unseen() {
        return own().unseen;
      },
      older: (field) => own().older(field),
      newer: (field) => own().newer(field),
      down: (value) => own().down(value),
      up: (value, before) => own().up(value, before),
      merge: (before, patch) => own().merge(before, patch),
      place: (path) => own().place(path),
    };
    this.#known.set(key, lazy);
    return lazy;
  }

  /** Whether a change between two levels reaches into a shape. */
  #touches(shape: JsonMap, top: number, bottom: number, seen: Set<string>): boolean {
    const name = typeof shape.resource === 'string' ? shape.resource : this.#expands ? shape.ref : undefined;
    if (typeof name === 'string') {
      if (seen.has(name) || !entryOf(this.#spec.resources.all, name)) return false;
      seen.add(name);
      const changes = this.resources.changes(name, top, bottom);
      const fields = entriesOf(this.resources.at(name, top)?.fields);
      return changes.length > 0 || fields.some(([, field]) => this.#touches(statedValue(field.shape) ?? {}, top, bottom, seen));
    }
    return Object.values(shape).some((inner) => touchable(inner).some((each) => this.#touches(each, top, bottom, seen)));
  }
}

function touchable(value: unknown): JsonMap[] {
  if (Array.isArray(value)) return value.filter(isMembers) as JsonMap[];
  // The keywords of a schema are JSON.
  return isMembers(value) ? [value as JsonMap] : [];
}

/** A reference, which may stand for what it refers to; one shown in a shape of its own stays as that shape says. */
function shownWhole(spec: Spec, target: string, whole: () => ResourceCarry): Carry {
  const narrow = entriesOf(spec.resources.all).flatMap(([, { fields }]) =>
    entriesOf(fields).flatMap(([, { ref, show }]) => {
      const properties = ref === target && typeof show === 'object' ? show.properties : undefined;
      return isMembers(properties) ? [new Set(Object.keys(properties))] : [];
    }),
  );
  const isWhole = (value: unknown) =>
    isMembers(value) && !narrow.some((names) => Object.keys(value).every((name) => names.has(name)));
  return {
    down: (value) => (isWhole(value) ? whole().down(value) : value),
    up: (value) => value,
    place: (path) => ({ path, isMapped: false }),
  };
}
