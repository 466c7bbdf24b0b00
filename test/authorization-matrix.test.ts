import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonMap } from '../src/document/document.ts';
import { type BeforeHandlers, check, type Handlers, readDocument, type Spec } from '../src/index.ts';
import type { Caller } from '../src/serve/exchange/exchange.ts';
import { type Asked, shownRows, type Verdict, verdictOf } from './serving/allowed.ts';
import { type Example, examples, type Side, standings } from './serving/matrix.ts';
import { type Tried, tryDocument } from './serving/tried.ts';

/**
 * Every operation of every example as every user and as nobody, on the caller's own and on a foreign thing, compared with
 * what the document allows. Code stands in front of each change and stops it, so that nothing changes from case to case.
 */
const root = join(import.meta.dirname, '..');
const header = 'matrix-caller';
const stopped = 'stopped_by_the_matrix';
const running: Tried[] = [];
const stop: BeforeHandlers[string] = ({ fail }) => fail(stopped);

after(async () => {
  for (const tried of running) await tried.close();
});

for (const example of examples) {
  const document = await readDocument(join(root, example.document));
  const { spec } = check(document);
  const endpoints = 'value' in spec.endpoints.all ? Object.values(spec.endpoints.all.value) : [];
  const tried = await tryDocument(document, {
    rows: example.rows,
    handlers: answering(endpoints),
    before: Object.fromEntries(endpoints.map(({ operation }): [string, BeforeHandlers[string]] => [operation, stop])),
    identify: ({ headers }) => (headers[header] === undefined ? undefined : (JSON.parse(String(headers[header])) as Caller)),
  });
  running.push(tried);

  for (const [user, id] of Object.entries(example.ids)) {
    for (const standing of standings) {
      test(`${example.document}: ${user} ${standing.name} may do what the document allows, and nothing else`, async () => {
        const caller = standing.caller({ id, user, scopes: example.scopes });
        const wrong: string[] = [];
        for (const endpoint of endpoints) {
          for (const side of ['own', 'foreign'] as const) {
            const asked = askedOf(example, spec, endpoint, side, caller);
            const [expected, actual] = await compared(tried, example, asked, side);
            if (expected !== actual) wrong.push(`${endpoint.operation} on ${side}: expected ${expected}, got ${actual}`);
          }
        }
        // The rates of an example are not what is tried here.
        tried.clock.advance(61_000);
        assert.deepEqual(wrong, []);
        assert.deepEqual(tried.failures, []);
      });
    }
  }

  test(`${example.document}: the matrix meets what is allowed, forbidden, missing and unknown`, () => {
    const met = new Set<string>();
    for (const [user, id] of Object.entries(example.ids))
      for (const { caller } of standings)
        for (const endpoint of endpoints)
          for (const side of ['own', 'foreign'] as const)
            met.add(wordOf(verdictOf(askedOf(example, spec, endpoint, side, caller({ id, user, scopes: example.scopes })))));
    for (const verdict of ['allowed', 'caller.unknown', 'caller.forbidden', 'resource.missing'])
      assert.ok(met.has(verdict), verdict);
  });
}

type Endpoint = Asked['endpoint'];

/** Handlers that answer whatever: what they are asked is refused before, or not. */
function answering(endpoints: readonly Endpoint[]): Handlers {
  const all = endpoints.flatMap(({ does }) => ('value' in does && does.value.verb === 'handler' ? [does.value.name] : []));
  return Object.fromEntries(all.map((name) => [name, ({ fail }) => fail(stopped)]));
}

function askedOf(example: Example, spec: Spec, endpoint: Endpoint, side: Side, caller: Caller | undefined): Asked {
  const resource = 'value' in endpoint.does && 'resource' in endpoint.does.value ? endpoint.does.value.resource : '';
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const params = Object.fromEntries(
    names.map((name) => {
      const value = (example.params[`${resource}.${name}`] ?? example.params[name])?.[side];
      assert.ok(value !== undefined, `${example.document} has no ${name} for ${endpoint.key}`);
      return [name, value];
    }),
  );
  return { spec, rows: example.rows, caller, endpoint, params, body: example.requests[endpoint.operation]?.(side).body };
}

async function compared(tried: Tried, example: Example, asked: Asked, side: Side): Promise<readonly [string, string]> {
  const { endpoint, caller, params, spec } = asked;
  const { query = '', body, type } = example.requests[endpoint.operation]?.(side) ?? {};
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string));
  const answer = await tried.send(endpoint.method, `${tried.service.basePath}${path}${query && `?${query}`}`, {
    headers: {
      'idempotency-key': `${endpoint.operation} ${side} ${caller?.user}`,
      ...(caller && { [header]: JSON.stringify(caller) }),
      ...(type !== undefined && { 'content-type': type }),
    },
    body: type === undefined ? body : bodyText(type, body ?? {}),
  });
  const verdict = verdictOf(asked);
  const got = outcomeOf(spec, endpoint, answer.status, answer.json);
  if (verdict !== 'allowed' || got !== 'allowed' || !isList(endpoint)) return [wordOf(verdict), got];
  return [idsOf(shownRows(asked)), idsOf(itemsOf(answer.json))];
}

/** What an answer says of permissions: a refusal for them, or anything else. */
function outcomeOf(spec: Spec, { operation }: Endpoint, status: number, json: unknown): string {
  const code = (json as { code?: string } | undefined)?.code;
  if (status >= 500) return `a failure: ${status} ${JSON.stringify(json)}`;
  if (code === undefined || code === stopped) return 'allowed';
  const codes = 'value' in spec.errors.codes ? spec.errors.codes.value : {};
  const rules = (codes[code]?.rules ?? []).filter((rule) => 'value' in rule.status && rule.status.value === status);
  const conditions = rules
    .filter(({ on }) => on === undefined || on.includes(operation))
    .flatMap(({ when }) => ('value' in when ? when.value : []));
  const found = ['caller.unknown', 'caller.forbidden', 'resource.missing', 'reference.missing'].find((one) =>
    conditions.some((condition) => condition === one),
  );
  if (found) return found;
  // It came as far as its row, its state and its precondition.
  const isLate =
    conditions.some((one) => one === 'transition.illegal' || one.startsWith('precondition.')) || conditions.length === 0;
  return isLate ? 'allowed' : `a bad request: ${status} ${JSON.stringify(json)}`;
}

function wordOf(verdict: Verdict): string {
  if (typeof verdict === 'string') return verdict;
  return verdict.code === 'not_found' ? 'resource.missing' : verdict.code;
}

function isList({ does }: Endpoint): boolean {
  return 'value' in does && does.value.verb === 'list';
}

function itemsOf(json: unknown): readonly JsonMap[] {
  if (Array.isArray(json)) return json as JsonMap[];
  return (Object.values(json as object).find((value) => Array.isArray(value)) ?? []) as JsonMap[];
}

function idsOf(rows: readonly JsonMap[]): string {
  return rows
    .map((row) => String(row.id ?? row.number ?? row.isbn ?? row.name))
    .sort()
    .join(', ');
}

function bodyText(type: string, body: JsonMap): string {
  if (!type.startsWith('multipart')) return 'text';
  const parts = Object.entries(body).map(
    ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
  );
  return `${parts.join('')}--b--\r\n`;
}
