/** A process that holds our own service to one drawn document after another. */

import type { JsonMap } from '../../src/document/document.ts';
import { check, parseDocument } from '../../src/index.ts';
import { strangeOf } from '../../test/strange/document.ts';
import { alarmsOf, holdStrange, textOf } from '../../test/strange/hold.ts';
import { faultsIn, type StrangeFault } from './faults.ts';
import { feltOf } from './felt.ts';

/** Which document, and whether faults are switched on in it. */
export interface Work {
  readonly seed: number;
  readonly number: number;
  readonly faults: number;
  /** Faults of one part alone: `second wave`. */
  readonly part?: string;
}

/** What came of one document. */
export interface Done {
  readonly number: number;
  readonly traits: readonly string[];
  readonly unsound?: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly alarms: readonly { readonly cause: string; readonly told: string }[];
  readonly faults: readonly { readonly id: string; readonly part: string; readonly isFound: boolean }[];
  readonly seconds: number;
  readonly requests: number;
}

async function done({ seed, number, faults, part }: Work): Promise<Done> {
  const { document, traits } = strangeOf(seed, number);
  const nothing = { number, traits, alarms: [], faults: [], seconds: 0, requests: 0 };
  const errors = check(parseDocument(textOf(document), 'strange.json')).findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return { ...nothing, unsound: errors.map(({ code, message }) => `${code}: ${message}`).join('; ') };
  const held = await holdStrange(document);
  const { report } = held;
  const alarms = alarmsOf(held);
  const calm = { ...nothing, counts: report.total, alarms, seconds: report.ms / 1000, requests: report.requests };
  if (faults === 0 || alarms.length > 0) return calm;
  const met: Done['faults'][number][] = [];
  const drawn = feltOf(document, faultsIn(document, seed * 1000 + number)).filter(
    (fault) => part === undefined || fault.part === part,
  );
  const all = drawn.filter(({ served }) => isSound(served));
  for (const fault of all.slice(0, faults)) met.push(await hunted(document, fault));
  return { ...calm, faults: met };
}

function isSound(document: JsonMap): boolean {
  return check(parseDocument(textOf(document), 'strange.json')).sound;
}

async function hunted(document: JsonMap, { id, part, served }: StrangeFault) {
  const { report } = await holdStrange(document, { served, untilBroken: true });
  return { id, part, isFound: report.breaches.length > 0 };
}

process.on('message', (work: Work) => {
  done(work)
    .catch((error: unknown): Done => {
      const told = error instanceof Error ? `${error.stack}` : String(error);
      const alarms = [{ cause: `it failed: ${told.split('\n')[0]}`, told }];
      return { number: work.number, traits: [], alarms, faults: [], seconds: 0, requests: 0 };
    })
    .then((told) => process.send?.(told));
});
