import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, json, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What the words about members say in the place of keywords; formats of which nobody sent anything; pages of no number of rows. */

const said = (description: string) => ({ ...string, description });
const Mast = object({
  id: string,
  owner: said('Required. Who it belongs to.'),
  made: said('Output only. When it was made.'),
  secret: said('Input only. By what it is opened.'),
  word: { ...string, format: 'byte', description: 'What has to come back as it is.' },
});
const paths = {
  '/masts': {
    post: { ...sends(ref('Mast')), ...answers(ref('Mast'), {}, '201') },
    get: {
      parameters: [
        { name: 'limit', in: 'query', schema: { type: 'integer' } },
        { name: 'offset', in: 'query', schema: { type: 'integer' } },
        { name: 'yard', in: 'query', schema: string, description: 'Optional. Required. Which yard.' },
      ],
      ...answers({ type: 'array', items: ref('Mast') }),
    },
  },
  '/masts/{id}': {
    ...within('id'),
    get: answers(ref('Mast')),
    patch: { ...sends(ref('Mast')), ...answers(ref('Mast')) },
  },
  '/masts/{id}/flags': {
    ...within('id'),
    get: { responses: { 200: { description: 'ok', ...json(object({ word: { ...string, format: 'byte' } })) } } },
  },
};

test('what is sent only is never shown, what is shown only is not taken, and what is required by its words is asked for where a thing is made', () =>
  standIn(paths, { Mast }, async (ask) => {
    const { status, json: made } = await ask('POST', '/masts', { owner: 'ada', secret: 'hush', made: 'never' });
    assert.equal(status, 201);
    assert.ok(!('secret' in made) && made.made !== 'never');
    const { json: read } = await ask('GET', `/masts/${made.id}`);
    assert.ok(!('secret' in read) && read.owner === 'ada');
    assert.equal((await ask('POST', '/masts', { secret: 'hush' })).status, 400);
    assert.equal((await ask('PATCH', `/masts/${made.id}`, { secret: 'hush' })).status, 200);
  }));

test('what is made up of bytes is taken where it is sent back', () =>
  standIn(paths, { Mast }, async (ask) => {
    const { json: made } = await ask('POST', '/masts', { owner: 'ada' });
    const { json: shown } = await ask('GET', `/masts/${made.id}/flags`);
    assert.match(shown.word, /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/);
    assert.equal((await ask('PATCH', `/masts/${made.id}`, { word: shown.word })).status, 200);
  }));

test('a page of no number of rows has as many as are usual, where no least number is stated', () =>
  standIn(paths, { Mast }, async (ask) => {
    for (const owner of ['a', 'b', 'c']) await ask('POST', '/masts', { owner });
    assert.equal((await ask('GET', '/masts?limit=0')).json.length, 3);
    assert.equal((await ask('GET', '/masts?limit=-1')).status, 400);
    assert.equal((await ask('GET', '/masts?limit=2')).json.length, 2);
  }));
