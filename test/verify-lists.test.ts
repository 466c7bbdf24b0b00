import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breach } from '../src/verify/report.ts';
import { isLong, oneOfEach } from './long.ts';
import { boxes } from './verify/boxes.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';

const handlers = 'test/verify/boxes.handlers.ts';

/** What is wrong, how it comes to be so, and the fact that is then said to be broken, for this reason. */
type Fault = readonly [what: string, wrong: Pick<StandOptions, 'bend' | 'spoil' | 'served'>, fact: string, reason: RegExp];

type Body = Record<string, unknown>;

/** Asks for something else than was asked for. */
function bent(pattern: RegExp, edit: (target: string) => string): Fault[1] {
  return { bend: ({ target, method }: Bent) => (method === 'GET' && pattern.test(target) ? { target: edit(target) } : {}) };
}

/** Changes what the pages of a list hold. */
function pages(pattern: RegExp, edit: (body: Body, target: string) => unknown): Fault[1] {
  return {
    spoil: ({ method, target, status, text }: Passing) =>
      method === 'GET' && status === 200 && pattern.test(target) ? { text: JSON.stringify(edit(JSON.parse(text), target)) } : {},
  };
}

const served = (stated: string, otherwise: string): Fault[1] => ({ served: boxes.replace(stated, otherwise) });

const rowsIn = (body: Body, name = 'data') => body[name] as { readonly weight: number }[];

/** Begins a page with the last row of the one before, where a row was added between them: as if a cursor counted rows. One case at a time asks here. */
function counting(): Fault[1] {
  let last: unknown;
  let isAdded = false;
  return {
    spoil: ({ method, target, status, text }: Passing) => {
      if (method === 'POST') isAdded = true;
      if (method !== 'GET' || status !== 200 || !/\/boxes\?.*limit=/.test(target)) return {};
      const body = JSON.parse(text) as Body;
      const isRepeated = isAdded && target.includes('cursor=');
      const data = isRepeated ? [last, ...rowsIn(body).slice(0, -1)] : rowsIn(body);
      isAdded = false;
      last = rowsIn(body).at(-1);
      return { text: JSON.stringify({ ...body, data }) };
    },
  };
}

