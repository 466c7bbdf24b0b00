import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { type Tried, tryService } from './serving/tried.ts';
import { reluctant } from './stores/reluctant.ts';
import { cards } from './values/cards.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(10, 25)) };

type Members = Readonly<Record<string, unknown>>;

/** A payment as its document says it is, reckoned by hand: what is generated is not known, but kept. */
interface Payment {
  readonly source: Members;
  readonly marks: readonly Members[];
  readonly shown_as: string;
  readonly note?: string;
}

const digits = fc.stringMatching(/^[0-9]{8,16}$/);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const cardSent = fc.record({ object: fc.constant('card'), number: digits, brand: optional(fc.constantFrom('plain', 'best')) });
const bankSent = fc.record({ object: fc.constant('bank'), iban: fc.constantFrom('x', 'y') });
const textsSent = fc.array(fc.constantFrom('a', 'b', 'longer', 'longest'), { maxLength: 4 });

type Deed =
  | { readonly does: 'make' | 'put'; readonly source: Members; readonly texts: readonly string[] | undefined }
  | { readonly does: 'note'; readonly note: string }
  | { readonly does: 'number'; readonly number: string }
  | { readonly does: 'brand'; readonly brand: string }
  | { readonly does: 'marks'; readonly texts: readonly string[] };

const whole = (does: 'make' | 'put'): fc.Arbitrary<Deed> =>
  fc.record({ does: fc.constant(does), source: fc.oneof(cardSent, bankSent), texts: optional(textsSent) });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  whole('make'),
  whole('put'),
  fc.record({ does: fc.constant('note'), note: fc.constantFrom('n', 'm') }),
  fc.record({ does: fc.constant('number'), number: digits }),
  fc.record({ does: fc.constant('brand'), brand: fc.constantFrom('best', 'other') }),
  fc.record({ does: fc.constant('marks'), texts: textsSent }),
);

function made(source: Members, was: Members | undefined): Members {
  if (source.object === 'bank') return source;
  const { number, ...rest } = source as { readonly number?: string; readonly brand?: string };
  const before = was?.object === 'card' ? was : undefined;
  return {
    ...rest,
    object: 'card',
    brand: rest.brand ?? (before ? before.brand : 'plain'),
    last4: number === undefined ? before?.last4 : number.slice(-4),
    first: before ? before.first : number?.slice(0, 2),
  };
}

const marked = (texts: readonly string[]) => texts.map((text) => ({ text, long: text.length > 5 }));
const shown = (source: Members) => (source.object === 'card' ? `*${source.last4}` : 'bank');

/** What is sent, and what the payment is after it; undefined where it is refused. */
function done(before: Payment | undefined, one: Deed): { readonly sent: Members; readonly after: Payment | undefined } {
  if ('source' in one) {
    // A replacement is another value, but what was set where the value came to be there stays as long as there is one of its kind.
    const source = made(one.source, one.does === 'put' ? before?.source : undefined);
    const after = {
      source: source.object === 'card' ? { ...source, brand: one.source.brand ?? 'plain' } : source,
      marks: marked(one.texts ?? []),
      shown_as: shown(source),
    };
    return { sent: { source: one.source, ...(one.texts && { marks: one.texts.map((text) => ({ text })) }) }, after };
  }
  if (before === undefined) return { sent: {}, after: undefined };
  if (one.does === 'note') return { sent: { note: one.note }, after: { ...before, note: one.note } };
  if (one.does === 'marks')
    return { sent: { marks: one.texts.map((text) => ({ text })) }, after: { ...before, marks: marked(one.texts) } };
  const change = one.does === 'number' ? { number: one.number } : { brand: one.brand };
  if (before.source.object === 'bank') return { sent: { source: change }, after: undefined };
  const source = made({ ...before.source, ...change }, before.source);
  return { sent: { source: change }, after: { ...before, source, shown_as: shown(source) } };
}

/** What of a payment can be reckoned, without the names that are generated. */
function reckoned({ source: { fingerprint: _generated, ...source }, marks, shown_as, note }: Payment): Payment {
  return { source, marks, shown_as, ...(note !== undefined && { note }) };
}

async function live({ send }: Tried, history: readonly Deed[]): Promise<void> {
  let path = '';
  let before: Payment | undefined;
  let name: unknown;
  for (const one of history) {
    if (path === '' && one.does !== 'make') continue;
    const { sent, after } = done(before, one);
    const method = one.does === 'make' ? 'POST' : one.does === 'put' ? 'PUT' : 'PATCH';
    const { status, json } = await send(method, one.does === 'make' ? '/payments' : path, { body: sent });
    if (after === undefined) {
      assert.equal(status, 422, JSON.stringify(json));
      continue;
    }
    const answer = json as Payment & { readonly id: string };
    assert.deepEqual(reckoned(answer), reckoned(after), `${one.does} ${JSON.stringify(sent)}`);
    const isSame = one.does !== 'make' && before?.source.object === 'card' && after.source.object === 'card';
    if (isSame) assert.equal(answer.source.fingerprint, name);
    if (one.does === 'make') path = `/payments/${answer.id}`;
    before = after;
    name = answer.source.fingerprint;
    const { id: _id, ...read } = (await send('GET', path)).json as Payment & { readonly id: string };
    assert.deepEqual(reckoned(read), reckoned(after));
  }
}

for (const [name, wrap] of [
  ['SQLite', (store: Store) => store],
  ['a store that waits', (store: Store) => reluctant(store)],
] as const)
  test(`what is made inside values is what a reckoning by hand says, after any history, on ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 3, maxLength: 12 }), async (history) => {
        const tried = await tryService(cards, { store: wrap(openSqlite(':memory:')) });
        await live(tried, history);
        assert.deepEqual(tried.failures, []);
        await tried.close();
      }),
      runs,
    );
  });

test('where the items of a list stood before is looked for in a bounded number of comparisons', async () => {
  const named = cards
    .replace('maxItems: 4, ', '')
    .replace('fields: { text:', 'fields: { key: { type: string, readOnly: true, generate: "{random:12}" }, text:');
  const { send, close } = await tryService(named);
  const count = 3000;
  const texts = Array.from({ length: count }, (_, n) => ({ text: `a${n}` }));
  const { json } = await send('POST', '/payments', { body: { source: { object: 'bank', iban: 'x' }, marks: texts } });
  const { id, marks } = json as { readonly id: string; readonly marks: readonly { readonly key: string }[] };
  const change = async (wanted: readonly Members[]) =>
    ((await send('PATCH', `/payments/${id}`, { body: { marks: wanted } })).json as { marks: typeof marks }).marks;
  // Those that stand where they stood are found whatever their number, and so is the one that moved.
  assert.deepEqual(await change([...texts.slice(1), { text: 'a0' }]), [...marks.slice(1), marks[0]]);
  const others = Array.from({ length: count }, (_, n) => ({ text: `b${n}` }));
  const last = (await change([...others, { text: 'a0' }])).at(-1);
  assert.ok(last && last.key !== marks[0]?.key, 'after a million comparisons an item is a new one');
  await close();
});
