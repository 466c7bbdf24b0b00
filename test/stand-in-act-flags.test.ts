import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, sends, standIn, string, within } from './import/stand-in.ts';

const flag = { type: 'boolean' };
const tells = (name: string, more: object = {}) => answers(object({ data: object({ [name]: { ...flag, ...more } }) }));

test('after an act the flag that is all of its answer says that it is so; after it was taken back that it is not', () =>
  standIn(
    {
      '/users/{user}/likes': { ...within('user'), post: { ...sends(object({ song: string })), ...tells('liked') } },
      '/users/{user}/likes/{song}': { ...within('user', 'song'), delete: tells('liked') },
      '/songs/{song}': { ...within('song'), delete: tells('deleted') },
      '/songs/{song}/mix': {
        ...within('song'),
        put: {
          ...sends(object({ hidden: flag })),
          ...answers(object({ hidden: flag, pending_review: { const: false, ...flag } })),
        },
        post: tells('queued', { default: false }),
      },
      '/songs/{song}/shape': {
        ...within('song'),
        post: answers(object({ id: string, loud: { ...flag, example: false }, tags: list(string) })),
      },
    },
    {},
    async (ask) => {
      const said = async (method: string, path: string, body?: object) => (await ask(method, path, body)).json;
      for (const user of ['ada', 'bo', 'cy', 'di']) {
        assert.deepEqual(await said('POST', `/users/${user}/likes`, { song: 's' }), { data: { liked: true } });
        assert.deepEqual(await said('DELETE', `/users/${user}/likes/s`), { data: { liked: false } });
        assert.deepEqual(await said('DELETE', `/songs/${user}`), { data: { deleted: true } });
        for (const hidden of [true, false])
          assert.deepEqual(await said('PUT', `/songs/${user}/mix`, { hidden }), { hidden, pending_review: false });
        assert.deepEqual(await said('POST', `/songs/${user}/mix`), { data: { queued: false } }, 'what is stated stays');
        assert.equal((await said('POST', `/songs/${user}/shape`)).loud, false, 'a thing has flags of its own');
      }
    },
  ));

test('commas that a client has encoded part the items of a list in a query', () =>
  standIn(
    {
      '/songs': {
        get: {
          parameters: [
            { name: 'words', in: 'query', style: 'form', explode: false, schema: { type: 'array', items: string, maxItems: 2 } },
          ],
          ...answers(list(object({ word: string }))),
        },
      },
    },
    {},
    async (ask) => {
      assert.equal((await ask('GET', '/songs?words=a%2Cb')).status, 200);
      assert.equal((await ask('GET', '/songs?words=a%2Cb%2Cc')).status, 400);
    },
  ));