const faults: readonly Fault[] = [
  ['a beginning is found in the middle too', served('op: prefix', 'op: contains'), 'parameters GET /boxes', /^filter name$/],
  ['a middle is not found', served('op: contains', 'op: prefix'), 'parameters GET /boxes', /^filter label shows$/],
  ['a bound is left out', served('op: ">="', 'op: ">"'), 'parameters GET /boxes', /^filter min_weight shows$/],
  [
    'the first of two values alone is looked at',
    bent(/kind=/, (target) => target.replace(/(kind=[^,&%]+)(?:,|%2C)[^&]*/, '$1')),
    'parameters GET /boxes',
    /^filter kind shows$/,
  ],
  [
    'a filter is not looked at',
    bent(/kind=/, (target) => target.replace(/kind=[^&]*&?/, '')),
    'parameters GET /boxes',
    /^filter kind$/,
  ],
  [
    'numbers are sorted as texts',
    pages(/sort=weight/, (body) => ({
      ...body,
      data: rowsIn(body).toSorted((one, other) => (String(one.weight) < String(other.weight) ? -1 : 1)),
    })),
    'parameters GET /boxes',
    /^sorted by weight$/,
  ],
  [
    'rows that are alike come the other way round',
    pages(/sort=weight/, (body) => ({
      ...body,
      data: rowsIn(body)
        .toReversed()
        .toSorted((one, other) => one.weight - other.weight),
    })),
    'parameters GET /boxes',
    /^ties, sorted by weight$/,
  ],
  [
    'a cursor of another order is taken',
    bent(/sort=.*cursor=/, (target) => target.replace(/sort=[^&]*&?/, '')),
    'pagination bounds GET /boxes',
    /^a cursor of another query$/,
  ],
  [
    'a cursor that is none is taken',
    bent(/cursor=nf-no-cursor/, (target) => target.replace(/[?&]cursor=[^&]*/, '')),
    'pagination bounds GET /boxes',
    /^a cursor that is none$/,
  ],
  [
    'pages repeat what was there while rows are added',
    counting(),
    'pagination bounds GET /boxes',
    /^once, while rows are added$/,
  ],
  [
    'the total is that of the page',
    pages(/paged/, (body) => ({ ...body, total: rowsIn(body, 'items').length })),
    'pagination bounds GET /paged',
    /^total$/,
  ],
  [
    'each page says that it is the last',
    pages(/paged/, (body) => ({ ...body, more: false })),
    'pagination bounds GET /paged',
    /^every row$/,
  ],
  [
    'a last page that is full says that there is another',
    pages(/paged.*size=/, (body, target) => ({
      ...body,
      more: rowsIn(body, 'items').length === Number(/size=(\d+)/.exec(target)?.[1]),
    })),
    'pagination bounds GET /paged',
    /^last page$/,
  ],
  [
    'a page of none is given',
    bent(/size=0/, (target) => target.replace('size=0', 'size=1')),
    'pagination bounds GET /paged',
    /^a size that is none$/,
  ],
  [
    'a page before the first is given',
    bent(/page=-1/, (target) => target.replace('page=-1', 'page=1')),
    'pagination bounds GET /paged',
    /^a page that is none$/,
  ],
  [
    'pages are counted from nought',
    bent(/paged/, (target) =>
      /[?&]page=\d/.test(target)
        ? target.replace(/([?&]page=)(\d+)/, (_whole, name: string, page: string) => `${name}${Number(page) + 1}`)
        : `${target}${target.includes('?') ? '&' : '?'}page=2`,
    ),
    'pagination bounds GET /paged',
    /^every row$/,
  ],
  [
    'a link leaves a row out',
    {
      spoil: ({ headers }) => {
        const { link } = headers;
        const onwards = (_whole: string, name: string, skip: string) => `${name}${Number(skip) + 1}`;
        return link === undefined ? {} : { headers: { ...headers, link: String(link).replace(/([?&]skip=)(\d+)/, onwards) } };
      },
    },
    'pagination bounds GET /linked',
    /^every row$/,
  ],
  [
    'a link forgets the filter',
    {
      spoil: ({ headers: { link, ...headers } }) =>
        link === undefined ? {} : { headers: { ...headers, link: String(link).replace(/name=[^&>]*&?/, '') } },
    },
    'pagination bounds GET /linked',
    /^link$/,
  ],
  [
    'a list without pages is cut off',
    pages(/whole/, (body) => ({ ...body, boxes: rowsIn(body, 'boxes').slice(0, 3) })),
    'pagination bounds GET /whole',
    /^all on one page$/,
  ],
  [
    'a value of a path is not looked at',
    bent(/places\/0/, (target) => target.replace('places/0', 'places/1')),
    'parameters GET /places/{row}',
    /^row refused$/,
  ],
  [
    'a default is another',
    bent(/places\/\d+$/, (target) => `${target}?scale=large`),
    'parameters GET /places/{row}',
    /^scale by default$/,
  ],
];

for (const [what, wrong, fact, reason] of oneOfEach(faults, ([, , fact]) => fact)) {
  test(`it is found where ${what}`, async () => {
    const stand = await openStand(boxes, { handlers, ...wrong });
    try {
      const until = (one: Breach) => `${one.kind} ${one.subject}` === fact && reason.test(one.reason);
      const { breaches, unsteady, notes } = await stand.verify({ only: [keyOf(fact)], beside: 1, until });
      const named = [...breaches, ...unsteady].map((one) => `${one.kind} ${one.subject}: ${one.reason}`);
      assert.ok(breaches.some(until), `${fact} is not among ${named.join('; ') || 'nothing'}`);
      assert.deepEqual(notes, []);
    } finally {
      await stand.close();
    }
  });
}

for (const seed of isLong ? [1, 2, 3] : [1]) {
  test(`nothing is found where nothing is wrong, seed ${seed}`, async () => {
    const stand = await openStand(boxes, { handlers });
    try {
      const { breaches, unsteady, facts } = await stand.verify({ seed, only: ['parameters', 'pagination bounds', 'endpoints'] });
      assert.deepEqual([...breaches, ...unsteady], []);
      const about = facts.filter(({ kind }) => kind === 'pagination bounds' || kind === 'parameters');
      assert.deepEqual(
        about.filter(({ verdict }) => verdict !== 'held').map(({ kind, subject, why }) => `${kind} ${subject}: ${why}`),
        [],
      );
    } finally {
      await stand.close();
    }
  });
}

/** A fact as `--only` names it. */
function keyOf(fact: string): string {
  const at = fact.indexOf(' GET ');
  return `${fact.slice(0, at)}:${fact.slice(at + 1)}`;
}
