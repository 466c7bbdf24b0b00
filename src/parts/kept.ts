import type { Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/measures.ts';
import { type Answer, readAnswers } from './answers.ts';
import type { Source } from './source.ts';

/** What becomes of the rows of a resource once they are deleted. */
export interface Kept {
  readonly at: Pointer;
  /** How long they are kept; infinite = for ever. Nothing where it cannot be read. */
  readonly keepMs?: number;
  /** What reading one answers; absent = it is refused as gone. */
  readonly answers?: readonly Answer[];
  /** The transition that brings one back. */
  readonly restore?: string;
}

/** Reads `deleted: { keep: 30d, read: 410, restore: undelete }`; nothing where nothing of it is stated. */
export function readKept(source: Source): Kept | undefined {
  if (!['keep', 'read', 'restore'].some((word) => source.has(word))) return undefined;
  const keep = source.get('keep').text();
  const keepMs = keep === 'forever' ? Number.POSITIVE_INFINITY : durationMs(keep ?? '');
  const read = source.get('read');
  const restore = source.get('restore').text();
  return {
    at: source.at,
    ...(keepMs !== undefined && { keepMs }),
    ...(read.isMap && { answers: readAnswers(read) }),
    ...(restore !== undefined && { restore }),
  };
}
