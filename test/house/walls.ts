import { packageOf, powerOf, powerRemedies, powersOf, roomOf, rooms } from './rooms.ts';
import { lineAt, type SourceFile } from './source.ts';

/** A broken rule: where, what, and what to do instead, as one line. */
export type Violation = string;
export type Rule = (files: readonly SourceFile[]) => Violation[];

/** Every file under `src` lies in a room that `rooms.ts` lists. */
export const everyFileHasARoom: Rule = (files) =>
  files
    .filter(({ path }) => rooms[roomOf(path) ?? ''] === undefined)
    .map(
      ({ path }) => `${path}:1 lies in no room: move it, or give the new room its row in test/house/rooms.ts and ARCHITECTURE.md`,
    );

/** What lies outside `src` and is shipped with it, each with the one room that reads it. */
const outside: Readonly<Record<string, string>> = { 'schema/ninefold.schema.json': 'parts', 'package.json': 'cli' };

/** Imports go down the stair, and a verb never imports another. */
export const importsGoDown: Rule = (files) =>
  eachImport(files, ({ path: from }, { path: to }) => {
    if (to === undefined) return undefined;
    const room = roomOf(from) ?? '';
    const other = roomOf(to);
    if (other === undefined)
      return outside[to] === room ? undefined : `imports ${to}, which is not under src: move it there, or take it as an argument`;
    if (other === room || rooms[room]?.below.includes(other)) return undefined;
    return `${room} may not import ${other}: move what both need down to parts/, kinds/ or document/, or write it twice if it is three lines`;
  });

/** A relative import names an existing file with its real ending. */
export const importsNameFiles =
  (exists: (path: string) => boolean): Rule =>
  (files) =>
    eachImport(files, (_, { path, specifier }) =>
      path === undefined || exists(path)
        ? undefined
        : `imports ${specifier}, which is not a file: write the real file with its ending`,
    );

/** Modules that reach outside are imported only where ARCHITECTURE.md allows it. */
export const modulesStayInTheirRooms: Rule = (files) =>
  eachImport(files, ({ path }, { specifier, path: to }) => {
    const power = to === undefined ? powerOf(specifier) : undefined;
    if (power === undefined || powersOf(path).includes(power)) return undefined;
    return `imports ${specifier}: ${powerRemedies[power]}`;
  });

/** Loads a built-in module, known by its name, without what an import of it brings along. */
const builtinLoader = 'src/serve/http/node-http.ts';

/** The one file outside `serve/` that listens: web hooks are sent to it while a service is verified. */
const listener = 'src/verify/trials/events/receiver.ts';

