import type { Reader } from '../../openapi/reader.ts';
import type { Operation } from './operation.ts';
import { operationsOfVersion1 } from './version-1.ts';
import { operationsOfVersion2 } from './version-2.ts';
import { operationsOfVersion3 } from './version-3.ts';

/** Every operation of a source. Its form says which version it is of, for that is what was shipped. */
export function operationsOf(reader: Reader, version: string): Operation[] {
  const { value } = reader.root;
  const isFirst = version.startsWith('1') || ['topics', 'stream', 'events'].some((key) => Object.hasOwn(value, key));
  if (isFirst) return operationsOfVersion1(reader);
  return version.startsWith('2') ? operationsOfVersion2(reader) : operationsOfVersion3(reader);
}
