/** A process that serves one description as a stand-in, and asks the laws of its families. */
import { readFileSync } from 'node:fs';
import type { JsonMap } from '../../src/document/document.ts';
import { serve } from '../../src/index.ts';
import { chanceOf } from '../drawn/chance.ts';
import { askingOf, Spent } from './asking.ts';
import { describedBy } from './description.ts';
import { familiesOf } from './families.ts';
import type { Kept } from './law.ts';
import { lifeOf, live } from './life.ts';
import { askableOf, askPaged } from './paged.ts';
import { CannotMake } from './values.ts';

export interface LifecycleWork {
  readonly file: string;
  readonly seed: number;
  readonly familiesMax: number;
  readonly requestsMax: number;
  /** Whether the laws of pages are asked, of families with a list, and no others. */
  readonly isPaged: boolean;
}

/** What came of one family. */
export interface Lived {
  readonly family: string;
  readonly kept: readonly Kept[];
  /** Why it was not lived through, or not to its end. */
  readonly left?: string;
}

export type LifecycleDone = { readonly lived: readonly Lived[] } | { readonly failed: string };

async function done({ file, seed, familiesMax, requestsMax, isPaged }: LifecycleWork): Promise<LifecycleDone> {
  // The description as any client reads it, beside the one that is served.
  const described = describedBy(JSON.parse(readFileSync(file, 'utf8')) as JsonMap);
  const families = familiesOf(described);
  const service = await serve(file, { sample: true, open: 'accept', development: true });
  const lived: Lived[] = [];
  for (const [, family] of chanceOf(seed)
    .shuffled([...families].filter(([, family]) => !isPaged || askableOf(described, family)))
    .slice(0, familiesMax)) {
    const kept: Kept[] = [];
    const asking = askingOf(service, described, requestsMax);
    let left: string | undefined;
    try {
      if (isPaged) await askPaged(await lifeOf(family, families, asking, kept));
      else await live(family, families, asking, kept);
    } catch (error) {
      if (!(error instanceof CannotMake || error instanceof Spent)) throw error;
      left = error instanceof Spent ? 'too many requests' : error.message;
    }
    lived.push({ family: family.path, kept, ...(left !== undefined && { left }) });
  }
  await service.close();
  return { lived };
}

process.once('message', async (work: LifecycleWork) => {
  let told: LifecycleDone;
  try {
    told = await done(work);
  } catch (error) {
    told = {
      failed: error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' | ') : String(error),
    };
  }
  process.send?.(told, () => process.connected && process.disconnect());
});
