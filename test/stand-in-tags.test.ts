import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Tags of things of any kind, which are called by one name each. */

const pairs = list(object({ Key: string, Value: string }));
const texts = { type: 'object', additionalProperties: string };
const Kite = object({ kiteArn: string, title: string, tags: texts });
const paths = {
  '/kites': { post: { operationId: 'CreateKite', ...sends(object({ title: string, tags: texts })), ...answers(ref('Kite')) } },
  '/kites/{kiteArn}': {
    ...within('kiteArn'),
    get: { operationId: 'GetKite', ...answers(ref('Kite')) },
    delete: { operationId: 'DeleteKite', ...answers(object({})) },
  },
};

test('what a thing is made with is told, added to and taken away by paths of its own, and shown by the thing', () =>
  standIn(
    {
      ...paths,
      '/tags/{resourceArn}': {
        ...within('resourceArn'),
        get: { operationId: 'ListTagsForResource', ...answers(object({ tags: texts })) },
        post: { operationId: 'TagResource', ...sends(object({ tags: texts }, ['tags'])), ...answers(object({})) },
        delete: {
          operationId: 'UntagResource',
          parameters: [{ name: 'tagKeys', in: 'query', required: true, schema: list(string) }],
          ...answers(object({})),
        },
      },
    },
    { Kite },
    async (ask) => {
      const { kiteArn } = (await ask('POST', '/kites', { title: 'a', tags: { stage: 'test' } })).json;
      const other = (await ask('POST', '/kites', { title: 'b' })).json.kiteArn;
      const tags = async (name: string) => (await ask('GET', `/tags/${encodeURIComponent(name)}`)).json.tags;
      assert.deepEqual(await tags(kiteArn), { stage: 'test' });
      assert.deepEqual(await tags(other), {});
      assert.equal((await ask('POST', `/tags/${kiteArn}`, { tags: { stage: 'live', team: 'sky' } })).status, 200);
      assert.deepEqual(await tags(kiteArn), { stage: 'live', team: 'sky' });
      assert.equal((await ask('DELETE', `/tags/${kiteArn}?tagKeys=stage`)).status, 200);
      assert.deepEqual(await tags(kiteArn), { team: 'sky' });
      assert.deepEqual((await ask('GET', `/kites/${kiteArn}`)).json.tags, { team: 'sky' });
      assert.deepEqual(await tags(other), {});
      assert.equal((await ask('GET', '/tags/nowhere')).status, 404);
      assert.equal((await ask('POST', '/tags/nowhere', { tags: { a: 'b' } })).status, 404);
    },
  ));

test('as lists of names with their values, by methods that are sent by POST', () =>
  standIn(
    {
      ...paths,
      '/TagResource': {
        post: {
          operationId: 'TagResource',
          ...sends(object({ ResourceArn: string, Tags: pairs }, ['ResourceArn', 'Tags'])),
          ...answers(object({})),
        },
      },
      '/UntagResource': {
        post: {
          operationId: 'UntagResource',
          ...sends(object({ ResourceArn: string, TagKeys: list(string) }, ['ResourceArn', 'TagKeys'])),
          ...answers(object({})),
        },
      },
      '/ListTagsForResource': {
        post: {
          operationId: 'ListTagsForResource',
          ...sends(object({ ResourceArn: string }, ['ResourceArn'])),
          ...answers(object({ Tags: pairs })),
        },
      },
    },
    { Kite },
    async (ask) => {
      const { kiteArn: ResourceArn } = (await ask('POST', '/kites', { title: 'a', tags: { stage: 'test' } })).json;
      const tags = async () => (await ask('POST', '/ListTagsForResource', { ResourceArn })).json.Tags;
      await ask('POST', '/TagResource', { ResourceArn, Tags: [{ Key: 'team', Value: 'sky' }] });
      assert.deepEqual(await tags(), [
        { Key: 'stage', Value: 'test' },
        { Key: 'team', Value: 'sky' },
      ]);
      await ask('POST', '/UntagResource', { ResourceArn, TagKeys: ['stage', 'none'] });
      assert.deepEqual(await tags(), [{ Key: 'team', Value: 'sky' }]);
    },
  ));
