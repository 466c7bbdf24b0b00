import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MockCase } from './mock-cases/documents.ts';
import { answeredTo, mockTrials } from './mock-cases/run.ts';

/** A reason why a stand-in answers otherwise than Prism does, as docs/workbench.md gives it. */
interface Reason {
  readonly name: string;
  /** Prism's status and ours; the latter of a stand-in that is strict too, where that is another one. */
  readonly statuses: readonly (readonly [theirs: number, ours: number, strict?: number])[];
  readonly holds: (one: MockCase) => boolean;
}

const isAsked = ({ sent }: MockCase): boolean => /status=|code=/.test(JSON.stringify(sent?.headers ?? {}));
const hasSuccess = ({ responses }: MockCase): boolean => Object.keys(responses).some((status) => /^(?:2|default)/.test(status));
const named =
  (...names: readonly string[]) =>
  ({ name }: MockCase): boolean =>
    names.includes(name);

const reasons: readonly Reason[] = [
  {
    name: 'what is wrong with a request is 400',
    statuses: [[422, 400]],
    holds: ({ responses }) => !Object.hasOwn(responses, '422'),
  },
  {
    name: 'what can be answered is answered',
    statuses: [
      [406, 200, 406],
      [422, 200, 400],
    ],
    holds: named('a type that is not there', 'a wish that is none', 'a part that breaks its pattern'),
  },
  { name: 'a scenario that cannot be is 400', statuses: [[404, 400]], holds: isAsked },
  {
    name: 'a call that nothing speaks against succeeds',
    statuses: [
      [500, 204],
      [400, 204],
    ],
    holds: (one) => !hasSuccess(one) && !isAsked(one),
  },
  { name: 'HEAD is GET without a body', statuses: [[405, 200]], holds: ({ sent }) => sent?.method === 'HEAD' },
  {
    name: 'with --relax auth any credential will do',
    statuses: [[401, 200]],
    holds: named('a password in place of a token', 'a digest in place of a token'),
  },
  { name: 'what can be made is made', statuses: [[500, 200]], holds: hasSuccess },
  { name: 'an empty part of a path names nothing', statuses: [[422, 404]], holds: named('an empty part') },
  {
    name: 'what need not be sent is not missed',
    statuses: [[422, 200]],
    holds: named('a field that is not named', 'a part that is not named'),
  },
  {
    name: 'how a form is written is not judged',
    statuses: [[422, 200]],
    holds: named('a field that may not be empty', 'reserved letters that may not be'),
  },
];

const met = new Map<string, number>();

for (const [one, format] of mockTrials) {
  test(`${one.name}, in ${format}: as Prism answers, or for a reason that is given`, async () => {
    const ours = await answeredTo(one, format);
    if (ours === one.status) return;
    const strict = await answeredTo(one, format, true);
    const reason = reasons.find(
      ({ statuses, holds }) =>
        holds(one) &&
        statuses.some(([theirs, own, ownStrict = own]) => theirs === one.status && own === ours && ownStrict === strict),
    );
    assert.ok(reason, `${one.status} there, ${ours} here, ${strict} where it is strict`);
    met.set(reason.name, (met.get(reason.name) ?? 0) + 1);
  });
}

test('the page gives the reasons, how many cases have each, and how many are alike', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/workbench.md'), 'utf8');
  for (const { name } of reasons)
    assert.ok(page.includes(`| ${name} | ${met.get(name) ?? 0} |`), `${name}: ${met.get(name) ?? 0}`);
  const differing = [...met.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(
    page.includes(`${mockTrials.length - differing} of ${mockTrials.length}`),
    `${mockTrials.length - differing} of ${mockTrials.length}`,
  );
});
