import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Things that PUT makes under names of the client's own: the same name in another place is another thing. */

const readOnly = { ...string, readOnly: true };
const Yard = object({ id: readOnly, name: readOnly, type: readOnly, size: string });
const Crane = object({ id: readOnly, name: readOnly, type: readOnly, load: string });
const ofOne = (schema: string) => ({
  put: {
    ...sends(ref(schema)),
    responses: { ...(answers(ref(schema)).responses as object), ...(answers(ref(schema), {}, '201').responses as object) },
  },
  get: answers(ref(schema)),
  delete: { responses: { 204: { description: 'Gone.' } } },
});
const paths = {
  '/ports/{port}/yards': { ...within('port'), get: answers(list(ref('Yard'))) },
  '/ports/{port}/yards/{yard}': { ...within('port', 'yard'), ...ofOne('Yard') },
  '/ports/{port}/yards/{yard}/cranes': { ...within('port', 'yard'), get: answers(list(ref('Crane'))) },
  '/ports/{port}/yards/{yard}/cranes/{crane}': { ...within('port', 'yard', 'crane'), ...ofOne('Crane') },
};
const namesOf = (rows: readonly { readonly name: string }[]): string[] => rows.map(({ name }) => name);

test('two things of one name in two places are two, and each has its own below it', () =>
  standIn(paths, { Yard, Crane }, async (ask) => {
    const { json: first } = await ask('PUT', '/ports/cork/yards/north', { size: 'small' });
    const second = await ask('PUT', '/ports/hull/yards/north', { size: 'large' });
    assert.deepEqual(
      [second.status, new URL(second.headers.get('location') ?? '', 'http://127.0.0.1').pathname],
      [201, '/ports/hull/yards/north'],
    );
    assert.deepEqual([first.name, first.id], ['north', '/ports/cork/yards/north']);
    assert.equal((await ask('GET', '/ports/cork/yards/north')).json.size, 'small');
    assert.equal((await ask('GET', '/ports/hull/yards/north')).json.size, 'large');
    assert.equal((await ask('PUT', '/ports/cork/yards/north/cranes/tall', { load: '5' })).status, 201);
    const { status, json: other } = await ask('PUT', '/ports/hull/yards/north/cranes/tall', { load: '9' });
    assert.deepEqual([status, other.id], [201, '/ports/hull/yards/north/cranes/tall']);
    assert.deepEqual(namesOf((await ask('GET', '/ports/hull/yards/north/cranes')).json), ['tall']);
    assert.equal((await ask('GET', '/ports/cork/yards/north/cranes/tall')).json.load, '5');
    assert.equal((await ask('DELETE', '/ports/cork/yards/north/cranes/tall')).status, 204);
    assert.equal((await ask('GET', '/ports/cork/yards/north/cranes/tall')).status, 404);
    assert.equal((await ask('GET', '/ports/hull/yards/north/cranes/tall')).json.load, '9');
    assert.deepEqual(namesOf((await ask('GET', '/ports/cork/yards')).json), ['north']);
  }));

test('below what is not there, or is in another place, there is nothing', () =>
  standIn(paths, { Yard, Crane }, async (ask) => {
    await ask('PUT', '/ports/cork/yards/north', { size: 'small' });
    assert.equal((await ask('GET', '/ports/cork/yards/south/cranes')).status, 404);
    assert.equal((await ask('PUT', '/ports/hull/yards/north/cranes/tall', { load: '9' })).status, 404);
  }));

test('nor is there anything before the first one is made, whatever is put below it', () =>
  standIn(paths, { Yard, Crane }, async (ask) => {
    assert.equal((await ask('PUT', '/ports/cork/yards/north/cranes/tall', { load: '5' })).status, 404);
  }));

test('a second PUT of the same name in the same place changes it', () =>
  standIn(paths, { Yard, Crane }, async (ask) => {
    await ask('PUT', '/ports/cork/yards/north', { size: 'small' });
    assert.equal((await ask('PUT', '/ports/cork/yards/north', { size: 'large' })).status, 200);
    assert.equal((await ask('GET', '/ports/cork/yards')).json.length, 1);
    assert.equal((await ask('GET', '/ports/cork/yards/north')).json.size, 'large');
  }));
