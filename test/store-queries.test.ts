import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Condition, FoundRow, Operand, QuerySpec, Scalar, Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { engines, noRows, row, table } from './store-engines.ts';

/** A stored row as the model knows it. */
interface Known {
  readonly id: string;
  readonly seq: number;
  readonly columns: Readonly<Record<string, Scalar>>;
}

const names = ['n', 'r', 't', 'up'] as const;
const things = table('thing', ['n:integer', 'r:real', 't:text', 'up:text'], {
  indexes: [['n'], ['t', { column: 'n', descending: true }], ['r', 't']],
});
const texts = ['', 'a', 'ab', 'B', 'a\0b', 'a\0', 'é', '\uffee', '😀', '%', 'a_', 'a\u{10ffff}b'];
const columns = fc.record({
  n: fc.constantFrom(null, -1, 0, 1, 2, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  r: fc.constantFrom(null, -0.5, 0, 0.1, 1e300),
  t: fc.constantFrom(null, ...texts),
  up: fc.constantFrom(null, '0', '1', '2', 'gone'),
});

for (const engine of engines) {
  const it = (name: string, body: (store: Store) => Promise<void>) =>
    test(`${engine.name}: ${name}`, async (context) => {
      const { store } = await engine.open(context);
      await store.prepare([things], noRows);
      await body(store);
    });

  it('the numbers of very many rows are told in their order, whole and in parts', async (store) => {
    const count = 2_345;
    await Promise.all(
      Array.from({ length: Math.ceil(count / 50) }, (_, at) =>
        store.change((tx) => {
          for (let n = 50 * at; n < Math.min(count, 50 * at + 50); n++)
            tx.insert('thing', row(`${n}`, n % 7, null, `t${n % 3}`, null));
        }),
      ),
    );
    const query: QuerySpec = {
      table: 'thing',
      where: { op: '=', left: { column: 't' }, right: { param: 0 } },
      order: [{ column: 'n', descending: true }],
    };
    const [shown, whole, parts, none] = await store.read((rows) => {
      const all = rows.all(query, ['t1']).map(({ seq }) => seq);
      const numbers = rows.numbers(query, ['t1']);
      const cut = [0, 300, 999, 1000, 1001].flatMap((from, at, every) => numbers.slice(from, every[at + 1] ?? Infinity));
      return [all, [...numbers.slice(0, numbers.length)], cut, rows.numbers(query, ['nothing']).length];
    });
    assert.equal(shown.length, 782);
    assert.deepEqual(whole, shown);
    assert.deepEqual(parts, shown);
    assert.equal(none, 0);
  });

  it('pages continue where the last one ended, neither skipping nor repeating, while others write', async (store) => {
    const order = fc.array(fc.record({ column: fc.constantFrom('n', 'r', 't', 'id'), descending: fc.boolean() }), {
      maxLength: 3,
    });
    const between = fc.array(fc.oneof(columns, fc.nat(30)), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(columns, { maxLength: 25 }),
        order,
        fc.boolean(),
        fc.option(fc.record({ op: fc.constantFrom('=', '=', '>=', 'prefix'), text: fc.constantFrom('a', 'é') }), {
          nil: undefined,
        }),
        fc.array(fc.record({ most: fc.integer({ min: 1, max: 7 }), between }), { minLength: 1, maxLength: 8 }),
        async (rows, order, newestFirst, filter, pages) => {
          const known = await fill(store, rows);
          // fast-check widens the literal words to string.
          const where = (
            filter ? { op: filter.op, left: { column: 't' }, right: { value: filter.text } } : { op: 'true' }
          ) as Condition;
          const spec: QuerySpec = { table: 'thing', where, order, newestFirst, keys: true, limit: 0, offset: 1 };
          const lean: QuerySpec = { ...spec, lean: true };
          const next = { spec: { ...spec, after: 2 }, lean: { ...lean, after: 2 } };
          let last: FoundRow | undefined;
          for (let turn = 0; ; turn++) {
            const { most, between } = pages[turn % pages.length]!;
            const asked = last ? next : { spec, lean };
            const after: Scalar[] = last ? [...(last.keys ?? []), last.seq] : [];
            const [found, texts, whole, joined, following, numbers, some] = await store.read((reader) => [
              reader.all(asked.spec, [most, 0, ...after]),
              reader.all(asked.lean, [most, 0, ...after]),
              reader.joined(asked.spec, [most, 0, ...after], true),
              reader.joined(asked.lean, [most, 0, ...after], turn % 2 === 0),
              reader.all(asked.spec, [1, most, ...after]),
              reader.numbers(asked.spec, [most, 0, ...after]),
              reader.among(
                asked.spec,
                [most, 0, ...after],
                known.filter((_, at) => at % 2 === 0).map(({ seq }) => seq),
              ),
            ]);
            const model = known
              .filter(({ columns: { t } }) => !filter || (t !== null && tested(filter.op, t!, filter.text)))
              .sort((a, b) => compare(order, newestFirst, a, b));
            assert.deepEqual(
              numbers.slice(0, numbers.length),
              model.map(({ seq }) => seq),
            );
            assert.deepEqual(
              some.map(({ id }) => id),
              model.filter((one) => known.indexOf(one) % 2 === 0).map(({ id }) => id),
            );
            const place: Known | undefined = last && { id: last.id, seq: last.seq, columns: keysOf(order, last.keys ?? []) };
            const expected = model.filter((one) => !place || compare(order, newestFirst, place, one) < 0).slice(0, most);
            assert.deepEqual(
              found.map(({ id }) => id),
              expected.map(({ id }) => id),
            );
            assert.deepEqual(
              texts,
              found.map(({ seq, doc, keys }) => ({ id: '', seq, rev: 0, entered: 0, doc, keys })),
            );
            for (const { docs, isMore } of [whole, joined]) {
              assert.equal(docs, found.map(({ doc }) => doc).join(','));
              assert.equal(isMore, following.length > 0);
            }
            if (following.length > 0) {
              assert.deepEqual([whole.last?.id, whole.last?.keys], [found.at(-1)?.id, found.at(-1)?.keys]);
              assert.deepEqual([joined.last?.seq, joined.last?.keys], [found.at(-1)?.seq, found.at(-1)?.keys]);
            }
            assert.deepEqual([whole.first?.id, whole.first?.seq], [found[0]?.id, found[0]?.seq]);
            if (turn % 2 === 0) assert.deepEqual([joined.first?.seq, joined.first?.keys], [found[0]?.seq, found[0]?.keys]);
            for (const [index, { keys }] of found.entries()) {
              assert.deepEqual(
                keys,
                order.map(({ column }) => cell(expected[index]!, column)),
              );
            }
            if (found.length < most) break;
            last = found.at(-1);
            for (const step of turn < 20 ? between : []) {
              if (typeof step === 'object') known.push(await add(store, step));
              else if (known.length > 0) await drop(store, known, step % known.length);
            }
          }
        },
      ),
      { numRuns: times(50, 120) },
    );
  });

  it('a condition finds the rows for which it is true, and an absent value is neither true nor false', async (store) => {
    const operand = (depth: number): fc.Arbitrary<Operand> => {
      const leaf = fc.oneof(
        fc.constantFrom(...names).map((column) => ({ column })),
        fc.nat(3).map((param) => ({ param })),
      );
      if (depth === 0) return leaf;
      return fc.oneof(
        leaf,
        operand(depth - 1).map((then) => ({ via: 'up', table: 'thing', then }) as Operand),
      );
    };
    const text: fc.Arbitrary<Operand> = fc.oneof(
      fc.constant({ column: 't' }),
      // biome-ignore lint/suspicious/noThenProperty: the contract's word, and never a function
      fc.constant({ via: 'up', table: 'thing', then: { column: 't' } }),
      fc.constantFrom(...texts, null).map((value) => ({ value })),
    );
    const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
      condition: fc.oneof(
        { maxDepth: 3 },
        fc.record({ op: fc.constantFrom('=', '!=', '<', '<=', '>', '>='), left: text, right: text }),
        fc.record({ op: fc.constantFrom('prefix', 'contains'), left: text, right: text }),
        fc.record({ op: fc.constant('in'), left: text, right: fc.constant({ param: 4 }) }),
        fc.record({ op: fc.constant('absent'), of: operand(2) }),
        fc.record({ op: fc.constantFrom('true', 'false') }),
        fc.record({ op: fc.constant('not'), of: tie('condition') }),
        fc.record({ op: fc.constant('some'), table: fc.constant('thing'), by: fc.constant({ to: 'up' }), of: tie('condition') }),
        fc.record({
          op: fc.constant('some'),
          table: fc.constant('thing'),
          by: fc.constant({ from: 'up' }),
          of: tie('condition'),
        }),
        fc.record({ op: fc.constantFrom('and', 'or'), of: fc.array(tie('condition'), { maxLength: 3 }) }),
        // Every branch above is a form of Condition; fast-check widens their literal words to string.
      ) as fc.Arbitrary<Condition>,
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(columns, { maxLength: 12 }), condition, async (rows, where) => {
        const known = await fill(store, rows);
        const params = ['a', null, 'é', 1, JSON.stringify(texts.slice(2, 6))];
        const expected = known.filter((one) => truth(known, one, where, params) === true).map(({ id }) => id);
        const query: QuerySpec = { table: 'thing', where };
        const found = await store.read((reader) => reader.all(query, params).map(({ id }) => id));
        assert.deepEqual(found, expected);
        assert.equal(await store.read((reader) => reader.count(query, params)), expected.length);
        assert.equal((await store.read((reader) => reader.numbers(query, params))).length, expected.length);
      }),
      { numRuns: times(100, 180) },
    );
  });

  it('a condition looks into an array: one of its scalars is such', async (store) => {
    const held = ['["a","é","A%"]', '["b"]', '[]', null, '["\\uffee","a\\"b"]', '[1,2.5,-3]'];
    await fill(
      store,
      held.map((t, n) => ({ n, r: null, t, up: null })),
    );
    const text: Operand = { item: 'text' };
    const found = (of: Condition, ...params: Scalar[]) =>
      store.read((reader) => {
        const where: Condition = {
          op: 'and',
          of: [
            { op: 'any', column: 't', of },
            { op: '!=', left: { column: 'n' }, right: { value: 5 } },
          ],
        };
        return reader
          .all({ table: 'thing', where }, params)
          .map(({ id }) => id)
          .join('');
      });
    assert.equal(await found({ op: '=', left: text, right: { param: 0 } }, 'a'), '0');
    assert.equal(await found({ op: '=', left: text, right: { param: 0 } }, 'a"b'), '4');
    assert.equal(await found({ op: 'in', left: text, right: { param: 0 } }, '["é","b"]'), '01');
    assert.equal(await found({ op: 'prefix', left: text, right: { param: 0 } }, 'A'), '0');
    assert.equal(await found({ op: 'contains', left: text, right: { param: 0 } }, '%'), '0');
    assert.equal(await found({ op: '>', left: text, right: { param: 0 } }, 'a'), '014');
    const number: Condition = { op: '>=', left: { item: 'real' }, right: { param: 0 } };
    const numbers: Condition = {
      op: 'and',
      of: [
        { op: '=', left: { column: 'n' }, right: { value: 5 } },
        { op: 'any', column: 't', of: number },
      ],
    };
    const counted = async (least: number): Promise<number> =>
      store.read((reader) => reader.count({ table: 'thing', where: numbers }, [least]));
    assert.equal(await counted(2.5), 1);
    assert.equal(await counted(3), 0);
  });

  it('integers keep their 64 bits, in order and in what is found', async (store) => {
    const big = [-(2n ** 63n), -(2n ** 53n) - 1n, -5, 0, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
    await store.change((tx) => [...big].reverse().map((n) => tx.insert('thing', row(String(n), n, null, null, null))));
    const found = await store.read((reader) => reader.all({ table: 'thing', order: [{ column: 'n' }], keys: true }, []));
    assert.deepEqual(
      found.map(({ keys }) => keys),
      big.map((n) => [n]),
    );
    for (const n of big) {
      const where: Condition = { op: '=', left: { column: 'n' }, right: { param: 0 } };
      assert.deepEqual(await store.read((reader) => reader.all({ table: 'thing', where }, [n]).map(({ id }) => id)), [String(n)]);
    }
  });

  it('an offset skips, a list holds any number of values, and seq sets the direction of creation order', async (store) => {
    await fill(
      store,
      [0, 1, 2, 3, 4].map((n) => ({ n: n % 2, r: null, t: null, up: null })),
    );
    const found = (query: Omit<QuerySpec, 'table'>, ...params: Scalar[]) =>
      store.read((reader) =>
        reader
          .all({ table: 'thing', ...query }, params)
          .map(({ id }) => id)
          .join(''),
      );
    assert.equal(await found({ limit: 0, offset: 1 }, 2, 3), '34');
    assert.equal(await found({ offset: 0 }, 2), '234');
    assert.equal(await found({ order: [{ column: 'n' }, { column: 'seq', descending: true }] }), '42031');
    assert.equal(await found({ order: [{ column: 'seq', descending: true }] }), '43210');
    const many = JSON.stringify([...Array(40000).keys()]);
    assert.equal(await found({ where: { op: 'in', left: { column: 'n' }, right: { param: 0 } } }, many), '01234');
    const last = await store.read((reader) => reader.get('thing', '0'));
    assert.equal(await found({ order: [{ column: 'n' }], after: 2, limit: 0, offset: 1 }, 2, 1, 0, last!.seq), '41');
  });

  it('an order by very many columns continues too', async (store) => {
    const count = 40;
    const wide = table(
      'wide',
      Array.from({ length: count }, (_, at) => `c${at}:integer`),
    );
    await store.prepare([wide], noRows);
    // Equal in all columns but one, a later one each time; every third value is absent.
    const values = (n: number): Scalar[] => Array.from({ length: count }, (_, at) => (at % 3 === 0 ? null : at > n ? 1 : 0));
    await store.change((tx) => Array.from({ length: count }, (_, n) => tx.insert('wide', row(String(n), ...values(n)))));
    const order = Array.from({ length: count }, (_, at) => ({ column: `c${at}`, descending: at % 2 === 0 }));
    const query: QuerySpec = { table: 'wide', order, keys: true, limit: 0, offset: 1 };
    const whole = await store.read((reader) => reader.all(query, [-1, 0]));
    assert.equal(whole.length, count);
    for (const at of [0, 1, 17, count - 2]) {
      const { keys = [], seq } = whole[at]!;
      const next: QuerySpec = { ...query, after: 2 };
      assert.deepEqual(await store.read((reader) => reader.all(next, [5, 2, ...keys, seq])), whole.slice(at + 3, at + 8));
      const { docs } = await store.read((reader) => reader.joined(next, [5, 2, ...keys, seq], false));
      assert.equal(
        docs,
        whole
          .slice(at + 3, at + 8)
          .map(({ doc }) => doc)
          .join(','),
      );
    }
  });
}

