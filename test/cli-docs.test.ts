import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { main } from '../src/cli.ts';

/** The examples of two pages are what really happens: commands with their output, programs with what they print. */
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-docs-'));
symlinkSync(join(root, 'examples'), join(folder, 'examples'), 'junction');
after(() => rmSync(folder, { recursive: true, force: true }));

interface Fence {
  readonly language: string;
  readonly text: string;
}

function fencesOf(page: string): Fence[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({ language, text: body }));
}

/** Writes the fences that begin with a comment naming a file. */
function writeFiles(fences: readonly Fence[]): void {
  for (const { text } of fences) {
    const name = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text)?.[1];
    if (name !== undefined) writeFileSync(join(folder, name), text);
  }
}

const commands = fencesOf('command-line.md');
writeFiles(commands);

for (const { language, text } of commands) {
  const [, command] = /^\$ ninefold (check [^|\n]*)\n/.exec(text) ?? [];
  if (language !== 'console' || command === undefined) continue;
  test(`docs/command-line.md shows what \`ninefold ${command}\` writes`, async () => {
    let out = '';
    const write = (more: string) => {
      out += more;
    };
    const before = process.cwd();
    process.chdir(folder);
    try {
      await main(command.split(' '), { write, complain: write, isTTY: false, columns: 120, colour: false });
    } finally {
      process.chdir(before);
    }
    assert.equal(text, `$ ninefold ${command}\n${out}`);
  });
}

/** What a program prints, run in this process and in its folder. */
async function printedBy(path: string): Promise<string> {
  let out = '';
  const before = process.cwd();
  process.chdir(folder);
  const log = mock.method(console, 'log', (...words: unknown[]) => {
    out += `${format(...words)}\n`;
  });
  try {
    await import(pathToFileURL(path).href);
  } finally {
    log.mock.restore();
    process.chdir(before);
  }
  return out;
}

const programs = fencesOf('library.md');
writeFiles(programs);

for (const [index, { language, text }] of programs.entries()) {
  const printed = programs[index + 1];
  if (language !== 'ts' || printed?.language !== 'text') continue;
  test(`the program of docs/library.md that begins with \`${text.split('\n')[0]}\` prints what the page says`, async () => {
    const path = join(folder, `program-${index}.ts`);
    writeFileSync(path, text.replaceAll("'ninefold'", `'${pathToFileURL(join(root, 'src/index.ts'))}'`));
    assert.equal(await printedBy(path), printed.text);
  });
}
