import assert from 'node:assert/strict';
import { test } from 'node:test';
import { found, read } from './check/harness.ts';

/** The parts of a document, each as its text. */
type Parts = Readonly<Record<string, string>>;

const note = 'identifier: { field: id, generate: client }, required: [id]';
const readNote = '"GET /notes/{id}": { does: read note }';
const noLimits = { rate: 'none', quota: 'none', size: 'none', pagination: 'none' };

/** A service with one read operation and nothing open. */
const closed: Parts = {
  resources: `{ note: { ${note}, fields: { id: string } } }`,
  states: 'none',
  endpoints: `{ ${readNote} }`,
  authentication: 'none',
  events: 'none',
  limits: limits({}),
  versioning: 'none',
};

/** Whether it is found that a condition cannot arise in a document and never gives the code that names it. */
function isDoubted(condition: string, parts: Parts = {}): boolean {
  const errors = `{ payload: problem, codes: { odd: { status: 400, when: ${condition} } } }`;
  const lines = Object.entries({ ...closed, ...parts, errors }).map(([part, text]) => `${part}: ${text}\n`);
  return found(read(`title: Notes\n${lines.join('')}`)).includes('errors/cannot-arise @ /errors/codes/odd/when');
}

function limits(open: Readonly<Record<string, string>>): string {
  return `{ ${Object.entries({ ...noLimits, ...open })
    .map(([name, text]) => `${name}: ${text}`)
    .join(', ')} }`;
}

function versions(list: string, select: string): Parts {
  return { versioning: `{ versions: { "1": { deprecated: none }, ${list} }, select: ${select}, changes: none }` };
}

const aboutRequests: readonly Parts[] = [
  { resources: '!open "which?"' },
  { resources: `{ note: { ${note}, fields: { id: string } }, others: !open "more" }` },
  { resources: `{ note: { ${note}, fields: !open "which?" } }` },
  { resources: `{ note: { ${note}, fields: { id: string, size: !open "a number?" } } }` },
  { resources: `{ note: { ${note}, fields: { id: string } }, page: { ${note}, fields: { id: string, size: !open "" } } }` },
];

/** What leaves it undecided whether a condition can arise. */
const undecided: Readonly<Record<string, readonly Parts[]>> = {
  'request.malformed': aboutRequests,
  'request.media': aboutRequests,
  'request.invalid': aboutRequests,
  'resource.exists': aboutRequests,
  'reference.missing': aboutRequests,
  'reference.held': aboutRequests,
  'caller.unknown': [{ authentication: '{ schemes: !open "which?", permissions: none }' }],
  'caller.forbidden': [
    { authentication: '{ schemes: none, permissions: !open "whose?" }' },
    { authentication: '{ schemes: !open "which?", permissions: none }' },
  ],
  'transition.illegal': [
    { states: '!open "which?"' },
    { states: '{ note: none, others: !open "more" }' },
    {
      resources: `{ note: { ${note}, fields: { id: string } }, page: { ${note}, fields: { id: string } } }`,
      endpoints: `{ ${readNote}, "GET /pages/{id}": { does: read page } }`,
      states: '{ note: none, page: !open "which?" }',
    },
  ],
  'limit.rate': [{ limits: limits({ rate: '!open "how many?"' }) }],
  'limit.quota': [{ limits: limits({ quota: '!open "how many?"' }) }],
  'limit.size': [{ limits: limits({ size: '!open "how large?"' }) }],
  'limit.page': [
    { limits: limits({ pagination: '!open "how?"' }) },
    { endpoints: `{ ${readNote}, GET /notes: { does: list note, pagination: !open "how?" } }` },
  ],
  'version.unknown': [
    { versioning: '{ versions: !open "which?", select: none }' },
    { versioning: '{ versions: none, select: !open "how?" }' },
  ],
  'version.sunset': [
    { versioning: '{ versions: !open "which?", select: none }' },
    versions('"2": { current: true }, others: !open "more"', '{ header: V }'),
    versions('"2": { current: true }, "0": { deprecated: !open "when?", alternative: "2" }', '{ header: V }'),
  ],
  'precondition.failed': [],
};

for (const [condition, ways] of Object.entries(undecided)) {
  test(`that ${condition} cannot arise is found where nothing is open, and not where something open may give it`, () => {
    assert.ok(isDoubted(condition), 'closed');
    for (const parts of ways) assert.ok(!isDoubted(condition, parts), JSON.stringify(parts));
  });
}

test('an endpoint whose effect is open may give any condition', () => {
  for (const condition of Object.keys(undecided))
    assert.ok(!isDoubted(condition, { endpoints: `{ ${readNote}, GET /more: {} }` }), condition);
});

test('the end of the current version, though open, makes no version end', () => {
  assert.ok(isDoubted('version.sunset', versions('"2": { current: true, deprecated: !open "when?" }', '{ header: V }')));
});

test('a version that is said not to end makes none end', () => {
  assert.ok(isDoubted('version.sunset', versions('"2": { current: true }', '{ header: V }')));
});
