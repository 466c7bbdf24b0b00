import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing, type StandOptions } from './verify/stand.ts';

/** Rows with bounds, a keeper that nobody is shown, times that the service sets, an update that is for some states, and pages. */
const document = `
title: Plays
purpose:
  purpose: Keeps plays.
  base_url: https://plays.example
  users: { hand: Makes plays. }
  functions: { keep: [create play, read play, list play, update play, stage play, close play] }
resources:
  play:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40 }
      seats: { type: integer, minimum: 1, maximum: 9, default: 4 }
      note: { type: string, minLength: 1, maxLength: 20 }
      hall: { type: string, readOnly: true, set: { stage: "'large'" } }
      keeper: { type: string, readOnly: true, visible: none, set: { create: caller.id } }
      status: { type: string, readOnly: true }
      changed_at: { type: string, format: date-time, readOnly: true, set: { write: now } }
    required: [id, title, seats, keeper, status, changed_at]
states:
  play:
    field: status
    initial: open
    states: [open, staged, closed]
    transitions: { stage: open -> staged, close: staged -> closed }
endpoints:
  POST /plays: { does: create play, idempotency: { header: Once } }
  GET /plays:
    does: list play
    parameters: { word: { in: query, type: string, minLength: 1, maxLength: 40, filters: title, op: contains }, sort: { in: query, enum: [title, -title], sorts: true } }
  GET /plays/{id}: { does: read play }
  PATCH /plays/{id}: { does: update play, in: [open, staged] }
  POST /plays/{id}/stage: { does: stage play }
  POST /plays/{id}/close: { does: close play }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions:
    - { allow: [create play, read play, list play, update play, stage play, close play], to: hand }
errors:
  payload: problem
  codes:
    unknown: { status: 401, when: caller.unknown }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    method: { status: 405, when: method.unsupported }
    unreadable: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    reused: { status: 422, when: idempotency.reused }
    state: { status: 409, when: transition.illegal.state }
    size: { status: 413, when: limit.size }
    broken: { status: 500, when: internal }
    down: { status: 503, when: service.unavailable }
    late: { status: 503, when: limit.time }
events: none
limits: { rate: none, pagination: { style: cursor, cursor: from, size: count, default: 5, max: 20, over_max: clamp, items: rows, next: onward, told: body } }
versioning: none
`;

interface Said {
  readonly verdict: string | undefined;
  readonly missing: readonly string[];
  readonly reasons: readonly string[];
}

async function said(fact: readonly [kind: string, subject: string], only: readonly string[], stand: StandOptions): Promise<Said> {
  const opened = await openStand(document, stand);
  try {
    const { breaches, facts } = await opened.verify({ only: [...only], timeMs: 600_000 });
    const found = facts.find(({ kind, subject }) => kind === fact[0] && subject === fact[1]);
    const looks = found?.evidence?.looks ?? [];
    const missing = looks.filter(({ isMet }) => !isMet).map(({ name }) => name);
    return { verdict: found?.verdict, missing, reasons: breaches.map(({ reason }) => reason) };
  } finally {
    await opened.close();
  }
}

const title = ['allowed values', 'play.title'] as const;

test('every bound is looked at wherever it is sent, and an operation that is never come to leaves its fact partly held', async () => {
  const right = await said(title, ['play.title'], {});
  assert.deepEqual(right, { verdict: 'held', missing: [], reasons: [] });
  const hurried = await said(title, ['play.title'], {
    spoil: ({ method }) => (method === 'PATCH' ? { status: 503, text: '{"code":"down","status":503}' } : {}),
  });
  assert.equal(hurried.verdict, 'partly');
  for (const name of ['of 41 characters, refused at PATCH /plays/{id}', 'kept by PATCH /plays/{id}'])
    assert.ok(hurried.missing.includes(name), `${name}: ${hurried.missing.join('; ')}`);
});

test('what is refused for something else shows nothing of what it was to be refused for', async () => {
  const { missing, reasons } = await said(title, ['endpoints/bodies'], {
    spoil: ({ method, status, text }) =>
      method === 'PATCH' && status === 422 ? { text: text.replace('"invalid"', '"reused"') } : {},
  });
  assert.deepEqual([...new Set(reasons)], ['code']);
  assert.ok(missing.includes('of 41 characters, refused at PATCH /plays/{id}'), missing.join('; '));
});

test('what a transition set is looked at after an update, and a change of nothing sets nothing', async () => {
  for (const [name, subject] of [
    ['kept by PATCH /plays/{id}', 'play.hall'],
    ['not set by PATCH /plays/{id} where nothing changes', 'play.changed_at'],
  ] as const) {
    const right = await said(['allowed values', subject], [subject], {});
    assert.deepEqual(right, { verdict: 'held', missing: [], reasons: [] }, name);
  }
  const lost = await said(['allowed values', 'play.hall'], ['play.hall'], {
    spoil: ({ method, text }) => (method === 'PATCH' ? { text: text.replace(/"hall":"large",?/, '') } : {}),
  });
  assert.equal(lost.verdict, 'broken');
  const touched = await said(['allowed values', 'play.changed_at'], ['play.changed_at'], {
    spoil: ({ method, text }) =>
      method === 'PATCH'
        ? { text: text.replace(/("changed_at":")[^"]*/, (_all, start) => start + new Date().toISOString()) }
        : {},
  });
  assert.equal(touched.verdict, 'broken');
});

test('what nobody is shown is looked for on the pages after the first', async () => {
  const keeper = ['required flags', 'play.keeper'] as const;
  const right = await said(keeper, ['resources/shown to', 'resources/shown on later pages'], {});
  assert.deepEqual(right, { verdict: 'held', missing: [], reasons: [] });
  const wrong = await said(keeper, ['resources/shown on later pages'], {
    spoil: ({ target, text }) => (target.includes('from=') ? { text: text.replaceAll('"title":', '"keeper":"h","title":') } : {}),
  });
  assert.equal(wrong.verdict, 'broken');
  assert.ok(wrong.reasons.includes('hidden from a user on later pages of GET /plays'));
});

