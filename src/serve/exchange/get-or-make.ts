/** What a map holds under a key, made at the first time that it is asked for; made values are never `undefined`. */
export function getOrMake<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}
