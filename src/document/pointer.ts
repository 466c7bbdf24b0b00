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
  return `${pointer}/${unsafe.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key}`;
}

const unsafe = /[~/]/;

/** The keys that a pointer goes through (RFC 6901 section 4). */
export function pathOf(pointer: Pointer): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer of the place that holds this one, or undefined for the whole tree. */
export function above(pointer: Pointer): Pointer | undefined {
  const slash = pointer.lastIndexOf('/');
  return slash < 0 ? undefined : pointer.slice(0, slash);
}
