import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breach } from '../src/verify/report.ts';
import { isLong, oneOfEach } from './long.ts';
import { notes } from './verify/notes.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

type Fault = readonly [what: string, trial: string, fault: Pick<StandOptions, 'bend' | 'spoil'>, fact: string, reason: RegExp];

/** Changes a JSON answer of one method and path, where it has one. */
function answer(method: string, path: RegExp, edit: (body: Record<string, unknown>, sent: string) => unknown): Fault[2] {
  return {
    spoil: (passing) => {
      if (passing.method !== method || !path.test(passing.target) || passing.status >= 300 || passing.text === '') return {};
      return { text: JSON.stringify(edit(JSON.parse(passing.text), passing.sent)) };
    },
  };
}

/** Changes a JSON request of one method and path. */
function asked(method: string, path: RegExp, edit: (body: Record<string, unknown>) => unknown): Fault[2] {
  return {
    bend: (request) => {
      if (request.method !== method || !path.test(request.target) || !request.text.startsWith('{')) return {};
      return safely(() => ({ text: JSON.stringify(edit(JSON.parse(request.text))) }));
    },
  };
}

/** Answers as if a refusal of one code were none. */
function lets(code: string, status: number, body: Record<string, unknown> = {}): Fault[2] {
  return {
    spoil: (passing) => (passing.text.includes(`"code":"${code}"`) ? { status, text: JSON.stringify(body), headers: json } : {}),
  };
}

const json = { 'content-type': 'application/json' };

function safely<T>(make: () => T): T | Record<string, never> {
  try {
    return make();
  } catch {
    return {};
  }
}

const note = /^\/v1\/notes\/[^/?]+$/;
const noteList = /^\/v1\/notes(\?|$)/;

