import { report } from '../catalogue.ts';
import { type PartName, type Place, type Pointer, partNames } from '../document.ts';
import { readJson } from '../json.ts';
import { type Head, type KeyStep, merge, readWhole, takeTitle } from '../merge.ts';
import { nearest } from '../nearest.ts';
import { pointerOf } from '../pointer.ts';
import type { Located, ReadContext } from '../read-context.ts';
import { type SourceText, snippetOf } from '../source.ts';
import { isMap, isStanding } from '../values.ts';
import { readYaml } from '../yaml/yaml.ts';
import { type Block, blocksOf } from './blocks.ts';
import { headerOf, plainText, readTable } from './table.ts';

/** Takes what a Markdown document states by its headings, fences and tables, and keeps everything else as prose. */
export function readMarkdown(source: SourceText, head: Head, gathering: ReadContext): void {
  const walk: Walk = {
    source,
    head,
    gathering,
    blocks: blocksOf(source.text),
    isTitled: false,
    part: undefined,
    keys: [],
    lost: undefined,
    prose: undefined,
  };
  for (const [index, block] of walk.blocks.entries()) readBlock(block, index, walk);
  closeProse(walk);
}

/** Where in the document a walk is. */
interface Walk extends ProseWalk {
  readonly head: Head;
  readonly blocks: readonly Block[];
  /** The first `#` heading, which is the title, has been met. */
  isTitled: boolean;
  part: KeyStep | undefined;
  /** The open `###` and `####` headings. */
  keys: readonly (KeyStep & { readonly depth: number })[];
  /** The open heading that is no part, under which nothing is stated. */
  lost: Lost | undefined;
}

interface Lost extends KeyStep {
  /** The heading of a part that was most likely meant. */
  readonly meant?: string;
  /** It was said that what stands below states nothing. */
  isTold: boolean;
}

function readBlock(block: Block, index: number, walk: Walk): void {
  if (block.kind === 'heading') readHeading(block, index, walk);
  else if (block.kind === 'break') {
    closeProse(walk);
    walk.keys = [];
  } else if (block.kind === 'fence' && isMarked(block.info)) readFence(block, walk);
  else if (block.kind === 'table') readTableBlock(block, walk);
  else if (block.kind === 'comment') closeProse(walk);
  else addProse(block, pointerOf(pathOf(walk)), walk);
}

function readHeading(block: Heading, index: number, walk: Walk): void {
  const { head, source } = walk;
  const text = plainText(source.text.slice(...block.text));
  const step = { key: text, place: source.place(...block.text) };
  if (block.depth > 4) {
    addProse(block, pointerOf(pathOf(walk)), walk);
    return;
  }
  closeProse(walk);
  if (block.depth <= 2) {
    const part = block.depth === 2 ? sectionOf(text) : undefined;
    const isTitle = block.depth === 1 && !walk.isTitled;
    if (isTitle) takeTitle(text, step.place, head, walk.gathering);
    walk.isTitled ||= isTitle;
    walk.part = part && { ...step, key: part };
    walk.keys = [];
    walk.lost = part === undefined && !isTitle ? lostAt(step) : undefined;
    if (part === undefined && !isTitle) addProse(block, pointerOf(pathOf(walk)), walk);
    if (part !== undefined) notePlace(`/${part}#`, step.place, walk);
    return;
  }
  walk.keys = walk.keys.filter((key) => key.depth < block.depth);
  const key = { ...step, depth: block.depth };
  if (walk.part !== undefined && isKey(key, index, walk)) walk.keys = [...walk.keys, key];
  else addProse(block, pointerOf(pathOf(walk)), walk);
}

function lostAt(step: KeyStep): Lost {
  const meant = nearestSection(step.key);
  return { ...step, ...(meant !== undefined && { meant }), isTold: false };
}

type Heading = Extract<Block, { kind: 'heading' }>;

