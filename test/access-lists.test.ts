import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caller, type ToldService, tellService } from './serving/callers.ts';

/**
 * A list shows the rows for which a rule allowing that list holds. The same condition stands in a rule for reading, which is
 * evaluated over each row, so the two have to agree: one row after the other in the language, all at once in the database.
 */
const conditions: readonly string[] = [
  'resource.owner == caller.id',
  'resource.owner != caller.id',
  '!(resource.owner == caller.id)',
  'caller.id == resource.owner || resource.open',
  'resource.open',
  '!resource.open',
  'resource.open == false',
  'resource.size > 2 && resource.size <= 4',
  'resource.weight >= 1.5',
  'has(resource.note)',
  '!has(resource.note) || resource.note == caller.id',
  'has(resource.note) ? resource.note == caller.id : resource.open',
  'has(resource.home)',
  'has(resource.home) && resource.home.city == caller.id',
  'resource.made_at < now',
  "resource.made_at >= timestamp('2026-06-01T09:00:00Z')",
  "resource.email == 'Ann@Example.org'",
  "resource.price == '1.50'",
  "resource.owner in ['ann', 'bob']",
  'resource.owner in caller.scopes',
  'caller.id in [resource.owner, resource.group]',
  "resource.owner.startsWith('a')",
  'resource.owner.contains(caller.id)',
  'resource.group == resource.owner',
  'resource.box.owner == caller.id',
  'resource.box.shelf.owner == caller.id',
  'has(resource.lid) && resource.lid.owner == caller.id',
  'has(resource.number) && resource.number.owner == caller.id',
  'resource.seen > 1780304400',
  "caller.user == 'clerk'",
  "caller.id == 'ann'",
  'caller.claims.level > 3.0',
  'caller.claims.level > 3.0 || resource.open',
  'resource.constructor == caller.id',
  'has(find(member, { box: resource.box, user: caller.id }))',
  '!has(find(member, { box: resource.box, user: caller.id }))',
  "has(find(member, { box: resource.box, user: caller.id }).role) && find(member, { box: resource.box, user: caller.id }).role in ['write', 'admin']",
  'has(find(member, { user: caller.id, box: resource.box })) && find(member, { box: resource.box, user: caller.id }).level >= 2',
  'has(find(member, { box: resource.box, user: caller.id })) && find(member, { box: resource.box, user: caller.id }).box.owner == caller.id',
  'has(find(member, { box: resource.box, user: resource.owner })) && resource.open',
  "has(find(member, { box: 'b1', user: resource.owner }))",
  'has(find(keeper, { shelf: resource.box.shelf, user: caller.id }))',
  'has(resource.number) && has(find(holder, { token: resource.number, user: caller.id }))',
  'has(find(holder, { token: 1, user: resource.owner })) || resource.open',
  'has(find(box, { id: resource.box })) && find(box, { id: resource.box }).owner == caller.id',
  "has(find(shelf, { id: 's1' }).owner) && find(shelf, { id: 's1' }).owner == caller.id",
  'has(resource.note) && has(find(keeper, { shelf: resource.note, user: caller.id }))',
  'caller.id in [resource.owner] || has(find(ranked, { rank: resource.size, open: resource.open }))',
].map((condition) => condition.replace('resource.seen > 1780304400', 'resource.seen > now'));

const documentWith = (condition: string) => `
purpose: { purpose: Keeps things., users: { clerk: Keeps., guest: Looks. } }
resources:
  shelf: { identifier: { field: id, generate: client }, fields: { id: string, owner: string }, required: [id, owner] }
  box: { identifier: { field: id, generate: client }, fields: { id: string, owner: string, shelf: { ref: shelf, onDelete: restrict } }, required: [id, owner, shelf] }
  member:
    identifier: { field: id, generate: "m_{ulid}" }
    fields: { id: string, box: { ref: box, onDelete: cascade }, user: string, role: string, level: integer }
    required: [id, box, user, level]
    unique: [[box, user]]
  keeper:
    identifier: { field: id, generate: "k_{ulid}" }
    fields: { id: string, shelf: { ref: shelf, onDelete: cascade }, user: string }
    required: [id, shelf, user]
    unique: [[user, shelf]]
  holder:
    identifier: { field: id, generate: "h_{ulid}" }
    fields: { id: string, token: { ref: token, onDelete: cascade }, user: string }
    required: [id, token, user]
    unique: [[token, user]]
  ranked:
    identifier: { field: id, generate: "r_{ulid}" }
    fields: { id: string, rank: integer, open: boolean }
    required: [id, rank, open]
    unique: [[rank, open]]
  token: { identifier: { field: id, generate: integer }, fields: { id: integer, owner: string }, required: [id, owner] }
  thing:
    identifier: { field: id, generate: client }
    fields:
      id: string
      owner: string
      group: string
      constructor: string
      open: boolean
      size: integer
      weight: number
      note: string
      email: { type: string, format: email, ignore_case: true }
      price: { type: string, format: decimal }
      made_at: { type: string, format: date-time }
      seen: { type: integer, format: unix-time }
      home: { type: object, properties: { city: string }, required: [city] }
      box: { ref: box, onDelete: restrict }
      lid: { ref: box, onDelete: restrict }
      number: { ref: token, onDelete: restrict }
    required: [id, owner, group, constructor, open, size, weight, email, price, made_at, seen, box]
endpoints:
  GET /things: { does: list thing }
  GET /things/{id}: { does: read thing }
authentication:
  schemes: { key: { type: api_key, header: X-API-Key, generate: "k_{random:32}" } }
  permissions: [{ allow: [list thing, read thing], to: [clerk, guest], if: ${JSON.stringify(condition)} }]
limits: { pagination: { style: cursor, cursor: cursor, size: limit, default: 5, max: 50, items: data, next: next, total: total } }
`;

