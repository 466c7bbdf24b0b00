/** Counting the writes that were forced to disk. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * A counter of the flush requests that the disk under a folder has completed; each `fsync` or `fdatasync` that has
 * anything to write ends in one. It counts the whole disk, so other programs' count too. Nothing where it cannot be had.
 */
export function flushCounter(folder: string): (() => number) | undefined {
  const { dev } = statSync(folder, { bigint: true });
  // The numbers of a device as Linux packs them (gnu_dev_major, gnu_dev_minor).
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  try {
    const block = realpathSync(`/sys/dev/block/${major}:${minor}`);
    // Flushes are counted for the disk, not for its partitions.
    const disk = isPartition(block) ? dirname(block) : block;
    const count = (): number => Number(readFileSync(join(disk, 'stat'), 'utf8').trim().split(/\s+/)[15]);
    return Number.isFinite(count()) ? count : undefined;
  } catch {
    return undefined;
  }
}

function isPartition(block: string): boolean {
  return statSync(join(block, 'partition'), { throwIfNoEntry: false }) !== undefined;
}
