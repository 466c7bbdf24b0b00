import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { codeHost } from './values/code-host.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { type Bent, openStand, type StandOptions } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  [
    'a label is found by its identifier',
    'GET /repos/{owner}/{repo}/labels/{name}: { does: read label, identity: { name: name } }',
    'GET /repos/{owner}/{repo}/labels/{name}: { does: read label, identity: "params.name" }',
    'identifiers:label',
    /found by its key/,
  ],
  [
    'an account is found by its identifier',
    'GET /users/{login}: { does: read account }',
    'GET /users/{login}: { does: read account, identity: "params.login" }',
    'identifiers:account',
    /found by its key/,
  ],
];

servedOtherwise(
  codeHost,
  oneOfEach(rows, ([fault]) => fault),
);

/** Services that find rows by less than the path says: what they do to a request on its way in. */
const careless: readonly (readonly [
  fault: string,
  breaks: string,
  reason: RegExp,
  bend: () => NonNullable<StandOptions['bend']>,
])[] = [
  [
    'repositories are found by their name alone',
    'identifiers:repository',
    /missing where no repository has this owner/,
    byNameAlone,
  ],
  ['issues are found by their number alone', 'identifiers:issue', /missing (?:below another|where no) repository/, byNumberAlone],
];

describe('a service that finds rows by less than its paths say', () => {
  for (const [fault, breaks, reason, bend] of careless) {
    test(`${breaks} is said to be broken where ${fault}`, async () => {
      const stand = await openStand(codeHost, { bend: bend() });
      try {
        const { breaches } = await stand.verify({ only: [breaks] });
        const found = breaches.filter(({ kind, subject }) => `${kind}:${subject}` === breaks);
        assert.ok(
          found.some((breach) => reason.test(breach.reason)),
          breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`).join('; '),
        );
      } finally {
        await stand.close();
      }
    });
  }
});

/** The owner of a repository is the one that it was made by, whatever the path says. */
function byNameAlone() {
  const owners = new Map<string, string>();
  return ({ method, target, text }: Bent): Partial<Bent> => {
    const made = method === 'POST' ? /^\/users\/([^/]+)\/repos$/.exec(target) : null;
    if (made) owners.set(String((JSON.parse(text) as { name: unknown }).name), made[1] ?? '');
    const [, name = '', rest = ''] = /^\/repos\/[^/]+\/([^/?]+)(.*)$/.exec(target) ?? [];
    const owner = owners.get(decodeURIComponent(name));
    return owner === undefined ? {} : { target: `/repos/${owner}/${name}${rest}` };
  };
}

/** An issue that is asked for is looked for where the first of its number was made. */
function byNumberAlone() {
  let where: string | undefined;
  return ({ method, target }: Bent): Partial<Bent> => {
    const [, repository = '', rest] = /^(\/repos\/[^/]+\/[^/]+)\/issues(\/1.*)?$/.exec(target) ?? [];
    if (method === 'POST' && repository !== '' && rest === undefined) where = repository;
    return rest === undefined || where === undefined ? {} : { target: `${where}/issues${rest}` };
  };
}

test('a service whose paths name rows by keys is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(codeHost);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const kept = facts.filter(({ kind }) => kind === 'identifiers').map(({ subject, verdict }) => `${subject} ${verdict}`);
    assert.deepEqual(kept, ['account held', 'repository held', 'label held', 'issue held', 'comment held']);
  } finally {
    await stand.close();
  }
});
