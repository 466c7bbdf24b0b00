import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTypescript } from '../src/convert/typescript.ts';
import { check, parseDocument } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, tellService } from './serving/callers.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';

/** Lamps that are turned by a word of the path, and whose marks are taken off one by one. */
const lamps = `
resources:
  lamp:
    identifier: { field: id, generate: "lam_{ulid}" }
    fields:
      id: string
      name: { type: string, minLength: 1, maxLength: 20 }
      way: { type: string, readOnly: true, set: { create: "'up'", turn lamp: params.way } }
      marks: { type: array, items: { type: string, maxLength: 20 }, maxItems: 9, set: { unmark lamp: "resource.marks.filter(one, one != params.mark)" } }
    required: [id, name, way, marks]
endpoints:
  POST /lamps: { does: create lamp }
  GET /lamps/{id}: { does: read lamp }
  POST /lamps/{id}/turn/{way}:
    { does: update lamp, as: turn lamp, body: optional, parameters: { way: { in: path, enum: [up, down, left], filters: none } } }
  DELETE /lamps/{id}/marks/{mark}:
    { does: update lamp, as: unmark lamp, body: optional, parameters: { mark: { in: path, filters: none } }, response: { 200: lamp } }
authentication: none
states: none
events: none
errors:
  payload: problem
  codes:
    no_mark: { status: 404, on: [unmark lamp], if: "!(params.mark in resource.marks)" }
    invalid: { status: 422, when: request.invalid }
    malformed: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
limits: none
versioning: none
`;

const document = parseDocument(`title: Lamps\n${lamps}`, 'lamps.yaml');

test('a parameter of a path that is said to be no field names no row, and expressions read it', async () => {
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  const service = await tellService(lamps);
  const who = caller('anybody', 'a');
  const made = await service.as(who, 'POST', '/lamps', { name: 'Desk', marks: ['old', 'a b', 'new'] });
  const id = String((made.json as { id: string }).id);
  const told = async (method: string, path: string) => {
    const { status, json } = await service.as(who, method, `/lamps/${id}${path}`);
    const { way, marks } = json as { way: string; marks: string[] };
    return [status, way, marks];
  };
  assert.deepEqual(await told('POST', '/turn/down'), [200, 'down', ['old', 'a b', 'new']]);
  assert.deepEqual(await told('DELETE', '/marks/a%20b'), [200, 'down', ['old', 'new']]);
  assert.deepEqual((await told('DELETE', '/marks/a%20b'))[0], 404);
  assert.deepEqual((await told('POST', '/turn/round'))[0], 400);
  assert.deepEqual((await service.as(who, 'POST', '/lamps/lam_none/turn/up')).status, 404);
  assert.deepEqual(await told('GET', ''), [200, 'down', ['old', 'new']]);
  await service.close();
});

test('it goes through OpenAPI and comes back, and a client is asked for it', () => {
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
  const client = toTypescript(readSpec(document));
  assert.match(client, /way: "up" \| "down" \| "left"|way: 'up' \| 'down' \| 'left'/);
  assert.match(client, /mark: string/);
});

const rows: readonly Otherwise[] = [
  ['it is not read', 'turn lamp: params.way', `turn lamp: "'up'"`, 'allowed values:lamp.way', /./],
  [
    'another word is taken for it',
    'turn lamp: params.way',
    `turn lamp: "params.way == 'left' ? 'down' : params.way"`,
    'allowed values:lamp.way',
    /./,
  ],
  [
    'it takes what is not allowed',
    'way: { in: path, enum: [up, down, left]',
    'way: { in: path, type: string',
    'parameters:POST /lamps/{id}/turn/{way}',
    /./,
  ],
];

servedOtherwise(lamps, rows);
