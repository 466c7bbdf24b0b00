import { exportsAreUsed, filesAreReached, namesMeanOneThing } from '../../test/house/exports.ts';
import { arrowsOf, folderOf, noCirclesBeside } from '../../test/house/floors.ts';
import { longFunctionsHaveReasons } from '../../test/house/functions.ts';
import { floors } from '../../test/house/rooms.ts';
import type { SourceFile } from '../../test/house/source.ts';

/** The exceptions that the rules of the house need today, to be held against `test/house/exceptions.ts`. */
export function exceptionsOf(sources: readonly SourceFile[], beside: readonly SourceFile[]): Record<string, readonly string[]> {
  const named = (violations: readonly string[]) =>
    violations.map((violation) => {
      const [, path = '', name = ''] = /^(\S+?):\d+ (?:exports )?([\w$]+|\(line \d+\))/.exec(violation) ?? [];
      return { path, name, key: `${path}#${name}` };
    });
  return {
    longFunctions: named(longFunctionsHaveReasons({})(sources)).map(({ key }) => key),
    upwardArrows: upward(sources),
    severalMeanings: named(namesMeanOneThing([])(sources))
      .map(({ name }) => name)
      .sort(),
    unusedExports: named(exportsAreUsed(beside, [])(sources)).map(({ key }) => key),
    testsAlone: named(filesAreReached(beside, {})(sources)).map(({ path }) => path),
    circlesBeside: named(noCirclesBeside(beside, [])(sources)).map(({ path }) => path),
  };
}

function upward(sources: readonly SourceFile[]): string[] {
  const height = new Map(Object.values(floors).flatMap((list) => list.map((folder, at) => [folder, at] as const)));
  const roomOf = (folder: string) => Object.keys(floors).find((room) => folder === room || folder.startsWith(`${room}/`));
  const known = sources.filter(({ path }) => roomOf(folderOf(path)) !== undefined);
  return arrowsOf(known)
    .filter(({ from, to }) => roomOf(from) === roomOf(to) && (height.get(from) ?? 0) > (height.get(to) ?? 0))
    .map(({ from, to }) => `${from} -> ${to}`)
    .sort();
}
