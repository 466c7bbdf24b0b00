import { chmodSync, closeSync, fsyncSync, linkSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A new file is for its owner alone, and so are those that SQLite lays beside it, which have its mode. One that is there is not opened:
 * whoever closes a file gives up all locks that its process has on it. One that everybody could read is made its owner's; what its owner
 * has given to a group stays given.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or cannot be made: SQLite says what is wrong then.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) closeToOthers(file);
  }
}

/**
 * So many bytes of the beginning of a file; fewer are filled with zeros, and nothing where it cannot be read. Whoever closes a file gives up
 * all locks that its process has on it: it is only asked for where this process does not have it open.
 */
export function headOf(path: string, bytes: number): Buffer | undefined {
  const head = Buffer.alloc(bytes);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, head, 0, bytes, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
  return head;
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o007) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch {
    // Somebody else's: whoever may not change its mode says so when it is opened.
  }
}

/** Has a new file written beside its place and put there once it is whole and on disk. @throws where a file is there already. */
export function putWhole(path: string, write: (part: string) => void): void {
  if (sizeOf(path) !== undefined) throw new Error(`${path} is there already; choose another name`);
  const part = beside(path, write);
  try {
    // Unlike a rename, this fails where somebody has made a file of that name meanwhile.
    linkSync(part, path);
  } finally {
    rmSync(part);
  }
  sync(dirname(path));
}

/** Has a file written anew and puts it in the place of the one that is there, which is kept as `kept`. There is a whole one at every moment. */
export function replaceWhole(path: string, kept: string, write: (part: string) => void): void {
  const part = beside(path, write);
  if (sizeOf(path) !== undefined) linkSync(path, kept);
  // A log that could not be folded into a damaged file must not be taken for the new one's.
  if (sizeOf(`${path}-wal`) !== undefined) renameSync(`${path}-wal`, `${kept}-wal`);
  rmSync(`${path}-shm`, { force: true });
  renameSync(part, path);
  sync(dirname(path));
}

function beside(path: string, write: (part: string) => void): string {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  makePrivate(part);
  try {
    write(part);
    sync(part);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  return part;
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** How many bytes a file has; nothing where there is none. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
