import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSpreadNames } from '../src/convert/openapi/read/spread-names.ts';
import { answers, list, object, ref, sends, standIn, string } from './import/stand-in.ts';

/** Descriptions in which one parameter holds a name that spans segments: `/v1/{parent}/racks`, `/v1/{name}` of `yards/y/racks/r`. */

const parameter = (name: string, place: string) => ({
  name,
  in: place,
  schema: string,
  ...(place === 'path' && { required: true }),
});
const operation = (id: string, parameters: readonly string[], more: object, path = 'name') => ({
  operationId: id,
  parameters: [parameter(path, 'path'), ...parameters.map((name) => parameter(name, 'query'))],
  ...more,
});
const rack = object({ name: string, label: string, tags: { type: 'object', additionalProperties: string } });
const bolt = object({ name: string, label: string });
const paths = {
  '/v1/{parent}/racks': {
    post: operation('depot.yards.racks.create', ['rackId'], { ...sends(ref('Rack')), ...answers(ref('Rack')) }, 'parent'),
    get: operation('depot.yards.racks.list', [], answers(object({ racks: list(ref('Rack')) })), 'parent'),
  },
  '/v1/{parent}/bolts': {
    post: operation('depot.yards.racks.bolts.create', [], { ...sends(ref('Bolt')), ...answers(ref('Bolt')) }, 'parent'),
    get: operation('depot.yards.racks.bolts.list', [], answers(object({ bolts: list(ref('Bolt')) })), 'parent'),
  },
  '/v1/{name}': {
    get: operation('depot.yards.racks.bolts.get', [], answers(ref('Bolt'))),
    patch: operation('depot.yards.racks.bolts.patch', ['updateMask'], { ...sends(ref('Bolt')), ...answers(ref('Bolt')) }),
    delete: operation('depot.yards.racks.bolts.delete', [], answers(object({}))),
  },
  '/v1/{name}:turn': {
    post: operation('depot.yards.racks.bolts.turn', [], { ...sends(object({})), ...answers(ref('Bolt')) }),
  },
};
const schemas = { Rack: rack, Bolt: bolt };

test('a name is a path: things are made below it, found by it, and are of the kind that it says', () =>
  standIn(paths, schemas, async (ask) => {
    const made = await ask('POST', '/v1/yards/y/racks?rackId=r1', { label: 'left', tags: { a: '1' } });
    assert.deepEqual(made.json, { name: 'yards/y/racks/r1', label: 'left', tags: { a: '1' } });
    assert.deepEqual((await ask('GET', '/v1/yards/y/racks/r1')).json, made.json);
    await ask('POST', '/v1/yards/z/racks?rackId=r1', { label: 'other' });
    assert.deepEqual((await ask('GET', '/v1/yards/y/racks')).json.racks, [made.json], 'each yard has its own');

    const { json: own } = await ask('POST', '/v1/yards/y/racks/r1/bolts', { label: 'm6' });
    assert.match(own.name, /^yards\/y\/racks\/r1\/bolts\/[0-9a-f-]{36}$/, 'what nobody names is named');
    assert.equal((await ask('POST', `/v1/${own.name}:turn`, {})).json.label, 'm6');
    const { json: sent } = await ask('POST', '/v1/yards/y/racks/r1/bolts', { name: 'yards/y/racks/r1/bolts/b', label: 'm8' });
    assert.equal(sent.name, 'yards/y/racks/r1/bolts/b');
    assert.equal((await ask('DELETE', '/v1/yards/y/racks/r1/bolts/b')).status, 200);
    assert.equal((await ask('GET', '/v1/yards/y/racks/r1/bolts/b')).status, 404);
    assert.equal((await ask('DELETE', '/v1/yards/y/racks/r1')).status, 200, 'what is said of bolts alone holds for racks');
    assert.equal((await ask('GET', '/v1/yards/y/racks/r1')).status, 404);
  }));

test('an update mask says what is changed: what it names is as it is sent, or gone, and nothing else is', () =>
  standIn(paths, schemas, async (ask) => {
    const at = '/v1/yards/y/racks/r1';
    await ask('POST', '/v1/yards/y/racks?rackId=r1', { label: 'left', tags: { a: '1', b: '2' } });
    const change = async (mask: string, body: object) => (await ask('PATCH', `${at}?updateMask=${mask}`, body)).json;
    assert.deepEqual(await change('tags', { label: 'no', tags: { c: '3' } }), {
      name: 'yards/y/racks/r1',
      label: 'left',
      tags: { c: '3' },
    });
    assert.equal((await change('label,tags', { label: 'right' })).label, 'right');
    assert.deepEqual((await change('tags.d', { label: 'no', tags: { d: '4', e: '5' } })).tags?.d, '4');
    assert.equal((await change('tags.d', { tags: { e: '5' } })).tags?.e, undefined);
    assert.equal((await change('*', { label: 'all' })).label, 'all');
  }));

