import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { type Tried, tryService } from './serving/tried.ts';
import { reluctant } from './stores/reluctant.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(20, 30)) };

/** What a drawn document says of the lines of an order. */
interface Words {
  readonly least: number;
  readonly most: number;
  readonly isUnique: boolean;
  readonly isClients: boolean;
  readonly isTold: boolean;
}

const words: fc.Arbitrary<Words> = fc.record({
  least: fc.constantFrom(0, 0, 1),
  most: fc.integer({ min: 2, max: 5 }),
  isUnique: fc.boolean(),
  isClients: fc.boolean(),
  isTold: fc.boolean(),
});

function documentOf({ least, most, isUnique, isClients, isTold }: Words): string {
  return `
resources:
  order:
    identifier: { field: id, generate: client }
    fields:
      id: string
      note: string
      lines: { children: line.order, order: [position, id], minItems: ${least}, maxItems: ${most}, taken_by: [create, update, replace] }
      total: { type: integer, derive: "sum(line.order, item.position * item.weight)" }
      size: { type: integer, derive: "count(line.order)" }
      heavy: { type: boolean, derive: "exists(line.order, item.weight > 5)" }
    required: [id, lines, total, size, heavy]
  line:
    identifier: { field: id, generate: ${isClients ? 'client' : '"li_{ulid}"'} }
    fields:
      id: string
      order: { ref: order, immutable: true, onDelete: cascade }
      position: { type: integer, minimum: 1, maximum: 4 }
      weight: { type: integer, minimum: 0, default: 3 }
    required: [id, order, position, weight]
    ${isUnique ? 'unique: [[order, position]]' : ''}
states: { order: none, line: none }
endpoints:
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order, etag: strong }
  PATCH /orders/{id}: { does: update order }
  PUT /orders/{id}: { does: replace order }
  ${isTold ? 'GET /lines: { does: list line }' : ''}
authentication: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, reference.missing] }
    taken: { status: 409, when: resource.exists }
`;
}

/** One element of a list: which of the lines that there are it names, or none, and what it says of it. */
interface Element {
  readonly names: 'own' | 'foreign' | 'nobody' | 'none';
  readonly which: number;
  readonly position?: number;
  readonly weight?: number;
}

const element: fc.Arbitrary<Element> = fc.record(
  {
    names: fc.constantFrom('own', 'own', 'own', 'own', 'none', 'none', 'none', 'foreign', 'nobody'),
    which: fc.nat(4),
    position: fc.integer({ min: 1, max: 5 }),
    weight: fc.integer({ min: 0, max: 9 }),
  },
  { requiredKeys: ['names', 'which'] },
);

interface Deed {
  readonly method: 'PATCH' | 'PUT';
  readonly order: 'a' | 'b';
  readonly list?: readonly Element[];
}

const deed: fc.Arbitrary<Deed> = fc.record(
  {
    method: fc.constantFrom('PATCH', 'PUT'),
    order: fc.constantFrom('a', 'b'),
    list: fc.array(element, { maxLength: 4 }),
  },
  { requiredKeys: ['method', 'order'] },
);

interface Line {
  readonly id: string;
  readonly position: number;
  readonly weight: number;
}
type Lines = readonly Line[];

/** What is sent for an element. */
function sentOf(
  { names, which, position, weight }: Element,
  own: Lines,
  foreign: Lines,
  fresh: () => string,
  isClients: boolean,
) {
  const named = { own: own[which]?.id, foreign: foreign[which]?.id, nobody: 'li_nobody', none: undefined }[names];
  const id = named ?? (isClients ? fresh() : undefined);
  return {
    ...(id !== undefined && { id }),
    ...(position !== undefined && { position }),
    ...(weight !== undefined && { weight }),
  };
}

type Sent = ReturnType<typeof sentOf>;

