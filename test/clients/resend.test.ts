import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Resend } from 'resend';
import { standIn } from './stand-in.ts';

const stand = await standIn({ whole: 'resend/resend.yaml', excerpt: 'resend/resend.json.gz' });
const resend = new Resend('re_x', { baseUrl: stand.url });
after(() => assert.deepEqual(stand.failures, []));

/** What a call gave; the client reports its errors as values. */
function given<T>({ data, error }: { readonly data: T | null; readonly error: unknown }): T {
  assert.equal(error, null);
  assert.ok(data);
  return data;
}

test('domains are created, read, listed, changed and deleted', async () => {
  const made = given(await resend.domains.create({ name: 'example.com', region: 'eu-west-1' }));
  assert.deepEqual([made.name, made.region], ['example.com', 'eu-west-1']);
  assert.equal(given(await resend.domains.get(made.id)).name, 'example.com');
  assert.deepEqual(
    given(await resend.domains.list()).data.map(({ id }) => id),
    [made.id],
  );
  assert.equal(given(await resend.domains.update({ id: made.id, clickTracking: true })).id, made.id);
  const gone = given(await resend.domains.remove(made.id));
  assert.deepEqual([gone.id, gone.deleted], [made.id, true]);
  assert.equal(given(await resend.domains.list()).data.length, 0);
});

test('contacts', async () => {
  const made = given(await resend.contacts.create({ email: 'ada@example.com', firstName: 'Ada' }));
  const read = given(await resend.contacts.get({ id: made.id }));
  assert.deepEqual([read.email, read.first_name], ['ada@example.com', 'Ada']);
  assert.equal(given(await resend.contacts.update({ id: made.id, lastName: 'L.' })).id, made.id);
  assert.equal(given(await resend.contacts.get({ id: made.id })).last_name, 'L.');
  assert.equal(given(await resend.contacts.list()).data.length, 1);
  assert.equal(given(await resend.contacts.remove({ id: made.id })).deleted, true);
});

test('webhooks, and emails that are sent and read', async () => {
  const made = given(await resend.webhooks.create({ endpoint: 'https://example.com/hook', events: ['email.sent'] }));
  assert.equal(given(await resend.webhooks.get(made.id)).endpoint, 'https://example.com/hook');
  assert.equal(given(await resend.webhooks.update(made.id, { endpoint: 'https://example.com/other' })).id, made.id);
  assert.equal(given(await resend.webhooks.get(made.id)).endpoint, 'https://example.com/other');
  assert.equal(given(await resend.webhooks.list()).data.length, 1);
  assert.equal(given(await resend.webhooks.remove(made.id)).deleted, true);
  const email = given(
    await resend.emails.send({ from: 'a@example.com', to: ['b@example.com'], subject: 'Hello', text: 'There' }),
  );
  const sent = given(await resend.emails.get(email.id));
  assert.deepEqual([sent.subject, sent.from, sent.to], ['Hello', 'a@example.com', ['b@example.com']]);
});

test('what is refused comes as the error that the client reports', async () => {
  const { data, error } = await resend.domains.get('4dd369bc-aa82-4ff3-97de-514ae3000ee0');
  assert.equal(data, null);
  assert.ok(error);
});
