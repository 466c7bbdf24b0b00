import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is recorded of one thing: its name, which has no space and stays, and one line. */
export type Line = readonly [name: string, said: string];

/** A file of lines that were looked at: what comes now is held to them, and a change on purpose shows in the difference of the file. */
export interface Approval {
  /** Holds the lines that come now to those of the same names; with `all`, there is no other line whose name is like that. */
  hold(now: Iterable<Line>, all?: RegExp): void;
  write(lines: Iterable<Line>): void;
}

/** The approval file of a room; `command` writes it anew. */
export function approvalOf(file: string, command: string): Approval {
  const path = join(import.meta.dirname, file);
  const written = (): Map<string, string> =>
    new Map(
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );
  return {
    hold(now, all) {
      const before = written();
      const lines = [...now];
      const others = lines.filter(([name, said]) => before.get(name) !== said);
      assert.deepEqual(
        Object.fromEntries(others),
        Object.fromEntries(others.map(([name]) => [name, before.get(name)])),
        `it says more of one: ${command} --show NAME. After a change on purpose: ${command} --write`,
      );
      const meant = all === undefined ? [] : [...before.keys()].filter((name) => all.test(name));
      if (all !== undefined)
        assert.deepEqual(
          meant,
          lines.map(([name]) => name),
          `what is no more: ${command} --write`,
        );
    },
    write(lines) {
      writeFileSync(path, `${[...lines].map((line) => line.join(' ')).join('\n')}\n`);
    },
  };
}

/** A few letters that are others where a value is another one. */
export function digest(value: unknown): string {
  return createHash('sha256').update(written(value)).digest('hex').slice(0, 8);
}

/** A value as a text, with what JSON has no form for. */
export function written(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_key, one: unknown) => plain(one), indent) ?? 'nothing';
}

function plain(value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  if (typeof value === 'bigint') return `${value}n`;
  if (value === undefined || typeof value === 'symbol') return String(value);
  if (Object.is(value, -0) || (typeof value === 'number' && !Number.isFinite(value))) return `number ${value}`;
  return typeof value === 'function' ? 'a function' : value;
}