const callers = [
  caller('clerk', 'ann', ['cas', 'dan']),
  caller('guest', 'bob'),
  { ...caller('guest', 'Delft'), claims: { level: 4 } },
  { ...caller('guest', 'zed'), claims: {} },
];

const owners = ['ann', 'bob', 'cas', 'dan', 'Delft', 'anna'];
const prices = ['1.50', '1.5', '2'];
const times = [
  '2026-06-01T09:00:00Z',
  '2026-06-01T10:59:59.999+02:00',
  '2027-01-01T00:00:00.000Z',
  '2026-06-01T08:59:59.999999Z',
];

function ownerOf(n: number): string {
  return owners[n % owners.length] as string;
}

const things = Array.from({ length: 24 }, (_, n) => ({
  id: `t${n}`,
  owner: ownerOf(n),
  group: ownerOf(n * 5),
  constructor: ownerOf(n + 3),
  open: n % 3 === 0,
  size: n % 5,
  weight: n / 8,
  ...(n % 4 !== 0 && { note: ownerOf(n + 1) }),
  email: n % 2 === 0 ? 'Ann@Example.org' : 'ann@example.org',
  price: prices[n % 3] as string,
  made_at: times[n % 4] as string,
  seen: 1780304400 + (n % 3) - 1,
  ...(n % 2 === 1 && { home: { city: ownerOf(n + 4) } }),
  box: `b${n % 4}`,
  ...(n % 5 === 0 && { lid: `b${(n + 1) % 4}` }),
  ...(n % 7 === 0 && { number: 1 }),
}));
const rows = {
  shelf: [
    { id: 's0', owner: 'ann' },
    { id: 's1', owner: 'bob' },
  ],
  box: [0, 1, 2, 3].map((n) => ({ id: `b${n}`, owner: ownerOf(n), shelf: `s${n % 2}` })),
  member: [
    { id: 'm1', box: 'b0', user: 'ann', role: 'admin', level: 3 },
    { id: 'm2', box: 'b1', user: 'ann', role: 'read', level: 2 },
    { id: 'm3', box: 'b1', user: 'bob', role: 'write', level: 1 },
    { id: 'm4', box: 'b2', user: 'ann', level: 1 },
    { id: 'm5', box: 'b3', user: 'Delft', level: 9 },
  ],
  keeper: [
    { id: 'k1', shelf: 's0', user: 'ann' },
    { id: 'k2', shelf: 's1', user: 'Delft' },
  ],
  holder: [{ id: 'h1', token: 1, user: 'bob' }],
  ranked: [
    { id: 'r1', rank: 2, open: true },
    { id: 'r2', rank: 3, open: false },
  ],
  token: [{ id: 1, owner: 'bob' }],
  thing: things,
};

for (const condition of conditions) {
  test(`the database chooses the rows for which this holds: ${condition}`, async () => {
    const service = await tellService(documentWith(condition), { rows });
    try {
      for (const who of callers) {
        const readable = [];
        for (const { id } of things) if ((await service.as(who, 'GET', `/things/${id}`)).status === 200) readable.push(id);
        assert.deepEqual(await listed(service, who), readable, `${who.user} ${who.id}`);
      }
      assert.deepEqual(service.failures, []);
    } finally {
      await service.close();
    }
  });
}

/** All that a list shows, page by page: each full but the last, with the total of what this caller sees. */
async function listed(service: ToldService, who: (typeof callers)[number]): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, text, json } = await service.as(who, 'GET', `/things?limit=5${cursor}`);
    assert.equal(status, 200, text);
    const page = json as { data: { id: string }[]; next: string | null; total: number };
    ids.push(...page.data.map(({ id }) => id));
    if (page.next === null) {
      assert.equal(page.total, ids.length);
      return ids;
    }
    assert.equal(page.data.length, 5, 'a page is full where more follow');
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
}

test('a cursor is bound to what its caller may see', async () => {
  const service = await tellService(documentWith('resource.owner == caller.id || resource.made_at < now'), { rows });
  const [ann, bob] = [caller('clerk', 'ann'), caller('guest', 'bob')];
  const { next } = (await service.as(ann, 'GET', '/things')).json as { next: string };
  const target = `/things?cursor=${encodeURIComponent(next)}`;
  service.clock.advance(60_000);
  assert.equal((await service.as(ann, 'GET', target)).status, 200, 'the clock goes on between two pages');
  assert.equal((await service.as(bob, 'GET', target)).status, 400);
  await service.close();
});
