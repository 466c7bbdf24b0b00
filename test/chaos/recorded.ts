import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { History } from '../crash/history.ts';
import { type Entry, Journal } from '../crash/journal.ts';
import type { Violation } from '../crash/records.ts';

/** Keeps a journal of a run; of lists that came one right after the other, while something was waited for, the last. */
export function startRecord(): { readonly entries: Entry[]; readonly add: (entry: Entry) => void } {
  const entries: Entry[] = [];
  return {
    entries,
    add(entry) {
      if (entry.kind === 'listing') {
        const last = entries.findLastIndex(({ kind }) => kind !== 'told');
        if (entries[last]?.kind === 'listed' && entries[last - 1]) {
          const begun = entries.findLastIndex(({ kind }, at) => kind === 'listing' && at < last);
          entries.splice(last, 1);
          entries.splice(begun, 1);
        }
      }
      entries.push(structuredClone(entry));
    },
  };
}

export function writeRecord(path: string, entries: readonly Entry[]): void {
  writeFileSync(path, gzipSync(JSON.stringify(entries), { level: 9 }));
}

/** A recorded run as text, of which `JSON.parse` makes a fresh one each time. */
export function readRecord(path: string): string {
  return gunzipSync(readFileSync(path)).toString();
}

/** Goes through a run again: what does not hold, up to the first entry that shows something. */
export function judged(entries: readonly Entry[]): readonly Violation[] {
  const history = new History();
  const journal = new Journal(history, { mayBeUnavailable: true });
  for (const entry of entries) {
    journal.add(entry);
    if (history.violations.length > 0) break;
  }
  return history.violations;
}
