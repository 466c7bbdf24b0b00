import type { Json, Pointer } from '../document/document.ts';
import type { Expression, Fact, Named, Unstated } from './fact.ts';
import { type ViolationPath, violationPaths } from './message-template.ts';
import { readShape } from './read-shape.ts';
import { type OrderWord, readRefusalOrder } from './refusal-order.ts';
import type { Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** Part 7: what a refusal looks like and when which one is given. */
export interface Errors {
  readonly at: Pointer;
  readonly payload: Fact<ErrorPayload>;
  readonly codes: Fact<Named<ErrorCode>>;
  /** Header fields of every refusal. */
  readonly headers: Named<Expression>;
  /** How the place of a violation in a body is written. */
  readonly paths: ViolationPath;
  /** In which order it is refused; open where nothing is said, which promises none. */
  readonly order: Fact<readonly OrderWord[]>;
  /** Conditions that never arise (none), or that are left to the implementation (any). */
  readonly conditions: Named<Unstated>;
  readonly others?: Unstated;
}

/** RFC 9457, or an own shape made by CEL over code, status, message, path, violations, request_id and the code's constants. */
export type ErrorPayload = 'problem' | { readonly shape: Fact<Shape>; readonly data: Named<Expression> | Expression };

export interface ErrorCode {
  readonly name: string;
  readonly at: Pointer;
  readonly rules: readonly ErrorRule[];
  /** Header fields of its answers. */
  readonly headers: Named<Expression>;
  /** Constants that the payload's `data` reads. */
  readonly constants: Named<Json>;
}

/** One way in which a code arises. A rule without `when` and `if` is answered only where another part names its code. */
export interface ErrorRule {
  readonly at: Pointer;
  readonly status: Fact<number>;
  readonly when: Fact<readonly string[]>;
  /** The operations it is for; absent = all. */
  readonly on?: readonly string[];
  /** The service's own condition. */
  readonly if?: Expression;
  readonly message?: string;
  readonly headers: Named<Expression>;
}

const ruleWords = ['status', 'when', 'on', 'if', 'message', 'headers'] as const;

export function readErrors(source: Source): Errors {
  const codes = source.get('codes');
  const others = codes.has('others') ? codes.get('others').unstated() : undefined;
  return {
    at: source.at,
    payload: source.get('payload').fact(readPayload),
    headers: source.get('headers').expressions(),
    paths: violationPaths.find((word) => word === source.get('paths').text()) ?? 'pointer',
    order: readRefusalOrder(source.get('order')),
    conditions: named(
      source
        .get('conditions')
        .entries()
        .flatMap(([word, value]) => {
          const standing = value.unstated();
          return standing && standing.standing !== 'open' ? [[word, standing] as const] : [];
        }),
    ),
    codes: codes.fact((value) =>
      named(
        value
          .entries()
          .filter(([name]) => name !== 'others')
          .map(([name, entry]) => [name, readCode(name, entry)] as const),
      ),
    ),
    ...(others && { others }),
  };
}

function readPayload(source: Source): ErrorPayload | undefined {
  if (source.text() === 'problem') return 'problem';
  if (!source.isMap) return undefined;
  const data = source.get('data');
  return {
    shape: source.get('shape').fact((value) => readShape(value)),
    data: data.isMap ? data.madeValues() : (data.expression() ?? named([])),
  };
}

function readCode(name: string, source: Source): ErrorCode {
  const rules = Array.isArray(source.value) ? source.items() : [source];
  const constants = rules.flatMap((rule) => rule.entries().filter(([key]) => !(ruleWords as readonly string[]).includes(key)));
  const read = rules.map(readRule);
  return {
    name,
    at: source.at,
    rules: read,
    headers: named(read.flatMap(({ headers }) => Object.entries(headers))),
    constants: named(constants.map(([key, value]) => [key, value.value as Json] as const)),
  };
}

function readRule(source: Source): ErrorRule {
  const condition = source.get('if').expression();
  const message = source.get('message').text();
  return {
    at: source.at,
    status: source.get('status').fact((value) => value.number(), 'tags only'),
    when: source.get('when').fact((value) => value.words()),
    ...(source.has('on') && { on: source.get('on').words() }),
    ...(condition && { if: condition }),
    ...(message !== undefined && { message }),
    headers: source.get('headers').expressions(),
  };
}
