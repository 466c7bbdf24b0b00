import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What a service notes by itself: when things were made and changed, and which version of each this is. */

const moment = { type: 'string', format: 'date-time' };
const Lamp = object({
  id: string,
  title: string,
  creationTime: { type: 'string', format: 'google-datetime' },
  meta: object({ createdAt: moment, lastModifiedDate: moment }),
  openedHour: moment,
  endsAt: moment,
  lampVersionId: integer,
});
const paths = {
  '/lamps': {
    post: { operationId: 'createLamp', ...sends(object({ title: string, endsAt: moment })), ...answers(ref('Lamp'), {}, '201') },
  },
  '/lamps/{id}': {
    ...within('id'),
    get: answers(ref('Lamp')),
    patch: { ...sends(object({ title: string })), ...answers(ref('Lamp')) },
  },
};

test('a new thing was made now, and changed when it was changed, in its first version and then in others', () =>
  standIn(paths, { Lamp }, async (ask) => {
    const since = Date.now();
    const isNow = (told: string) => Date.parse(told) >= since - 1000 && Date.parse(told) <= Date.now() + 1000;
    const endsAt = '2031-01-01T00:00:00Z';
    const { json: made } = await ask('POST', '/lamps', { title: 'a', endsAt });
    assert.ok(isNow(made.creationTime) && isNow(made.meta.createdAt) && isNow(made.meta.lastModifiedDate), JSON.stringify(made));
    assert.equal(made.endsAt, endsAt);
    assert.ok(!isNow(made.openedHour), 'an hour at which something opens is none of its making');
    assert.equal(made.lampVersionId, 1);
    const { json: changed } = await ask('PATCH', `/lamps/${made.id}`, { title: 'b' });
    assert.deepEqual(
      [changed.lampVersionId, changed.creationTime, changed.meta.createdAt],
      [2, made.creationTime, made.meta.createdAt],
    );
    assert.ok(Date.parse(changed.meta.lastModifiedDate) >= Date.parse(made.meta.lastModifiedDate));
    const { json: same } = await ask('PATCH', `/lamps/${made.id}`, { title: 'b' });
    assert.equal(same.lampVersionId, 2);
  }));

test('a description that says of every member that it may be null has when a thing was made, and its state', () =>
  standIn(
    {
      ...paths,
      '/lamps': {
        ...paths['/lamps'],
        get: {
          parameters: [{ name: 'titleFilter', in: 'query', schema: string }],
          ...answers(list(ref('Lamp'))),
        },
      },
    },
    {
      State: { type: 'string', enum: ['draft', 'lit'] },
      Lamp: object({
        id: string,
        title: { type: 'string', nullable: true },
        date_created: { ...moment, nullable: true },
        state: { $ref: '#/components/schemas/State', type: 'string', nullable: true },
        lit_by: { type: 'string', nullable: true },
        account: { type: 'string', pattern: '^[a-z0-9]+$', maxLength: 8 },
      }),
    },
    async (ask) => {
      const { json: made } = await ask('POST', '/lamps', { title: 'a' });
      assert.ok(Math.abs(Date.parse(made.date_created) - Date.now()) < 5000, made.date_created);
      assert.deepEqual([made.state, made.lit_by], ['draft', null]);
      await ask('POST', '/lamps', { title: 'b' });
      const { json: listed } = await ask('GET', '/lamps?titleFilter=a');
      assert.deepEqual(
        listed.map(({ title }: { title: string }) => title),
        ['a'],
      );
    },
    { openapi: '3.0.3' },
  ));

test('a thing has the tag of its state, which each change renews, and a change that is sent with an old one is refused', () => {
  const Flag = object({ id: string, title: string, etag: string });
  const flags = {
    '/flags': { post: { ...sends(ref('Flag')), ...answers(ref('Flag'), {}, '201') } },
    '/flags/{id}': {
      ...within('id'),
      get: answers(ref('Flag')),
      patch: { ...sends(object({ title: string, etag: string })), ...answers(ref('Flag')) },
    },
  };
  return standIn(flags, { Flag }, async (ask) => {
    const { json: made } = await ask('POST', '/flags', { title: 'a' });
    assert.match(made.etag, /^\S{8,}$/);
    const { json: changed } = await ask('PATCH', `/flags/${made.id}`, { title: 'b', etag: made.etag });
    assert.notEqual(changed.etag, made.etag);
    assert.equal((await ask('PATCH', `/flags/${made.id}`, { title: 'c', etag: made.etag })).status, 412);
    assert.deepEqual((await ask('GET', `/flags/${made.id}`)).json, changed);
    assert.equal((await ask('PATCH', `/flags/${made.id}`, { title: 'b' })).json.etag, changed.etag);
  });
});

test('a thing inside is named by its id alone, whatever its whole shape requires', () => {
  const Site = object({ id: string, address: string }, ['address']);
  const Link = object({ id: string, site: ref('Site'), stops: list(ref('Site')) });
  const links = {
    '/links': {
      post: { ...sends(object({ site: ref('Site'), stops: list(ref('Site')) }, ['site'])), ...answers(ref('Link'), {}, '201') },
    },
    '/links/{id}': { ...within('id'), get: answers(ref('Link')) },
  };
  return standIn(links, { Site, Link }, async (ask) => {
    const { status, json: made } = await ask('POST', '/links', { site: { id: 's1' }, stops: [{ id: 's2' }] });
    assert.deepEqual([status, made.site.id, made.stops[0].id], [201, 's1', 's2']);
    assert.equal((await ask('POST', '/links', { site: {} })).status, 400);
    assert.equal((await ask('POST', '/links', {})).status, 400);
  });
});

