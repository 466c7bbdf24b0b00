import type { Json } from '../../../document/document.ts';
import { pathOf } from '../../../document/pointer.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Value } from '../../exchange/exchange.ts';
import type { Violation } from '../../http/violation.ts';

/**
 * Whether a body breaks its shape just as an example or default breaks it that the shape itself states: what is left out there is left out in it too, or is of the
 * same other type. Who writes such a shape means what the example shows, and so does whoever reads it.
 */
export function isAsOwnExample(violation: Violation, request: Value, shape: Shape, samples: Samples): boolean {
  if (violation.in !== 'body' || !(violation.found === 'nothing' || ofType.test(violation.expected))) return false;
  const path = pathOf(violation.path);
  let holder: Json | undefined = shape;
  let sent: Value | undefined = request;
  for (let at = 0; at <= path.length; at++) {
    if (!isPlainMap(holder)) return false;
    const rest = path.slice(at);
    for (const shown of shownBy(samples.whole(holder))) {
      if (isAlike(sent, shown) && !samples.of(holder).fits(shown) && isSameAt(sent, shown, rest)) return true;
    }
    const name: string | undefined = path[at];
    if (name === undefined) return false;
    const members: Readonly<Record<string, Json>> = samples.membersOf(holder);
    holder = Object.hasOwn(members, name) ? members[name] : /^\d+$/.test(name) ? samples.whole(holder).items : undefined;
    sent = memberAt(sent, name);
  }
  return false;
}

/** A type that was expected, and no bound. */
const ofType = /^(?:an? (?:string|number|integer|object|array|list|boolean)|true or false)$/;

function shownBy({ example, examples, default: usual }: Shape): Json[] {
  return [example, usual, ...(Array.isArray(examples) ? examples : [])].filter((one) => one !== undefined && one !== null);
}

/** A list as the other is, or a map whose names all are the other's. */
function isAlike(sent: Value | undefined, shown: Json): boolean {
  if (Array.isArray(shown)) return Array.isArray(sent);
  if (!isPlainMap(shown) || kindOf(sent) !== 'object') return false;
  const names = Object.keys(sent as object);
  return names.length > 0 && names.every((name) => Object.hasOwn(shown, name));
}

/** Whether both have nothing at a path, or values of one type there; any item of a list stands for those it has more of. */
function isSameAt(sent: Value | undefined, shown: Json, path: readonly string[]): boolean {
  let [one, other]: [Value | undefined, Value | undefined] = [sent, shown as Value];
  for (const name of path) {
    one = memberAt(one, name);
    other = Array.isArray(other) ? (other[Number(name)] ?? other[0]) : memberAt(other, name);
  }
  return kindOf(one) === kindOf(other);
}

function memberAt(holder: Value | undefined, name: string): Value | undefined {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined;
  return (holder as Readonly<Record<string, Value>>)[name];
}

function kindOf(value: Value | undefined): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}
