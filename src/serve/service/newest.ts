import { parseDocument } from '../../document/read/parse.ts';
import { isKey } from '../../parts/form.ts';
import { readSpec, type Spec } from '../../parts/spec.ts';
import { Superseded } from '../../store/failures.ts';
import type { SharedStore } from '../../store/sharing.ts';
import type { Store } from '../../store/store.ts';
import type { Call, Reply } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import type { AnswerCall } from '../serve.ts';
import type { ServeOptions } from './service.ts';
import { documentKey } from './stored/migrate.ts';

/** A store as the plans of one document have it. */
export interface DocumentStore {
  readonly store: Store;
  /** Whether another document is about to be served in place of this one: then nothing more is read or changed by these plans. */
  isPast: boolean;
}

/** Where other processes can bring tables up to another document, plans of the one before must not touch them any more. */
export function storeOfDocument(store: Store): DocumentStore {
  if (!store.shared) return { store, isPast: false };
  const { shared } = store;
  const past = () => Promise.reject(new Superseded('the store'));
  const own: DocumentStore = {
    isPast: false,
    store: {
      shared,
      prepare: (...given) => store.prepare(...given),
      tablesBeside: (known) => store.tablesBeside(known),
      copyTo: (path) => store.copyTo(path),
      read: (body, goesOn) => (own.isPast ? past() : store.read(body, goesOn)),
      change: (body) => (own.isPast ? past() : store.change(body)),
      due: (nowMs, most) => store.due(nowMs, most),
      timers: (most, search) => store.timers(most, search),
      nextDue: () => store.nextDue(),
      setting: (...given) => store.setting(...given),
      compact: () => store.compact(),
      close: () => store.close(),
    },
  };
  return own;
}

/**
 * What goes on with newer documents; nothing where a store is this process's alone, or where code of the user's belongs to the document that
 * this process was started with.
 */
export function newestOf(
  { handlers = {}, before = {}, sample }: Pick<ServeOptions, 'handlers' | 'before' | 'sample'>,
  { shared }: Store,
  clock: Clock,
  replace: (spec: Spec) => Promise<void>,
): NewestDocument | undefined {
  const hasCode = Object.keys(handlers).length + Object.keys(before).length > 0;
  return shared && !hasCode && !sample ? new NewestDocument(shared, replace, () => clock.now()) : undefined;
}

/** Tells failures, but for those that a newer document is the remedy of: that is gone on with. */
export function tellingNewest(newest: NewestDocument | undefined, tell: OnFailure): OnFailure {
  return (failure, requestId) => {
    if (failure instanceof Superseded && newest) newest.goOn().catch((other: unknown) => tell(other, requestId));
    else tell(failure, requestId);
  };
}

type OnFailure = (failure: unknown, requestId: string) => void;

/** How often a call is begun anew. */
const againMost = 3;
/** How long after a document could not be gone on with that is tried again. */
const restMs = 1000;

/** Goes on with the document that tables were brought up to by another process. */
export class NewestDocument {
  readonly #shared: SharedStore;
  readonly #replace: (spec: Spec) => Promise<void>;
  readonly #nowMs: () => number;
  #trying: Promise<void> | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(shared: SharedStore, replace: (spec: Spec) => Promise<void>, nowMs: () => number) {
    this.#shared = shared;
    this.#replace = replace;
    this.#nowMs = nowMs;
  }

  /** Resolves once this process serves the newest document; one try at a time. Rejects where that cannot be. */
  goOn(): Promise<void> {
    if (!this.#trying && this.#nowMs() < this.#restsUntilMs) return Promise.reject(new Superseded('the store'));
    this.#trying ??= this.#goOn().then(
      () => {
        this.#trying = undefined;
      },
      (failure: unknown) => {
        this.#trying = undefined;
        this.#restsUntilMs = this.#nowMs() + restMs;
        throw failure;
      },
    );
    return this.#trying;
  }

  /** The same road for calls that nothing was done about, because another document was served meanwhile: they are begun anew. */
  answering(road: AnswerCall): AnswerCall {
    const begin = async (call: Call, times: number): Promise<Reply> => {
      const isLast = times === againMost;
      try {
        call.mayBeginAnew = !isLast;
        return await road(call);
      } catch (failure) {
        if (isLast || !(failure instanceof Superseded)) throw failure;
        const isOn = await this.goOn().then(
          () => true,
          () => false,
        );
        return begin(call, isOn ? times + 1 : againMost);
      }
    };
    return (call) => begin(call, 0);
  }

  async #goOn(): Promise<void> {
    const found = await this.#shared.remembered(documentKey);
    if (!found) throw new Superseded('the store');
    await this.#replace(readSpec(parseDocument(found.body, 'document.json', { isKey })));
  }
}
