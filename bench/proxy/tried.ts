/** One alteration of what passes between a service and those who ask it, and what `verify` says of it then. */
import { check, readDocument } from '../../src/index.ts';
import type { Breach } from '../../src/verify/report.ts';
import { type Altering, settingOf } from './alteration.ts';
import { alterationsOf, nearest } from './alterations.ts';
import type { Changes, Opened } from './opened.ts';
import { openRelay } from './relay.ts';

/** Which alteration of which service; none = the exchanges are passed on as they are. */
export interface Work {
  readonly document: string;
  readonly handlers: string;
  readonly seed: number;
  readonly alteration?: string;
  /** The breaches that are there without it. */
  readonly known: readonly string[];
  /** How long a run takes at most. */
  readonly timeMs: number;
}

/** What came of it. */
export interface Done {
  readonly alteration: string;
  readonly part: string;
  /** How often something was altered. */
  readonly altered: number;
  /** The facts that are said to be broken. */
  readonly broken: readonly string[];
  readonly seconds: number;
}

/** Holds a service to its document with one thing altered; `open` puts the proxy before it. */
export async function tryAlteration(
  { document, seed, alteration: id, known, timeMs }: Work,
  open: (changes: Changes) => Promise<Opened>,
): Promise<Done> {
  const setting = settingOf(check(await readDocument(document)).spec);
  const alteration = id === undefined ? undefined : alterationsOf(setting).find((one) => one.id === id);
  const { bend, spoil, tell, deliver }: Altering = alteration?.altering ?? {};
  let altered = 0;
  const noted = <T extends object>(change: T): T => {
    if (Object.keys(change).length > 0) altered += 1;
    return change;
  };
  const relay = await openRelay((told) => {
    const change = deliver ? deliver(told) : {};
    if (change === undefined) altered += 1;
    return change && noted(change);
  });
  const changes: Changes = {
    bend: (request) => {
      const change = bend ? noted(bend(request)) : {};
      return { ...change, ...relay.bend({ ...request, ...change }) };
    },
    spoil: (passing) => {
      const change = spoil ? noted(spoil(passing)) : {};
      return { ...change, ...relay.spoil({ ...passing, ...change }) };
    },
    ...(tell && {
      tell: (text: string) => {
        const changed = tell(text);
        if (changed !== text) altered += 1;
        return changed;
      },
    }),
  };
  const opened = await open(changes);
  setting.callers.push(...opened.callers);
  try {
    const isNew = (breach: Breach): boolean => !known.includes(nameOf(breach));
    // What the part speaks of is looked at first: it is found sooner there, and counts as found wherever it is.
    const until = { seed, timeMs, until: isNew };
    const about = alteration ? nearest(alteration, setting) : [];
    const only = about.length > 0 ? about : [alteration?.part === 'purpose' ? 'endpoints' : (alteration?.part ?? '')];
    const near = alteration && (await opened.verify({ ...until, only }));
    const far = near?.breaches.some(isNew) ? near : await opened.verify(alteration ? until : { seed });
    const { breaches, unsteady } = far;
    const ms = far.ms + (near && near !== far ? near.ms : 0);
    const broken = [...breaches.filter(isNew), ...(alteration ? [] : unsteady)].map(nameOf);
    return { alteration: id ?? 'none', part: alteration?.part ?? '', altered, broken, seconds: ms / 1000 };
  } catch (error) {
    // Nothing that passes may make it fail: what does was not found.
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return { alteration: id ?? 'none', part: alteration?.part ?? '', altered, broken: [], seconds: 0 };
  } finally {
    await opened.close();
    await relay.close();
  }
}

/** A breach as notes name it. */
export function nameOf({ kind, subject, reason }: Pick<Breach, 'kind' | 'subject' | 'reason'>): string {
  return `${kind} (${subject}), ${reason}`;
}