/** True if a fence or a table that states something stands under the heading, or under a deeper heading of its own. */
function isKey(heading: Walk['keys'][number], index: number, walk: Walk): boolean {
  let path = [...pathOf(walk), heading.key];
  const { length } = path;
  for (let next = index + 1; next < walk.blocks.length; next++) {
    const block = walk.blocks[next];
    if (block === undefined || block.kind === 'break') return false;
    if (block.kind === 'heading' && block.depth <= heading.depth) return false;
    if (block.kind === 'heading' && block.depth === 4)
      path = [...path.slice(0, length), plainText(walk.source.text.slice(...block.text))];
    if (block.kind === 'fence' && isMarked(block.info)) return true;
    if (block.kind === 'table' && tableKeys(headerOf(block, walk.source), path, walk) !== undefined) return true;
  }
  return false;
}

/** True of a fence whose only word is `yaml` or `json`. */
function isMarked(info: string): boolean {
  return /^(?:yaml|json)$/i.test(info);
}

function readFence(block: Extract<Block, { kind: 'fence' }>, walk: Walk): void {
  const { source, gathering } = walk;
  if (walk.lost !== undefined) {
    if (!tellMisspelt(walk, walk.lost)) {
      const message = `The fence states nothing: \`${walk.lost.key}\` is no part.`;
      report(gathering, 'document/fence-ignored', source.place(...block.open), message);
    }
    addProse(block, pointerOf(pathOf(walk)), walk);
    return;
  }
  closeProse(walk);
  if (!block.closed) report(gathering, 'document/fence-open', source.place(...block.open), 'The fence is not closed.');
  const steps = stepsOf(walk);
  const at = pointerOf(pathOf(walk));
  const snippet = snippetOf(source, block.content);
  const read = block.info.toLowerCase() === 'json' ? readJson : readYaml;
  const located = read(snippet, at, steps.length, gathering);
  if (located === undefined) return;
  if (steps.length === 0) readWhole(located, walk.head, gathering);
  else state(steps, located, at, gathering);
}

/** Says once of a heading that a part was meant, where one was. */
function tellMisspelt({ gathering }: Walk, lost: Lost): boolean {
  const { meant, key, place } = lost;
  if (meant !== undefined && !lost.isTold) {
    const remedy = `Write the heading as \`## ${meant}\`, or mark what stands below it \`yaml example\`.`;
    report(gathering, 'document/misspelt-part', place, `\`${key}\` is no part, so what stands below it states nothing.`, {
      remedy,
    });
    lost.isTold = true;
  }
  return meant !== undefined;
}

/** True of the first header of a table that would state something in the part that was meant, or below a heading there. */
function isMeantAsFacts(header: string, { meant }: Lost, walk: Walk): boolean {
  const part = meant === undefined ? undefined : sectionOf(meant);
  return part !== undefined && [[part], [part, 'x']].some((path) => tableKeys(header, path, walk) !== undefined);
}

function readTableBlock(block: Extract<Block, { kind: 'table' }>, walk: Walk): void {
  const { source, gathering } = walk;
  const path = pathOf(walk);
  const header = headerOf(block, source);
  const keys = walk.part === undefined ? undefined : tableKeys(header, path, walk);
  if (keys === undefined) {
    if (walk.lost && isMeantAsFacts(header, walk.lost, walk)) tellMisspelt(walk, walk.lost);
    const lower = header.toLowerCase();
    if (walk.part !== undefined && lower !== header && tableKeys(lower, path, walk) !== undefined) {
      const remedy = { remedy: `Write \`${lower}\`.` };
      const place = source.place(...(block.header[0] ?? block.all));
      report(gathering, 'document/table-ignored', place, `\`${header}\` is no key, so the table is prose.`, remedy);
    }
    addProse(block, pointerOf(pathOf(walk)), walk);
    return;
  }
  closeProse(walk);
  const place = source.place(...(block.header[0] ?? block.all));
  const at = pointerOf([...path, ...keys]);
  state([...stepsOf(walk), ...keys.map((key) => ({ key, place }))], readTable(block, at, source, gathering), at, gathering);
}

