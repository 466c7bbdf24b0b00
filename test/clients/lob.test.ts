import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  AddressEditable,
  AddressesApi,
  BankAccountsApi,
  BankAccountVerify,
  BankAccountWritable,
  BankTypeEnum,
  Configuration,
  TemplatesApi,
  TemplateUpdate,
  TemplateWritable,
} from '@lob/lob-typescript-sdk';
import { standIn } from './stand-in.ts';

const stand = await standIn({ whole: 'lob/lob-api-bundled.yml', excerpt: 'lob/lob-api.json.gz' });
const configuration = new Configuration({ username: 'test_x', basePath: `${stand.url}/v1` });
after(() => assert.deepEqual(stand.failures, []));

test('addresses are created, read, listed and deleted; this API changes none', async () => {
  const addresses = new AddressesApi(configuration);
  const sent = {
    name: 'Ada',
    address_line1: '1 Engine Way',
    address_city: 'Westfield',
    address_state: 'NJ',
    address_zip: '07090',
  };
  const made = await addresses.create(new AddressEditable(sent));
  assert.match(made.id, /^adr_[a-zA-Z0-9]+$/);
  assert.deepEqual([made.object, made.address_line1, made.address_city], ['address', '1 Engine Way', 'Westfield']);
  assert.equal((await addresses.get(made.id)).address_zip, '07090');
  const { data = [], count, object } = await addresses.list();
  assert.deepEqual([data.map(({ id }) => id), count, object], [[made.id], 1, 'list']);
  const gone = await addresses.delete(made.id);
  assert.deepEqual([gone.id, gone.deleted], [made.id, true]);
});

test('templates are created, read, listed, changed and deleted', async () => {
  const templates = new TemplatesApi(configuration);
  const made = await templates.create(new TemplateWritable({ description: 'Hello', html: '<html>{{name}}</html>' }));
  assert.match(made.id, /^tmpl_[a-zA-Z0-9]+$/);
  assert.deepEqual([made.description, (await templates.get(made.id)).description], ['Hello', 'Hello']);
  const version = made.published_version?.id ?? '';
  const changed = await templates.update(made.id, new TemplateUpdate({ description: 'Bye', published_version: version }));
  assert.equal(changed.description, 'Bye');
  assert.equal((await templates.list()).data?.length, 1);
  assert.equal((await templates.delete(made.id)).deleted, true);
});

test('bank accounts are created, read, listed, verified and deleted', async () => {
  const accounts = new BankAccountsApi(configuration);
  const sent = {
    routing_number: '322271627',
    account_number: '123456789',
    account_type: BankTypeEnum.Individual,
    signatory: 'Ada',
  };
  const made = await accounts.create(new BankAccountWritable(sent));
  assert.deepEqual([made.routing_number, made.signatory, made.object], ['322271627', 'Ada', 'bank_account']);
  assert.equal((await accounts.get(made.id)).account_number, '123456789');
  assert.equal((await accounts.verify(made.id, new BankAccountVerify({ amounts: [11, 35] }))).id, made.id);
  assert.deepEqual(
    (await accounts.list()).data?.map(({ id }) => id),
    [made.id],
  );
  assert.equal((await accounts.delete(made.id)).deleted, true);
});

test('what is refused comes as the error of the client, with the error of the vendor in it', async () => {
  const addresses = new AddressesApi(configuration);
  await assert.rejects(addresses.get('adr_0123456789abcdef'), (error: unknown) => {
    // The client throws what its HTTP library gives it.
    const { response } = error as { response?: { status: number; data: { error: { message: string; status_code: number } } } };
    assert.deepEqual([response?.status, response?.data.error.status_code], [404, 404]);
    return true;
  });
});
