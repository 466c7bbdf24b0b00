import type { ScriptRun } from './run.ts';
import type { ShellNames } from './shell.ts';
import type { Captured } from './symbol.ts';

/** One act of a script, which can be done again from a clean start. A trial may bring kinds of its own. */
export interface Step<T> {
  /** What is done, for people: `POST /parcels as merchant`. */
  readonly says: string;
  act(run: ScriptRun): Promise<T>;
  /** The values it takes from earlier steps. */
  readonly takes: readonly Captured[];
  /** The steps that it needs without taking a value from them, by number. */
  readonly needs?: readonly number[];
  /** What came of it in a few words. */
  tell(result: T): string;
  /** The shell lines that do the same. */
  shell(names: ShellNames): readonly string[];
  /** The step with less in it, simplest first; each is tried and kept if the claim is still broken. */
  smaller?(): Iterable<Step<T>>;
  /** Whether its result may be judged at all: an exchange without an answer is not. */
  readonly isRequest?: boolean;
  /** Whether it does nothing but wait, so that others may go on meanwhile. */
  readonly isWait?: boolean;
}

/** A step that was done, and what it gave in the session's own run. */
export interface Done<T> {
  readonly step: number;
  readonly value: T;
}
