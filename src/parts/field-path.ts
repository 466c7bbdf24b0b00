/** What stands at the end of a path of fields, parted by dots; nothing where one on the way is no map. */
export function along<T>(value: T | undefined, path: string): T | undefined {
  let at: unknown = value;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  // What is inside a value of its sort is one.
  return at as T;
}

/** A copy of a map with another value at the end of a path; what is not there on the way is made. */
export function withPlaced<T extends Readonly<Record<string, unknown>>>(map: T, path: string, value: unknown): T {
  const [first = '', ...rest] = path.split('.');
  const held = map[first];
  const inner =
    typeof held === 'object' && held !== null && !Array.isArray(held) ? (held as Readonly<Record<string, unknown>>) : {};
  return { ...map, [first]: rest.length === 0 ? value : withPlaced(inner, rest.join('.'), value) };
}
