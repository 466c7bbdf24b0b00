import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { Model } from '../src/verify/model/model.ts';
import type { Breach } from '../src/verify/report.ts';
import { oneOfEach } from './long.ts';
import { albums } from './verify/albums.ts';
import { openStand } from './verify/stand.ts';

const companies = `
title: Companies
resources:
  album:
    identifier: { field: id, generate: uuid }
    fields: { id: string, company: { type: string, readOnly: true, set: { create: caller.claims.company } } }
endpoints:
  GET /albums/{id}: { does: read album }
authentication:
  schemes:
    token: { type: jwt, header: Authorization, prefix: Bearer, algorithms: [HS256], secret_env: SECRET, caller: { user: "'member'" } }
    key: { type: api_key, header: X-Key }
  permissions: [{ allow: [read album], to: member, if: resource.company == caller.claims.company }]
purpose: { users: { member: Keeps albums. } }
`;

const owns = ', if: "resource.owner == caller.id" }';

/** A rule that is served without its condition, and the trial that sees it, though nobody is shown whose a row is. */
const rules: readonly (readonly [operation: string, stated: string, trial: string])[] = [
  ['read album', `[read album], to: member${owns}`, 'authentication/rows'],
  ['update album', `[update album], to: member${owns}`, 'authentication/rows'],
  ['delete album', `[delete album], to: member${owns}`, 'authentication/rows'],
  ['close album', `[close album, reopen album], to: member${owns}`, 'authentication/rows'],
  ['list album', `[list album], to: member${owns}`, 'authentication/lists'],
  ['create photo', '[create photo], to: member, if: "next.album.owner == caller.id" }', 'authentication/referring'],
  ['read photo', '[read photo], to: member, if: "resource.album.owner == caller.id" }', 'authentication/rows'],
  ['update photo', '[update photo], to: member, if: "resource.album.owner == caller.id" }', 'authentication/rows'],
];

for (const [operation, stated, trial] of oneOfEach(rules, ([, , by]) => by)) {
  test(`${trial} finds it where ${operation} asks nothing of the row`, async () => {
    assert.ok(albums.includes(stated), 'the document states it');
    // What may be created below a row has to be readable, and the row with it.
    const served = albums
      .replace(stated, () => stated.replace(/, if: .*/, ' }'))
      .replace(operation === 'create photo' ? `[read album], to: member${owns}` : '~', '[read album], to: member }');
    const stand = await openStand(albums, { served, inPairs: true });
    try {
      const until = ({ kind, subject }: Breach) => kind === 'permission rules' && subject === operation;
      const { breaches } = await stand.verify({ only: [trial], until });
      assert.ok(breaches.some(until), breaches.map(({ kind, subject }) => `${kind}:${subject}`).join('; '));
    } finally {
      await stand.close();
    }
  });
}

for (const filter of ['mood', 'state']) {
  test(`a row of another that a filter by ${filter} lets through is seen`, async () => {
    let keys: readonly string[] = [];
    const filtered = albums.replace('mood: { in: query } }', 'mood: { in: query }, state: { in: query, op: in, split: "," } }');
    const stand = await openStand(filtered, {
      inPairs: true,
      // Whoever asks by it gets the albums of whoever made the first.
      bend: ({ method, target, headers }) => {
        const own = String(headers['x-key']);
        if (method === 'POST' && target.endsWith('/albums') && !keys.includes(own)) keys = [...keys, own];
        return target.includes(`${filter}=`) && keys[0] !== undefined ? { headers: { ...headers, 'x-key': keys[0] } } : {};
      },
    });
    try {
      const lineOf = ({ kind, subject, reason }: Breach) => `${kind}:${subject} ${reason}`;
      const until = (breach: Breach) => lineOf(breach) === 'permission rules:list album leaks';
      const { breaches } = await stand.verify({ only: ['authentication/lists'], until });
      assert.ok(breaches.some(until), breaches.map(lineOf).join('; '));
    } finally {
      await stand.close();
    }
  });
}

test('whoever is refused a list of which a rule shows some rows is seen', async () => {
  const stand = await openStand(albums, {
    inPairs: true,
    spoil: ({ method, target, status }) =>
      method === 'GET' && /\/albums(\?|$)/.test(target) && status === 200
        ? { status: 403, text: '{"type":"about:blank","title":"Forbidden","status":403,"code":"forbidden"}' }
        : {},
  });
  try {
    const isMeant = ({ kind, subject }: Breach) => kind === 'permission rules' && subject === 'list album';
    const { breaches } = await stand.verify({ only: ['authentication/lists'], until: isMeant });
    assert.ok(breaches.some(isMeant));
  } finally {
    await stand.close();
  }
});

test('of rows that belong to whom nobody is shown, nothing is said to be broken where nothing is', async () => {
  const stand = await openStand(albums, { inPairs: true });
  try {
    const { breaches, unsteady, facts } = await stand.verify({ only: ['authentication', 'resources', 'states'] });
    assert.deepEqual([...breaches, ...unsteady], []);
    // What cannot be told from another refusal is held in part; that nobody knows whose a row is has to be the reason of none.
    const untested = facts.filter(
      ({ kind, why = '' }) => kind === 'permission rules' && /could be known|not known|is known/.test(why),
    );
    assert.deepEqual(
      untested.map(({ subject, why }) => `${subject}: ${why}`),
      [],
    );
  } finally {
    await stand.close();
  }
});

test('what a token says of its bearer decides rules, and what the service keeps of a key decides none', () => {
  const { spec } = check(parseDocument(companies, 'companies.yaml'));
  const token = ['{"alg":"HS256"}', '{"sub":"mia","company":"adler"}', 'x'].map((part) =>
    Buffer.from(part).toString('base64url'),
  );
  const callers = callersOf(spec, [
    { user: 'member', credential: token.join('.'), scheme: 'token' },
    { user: 'member', id: 'kim', credential: 'k_1', scheme: 'key' },
  ]);
  const model = new Model(spec, callers, '');
  const [endpoint] = model.endpointsThat('read', 'album');
  assert.ok(endpoint);
  const read = model.operationOf(endpoint);
  const answers = callers.map((caller) =>
    ['adler', 'brandt'].map((company) => model.access.allows(read, caller, { context: { resource: { id: 'a', company } } })),
  );
  assert.deepEqual(answers, [
    ['yes', 'no'],
    ['unknown', 'unknown'],
  ]);
});
