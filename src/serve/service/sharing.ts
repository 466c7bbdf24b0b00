import type { SharedStore, SharedWork } from '../../store/sharing.ts';
import type { Engine } from '../operations/engine.ts';
import type { Timers } from './timers.ts';

/** What one process of several that have a store does with the others. */
export interface SharedService {
  /** From now on there is a document to do it by. */
  begin(): void;
  /** Gives the work back, so that another process goes on with it at once. */
  stop(): Promise<void>;
}

/** Does what is due where no other process does, and hears of what others change; resolves once it is known which work is this process's. */
export async function startSharing(
  shared: SharedStore,
  { timers, events, credentials, onFailure }: Pick<Engine, 'events' | 'credentials' | 'onFailure'> & { readonly timers: Timers },
): Promise<SharedService> {
  const isMine = new Map<SharedWork, boolean>();
  let hasBegun = false;
  const become = (work: SharedWork) => {
    const mine = isMine.get(work) === true;
    if (work === 'timers') timers.become(mine);
    else events.become(mine).catch((failure: unknown) => onFailure(failure, 'deliveries'));
  };
  timers.become(false);
  void events.become(false);
  const works = (['timers', 'deliveries'] as const).map((work) => {
    let giveBack: () => Promise<void> = async () => {};
    const decided = new Promise<void>((resolve) => {
      giveBack = shared.share(work, (isHeld) => {
        isMine.set(work, isHeld);
        if (hasBegun) become(work);
        resolve();
      });
    });
    return { work, decided, giveBack };
  });
  let end = () => {};
  await Promise.all(works.map(({ decided }) => decided));
  return {
    begin() {
      hasBegun = true;
      for (const { work } of works) become(work);
      end = shared.watch((marks) => {
        if (marks.has('credentials')) credentials.changed();
        if (marks.has('events') || marks.has('subscribers')) events.changedElsewhere(marks.has('subscribers'));
        if (marks.has('timers')) timers.changed();
      });
    },
    async stop() {
      end();
      await Promise.all(works.map(({ giveBack }) => giveBack()));
    },
  };
}
