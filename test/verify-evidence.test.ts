import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { factsOf } from '../src/parts/facts/ledger.ts';
import type { CaseSent } from '../src/verify/evidence/control.ts';
import { obligationsOf } from '../src/verify/evidence/obligations.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import type { Claim } from '../src/verify/exchange/claim.ts';
import { moot } from '../src/verify/exchange/claim.ts';
import type { TrialExchange } from '../src/verify/exchange/exchange.ts';
import { Model } from '../src/verify/model/model.ts';
import { Tally } from '../src/verify/tally.ts';
import { notes } from './verify/notes.ts';
import { answered } from './verify/recorded.ts';
import { smallService } from './verify/small-service.ts';

const { spec } = check(parseDocument(notes, 'notes.yaml'));
const model = new Model(spec, callersOf(spec, []), '');
const problem = { type: 'about:blank', title: 'No', status: 422, code: 'invalid' };
const row = { id: 'n1', book: 'b1', text: 'x', stars: 1, kind: 'idea', status: 'open' };

type Judge = (seen: TrialExchange) => ReturnType<Claim['judge']>;

function claim(kind: string, subject: string, seen: TrialExchange, judge: Judge, more: Partial<Claim> = {}): Claim {
  return { fact: { kind, subject }, reason: 'told', of: [{ step: 0, value: seen }], judge: judge as Claim['judge'], ...more };
}

/** What is said of a fact after claims held, beside what else their case had sent. */
function factAfter(claims: readonly Claim[], sent: Partial<CaseSent> = {}, of = model) {
  const tally = new Tally(of);
  const course = tally.courseOf('a trial', []);
  for (const one of claims) course.held(one);
  course.end({
    exchanges: claims.flatMap((one) => one.of.map(({ value }) => value as TrialExchange)),
    controls: new Map(),
    ...sent,
  });
  const [{ fact }] = claims as [Claim];
  return tally.verdicts().find(({ kind, subject }) => kind === fact.kind && subject === fact.subject)!;
}

const isRow: Judge = (seen) => (seen.status === 200 ? undefined : { promised: '200', seen: String(seen.status) });
const isRefused: Judge = (seen) => (seen.status >= 400 ? undefined : { promised: 'a refusal', seen: String(seen.status) });

test('a claim that no other answer could have broken is no evidence', () => {
  const { verdict, why, evidence } = factAfter([
    claim('identifiers', 'note', answered(model, 'GET /notes/{id}', { body: row }), () => undefined),
  ]);
  assert.equal(verdict, 'not testable');
  assert.equal(why, 'told: no other answer would have been noticed');
  assert.equal(evidence?.alterations.noticed, 0);
  assert.ok((evidence?.alterations.tried ?? 0) > 10);
});

test('unknown is never evidence, also of an altered answer', () => {
  const seen = answered(model, 'GET /notes/{id}', { body: row });
  const { verdict } = factAfter([
    claim('identifiers', 'note', seen, ({ status }) => (status === 200 ? undefined : moot('it is unknown'))),
  ]);
  assert.equal(verdict, 'not testable');
});

test('a claim that another answer would have broken is evidence, and the alterations are counted', () => {
  const { verdict, evidence } = factAfter([
    claim('identifiers', 'note', answered(model, 'GET /notes/{id}', { body: row }), isRow),
  ]);
  assert.equal(verdict, 'held');
  assert.ok((evidence?.alterations.noticed ?? 0) > 1);
});

for (const [what, isNoticed] of [
  ['a member that is left out', ({ body }) => !('text' in (body as object))],
  ['a member of another type', ({ body }) => typeof (body as { text?: unknown }).text === 'number'],
  ['another value', ({ body }) => (body as { stars?: unknown }).stars === 2],
  ['a member that nobody states', ({ body }) => Object.keys(body as object).length > Object.keys(row).length],
  ['another status', ({ status }) => status === 404],
  ['no header', ({ headers }) => headers.etag === undefined],
  ['another media type', ({ headers }) => headers['content-type'] !== 'application/json'],
] as readonly (readonly [string, (seen: TrialExchange) => boolean])[]) {
  test(`answers are altered: ${what}`, () => {
    const headers = { 'content-type': 'application/json', etag: '"1"' };
    const seen = answered(model, 'GET /notes/{id}', { body: row, headers });
    const judge: Judge = (one) => {
      const isOdd = one.body === undefined || typeof one.body !== 'object' || Array.isArray(one.body) ? false : isNoticed(one);
      return isOdd ? { promised: 'as it was', seen: what } : undefined;
    };
    assert.equal(factAfter([claim('identifiers', 'note', seen, judge)]).verdict, 'held');
  });
}

