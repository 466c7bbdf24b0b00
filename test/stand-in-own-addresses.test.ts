import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Things that say at which path they are, and what of them the service alone sets. */

const readOnly = { ...string, readOnly: true };
const place = '/accounts/{account}/vaults/{vaultName}';
const paths = (name: string) => ({
  [place]: {
    ...within('account', 'vaultName'),
    put: { ...sends(ref(name)), ...answers(ref(name), {}, '201') },
    get: answers(ref(name)),
    delete: { responses: { 204: { description: 'Gone.' } } },
  },
  '/accounts/{account}/vaults': { ...within('account'), get: answers(object({ value: list(ref(name)) })) },
});

test('a text whose description is the form of a path, or whose example is a path of the thing, is the path of the thing', async () => {
  const vault = (id: object) => object({ id, name: readOnly, location: string }, ['location']);
  const forms = [
    { ...readOnly, description: 'The whole id. Ex - /accounts/{account}/{kind}/{name}' },
    { ...readOnly, example: '/Accounts/a1/Vaults/main' },
  ];
  for (const form of forms)
    await standIn(paths('Vault'), { Vault: vault(form) }, async (ask) => {
      const { status, json } = await ask('PUT', '/accounts/acme/vaults/north', { location: 'here' });
      assert.deepEqual([status, json.id, json.name], [201, '/accounts/acme/vaults/north', 'north']);
      assert.equal((await ask('GET', '/accounts/acme/vaults/north')).json.id, json.id);
    });
  // What is a path of something else is none of its own.
  const other = { ...readOnly, example: '/docs/vaults' };
  await standIn(paths('Vault'), { Vault: vault(other) }, async (ask) => {
    const { json } = await ask('PUT', '/accounts/acme/vaults/north', { location: 'here' });
    assert.equal(json.id, '/docs/vaults');
  });
});

test('what is read-only in the shape of what is sent is set by the service, also in a map that nobody sent', async () => {
  const properties = object({ size: { type: 'integer' }, state: { ...readOnly, enum: ['Ready', 'Failed'] } });
  const vault = object(
    { name: readOnly, kind: { ...readOnly, enum: ['vault'] }, location: string, properties, notes: object({ text: string }) },
    ['location'],
  );
  await standIn(paths('Vault'), { Vault: vault }, async (ask) => {
    const { json } = await ask('PUT', '/accounts/acme/vaults/north', { location: 'here' });
    assert.deepEqual([json.kind, json.properties.state], ['vault', 'Ready']);
    assert.equal(json.notes, undefined, 'what a client may send whole, and did not, is not made up');
    const { json: other } = await ask('PUT', '/accounts/acme/vaults/south', { location: 'here', properties: { size: 3 } });
    assert.deepEqual([other.properties.size, other.properties.state], [3, 'Ready']);
  });
});

test('a thing whose schema has a discriminator and no mapping has what the schemas that are all of it have', async () => {
  const Vault = {
    ...object({ name: readOnly, kind: { ...string, enum: ['Hot', 'Cold'] } }, ['kind']),
    discriminator: { propertyName: 'kind' },
  };
  const form = (members: object) => ({ allOf: [ref('Vault'), object({ properties: object({ ...members }) })] });
  const schemas = { Vault, Hot: form({ heat: string }), Cold: form({ frost: string }), Other: object({ properties: string }) };
  await standIn(paths('Vault'), schemas, async (ask) => {
    for (const properties of [{ heat: 'much' }, { frost: 'little' }]) {
      const { json } = await ask('PUT', `/accounts/acme/vaults/${Object.keys(properties)[0]}`, { kind: 'Hot', properties });
      assert.deepEqual(json.properties, properties);
    }
  });
});

test('where `id`, `name` and `type` are the service’s own, the path has the name, and the id is the path', async () => {
  const one = object({ id: readOnly, name: readOnly, type: readOnly, size: { type: 'integer' } });
  const paths = {
    '/sites/{site}/crates/{crateId}': {
      ...within('site', 'crateId'),
      put: { ...sends(ref('Crate')), ...answers(ref('Crate'), {}, '201') },
      get: answers(ref('Crate')),
    },
    '/sites/{site}/crates': { ...within('site'), get: answers(object({ value: list(ref('Crate')) })) },
  };
  await standIn(paths, { Crate: one }, async (ask) => {
    const { json } = await ask('PUT', '/sites/a/crates/big', { size: 3 });
    assert.deepEqual([json.id, json.name], ['/sites/a/crates/big', 'big']);
    assert.equal((await ask('GET', '/sites/a/crates/big')).json.size, 3);
  });
  // An identifier that is a UUID is none of a path.
  const other = object({ ...(one.properties as object), id: { ...readOnly, format: 'uuid' } });
  await standIn(paths, { Crate: other }, async (ask) => {
    const { json } = await ask('PUT', '/sites/a/crates/019da0b1-7d0b-47fd-8000-000000000000', { size: 3 });
    assert.equal(json.id, '019da0b1-7d0b-47fd-8000-000000000000');
  });
});
