import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Whoever makes a page has an account that it refers to, which only the staff makes; a page is made with its parts, and they with their marks. */
const document = `
title: Pages
purpose:
  purpose: Keeps pages.
  base_url: https://pages.example
  users: { staff: Makes accounts., writer: Makes pages. }
  functions: { keep: [create account, read account, create page, read page, list part, list mark] }
resources:
  account:
    identifier: { field: login, generate: client }
    fields: { login: { type: string, pattern: "^[a-z0-9-]{1,40}$" }, made_at: { type: string, format: date-time, readOnly: true, set: { create: now } } }
    required: [login, made_at]
  page:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { ref: account, readOnly: true, onDelete: restrict, set: { create: caller.id } }
      title: { type: string, minLength: 1, maxLength: 40 }
      parts: { children: part.page, order: number, minItems: 1, maxItems: 3 }
    required: [id, owner, title, parts]
  part:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      page: { ref: page, immutable: true, onDelete: cascade }
      number: { type: integer, minimum: 1, maximum: 99 }
      words: { type: array, items: { type: string, minLength: 1, maxLength: 9 }, minItems: 1, maxItems: 3, uniqueItems: true }
    required: [id, page, number, words]
    unique: [[page, number]]
    created: { then: { create: mark, each: next.words, set: { page: next.page, part: next.id, word: item } } }
  mark:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      page: { ref: page, readOnly: true, onDelete: cascade }
      part: { ref: part, readOnly: true, onDelete: cascade }
      word: { type: string, readOnly: true }
    required: [id, page, part, word]
states: { account: none, page: none, part: none, mark: none }
endpoints:
  POST /accounts: { does: create account }
  GET /accounts/{login}: { does: read account }
  POST /pages: { does: create page }
  GET /pages/{id}: { does: read page }
  GET /pages/{page}/parts: { does: list part }
  GET /pages/{page}/marks: { does: list mark }
  GET /marks/{id}: { does: read mark }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions:
    - { allow: [create account], to: staff }
    - { allow: [read account], to: [staff, writer] }
    - { allow: [create page, read page, list part, list mark, read mark], to: writer }
events: none
`;

test('what a caller makes is made once its own account is, and what is made with a row is found beside it', async () => {
  const stand = await openStand(document, { inPairs: true });
  try {
    const { breaches, unsteady, facts, leftovers } = await stand.verify({
      only: ['resources/stored', 'resources/there', 'resources/shown to'],
    });
    assert.deepEqual([...breaches, ...unsteady], []);
    const verdicts = new Map(facts.map(({ kind, subject, verdict }) => [`${kind}:${subject}`, verdict]));
    const wanted = ['types:page.title', 'allowed values:page.owner', 'types:part.number', 'types:mark.word'];
    assert.deepEqual(
      wanted.filter((name) => !['held', 'partly'].includes(verdicts.get(name) ?? '')),
      [],
    );
    assert.deepEqual(
      facts
        .filter(({ why = '' }) => /could be made|shows no such/.test(why))
        .map(({ kind, subject, why }) => `${kind}:${subject}: ${why}`),
      [],
    );
    // Nothing removes an account, so that those of the callers are told of.
    assert.ok(leftovers.some(({ resource }) => resource === 'account'));
  } finally {
    await stand.close();
  }
});
