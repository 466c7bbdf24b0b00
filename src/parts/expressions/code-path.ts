import type { CelType } from './cel-type.ts';
import { type CelValue, charge, chargeItems, type EvaluationContext, Failed, type Frame, type Raw } from './cel-value.ts';
import type { Inferred } from './infer.ts';
import { type Code, crossed, type Evaluation, isRawMap } from './json-values.ts';
import type { Node, NodeOf } from './node.ts';
import type { Scope } from './scope.ts';

/** A variable: of a loop, or of the scope. What is absent is undefined here, and found to be so where it is used. */
export function codeName(coding: Coding, node: NodeOf<'name'>, locals: Locals): Code {
  const type = typeOf(coding, node);
  const local = locals.get(node.name);
  if (local) {
    const { slot } = local;
    // A loop puts into its slot what `raw` says of it.
    if (local.raw) return { raw: true, type, run: (frame) => frame.locals[slot] as Raw };
    return { raw: false, type, run: (frame) => frame.locals[slot] as CelValue };
  }
  const variable = coding.scope[node.name];
  if (variable && 'clock' in variable) return { raw: false, type, run: ({ context }) => timeOf(context) };
  const { name } = node;
  // Only `now` and `follow` are no JSON; `now` was seen to above, and no scope has a variable `follow`.
  return { raw: true, type, run: ({ context }) => context[name] as Raw };
}

function timeOf({ now }: EvaluationContext): Date {
  if (now instanceof Date) return now;
  if (typeof now === 'number') return new Date(now);
  throw new Failed('absent', '`now` is not there');
}

/** A field that has to be there. */
export function codeField(coding: Coding, node: NodeOf<'field'>, locals: Locals): Code {
  const type = typeOf(coding, node);
  const of = coding.code(node.of, locals);
  const absent = new Failed('absent', `\`${textOf(node)}\` is not there`);
  if (!of.raw) return { raw: false, type, run: valueMember(of.run, node.name, absent) };
  const find = finder(of, node.name);
  return {
    raw: true,
    type,
    run: (frame) => {
      const found = find(frame);
      if (found === undefined || found === null) throw absent;
      return found;
    },
  };
}

function valueMember(of: Evaluation<CelValue>, name: string, absent: Failed): Evaluation<CelValue> {
  return (frame) => {
    const held = of(frame);
    const found = held instanceof Map ? held.get(name) : undefined;
    if (found === undefined || found === null) throw absent;
    return found;
  };
}

/** A field of JSON, undefined where it or what should hold it is not there. A field of a reference is one of what it refers to. */
function finder(of: Extract<Code, { raw: true }>, name: string): Evaluation<Raw> {
  const { run, type } = of;
  if (type.is === 'ref') {
    const { resource } = type;
    return (frame) => {
      const id = run(frame);
      const named = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint';
      const row = named ? frame.context.follow?.(resource, String(id)) : undefined;
      return isRawMap(row) ? own(row, name) : undefined;
    };
  }
  if (name in Object.prototype || type.is === 'dyn' || type.is === 'map') {
    return (frame) => {
      const held = run(frame);
      return isRawMap(held) ? own(held, name) : undefined;
    };
  }
  return (frame) => {
    const held = run(frame);
    // A typed object: of a misfit list or time the field is not there either.
    return typeof held === 'object' && held !== null ? (held as { readonly [key: string]: Raw })[name] : undefined;
  };
}

function own(held: { readonly [key: string]: Raw }, name: string): Raw {
  return Object.hasOwn(held, name) ? held[name] : undefined;
}

/**
 * Whether a field is there. Where what should hold it has no type, that has to be there itself; a path with a type was
 * checked for that, and a reference to a row that is gone has no fields.
 */
export function codeHas(coding: Coding, node: NodeOf<'has'>, locals: Locals): Evaluation<boolean> {
  const { field } = node;
  if (field.op === 'find') {
    const { run } = coding.code(field, locals);
    return (frame) => isRawMap(run(frame));
  }
  const of = loose(coding, field.of, locals);
  if (!of.raw) {
    const { run } = of;
    return (frame) => {
      const held = run(frame);
      return held instanceof Map && (held.get(field.name) ?? null) !== null;
    };
  }
  const find = finder(of, field.name);
  return (frame) => {
    const found = find(frame);
    return found !== undefined && found !== null;
  };
}

/** A path of which any part may be missing; without a type, all but the last has to be there. */
function loose(coding: Coding, node: Node, locals: Locals): Code {
  if (node.op !== 'field') return coding.code(node, locals);
  const type = typeOf(coding, node);
  if (type.is === 'dyn') return coding.code(node, locals);
  const of = loose(coding, node.of, locals);
  return of.raw ? { raw: true, type, run: finder(of, node.name) } : coding.code(node, locals);
}

/** An item of a list, or an entry of a map by a key that is reckoned. */
export function codeIndex(coding: Coding, node: NodeOf<'index'>, locals: Locals): Code {
  const type = typeOf(coding, node);
  const of = coding.code(node.of, locals);
  const index = coding.value(node.index, locals);
  const failed = new Failed('index', `\`${textOf(node.of)}\` has nothing at this place`);
  if (of.raw) return { raw: true, type, run: (frame) => present(rawItem(of.run(frame), index(frame)), failed) };
  return { raw: false, type, run: (frame) => present(valueItem(of.run(frame), index(frame)), failed) };
}

