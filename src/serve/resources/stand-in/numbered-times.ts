/** Clients that speak of times in seconds since 1970, where the description says a date and time as a text. */

import { pathOf } from '../../../document/pointer.ts';
import { formatNamed, timeFormat } from '../../../kinds/formats/all.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { conjunctionOf } from '../../../parts/shapes/branches.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import type { Violation } from '../../http/violation.ts';
import { isFields } from '../body.ts';

/** What is wrong with a value, as far as its shape says. */
type Validate = (value: Value) => readonly Violation[];

/**
 * Who sends a number where a date and time is asked for is told times as numbers too; so is who signs by Signature Version 4, whose JSON protocols have times as
 * numbers (smithy.io: AWS JSON 1.0 and 1.1, REST JSON 1), whatever a description that was made of them says.
 */
export class NumberedTimes {
  readonly #samples: Samples;
  readonly #heard = new WeakSet<Exchange>();

  constructor(samples: Samples) {
    this.#samples = samples;
  }

  /** Writes numbers in the body as times, where times are asked for, and gives what else is wrong with it. */
  hear(exchange: Exchange, value: Value, violations: readonly Violation[], validate: Validate): readonly Violation[] {
    const sent = violations.flatMap((violation) => {
      const at = violation.in === 'body' && seconds.test(violation.found) ? placeIn(value, violation.path) : undefined;
      return at && typeof at.holder[at.name] === 'number'
        ? [{ ...at, path: violation.path, number: Number(at.holder[at.name]) }]
        : [];
    });
    if (sent.length === 0) return violations;
    // A text that is no time is told as none where a time is asked for, and is taken elsewhere.
    for (const { holder, name } of sent) holder[name] = notTime;
    const asked = new Set(validate(value).flatMap(({ path, expected }) => (expected === timeMeaning ? [path] : [])));
    for (const { holder, name, path, number } of sent)
      holder[name] = asked.has(path) ? new Date(number * 1000).toISOString() : number;
    if (asked.size === 0) return violations;
    this.#heard.add(exchange);
    return validate(value);
  }

  /** An answer as the client reads it. */
  told(exchange: Exchange, shape: Shape, value: Value): Value {
    const isSigned = /^AWS4-HMAC-SHA256 /.test(String(exchange.call.headers.authorization ?? ''));
    return isSigned || this.#heard.has(exchange) ? this.#numbered(value, shape, 0) : value;
  }

  #numbered(value: Value, shape: Shape, depth: number): Value {
    if (depth > depthMost) return value;
    if (typeof value === 'string') {
      const isTime = this.#samples.whole(shape).format === timeFormat && !isCalledText(shape);
      const ms = isTime ? Date.parse(value) : Number.NaN;
      return Number.isNaN(ms) ? value : ms / 1000;
    }
    if (Array.isArray(value)) {
      const { items } = this.#samples.whole(shape);
      return isPlainMap(items) ? value.map((one: Value) => this.#numbered(one, items, depth + 1)) : value;
    }
    if (!isFields(value)) return value;
    const members = this.#samples.membersOf(shape);
    const { additionalProperties: others } = this.#samples.whole(shape);
    const out: Fields = { ...value };
    for (const [name, one] of Object.entries(value)) {
      const inner = members[name] ?? others;
      if (inner !== undefined && isPlainMap(inner)) out[name] = this.#numbered(one, inner, depth + 1);
    }
    return out;
  }
}

/** `Iso8601Timestamp`: a time whose own name says that it is a text. */
function isCalledText(shape: Shape): boolean {
  return [shape, ...conjunctionOf(shape).filter(isPlainMap)].some(
    ({ resource }) => typeof resource === 'string' && /iso_?8601/i.test(resource),
  );
}

const depthMost = 16;
/** A moment between 1973 and 5138, in seconds. */
const seconds = /^\d{9,11}(?:\.\d{1,9})?$/;
const notTime = 'no time';
const timeMeaning = formatNamed(timeFormat)?.meaning;

/** The map or list that holds what a pointer leads to. */
function placeIn(value: Value, pointer: string): { readonly holder: Record<string, Value>; readonly name: string } | undefined {
  const steps = pathOf(pointer);
  const name = steps.pop();
  let holder: Value = value;
  for (const step of steps) holder = typeof holder === 'object' && holder !== null ? (holder as Fields)[step] : undefined;
  return name !== undefined && typeof holder === 'object' && holder !== null
    ? { holder: holder as Record<string, Value>, name }
    : undefined;
}