/** The keys below a place that a table's first header leads to: none where it names the part itself; undefined if it is prose. */
function tableKeys(header: string, path: readonly string[], { gathering }: Walk): readonly string[] | undefined {
  if (path.length === 1 && path[0] === header) return [];
  return header !== '' && gathering.isKey(path, header) ? [header] : undefined;
}

/** Merges what a fence or a table states; a map stands where its heading stands, for a frame shows that best. */
function state(steps: readonly KeyStep[], located: Located, at: Pointer, gathering: ReadContext): void {
  const { value, places } = located;
  const last = steps.at(-1);
  if (last !== undefined && isMap(value) && !isStanding(value)) places.set(at, last.place);
  merge(steps, located, gathering);
}

function stepsOf({ part, keys }: Walk): readonly KeyStep[] {
  return part === undefined ? [] : [part, ...keys];
}

function pathOf(walk: Walk): string[] {
  return stepsOf(walk).map((step) => step.key);
}

function notePlace(pointer: string, place: Place, { gathering }: Walk): void {
  if (!gathering.places.has(pointer)) gathering.places.set(pointer, place);
}

/** A walk over a Markdown text, as far as it keeps prose. */
interface ProseWalk {
  readonly source: SourceText;
  readonly gathering: ReadContext;
  /** The stretch of prose that is open: blocks that follow each other at one place are one piece. */
  prose: { readonly at: Pointer; readonly from: number; to: number } | undefined;
}

/** Keeps a block as prose of a place, together with the prose before it. */
function addProse(block: Block, at: Pointer, walk: ProseWalk): void {
  warnOfFences(block, walk);
  const [from, to] = block.all;
  if (walk.prose?.at === at) walk.prose.to = to;
  else {
    closeProse(walk);
    walk.prose = { at, from, to };
  }
}

/** Ends the stretch of prose that is open. */
function closeProse(walk: ProseWalk): void {
  const { prose, source, gathering } = walk;
  if (prose === undefined) return;
  walk.prose = undefined;
  const { at, from, to } = prose;
  gathering.prose.push({ at, text: source.text.slice(from, to), place: source.place(from, to) });
}

/** A fence that looks as if it stated something, and does not: in a quote or a list, or marked with another word for YAML. */
function warnOfFences(block: Block, { source, gathering }: ProseWalk): void {
  const isContainer = block.kind === 'container';
  const fences = isContainer ? block.fences : block.kind === 'fence' && block.info === 'yml' ? [block.open] : [];
  for (const fence of fences) {
    const why = isContainer ? 'it stands in a quote or a list' : 'it is marked `yml`';
    const remedy = isContainer ? 'Put it at the left edge, or mark it `yaml example`.' : 'Mark it `yaml`.';
    report(gathering, 'document/fence-ignored', source.place(...fence), `The fence states nothing: ${why}.`, { remedy });
  }
}

/** What a `##` heading can open: one of the nine parts, or the rows that say what was inferred. */
type Section = PartName | 'evidence';

/** The part that a `##` heading opens by its name or alias, in any case. */
function sectionOf(heading: string): Section | undefined {
  return sections.get(plain(heading));
}

/** The heading that a misspelt one most likely means. */
function nearestSection(heading: string): string | undefined {
  return nearest(plain(heading), sections.keys());
}

function plain(heading: string): string {
  return heading.trim().replace(/\s+/g, ' ').toLowerCase();
}

const sections: ReadonlyMap<string, Section> = new Map([
  ...partNames.map((name): [string, Section] => [name, name]),
  ['what the service does', 'purpose'],
  ['resources and their fields', 'resources'],
  ['states and transitions', 'states'],
  ['evidence', 'evidence'],
]);
