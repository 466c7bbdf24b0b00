import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { GeneratedField, GeneratedResource } from './generated-document.ts';
import { type Draw, pick, type Value } from './generated-values.ts';

/** What a test knows of a row: its fields as they are shown. */
export type Fields = Readonly<Record<string, Value>>;

/** A page as it came: its rows, and the targets that lead on and back. */
export interface Page {
  readonly rows: readonly Fields[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  readonly total: number | undefined;
}

/** One question to a list, and what its answer has to hold. */
export interface Question {
  readonly query: readonly string[];
  readonly size: number;
  readonly keeps: (row: Fields) => boolean;
  /** Negative where the first comes first, 0 where creation decides. */
  readonly compare: (one: Fields, other: Fields) => number;
}

/** Makes up a question: some filters, whose values stand in rows or nowhere, an order, a size. */
export function drawQuestion(draw: Draw, { filters, sorts, order, pages }: GeneratedResource, rows: readonly Fields[]): Question {
  const asked = filters.filter(() => draw(fc.nat, { max: 2 }) === 0);
  const tests = asked.map(({ field, parameter, op }) => {
    const stored = rows.map((row) => row[field.name]).filter((value) => value !== undefined);
    const value = stored.length > 0 && draw(fc.boolean) ? pick(draw, stored) : field.kind.valid(draw);
    return { field, parameter, op, value };
  });
  const sort = sorts.length > 0 && draw(fc.boolean) ? { field: pick(draw, sorts), descending: draw(fc.boolean) } : undefined;
  const most = Number.isFinite(pages.max) ? pages.max : 1;
  const size = draw(fc.integer, { min: 1, max: most });
  return {
    size,
    query: [
      ...tests.map(({ parameter, value }) => `${parameter}=${encodeURIComponent(String(value))}`),
      ...(sort ? [`sort=${sort.descending ? '-' : ''}${sort.field.name}`] : []),
      ...(pages.style === 'none' ? [] : [`p_size=${size}`]),
    ],
    keeps: (row) =>
      tests.every(({ field, op, value }) => row[field.name] !== undefined && holds(op, compareIn(field, row[field.name], value))),
    compare: (one, other) => compareBy(sort ?? order, one, other),
  };
}

function holds(op: string, compared: number): boolean {
  if (op === '=') return compared === 0;
  if (op === '!=') return compared !== 0;
  if (op === '<') return compared < 0;
  if (op === '<=') return compared <= 0;
  return op === '>' ? compared > 0 : compared >= 0;
}

function compareBy(
  by: { readonly field: GeneratedField; readonly descending: boolean } | undefined,
  one: Fields,
  other: Fields,
): number {
  if (!by) return 0;
  const [left, right] = [one[by.field.name], other[by.field.name]];
  // Where rows without a value go is not stated.
  if (left === undefined || right === undefined) return 0;
  const compared = compareIn(by.field, left, right);
  return by.descending ? -compared : compared;
}

function compareIn({ kind, ignoresCase }: GeneratedField, one: Value, other: Value): number {
  const rank = (value: Value) => (ignoresCase ? String(value).toLowerCase() : kind.rank!(value));
  const [left, right] = [rank(one), rank(other)];
  if (typeof left === 'string' || typeof right === 'string')
    return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Reads a page out of an answer, and holds what it says of itself to itself. */
export function readPage(
  answer: { readonly value: unknown; readonly link: string | undefined },
  resource: GeneratedResource,
  target: string,
): Page {
  const { pages } = resource;
  if (!pages.isWrapped) {
    const rows = answer.value as readonly Fields[];
    return { rows, next: linked(answer.link, 'next'), previous: linked(answer.link, 'prev'), total: undefined };
  }
  const body = answer.value as { rows: readonly Fields[]; next?: Value; back?: Value; more: boolean; total: number };
  const next = pages.told === 'link' ? linked(answer.link, 'next') : follow(target, resource, `p_${pages.style}`, body.next);
  const back = pages.style === 'after' ? 'p_before' : `p_${pages.style}`;
  const previous = pages.told === 'link' ? linked(answer.link, 'prev') : follow(target, resource, back, body.back);
  assert.equal(body.more, next !== undefined, 'a list says that there is more where nothing leads on, or the other way round');
  if (pages.told === 'both')
    assert.equal(linked(answer.link, 'next') !== undefined, next !== undefined, 'body and Link disagree');
  return { rows: body.rows, next, previous, total: body.total };
}

function follow(target: string, { pages }: GeneratedResource, parameter: string, value: Value): string | undefined {
  if (value === null || value === undefined) return undefined;
  const [path = '', query = ''] = target.split('?');
  const rest = query
    .split('&')
    .filter((piece) => piece !== '' && !piece.startsWith(`p_${pages.style}=`) && !piece.startsWith('p_before='));
  return `${path}?${[...rest, `${parameter}=${encodeURIComponent(String(value))}`].join('&')}`;
}

function linked(header: string | undefined, rel: string): string | undefined {
  return header === undefined ? undefined : new RegExp(`<([^>]*)>; rel="${rel}"`).exec(header)?.[1];
}
