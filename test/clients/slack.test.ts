import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ErrorCode, LogLevel, type WebAPIPlatformError, WebClient } from '@slack/web-api';
import { standIn } from './stand-in.ts';

const document = { whole: 'slack/slack_web_openapi_v2_without_examples.json', excerpt: 'slack/slack_web.json.gz' };
const stand = await standIn(document);
const options = { retryConfig: { retries: 0 }, logLevel: LogLevel.ERROR };
const slack = new WebClient('xoxb-made-up', { ...options, slackApiUrl: `${stand.url}/api/` });
after(() => assert.deepEqual(stand.failures, []));

/** A member of what was answered, whatever the client's types say of it. */
function held(answer: object, name: string): Readonly<Record<string, unknown>> {
  const value: unknown = Object.entries(answer).find(([key]) => key === name)?.[1];
  assert.ok(typeof value === 'object' && value !== null, `${name} is in ${JSON.stringify(answer)}`);
  return Object.fromEntries(Object.entries(value));
}

test('reminders are added, read, listed and deleted; this API changes none', async () => {
  const made = held(await slack.reminders.add({ text: 'Oil the engine', time: 'tomorrow' }), 'reminder');
  assert.equal(made.text, 'Oil the engine');
  const id = String(made.id);
  assert.equal(held(await slack.reminders.info({ reminder: id }), 'reminder').text, 'Oil the engine');
  const { reminders } = await slack.reminders.list();
  assert.deepEqual(
    reminders?.map((one) => one.id),
    [id],
  );
  assert.equal((await slack.reminders.delete({ reminder: id })).ok, true);
  assert.deepEqual((await slack.reminders.list()).reminders, []);
});

test('user groups are created, listed and changed; this API reads and deletes none', async () => {
  const made = held(await slack.usergroups.create({ name: 'Engines', description: 'Who builds them' }), 'usergroup');
  assert.deepEqual([made.name, made.description], ['Engines', 'Who builds them']);
  const changed = held(await slack.usergroups.update({ usergroup: String(made.id), name: 'Looms' }), 'usergroup');
  assert.deepEqual([changed.id, changed.name, changed.description], [made.id, 'Looms', 'Who builds them']);
  assert.deepEqual(
    (await slack.usergroups.list()).usergroups?.map(({ name }) => name),
    ['Looms'],
  );
  assert.equal(held(await slack.usergroups.disable({ usergroup: String(made.id) }), 'usergroup').id, made.id);
});

test('conversations are created, read, listed and renamed; this API deletes none', async () => {
  const made = held(await slack.conversations.create({ name: 'engines' }), 'channel');
  assert.equal(made.name, 'engines');
  const channel = String(made.id);
  assert.equal(held(await slack.conversations.info({ channel }), 'channel').name, 'engines');
  assert.equal(held(await slack.conversations.rename({ channel, name: 'looms' }), 'channel').name, 'looms');
  const { channels } = await slack.conversations.list();
  assert.deepEqual(
    channels?.map(({ name }) => name),
    ['looms'],
  );
});

test('what nobody can infer is answered in its stated shape, and said to be made up', async () => {
  const posted = await slack.chat.postMessage({ channel: 'C024BE91L', text: 'Hello' });
  assert.deepEqual([posted.ok, posted.channel], [true, 'C024BE91L']);
  assert.equal((await slack.auth.test()).ok, true);
  const [first] = stand.asked.filter(({ operation }) => operation === 'chat_postMessage');
  assert.ok(first?.sampled?.includes('ts'));
  assert.ok(first?.open?.some((fact) => fact.startsWith('response payload shapes')));
});

test('a required token that the client sends as a credential alone passes with a warning, and is refused with --strict', async () => {
  await slack.usergroups.list();
  assert.deepEqual(stand.asked.findLast(({ operation }) => operation === 'usergroups_list')?.warnings, [
    'method POST is not stated',
    'query token is required and was not sent',
  ]);
  const strict = await standIn(document, { strict: true });
  const refused = new WebClient('xoxb-made-up', { ...options, slackApiUrl: `${strict.url}/api/` });
  await assert.rejects(
    refused.usergroups.create({ name: 'Engines' }),
    ({ code }: WebAPIPlatformError) => code === ErrorCode.PlatformError,
  );
});

test('what is refused comes as the platform error of the client', async () => {
  await assert.rejects(slack.reminders.info({ reminder: 'Rm12345678' }), (error: WebAPIPlatformError) => {
    assert.deepEqual([error.code, error.data.ok, error.data.error], [ErrorCode.PlatformError, false, 'not_found']);
    return true;
  });
});
