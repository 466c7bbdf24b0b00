import { isMap } from '../document/values.ts';
import { statedValue } from './fact.ts';
import type { Shape } from './shape.ts';
import { levelOf } from './shape-level.ts';
import type { Spec } from './spec.ts';
import { resolvedShape } from './value-shape.ts';

/** Takes members out of a value, in place. */
type Drop = (value: unknown) => void;

/** A member of a map: what is inside it, and whether it goes where it is null. */
interface Member {
  readonly name: string;
  readonly mayGo: boolean;
  readonly inside: Drop;
}

/** Compiles what takes the members out of values of a shape that are null, though their shape takes none and they need not be there. */
export function compileWithoutAbsent(spec: Spec, shape: Shape): Drop {
  return compileDrop(spec, shape, new Map());
}

/** A shape that leads back to itself is compiled once: values end where shapes do not. */
function compileDrop(spec: Spec, shape: Shape, known: Map<Shape, Drop>): Drop {
  const found = known.get(shape);
  if (found) return found;
  const members: Member[] = [];
  const drop: Drop = (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    // An object that is no list: fields.
    const fields = value as Record<string, unknown>;
    for (const { name, mayGo, inside } of members) {
      if (!Object.hasOwn(fields, name)) continue;
      if (fields[name] !== null) inside(fields[name]);
      else if (mayGo) delete fields[name];
    }
  };
  known.set(shape, drop);
  const { required } = resolvedShape(spec, shape);
  const needed = Array.isArray(required) ? required : [];
  for (const { name, shape: own, field } of levelOf(spec, shape).members) {
    const isNeeded = field ? statedValue(field.required) === true : needed.includes(name);
    members.push({ name, mayGo: !isNeeded && !takesNull(own), inside: compileDrop(spec, own, known) });
  }
  return drop;
}

function takesNull({ type, nullable, ...rest }: Shape): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.includes('null') || nullable === true || (type === undefined && Object.keys(rest).length === 0) || isMap(rest.not);
}
