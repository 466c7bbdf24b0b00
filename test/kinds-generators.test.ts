/** Identifiers that sort by the time they were made, also within a millisecond. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generators } from '../src/kinds/generators/all.ts';
import type { Draw, Generator } from '../src/kinds/generators/kind.ts';
import { systemChance } from '../src/serve/http/clock.ts';

const nowMs = 1_469_918_176_385;
/** What several processes would draw on at once has no order within a millisecond. */
const alone = { nowMs, bytes: systemChance.bytes, uuid: systemChance.uuid };
const rising = { ...alone, rising: () => systemChance.rising?.(nowMs) };

for (const word of ['ulid', 'uuidv7']) {
  const generator: Generator | undefined = generators.find((one) => one.word === word);
  const make = (draw: Draw) => Array.from({ length: 20_000 }, () => generator?.make(draw, 0) ?? '');

  test(`${word}s of one millisecond rise, and are what the standard says`, () => {
    const made = make(rising);
    assert.deepEqual(made, made.toSorted());
    assert.equal(new Set(made).size, made.length);
    const pattern = new RegExp(`^${generator?.pattern(0)}$`);
    for (const one of [...made, ...make(alone)]) assert.match(one, pattern);
    // The time is at the front: 01ARYZ6S41 is the specification's own example of ULID.
    const time = word === 'ulid' ? '01ARYZ6S41' : '01563df3-6481-7';
    for (const one of [...made, ...make(alone)]) assert.ok(one.startsWith(time), one);
  });

  test(`nobody can tell one ${word} from the one before it`, () => {
    const steps = make(rising).map((one, at, all) => digits(one) - digits(all[at - 1] ?? one));
    // As many distances as identifiers, and none of them short: 2^40 and more lie between two of them, as a rule.
    assert.equal(new Set(steps.slice(1)).size, steps.length - 1);
    assert.ok(steps.slice(1).filter((step) => step > 2n ** 40n).length > 19_990);
  });
}

test('numbers that rise begin anew with each millisecond, and where there is no room left above them', () => {
  const made = (ms: number) => systemChance.rising?.(ms) ?? 0;
  const firsts = Array.from({ length: 2_000 }, (_, at) => made(at));
  assert.ok(firsts.every((number) => Number.isInteger(number) && number >= 0 && number < 2 ** 39));
  assert.ok(firsts.some((number, at) => number < (firsts[at - 1] ?? 0)));
  let fell = 0;
  for (let last = made(-1), at = 0; at < 3_000_000 && fell === 0; at++) {
    const next = made(-1);
    if (next <= last) fell = at;
    assert.ok(next < 2 ** 40);
    last = next;
  }
  assert.ok(fell > 500_000, `it began anew after ${fell}`);
});

/** The digits of an identifier as one number. */
function digits(text: string): bigint {
  let number = 0n;
  for (const character of text.replaceAll('-', ''))
    number = number * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(character.toUpperCase()));
  return number;
}
