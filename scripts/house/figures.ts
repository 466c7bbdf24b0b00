import { exportsOf, functionsOf } from '../../test/house/declarations.ts';
import { namesMeanOneThing } from '../../test/house/exports.ts';
import { folderCircles } from '../../test/house/floors.ts';
import { functionLinesMax } from '../../test/house/functions.ts';
import { otherMeanings } from '../../test/house/kind-words.ts';
import { onlyKindsKnowTheirWords, type Sort } from '../../test/house/kinds.ts';
import { roomOf } from '../../test/house/rooms.ts';
import type { SourceFile } from '../../test/house/source.ts';

/** One measure of the house. */
export interface Figure {
  readonly name: string;
  readonly value: string;
}

/** What one warm POST calls. */
export interface WarmPostFigures {
  readonly calls: number;
  readonly files: number;
  readonly folders: number;
  readonly changesOfFolder: number;
}

/** The measures of the house, in the order of the table of ARCHITECTURE.md. */
export function figuresOf(
  sources: readonly SourceFile[],
  beside: readonly SourceFile[],
  sorts: readonly Sort[],
  warmPost: WarmPostFigures | undefined,
): Figure[] {
  const lines = sources.map(linesOf).sort((a, b) => a - b);
  const importsOfEach = importGraph(sources);
  const functions = sources.flatMap(functionsOf);
  const exported = sources.flatMap(exportsOf);
  const counted = (wanted: (file: SourceFile) => boolean) => `${sources.filter(wanted).length} files`;
  return [
    { name: 'files, lines', value: `${sources.length}, ${sum(lines)}` },
    { name: 'median, 90th, longest file', value: `${share(lines, 0.5)}, ${share(lines, 0.9)}, ${lines.at(-1) ?? 0}` },
    { name: 'imports per file', value: mean([...importsOfEach.values()].map(({ size }) => size)) },
    { name: 'deepest chain of imports', value: String(deepestChain(importsOfEach)) },
    {
      name: 'files with one importer',
      value: percent(importerCounts(importsOfEach).filter((count) => count === 1).length, sources.length),
    },
    { name: 'lines of tests to lines of source', value: (sum(testLines(beside)) / sum(lines)).toFixed(2) },
    { name: 'folder circles by room', value: circlesByRoom(sources) },
    {
      name: 'functions, median lines',
      value: `${functions.length}, ${share(
        functions.map((one) => one.lines).sort((a, b) => a - b),
        0.5,
      )}`,
    },
    {
      name: `functions over ${functionLinesMax} lines`,
      value: String(functions.filter((one) => one.lines > functionLinesMax).length),
    },
    { name: 'exported names with several meanings', value: String(namesMeanOneThing([])(sources).length) },
    {
      name: 'exports with a comment',
      value: percent(exported.filter(({ isDocumented }) => isDocumented).length, exported.length),
    },
    { name: "files that know a kind's word", value: kindWords(sources, sorts) },
    { name: 'files that know `allOf`', value: counted(({ text }) => /\ballOf\b/.test(text)) },
    { name: 'files that know `oneOf`', value: counted(({ text }) => /\boneOf\b/.test(text)) },
    ...(warmPost
      ? [
          { name: 'one warm POST: calls, files', value: `${warmPost.calls}, ${warmPost.files}` },
          { name: 'one warm POST: folders, changes of folder', value: `${warmPost.folders}, ${warmPost.changesOfFolder}` },
        ]
      : []),
  ];
}

/** What each file imports of the others, each once. */
function importGraph(files: readonly SourceFile[]): Map<string, Set<string>> {
  const known = new Set(files.map(({ path }) => path));
  return new Map(
    files.map(({ path, imports }) => [
      path,
      new Set(imports.flatMap(({ path: to }) => (to !== undefined && known.has(to) ? [to] : []))),
    ]),
  );
}

function importerCounts(graph: ReadonlyMap<string, ReadonlySet<string>>): number[] {
  const counts = new Map<string, number>();
  for (const imported of graph.values()) for (const path of imported) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts.values()];
}

/** How many files the longest chain of imports has; there are no circles. */
function deepestChain(graph: ReadonlyMap<string, ReadonlySet<string>>): number {
  const depths = new Map<string, number>();
  const depthOf = (path: string): number => {
    const known = depths.get(path);
    if (known !== undefined) return known;
    const depth = 1 + Math.max(0, ...[...(graph.get(path) ?? [])].map(depthOf));
    depths.set(path, depth);
    return depth;
  };
  return Math.max(0, ...[...graph.keys()].map(depthOf));
}

function circlesByRoom(sources: readonly SourceFile[]): string {
  // What lies in `src` itself is two rooms, `index` and `cli`, and no folder of one.
  const inFolders = sources.filter(({ path }) => path.split('/').length > 2);
  const circles = folderCircles(inFolders).map((folders) => `${roomOf(`${folders[0]}/`)} ${folders.length} folders`);
  return circles.length === 0 ? 'none' : circles.join(', ');
}

/** How many files outside `kinds/` know the word of a kind, as a kind's word. */
function kindWords(sources: readonly SourceFile[], sorts: readonly Sort[]): string {
  const files = onlyKindsKnowTheirWords(sorts, otherMeanings)(sources).map((violation) => violation.split(':')[0]);
  return `${new Set(files).size}, of ${sum(sorts.map(({ words }) => words.length))} words in ${sorts.length} sorts`;
}

function testLines(beside: readonly SourceFile[]): number[] {
  return beside.filter(({ path }) => path.startsWith('test/')).map(linesOf);
}

function linesOf({ text }: SourceFile): number {
  return text.split('\n').length - 1;
}

function share(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function mean(numbers: readonly number[]): string {
  return (sum(numbers) / Math.max(1, numbers.length)).toFixed(1);
}

function percent(some: number, all: number): string {
  return `${some} (${Math.round((100 * some) / Math.max(1, all))} %)`;
}