let made = 0;

async function fill(store: Store, rows: readonly Known['columns'][]): Promise<Known[]> {
  made = 0;
  await store.change((tx) => tx.all({ table: 'thing' }, []).map(({ id }) => tx.remove('thing', id)));
  const known: Known[] = [];
  for (const columns of rows) known.push(await add(store, columns));
  return known;
}

async function add(store: Store, columns: Known['columns']): Promise<Known> {
  const id = String(made++);
  const { seq } = await store.change((tx) => tx.insert('thing', row(id, ...names.map((name) => columns[name]!))));
  return { id, seq, columns };
}

async function drop(store: Store, known: Known[], index: number): Promise<void> {
  const [one] = known.splice(index, 1);
  await store.change((tx) => tx.remove('thing', one!.id));
}

type Order = NonNullable<QuerySpec['order']>;

function keysOf(order: Order, keys: readonly Scalar[]): Record<string, Scalar> {
  return Object.fromEntries(order.map(({ column }, index) => [column, keys[index]!]));
}

function cell(one: Known, column: string): Scalar {
  return column === 'id' ? one.id : one.columns[column]!;
}

function compare(order: Order, newestFirst: boolean, a: Known, b: Known): number {
  for (const { column, descending } of order) {
    const by = ranked(cell(a, column), cell(b, column));
    if (by !== 0) return descending ? -by : by;
  }
  return newestFirst ? b.seq - a.seq : a.seq - b.seq;
}

