/** What is asked at the counter: what the shop is, and what the post costs. */
import type { Answer, Exchange, Route } from './exchange.ts';
import { Refusal } from './exchange.ts';
import { integer, readQuery, truth } from './pages.ts';
import type { Shop, Version } from './shop.ts';

export const counterRoutes: readonly Route[] = [
  { method: 'GET', path: '/about', operation: 'about', run: about },
  {
    method: 'GET',
    path: '/postage',
    operation: 'handler postage',
    users: ['customer', 'clerk'],
    query: readPostage,
    run: postage,
  },
];

function about({ shop }: Exchange): Answer {
  return {
    status: 200,
    body: { name: shop.faults.has('another-shops-name') ? 'Shop Template' : 'Corner Shop', kinds: ['book', 'toy', 'tool'] },
  };
}

function readPostage(sent: URLSearchParams, _version: Version, { faults }: Shop) {
  const most = faults.has('heavier-than-stated') ? 50_000 : 20_000;
  const query = readQuery(sent, { grams: integer(1, most), express: truth });
  if (query.grams === undefined)
    throw new Refusal('bad_parameter', [{ in: 'query', path: 'grams', found: 'nothing', expected: 'a value' }]);
  return query;
}

function postage({ shop, query }: Exchange): Answer {
  const grams = Number(query.grams);
  const express = query.express ?? shop.faults.has('express-unless-told');
  const cents = 100 + Math.ceil(grams / 100) * (express ? 12 : 5);
  return { status: 200, body: { grams: shop.faults.has('grams-as-text') ? String(grams) : grams, express, cents } };
}