/** What is answered to some requests in the place of what the service says. */
const instead =
  (isMeant: (passing: Passing) => boolean, answer: Partial<Passing>): NonNullable<StandOptions['spoil']> =>
  (passing) =>
    isMeant(passing) ? answer : {};

test('HEAD goes with GET, and OPTIONS tells the methods', async () => {
  const methods = ['methods', 'service'] as const;
  const trials = ['endpoints/safe methods'];
  const right = await said(methods, trials, {});
  assert.deepEqual(right.reasons, []);
  const head = await said(methods, trials, { spoil: instead(({ method }) => method === 'HEAD', { status: 405 }) });
  assert.deepEqual([head.verdict, ...new Set(head.reasons)], ['broken', 'HEAD goes with GET']);
  const options = await said(methods, trials, { spoil: instead(({ method }) => method === 'OPTIONS', { status: 405 }) });
  assert.deepEqual([options.verdict, options.reasons.includes('OPTIONS tells the methods')], ['broken', true]);
});

test('a sort is asked for page after page, and a word that is contained in other letters', async () => {
  const parameters = ['parameters', 'GET /plays'] as const;
  const right = await said(parameters, ['parameters'], {});
  assert.deepEqual(right, { verdict: 'held', missing: [], reasons: [] });
  const unsorted = await said(parameters, ['endpoints/lists'], {
    spoil: ({ target, status, text }) => {
      if (!/from=.*sort=-title|sort=-title.*from=/.test(target) || status !== 200) return {};
      const page = JSON.parse(text) as { rows: unknown[] };
      return { text: JSON.stringify({ ...page, rows: page.rows.reverse() }) };
    },
  });
  assert.equal(unsorted.verdict, 'broken', unsorted.reasons.join());
  const made: { title: string }[] = [];
  const folded = await said(parameters, ['endpoints/lists'], {
    spoil: ({ method, target, status, text }) => {
      if (method === 'POST' && status === 201) made.push(JSON.parse(text));
      const word = /[?&]word=([^&]*)/.exec(target)?.[1];
      if (method !== 'GET' || status !== 200 || word === undefined) return {};
      const page = JSON.parse(text) as { rows: { title: string }[] };
      const other = made.filter(({ title }) => !title.includes(word) && title.toLowerCase().includes(word));
      return { text: JSON.stringify({ ...page, rows: [...page.rows, ...other] }) };
    },
  });
  assert.equal(folded.verdict, 'broken', folded.reasons.join());
});

test('the identifier of a row in other letters is another one', async () => {
  const named = document.replace('generate: uuid', 'generate: "play_{hex:8}"');
  const stand = async (bend?: StandOptions['bend']) => {
    const opened = await openStand(named, bend ? { bend } : {});
    try {
      const { breaches } = await opened.verify({ only: ['resources/missing'], timeMs: 600_000 });
      return [...new Set(breaches.map(({ reason }) => reason))];
    } finally {
      await opened.close();
    }
  };
  assert.deepEqual(await stand(), []);
  assert.deepEqual(await stand(({ target }) => ({ target: target.toLowerCase() })), ['in other letters']);
});

test('each collection is looked for without the path of the base address', async () => {
  const below = document
    .replace('https://plays.example', 'https://plays.example/v1')
    .replace(
      'endpoints:\n',
      'endpoints:\n  GET /terms: { does: reply, as: terms, response: { 200: { shape: { type: object, properties: { days: integer } }, example: { days: 3 } } } }\n',
    )
    .replace('  permissions:\n', '  public: [terms]\n  permissions:\n');
  const reasons = async (bend?: StandOptions['bend']) => {
    const opened = await openStand(below, bend ? { bend } : {});
    try {
      const { breaches } = await opened.verify({ only: ['purpose/base address'], timeMs: 600_000 });
      return breaches.map(({ reason, found }) => `${reason}: ${found}`);
    } finally {
      await opened.close();
    }
  };
  assert.deepEqual(await reasons(), []);
  for (const path of ['/plays', '/terms']) {
    const found = await reasons(({ target }) => (target.startsWith(path) ? { target: `/v1${target}` } : {}));
    assert.equal(found.length, 1, `${path}: ${found.join('; ')}`);
  }
});

test('what a header of its own tells to be left of a rate is left', async () => {
  const limited = document.replace(
    'limits: { rate: none,',
    'limits: { rate: [{ per: caller, on: [create play], limit: 4, window: 1m }], headers: { remaining: X-Left },',
  );
  const left = async (spoil?: StandOptions['spoil']) => {
    const opened = await openStand(
      limited.replace('    late:', '    hurried: { status: 429, when: limit.rate }\n    late:'),
      spoil ? { spoil } : {},
    );
    try {
      const { breaches, facts } = await opened.verify({ only: ['limits/rates'], timeMs: 600_000 });
      const looks = facts.find(({ kind }) => kind === 'rate limits')?.evidence?.looks ?? [];
      const isMet = looks.find(({ name }) => name === 'what is told to be left')?.isMet;
      return { isMet, reasons: [...new Set(breaches.map(({ reason }) => reason))] };
    } finally {
      await opened.close();
    }
  };
  assert.deepEqual(await left(), { isMet: true, reasons: [] });
  const more = await left(({ headers }) =>
    headers['x-left'] === undefined ? {} : { headers: { ...headers, 'x-left': String(Number(headers['x-left']) + 1) } },
  );
  assert.deepEqual(more.reasons, ['RateLimit']);
});
