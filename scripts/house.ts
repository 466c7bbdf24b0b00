import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sortsUnderRule } from '../test/house/kind-words.ts';
import { sortOf } from '../test/house/kinds.ts';
import { readProject } from '../test/house/project.ts';
import { exceptionsOf } from './house/exceptions.ts';
import { type Figure, figuresOf, type WarmPostFigures } from './house/figures.ts';

/**
 * `npm run house`: the measures of the house, taken of the tree as it is. `--json` gives them as one object, `--markdown` as the
 * table of ARCHITECTURE.md, `--exceptions` lists what the rules of the house still let pass.
 */
const args = process.argv.slice(2);
const { sources, beside } = readProject();

if (args.includes('--exceptions')) console.log(JSON.stringify(exceptionsOf(sources, beside), undefined, 2));
else {
  const figures = figuresOf(sources, beside, await Promise.all(sortsUnderRule.map(sortOf)), await warmPost());
  if (args.includes('--json')) {
    console.log(JSON.stringify(Object.fromEntries(figures.map(({ name, value }) => [name, value])), undefined, 2));
  } else console.log(args.includes('--markdown') ? asMarkdown(figures) : asText(figures));
}

/** What one warm POST calls, where that is measured. */
async function warmPost(): Promise<WarmPostFigures | undefined> {
  const path = join(import.meta.dirname, 'house', 'warm-post.ts');
  if (!existsSync(path)) return undefined;
  const { measureWarmPost } = (await import(path)) as { measureWarmPost(): Promise<WarmPostFigures> };
  return measureWarmPost();
}

function asMarkdown(figures: readonly Figure[]): string {
  return ['| measure | today |', '|---|---|', ...figures.map(({ name, value }) => `| ${name} | ${value} |`)].join('\n');
}

function asText(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures.map(({ name, value }) => `${name.padEnd(width)}  ${value}`).join('\n');
}
