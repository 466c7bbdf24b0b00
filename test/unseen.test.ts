import assert from 'node:assert/strict';
import { test } from 'node:test';
import { movableClock, parseDocument, type Service, serve } from '../src/index.ts';
import { times } from './long.ts';

/**
 * What a caller may not see changes not one byte of any answer: of a drawn document two services are started whose rows differ in nothing but
 * what the caller may not read, and whatever it asks, with whatever it is refused, comes alike. Cursors are opaque, and followed.
 * `NINEFOLD_COMPARISONS=1000000` compares so often, `NINEFOLD_SEED=900` begins with another document, where an earlier run ended.
 */
type Row = Readonly<Record<string, string | number | boolean>>;
type Rows = Readonly<Record<string, readonly Row[]>>;

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A document as it is drawn, and which rows the caller `me`, a member, may read by it. */
interface Drawn {
  readonly text: string;
  readonly maySee: (box: Row) => boolean;
  /** Whether it may see the note of a box that it may see. */
  readonly seesNote: (box: Row) => boolean;
}

function drawDocument(draw: () => number): Drawn {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  const rule = pick([
    { if: 'resource.owner == caller.id', maySee: (box: Row) => box.owner === 'me' },
    { if: 'resource.owner == caller.id || resource.shared', maySee: (box: Row) => box.owner === 'me' || box.shared === true },
    { if: 'resource.level < 3', maySee: (box: Row) => Number(box.level) < 3 },
    { if: 'resource.shared && resource.level != 2', maySee: (box: Row) => box.shared === true && box.level !== 2 },
  ]);
  const hidden = pick(['visible: [keeper]', 'writeOnly: true', 'visible: none']);
  const style = pick([
    'style: cursor, cursor: cursor, size: limit, default: 3, max: 5',
    'style: page, page: page, size: limit, default: 3, max: 5',
    'style: offset, offset: offset, size: limit, default: 3, max: 5',
  ]);
  const order = pick(['order: name', 'order: -level', 'order: [level, -name]', '']);
  const acts = pick(['', ', in: [new]']);
  const total = pick([', total: total', '']);
  const etag = pick(['etag: strong', 'etag: weak']);
  const show = pick(['', ', show: expand']);
  // Rules that show some fields, alone and beside one that shows all.
  const narrow = pick([
    { fields: '', more: '', seesNote: () => true },
    { fields: ', fields: [owner, name, level, shared, status]', more: '', seesNote: () => false },
    {
      fields: ', fields: [name, owner, status]',
      more: '\n    - { allow: [list box, read box], to: member, if: "resource.owner == caller.id && resource.level < 3" }',
      seesNote: (box: Row) => box.owner === 'me' && Number(box.level) < 3,
    },
  ]);
  return {
    maySee: (box) => rule.maySee(box) || (narrow.more !== '' && narrow.seesNote(box)),
    seesNote: narrow.seesNote,
    text: `title: Boxes
purpose: { purpose: Keeps boxes., base_url: none, users: { member: Has some., keeper: Has all. }, functions: none }
resources:
  box:
    identifier: { field: id, generate: client }
    fields:
      id: string
      owner: string
      name: string
      level: integer
      shared: boolean
      note: string
      secret: { type: string, ${hidden} }
      status: { type: string, readOnly: true }
    required: [id, owner, name, level, shared, status]
  card:
    identifier: { field: id, generate: client }
    fields: { id: string, box: { ref: box, onDelete: cascade${show} }, text: string }
    required: [id, box, text]
states:
  box: { field: status, initial: new, states: [new, shut], transitions: { shut: new -> shut } }
  card: none
endpoints:
  GET /boxes: { does: list box, parameters: { name: { in: query }, note: { in: query }, level: { in: query }, least: { in: query, type: integer, filters: level, op: ">=" } }${order && `, ${order}`} }
  GET /boxes/{id}: { does: read box, ${etag} }
  PATCH /boxes/{id}: { does: update box, if_match: accepted${acts} }
  DELETE /boxes/{id}: { does: delete box, if_match: accepted }
  POST /boxes/{id}/shut: { does: shut box }
  GET /boxes/{box}/cards: { does: list card, as: cards of a box }
  POST /boxes/{box}/cards: { does: create card, as: add a card }
  POST /cards: { does: create card }
  GET /cards: { does: list card }
  GET /cards/{id}: { does: read card, ${etag} }
authentication:
  schemes: { key: { type: api_key, header: X-Key, placeholder: "{key}" } }
  permissions:
    - { allow: [list box, read box, update box, delete box, shut box], to: member, if: "${rule.if}"${narrow.fields} }${narrow.more}
    - { allow: [create card, add a card], to: member }
    - { allow: [cards of a box, list card, read card], to: member, if: "${rule.if.replaceAll('resource.', 'resource.box.')}" }
    - { allow: [all box, all card], to: keeper }
events: none
errors: { payload: problem, codes: none }
limits: { rate: none, size: none, timeout: none, quota: none, pagination: { ${style}, items: data, next: next${total} } }
versioning: { versions: none }
`,
  };
}

