import { rules } from '../../src/check/all.ts';
import { check } from '../../src/check/check.ts';
import { securityRules } from '../../src/check/security/bounds.ts';
import type { Finding } from '../../src/document/document.ts';
import { approvalOf, digest, type Line, written } from './approval.ts';
import { chosenChanges } from './case-changes.ts';
import { type Recorded, services } from './documents.ts';
import { foreign, prose, spokenOnly, undecided } from './others.ts';

/**
 * What is found in many documents, sound ones and ones that were made wrong: `node test/recorded/check.ts --write` writes it anew
 * where it has changed on purpose; `--show NAME` tells what was changed in one of them, and what is found in it, word for word.
 */
export const findings = approvalOf('check.txt', 'node test/recorded/check.ts');

/** The documents that are recorded, or every so manyth. */
export function* strangeServices(every = 1, from = 0): Generator<Recorded> {
  yield* services({ times: 2, editsEach: 10, every, from });
}

/** Documents in which prose stands, and that were written in other languages. */
export function* strangeOthers(every = 1): Generator<Recorded> {
  yield* prose(every);
  yield* spokenOnly(every);
  yield* foreign(every);
}

/** All that is recorded, in the order of the file. */
export function* allStrange(): Generator<Recorded> {
  yield* strangeServices();
  for (const from of [0, 1, 2]) yield* chosenChanges(3, from);
  yield* undecided(1);
  yield* strangeOthers();
}

/** How often what is found in each, and a digest of every word and place of it. What a reviewer asks is in the digest alone. */
export function* found(all: Iterable<Recorded>): Generator<Line> {
  for (const one of all) {
    const here = foundIn(one);
    const codes = [...Map.groupBy(here, ({ code }) => code)].filter(([code]) => !code.startsWith('security/'));
    const counted = codes.map(([code, { length }]) => (length > 1 ? `${code} ${length}` : code));
    yield [one.name, [digest(here), counted.join(', ')].join(' ').trimEnd()];
  }
}

/** What is found in a document, what a reviewer asks of it included. */
export function foundIn({ document }: Recorded): readonly Finding[] {
  return check(document, { rules: [...rules, ...securityRules] }).findings;
}

if (import.meta.main) {
  const all = [...allStrange()];
  const [how, name] = process.argv.slice(2);
  if (how === '--write') findings.write(found(all));
  const shown = how === '--show' ? all.find((one) => one.name === name) : undefined;
  if (shown) console.log(written({ changes: shown.changes, findings: foundIn(shown) }, 2));
}
