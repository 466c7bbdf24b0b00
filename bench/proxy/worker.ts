/** A process that holds our own service of an example to its document, behind a proxy that alters one thing after another. */
import { check, readDocument } from '../../src/index.ts';
import { openStand } from '../../test/verify/stand.ts';
import { type Altering, settingOf } from './alteration.ts';
import { alterationsOf, nearest } from './alterations.ts';
import { openRelay } from './relay.ts';

/** Which alteration of which example; none = the exchanges are passed on as they are. */
export interface Work {
  readonly document: string;
  readonly handlers: string;
  readonly seed: number;
  readonly alteration?: string;
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

async function done({ document, handlers, seed, alteration: id }: Work): Promise<Done> {
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
  const stand = await openStand(document, {
    handlers,
    inPairs: true,
    serve: { allowPrivateWebhooks: true },
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
  });
  setting.callers.push(...stand.callers);
  try {
    // What the part speaks of is looked at first: it is found sooner there, and counts as found wherever it is.
    const until = { seed, until: () => true };
    const about = alteration ? nearest(alteration, setting) : [];
    const only = about.length > 0 ? about : [alteration?.part === 'purpose' ? 'endpoints' : (alteration?.part ?? '')];
    const near = alteration && (await stand.verify({ ...until, only }));
    const far = near && near.breaches.length > 0 ? near : await stand.verify(alteration ? until : { seed });
    const { breaches, unsteady } = far;
    const ms = far.ms + (near && near !== far ? near.ms : 0);
    const broken = [...breaches, ...(alteration ? [] : unsteady)].map(
      ({ kind, subject, reason }) => `${kind} (${subject}), ${reason}`,
    );
    return { alteration: id ?? 'none', part: alteration?.part ?? '', altered, broken, seconds: ms / 1000 };
  } finally {
    await stand.close();
    await relay.close();
  }
}

process.on('message', (work: Work) => {
  done(work)
    .catch((error: unknown): Done => {
      const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return {
        alteration: work.alteration ?? 'none',
        part: 'failed',
        altered: 0,
        broken: [],
        seconds: 0,
        ...(process.stderr.write(`${told}\n`) && {}),
      };
    })
    .then((told) => process.send?.(told));
});
