import { statSync, watch as watchFolder } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/** Some files that are being watched. */
export interface Watch {
  /**
   * Watches these files from now on, in place of the ones before. With `others`, a change of any document file beside them
   * counts too: one that an include misses may just have been written.
   */
  follow(files: Iterable<string>, others?: boolean): void;
  close(): void;
}

/**
 * Calls back after each change of the files, once they have come to rest; one call at a time. The callback does not reject.
 * What changed after `readMs`, when the files were first read, counts as well.
 */
export function startWatch(readMs: number, changed: () => Promise<void>): Watch {
  const folders = new Map<string, () => void>();
  // As they were when the last call began, and as they were when they were last looked at.
  let told: Signatures = new Map();
  let seen: Signatures = new Map();
  let countsOthers = false;
  let otherChanged = false;
  let rounds = 0;
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;
  let sinceMs = readMs;

  const look = (): void => {
    timer ??= setTimeout(settle, restMs);
  };
  const settle = (): void => {
    timer = undefined;
    if (isBusy) return;
    const now = signaturesOf(told.keys());
    // A file that is gone is given a little time: an editor may be about to put the new one in its place.
    const isMoving = !isSame(now, seen) || ([...now.values()].includes(absent) && rounds < roundsMost);
    seen = now;
    rounds = isMoving ? rounds + 1 : 0;
    if (isMoving) {
      look();
      return;
    }
    if (isSame(now, told) && !otherChanged) return;
    told = now;
    otherChanged = false;
    isBusy = true;
    sinceMs = Date.now();
    void changed().finally(() => {
      isBusy = false;
      if (folders.size > 0) look();
    });
  };
  const heard = (name: string | null): void => {
    const isFollowed = name === null || [...told.keys()].some((file) => basename(file) === name);
    const isOther = !isFollowed && countsOthers && documentEnding.test(name);
    otherChanged ||= isOther;
    if (isFollowed || isOther) look();
  };
  return {
    follow(files, others = false) {
      countsOthers = others;
      const paths = [...files].map((file) => resolve(file));
      told = new Map(paths.map((file) => [file, told.get(file) ?? signatureOf(file, sinceMs)]));
      seen = told;
      hearOnly(folders, new Set([...told.keys()].map((file) => dirname(file))), (folder) => hear(folder, heard, look));
      look();
    },
    close() {
      clearTimeout(timer);
      for (const end of folders.values()) end();
      folders.clear();
    },
  };
}

/** Stops listening to the folders that are not wanted any more, and begins with those that are new. */
function hearOnly(folders: Map<string, () => void>, wanted: ReadonlySet<string>, begin: (folder: string) => () => void): void {
  for (const [folder, end] of folders) {
    if (wanted.has(folder)) continue;
    end();
    folders.delete(folder);
  }
  for (const folder of wanted) if (!folders.has(folder)) folders.set(folder, begin(folder));
}

const restMs = 40;
const roundsMost = 8;
const pollMs = 1_000;
/** File systems write times down by a clock that moves in steps. */
const clockStepMs = 10;
const documentEnding = /\.(?:md|markdown|txt|ya?ml|json)$/i;

/** Folders rather than files, since many editors put a new file in the old one's place. Where that cannot be had, looks every second. */
function hear(folder: string, heard: (name: string | null) => void, look: () => void): () => void {
  try {
    const watcher = watchFolder(folder, (_, name) => heard(name));
    // A folder that goes away is heard of no more; its files are gone with it.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    const poll = setInterval(look, pollMs);
    return () => clearInterval(poll);
  }
}

/** By file, what differs once it has changed. */
type Signatures = ReadonlyMap<string, string>;
const absent = 'absent';

function signaturesOf(files: Iterable<string>): Signatures {
  return new Map([...files].map((file) => [file, signatureOf(file)]));
}

/** The signature of a file as it is; one that no file has where it may have changed since a time. */
function signatureOf(file: string, sinceMs = Number.POSITIVE_INFINITY): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    if (mtimeMs > sinceMs - clockStepMs) return 'changed meanwhile';
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return absent;
  }
}

function isSame(a: Signatures, b: Signatures): boolean {
  return a.size === b.size && [...a].every(([file, signature]) => b.get(file) === signature);
}
