import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { openStore } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import { reluctant } from './stores/reluctant.ts';
import { type DrawnRoles, drawnRoles, type Governed, type Role, roles, rolesOf } from './values/drawn-roles.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(15, 40)) };

/** Somebody does something: to a member by its user, to a note by where it stands among all. */
interface Deed {
  readonly who: 'ann' | 'bob' | 'cas';
  readonly does: Governed | 'create ban' | 'delete ban';
  readonly project: 'p' | 'q';
  readonly user: 'bob' | 'cas';
  readonly role: Role;
  readonly note: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  who: fc.constantFrom('ann', 'ann', 'bob', 'bob', 'bob', 'cas'),
  does: fc.constantFrom<Deed['does']>(
    'create note',
    'create note',
    'update note',
    'delete note',
    'create member',
    'create member',
    'update member',
    'update member',
    'delete member',
    'create ban',
    'delete ban',
  ),
  project: fc.constantFrom('p', 'p', 'p', 'q'),
  user: fc.constantFrom('bob', 'bob', 'bob', 'cas'),
  role: fc.constantFrom(...roles),
  note: fc.nat(2),
});

/** Rows to begin with, so that most deeds are about something. */
const first: Deed = { who: 'ann', does: 'create note', project: 'p', user: 'bob', role: 'admin', note: 0 };
const start: readonly Deed[] = [
  first,
  { ...first, does: 'create member' },
  { ...first, does: 'create member', user: 'cas', role: 'read' },
];

interface Member {
  readonly id: number;
  readonly project: string;
  readonly user: string;
  readonly role: Role;
}

interface Note {
  readonly id: number;
  readonly project: string;
  readonly text: string;
}

interface Rows {
  readonly members: readonly Member[];
  readonly notes: readonly Note[];
  readonly bans: readonly string[];
}

/** What one deed makes of the rows as they were committed before it; nothing where they do not grant it. */
function granted({ wants, isBannable }: DrawnRoles, rows: Rows, asked: Rows, one: Deed, text: string): Rows | undefined {
  const { who, does, user, role } = one;
  const { members, notes, bans } = rows;
  const may = (operation: Governed, project: string) =>
    who === 'ann' ||
    (members.some((own) => own.project === project && own.user === who && wants[operation].includes(own.role)) &&
      !(isBannable && bans.includes(who)));
  // A row that is addressed is the one that stood there when it was sent, if it still does.
  const named = asked.members.find((other) => other.project === one.project && other.user === user)?.id;
  const member = members.find(({ id }) => id === named);
  const note = notes.find(({ id }) => id === asked.notes[one.note]?.id);
  if (does === 'create ban') return who !== 'ann' || bans.includes(user) ? undefined : { ...rows, bans: [...bans, user] };
  if (does === 'delete ban')
    return who !== 'ann' || !bans.includes(user) ? undefined : { ...rows, bans: bans.filter((id) => id !== user) };
  if (does === 'create note')
    return may(does, one.project) ? { ...rows, notes: [...notes, { id: -1, project: one.project, text }] } : undefined;
  if (does === 'create member') {
    const isThere = members.some((other) => other.project === one.project && other.user === user);
    if (isThere || !may(does, one.project)) return undefined;
    return { ...rows, members: [...members, { id: -1, project: one.project, user, role }] };
  }
  const row = does.endsWith('note') ? note : member;
  if (!row || !may(does, row.project)) return undefined;
  if (does === 'update note') return { ...rows, notes: notes.map((other) => (other === row ? { ...other, text } : other)) };
  if (does === 'delete note') return { ...rows, notes: notes.filter((other) => other !== row) };
  if (does === 'update member') return { ...rows, members: members.map((other) => (other === row ? { ...other, role } : other)) };
  return { ...rows, members: members.filter((other) => other !== row) };
}

const callerOf = (who: Deed['who']) => caller(who === 'ann' ? 'owner' : 'person', who);

