import { statedValue } from '../../parts/fact.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Done, ScriptRun } from '../exchange/step.ts';
import { capturesIn, renumbered, resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { SentStep } from '../session/sent-steps.ts';
import type { Session } from '../session/session.ts';
import { isEntangled, isTimely } from './entangled.ts';
import { claimedBy, keysMade, resourceIn } from './lent-keys.ts';
import { type MadeRow, madeKey } from './made.ts';
import { againOr, wishOf } from './own-again.ts';
import { isScarce } from './places.ts';

/** So many cases at most refer to one row, and to one that what refers to it bears on. */
const takersMost = { plain: 100, entangled: 12 };
/** So many rows are kept that are wanted alike: those that begin at once each make their own. */
const alikeMost = 6;
/** A row is lent for no longer than this: what is made may lapse. */
const lentMsMost = 60_000;

/** A row that other cases refer to wants to be changed, or listed below: the case is carried out again with rows of its own. */
export class SharedRow extends Error {
  override readonly name = 'SharedRow';
  readonly resource: string;

  constructor(resource: string) {
    super(`a ${resource} is referred to by others`);
    this.resource = resource;
  }
}

/** A row that is there for others to refer to, and what it took to make it. */
interface Lent {
  readonly row: TrialRow;
  readonly steps: readonly SentStep[];
  /** The row and those that were made for it. */
  readonly keys: ReadonlySet<string>;
  readonly most: number;
  readonly isEntangled: boolean;
  /** Whether the time alone makes it otherwise. */
  readonly isTimely: boolean;
  readonly madeMs: number;
  readonly offsetMs: number;
  taken: number;
}

/** What one case has of others, and others of it. */
interface Holding {
  readonly keys: Set<string>;
  /** Whether something that it took may be otherwise for what others did. */
  mayBeOtherwise: boolean;
  /** Of these resources it takes nothing, and what it makes is its own. */
  readonly own: ReadonlySet<string>;
  /** What it makes now is its own, and it takes nothing. */
  isAlone: boolean;
  /** For these no row could be made with rows of its own either. */
  readonly inVain: Set<string>;
}

const holdings = new WeakMap<object, { readonly rows: SharedRows; readonly holding: Holding }>();

/** A row for others to refer to: one that another case has made alike, or else one that the next may have. */
export async function sharedOr(
  session: Session,
  resource: string,
  wanted: WantedRow,
  make: () => Promise<TrialRow>,
): Promise<TrialRow> {
  const { rows, holding } = holdings.get(session.run.owner) ?? {};
  if (!holding && isScarce(session.model, resource)) return againOr(session, resource, wanted, make);
  const isShared = rows && holding && !holding.own.has(resource) && (!holding.isAlone || isScarce(session.model, resource));
  const wish = isShared ? wishOf(session, resource, wanted) : undefined;
  if (!rows || wish === undefined) return make();
  const taken = await rows.take(session, wish);
  if (taken) return taken;
  const from = session.script.length;
  try {
    const row = await make();
    rows.give(session, { resource, wish, from, row });
    return row;
  } catch (error) {
    // Where there can be no more of them, more cases refer to those that there are.
    const again = error instanceof Untestable ? await rows.take(session, wish, takersMost.plain) : undefined;
    if (!again) throw error;
    return again;
  }
}

/** The tries to make a row, or to bring it to a state: whoever is refused for what others may have done to a row has its own for the next. */
export interface OwnTries {
  /** Whether the next has its own, where this one had not. */
  refused(): boolean;
  end(): void;
}

/** Where rows of its own did not help either, it was not for the others: the case has theirs whenever it makes such a row again. */
export function ownTries({ run }: Session, wanted: string): OwnTries {
  const holding = holdings.get(run.owner)?.holding;
  let isOwn = false;
  const leave = (isAlone: boolean) => {
    isOwn = isAlone;
    if (holding) holding.isAlone = isAlone;
  };
  return {
    refused() {
      if (isOwn) {
        holding?.inVain.add(wanted);
        leave(false);
      } else if (holding?.mayBeOtherwise && !holding.isAlone && !holding.inVain.has(wanted)) leave(true);
      return isOwn;
    },
    end() {
      if (isOwn) leave(false);
    },
  };
}

/**
 * Rows that are made for others to refer to, and serve every case that wants one alike: a case that is about a row makes its own. What
 * one of them changes, deletes or lists below is its own alone: where another case holds it, that is told before anything is sent.
 * A script has the steps that made what was taken, so that it is carried out again with rows of its own.
 */
export class SharedRows {
  readonly #model: Model;
  readonly #lent = new Map<string, Lent[]>();
  /** By the key of a row: how many cases under way hold it. */
  readonly #holders = new Map<string, number>();
  /** Whatever a case has taken of another. */
  readonly #common = new Set<string>();
  readonly #retired = new Set<string>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** A case that takes rows of others but of the resources that it has rows of its own of. */
  open(owner: object, own: ReadonlySet<string>): void {
    holdings.set(owner, {
      rows: this,
      holding: { keys: new Set(), mayBeOtherwise: false, own, isAlone: false, inVain: new Set() },
    });
  }

  close(owner: object): void {
    const held = holdings.get(owner)?.holding.keys ?? [];
    holdings.delete(owner);
    for (const key of held) this.#holders.set(key, (this.#holders.get(key) ?? 1) - 1);
  }

  /** Nothing that there is by now is taken any more. */
  forget(): void {
    this.#lent.clear();
  }

  /** Whether a case that is under way holds a row; what none holds may go, and is taken by nobody from then on. */
  keeps(row: MadeRow): boolean {
    return (this.#holders.get(madeKey(row)) ?? 0) > 0;
  }

  /** A row that another case has made, as if this one had: one to which few refer, unless so many may. */
  async take(session: Session, wish: string, most?: number): Promise<TrialRow | undefined> {
    const held = holdings.get(session.run.owner)?.holding;
    if (!held) return undefined;
    // What stands below one that is to be the case's own would bring another's along.
    const alike = (this.#lent.get(wish) ?? []).filter(
      (lent) => this.#isThere(most === undefined ? lent : { ...lent, most }, session.run) && !hasOwn(held, lent.keys),
    );
    const isNew = (lent: Lent) => held.keys.isDisjointFrom(lent.keys);
    // What wants several has two at least, and then one of these again.
    const again = alike.filter(({ isEntangled: bears, keys }) => !bears && keys.isSubsetOf(held.keys));
    const one = alike.find(isNew) ?? (again.length > 1 ? again.reduce((a, b) => (b.taken < a.taken ? b : a)) : undefined);
    if (!one) return undefined;
    one.taken += 1;
    held.mayBeOtherwise ||= one.isEntangled;
    for (const key of one.keys) {
      if (!held.keys.has(key)) this.#hold(held, key);
      // Whoever made it, and may be over by now, may have left something below it.
      this.#common.add(key);
    }
    const numbers = await session.takeOver(one.steps);
    return renumberedRow(one.row, numbers);
  }

  /** Leaves a row that a case has made to others. */
  give(session: Session, { resource, wish, from, row }: { resource: string; wish: string; from: number; row: TrialRow }): void {
    const held = holdings.get(session.run.owner)?.holding;
    if (!held || (held.isAlone && !isScarce(this.#model, resource)) || !row.made || !row.fields) return;
    const alike = (this.#lent.get(wish) ?? []).filter((one) => this.#isThere(one, session.run));
    const steps = alike.length < alikeMost ? session.sentSince(from, neededFor(row)) : undefined;
    if (!steps) return;
    const keys = new Set(steps.flatMap(({ value }) => keysMade(this.#model, value)));
    keys.add(madeKey({ resource, id: resolve(row.id, session.run) }));
    if (hasOwn(held, keys)) return;
    for (const key of keys) if (!held.keys.has(key)) this.#hold(held, key);
    const nowMs = Date.now();
    const entangled = isEntangled(this.#model.spec, resource);
    alike.push({
      row: { ...row },
      steps,
      keys,
      most: entangled && !isScarce(this.#model, resource) ? takersMost.entangled : takersMost.plain,
      isEntangled: entangled,
      isTimely: [...keys].some((key) => isTimely(this.#model.spec, resourceIn(key))),
      madeMs: nowMs,
      offsetMs: session.run.clock.toService(nowMs) - nowMs,
      taken: 0,
    });
    this.#lent.set(wish, alike);
  }

  /** Asked before anything is sent about rows. @throws {SharedRow} where it would change what others hold, or show what they have made */
  readonly reserve: NonNullable<ScriptRun['reserve']> = (plan, path, owner) => {
    const held = holdings.get(owner)?.holding;
    const isList = plan.endpoint && statedValue(plan.endpoint.does)?.verb === 'list';
    for (const key of claimedBy(this.#model, plan, path)) {
      const holders = this.#holders.get(key);
      if (holders === undefined) continue;
      // Nobody else may take what is a case's own; below it stands what others made, even once they are over.
      const isOthers = isList ? this.#common.has(key) : holders > (held?.keys.has(key) ? 1 : 0);
      if (held && isOthers) throw new SharedRow(resourceIn(key));
      this.#retired.add(key);
    }
  };

  #hold(held: Holding, key: string): void {
    const holders = (this.#holders.get(key) ?? 0) + 1;
    this.#holders.set(key, holders);
    held.keys.add(key);
  }

  #isThere({ most, taken, isTimely: lapses, madeMs, offsetMs, keys }: Lent, { clock }: ScriptRun): boolean {
    const nowMs = Date.now();
    const isMoved = Math.abs(clock.toService(nowMs) - nowMs - offsetMs) > 2_000;
    return (
      taken < most &&
      !(lapses && (isMoved || nowMs - madeMs > lentMsMost)) &&
      !keys.values().some((key) => this.#retired.has(key))
    );
  }
}

/** The steps that a row is known by. */
function neededFor({ id, known: values, made, shown }: TrialRow): number[] {
  const named = capturesIn({ ...values, id }).map(({ step }) => step);
  return [...named, ...[made, shown].flatMap((done) => (done ? [done.step] : []))];
}

/** Whether a case has rows of its own of a resource of one of these. */
function hasOwn({ own }: Holding, keys: ReadonlySet<string>): boolean {
  return keys.values().some((key) => own.has(resourceIn(key)));
}

function renumberedRow(row: TrialRow, numbers: ReadonlyMap<number, number>): TrialRow {
  const done = <T>(one: Done<T> | undefined) => one && { ...one, step: numbers.get(one.step) ?? one.step };
  const made = done(row.made);
  return {
    ...row,
    id: renumbered(row.id, numbers),
    known: renumbered(row.known, numbers) as Readonly<Record<string, Symbolic>>,
    ...(made && { made }),
    shown: done(row.shown),
  };
}
