import { Type } from 'typebox';
import { perWords, resetForms } from '../limits.ts';
import { cel, exampled, fact, keys, namedForm, ref, value, Words } from './standing.ts';

const text = Type.String();
const per = Type.Union(
  [
    ...perWords.map((word) => Type.Literal(word)),
    Type.String({ pattern: '[^A-Za-z_]', description: 'CEL: what is counted apart' }),
  ],
  { description: 'What is counted apart: caller, user, address, everyone, or what an expression over the caller comes to.' },
);
const size = value(Type.Union([Type.Integer({ minimum: 0 }), text]), 'A size: 64KiB, 5MiB, 512.');

/** Pagination without the words that belong to its styles. */
export const PaginationForm = fact(
  keys({
    style: value(ref<string>('pageStyle')),
    size: value(text, 'The parameter that says how many.'),
    default: value(Type.Integer({ minimum: 1 }), 'How many where none is asked for.'),
    max: value(Type.Integer({ minimum: 1 }), 'How many at the most.'),
    over_max: Type.Union([Type.Literal('clamp'), Type.Literal('refuse')]),
    told: Type.Unsafe<string>({ ...ref<string>('telling'), description: 'Where the way to the next page is told.' }),
    items: value(text, 'The field that holds the rows; none = a bare array.'),
    next: value(text),
    previous: value(text),
    has_more: value(text),
    total: value(text),
    self: value(text, 'The field that holds the path of the list itself.'),
    data: namedForm(Type.Unknown(), 'Constants of the envelope.'),
  }),
  'How lists are cut into pages.',
);

const scope = { per, to: Words, on: Words, if: cel('of which callers it counts anything') };

const status = Type.Union([
  Type.Integer({ minimum: 200, maximum: 599 }),
  ...['2XX', '3XX', '4XX', '5XX'].map((word) => Type.Literal(word)),
]);

/** A rate without the words that belong to its kinds. */
export const RateForm = exampled(
  keys({
    ...scope,
    before: value(
      Type.Literal('credentials'),
      'Counts before it is known who calls, failed logins included; for `per: everyone`.',
    ),
    kind: ref<string>('rateKind'),
    limit: Type.Number({ minimum: 0 }),
    window: value(text, 'A duration: 1s, 5m, 24h.'),
    cost: namedForm(Type.Number({ minimum: 0 }), 'What an operation counts.'),
    uncounted: Type.Array(status, { description: 'Answers that count nothing in the end: 304, 4XX.' }),
  }),
  { limit: 100, window: '1m' },
);

const rows = keys({
  of: value(text, 'The resource whose rows are counted.'),
  per: value(text, 'What is counted apart: a field, or what a field is set to where a row is made, such as caller.id.'),
  while: cel('which rows count'),
  limit: Type.Integer({ minimum: 0 }),
});

const atOnce = keys({ ...scope, limit: Type.Integer({ minimum: 1 }) });

export const LimitsForm = fact(
  keys({
    rate: fact(Type.Array(ref<unknown>('rate')), 'How often.'),
    size: fact(keys({ body: size, url: size, headers: size, file: size }), 'How large.'),
    timeout: fact(keys({ request: value(text), idle: value(text) }), 'How long.'),
    pagination: ref<unknown>('pagination'),
    quota: fact(
      Type.Array(
        keys({
          ...scope,
          limit: Type.Number({ minimum: 0 }),
          window: value(text, 'day, week, month, year or hour.'),
          zone: text,
        }),
      ),
      'How much in a calendar window.',
    ),
    at_once: fact(
      Type.Union([Type.Integer({ minimum: 1 }), atOnce, Type.Array(atOnce)]),
      'How many requests may be under way at once.',
    ),
    rows: fact(Type.Union([rows, Type.Array(rows)]), 'How many rows there may be.'),
    headers: fact(
      keys({
        limit: value(text, 'The header field that tells how many.'),
        remaining: value(text, 'The header field that tells how many are left.'),
        reset: Type.Union(
          [
            text,
            Type.Record(Type.String(), Type.Union(resetForms.map((form) => Type.Literal(form))), {
              maxProperties: 1,
              minProperties: 1,
            }),
          ],
          {
            description: 'The header field that tells when more are: in seconds, unless it is told as unix or http-date.',
          },
        ),
      }),
      'Under which names the strictest rate is told, in place of RateLimit and RateLimit-Policy; none = it is not told.',
    ),
    trust_proxies: fact(Words, 'The addresses whose forwarding headers count.'),
  }),
  'Part 8: limits.',
);
