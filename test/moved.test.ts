import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check, parseDocument } from '../src/index.ts';
import { times } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { desk } from './values/desk.ts';

type Fields = Readonly<Record<string, unknown>>;

test('an update that sends another state is the transition that leads there, with all that it is', async () => {
  const { send, clock, close } = await tryService(desk);
  const patch = async (body: unknown, headers: Record<string, string> = {}) => {
    const { status, json } = await send('PATCH', '/cases/a', { body, headers });
    return { status, code: (json as Fields).code, row: json as Fields };
  };
  await send('POST', '/cases', { body: { id: 'a', title: 'one' } });
  // The state that it is in is no move, and changes nothing.
  assert.deepEqual((await patch({ state: 'open' })).row.changes, 1);
  const closed = await patch({ state: 'closed', title: 'done' });
  assert.deepEqual([closed.status, closed.row.state, closed.row.title, closed.row.changes], [200, 'closed', 'done', 2]);
  assert.equal(closed.row.closed_at, new Date(clock.now()).toISOString());
  assert.equal(((await send('GET', '/lines')).json as Fields[]).length, 1);
  // What no transition leads to, one from another state, one by nothing but its endpoint, and what is no state.
  assert.equal((await patch({ state: 'locked' })).code, 'wrong_state');
  assert.equal((await patch({ state: 'gone' })).code, 'invalid');
  const reopened = await patch({ state: 'open', urgent: true });
  assert.deepEqual([reopened.row.state, reopened.row.closed_at], ['open', undefined]);
  // The guard reads the row as it would be, and the errors of the transition are those of the update.
  assert.equal((await patch({ state: 'closed' })).code, 'still_urgent');
  assert.equal((await patch({ state: 'closed', urgent: false, title: 'unfinished' })).code, 'unfinished');
  assert.equal((await patch({ state: 'closed', urgent: false })).status, 200);
  assert.equal((await patch({ state: 'open' }, { 'if-match': '"other"' })).status, 412);
  await send('POST', '/cases/a/lock');
  assert.equal((await patch({ state: 'open' })).code, 'not_closed');
  await close();
});

test('an error of a transition that nothing but an update brings about is asked at the update', async () => {
  const without = desk.replace('  POST /cases/{id}/close: { does: close case }\n', '');
  assert.notEqual(without, desk);
  const { send, failures, close } = await tryService(without);
  await send('POST', '/cases', { body: { id: 'a', title: 'unfinished' } });
  const refused = await send('PATCH', '/cases/a', { body: { state: 'closed' } });
  assert.deepEqual([refused.status, (refused.json as Fields).code], [409, 'unfinished']);
  assert.equal((await send('PATCH', '/cases/a', { body: { state: 'closed', title: 'done' } })).status, 200);
  assert.deepEqual(failures, []);
  // What it reads is there in every operation that it is asked at, which are the update and, with an endpoint, the transition.
  for (const stated of [desk, without]) {
    const { findings } = check(parseDocument(stated.replace('next.title ==', 'request.gone =='), 'desk.yaml'));
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['expressions/unknown-field'],
    );
  }
  await close();
});

test('events of the transition and of the update are both told of it', async () => {
  const { send, service, close } = await tryService(desk);
  await send('POST', '/cases', { body: { id: 'a', title: 'one' } });
  await send('PATCH', '/cases/a', { body: { state: 'closed' } });
  await send('PATCH', '/cases/a', { body: { title: 'two' } });
  await send('POST', '/cases/a/reopen');
  await send('POST', '/cases/a/close');
  const response = await service.fetch(new Request('http://127.0.0.1/events', { headers: { 'last-event-id': '0' } }));
  const reader = response.body!.getReader();
  let text = '';
  while ([...text.matchAll(/^event: /gm)].length < 4) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  const kinds = [...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind);
  assert.deepEqual(kinds, ['case.closed', 'case.changed', 'case.changed', 'case.closed']);
  await close();
});

const act = fc.constantFrom('close', 'reopen', 'lock', 'urgent', 'calm');
const states: Readonly<Record<string, string>> = { close: 'closed', reopen: 'open' };

test('a machine that is moved by an update and one that is moved by endpoints agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
      const { send, close } = await tryService(desk);
      for (const id of ['a', 'b']) await send('POST', '/cases', { body: { id, title: 'one' } });
      const row = async (id: string) => ({ ...((await send('GET', `/cases/${id}`)).json as Fields), id: '' });
      for (const one of acts) {
        const state = states[one];
        const urgent = one === 'urgent' ? true : one === 'calm' ? false : undefined;
        const isSent = state !== undefined || urgent !== undefined;
        const now = (await row('a')) as Fields;
        // An update to the state that the row is in is no move; an endpoint is.
        if (state !== undefined && now.state === state) continue;
        const answers = [
          isSent
            ? await send('PATCH', '/cases/a', {
                body: { ...(state !== undefined && { state }), ...(urgent !== undefined && { urgent }) },
              })
            : await send('POST', `/cases/a/${one}`),
          urgent !== undefined ? await send('PATCH', '/cases/b', { body: { urgent } }) : await send('POST', `/cases/b/${one}`),
        ];
        assert.deepEqual(...(answers.map(({ status, json }) => [status, (json as Fields).code]) as [unknown, unknown]));
        assert.deepEqual(await row('a'), await row('b'));
      }
      await close();
    }),
    { numRuns: times(4, 12) },
  );
});

test('what an update moves is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Desk\n${desk}`, 'desk.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