function present<T>(found: T | undefined | null, failed: Failed): T {
  if (found === undefined || found === null) throw failed;
  return found;
}

function rawItem(held: Raw, index: CelValue): Raw {
  if (Array.isArray(held)) return held[placeOf(index)];
  return isRawMap(held) && typeof index === 'string' ? own(held, index) : undefined;
}

function valueItem(held: CelValue, index: CelValue): CelValue | undefined {
  if (Array.isArray(held)) return held[placeOf(index)];
  return held instanceof Map && typeof index === 'string' ? held.get(index) : undefined;
}

function placeOf(index: CelValue): number {
  if (typeof index === 'bigint' || (typeof index === 'number' && Number.isInteger(index))) return Number(index);
  throw new Failed('type', 'a place in a list that is no integer');
}

function typeOf(coding: Coding, node: Node): CelType {
  return coding.inferred.types.get(node) ?? { is: 'dyn', open: true };
}

/** A path as it is written, for messages. */
function textOf(node: Node): string {
  if (node.op === 'name') return node.name;
  if (node.op === 'field') return `${textOf(node.of)}.${node.name}`;
  return node.op === 'index' ? `${textOf(node.of)}[…]` : '…';
}

/** Runs with a variable of a loop. */
function withLocal(frame: Frame, slot: number, value: unknown): void {
  frame.locals[slot] = value;
}

/** A loop over the items of a list or the keys of a map. As in `&&` and `||`, one item that decides outweighs others that fail. */
export function codeLoop(coding: Coding, node: NodeOf<'loop'>, locals: Locals): Code {
  const over = coding.code(node.over, locals);
  const type = coding.inferred.types.get(node) ?? { is: 'dyn', open: true };
  const item: CelType = over.type.is === 'list' ? over.type.of : over.type.is === 'dyn' ? over.type : { is: 'string' };
  const slot = coding.slot();
  const inside = new Map(locals).set(node.name, { slot, raw: over.raw, type: item });
  const items = itemsOf(over);
  // What is kept is as it came in: crossed or not, like the list.
  if (node.kind === 'filter') return { ...filter(items, slot, coding.condition(node.body, inside)), raw: over.raw, type } as Code;
  if (node.kind === 'map') {
    const where = node.where && coding.condition(node.where, inside);
    return { raw: false, type, run: map(items, slot, crossed(coding.code(node.body, inside)), where) };
  }
  const body = coding.condition(node.body, inside);
  return {
    raw: false,
    type,
    run: node.kind === 'exists_one' ? one(items, slot, body) : decided(items, slot, body, node.kind === 'exists'),
  };
}

function itemsOf(over: Code): Evaluation<readonly unknown[]> {
  return (frame) => {
    const held: unknown = over.run(frame);
    const items = Array.isArray(held)
      ? held
      : held instanceof Map
        ? [...held.keys()]
        : isRawMap(held)
          ? Object.keys(held)
          : undefined;
    if (!items) throw new Failed('type', 'a loop over something that is neither list nor map');
    chargeItems(frame, items.length);
    return items;
  };
}

function filter(
  items: Evaluation<readonly unknown[]>,
  slot: number,
  body: Evaluation<boolean>,
): { readonly run: Evaluation<unknown[]> } {
  return { run: (frame) => items(frame).filter((item) => turn(frame, slot, item, body)) };
}

function map(
  items: Evaluation<readonly unknown[]>,
  slot: number,
  body: Evaluation<CelValue>,
  where?: Evaluation<boolean>,
): Evaluation<CelValue> {
  return (frame) => {
    const kept = where ? items(frame).filter((item) => turn(frame, slot, item, where)) : items(frame);
    return kept.map((item) => turn(frame, slot, item, body));
  };
}

function one(items: Evaluation<readonly unknown[]>, slot: number, body: Evaluation<boolean>): Evaluation<CelValue> {
  return (frame) => items(frame).filter((item) => turn(frame, slot, item, body)).length === 1;
}

function decided(
  items: Evaluation<readonly unknown[]>,
  slot: number,
  body: Evaluation<boolean>,
  decisive: boolean,
): Evaluation<CelValue> {
  return (frame) => {
    let failed: Failed | undefined;
    for (const item of items(frame)) {
      try {
        if (turn(frame, slot, item, body) === decisive) return decisive;
      } catch (error) {
        if (!(error instanceof Failed) || error.reason === 'size') throw error;
        failed ??= error;
      }
    }
    if (failed) throw failed;
    return !decisive;
  };
}

function turn<T>(frame: Frame, slot: number, item: unknown, body: Evaluation<T>): T {
  charge(frame, 1);
  withLocal(frame, slot, item);
  return body(frame);
}

/** What the files that each turn some nodes into code share. */
export interface Coding {
  readonly scope: Scope;
  readonly inferred: Inferred;
  code(node: Node, locals: Locals): Code;
  /** The node as a value, crossed where it is not one yet. */
  value(node: Node, locals: Locals): Evaluation<CelValue>;
  condition(node: Node, locals: Locals): Evaluation<boolean>;
  /** A free slot for the variable of a loop. */
  slot(): number;
}

/** The variables of loops: their slots in the frame, and whether what is in them has crossed. */
export type Locals = ReadonlyMap<string, { readonly slot: number; readonly raw: boolean; readonly type: CelType }>;
