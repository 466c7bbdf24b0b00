import { lineAt, type SourceFile } from './source.ts';
import { inCode, type Rule, type Violation } from './walls.ts';

/** Only names are exported. */
export const noDefaultExports: Rule = (files) =>
  inCode(files, /(?<![.\w$])export\s+default\b|\bas\s+default\b(?=[^;]*\})/g, () => 'exports a default: give it a name');

/** No file but `src/index.ts` only passes on what others export, and that one names each thing. */
export const noBarrels: Rule = (files) => [
  ...inCode(
    files,
    /(?<![.\w$])export\s+(?:type\s+)?\*/g,
    () => 'exports whatever another file does: name each thing, in src/index.ts alone',
  ),
  ...files
    .filter(({ path }) => path !== 'src/index.ts')
    .filter(({ path, code }) => path.endsWith('/index.ts') || onlyPassesOn(code))
    .map(({ path }) => `${path}:1 is a barrel: import from the files that make the things`),
];

function onlyPassesOn(code: string): boolean {
  const exported = /(?<![.\w$])export\s+(?:type\s+)?(?:\*|\{[^}]*\})(?:\s*as\s+\w+)?\s*from\s*(['"])[^'"]*\1\s*;?/g;
  const imported = /(?<![.\w$])import\b[^'"]*(['"])[^'"]*\1[^;\n]*;?/g;
  const rest = code.replace(exported, '').replace(imported, '');
  return exported.test(code) && rest.trim() === '';
}

const shapes = 'utils?|helpers?|common|types?|managers?|base|misc|shared|lib';
const shapeName = new RegExp(`^(?:${shapes})$|-(?:utils?|helpers?|manager|base)$`);
const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/;

/** Files and folders are named in kebab-case for what they are about, never for their shape. */
export const namesSayWhatTheyAreAbout = (paths: readonly string[]): Violation[] =>
  paths.flatMap((path) => {
    const wrong = path.split('/').flatMap((step) => {
      if (shapeName.test(step.replace(/\..*$/, ''))) return [`${step} names a shape: name it for what it is about`];
      return kebabCase.test(step) || step.startsWith('.') ? [] : [`${step} is not kebab-case`];
    });
    return wrong.map((what) => `${path}:1 ${what}`);
  });

/** The longest a file grows without a reason. */
export const linesMax = 300;

/** A file over the limit has its reason in the table, and the table names no other. */
export const longFilesHaveReasons =
  (reasons: Readonly<Record<string, string>>): Rule =>
  (files) => {
    const long = files.filter(({ text }) => linesOf(text) > linesMax);
    const needless = Object.keys(reasons).filter((path) => !long.some((file) => file.path === path));
    return [
      ...long
        .filter(({ path }) => reasons[path] === undefined)
        .map(
          ({ path, text }) =>
            `${path}:${linesMax + 1} has ${linesOf(text)} lines: split it, or give longFiles in test/house/exceptions.ts one line that says why`,
        ),
      ...needless.map((path) => `${path}:1 needs no entry in longFiles any more: take it out of test/house/exceptions.ts`),
    ];
  };

function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

// Where a type can stand: after a colon, a bar, an angle bracket, `as`. The formatter's linter reads types fully; this is for its absence.
const anyType = /(?:(?<![|&])[|&]|[:<]|(?<![.\w$])(?:as|extends)\b)\s*any\b(?=\s*(?:[;,)\]}>|&=[]|$))/gm;

/** Types say what they mean, and the checker is never told to look away. */
export const typesAreHonest: Rule = (files) => [
  ...inCode(files, anyType, () => 'has the type any: write the type, or unknown and a test'),
  ...files.flatMap((file) =>
    [...file.text.matchAll(/@ts-(?:ignore|nocheck|expect-error)\b/g)].map(
      (match) => `${file.path}:${lineAt(file.text, match.index)} has ${match[0]}: make the types true instead`,
    ),
  ),
];

// Written so that this file does not match itself.
const foreignPlaces = [
  {
    pattern: /(?<![\w.}])\/(?:work\/(?:main|shared)|home\/\w+|Users\/\w+|root\/)[\w./-]*/g,
    what: 'names a place of one machine',
  },
  { pattern: /\b[A-Z]:\\+Users\b/g, what: 'names a place of one machine' },
  { pattern: /\b(?:registry\.[\w-]+\.\w+|npmjs\.(?:org|com)|npm\.pkg\.github\.com)\b/g, what: "names a package registry's host" },
];

/** Nothing in the project depends on one machine or one package registry. */
export function noForeignPlaces(files: readonly Pick<SourceFile, 'path' | 'text'>[]): Violation[] {
  return files.flatMap(({ path, text }) =>
    foreignPlaces.flatMap(({ pattern, what }) =>
      [...text.matchAll(pattern)].map((match) => `${path}:${lineAt(text, match.index)} ${what}, ${match[0]}: take it out`),
    ),
  );
}

/** Every runtime dependency has a reason in the table, and the table names no other. */
export function dependenciesHaveReasons(dependencies: readonly string[], reasons: Readonly<Record<string, string>>): Violation[] {
  return [
    ...dependencies
      .filter((name) => reasons[name] === undefined)
      .map((name) => `package.json:1 depends on ${name}: do without it, or give it a reason in test/house.test.ts`),
    ...Object.keys(reasons)
      .filter((name) => !dependencies.includes(name))
      .map((name) => `package.json:1 does not depend on ${name}: take it out of test/house.test.ts`),
  ];
}