test('lists are altered: a row that is missing, and one that is there twice', () => {
  const seen = answered(model, 'GET /notes', { body: { items: [row, { ...row, id: 'n2' }] } });
  for (const count of [1, 3]) {
    const judge: Judge = ({ body }) =>
      (body as { items?: readonly unknown[] } | undefined)?.items?.length === count
        ? { promised: 'two', seen: `${count}` }
        : undefined;
    assert.equal(factAfter([claim('identifiers', 'note', seen, judge)]).verdict, 'held');
  }
});

test('a refusal without a control shows nothing, and one with it does', () => {
  const refused = answered(model, 'POST /notes', { status: 422, body: problem, json: { text: '', stars: 1 } });
  const claims = [claim('types', 'note.stars', refused, isRefused)];
  const alone = factAfter(claims);
  assert.equal(alone.verdict, 'not testable');
  assert.match(alone.why ?? '', /nothing shows that it would not have been refused anyhow/);
  const other = answered(model, 'POST /notes', { status: 201, body: row, json: { text: 'x', stars: 2 } });
  assert.equal(factAfter(claims, { exchanges: [refused, other] }).verdict, 'not testable', 'it differs in two members');
  const control = answered(model, 'POST /notes', { status: 201, body: row, json: { text: 'x', stars: 1 } });
  assert.equal(factAfter(claims, { exchanges: [refused, control] }).verdict, 'partly');
  const failed = { ...control, status: 409 };
  assert.equal(factAfter(claims, { exchanges: [refused, failed] }).verdict, 'not testable', 'the control was refused too');
});

test('rows in one state are alike for a control, and those in another are not', () => {
  const path = (id: string) => ({ path: { id } });
  const shown = (id: string, status: string) => answered(model, 'GET /notes/{id}', { ...path(id), body: { ...row, id, status } });
  const refused = answered(model, 'POST /notes/{id}/hold', { ...path('n1'), status: 409, body: problem, json: { by: 'eve' } });
  const taken = answered(model, 'POST /notes/{id}/hold', { ...path('n2'), body: { ...row, id: 'n2' }, json: { by: 'ada' } });
  const claims = [claim('conditions', 'wrong_state', refused, isRefused)];
  const exchanges = (state: string) => [shown('n1', 'open'), shown('n2', state), refused, taken];
  assert.equal(factAfter(claims, { exchanges: exchanges('open') }).evidence?.alterations.noticed === 0, false);
  assert.equal(factAfter(claims, { exchanges: exchanges('held') }).evidence?.alterations.noticed, 0);
});

test('an enumeration of which a member was not seen is partly shown, and says which', () => {
  const seen = answered(model, 'GET /notes/{id}', { body: row });
  const { verdict, why } = factAfter([claim('allowed values', 'note.kind', seen, isRow)]);
  assert.equal(verdict, 'partly');
  assert.match(
    why ?? '',
    /^1 of 12 looks; missing: "task", kept by PATCH \/notes\/\{id\}, a wrong value, refused, of "idea", taken at POST /,
  );
  assert.match(why ?? '', /, of another word, refused at PATCH \/notes\/\{id\}, /);
});

test('each state, and each transition from each of its states, has to be seen', () => {
  const seen = answered(model, 'GET /notes/{id}', { body: row });
  assert.match(
    factAfter([claim('states', 'note', seen, isRow)]).why ?? '',
    /^1 of 5 looks; missing: held, closed, PATCH \/notes\/\{id\}, refused in held, /,
  );
  const path = { id: 'n1' };
  const before = answered(model, 'GET /notes/{id}', { path, body: row });
  const fired = answered(model, 'POST /notes/{id}/hold', { path, body: { ...row, status: 'held' } });
  const moved = {
    ...claim('transitions', 'note', fired, isRow),
    of: [
      { step: 1, value: fired },
      { step: 0, value: before },
    ],
  };
  const { why, evidence } = factAfter([moved]);
  assert.match(why ?? '', /missing: hold refused in a wrong state, release from held, /);
  assert.deepEqual(evidence?.looks[0], { name: 'hold from open', isMet: true });
});

