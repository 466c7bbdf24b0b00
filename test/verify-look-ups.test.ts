import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { memberships } from './values/memberships.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const member = 'has(find(member, { project: resource.id, user: caller.id }))';
const reading = `- { allow: [read project, list project], to: person, if: "${member}" }`;
const writing = `${member} && find(member, { project: resource.id, user: caller.id }).role in ['write', 'admin']`;

const rows: readonly Otherwise[] = [
  [
    'anybody may read a project, member or not',
    reading,
    '- { allow: [read project, list project], to: person, if: "resource.name != \'\'" }',
    'permission rules:read project',
    /without a member/,
  ],
  [
    'members are looked up by the owner of the project in place of the caller',
    reading,
    reading.replace('user: caller.id', 'user: resource.owner'),
    'permission rules:read project',
    /let in by its member/,
  ],
  [
    'a list shows every project to everybody',
    reading,
    `- { allow: [list project], to: person, if: "resource.name != ''" }\n    - { allow: [read project], to: person, if: "${member}" }`,
    'permission rules:list project',
    /shown without a member/,
  ],
  [
    'a list shows members nothing',
    reading,
    `- { allow: [read project], to: person, if: "${member}" }`,
    'permission rules:list project',
    /shown for its member/,
  ],
  ['a member may write, whatever the role', writing, member, 'permission rules:update project', /whose member says otherwise/],
  [
    'readers may write, and writers not',
    writing,
    writing.replace("in ['write', 'admin']", "== 'read'"),
    'permission rules:update project',
    /let in by its member|whose member says otherwise/,
  ],
];

servedOtherwise(
  memberships,
  oneOfEach(rows, ([fault]) => fault),
);

test('a service whose rules look rows up is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(memberships, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const held = facts
      .filter(({ kind, verdict }) => kind === 'permission rules' && verdict === 'held')
      .map(({ subject }) => subject);
    for (const name of ['read project', 'list project', 'update project']) assert.ok(held.includes(name), name);
  } finally {
    await stand.close();
  }
});
