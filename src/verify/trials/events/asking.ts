import type { Json } from '../../../document/document.ts';
import { askedFor, toldAs } from '../../../parts/event-names.ts';
import type { EventKind } from '../../../parts/events.ts';
import { type Expression, entriesOf } from '../../../parts/fact.ts';
import { withPlaced } from '../../../parts/field-path.ts';
import { shapeAlong } from '../../../parts/uses/following.ts';
import type { Allowed } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { deliveryOf } from './envelope.ts';

type Fields = Readonly<Record<string, Json>>;

/** The conditions under which subscribers are told of anything, and of one event. */
export function askingOf({ spec }: Model): readonly Expression[] {
  const { isEnabled, if: condition } = deliveryOf(spec)?.push?.subscribers ?? {};
  return [...(isEnabled ? [isEnabled] : []), ...(condition ? [condition] : [])];
}

/** Whether a subscriber, as it was shown, asks for events of a kind. */
export function asksFor(model: Model, subscriber: Fields, kind: EventKind): Allowed {
  const context = { subscriber, event: toldAs(model.spec, kind.name) };
  const answers = askingOf(model).map((condition) => model.expressions.evaluate(condition, undefined, { context }));
  if (answers.some((answer) => typeof answer === 'object' && answer.value !== true)) return 'no';
  return answers.some((answer) => typeof answer === 'string') ? 'unknown' : 'yes';
}

/** Whether a subscriber meets all conditions for events of every kind, or all but one, which it meets for none. */
export function asksForAll(model: Model, subscriber: Fields, unmet: Expression | undefined): boolean {
  const kinds = entriesOf(model.spec.events.kinds).map(([name]) => toldAs(model.spec, name));
  return askingOf(model).every((condition) =>
    kinds.every((event) => {
      const evaluated = model.expressions.evaluate(condition, undefined, { context: { subscriber, event } });
      return typeof evaluated === 'object' && (evaluated.value === true) === (condition !== unmet);
    }),
  );
}

/** What is sent of the fields that decide what a subscriber asks for: each of the few things that they can be, or every kind; every draw another choice. */
export function asked(model: Model, draw: number): Record<string, Json> {
  const resource = deliveryOf(model.spec)?.push?.subscribers?.resource ?? '';
  const names = entriesOf(model.spec.events.kinds).flatMap(([, kind]) => [kind.called, askedFor(kind)]);
  let out: Record<string, Json> = {};
  let left = draw;
  for (const { root, path } of askingOf(model).flatMap((condition) => model.expressions.readsOf(condition, undefined))) {
    if (root !== 'subscriber' || path.length === 0) continue;
    const place = path.join('.');
    const shape = shapeAlong(model.spec, { row: { shape: { resource } } }, `row.${place}`);
    const few = shape?.type === 'boolean' ? [true, false] : Array.isArray(shape?.enum) ? (shape.enum as readonly Json[]) : [];
    const lists: readonly Json[] = shape?.type === 'array' ? [[...new Set(names)], []] : [];
    const values = [...few, ...lists];
    const value = values[left % Math.max(1, values.length)];
    left = Math.floor(left / Math.max(1, values.length));
    if (value !== undefined) out = withPlaced(out, place, value);
  }
  return out;
}
