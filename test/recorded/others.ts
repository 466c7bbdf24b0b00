import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { chanceOf } from '../../bench/drawn/chance.ts';
import { fromForeign } from '../../src/convert/foreign.ts';
import type { JsonMap } from '../../src/document/document.ts';
import { parseDocument } from '../../src/document/read/parse.ts';
import { isKey } from '../../src/parts/form.ts';
import { proseCases, silentProse } from '../check/cases/prose.ts';
import { read } from '../check/harness.ts';
import { changedBy, originals, type Recorded, root, seedOf } from './documents.ts';
import { bySort, editAt, edited, otherText, sitesOf, standingAt } from './edits.ts';

/** Services of which some things are said to be open, to be none or to be any, and taken over ones with the same mistakes. */
export function* undecided(every: number): Generator<Recorded> {
  for (const { name, document } of originals(every)) {
    const chance = chanceOf(seedOf(`${name} undecided`));
    const sorts = chance.shuffled(bySort(sitesOf(document.tree).filter(({ path }) => path.length > 1 && path.length < 6)));
    const edits = sorts.slice(0, 8).map((sites) => standingAt(chance.one(sites), chance));
    yield changedBy(`undecided.${name}`, document, edits);
    if (chance.between(1, 4) > 1) continue;
    const wrong = sorts.slice(8, 18).map((sites) => editAt(chance.one(sites), sites, chance));
    yield changedBy(`taken.${name}`, { ...document, isTaken: true }, wrong);
  }
}

/** Pages of which lines are left out, exchanged or said twice, with prose between them that states something or only speaks of it. */
export function* prose(every: number): Generator<Recorded> {
  const files = globSync('{examples,bench}/*.md', { cwd: root }).sort();
  const said = [...proseCases.map(({ text }) => text), ...silentProse];
  for (const [at, file] of files.entries()) {
    if (at % every > 0) continue;
    const chance = chanceOf(seedOf(file));
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    const changes: string[] = [];
    for (let left = 8; left > 0; left--) {
      const line = chance.between(1, lines.length - 2);
      const heading = lines.findIndex((text, number) => number > line && text.startsWith('#'));
      const way = chance.one([
        () => lines.splice(line, 1),
        () => lines.splice(line, 0, lines[line]!),
        () => lines.splice(line, 2, lines[line + 1]!, lines[line]!),
        () => heading > 0 && lines.splice(heading + 1, 0, '', chance.one(said).replace(/^#+ .*\n+/, ''), ''),
      ]);
      way();
      changes.push(`line ${line}`);
    }
    const name = `prose.${basename(file)}`;
    yield { name, changes, document: read(lines.join('\n'), basename(file)) };
  }
}

/** Pages that state nothing in structure: what looks as if it stated something, some of it after each other, with a word made otherwise. */
export function* spokenOnly(every: number): Generator<Recorded> {
  const said = [...proseCases.map(({ text }) => text), ...silentProse];
  for (let page = 0; page < 60; page += every) {
    const chance = chanceOf(seedOf(`page ${page}`));
    const some = Array.from({ length: 3 }, () => chance.one(said));
    const texts = some.map((text) => (chance.between(0, 2) > 0 ? String(otherText(text, chance)) : text));
    yield { name: `page.${page}`, changes: texts, document: read(`# Notes\n\n${texts.join('\n\n')}`, 'notes.md') };
  }
}

/** Descriptions in other languages, each once as it is and once with edits of its source. */
export function* foreign(every: number): Generator<Recorded> {
  const files = globSync('test/fixtures/{foreign/*.yaml,corpus/{oai-examples,asyncapi}/**/*api*.{yaml,yml}}', {
    cwd: root,
  }).sort();
  for (const [at, file] of files.entries()) {
    if (at % every > 0) continue;
    const name = `foreign.${file.split('/').slice(2).join('-')}`;
    const tree: JsonMap = parse(readFileSync(join(root, file), 'utf8'));
    const chance = chanceOf(seedOf(name));
    const edits = chance
      .shuffled(bySort(sitesOf(tree).filter(({ path }) => path.length > 2)))
      .slice(0, 5)
      .map((sites) => editAt(chance.one(sites), sites, chance));
    for (const [way, one] of [
      ['', tree],
      ['.edited', edited(tree, edits)],
    ] as const) {
      const document = parseDocument(JSON.stringify(one, undefined, 1), 'foreign.json', { isKey, foreign: fromForeign });
      yield { name: `${name}${way}`, changes: way === '' ? [] : edits.map(({ words }) => words), document };
    }
  }
}
