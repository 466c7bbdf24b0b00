import { needless } from './exports.ts';
import type { SourceFile } from './source.ts';
import { noCircles, type Rule } from './walls.ts';

/** An arrow from one folder to another, with the imports that make it. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly imports: readonly { readonly path: string; readonly line: number; readonly to: string }[];
}

/** The arrows between folders, files at the root of a room counting as the folder of that room. */
export function arrowsOf(files: readonly SourceFile[]): Arrow[] {
  const known = new Set(files.map(({ path }) => path));
  const arrows = new Map<string, { from: string; to: string; imports: { path: string; line: number; to: string }[] }>();
  for (const { path, imports } of files) {
    for (const { path: to, line } of imports) {
      if (to === undefined || !known.has(to) || folderOf(to) === folderOf(path)) continue;
      const key = `${folderOf(path)} -> ${folderOf(to)}`;
      const arrow = arrows.get(key) ?? { from: folderOf(path), to: folderOf(to), imports: [] };
      arrow.imports.push({ path, line, to });
      arrows.set(key, arrow);
    }
  }
  return [...arrows.values()];
}

/** The sets of folders of one room in which each reaches each other, largest first. */
export function folderCircles(files: readonly SourceFile[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { path } of files) next.set(folderOf(path), new Set());
  for (const { from, to } of arrowsOf(files)) next.get(from)?.add(to);
  const reach = new Map([...next.keys()].map((folder) => [folder, reachedFrom(folder, next)]));
  const circles = new Map<string, string[]>();
  for (const [folder, reached] of reach) {
    const circle = [...reached].filter((other) => reach.get(other)?.has(folder)).sort();
    if (circle.length > 1) circles.set(circle.join(' '), circle);
  }
  return [...circles.values()].sort((a, b) => b.length - a.length || ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
}

/**
 * Inside a room, folders lie one above the other: a file imports from its own folder and from those below it. `floors` says of a
 * room which folders it has, from the top to the ground; `upward` are the arrows that still go up, and may only become fewer.
 */
export const floorsGoDown =
  (floors: Readonly<Record<string, readonly string[]>>, upward: readonly string[]): Rule =>
  (files) => {
    const height = new Map<string, number>();
    for (const list of Object.values(floors)) for (const [at, folder] of list.entries()) height.set(folder, at);
    const roomOf = (folder: string) => Object.keys(floors).find((room) => folder === room || folder.startsWith(`${room}/`));
    const homeless = files
      .filter(({ path }) => roomOf(folderOf(path)) !== undefined && !height.has(folderOf(path)))
      .map(
        ({ path }) =>
          `${path}:1 lies on no floor of ${roomOf(folderOf(path))}: give ${folderOf(path)} its place in test/house/rooms.ts`,
      );
    const up = arrowsOf(files).filter(
      ({ from, to }) =>
        roomOf(from) !== undefined && roomOf(from) === roomOf(to) && (height.get(from) ?? 0) > (height.get(to) ?? 0),
    );
    const key = ({ from, to }: Arrow) => `${from} -> ${to}`;
    return [
      ...homeless,
      ...up
        .filter((arrow) => !upward.includes(key(arrow)))
        .flatMap(({ from, to, imports }) =>
          imports.map(
            ({ path, line, to: file }) =>
              `${path}:${line} imports ${file}, but ${to} lies above ${from}: move what it needs down, or take it as an argument`,
          ),
        ),
      ...upward.filter((entry) => !up.some((arrow) => key(arrow) === entry)).map((entry) => needless(entry, 'upwardArrows')),
    ];
  };

/** No circle of files outside `src` either: in benchmarks, tests and scripts. `allowed` are the files that still close one. */
export const noCirclesBeside =
  (files: readonly SourceFile[], allowed: readonly string[]): Rule =>
  (sources) => {
    const closing = noCircles([...sources.filter(({ path }) => !path.startsWith('src/')), ...files]);
    const closes = (path: string) => closing.some((violation) => violation.startsWith(`${path}:`));
    return [
      ...closing.filter((violation) => !allowed.some((path) => violation.startsWith(`${path}:`))),
      ...allowed.filter((path) => !closes(path)).map((path) => needless(path, 'circlesBeside')),
    ];
  };

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function reachedFrom(folder: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const visit = (from: string) => {
    for (const to of next.get(from) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      visit(to);
    }
  };
  visit(folder);
  return reached;
}
