import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Expression } from '../../parts/fact.ts';
import type { Machine } from '../../parts/states.ts';
import type { TrialCaller } from './callers.ts';
import type { TrialExchange } from './exchange.ts';
import type { RequestPlan } from './plan.ts';
import type { Done, Step } from './step.ts';
import type { Symbolic } from './symbol.ts';

/** A row that a session has made or was given. */
export interface TrialRow {
  readonly resource: string;
  readonly id: Symbolic;
  /** What its path parameters and fields are known to be, beside its identifier, as later requests can name them. */
  readonly known: Readonly<Record<string, Symbolic>>;
  /** The exchange that made it; absent for one that was given. */
  readonly made?: Done<TrialExchange>;
  /** Who made it. */
  readonly caller: TrialCaller | undefined;
  /** The last exchange that showed it, and what it showed. */
  shown: Done<TrialExchange> | undefined;
  fields: Readonly<Record<string, Json>> | undefined;
}

/** What has to be so of a row for whatever refers to it: that no error of the service's own comes of it, that it may be read, that a transition is open. */
export interface Demand {
  /** The references that lead to it from what is referred to: `dormitory`, `hut` of `next.night.dormitory.hut.season`; none where it is that row itself. */
  readonly way?: readonly string[];
  readonly members: readonly string[];
  readonly source: string;
  /** Whether nothing can be made without it. */
  readonly isFirm: boolean;
  isMet(row: Readonly<Record<string, Json>>): boolean;
  /** How much of what may refer to it is taken: of several rows that will do the roomiest is made. */
  room?(row: Readonly<Record<string, Json>>): number;
}

/** What has to be so of what a row refers to by a field. */
export interface DemandThrough {
  readonly field: string;
  readonly demand: Demand;
}

/** What is wanted of a row that is made. */
export interface WantedRow {
  /** The state that it is to be in, of one of its machines: that which has such a state, unless said. */
  readonly state?: string;
  readonly machine?: Machine;
  /** Whether it may be one that was deleted, where that is its state: what brings it back is all that is asked of it. */
  readonly mayBeDeleted?: boolean;
  /** The transition that is not to be open to it, for what it refers to. */
  readonly blocking?: string;
  /** Whether the clock may be moved to bring it there, which others would see too. */
  readonly byClock?: boolean;
  /** Who is to make it; anybody who may, unless said. */
  readonly caller?: TrialCaller | undefined;
  /** Who is to refer to it, and makes it where it may: of another's it need not know. */
  readonly for?: TrialCaller | undefined;
  /** Members of the body that are to be so. */
  readonly body?: Readonly<Record<string, Symbolic>>;
  /** What it is to be called, where that is for whoever makes it to say. */
  readonly id?: Json;
  /** Fields that acts on the way to its state set to what is sent with them, as they are to be. */
  readonly ahead?: Readonly<Record<string, Json>>;
  /** The values of path parameters and references that are to be so. */
  readonly parents?: Readonly<Record<string, TrialRow>>;
  /** What is asked of the rows that it refers to, for the sake of what refers to it. */
  readonly asked?: readonly DemandThrough[];
  /** The row that is to be changed, whose immutable fields stay as they are. */
  readonly changes?: TrialRow;
  /** `full`: everything that the shape admits is drawn. */
  readonly style?: SampleStyle;
  /** Whether it may be one that other cases refer to as well: nothing is done to it but reading. */
  readonly mayBeLent?: boolean;
  /** Whom it is to be given to, where a request on the way to its state says to whom. */
  readonly named?: TrialCaller;
  /** Whether what is to refer to it moves it on, so that it serves one alone. */
  readonly isMovedAlong?: boolean;
  /** The condition that is meant to refuse it: no other error of the service's own is to. */
  readonly meant?: Expression;
  /** Whether a subscriber is told at any address, and not at one of ours. */
  readonly isElsewhere?: boolean;
}

/** The values of a path's parameters, and a body. */
export interface Parts {
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly json: Symbolic | undefined;
  /** The rows that were made or wanted for it to refer to, by field. */
  readonly parents: Readonly<Record<string, TrialRow>>;
}

/** Makes rows for a session. */
export interface RowMaker {
  /** @throws {Untestable} where that cannot be. */
  make(resource: string, wanted: WantedRow): Promise<TrialRow>;
  /** The request that would make a row, with what it refers to made already. */
  creation(resource: string, wanted: WantedRow): Promise<RequestPlan>;
  /** Everything that a request needs to be valid but for the row that it is about. */
  parts(endpoint: Endpoint, wanted: WantedRow): Promise<Parts>;
  /** The headers that an endpoint asks for before it changes a row. */
  preconditions(endpoint: Endpoint, row: TrialRow, caller: TrialCaller | undefined): Promise<Record<string, Symbolic>>;
  /** Where a subscriber is told of what happens, and an address of ours; nothing where rows are no subscribers, or none may be told at ours. */
  heardAt(resource: string): Promise<{ readonly field: string; readonly address: Symbolic } | undefined>;
  /** The steps that make the rows which stand for a caller itself. */
  ownRows(caller: TrialCaller): Promise<readonly Step<TrialExchange>[]>;
}

/**
 * `plain`: only what is required, each value as ordinary as its shape lets it be; `full`: everything that the shape admits, some of
 * what is optional left out; `whole`: what is required as in `plain`, and all that is optional, so that rules about what is required
 * hardly ever refuse it.
 */
export type SampleStyle = 'plain' | 'full' | 'whole';
