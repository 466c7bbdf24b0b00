import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { orders } from './values/orders.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const list = 'parameters:GET /orders';

const rows: readonly Otherwise[] = [
  ['a filter through a reference shows everything', 'filters: customer.email', 'filters: none', list, /chosen by email/],
  [
    'a filter through a reference goes by another field',
    'filters: customer.email',
    'filters: customer.keeper',
    list,
    /chosen by email/,
  ],
  [
    'the rows below leave their bound out',
    'filters: line.order.price, op: ">="',
    'filters: line.order.price, op: ">"',
    list,
    /min_price/,
  ],
  [
    'one of several is enough, where other rows are to have all of them',
    'filters: line.order.price, split: ",", match: all',
    'filters: line.order.price, split: ","',
    list,
    /chosen by prices/,
  ],
  ['case counts', 'op: contains, ignore_case: true', 'op: contains', list, /chosen by title/],
  ['one of several is enough, where all were asked for', 'split: "|", match: all', 'split: "|"', list, /chosen by all_tags/],
  [
    'all of several are asked for, where one is enough',
    'filters: tags, split: "," }',
    'filters: tags, split: ",", match: all }',
    list,
    /chosen by tag/,
  ],
  ['a word of its own keeps nothing', "value == 'all' || ", '', list, /chosen by state/],
  ['one of two fields is searched', 'search: [title, body]', 'search: [title]', list, /chosen by q/],
  ['a day is one of another zone', 'filters: due_at, zone: Europe/Berlin', 'filters: due_at, zone: UTC', list, /chosen by due/],
  ['a name sorts by another field', 'name: title, due: due_at', 'name: due_at, due: due_at', list, /sorted by/],
  ['a direction is turned', 'directs: sort', 'enum: [asc, desc], filters: none', list, /sorted by/],
  ['a name is another one', 'name: title, due: due_at', 'name: title, until: due_at', list, /sort taken/],
  ['a day ends early', 'op: ">=", zone: Europe/Berlin', 'op: ">", zone: Europe/Berlin', list, /chosen by due_from/],
];

servedOtherwise(
  orders,
  oneOfEach(rows, ([fault]) => fault),
);

test('a service whose lists are chosen by paths, conditions and words is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(orders, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const fact = facts.find(({ kind, subject }) => kind === 'parameters' && subject === 'GET /orders');
    assert.match(fact?.verdict ?? '', /held|partly/);
  } finally {
    await stand.close();
  }
});