test('each user that may, one that may not, and nobody have to be tried at an operation', () => {
  const small = check(parseDocument(smallService, 'small.yaml')).spec;
  const given = callersOf(small, [{ user: 'writer', id: 'w', credential: 'w' }]);
  const service = new Model(small, given, '');
  const [operation] = service.operations.filter(({ name }) => name === 'read note');
  assert.ok(operation?.endpoint);
  const caller = service.callers[0];
  const read = answered(service, operation.endpoint.key, { body: row, path: { id: 'n1' }, ...(caller && { caller }) });
  const { verdict, evidence } = factAfter([claim('permission rules', operation.name, read, isRow)], {}, service);
  assert.equal(verdict, 'partly');
  const missing = evidence?.looks.filter(({ isMet }) => !isMet) ?? [];
  assert.ok(
    missing.some(({ name }) => name === 'nobody, refused'),
    JSON.stringify(evidence),
  );
  assert.ok(
    evidence?.looks.some(({ name, isMet }) => name === 'a writer, let in' && isMet),
    JSON.stringify(evidence),
  );
});

test('events are altered: one that never came, that came twice, and that came where none may', () => {
  const small = check(parseDocument(smallService, 'small.yaml')).spec;
  const service = new Model(small, callersOf(small, []), '');
  const fact = { kind: 'emitting operations', subject: 'note.made' };
  const body = { id: 'e1', type: 'note.made', time: '2026-01-01T00:00:00Z', data: {} };
  const delivery = { headers: {}, text: JSON.stringify(body), body, method: 'POST', atMs: 0, status: 200 };
  const heard = (count: number, came: number): Claim => ({
    fact,
    reason: `${count}, not ${came}`,
    of: [{ step: 0, value: { deliveries: Array.from({ length: count }, () => delivery) } }],
    judge: (all) =>
      (all as { deliveries: readonly unknown[] }).deliveries.length === came
        ? { promised: `${count}`, seen: `${came}` }
        : undefined,
  });
  for (const one of [heard(1, 0), heard(1, 2)]) {
    const { evidence } = factAfter([one], { exchanges: [] }, service);
    assert.ok((evidence?.alterations.noticed ?? 0) > 0, one.reason);
  }
  const isSilenceShown = (claims: readonly Claim[]) =>
    factAfter(claims, { exchanges: [] }, service).evidence?.looks.find(({ name }) => name === 'none without a cause')?.isMet;
  assert.equal(isSilenceShown([heard(1, 0), heard(0, 1)]), true);
  assert.equal(isSilenceShown([heard(0, 1)]), false, 'what never came anywhere shows nothing where it did not come');
});

test('a reference that is cleared with what it refers to is held once that was looked at', () => {
  const boats = parseDocument(
    `resources:
  mooring: { identifier: { field: id, generate: uuid }, fields: { id: string } }
  boat: { identifier: { field: id, generate: uuid }, fields: { id: string, home: { ref: mooring, onDelete: clear }, away: { ref: mooring, onDelete: restrict } } }
endpoints:
  POST /boats: { does: create boat }
  DELETE /moorings/{id}: { does: delete mooring }
`,
    'boats.yaml',
  );
  const { spec: of } = check(boats);
  const looksAt = (kind: string, subject: string) =>
    obligationsOf(new Model(of, [], ''), factsOf(of, { kind }).find((fact) => fact.subject === subject)!).map(({ name }) => name);
  for (const kind of ['types', 'allowed values']) {
    assert.ok(looksAt(kind, 'boat.home').includes('cleared with its mooring'), kind);
    assert.ok(!looksAt(kind, 'boat.away').includes('cleared with its mooring'), kind);
  }
});
