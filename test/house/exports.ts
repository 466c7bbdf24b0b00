import { exportsOf, importedNames } from './declarations.ts';
import type { SourceFile } from './source.ts';
import type { Rule, Violation } from './walls.ts';

/** Where a run of the program begins, or where others take hold of it: what nothing else imports is alive here. */
const entries = /^(?:src\/(?:cli|index)\.ts$|scripts\/|bench\/|examples\/)/;

/**
 * Everything that is exported is imported somewhere: by the program, or by its tests. A type may also be exported because an
 * export of the same file speaks of it. `others` are the files besides `src` that import from it.
 */
export const exportsAreUsed =
  (others: readonly SourceFile[], allowed: readonly string[]): Rule =>
  (files) => {
    const used = new Set(
      [...files, ...others].flatMap((file) =>
        importedNames(file).flatMap(({ path, names }) => names.map((name) => `${path}#${name}`)),
      ),
    );
    const unused = files
      .filter(({ path }) => path !== 'src/index.ts' && !used.has(`${path}#*`))
      .flatMap((file) =>
        exportsOf(file)
          .filter(({ name, isType }) => !used.has(`${file.path}#${name}`) && !(isType && isSpokenOf(name, file.code)))
          .map(({ name, line }) => ({ path: file.path, name, line, key: `${file.path}#${name}` })),
      );
    return [
      ...unused
        .filter(({ key }) => !allowed.includes(key))
        .map(
          ({ path, line, name }) => `${path}:${line} exports ${name}, which nobody imports: keep it to the file, or take it out`,
        ),
      ...allowed.filter((key) => !unused.some((one) => one.key === key)).map((key) => needless(key, 'unusedExports')),
    ];
  };

function isSpokenOf(name: string, code: string): boolean {
  return [...code.matchAll(new RegExp(`(?<![.\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g'))].length > 1;
}

/** Every file is reached from where a run begins; what tests alone reach is not the program, but for those with a reason. */
export const filesAreReached =
  (others: readonly SourceFile[], allowed: Readonly<Record<string, string>>): Rule =>
  (files) => {
    const byPath = new Map([...files, ...others].map((file) => [file.path, file]));
    const reached = new Set<string>();
    const visit = (file: SourceFile) => {
      if (reached.has(file.path)) return;
      reached.add(file.path);
      for (const { path } of file.imports) {
        const next = byPath.get(path ?? '');
        if (next) visit(next);
      }
    };
    for (const file of byPath.values()) if (entries.test(file.path)) visit(file);
    const dead = files.map(({ path }) => path).filter((path) => !reached.has(path));
    return [
      ...dead
        .filter((path) => allowed[path] === undefined)
        .map((path) => `${path}:1 is reached by no run of the program: take it out, or move it to test/`),
      ...Object.keys(allowed)
        .filter((path) => !dead.includes(path))
        .map((path) => needless(path, 'testsAlone')),
    ];
  };

/**
 * A name that is exported stands for one thing: it is exported by one file, and its importers need not look where it is from.
 * `allowed` are the names that still stand for several, and may only become fewer.
 */
export const namesMeanOneThing =
  (allowed: readonly string[]): Rule =>
  (files) => {
    const places = new Map<string, { path: string; line: number }[]>();
    // The public page gives some verbs a form of their own under the name that they have below.
    for (const file of files.filter(({ path }) => path !== 'src/index.ts')) {
      for (const { name, line } of exportsOf(file)) places.set(name, [...(places.get(name) ?? []), { path: file.path, line }]);
    }
    const several = [...places].filter(([, found]) => found.length > 1);
    return [
      ...several
        .filter(([name]) => !allowed.includes(name))
        .map(([name, [first, ...rest]]) => {
          const elsewhere = rest.map(({ path }) => path).join(', ');
          return `${first?.path}:${first?.line} exports ${name}, as does ${elsewhere}: say in its name what it is the ${name} of`;
        }),
      ...allowed.filter((name) => !several.some(([other]) => other === name)).map((name) => needless(name, 'severalMeanings')),
    ];
  };

/** What an exception that is no longer needed is told by. */
export function needless(entry: string, table: string): Violation {
  return `test/house/exceptions.ts:1 ${entry} needs no entry in ${table} any more: take it out`;
}