/** HTTP is answered in `serve/` alone, and nothing else listens but the receiver of web hooks. */
export const onlyServeListens: Rule = (files) =>
  inCode(files, /(?<![\w$])createS(?:erver|ecureServer)\s*\(/g, ({ path }) =>
    roomOf(path) === 'serve' || path === listener
      ? undefined
      : `listens: HTTP is answered in serve/, and web hooks are received in ${listener}`,
  );

/** A file that is only known at run time, such as a handlers file, is imported by the command line alone. */
export const dynamicImportsAreLiteral: Rule = (files) =>
  inCode(files, /(?<![.\w$])(?:import\s*\(\s*(?!['"`\s])|require\s*\(|createRequire\b)/g, ({ path }) =>
    roomOf(path) === 'cli' || path === builtinLoader
      ? undefined
      : 'loads what is only known at run time: let cli load it and hand it over',
  );

/** A file that is loaded when it is first needed is not loaded before by another way: else the late load is in vain. */
export const lateFilesAreLoadedLate: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return files.flatMap(({ path: from, imports }) =>
    imports.flatMap(({ dynamic, line, path: late }) => {
      const way = dynamic && late !== undefined ? wayTo(late, from, byPath) : undefined;
      return way
        ? [`${from}:${line} loads ${late} late, but has it at once by ${way.join(' -> ')}: import its types alone there`]
        : [];
    }),
  );
};

/** How a file comes to another by imports that are followed at once, the last first come to. */
function wayTo(target: string, from: string, files: ReadonlyMap<string, SourceFile>): string[] | undefined {
  const before = new Map<string, string | undefined>([[from, undefined]]);
  for (const path of before.keys()) {
    for (const { path: next, typeOnly, dynamic } of files.get(path)?.imports ?? []) {
      if (next === undefined || typeOnly || dynamic || before.has(next)) continue;
      before.set(next, path);
    }
  }
  if (!before.has(target)) return undefined;
  const way: string[] = [];
  for (let at: string | undefined = target; at !== undefined; at = before.get(at)) way.unshift(at);
  return way;
}

const machineWords = /(?<![.\w$])(?:process\s*(?:\.|\?\.|\[)|console\s*(?:\.|\?\.|\[)|globalThis\s*\.\s*(?:process|console)\b)/g;

/** `process` and `console` are used by the command line and the reader alone. */
export const noProcessNorConsole: Rule = (files) =>
  inCode(files, machineWords, ({ path }, word) =>
    powersOf(path).includes('machine') ? undefined : `uses ${word}: ${powerRemedies.machine}`,
  );

const clockAndChance =
  /(?<![.\w$])(?:Date\s*\.\s*now\b|new\s+Date\s*(?:\(\s*\)|(?![\s(\w.<]))|Date\s*\(\s*\)|Math\s*\.\s*random\b|performance\s*\.\s*now\b|Temporal\s*\.\s*Now\b)|\b(?:randomUUID(?:v7)?|randomBytes|randomInt|randomFill(?:Sync)?|getRandomValues|generateKey(?:Pair)?(?:Sync)?)\b/g;

/** No clock and no chance but in `serve/clock.ts` and in the rooms that act on the world in their own name. */
export const noClockNorChance: Rule = (files) =>
  inCode(files, clockAndChance, ({ path }, word) => {
    const powers = powersOf(path);
    // How long a commit took is the engine's own business; what time it is comes from its caller.
    if (powers.includes('clock') || (powers.includes('driver') && word.startsWith('performance'))) return undefined;
    return `uses ${word}: ${powerRemedies.clock}`;
  });

const timersAndCalls = /(?<![.\w$])(?:setTimeout|setInterval|setImmediate|fetch|WebSocket|EventSource)\s*\(/g;

/** Pure rooms set no timer and call nobody. */
export const pureRoomsWaitForNothing: Rule = (files) =>
  inCode(files, timersAndCalls, ({ path }, word) =>
    rooms[roomOf(path) ?? '']?.powers.length === 0
      ? `calls ${word}): this room is pure: return a plain value and let serve/ or cli act on it`
      : undefined,
  );

/** Nothing imports itself by way of others, types included. */
export const noCircles: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (file: SourceFile, road: readonly string[]) => {
    for (const { path, line } of file.imports) {
      const next = path === undefined ? undefined : byPath.get(path);
      if (next === undefined || done.has(next.path)) continue;
      const start = [...road, file.path].indexOf(next.path);
      if (start === -1) visit(next, [...road, file.path]);
      else {
        const circle = [...road, file.path].slice(start).concat(next.path).join(' -> ');
        found.push(
          `${file.path}:${line} closes a circle: ${circle}: move what both need into a file of its own, a contract apart from its list`,
        );
      }
    }
    done.add(file.path);
  };
  for (const file of files) if (!done.has(file.path)) visit(file, []);
  return found;
};

/** Packages that the sources import are runtime dependencies; types may also come from a package of types. */
export const importedPackagesAreDependencies =
  (dependencies: readonly string[], devDependencies: readonly string[]): Rule =>
  (files) =>
    eachImport(files, (file, { specifier, path, typeOnly }) => {
      const name = packageOf(specifier);
      if (path !== undefined || specifier.startsWith('node:') || dependencies.includes(name)) return undefined;
      const types = `@types/${name.replace(/^@(.+)\/(.+)$/, '$1__$2')}`;
      if (typeOnly && (dependencies.includes(types) || devDependencies.includes(types))) return undefined;
      if (file.path.startsWith(unshipped) && devDependencies.includes(name)) return undefined;
      return `imports ${specifier}, which is not a runtime dependency: do without it, or add it to package.json and, with a reason, to test/house.test.ts`;
    });

/** The forms that `scripts/schema.ts` makes `schema/ninefold.schema.json` of: `npm run build` leaves them out. */
const unshipped = 'src/parts/forms/';

/** What is not shipped is not needed by what is. */
export const unshippedIsNotImported: Rule = (files) =>
  eachImport(files, (file, { path }) =>
    path?.startsWith(unshipped) && !file.path.startsWith(unshipped)
      ? `imports ${path}, which is not shipped: read schema/ninefold.schema.json, which is made of it`
      : undefined,
  );

/** Runs a check on every import of every file. */
function eachImport(
  files: readonly SourceFile[],
  check: (file: SourceFile, found: SourceFile['imports'][number]) => string | undefined,
): Violation[] {
  return files.flatMap((file) =>
    file.imports.flatMap((found) => {
      const wrong = check(file, found);
      return wrong === undefined ? [] : [`${file.path}:${found.line} ${wrong}`];
    }),
  );
}

/** Runs a check on every place where the code, comments and strings aside, has a pattern. */
export function inCode(
  files: readonly SourceFile[],
  pattern: RegExp,
  check: (file: SourceFile, word: string) => string | undefined,
): Violation[] {
  return files.flatMap((file) =>
    [...file.code.matchAll(pattern)].flatMap((match) => {
      const wrong = check(file, match[0].trim().replace(/\s+/g, ' '));
      return wrong === undefined ? [] : [`${file.path}:${lineAt(file.code, match.index)} ${wrong}`];
    }),
  );
}