const letters = 'abcdef';

/** Rows for both, which differ in what the caller may not see. */
function drawRows(draw: () => number, { maySee, seesNote }: Drawn): readonly [Rows, Rows] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  const boxOf = (id: string): Row => ({
    id,
    owner: pick(['me', 'you', 'they']),
    name: pick([...letters]) + pick([...letters]),
    level: Math.floor(draw() * 5),
    shared: draw() < 0.5,
  });
  const worlds: [Row[], Row[]] = [[], []];
  const cards: [Row[], Row[]] = [[], []];
  for (let at = 0; at < 14; at++) {
    const box = boxOf(`b${at}`);
    const seen = maySee(box);
    for (const [world, list] of worlds.entries()) {
      const secret = `s${Math.floor(draw() * 1000)}`;
      let own: Row = { ...box, secret, note: seesNote(box) ? 'same' : `n${Math.floor(draw() * 3)}` };
      if (!seen) {
        if (world === 1 && draw() < 0.4) continue;
        if (world === 1)
          do own = { ...boxOf(box.id as string), secret, note: 'other' };
          while (maySee(own));
      }
      list.push(own);
      const count = seen ? at % 3 : Math.floor(draw() * 4);
      for (let card = 0; card < count; card++)
        (cards[world] as Row[]).push({ id: `c${at}-${card}`, box: box.id as string, text: seen ? `text ${card}` : `${draw()}` });
    }
  }
  return [
    { box: worlds[0], card: cards[0] },
    { box: worlds[1], card: cards[1] },
  ];
}

/** Starts a service whose chance begins anew with each request, so that what both draw is the same. */
async function startWorld(text: string, rows: Rows) {
  let drawn = 0;
  const next = (): number => {
    drawn += 1;
    return drawn;
  };
  const chance = {
    bytes: (length: number) => Uint8Array.from({ length }, () => (next() * 31) % 251),
    uuid: () => `00000000-0000-4000-8000-${String(next()).padStart(12, '0')}`,
  };
  const failures: unknown[] = [];
  const service: Service = await serve(parseDocument(text, 'boxes.yaml'), {
    clock: movableClock(Date.parse('2026-06-01T09:00:00Z')),
    chance,
    rows,
    identify: ({ headers }) =>
      headers['x-who'] === undefined ? undefined : { user: 'member', id: String(headers['x-who']), scopes: [] },
    onFailure: (failure) => failures.push(failure),
  });
  return {
    service,
    failures,
    async ask({ method, path, body, headers }: Asked): Promise<{ readonly told: string; readonly next: unknown }> {
      drawn = 0;
      const answer = await service.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: { 'x-who': 'me', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      );
      const text = await answer.text();
      let next: unknown;
      const masked = text.replace(/"next":("[^"]*"|\d+)/, (_all, value: string) => {
        next = JSON.parse(value);
        return typeof next === 'string' ? `"next":${next.length}` : `"next":${value}`;
      });
      return { told: `${answer.status} ${JSON.stringify([...answer.headers])} ${masked}`, next };
    },
  };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

