/** Descriptions drawn by lot from a folder: one of each provider, before any has a second one. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { chanceOf } from '../drawn/chance.ts';
import { describedBy } from './description.ts';
import { familiesOf } from './families.ts';
import { askableOf } from './paged.ts';

const bytesMax = 2_000_000;

/** So many files, fewer where there are no more that make something; `isPaged` = of those alone whose lists say pages. */
export function drawnFiles(
  directory: string,
  sample: number,
  seed: number,
  only: string | undefined,
  isPaged: boolean,
): string[] {
  const chance = chanceOf(seed);
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  const files = names.map((name) => join(directory, name)).filter((file) => only === undefined || file.includes(only));
  const providers = [...Map.groupBy(files.sort(), (file) => providerOf(directory, file)).values()];
  const queues = chance.shuffled(providers).map((some) => chance.shuffled(some));
  const drawn: string[] = [];
  while (drawn.length < sample && queues.some((queue) => queue.length > 0))
    for (const queue of queues) {
      if (drawn.length === sample) break;
      for (let file = queue.shift(); file !== undefined; file = queue.shift())
        if (makesSomething(file, isPaged)) {
          drawn.push(file);
          break;
        }
    }
  return drawn;
}

function providerOf(directory: string, file: string): string {
  const [first = ''] = relative(directory, file).split(sep);
  return first.replace(/\.json$/, '');
}

function makesSomething(file: string, isPaged: boolean): boolean {
  if (statSync(file).size > bytesMax) return false;
  try {
    const root = JSON.parse(readFileSync(file, 'utf8')) as JsonMap;
    if (!isMap(root) || (root.openapi === undefined && root.swagger === undefined)) return false;
    const described = describedBy(root);
    return [...familiesOf(described).values()].some((family) => !isPaged || askableOf(described, family));
  } catch {
    return false;
  }
}
