import type { CelType } from './cel-type.ts';
import { Failed, type Value } from './cel-value.ts';
import { type Code, type Coding, crossed, type Locals, type Run } from './code.ts';
import { withLocal } from './code-path.ts';
import { isRawMap } from './crossing.ts';
import { charge, chargeItems, type Frame } from './frame.ts';
import type { NodeOf } from './node.ts';

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

function itemsOf(over: Code): Run<readonly unknown[]> {
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

function filter(items: Run<readonly unknown[]>, slot: number, body: Run<boolean>): { readonly run: Run<unknown[]> } {
  return { run: (frame) => items(frame).filter((item) => turn(frame, slot, item, body)) };
}

function map(items: Run<readonly unknown[]>, slot: number, body: Run<Value>, where?: Run<boolean>): Run<Value> {
  return (frame) => {
    const kept = where ? items(frame).filter((item) => turn(frame, slot, item, where)) : items(frame);
    return kept.map((item) => turn(frame, slot, item, body));
  };
}

function one(items: Run<readonly unknown[]>, slot: number, body: Run<boolean>): Run<Value> {
  return (frame) => items(frame).filter((item) => turn(frame, slot, item, body)).length === 1;
}

function decided(items: Run<readonly unknown[]>, slot: number, body: Run<boolean>, decisive: boolean): Run<Value> {
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

function turn<T>(frame: Frame, slot: number, item: unknown, body: Run<T>): T {
  charge(frame, 1);
  withLocal(frame, slot, item);
  return body(frame);
}