/** What the lines of an order become, by hand; nothing where the change is refused. `made` = a new one, whose identifier is not known yet. */
function become(
  list: readonly Sent[],
  own: Lines,
  others: Lines,
  { least, most, isUnique, isClients }: Words,
): Lines | undefined {
  if (list.length < least || list.length > most) return undefined;
  const ids = list.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length) return undefined;
  const isRight = ({ position, weight }: Partial<Line>) =>
    position !== undefined && position >= 1 && position <= 4 && (weight ?? 0) >= 0;
  let now = own.filter(({ id }) => ids.includes(id));
  const isFree = (id: string, position: number) => !isUnique || now.every((one) => one.id === id || one.position !== position);
  for (const { id, ...rest } of list) {
    const known = own.find((one) => one.id === id);
    if (!known) continue;
    const next = { ...known, ...rest };
    if (!isRight(next) || !isFree(known.id, next.position)) return undefined;
    now = now.map((one) => (one.id === id ? next : one));
  }
  for (const { id, position, weight = 3 } of list) {
    if (own.some((one) => one.id === id)) continue;
    const isTaken = id !== undefined && (!isClients || others.some((one) => one.id === id));
    if (isTaken || position === undefined || !isRight({ position, weight }) || !isFree('', position)) return undefined;
    now = [...now, { id: id ?? 'made', position, weight }];
  }
  return now;
}

/** Lines without the identifiers that the service made. */
function seen(lines: Lines, before: Lines): readonly unknown[] {
  const told = lines.map(({ id, position, weight }) => [before.some((one) => one.id === id) ? id : 'made', position, weight]);
  return told.map((one) => JSON.stringify(one)).sort();
}

async function follows(said: Words, deeds: readonly Deed[], store: Store): Promise<void> {
  const service: Tried = await tryService(documentOf(said), { store });
  const { send } = service;
  const read = async (id: string) => (await send('GET', `/orders/${id}`)).json as unknown as { lines: Lines; total: number };
  let count = 0;
  const fresh = () => `li_${++count}`;
  const first = () => ({ position: 1, weight: 1, ...(said.isClients && { id: fresh() }) });
  for (const id of ['a', 'b']) await send('POST', '/orders', { body: { id, lines: [first()] } });
  for (const { method, order, list } of deeds) {
    const [before, other] = [await read(order), await read(order === 'a' ? 'b' : 'a')];
    const sent = list?.map((one) => sentOf(one, before.lines, other.lines, fresh, said.isClients));
    const { status, json } = await send(method, `/orders/${order}`, { body: { ...(sent && { lines: sent }) } });
    const isKept = sent === undefined && method === 'PATCH';
    const isLacking = sent === undefined && method === 'PUT';
    const next = isKept ? before.lines : isLacking ? undefined : become(sent ?? [], before.lines, other.lines, said);
    const now = await read(order);
    assert.equal(status === 200, next !== undefined, `${method} ${JSON.stringify(sent)}: ${JSON.stringify(json)}`);
    if (next === undefined) assert.deepEqual(now, before);
    else {
      const known = [...before.lines, ...next];
      assert.deepEqual(seen(now.lines, known), seen(next, known));
      assert.deepEqual(json, now);
    }
    const sum = now.lines.reduce((all, { position, weight }) => all + position * weight, 0);
    const heavy = now.lines.some(({ weight }) => weight > 5);
    assert.deepEqual({ ...now, total: sum, size: now.lines.length, heavy }, now);
    assert.deepEqual(await read(order === 'a' ? 'b' : 'a'), other);
  }
  if (said.isTold) {
    const all = (await send('GET', '/lines')).json as unknown as Lines;
    assert.equal(all.length, (await read('a')).lines.length + (await read('b')).lines.length);
  }
  assert.deepEqual(service.failures, []);
  await service.close();
}

test('after any changes of orders with their lines the rows are those of a model, and what was refused changed nothing', async () => {
  const law = fc.asyncProperty(
    words,
    fc.array(deed, { minLength: 2, maxLength: 8 }),
    fc.boolean(),
    async (said, deeds, isWaiting) => {
      const store = openSqlite(':memory:');
      await follows(said, deeds, isWaiting ? reluctant(store) : store);
    },
  );
  await fc.assert(law, runs);
});
