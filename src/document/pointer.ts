import type { Pointer } from './document.ts';

/** The pointer (RFC 6901) of a path of keys: `['errors', 'codes']` is `/errors/codes`, no keys the empty string. */
export function pointerOf(path: readonly (string | number)[]): Pointer {
  let pointer = '';
  for (const key of path) pointer = below(pointer, key);
  return pointer;
}

/** The pointer of what stands under one key of a place. */
export function below(pointer: Pointer, key: string | number): Pointer {
  if (typeof key === 'number') return `${pointer}/${key}`;
  return `${pointer}/${stepOf(key)}`;
}

/** A key as one step of a pointer (RFC 6901 section 3). */
export function stepOf(key: string): string {
  return unsafe.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

const unsafe = /[~/]/;

/** The key that a step of a pointer names (RFC 6901 section 4); of several steps at once, the text that they are for people. */
export function keyOf(step: string): string {
  return step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step;
}

/** A key as one step of a pointer in the fragment of a URI (RFC 6901 section 6). */
export function fragmentStepOf(key: string): string {
  return encodeURIComponent(stepOf(key).toWellFormed());
}

/** The key that a step in a fragment names; a step whose percents are no encoding is read as it stands. */
export function keyOfFragmentStep(step: string): string {
  return keyOf(percentDecoded(step));
}

/** A pointer as it stood in a fragment, percents decoded where they are an encoding. */
export function percentDecoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** The keys that a pointer goes through (RFC 6901 section 4). */
export function pathOf(pointer: Pointer): string[] {
  if (pointer === '') return [];
  return pointer.slice(1).split('/').map(keyOf);
}

/** The pointer of the place that holds this one, or undefined for the whole tree. */
export function above(pointer: Pointer): Pointer | undefined {
  const slash = pointer.lastIndexOf('/');
  return slash < 0 ? undefined : pointer.slice(0, slash);
}
