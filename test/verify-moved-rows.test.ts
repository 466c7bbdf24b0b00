import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOfEach } from './long.ts';
import { renamedProjects } from './values/renamed.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand, type Passing } from './verify/stand.ts';

const [, meant = ''] =
  /GET \/teams\/\{of\}\/projects\/\{called\}: \{ does: read project, etag: strong, (moved: "[^"]+") \}/.exec(renamedProjects) ??
  [];

const rows: readonly Otherwise[] = [
  [
    'nobody is led from an old name',
    `does: read project, etag: strong, ${meant}`,
    'does: read project, etag: strong',
    'identifiers:project',
    /moved/,
  ],
  [
    'a change of what was renamed is not led',
    `does: update project, ${meant}`,
    'does: update project',
    'identifiers:project',
    /moved/,
  ],
  [
    'it is told under another status',
    'status: 308, when: resource.moved',
    'status: 302, when: resource.moved',
    'status codes:moved',
    /status/,
  ],
];

servedOtherwise(
  renamedProjects,
  oneOfEach(rows, ([fault]) => fault),
);

const isMoved = ({ status }: Passing) => status === 308;

/** Services that lead elsewhere, or too many: what they do to an answer on its way out. */
const careless: readonly (readonly [fault: string, reason: RegExp, spoil: () => (passing: Passing) => Partial<Passing>])[] = [
  [
    'who is led comes to the old name again',
    /^moved$/,
    () => (passing) => (isMoved(passing) ? { headers: { ...passing.headers, location: passing.target } } : {}),
  ],
  [
    'nobody is told where',
    /^moved$/,
    () => (passing) => {
      const { location: _, ...headers } = passing.headers;
      return isMoved(passing) ? { headers } : {};
    },
  ],
  ['strangers are led to what they may not read', /^moved, hidden$/, leaking],
];

/** Whoever asks by a name that a project had is told its new one. */
function leaking() {
  const names = new Map<string, string>();
  return ({ method, target, sent, status, headers }: Passing): Partial<Passing> => {
    const path = target.replace(/\?.*$/, '');
    if (method === 'PATCH' && status === 200) {
      const { name } = JSON.parse(sent || '{}') as { name?: string };
      if (name !== undefined) names.set(path, path.replace(/[^/]+$/, name));
    }
    const there = names.get(path);
    if (method !== 'GET' || status !== 404 || there === undefined) return {};
    return { status: 308, headers: { ...headers, location: there }, text: JSON.stringify({ code: 'moved', status: 308 }) };
  };
}

for (const [fault, reason, spoil] of careless)
  test(`identifiers:project is said to be broken where ${fault}`, async () => {
    const stand = await openStand(renamedProjects, { inPairs: true, spoil: spoil() });
    try {
      const { breaches } = await stand.verify({ only: ['resources/moved'] });
      const found = breaches.filter((breach) => breach.subject === 'project' && reason.test(breach.reason));
      assert.ok(found.length > 0, breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`).join('; '));
    } finally {
      await stand.close();
    }
  });

test('a service that leads from old names is found without a fault', async () => {
  const stand = await openStand(renamedProjects, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const verdicts = facts
      .filter(({ kind, subject }) => subject === 'moved' || (kind === 'identifiers' && subject === 'project'))
      .map(({ kind, subject, verdict }) => `${kind} ${subject} ${verdict}`);
    assert.deepEqual(verdicts, ['identifiers project held', 'status codes moved held', 'conditions moved held']);
  } finally {
    await stand.close();
  }
});