function drawAsked(draw: () => number, isSeen: ReadonlySet<string>): Asked {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  const box = `b${Math.floor(draw() * 16)}`;
  const card = `c${Math.floor(draw() * 16)}-${Math.floor(draw() * 4)}`;
  const query = pick([
    '',
    '?limit=2',
    '?limit=5',
    '?name=ab',
    '?level=2',
    '?least=2',
    '?limit=0',
    '?limit=9',
    '?secret=s1',
    '?note=n1',
    '?page=2',
    '?offset=2',
  ]);
  const match = pick([{}, {}, { 'if-match': '"x"' }, { 'if-match': '*' }, { 'if-none-match': '*' }] as Record<string, string>[]);
  const body = pick([{}, { name: 'zz' }, { level: 'no' }, { secret: 's1' }, { owner: 1 }, { nothing: 1 }]);
  // What is seen is not changed, so that both stay as they are; what is not seen may be asked to change in every way.
  const isChange = !isSeen.has(box);
  return pick<Asked>([
    { method: 'GET', path: `/boxes${query}` },
    { method: 'GET', path: `/boxes/${box}`, headers: match },
    { method: 'GET', path: `/cards${query}` },
    { method: 'GET', path: `/cards/${card}`, headers: match },
    { method: 'GET', path: `/boxes/${box}/cards${query}` },
    ...(isChange
      ? [
          { method: 'PATCH', path: `/boxes/${box}`, body, headers: match },
          { method: 'DELETE', path: `/boxes/${box}`, headers: match },
          { method: 'POST', path: `/boxes/${box}/shut` },
          { method: 'POST', path: `/boxes/${box}/cards`, body: { id: 'new', text: 'x' } },
          { method: 'POST', path: '/cards', body: { id: 'new', box, text: 'x' } },
        ]
      : []),
  ]);
}

test('what a caller may not see changes not one byte of any answer', async () => {
  const wanted = Number(process.env.NINEFOLD_COMPARISONS ?? times(700, 5_000));
  const first = Number(process.env.NINEFOLD_SEED ?? 1);
  let compared = 0;
  for (let seed = first; compared < wanted; seed++) {
    if (process.env.NINEFOLD_COMPARISONS && (seed - first) % 50 === 0) console.log(`seed ${seed}: ${compared} compared`);
    const draw = chanceOf(seed);
    const document = drawDocument(draw);
    const [here, there] = drawRows(draw, document);
    const isSeen = new Set((here.box ?? []).filter(document.maySee).map(({ id }) => String(id)));
    const worlds = [await startWorld(document.text, here), await startWorld(document.text, there)] as const;
    const compare = async (asked: Asked) => {
      const [one, other] = [await worlds[0].ask(asked), await worlds[1].ask(asked)];
      compared += 1;
      assert.equal(other.told, one.told, `seed ${seed}: ${asked.method} ${asked.path}\n${document.text}`);
      return [one.next, other.next];
    };
    for (let at = 0; at < 400; at++) {
      const asked = drawAsked(draw, isSeen);
      let [one, other] = await compare(asked);
      for (let page = 0; page < 3 && typeof one === 'string' && typeof other === 'string'; page++) {
        const path = (cursor: unknown) =>
          `${asked.path}${asked.path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(String(cursor))}`;
        const [here, there] = [
          await worlds[0].ask({ ...asked, path: path(one) }),
          await worlds[1].ask({ ...asked, path: path(other) }),
        ];
        compared += 1;
        assert.equal(there.told, here.told, `seed ${seed}: the next page of ${asked.path}`);
        [one, other] = [here.next, there.next];
      }
    }
    for (const { service, failures } of worlds) {
      assert.deepEqual(failures, []);
      await service.close();
    }
  }
});