test('an operation that may take long is done, and what came of it is its response', () => {
  const told = object({
    name: string,
    done: { type: 'boolean' },
    error: object({}),
    response: { type: 'object', additionalProperties: {} },
  });
  const slowly = {
    ...paths,
    '/v1/{parent}/racks': {
      ...paths['/v1/{parent}/racks'],
      post: operation('depot.yards.racks.create', ['rackId'], { ...sends(ref('Rack')), ...answers(ref('Operation')) }, 'parent'),
    },
    '/v1/{name}:turn': {
      post: operation('depot.yards.racks.bolts.turn', [], { ...sends(object({})), ...answers(ref('Operation')) }),
    },
  };
  return standIn(slowly, { ...schemas, Operation: told }, async (ask) => {
    const { json } = await ask('POST', '/v1/yards/y/racks?rackId=r1', { label: 'left' });
    assert.deepEqual([json.done, json.response.name, json.response.label], [true, 'yards/y/racks/r1', 'left']);
    assert.equal((await ask('GET', '/v1/yards/y/racks/r1')).json.label, 'left');
    const { json: bolted } = await ask('POST', '/v1/yards/y/racks/r1/bolts', { label: 'tight' });
    const { json: turned } = await ask('POST', `/v1/${bolted.name}:turn`, {});
    assert.deepEqual([turned.done, turned.error], [true, undefined]);
    assert.equal((await ask('POST', '/v1/yards/y/racks/r1/bolts/nowhere:turn', {})).status, 404);
  });
});

test('what the identifier does not say, or says otherwise, is left as it is', () => {
  const of = (path: string, id: string | undefined, name = 'name') =>
    ({
      key: `GET ${path}`,
      method: 'GET',
      path,
      id,
      parameters: [{ name, in: 'path', map: { value: {}, at: '' }, schema: { value: {}, at: '' } }],
      responses: [],
    }) as never;
  const spelled = (path: string, id: string | undefined, name?: string) =>
    (withSpreadNames([of(path, id, name)], undefined as never)[0] as { path: string }).path;
  assert.equal(spelled('/v1/{name}', 'depot.yards.racks.get'), '/v1/yards/{yardsId}/racks/{racksId}');
  assert.equal(spelled('/v1/{rack}:turn', 'depot.yards.racks.turn', 'rack'), '/v1/yards/{yardsId}/racks/{racksId}:turn');
  assert.equal(spelled('/v1/{parent}/status', 'depot.yards.getStatus', 'parent'), '/v1/yards/{yardsId}/status');
  assert.equal(spelled('/yards/{yard}/racks', 'depot.racks.list', 'yard'), '/yards/{yard}/racks');
  assert.equal(spelled('/yards/{yard}/racks', 'depot.yards.racks.list', 'yard'), '/yards/{yard}/racks');
  assert.equal(spelled('/racks/{rack}', 'depot.racks.get', 'rack'), '/racks/{rack}');
  assert.equal(spelled('/v1/{name}', 'getName'), '/v1/{name}');
  assert.equal(spelled('/v1/{name}', undefined), '/v1/{name}');
});

test('what one act of a thing sets, another tells; before, its lists are empty', () => {
  const policy = object({ bindings: list(object({ role: string })), note: string });
  const act = (id: string, sent: unknown) => ({
    post: operation(id, [], { ...sends(sent), ...answers(ref('Policy')) }, 'resource'),
  });
  const more = {
    ...paths,
    '/v1/{resource}:getPolicy': act('depot.yards.racks.getPolicy', object({})),
    '/v1/{resource}:setPolicy': act('depot.yards.racks.setPolicy', object({ policy: ref('Policy') })),
  };
  return standIn(more, { ...schemas, Policy: policy }, async (ask) => {
    const told = async (name: string) => (await ask('POST', `/v1/yards/y/racks/${name}:getPolicy`, {})).json.bindings;
    assert.equal((await ask('POST', '/v1/yards/y/racks/r1:getPolicy', {})).status, 404, 'nobody has made it');
    for (const name of ['r1', 'r2']) await ask('POST', `/v1/yards/y/racks?rackId=${name}`, { label: name });
    assert.deepEqual(await told('r1'), []);
    await ask('POST', '/v1/yards/y/racks/r1:setPolicy', { policy: { bindings: [{ role: 'keeper' }] } });
    assert.deepEqual(await told('r1'), [{ role: 'keeper' }]);
    assert.deepEqual(await told('r2'), [], 'each has its own');
  });
});
