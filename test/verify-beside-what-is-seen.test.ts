import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crates } from './values/crates.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';

const serve = { allowPrivateWebhooks: true };

type Wrong = Pick<StandOptions, 'bend' | 'spoil' | 'served'>;
type Fault = readonly [what: string, wrong: Wrong, fact: string, reason: RegExp];

/** A member that is taken out of what is sent, so that it is not refused. */
function unseen(name: string): Wrong {
  return { bend: ({ text }: Bent) => (text.includes(name) ? { text: text.replace(new RegExp(`,?"${name}":"x"`), '') } : {}) };
}

const faults: readonly Fault[] = [
  ['a value takes any member', unseen('nf_not_stated'), 'field names:corner', /unstated refused/],
  [
    'refusals lack a field of every answer',
    {
      spoil: ({ status, headers: { 'x-request': _left, ...headers } }: Passing) => (status >= 400 ? { headers } : {}),
    },
    'response payload shapes:GET /crates/{id}',
    /header X-Request/,
  ],
  [
    'a total counts what is hidden',
    {
      spoil: ({ method, target, status, text }: Passing) =>
        method === 'GET' && status === 200 && /\/crates(?:\?|$)/.test(target)
          ? { text: text.replace(/"total":(\d+)/, (_, total) => `"total":${Number(total) + 1}`) }
          : {},
    },
    'pagination bounds:GET /crates',
    /total beside/,
  ],
  [
    'a body in chunks may have any size',
    {
      bend: ({ headers, text }: Bent) => (headers['transfer-encoding'] && text.length > 4096 ? { text: text.trimEnd() } : {}),
    },
    'size limits:service',
    /body in chunks above the bound/,
  ],
  [
    'nobody is told of what goes with something else',
    { served: crates.replace('on: [delete thing], payload', 'on: [delete thing], if: "1 > 2", payload') },
    'emitting operations:thing.gone',
    /deleted with its crate/,
  ],
  [
    'who asks for a family hears of everything',
    { bend: ({ text }: Bent) => ({ text: text.replace('"thing.*"', '"*"') }) },
    'kinds of event:service',
    /nothing else to who asks for thing/,
  ],
];

describe('beside what is seen there is what is not', { concurrency: 3 }, () => {
  for (const [what, wrong, fact, reason] of faults) {
    test(`${fact} is said to be broken where ${what}`, async () => {
      const stand = await openStand(crates, { inPairs: true, serve, ...wrong });
      try {
        const { breaches, facts } = await stand.verify({
          only: [fact, 'resources/missing'],
          until: (breach) => reason.test(breach.reason),
        });
        const told = breaches.map(({ kind, subject, reason: why }) => `${kind}:${subject} ${why}`);
        const verdict = facts.find(({ kind, subject }) => `${kind}:${subject}` === fact);
        assert.ok(
          told.some((one) => one.startsWith(fact) && reason.test(one)),
          `${told.join('; ')} ${verdict?.verdict} ${JSON.stringify(verdict?.evidence)}`,
        );
      } finally {
        await stand.close();
      }
    });
  }
});

test('a service that keeps to it is held to each of these looks', async () => {
  const stand = await openStand(crates, { inPairs: true, serve });
  try {
    const only = ['resources/missing', ...new Set(faults.map(([, , fact]) => fact))];
    const { breaches, facts } = await stand.verify({ only });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => [kind, subject, reason, seen]),
      [],
    );
    for (const fact of only) {
      const found = facts.find(({ kind, subject }) => `${kind}:${subject}` === fact);
      const missing = found?.evidence?.looks.filter(({ isMet }) => !isMet).map(({ name }) => name) ?? [];
      const looked = /stated, refused|in a refusal|hidden|in chunks|deleted with|nothing else to/;
      assert.deepEqual(
        missing.filter((name) => looked.test(name)),
        [],
        fact,
      );
    }
  } finally {
    await stand.close();
  }
});