/** Absent first, numbers by size, text by code point. */
function ranked(a: Scalar, b: Scalar): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

function resolve(known: readonly Known[], one: Known | undefined, operand: Operand, params: readonly Scalar[]): Scalar {
  if ('param' in operand) return params[operand.param]!;
  if ('value' in operand) return operand.value;
  if ('column' in operand) return one ? cell(one, operand.column) : null;
  if ('item' in operand) return null;
  const target = known.find((row) => {
    if ('via' in operand) return row.id === one?.columns[operand.via];
    return operand.by.every(
      ({ column, is }) => cell(row, column) !== null && cell(row, column) === resolve(known, one, is, params),
    );
  });
  return target ? resolve(known, target, operand.then, params) : null;
}

function truth(known: readonly Known[], one: Known, condition: Condition, params: readonly Scalar[]): boolean | undefined {
  switch (condition.op) {
    case 'true':
    case 'false':
      return condition.op === 'true';
    case 'and':
    case 'or': {
      const parts = condition.of.map((part) => truth(known, one, part, params));
      const decides = condition.op === 'or';
      return parts.includes(decides) ? decides : parts.includes(undefined) ? undefined : !decides;
    }
    case 'not': {
      const of = truth(known, one, condition.of, params);
      return of === undefined ? undefined : !of;
    }
    case 'some': {
      const meant = (row: Known): boolean =>
        'to' in condition.by ? row.id === one.columns[condition.by.to] : row.columns[condition.by.from] === one.id;
      return known.some((row) => meant(row) && truth(known, row, condition.of, params) === true);
    }
    case 'any':
      throw new Error('the conditions of this law look into no array');
    case 'absent':
      return resolve(known, one, condition.of, params) === null;
    default: {
      const left = resolve(known, one, condition.left, params);
      const right = resolve(known, one, condition.right, params);
      return left === null || right === null ? undefined : tested(condition.op, left, right);
    }
  }
}

function tested(op: string, left: Scalar, right: Scalar): boolean {
  if (op === 'in') return (JSON.parse(String(right)) as Scalar[]).includes(left);
  if (op === 'prefix') return String(left).startsWith(String(right));
  if (op === 'contains') return String(left).includes(String(right));
  const by = ranked(left, right);
  return { '=': by === 0, '!=': by !== 0, '<': by < 0, '<=': by <= 0, '>': by > 0, '>=': by >= 0 }[op]!;
}