async function rowsOf(service: ToldService): Promise<Rows> {
  const list = async (path: string) => (await service.as(callerOf('ann'), 'GET', path)).json as never;
  const bans = (await list('/bans')) as readonly { readonly id: string }[];
  return { members: await list('/members'), notes: await list('/notes'), bans: bans.map(({ id }) => id) };
}

async function isDone(service: ToldService, rows: Rows, one: Deed, text: string): Promise<boolean> {
  const { does, project, user, role } = one;
  const member = rows.members.find((other) => other.project === project && other.user === user)?.id ?? 0;
  const note = rows.notes[one.note]?.id ?? 0;
  const [method, path, body] = {
    'create note': ['POST', `/projects/${project}/notes`, { text }],
    'update note': ['PATCH', `/notes/${note}`, { text }],
    'delete note': ['DELETE', `/notes/${note}`, undefined],
    'create member': ['POST', `/projects/${project}/members`, { user, role }],
    'update member': ['PATCH', `/members/${member}`, { role }],
    'delete member': ['DELETE', `/members/${member}`, undefined],
    'create ban': ['POST', '/bans', { id: user }],
    'delete ban': ['DELETE', `/bans/${user}`, undefined],
  }[does] as [string, string, unknown];
  const { status, text: answer } = await service.as(callerOf(one.who), method, path, body);
  assert.ok(status < 300 || [403, 404, 409].includes(status), answer);
  return status < 300;
}

/** Without the numbers of rows: what was refused may have taken some. */
const told = ({ members, notes, bans }: Rows) => ({
  members: members.map(({ id: _id, ...one }) => one),
  notes: notes.map(({ id: _id, ...one }) => one),
  bans: bans.toSorted(),
});

function orders<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length < 2) return [all];
  return all.flatMap((first) => orders(all.filter((one) => one !== first)).map((rest) => [first, ...rest]));
}

async function grants(said: DrawnRoles, history: readonly (readonly Deed[])[], store: Store): Promise<void> {
  const service = await tellService(rolesOf(said), { store });
  for (const id of ['p', 'q']) assert.equal((await service.as(callerOf('ann'), 'POST', '/projects', { id })).status, 201);
  let count = 0;
  for (const deeds of [...start.map((one) => [one]), ...history]) {
    const before = await rowsOf(service);
    const sent = deeds.map((one) => ({ one, text: `t${++count}` }));
    const done = await Promise.all(sent.map(({ one, text }) => isDone(service, before, one, text)));
    const now = await rowsOf(service);
    const seen = { ...told(now), done };
    // Those that are sent at once are committed in some order: in one of them each was granted by the rows as they were before it.
    const wanted = orders(sent).map((order) => {
      let rows = before;
      const isGranted = new Map<unknown, boolean>();
      for (const each of order) {
        const next = granted(said, rows, before, each.one, each.text);
        isGranted.set(each, next !== undefined);
        rows = next ?? rows;
      }
      return { ...told(rows), done: sent.map((each) => isGranted.get(each)) };
    });
    if (!wanted.some((one) => isDeepStrictEqual(one, seen))) assert.deepEqual(seen, wanted[0]);
    // A list shows what the rows grant as they are.
    for (const who of ['bob', 'cas'] as const) {
      const isMember = ({ project }: Note) => now.members.some((one) => one.project === project && one.user === who);
      assert.deepEqual((await service.as(callerOf(who), 'GET', '/notes')).json, now.notes.filter(isMember));
    }
  }
  assert.deepEqual(service.failures, []);
  await service.close();
  await store.close();
}

test('what `find` grants is what the rows say at commit, whoever changes them between and at once', async () => {
  const history = fc.array(fc.array(deed, { minLength: 1, maxLength: 4 }), { minLength: 14, maxLength: 24 });
  const law = fc.asyncProperty(drawnRoles, history, fc.boolean(), fc.nat(99), (said, deeds, isWaiting, seed) =>
    grants(said, deeds, isWaiting ? reluctant(openSqlite(':memory:'), seed) : openStore(':memory:')),
  );
  await fc.assert(law, runs);
});
