import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check, parseDocument } from '../src/index.ts';
import { times } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { twoMachines as tracker } from './values/two-machines.ts';

type Fields = Readonly<Record<string, unknown>>;

const days = (count: number) => count * 86_400_000;

async function open() {
  const service = await tryService(tracker);
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await service.send(method, path, { body });
    return { status, code: (json as Fields | undefined)?.code, row: json as Fields };
  };
  return { ...service, ask };
}

const stateOf = ({ row }: { readonly row: Fields }) => `${row.state} ${row.locked}`;

test('each machine of a resource begins, is moved by endpoints, and is asked about by the other', async () => {
  const { ask, close } = await open();
  assert.equal(stateOf(await ask('POST', '/issues', { id: 'a', title: 'one', state: 'closed', locked: 'yes' })), 'open no');
  assert.equal(stateOf(await ask('POST', '/issues', { id: 's', title: 'secret' })), 'open yes');
  assert.equal((await ask('POST', '/issues/s/close')).code, 'is_locked');
  assert.equal(stateOf(await ask('POST', '/issues/a/close')), 'closed no');
  assert.equal(stateOf(await ask('POST', '/issues/a/lock')), 'closed yes');
  assert.equal((await ask('POST', '/issues/a/lock')).code, 'wrong_state');
  // Of each machine of which a state is named, the row is in one of those.
  assert.equal((await ask('DELETE', '/issues/a')).code, 'wrong_state');
  await ask('POST', '/issues/a/unlock');
  await ask('POST', '/issues/a/reopen');
  assert.equal((await ask('DELETE', '/issues/a')).code, 'wrong_state');
  await ask('POST', '/issues/a/close');
  assert.equal((await ask('DELETE', '/issues/a')).status, 204);
  await close();
});

test('a list is filtered by states, and by no word that is none', async () => {
  const { ask, close } = await open();
  await ask('POST', '/issues', { id: 'a', title: 'one' });
  assert.equal((await ask('GET', '/issues?state=open&locked=no')).status, 200);
  assert.equal((await ask('GET', '/issues?state=lost')).status, 400);
  await close();
});

test('an update that sends two states is both transitions, or neither', async () => {
  const { ask, close } = await open();
  await ask('POST', '/issues', { id: 'a', title: 'one' });
  // The guard reads what the other field would be.
  assert.equal((await ask('PATCH', '/issues/a', { state: 'closed', locked: 'yes' })).code, 'is_locked');
  assert.equal(stateOf(await ask('GET', '/issues/a')), 'open no');
  await ask('POST', '/issues/a/lock');
  const both = await ask('PATCH', '/issues/a', { state: 'closed', locked: 'no' });
  assert.deepEqual([stateOf(both), both.row.lock_count, typeof both.row.closed_at], ['closed no', 1, 'string']);
  const again = await ask('PATCH', '/issues/a', { state: 'open', locked: 'yes', title: 'two' });
  assert.deepEqual(
    [stateOf(again), again.row.lock_count, again.row.closed_at, again.row.title],
    ['open yes', 2, undefined, 'two'],
  );
  const notes = (await ask('GET', '/notes?issue=a')).row as unknown as Fields[];
  assert.deepEqual(
    notes.map(({ text }) => text),
    ['locked', 'closed', 'locked'],
  );
  await close();
});

test('the time that a row is in a state is counted for each machine by itself', async () => {
  const { ask, clock, service, close } = await open();
  await ask('POST', '/issues', { id: 'a', title: 'one' });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await service.settled();
  };
  await pass(days(8));
  await ask('POST', '/issues/a/lock');
  await pass(days(1));
  await ask('PATCH', '/issues/a', { title: 'two' });
  await pass(days(1) + 1000);
  assert.equal(stateOf(await ask('GET', '/issues/a')), 'closed yes');
  await ask('POST', '/issues/a/reopen');
  await pass(days(2));
  assert.equal(stateOf(await ask('GET', '/issues/a')), 'open no');
  await pass(days(7));
  assert.equal(stateOf(await ask('GET', '/issues/a')), 'open no');
  await pass(days(1));
  assert.equal(stateOf(await ask('GET', '/issues/a')), 'closed no');
  await close();
});

const act = fc.constantFrom('close', 'reopen', 'lock', 'unlock');
const leadsTo: Readonly<Record<string, Fields>> = {
  close: { state: 'closed' },
  reopen: { state: 'open' },
  lock: { locked: 'yes' },
  unlock: { locked: 'no' },
};

test('two machines that are moved by updates and two that are moved by endpoints agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
      const { ask, close } = await open();
      for (const id of ['a', 'b']) await ask('POST', '/issues', { id, title: 'one' });
      const row = async (id: string) => ({ ...(await ask('GET', `/issues/${id}`)).row, id: '' }) as Fields;
      for (const one of acts) {
        const sent = leadsTo[one] ?? {};
        const now = await row('a');
        // An update to the state that the row is in is no move; an endpoint is.
        if (Object.entries(sent).every(([name, value]) => now[name] === value)) continue;
        const [patched, fired] = [await ask('PATCH', '/issues/a', sent), await ask('POST', `/issues/b/${one}`)];
        assert.deepEqual([patched.status, patched.code], [fired.status, fired.code]);
        assert.deepEqual(await row('a'), await row('b'));
      }
      await close();
    }),
    { numRuns: times(4, 12) },
  );
});

test('two machines are two facts, and are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Tracker\n${tracker}`, 'tracker.yaml');
  const facts = check(document).ledger.facts.filter(({ kind }) => kind === 'states' || kind === 'transitions');
  assert.deepEqual(
    facts.map(({ subject }) => subject),
    ['issue.state', 'issue.locked', 'note', 'issue.state', 'issue.locked', 'note'],
  );
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
