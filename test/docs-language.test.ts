import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { partNames } from '../src/document/document.ts';
import { check, parseDocument } from '../src/index.ts';
import { tryDocument } from './serving/tried.ts';

const folder = join(import.meta.dirname, '../docs/language');
const pages = partNames.map((part) => ({ part, text: readFileSync(join(folder, `${part}.md`), 'utf8') }));

/** The pages one after the other, each under the heading of its part: what they state is one service. */
const boats = ['# Boats', ...pages.map(({ part, text }) => `## ${part}\n${text.slice(text.indexOf('\n'))}`)].join('\n\n');
const document = parseDocument(boats, 'boats.md');

test('the language has a page for each part, of sixty lines at the most', () => {
  assert.deepEqual(readdirSync(folder).sort(), partNames.map((part) => `${part}.md`).sort());
  for (const { part, text } of pages) {
    assert.ok(text.split('\n').length <= 61, `${part}.md has ${text.split('\n').length - 1} lines`);
    assert.match(text.slice(0, text.indexOf('\n')), new RegExp(`^# ${part}$`, 'i'));
    assert.ok(text.includes('../language.md'), `${part}.md leads to the whole`);
  }
});

test('the pages together state one service that is sound and in which nothing is open', () => {
  const { findings, ledger } = check(document);
  assert.deepEqual(
    findings.map(({ code, at }) => `${code} @ ${at}`),
    [],
  );
  assert.deepEqual(
    ledger.facts.filter(({ standing }) => standing === 'open').map(({ kind, subject }) => `${kind} ${subject}`),
    [],
  );
});

test('the service of the pages does what they say', async () => {
  const { service, send, close } = await tryDocument(document);
  const key = async (user: string, id: string) => {
    const made = await service.administer('keys add', { user, id, scopes: ['outings'] });
    return { 'x-api-key': (made as { readonly secret: string }).secret };
  };
  const [keeper, ann, bob] = [await key('keeper', 'k'), await key('member', 'ann'), await key('member', 'bob')];
  type Shown = {
    readonly id: string;
    readonly code?: string;
    readonly detail?: string;
    readonly number?: number;
    readonly status?: string;
  };
  const ask = async (headers: Record<string, string>, method: string, path: string, body?: unknown) => {
    const { status, json } = await send(method, `/v1${path}`, { headers, ...(body !== undefined && { body }) });
    return [status, (json ?? {}) as Shown] as const;
  };
  const [, boat] = await ask(keeper, 'POST', '/boats', { name: 'Emma', seats: 2 });
  assert.equal((await ask({}, 'GET', '/boats'))[0], 200);
  const [missing, why] = await ask(ann, 'POST', `/boats/${boat.id}/outings`, {});
  assert.deepEqual([missing, why.code, why.detail], [400, 'missing_field', 'starts_at is missing']);
  const book = (as: Record<string, string>) =>
    ask(as, 'POST', `/boats/${boat.id}/outings`, { starts_at: '2026-06-02T09:00:00Z' });
  const [[, first], [, second]] = [await book(ann), await book(bob)];
  assert.deepEqual([first.number, second.number], [1, 2]);
  assert.equal((await ask(ann, 'POST', `/outings/${first.id}/start`))[1].status, 'out');
  assert.equal((await ask(bob, 'POST', `/outings/${second.id}/start`))[1].code, 'boat_is_out');
  assert.equal((await ask(bob, 'GET', `/outings/${first.id}`))[1].code, 'not_found');
  assert.equal((await ask(ann, 'POST', `/outings/${first.id}/cancel`))[1].code, 'too_late');
  assert.equal((await ask(keeper, 'DELETE', `/boats/${boat.id}`))[1].code, 'in_use');
  for (let booked = 1; booked < 3; booked++) assert.equal((await book(bob))[0], 201);
  assert.equal((await book(bob))[1].code, 'too_many');
  await close();
});
