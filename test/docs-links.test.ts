import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
const shipped = ['README.md', 'LICENSE', 'package.json', ...files];
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
  .map((name) => join('docs', name));

test('no link of a page in the package leads to what is not in it', () => {
  const lost = ['README.md', ...pages].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
    return [...text.matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)].flatMap(([, to = '']) => {
      const target = relative(root, join(root, dirname(page), to));
      const isShipped = shipped.some((one) => target === one || target.startsWith(`${one}/`));
      return isShipped && existsSync(join(root, target)) ? [] : [`${page}: ${to}`];
    });
  });
  assert.deepEqual(lost, []);
});
