import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledIn } from '../src/parts/samples/first-state.ts';
import { answers, json, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Statuses of refusals, as the operation's own answers have them; and states that something is in where nothing moves it on. */

const lamp = object({ id: string, name: string }, ['id', 'name']);
const refusals = (...names: string[]) =>
  Object.fromEntries(names.map((name, at) => [String(480 + at), { description: name, ...json(ref(name)) }]));
const paths = (deletion: object, refused: object) => ({
  '/lamps': {
    post: { ...sends(object({ name: string })), ...answers(ref('Lamp'), {}, '201') },
    get: answers({ type: 'array', items: ref('Lamp') }),
  },
  '/lamps/{id}': {
    ...within('id'),
    get: { responses: { ...(answers(ref('Lamp')).responses as object), ...refused } },
    delete: { responses: deletion },
  },
});
const schemas = { Lamp: lamp, LampNotFoundException: {}, ValidationException: {} };
const done = { description: 'Done.' };

test('what is missing has the status whose error is called so, where there is no 404', () =>
  standIn(paths({ 204: done }, refusals('ValidationException', 'LampNotFoundException')), schemas, async (ask) => {
    await ask('POST', '/lamps', { name: 'a' });
    assert.equal((await ask('GET', '/lamps/nobody')).status, 481);
  }));

test('what is missing is an error of requests where a service has statuses of its own and no other error for it', async () => {
  const statusOf = async (...names: string[]) => {
    let status = 0;
    await standIn(
      paths({ 204: done }, refusals(...names)),
      { ...schemas, InternalException: {}, ForbiddenException: {} },
      async (ask) => {
        await ask('POST', '/lamps', { name: 'a' });
        const { status: told, json: body } = await ask('GET', '/lamps/nobody');
        assert.match(body.message, /no such thing/);
        status = told;
      },
    );
    return status;
  };
  assert.equal(await statusOf('InternalException', 'ValidationException'), 481);
  assert.equal(await statusOf('InternalException'), 404);
  assert.equal(await statusOf('ForbiddenException', 'ValidationException'), 404);
});

test('a 404 that is stated stays one', () =>
  standIn(
    paths({ 204: done }, { ...refusals('ValidationException', 'LampNotFoundException'), 404: done }),
    schemas,
    async (ask) => {
      await ask('POST', '/lamps', { name: 'a' });
      assert.equal((await ask('GET', '/lamps/nobody')).status, 404);
    },
  ));

test('deleting what is not there is no error where a deletion has 204 beside another success, and no 404', async () => {
  const statusOf = async (deletion: object) => {
    let status = 0;
    await standIn(paths(deletion, {}), schemas, async (ask) => {
      const { json: made } = await ask('POST', '/lamps', { name: 'a' });
      status = (await ask('DELETE', '/lamps/nobody')).status;
      assert.ok((await ask('DELETE', `/lamps/${made.id}`)).status < 300);
    });
    return status;
  };
  assert.equal(await statusOf({ 200: done, 204: done }), 204);
  assert.equal(await statusOf({ 204: done }), 404);
  assert.equal(await statusOf({ 200: done, 204: done, 404: done }), 404);
});

test('a thing that nothing moves on is in the first state that is said, and past its making', () => {
  assert.equal(settledIn(['STATE_UNSPECIFIED', 'RUNNING', 'PAUSED']), 'RUNNING');
  assert.equal(settledIn(['CREATING', 'ACTIVE', 'DELETING']), 'ACTIVE');
  assert.equal(settledIn(['draft', 'active']), 'draft');
  assert.equal(settledIn(['DELETING', 'STARTING', 'STOPPING', 'READY', 'RUNNING']), 'READY');
  assert.equal(settledIn(['deleted']), 'deleted');
  assert.equal(settledIn(['starting', 'stopped']), 'starting');
  assert.equal(settledIn(['KIND_UNSPECIFIED']), 'KIND_UNSPECIFIED');
});

test('of words in the order of the alphabet the one for what was just made is taken', () => {
  assert.equal(settledIn(['approved', 'draft', 'pending', 'rejected']), 'draft');
  assert.equal(settledIn(['ACCEPTED', 'AWAITING', 'FAILED', 'PENDING']), 'PENDING');
  assert.equal(settledIn(['BUILDING', 'CREATING', 'FAILED', 'IN_SERVICE', 'UPDATING']), 'IN_SERVICE');
  assert.equal(settledIn(['active', 'closed', 'new', 'suspended']), 'active');
  assert.equal(settledIn(['invalid', 'odd', 'strange', 'valid']), 'invalid');
  // In another order the first one has been put first.
  assert.equal(settledIn(['review', 'draft', 'approved', 'rejected']), 'review');
});
