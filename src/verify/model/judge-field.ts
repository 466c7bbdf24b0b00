import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Children } from '../../parts/children.ts';
import type { Field } from '../../parts/resources.ts';
import { type Flaw, type Moot, moot } from '../exchange/claim.ts';
import { oneLine } from '../values/difference.ts';
import type { Expectation } from './expectation.ts';
import { timeOf } from './reckoned.ts';

/** Whether a field is what it has to be. Null and absent are one; date-times are one if they are one instant. */
export function judgeField(
  expectation: Expectation,
  seen: Json | undefined,
  field: Field,
  { toleranceMs, mayLack }: { readonly toleranceMs: number; readonly mayLack: ReadonlySet<string> },
): Flaw | Moot | undefined {
  const name = field.name;
  switch (expectation.is) {
    case 'unknown':
      return moot('what it has to be cannot be reckoned from outside');
    case 'absent':
      return seen === undefined || seen === null
        ? undefined
        : { promised: `${name}: nothing (${words[expectation.because]})`, seen: oneLine(seen) };
    case 'null':
      return seen === null ? undefined : { promised: `${name}: null (${words[expectation.because]})`, seen: oneLine(seen) };
    case 'pattern':
      return typeof seen === 'string' && expectation.pattern.test(seen)
        ? undefined
        : { promised: `${name}: made as ${expectation.pattern.source}`, seen: oneLine(seen) };
    case 'time': {
      const ms = timeOf(seen, field);
      // Whole seconds may have been cut off.
      const isInside = ms !== undefined && ms >= expectation.fromMs - toleranceMs - 1000 && ms <= expectation.toMs + toleranceMs;
      const between = `${new Date(expectation.fromMs).toISOString()} to ${new Date(expectation.toMs).toISOString()}`;
      return isInside ? undefined : { promised: `${name}: a time from ${between}`, seen: oneLine(seen) };
    }
    case 'value':
      return isPromisedThere(expectation.value, seen, { mayHaveMore: expectation.because === 'sent', mayLack })
        ? undefined
        : { promised: `${name}: ${oneLine(expectation.value)} (${words[expectation.because]})`, seen: oneLine(seen) };
  }
}

const words: Readonly<Record<Expectation['because'], string>> = {
  sent: 'as it was sent',
  default: 'by default',
  set: 'as it is set',
  generated: 'as it is made',
  kept: 'as it was before',
  state: 'as the machine has it',
  path: 'as the path says',
  derived: 'as it is derived',
};

/** What may differ inside a value without anything being wrong. */
export interface Slack {
  /** Whether defaults may have been filled in. */
  readonly mayHaveMore: boolean;
  /** The members that nobody, or not this reader, is shown. */
  readonly mayLack: ReadonlySet<string>;
}

/** Whether a value came through. What was sent may have been filled with defaults inside; members that are null may be gone. */
function isPromisedThere(promised: Json, seen: Json | undefined, slack: Slack): boolean {
  if (isSame(promised, seen)) return true;
  if (promised === null || seen === undefined)
    return (promised === null && seen === undefined) || (promised === null && seen === null);
  if (typeof promised === 'string' && typeof seen === 'string') return isSameInstant(promised, seen);
  if (Array.isArray(promised)) {
    return (
      Array.isArray(seen) &&
      promised.length === seen.length &&
      promised.every((item: Json, at) => isPromisedThere(item, seen[at], slack))
    );
  }
  if (!isMap(promised) || !isMap(seen)) return false;
  if (!slack.mayHaveMore && Object.keys(seen).some((name) => seen[name] !== null && !Object.hasOwn(promised, name))) return false;
  return Object.entries(promised).every(([name, item]) => {
    const isThere = Object.hasOwn(seen, name);
    return (!isThere && slack.mayLack.has(name)) || isPromisedThere(item, isThere ? seen[name] : undefined, slack);
  });
}

const dateTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/;

function isSameInstant(one: string, other: string): boolean {
  return dateTime.test(one) && dateTime.test(other) && Date.parse(one) === Date.parse(other);
}

/** Whether what was sent of a field is shown of it: children in whatever order they are told in. */
export function isFieldThere(
  { children }: Pick<Field, 'children'>,
  wanted: Json | undefined,
  seen: Json | undefined,
  slack: Slack,
): boolean {
  return children ? areChildrenThere(children, wanted, seen, slack) : isPromisedThere(wanted ?? null, seen, slack);
}

/** Whether all children that were sent are shown, in whatever order and with those that follow from the creation; more than are shown may be there. */
function areChildrenThere({ envelope, page }: Children, wanted: Json | undefined, seen: Json | undefined, slack: Slack): boolean {
  // What is looked at has members where it is a map.
  const there = envelope && isMap(seen ?? null) ? (seen as JsonMap)[envelope.items] : seen;
  if (!Array.isArray(wanted) || !Array.isArray(there)) return isPromisedThere(wanted ?? null, there, slack);
  const shown: readonly Json[] = there;
  return shown.length >= page || wanted.every((one: Json) => shown.some((other) => isPromisedThere(one, other, slack)));
}
