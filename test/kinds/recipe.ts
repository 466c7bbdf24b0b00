import { readFileSync } from 'node:fs';

/** The file of a new kind that `CONTRIBUTING.md` shows: the first fence of its recipe. */
export function kindOfRecipe(): string {
  const page = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
  const recipe = page.slice(page.indexOf('## Recipe: a new kind'));
  const [, fence] = /\n {3}```ts\n([\s\S]*?)\n {3}```/.exec(recipe) ?? [];
  if (fence === undefined) throw new Error('CONTRIBUTING.md shows no file of a new kind');
  return fence.replace(/^ {3}/gm, '');
}
