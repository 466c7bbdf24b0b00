import type { Json, JsonMap } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { reaching, resourcesIn, shapesOf } from '../../parts/mentions.ts';
import type { Shape } from '../../parts/shape.ts';
import { isMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { valueShape } from '../../parts/value-shape.ts';
import { constantsOf, fits } from '../branches.ts';
import type { Value } from '../exchange.ts';

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
  return (value) => {
    const found: FoundReference[] = [];
    collect(spec, shape, value, '', found);
    return found;
  };
}

function holdsReference(spec: Spec, shape: JsonMap): boolean {
  const referring = referringBySpec.get(spec) ?? reaching(spec, ({ name }) => shapesOf(spec, name).some(refersInside));
  referringBySpec.set(spec, referring);
  return refersInside(shape) || [...resourcesIn(shape)].some((name) => referring.has(name));
}

/** The resources in which, at any depth, something is referred to. */
const referringBySpec = new WeakMap<Spec, ReadonlySet<string>>();

function refersInside(shape: Json): boolean {
  if (Array.isArray(shape)) return shape.some((item: Json) => refersInside(item));
  return (
    isMap(shape) &&
    (typeof shape.ref === 'string' || Object.values(shape).some((inner) => typeof inner === 'object' && refersInside(inner)))
  );
}

function collect(spec: Spec, shape: JsonMap, value: Value, path: string, found: FoundReference[]): void {
  if (value === undefined || value === null) return;
  const { ref, resource } = shape;
  if (typeof ref === 'string') {
    if (typeof value !== 'object') found.push({ path, target: ref, id: String(value) });
    return;
  }
  if (typeof resource === 'string') {
    const whole = valueShape(spec, resource);
    if (whole) collect(spec, whole, value, path, found);
    const stated = entryOf(spec.resources.all, resource);
    if (!isFields(value) || !stated) return;
    for (const [name, field] of entriesOf(stated.fields))
      collect(spec, statedValue(field.shape) ?? {}, own(value, name), below(path, name), found);
    return;
  }
  if (Array.isArray(value) && isMap(shape.items)) {
    for (const [index, item] of value.entries()) collect(spec, shape.items, item, `${path}/${index}`, found);
  }
  if (isFields(value) && isMap(shape.properties)) {
    for (const [name, inner] of Object.entries(shape.properties))
      if (isMap(inner)) collect(spec, inner, own(value, name), below(path, name), found);
  }
  for (const word of ['oneOf', 'anyOf', 'allOf']) {
    const branches = shape[word];
    if (Array.isArray(branches))
      for (const branch of branches)
        if (isMap(branch) && fits(value, constantsOf(spec, branch))) collect(spec, branch, value, path, found);
  }
}

function isFields(value: Value): value is Record<string, Value> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field may be named like something that every object inherits. */
function own(value: Record<string, Value>, name: string): Value {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