const faults: readonly Fault[] = [
  [
    'a value is stored wrong',
    'resources/stored',
    answer('GET', note, (row) => ({ ...row, text: 'other' })),
    'allowed values note.text',
    /^stored/,
  ],
  [
    'a default is another',
    'resources/stored',
    answer('POST', /notes$/, (row, sent) => (sent.includes('stars') ? row : { ...row, stars: 3 })),
    'allowed values note.stars',
    /default/,
  ],
  [
    'a set value is reckoned wrong',
    'resources/stored',
    answer('POST', /notes$/, (row) => ({ ...row, length: 99 })),
    'allowed values note.length',
    /set/,
  ],
  [
    'a time is not of now',
    'resources/stored',
    answer('POST', /notes$/, (row) => ({ ...row, made_at: '2001-01-01T00:00:00.000Z' })),
    'allowed values note.made_at',
    /set/,
  ],
  [
    'a field is not there',
    'resources/stored',
    answer('GET', note, ({ stars: _stars, ...row }) => row),
    'required flags note.stars',
    /shown/,
  ],
  [
    'a field is there that is not stated',
    'resources/stored',
    answer('GET', note, (row) => ({ ...row, owner: 'x' })),
    'field names note',
    /shown/,
  ],
  [
    'a field has another type',
    'resources/stored',
    answer('GET', note, (row) => ({ ...row, stars: '3' })),
    'types note.stars',
    /shown/,
  ],
  [
    'a value is none of the allowed ones',
    'resources/stored',
    answer('GET', note, (row) => ({ ...row, kind: 'wish' })),
    'allowed values note.kind',
    /shown/,
  ],
  [
    'a format is not kept',
    'resources/stored',
    answer('GET', note, (row) => ({ ...row, made_at: 'today' })),
    'formats note.made_at',
    /shown/,
  ],
  [
    'a secret is shown',
    'resources/stored',
    answer('GET', note, (row) => ({ ...row, secret: 'x' })),
    'required flags note.secret',
    /hidden/,
  ],
  [
    'an update is answered and not made',
    'resources/changed',
    asked('PATCH', note, ({ kind: _kind, ...body }) => body),
    'allowed values note.kind',
    /sent/,
  ],
  [
    'a read-only field can be written',
    'resources/changed',
    answer('PATCH', note, (row, sent) => (sent.includes('nf-foreign') ? { ...row, closed_by: 'nf-foreign' } : row)),
    'allowed values note.closed_by',
    /kept/,
  ],
  [
    'an immutable field can be changed',
    'resources/fixed',
    asked('PATCH', note, ({ book: _book, ...body }) => body),
    'allowed values note.book',
    /immutable/,
  ],
  [
    'a read-only field is taken from a body that makes a row',
    'resources/stored',
    answer('POST', /notes$/, (row, sent) => (sent.includes('"length"') ? { ...row, length: 7 } : row)),
    'allowed values note.length',
    /answered/,
  ],
  [
    'a number is taken that comes as a text',
    'endpoints/bodies',
    asked('POST', /notes$/, (body) => (typeof body.stars === 'string' ? { ...body, stars: Number(body.stars) } : body)),
    'types note.stars',
    /invalid refused/,
  ],
  [
    'fields that are not stated are taken',
    'resources/fixed',
    asked('POST', /notes$/, ({ nf_not_stated: _name, ...body }) => body),
    'field names note',
    /unstated refused/,
  ],
  [
    'unique values are taken twice',
    'resources/unique',
    lets('taken', 201, { id: 'bk_0', name: 'x' }),
    'allowed values book.name',
    /sent twice/,
  ],
  ['a reference to nothing is taken', 'resources/references', lets('no_book', 201), 'types note.book', /reference/],
  ['what is referred to can be deleted', 'resources/references', lets('held', 204), 'types note.book', /restrict/],
  [
    'what was deleted is still there',
    'resources/identifiers',
    {
      spoil: ({ method, target, status }) =>
        method === 'GET' && note.test(target) && status === 404
          ? { status: 200, headers: json, text: JSON.stringify({ id: target.split('/').at(-1) }) }
          : {},
    },
    'identifiers note',
    /gone/,
  ],
  [
    'an identifier has another form',
    'resources/identifiers',
    answer('POST', /books$/, (row) => ({ ...row, id: 'x7' })),
    'identifiers book',
    /form/,
  ],
  [
    'a row begins in another state',
    'states/initial',
    answer('GET', note, (row) => ({ ...row, status: 'held' })),
    'states note',
    /initial/,
  ],
  [
    'a state is none of the machine',
    'states/initial',
    answer('GET', note, (row) => ({ ...row, status: 'lost' })),
    'states note',
    /shown/,
  ],
  ['an illegal transition is carried out', 'states/transitions', lets('wrong_state', 200), 'transitions note', /refused/],
  [
    'a legal transition is refused',
    'states/transitions',
    {
      spoil: ({ target }) =>
        target.endsWith('/release')
          ? {
              status: 409,
              headers: { 'content-type': 'application/problem+json' },
              text: '{"type":"about:blank","title":"Conflict","status":409,"code":"wrong_state"}',
            }
          : {},
    },
    'transitions note',
    /release from held/,
  ],
  [
    'a transition leads elsewhere',
    'states/transitions',
    answer('POST', /hold$/, (row) => ({ ...row, status: 'closed' })),
    'allowed values note.status',
    /state/,
  ],
  [
    'what is refused is done all the same',
    'states/transitions',
    {
      bend: ({ target }) => (target.endsWith('/release') ? { target: target.replace('/release', '/hold') } : {}),
      spoil: ({ target }) =>
        target.endsWith('/hold')
          ? {
              status: 409,
              headers: { 'content-type': 'application/problem+json' },
              text: '{"type":"about:blank","title":"Conflict","status":409,"code":"wrong_state"}',
            }
          : {},
    },
    'transitions note',
    /unchanged/,
  ],
  [
    'a condition is not looked at',
    'states/conditions',
    asked('POST', /close$/, (body) => ({ ...body, by: 'ada' })),
    'transitions note',
    /close blocked/,
  ],
  ['two win a race', 'states/races', lets('wrong_state', 200), 'transitions note', /at once/],
  ['what is for some states is done in all', 'states/in states', lets('wrong_state', 200), 'states note', /refused/],
  [
    'a bound is one too high',
    'endpoints/bodies',
    asked('POST', /notes$/, (body) => ({ ...body, ...(body.stars === 6 && { stars: 5 }) })),
    'allowed values note.stars',
    /invalid refused/,
  ],
  [
    'a bound is one too low',
    'endpoints/bodies',
    {
      spoil: ({ sent }) =>
        sent.includes('"stars":5')
          ? {
              status: 422,
              headers: { 'content-type': 'application/problem+json' },
              text: '{"type":"about:blank","title":"T","status":422,"code":"invalid"}',
            }
          : {},
    },
    'allowed values note.stars',
    /edge taken/,
  ],
  [
    'a required field may be left out',
    'endpoints/bodies',
    asked('POST', /books$/, (body) => ({ name: `left out ${Math.random()}`.slice(0, 20), ...body })),
    'required flags book.name',
    /invalid refused/,
  ],
  [
    'types are coerced',
    'endpoints/bodies',
    asked('POST', /notes$/, (body) => ({ ...body, ...(typeof body.stars === 'object' && { stars: 1 }) })),
    'types note.stars',
    /invalid refused/,
  ],
  [
    'formats are not looked at',
    'endpoints/bodies',
    asked('POST', /notes$/, (body) => ({
      ...body,
      ...(body.until === '2026-13-01T00:00:00Z' && { until: '2026-12-01T00:00:00Z' }),
    })),
    'formats note.until',
    /invalid refused/,
  ],
  [
    'a body is minded where none is taken',
    'endpoints/bodiless',
    {
      spoil: ({ target, sent }) =>
        target.endsWith('/hold') && sent !== ''
          ? {
              status: 400,
              headers: { 'content-type': 'application/problem+json' },
              text: '{"type":"about:blank","title":"T","status":400,"code":"malformed"}',
            }
          : {},
    },
    'request payload shapes POST /notes/{id}/hold',
    /ignored/,
  ],
  ['any method will do', 'endpoints/routes', lets('no_method', 200), 'methods service', /refused/],
  ['any path will do', 'endpoints/routes', lets('missing', 200), 'path shapes service', /elsewhere/],
  ['any media type will do', 'endpoints/media', lets('media', 201), 'request payload shapes POST /notes', /media type/],
  ['what cannot be read is taken', 'endpoints/media', lets('malformed', 201), 'request payload shapes POST /notes', /malformed/],
  ['Accept is not looked at', 'endpoints/accepts', lets('accept', 200), 'conditions accept', /Accept/],
  [
    'an ETag is not looked at',
    'endpoints/accepts',
    { bend: ({ headers: { 'if-none-match': _tag, ...headers } }) => ({ headers }) },
    'response payload shapes GET /notes/{id}',
    /If-None-Match/,
  ],
  [
    'a precondition is not looked at',
    'endpoints/preconditions',
    { bend: ({ headers: { 'if-match': _tag, ...headers } }) => ({ headers }) },
    'request payload shapes PATCH /notes/{id}',
    /If-Match/,
  ],
  [
    'a key is not looked at',
    'endpoints/idempotency',
    { bend: ({ headers: { 'idempotency-key': _key, ...headers } }) => ({ headers }) },
    'request payload shapes POST /notes',
    /key once/,
  ],
  [
    'a parameter that is not stated is taken',
    'endpoints/parameters',
    { bend: ({ target }) => ({ target: target.replace(/[?&]nf_not_stated=x/, '') }) },
    'parameters GET /notes',
    /unstated refused/,
  ],
  [
    'a filter lets everything through',
    'endpoints/lists',
    { bend: ({ target }) => ({ target: target.replace(/stars=\d+/, '') }) },
    'parameters GET /notes',
    /filter stars/,
  ],
  [
    'a list is sorted the other way',
    'endpoints/lists',
    { bend: ({ target }) => ({ target: target.replace('sort=stars', 'sort=-stars') }) },
    'parameters GET /notes',
    /sorted by stars/,
  ],
  [
    'a page lacks a row',
    'endpoints/shared pages',
    answer('GET', noteList, (page) => ({ ...page, data: (page.data as unknown[]).slice(1) })),
    'pagination bounds GET /notes',
    /every row/,
  ],
  [
    'a page shows a row twice',
    'endpoints/shared pages',
    answer('GET', noteList, (page) => ({
      ...page,
      data: [...(page.data as unknown[]).slice(0, -1), ...(page.data as unknown[]).slice(0, 1)],
    })),
    'pagination bounds GET /notes',
    /once/,
  ],
  [
    'the wrong code is given',
    'states/conditions',
    { spoil: ({ text }) => ({ text: text.replace('"code":"unsigned"', '"code":"wrong_state"') }) },
    'conditions unsigned',
    /code/,
  ],
  [
    'the wrong status is given',
    'resources/unique',
    { spoil: ({ text }) => (text.includes('"code":"taken"') ? { status: 400 } : {}) },
    'status codes taken',
    /status/,
  ],
  [
    'a code is not stated',
    'resources/unique',
    { spoil: ({ text }) => ({ text: text.replace('"code":"taken"', '"code":"oops"') }) },
    'error codes service',
    /stated/,
  ],
  [
    'a refusal has another payload',
    'resources/unique',
    { spoil: ({ text }) => ({ text: text.replace('"title":', '"name_of_it":') }) },
    'error payload shapes service',
    /shape/,
  ],
  [
    'a refusal shows the inside',
    'resources/unique',
    { spoil: ({ text }) => ({ text: text.replace('"detail":"', '"detail":"Error at run (/app/dist/server.js:10:5) ') }) },
    'error payload shapes service',
    /leak/,
  ],
  [
    'a creation says no address',
    'resources/stored',
    { spoil: ({ headers: { location: _location, ...headers } }) => ({ headers }) },
    'response payload shapes POST /notes',
    /Location/,
  ],
  [
    'a creation answers 200',
    'resources/stored',
    { spoil: ({ status }) => (status === 201 ? { status: 200 } : {}) },
    'response payload shapes POST /notes',
    /status/,
  ],
  [
    'JSON is called text',
    'resources/stored',
    { spoil: ({ method, headers }) => (method === 'GET' ? { headers: { ...headers, 'content-type': 'text/plain' } } : {}) },
    'response payload shapes GET /notes/{id}',
    /media type/,
  ],
  [
    'an ETag is weak',
    'resources/stored',
    { spoil: ({ headers }) => ({ headers: headers.etag === undefined ? headers : { ...headers, etag: 'W/"1"' } }) },
    'response payload shapes GET /notes/{id}',
    /ETag/,
  ],
];

/** Where these are faulty much else is broken too, each of which is looked at again: the long run waits for that. */
const slow = ['resources/identifiers', 'states/in states', 'states/races', 'states/transitions', 'endpoints/media'];

for (const [what, trial, fault, fact, reason] of oneOfEach(faults, ([, trial]) => trial)) {
  if (!isLong && slow.includes(trial)) continue;
  test(`${trial} finds it where ${what}`, async () => {
    const stand = await openStand(notes, fault);
    try {
      const until = (one: Breach) => `${one.kind} ${one.subject}` === fact && reason.test(one.reason);
      const { breaches, unsteady, notes: told } = await stand.verify({ only: [trial], until });
      const named = [...breaches, ...unsteady].map((one) => `${one.kind} ${one.subject}: ${one.reason}`);
      assert.ok(breaches.some(until), `${fact} is not among ${named.join('; ') || 'nothing'}`);
      assert.deepEqual(
        told.filter((text) => text.includes('fault')),
        [],
      );
    } finally {
      await stand.close();
    }
  });
}
