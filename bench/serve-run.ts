/** What one run of `npm run bench serve` measured. */
import type { Contestant } from './contestants.ts';
import type { LoadResult } from './load.ts';
import type { Act, Setting, Side } from './settings.ts';
import type { WrkResult } from './wrk.ts';

/** One side's answers to one kind of request at one number of connections in one round. */
export interface Trial extends LoadResult {
  readonly round: number;
  readonly side: Side;
  readonly act: Act;
  readonly connections: number;
  readonly flushesPerSecond?: number | undefined;
  /** Processor time of the server for each answer: what other programs take from the machine is not in it. */
  readonly cpuMicros?: number | undefined;
  /** How much of a core the server had. */
  readonly serverBusy?: number | undefined;
}

/** What one side's processes hold, in MiB: before the first trial, after the last, and when nobody asked for a while. */
export interface Memory {
  readonly side: Side;
  /** Right after the first answer, without rows, before anything was asked of it. */
  readonly start?: number | undefined;
  readonly idle?: number | undefined;
  readonly afterReads?: number | undefined;
  readonly afterCreates?: number | undefined;
  /** The process that was read from, and the one that created, after `settleSeconds` without a request. */
  readonly settledReads?: number | undefined;
  readonly settledCreates?: number | undefined;
}

/** One reading by a load generator that is not ours. */
export interface SecondReading extends WrkResult {
  readonly round: number;
  readonly side: Side;
  readonly act: Act;
}

export interface ServeRun {
  readonly setting: Setting;
  readonly rounds: number;
  readonly seconds: number;
  readonly trials: readonly Trial[];
  readonly memory: readonly Memory[];
  /** The same requests at 64 connections by wrk, where it is installed. */
  readonly second: readonly SecondReading[];
  readonly bytes: Readonly<Partial<Record<Side, Contestant['bytes']>>>;
  /** What did not start, and why. */
  readonly missing: readonly string[];
}
