import type { Json } from '../../document/document.ts';
import { Failed } from './cel-value.ts';

/** A value as JSON has it. Integers past 2^53 come and go as bigints; a field may be undefined where it is absent. */
export type Raw = Json | bigint | undefined | readonly Raw[] | { readonly [key: string]: Raw };

/** What an evaluation is about: the variables of its scope as plain JSON values. */
export interface EvaluationContext {
  readonly now?: Date | number;
  readonly follow?: Follow;
  readonly [variable: string]: Raw | Date | Follow;
}

/**
 * The row of a resource as it is stored: that with an identifier, or that whose fields have these values, which are unique together by this one of
 * the resource's rules (`uniquesOf`).
 */
type Follow = (resource: string, key: string | FieldValues, unique?: number) => Raw;

/** The values by which a row is found, as JSON has them. */
export type FieldValues = { readonly [field: string]: Raw };

/** One evaluation under way. */
export interface Frame {
  readonly context: EvaluationContext;
  /** The variables of loops, by slot. */
  readonly locals: unknown[];
  steps: number;
}

/** Counts work. @throws {Failed} when the evaluation has had enough of it. */
export function charge(frame: Frame, steps: number): void {
  frame.steps += steps;
  if (frame.steps > bounds.stepsMax) throw new Failed('size', 'more work than one evaluation may be');
}

/** @throws {Failed} where a list is longer than an expression may handle. */
export function chargeItems(frame: Frame, length: number): void {
  if (length > bounds.itemsMax) throw new Failed('size', `a list of more than ${bounds.itemsMax} items`);
  charge(frame, length);
}

/** @throws {Failed} where a text is longer than an expression may handle. */
export function chargeText(frame: Frame, length: number): void {
  if (length > bounds.textMax) throw new Failed('size', `a text of more than ${bounds.textMax} characters`);
  charge(frame, length >> 6);
}

/** What one expression may cost, so that no document and no request can make an evaluation long. */
export const bounds = {
  /** Characters of the source. */
  sourceMax: 4096,
  /** Nodes of the syntax tree. */
  nodesMax: 1000,
  /** Nesting of the syntax tree. */
  depthMax: 50,
  /** Items of any list that an expression walks or makes. */
  itemsMax: 10_000,
  /** Characters of any string that an expression makes. */
  textMax: 1_000_000,
  /** Steps of one evaluation: one for each turn of a loop, item compared, or 64 characters handled. */
  stepsMax: 200_000,
  /** Steps that one `find` counts for: so at most 1000 of them in one evaluation. */
  findSteps: 200,
  /** References that one path may follow. */
  followsMax: 3,
} as const;
