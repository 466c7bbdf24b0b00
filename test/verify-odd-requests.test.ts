import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bent, openStand } from './verify/stand.ts';

const jars = `
title: Jars
purpose: { purpose: Keeps jars., base_url: none, users: { cook: Cooks. }, functions: none }
resources:
  jar: { identifier: { field: id, generate: uuid }, fields: { id: string, label: string }, required: [id, label] }
states: none
endpoints:
  POST /jars: { does: create jar }
  GET /jars/{id}: { does: read jar, etag: strong }
  PATCH /jars/{id}: { does: update jar, if_match: accepted }
authentication: { schemes: { key: { type: api_key, header: Jar-Key, generate: "jar_{random:20}" } }, permissions: [{ allow: [create jar, read jar, update jar], to: cook }] }
events: none
limits: { rate: none }
versioning: none
`;

async function told(bend?: (request: Bent) => Partial<Bent>): Promise<string[]> {
  const stand = await openStand(jars, { ...(bend && { bend }) });
  try {
    const { breaches } = await stand.verify({ only: ['endpoints/media', 'endpoints/preconditions'] });
    return [...new Set(breaches.map(({ reason }) => reason))].sort();
  } finally {
    await stand.close();
  }
}

test('a service that takes weak tags for none and octets that are no UTF-8 for no body is right', async () => {
  assert.deepEqual(await told(), []);
});

test('a weak tag that is taken for its strong one is told', async () => {
  const compared = ({ headers }: Bent) => {
    const tag = headers['if-match'];
    return typeof tag === 'string' ? { headers: { ...headers, 'if-match': tag.replace(/^W\//, '') } } : {};
  };
  assert.deepEqual(await told(compared), ['If-Match, weak']);
});

test('octets that are no UTF-8 and are read as something else are told', async () => {
  // What is no UTF-8 comes out of a lenient reader as U+FFFD.
  const read = ({ text }: Bent) => (text.includes('\ufffd') ? { text: text.replace('nf', 'label') } : {});
  assert.deepEqual(await told(read), ['malformed']);
});
