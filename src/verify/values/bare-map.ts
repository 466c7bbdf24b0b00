/** The members of a map as one that has no prototype: a field may be called `constructor`. */
export function bareMap<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.assign(Object.create(null), members);
}
