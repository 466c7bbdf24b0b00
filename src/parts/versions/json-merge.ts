/** A value that has members: no list, no bytes. */
export function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** JSON Merge Patch (RFC 7396 section 2). */
export function mergeJson(target: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const result: Record<string, unknown> = { ...(isMembers(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else put(result, name, mergeJson(result[name], value));
  }
  return result;
}

/** Sets a member whatever its name is: `__proto__` is only a name. */
export function put(members: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
  else members[name] = value;
}