test('what is sent with one client token is done once', () =>
  standIn(
    {
      ...paths,
      '/lamps': {
        post: {
          operationId: 'createLamp',
          parameters: [
            {
              name: 'requestId',
              in: 'query',
              schema: { type: 'string', description: 'The server will ignore the request if it has completed.' },
            },
          ],
          ...sends(object({ title: string, clientToken: string })),
          ...answers(ref('Lamp'), {}, '201'),
        },
      },
    },
    { Lamp },
    async (ask) => {
      const make = async (query: string, clientToken?: string) =>
        (await ask('POST', `/lamps${query}`, { title: 'a', clientToken })).json.id;
      assert.equal(await make('', 'token-one'), await make('', 'token-one'));
      assert.notEqual(await make('', 'token-one'), await make('', 'token-two'));
      assert.equal(await make('?requestId=r1'), await make('?requestId=r1'));
      assert.notEqual(await make('?requestId=r1'), await make('?requestId=r2'));
      assert.notEqual(await make(''), await make(''));
    },
  ));

const named = (name: string) => ({ name, in: 'path', required: true, schema: string });
const Operation = object({
  name: string,
  done: { type: 'boolean' },
  error: object({ code: integer }),
  response: { type: 'object' },
});
const Mill = object({ name: string, note: string });
const Wheel = object({ name: string });
const long = {
  '/v1/{parent}/mills': {
    post: {
      operationId: 'mill.yards.mills.create',
      parameters: [named('parent'), { name: 'millId', in: 'query', schema: string }],
      ...sends(ref('Mill')),
      ...answers(ref('Operation')),
    },
    get: {
      operationId: 'mill.yards.mills.list',
      parameters: [named('parent')],
      ...answers(object({ mills: list(ref('Mill')) })),
    },
  },
  '/v1/{parent}/wheels': {
    post: {
      operationId: 'mill.yards.mills.wheels.create',
      parameters: [named('parent'), { name: 'wheelId', in: 'query', schema: string }],
      ...sends(ref('Wheel')),
      ...answers(ref('Wheel')),
    },
    get: {
      operationId: 'mill.yards.mills.wheels.list',
      parameters: [named('parent')],
      ...answers(object({ wheels: list(ref('Wheel')) })),
    },
  },
  '/v1/{name}/operations': {
    get: {
      operationId: 'mill.yards.operations.list',
      parameters: [named('name')],
      ...answers(object({ operations: list(ref('Operation')) })),
    },
  },
  '/v1/{name}': {
    get: { operationId: 'mill.yards.mills.get', parameters: [named('name')], ...answers(ref('Mill')) },
    // The things of which it is said are made nowhere: what it answers is no such thing.
    delete: { operationId: 'mill.yards.mills.stones.delete', parameters: [named('name')], ...answers(ref('Operation')) },
  },
};

test('an operation is read by its name once it is told, and what stands below a deleted thing is gone with it', () =>
  standIn(long, { Mill, Wheel, Operation }, async (ask) => {
    const { json: told } = await ask('POST', '/v1/yards/y/mills?millId=m', { note: 'a' });
    assert.deepEqual([told.done, told.response.name], [true, 'yards/y/mills/m']);
    assert.match(told.name, /^yards\/y\/operations\//);
    assert.deepEqual((await ask('GET', `/v1/${told.name}`)).json, told);
    assert.deepEqual((await ask('GET', '/v1/yards/y/operations')).json.operations, [told]);
    await ask('POST', '/v1/yards/y/mills/m/wheels?wheelId=w', {});
    const { json: gone } = await ask('DELETE', '/v1/yards/y/mills/m');
    assert.equal(gone.done, true);
    assert.equal((await ask('GET', `/v1/${gone.name}`)).json.name, gone.name);
    assert.equal((await ask('GET', '/v1/yards/y/mills/m/wheels/w')).status, 404);
    await ask('POST', '/v1/yards/y/mills?millId=m', { note: 'again' });
    assert.deepEqual((await ask('GET', '/v1/yards/y/mills/m/wheels')).json.wheels, []);
  }));

test('a policy that is set has another tag than before', () =>
  standIn(
    {
      ...long,
      '/v1/{resource}:getPolicy': {
        get: { operationId: 'mill.yards.mills.getPolicy', parameters: [named('resource')], ...answers(ref('Policy')) },
      },
      '/v1/{resource}:setPolicy': {
        post: {
          operationId: 'mill.yards.mills.setPolicy',
          parameters: [named('resource')],
          requestBody: json(object({ policy: ref('Policy') })),
          ...answers(ref('Policy')),
        },
      },
    },
    { Mill, Wheel, Operation, Policy: object({ etag: string, bindings: list(object({ role: string })) }) },
    async (ask) => {
      await ask('POST', '/v1/yards/y/mills?millId=m', {});
      const at = '/v1/yards/y/mills/m';
      const set = async (role: string, etag?: string) =>
        (await ask('POST', `${at}:setPolicy`, { policy: { etag, bindings: [{ role }] } })).json.etag;
      const one = await set('reader', (await ask('GET', `${at}:getPolicy`)).json.etag);
      const two = await set('writer', one);
      assert.notEqual(two, one);
      assert.notEqual(await set('writer', two), two);
      assert.deepEqual((await ask('GET', `${at}:getPolicy`)).json.bindings, [{ role: 'writer' }]);
    },
  ));
