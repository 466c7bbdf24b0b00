import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { functionsOf } from './house/declarations.ts';
import {
  circlesBeside,
  longFiles,
  longFunctions,
  severalMeanings,
  testsAlone,
  unusedExports,
  upwardArrows,
} from './house/exceptions.ts';
import { exportsAreUsed, filesAreReached, namesMeanOneThing } from './house/exports.ts';
import { floorsGoDown, noCirclesBeside } from './house/floors.ts';
import { functionLinesMax, longFunctionsHaveReasons } from './house/functions.ts';
import {
  dependenciesHaveReasons,
  linesMax,
  longFilesHaveReasons,
  namesSayWhatTheyAreAbout,
  noBarrels,
  noDefaultExports,
  noForeignPlaces,
  typesAreHonest,
} from './house/habits.ts';
import { otherMeanings, sortsUnderRule } from './house/kind-words.ts';
import { onlyKindsKnowTheirWords, sortOf } from './house/kinds.ts';
import { projectFiles, readProject, readText, root } from './house/project.ts';
import { floors } from './house/rooms.ts';
import { ajvSetUp, composingWords, pointerEscapes, tokenCharacters, writtenOnlyIn } from './house/shapes.ts';
import { lineAt, readSource } from './house/source.ts';
import {
  dynamicImportsAreLiteral,
  everyFileHasARoom,
  importedPackagesAreDependencies,
  importsGoDown,
  importsNameFiles,
  lateFilesAreLoadedLate,
  modulesStayInTheirRooms,
  noCircles,
  noClockNorChance,
  noProcessNorConsole,
  onlyServeListens,
  pureRoomsWaitForNothing,
  type Rule,
  unshippedIsNotImported,
  type Violation,
} from './house/walls.ts';

/** Runtime dependencies, each with the reason why it is not written here. */
const dependencyReasons: Record<string, string> = {
  '@marcbachmann/cel-js': 'the grammar of CEL, the expression language, parsed to a tree with places',
  ajv: 'JSON Schema 2020-12, compiled to code; the reference that other tools are held to',
  'ajv-formats': 'the string formats of JSON Schema as ajv wants them',
  undici: 'connections of our own choosing for webhooks: checked where they lead, pooled, broken off',
  'js-yaml':
    'YAML of megabytes to plain values at six times the speed and half the memory, with the offsets of what is asked for later',
  'jsonpath-rfc9535': 'the queries of overlays (RFC 9535), held to the whole compliance suite; nothing else comes with it',
  'fast-check': 'values of a shape drawn so that they come again from a seed, for what `verify` sends',
  jose: 'tokens signed and verified as RFC 7515 to 7519 say, by whoever does nothing else',
  '@nats-io/transport-node': 'the protocol of NATS: logins, encryption, connections that come back',
  '@nats-io/jetstream': 'publishing to streams of NATS, which say that they have taken something',
  '@redis/client': 'the protocol of Redis and Valkey, encryption and addresses included; nothing else comes with it',
  pg: 'the protocol of PostgreSQL: logins, encryption, statements sent one behind the other',
  negotiator: 'Accept headers: the quality rules have more corners than lines',
  yaml: 'YAML 1.2 with the place of every node and a bound on aliases',
};

/** The files that know how a JSON Pointer is escaped, and how a token of HTTP is written. */
const pointerPlaces = { 'src/document/pointer.ts': 'escapes and unescapes the steps of a pointer' };
const composingPlaces = {
  'src/parts/shapes/keywords.ts': 'the table that says what each keyword of a schema means',
  'src/parts/forms/shape.ts': 'the form of a shape, which lists the keywords that it may have',
  'src/parts/forms/standing.ts': 'the published schema is itself a JSON Schema',
  'src/parts/forms/endpoints.ts': 'the published schema is itself a JSON Schema',
  'src/parts/forms/errors.ts': 'the published schema is itself a JSON Schema',
  'src/parts/form.ts': 'reads the published schema, which uses a small part of JSON Schema',
  'src/parts/kind-forms.ts': 'puts the words of kinds into the published schema',
  'src/kinds/member.ts': 'the part of JSON Schema that members of kinds are stated in',
  'src/kinds/envelopes/own.ts': 'the form of an envelope of its own',
  'src/kinds/handshakes/own-handshake.ts': 'the form of a handshake of its own',
  'src/kinds/schemes/oauth2.ts': 'the form of flows',
  'src/kinds/schemes/token.ts': 'the form of the algorithms of a token',
  'src/check/shapes/composition.ts': 'a finding names the word to its author',
  'src/convert/asyncapi/read/operations.ts': "messages of AsyncAPI 2 have alternatives under a word like a schema's",
};
const ajvPlaces = { 'src/parts/shapes/validators.ts': 'sets ajv up for everybody; what differs is its argument' };
const tokenPlaces = { 'src/kinds/http-token.ts': 'says what a token is' };

const manifest = JSON.parse(readText('package.json'));
const dependencies = Object.keys(manifest.dependencies);
const devDependencies = Object.keys(manifest.devDependencies);
const sorts = await Promise.all(sortsUnderRule.map(sortOf));
const paths = projectFiles();
const { sources, beside } = readProject(paths);

/** The rules over `src`, each with snippets that keep it (an empty answer) and that break it (the lines that are named). */
const rules: readonly { readonly name: string; readonly rule: Rule; readonly seeds: readonly Seed[] }[] = [
  {
    name: 'every source file lies in a room',
    rule: everyFileHasARoom,
    seeds: [
      { files: { 'src/cli.ts': '', 'src/cli/colour.ts': '', 'src/index.ts': '', 'src/check/check.ts': '' } },
      { files: { 'src/tools/x.ts': '', 'src/x.ts': '' }, breaks: ['src/tools/x.ts:1', 'src/x.ts:1'] },
    ],
  },
  {
    name: 'imports go down the stair and a verb never imports another',
    rule: importsGoDown,
    seeds: [
      {
        files: {
          'src/cli.ts': "import { check } from './index.ts';\nimport manifest from '../package.json' with { type: 'json' };",
          'src/index.ts': "export { serve } from './serve/serve.ts';\nexport type { Json } from './document/document.ts';",
          'src/serve/limits.ts':
            "import type { Store } from '../store/store.ts';\nimport { kinds } from '../kinds/limits/all.ts';",
          'src/parts/spec.ts': "import schema from '../../schema/ninefold.schema.json' with { type: 'json' };",
          'src/kinds/limits/rate.ts': "// import { x } from '../../serve/serve.ts';\nimport { a } from './kind.ts';",
        },
      },
      {
        files: {
          'src/check/limits.ts': "import {\n  a,\n} from '../serve/limits.ts';",
          'src/document/text.ts': "const a = 1;\nexport type { Spec } from '../parts/spec.ts';",
          'src/parts/spec.ts': "import '../store/store.ts';",
          'src/kinds/rate.ts': "type A = import('../parts/spec.ts').Spec;",
          'src/convert/openapi.ts': "import { a } from '../../test/harness.ts';",
          'src/store/sqlite.ts': "const a = await import('../serve/serve.ts');",
        },
        breaks: [
          'src/check/limits.ts:3',
          'src/document/text.ts:2',
          'src/parts/spec.ts:1',
          'src/kinds/rate.ts:1',
          'src/convert/openapi.ts:1',
          'src/store/sqlite.ts:1',
        ],
      },
    ],
  },
  {
    name: 'a relative import names a real file with its ending',
    rule: importsNameFiles((path) => path === 'src/check/a.ts' || existsSync(join(root, path))),
    seeds: [
      { files: { 'src/check/b.ts': "import { a } from './a.ts';" } },
      {
        files: { 'src/check/b.ts': "import { a } from './a.js';\nimport { c } from '../nowhere';" },
        breaks: ['src/check/b.ts:1', 'src/check/b.ts:2'],
      },
    ],
  },
  {
    name: 'sockets, drivers, files and byte streams stay in their rooms',
    rule: modulesStayInTheirRooms,
    seeds: [
      {
        files: {
          'src/serve/listener.ts': "import { createServer } from 'node:http';\nimport { Readable } from 'node:stream';",
          'src/store/sqlite.ts': "import { DatabaseSync } from 'node:sqlite';",
          'src/document/read/read.ts': "import { readFileSync } from 'node:fs';",
          'src/cli.ts': "import process from 'node:process';",
          'src/kinds/etag.ts': "import { createHash } from 'node:crypto';\nimport { parse } from 'yaml';",
        },
      },
      {
        files: {
          'src/check/a.ts': "import type { Server } from 'node:http';",
          'src/serve/a.ts': "import { readFile } from 'node:fs/promises';\nimport { DatabaseSync } from 'node:sqlite';",
          'src/store/a.ts': "import net from 'net';",
          'src/parts/a.ts': "import { setTimeout } from 'node:timers/promises';",
        },
        breaks: ['src/check/a.ts:1', 'src/serve/a.ts:1', 'src/serve/a.ts:2', 'src/store/a.ts:1', 'src/parts/a.ts:1'],
      },
    ],
  },
  {
    name: 'only serve and the receiver of web hooks listen',
    rule: onlyServeListens,
    seeds: [
      {
        files: {
          'src/serve/doors/a.ts': 'const server = createServer({}, answer);',
          'src/verify/trials/events/receiver.ts': 'const server = createServer(take);',
          'src/verify/client/a.ts': '// createServer() is for others\nconst name = "createServer()";',
        },
      },
      {
        files: {
          'src/verify/client/a.ts': 'import { createServer } from "node:http";\nhttp.createServer(take);',
          'src/cli/a.ts': 'createSecureServer(x)',
        },
        breaks: ['src/verify/client/a.ts:2', 'src/cli/a.ts:1'],
      },
    ],
  },
  {
    name: 'only the command line loads what is known at run time',
    rule: dynamicImportsAreLiteral,
    seeds: [
      { files: { 'src/cli/handlers.ts': 'await import(url);', 'src/serve/a.ts': "await import('./b.ts');" } },
      { files: { 'src/serve/a.ts': "\nawait import(url);\nrequire('x');" }, breaks: ['src/serve/a.ts:2', 'src/serve/a.ts:3'] },
    ],
  },
  {
    name: 'what is loaded late is loaded no earlier',
    rule: lateFilesAreLoadedLate,
    seeds: [
      { files: { 'src/serve/a.ts': "import type { B } from './b.ts';\nawait import('./b.ts');", 'src/serve/b.ts': '' } },
      {
        files: { 'src/serve/a.ts': "import { type B, max } from './b.ts';\nawait import('./b.ts');", 'src/serve/b.ts': '' },
        breaks: ['src/serve/a.ts:2'],
      },
    ],
  },
  {
    name: 'process and console are used by the command line and the reader alone',
    rule: noProcessNorConsole,
    seeds: [
      {
        files: {
          'src/cli.ts': 'console.log(process.argv);',
          'src/document/read/read.ts': 'process.cwd();',
          'src/serve/a.ts': "// console.log\nconst text = 'process.exit';\nthis.process.next();",
        },
      },
      {
        files: {
          'src/serve/a.ts': "console.error('x');\nprocess\n  .exit(1);",
          'src/store/a.ts': `const a = \`\${process.env.A}\`;`,
        },
        breaks: ['src/serve/a.ts:1', 'src/serve/a.ts:2', 'src/store/a.ts:1'],
      },
    ],
  },
  {
    name: 'clock and chance come from serve/http/clock.ts alone',
    rule: noClockNorChance,
    seeds: [
      {
        files: {
          'src/serve/http/clock.ts': 'export const clock = { now: Date.now, chance: Math.random };',
          'src/serve/a.ts': 'const at = new Date(now);\nclock.now();\nDate.parse(text);',
        },
      },
      {
        files: {
          'src/serve/a.ts':
            'const a = Date.now();\nconst b = new Date();\nconst c = new Date;\nrandomUUID();\ncrypto.randomUUID();',
          'src/kinds/ulid.ts': 'const a = Math.random();',
          'src/store/a.ts': 'performance.now();\nDate.now();',
        },
        breaks: [
          'src/serve/a.ts:1',
          'src/serve/a.ts:2',
          'src/serve/a.ts:3',
          'src/serve/a.ts:4',
          'src/serve/a.ts:5',
          'src/kinds/ulid.ts:1',
          'src/store/a.ts:2',
        ],
      },
    ],
  },
  {
    name: 'pure rooms set no timers and call nobody',
    rule: pureRoomsWaitForNothing,
    seeds: [
      { files: { 'src/serve/a.ts': 'setTimeout(next, 1);', 'src/check/a.ts': 'service.fetch(request);' } },
      {
        files: { 'src/check/a.ts': 'setTimeout(next, 1);\nawait fetch(url);' },
        breaks: ['src/check/a.ts:1', 'src/check/a.ts:2'],
      },
    ],
  },
  {
    name: 'there are no import circles, types included',
    rule: noCircles,
    seeds: [
      {
        files: {
          'src/kinds/all.ts': "import { rate } from './rate.ts';\nimport './kind.ts';",
          'src/kinds/rate.ts': "import type { Kind } from './kind.ts';",
          'src/kinds/kind.ts': '',
        },
      },
      {
        files: {
          'src/kinds/all.ts': "import { rate } from './rate.ts';",
          'src/kinds/rate.ts': "\nimport type { Kind } from './all.ts';",
          'src/kinds/self.ts': "import './self.ts';",
        },
        breaks: ['src/kinds/rate.ts:2', 'src/kinds/self.ts:1'],
      },
    ],
  },
  {
    name: 'packages that the sources import are runtime dependencies',
    rule: importedPackagesAreDependencies(dependencies, devDependencies),
    seeds: [
      {
        files: {
          'src/document/a.ts': "import { parse } from 'yaml';\nimport type { Root } from 'mdast';\nimport 'ajv/dist/2020.js';",
        },
      },
      {
        files: { 'src/document/a.ts': "import { Root } from 'mdast';\nimport { Box } from 'fastify';\nimport http from 'http';" },
        breaks: ['src/document/a.ts:1', 'src/document/a.ts:2', 'src/document/a.ts:3'],
      },
    ],
  },
  {
    name: "the schema's forms are used by their script alone",
    rule: unshippedIsNotImported,
    seeds: [
      { files: { 'src/parts/forms/document.ts': "import { limits } from './limits.ts';" } },
      { files: { 'src/parts/a.ts': "import type { Limits } from './forms/limits.ts';" }, breaks: ['src/parts/a.ts:1'] },
    ],
  },
  {
    name: 'nothing is exported as a default',
    rule: noDefaultExports,
    seeds: [
      { files: { 'src/check/a.ts': "export const a = 'export default';\nimport { default as b } from 'yaml';" } },
      {
        files: { 'src/check/a.ts': 'export default 1;\nexport { a as default };' },
        breaks: ['src/check/a.ts:1', 'src/check/a.ts:2'],
      },
    ],
  },
  {
    name: 'no file but src/index.ts only passes on what others export',
    rule: noBarrels,
    seeds: [
      {
        files: {
          'src/index.ts': "export { a } from './check/a.ts';",
          'src/serve/a.ts': "export type { Store } from '../store/store.ts';\nexport const a = 1;",
        },
      },
      {
        files: {
          'src/check/all.ts': "// All.\nimport './b.ts';\nexport { a } from './a.ts';\nexport type { B } from './b.ts';",
          'src/check/index.ts': 'export const a = 1;',
          'src/index.ts': "export * from './check/a.ts';",
        },
        breaks: ['src/index.ts:1', 'src/check/all.ts:1', 'src/check/index.ts:1'],
      },
    ],
  },
  {
    name: `a file over ${linesMax} lines has a reason`,
    rule: longFilesHaveReasons(longFiles),
    seeds: [
      { files: { 'src/check/a.ts': 'a;\n'.repeat(linesMax) } },
      { files: { 'src/check/a.ts': 'a;\n'.repeat(linesMax + 1) }, breaks: [`src/check/a.ts:${linesMax + 1}`] },
    ],
  },
  {
    name: `a function over ${functionLinesMax} lines has a reason`,
    rule: longFunctionsHaveReasons(longFunctions),
    seeds: [
      {
        files: {
          'src/check/a.ts': `function a(): { b: 1 } {\n${'b();\n'.repeat(functionLinesMax - 2)}}`,
          'src/check/b.ts': `const a = { b: 1,\n${'c: 2,\n'.repeat(functionLinesMax)}};\nif (a) {\n${'b();\n'.repeat(functionLinesMax)}}`,
        },
      },
      {
        files: {
          'src/check/a.ts': `\nfunction a(): { b: 1 } {\n${'b();\n'.repeat(functionLinesMax - 1)}}`,
          'src/check/b.ts': `const b = (\n  c: number,\n): void => {\n${'b();\n'.repeat(functionLinesMax)}};`,
          'src/check/c.ts': `class C {\n  read<T>(text: T): T {\n${'b();\n'.repeat(functionLinesMax)}  }\n}`,
        },
        breaks: ['src/check/a.ts:2', 'src/check/b.ts:1', 'src/check/c.ts:2'],
      },
    ],
  },
  {
    name: 'inside a room, folders lie one above the other',
    rule: floorsGoDown({ ...floors, 'src/toy': ['src/toy', 'src/toy/upper', 'src/toy/ground'] }, upwardArrows),
    seeds: [
      {
        files: {
          'src/toy/toy.ts': "import './upper/a.ts';",
          'src/toy/upper/a.ts': "import './b.ts';\nimport type { C } from '../ground/c.ts';",
          'src/toy/upper/b.ts': '',
          'src/toy/ground/c.ts': "import '../../document/d.ts';",
        },
      },
      {
        files: {
          'src/toy/toy.ts': '',
          'src/toy/upper/a.ts': '',
          'src/toy/ground/c.ts': "import '../upper/a.ts';\nimport type { T } from '../toy.ts';",
          'src/toy/cellar/d.ts': '',
        },
        breaks: ['src/toy/ground/c.ts:1', 'src/toy/ground/c.ts:2', 'src/toy/cellar/d.ts:1'],
      },
    ],
  },
  {
    name: 'what is exported is imported',
    rule: exportsAreUsed(beside, unusedExports),
    seeds: [
      {
        files: {
          'src/check/a.ts': 'export const a = 1;\nexport interface B { c: 1 }\nexport function d(b: B) {}',
          'src/check/b.ts': "import { a, d as e } from './a.ts';\nconst f = 1;",
          'src/index.ts': 'export function verb() {}',
        },
      },
      {
        files: {
          'src/check/a.ts': 'export const a = 1;\nexport interface B { c: 1 }\nexport const c = 1;',
          'src/check/b.ts': "import { c as a } from './a.ts';",
        },
        breaks: ['src/check/a.ts:1', 'src/check/a.ts:2'],
      },
    ],
  },
  {
    name: 'every file is reached by a run of the program',
    rule: filesAreReached(beside, testsAlone),
    seeds: [
      { files: { 'src/cli.ts': "import './check/a.ts';", 'src/check/a.ts': "await import('./b.ts');", 'src/check/b.ts': '' } },
      {
        files: { 'src/cli.ts': '', 'src/check/c.ts': "import './d.ts';", 'src/check/d.ts': '' },
        breaks: ['src/check/c.ts:1', 'src/check/d.ts:1'],
      },
    ],
  },
  {
    name: 'a name that is exported stands for one thing',
    rule: namesMeanOneThing(severalMeanings),
    seeds: [
      { files: { 'src/check/a.ts': 'export type RowRule = 1;', 'src/check/b.ts': 'type RowRule = 2;\nexport type Rule1 = 1;' } },
      {
        files: { 'src/check/a.ts': '\nexport type ToyRule = 1;', 'src/check/b.ts': 'export class ToyRule {}' },
        breaks: ['src/check/a.ts:2'],
      },
    ],
  },
  {
    name: 'benchmarks, tests and scripts have no import circles',
    rule: noCirclesBeside(beside, circlesBeside),
    seeds: [
      { files: { 'bench/toy/a.ts': "import './b.ts';", 'bench/toy/b.ts': '' } },
      {
        files: { 'test/toy/a.ts': "import './b.ts';", 'test/toy/b.ts': "import type { A } from './a.ts';" },
        breaks: ['test/toy/b.ts:1'],
      },
    ],
  },
  {
    name: 'types are honest',
    rule: typesAreHonest,
    seeds: [
      { files: { 'src/check/a.ts': "const any = { any: true };\ntype A = 'any' | Anyone;\nif (any || x.any) f(any);" } },
      {
        files: {
          'src/check/a.ts': 'let a: any;\nf(b as any);\nconst m = new Map<string, Array<any>>();\ntype A = string | any;',
          'src/check/b.ts': `\n// @ts-${'ignore'}`,
        },
        breaks: ['src/check/a.ts:1', 'src/check/a.ts:2', 'src/check/a.ts:3', 'src/check/a.ts:4', 'src/check/b.ts:2'],
      },
    ],
  },
  {
    name: 'nobody but kinds/ knows a kind by its word',
    rule: onlyKindsKnowTheirWords(sorts, otherMeanings),
    seeds: [
      {
        files: {
          'src/kinds/limits/sliding.ts': "export const sliding = { word: 'sliding' };",
          'src/serve/a.ts': "// 'sliding'\nconst told = 'A sliding window'; const fixed = { fixed: 1 };",
          'src/verify/a.ts': "const style = 1;\nif (standing === 'none') f(/bucket/);",
        },
      },
      {
        files: {
          'src/serve/a.ts': 'switch (kind) {\n  case \'sliding\':\n}\nconst kinds = new Set(["bucket"]);',
          'src/verify/a.ts': "if (pagination.style === 'none') f();\nconst a = `cursor`;\nf({ 'offset': 1 });",
          'src/check/a.ts': 'const words = { sliding: 1,\n  fixed: 2 };\nif (/^(?:bucket|x)$/.test(kind)) f();',
          'src/convert/a.ts': "const made = 'evt_{ulid}';\nconst key = '{random:24}';",
        },
        breaks: [
          'src/serve/a.ts:2',
          'src/serve/a.ts:4',
          'src/verify/a.ts:1',
          'src/verify/a.ts:2',
          'src/verify/a.ts:3',
          'src/check/a.ts:1',
          'src/check/a.ts:2',
          'src/check/a.ts:3',
          'src/convert/a.ts:1',
          'src/convert/a.ts:2',
        ],
      },
    ],
  },
  {
    name: 'a step of a JSON Pointer is escaped in one place',
    rule: writtenOnlyIn(pointerEscapes, pointerPlaces, 'escapes a JSON Pointer: ask src/document/pointer.ts'),
    seeds: [
      { files: { 'src/document/pointer.ts': "text.replaceAll('~', '~0').replaceAll('/', '~1');" } },
      { files: { 'src/check/a.ts': '// #/a~1b\nlet a = b;' } },
      {
        files: {
          'src/check/a.ts': "\nkey.replaceAll('~1', '/');",
          'src/check/b.ts': 'key.replace(/~0/, "~");',
        },
        breaks: ['src/check/a.ts:2', 'src/check/b.ts:1'],
      },
    ],
  },
  {
    name: 'what a schema is put together of is asked of the table of keywords',
    rule: writtenOnlyIn(composingWords, composingPlaces, 'composes or takes apart a schema by hand: ask src/parts/shapes/'),
    seeds: [
      { files: { 'src/parts/shapes/keywords.ts': "const word = 'allOf';", 'src/check/a.ts': 'conjunctsOf(shape);' } },
      {
        files: { 'src/check/a.ts': "\nfor (const word of ['oneOf', 'anyOf'])", 'src/serve/a.ts': 'const { allOf } = shape;' },
        breaks: ['src/check/a.ts:2', 'src/serve/a.ts:1'],
      },
    ],
  },
  {
    name: 'ajv is set up in one place',
    rule: writtenOnlyIn(ajvSetUp, ajvPlaces, 'sets ajv up anew: ask newAjv of src/parts/shapes/validators.ts'),
    seeds: [
      { files: { 'src/parts/shapes/validators.ts': 'new Ajv2020({});', 'src/check/a.ts': 'newAjv({});' } },
      { files: { 'src/check/a.ts': 'const ajv = new Ajv2020();' }, breaks: ['src/check/a.ts:1'] },
    ],
  },
  {
    name: 'a token of HTTP is described in one place',
    rule: writtenOnlyIn(tokenCharacters, tokenPlaces, 'describes a token of HTTP: ask src/kinds/http-token.ts'),
    seeds: [
      { files: { 'src/kinds/http-token.ts': "const token = /[!#$%&'*+]/;", 'src/check/a.ts': "const a = '!#$';" } },
      { files: { 'src/check/a.ts': "/^[!#$%&'*+.]+$/.test(name)" }, breaks: ['src/check/a.ts:1'] },
    ],
  },
];

interface Seed {
  readonly files: Readonly<Record<string, string>>;
  /** The places that the rule has to name, none when the snippets keep it. */
  readonly breaks?: readonly string[];
}

for (const { name, rule, seeds } of rules) {
  test(name, () => {
    holds(rule(sources));
    for (const { files, breaks = [] } of seeds) {
      const seeded = Object.entries(files).map(([path, text]) => readSource(path, text));
      // Tables about the sources as they are speak of files that a seed does not have.
      const found = rule(seeded).filter((violation) => Object.keys(files).some((path) => violation.startsWith(`${path}:`)));
      assert.deepEqual(found.map((violation) => violation.split(' ')[0]).sort(), [...breaks].sort(), found.join('\n'));
    }
  });
}

test('an exception that is no longer needed is named', () => {
  assert.equal(longFilesHaveReasons({ 'src/check/gone.ts': 'was long' })([]).length, 1);
  assert.equal(longFunctionsHaveReasons({ 'src/check/gone.ts#gone': 'was long' })([]).length, 1);
  assert.equal(floorsGoDown({}, ['src/toy/ground -> src/toy'])([]).length, 1);
  assert.equal(namesMeanOneThing(['Gone'])([]).length, 1);
  assert.equal(exportsAreUsed([], ['src/check/gone.ts#gone'])([]).length, 1);
  assert.equal(filesAreReached([], { 'src/check/gone.ts': 'for a test' })([]).length, 1);
  assert.equal(noCirclesBeside([], ['bench/gone.ts'])([]).length, 1);
});

test('files and folders are named for what they are about', () => {
  // The documents of others keep the names that they were published with.
  const own = paths.filter((path) => !path.startsWith('test/fixtures/corpus/'));
  holds(namesSayWhatTheyAreAbout(own.filter((path) => /^(?:src|test|bench|scripts|bin)\//.test(path))));
  const wrong = ['src/check/utils.ts', 'src/helpers/a.ts', 'src/check/limitRate.ts', 'src/check/string-utils.ts', 'src/types.ts'];
  for (const path of wrong) assert.equal(namesSayWhatTheyAreAbout([path]).length, 1, path);
  const right = ['src/kinds/formats/base64.ts', 'src/kinds/media-types.ts', 'test/house.test.ts', 'src/kinds/uuid-v7.ts'];
  assert.deepEqual(namesSayWhatTheyAreAbout(right), []);
});

test("no file names a place of one machine or a package registry's host", () => {
  holds(noForeignPlaces(paths.map((path) => ({ path, text: readText(path) }))));
  // Written in pieces, so that this file does not break the rule.
  const wrong = ['/home_/me/x', '/work_/main', 'C:\\Users_\\me', '/Users_/me', 'registry_.example.com', 'npmjs_.com'];
  for (const text of wrong.map((pieces) => pieces.replace('_', ''))) {
    assert.equal(noForeignPlaces([{ path: 'a.md', text: `\n${text}` }])[0]?.split(' ')[0], 'a.md:2', text);
  }
  const right = '`/users/{id}` https://api.example/home/page {base}/work/orders the registry. And more';
  assert.deepEqual(noForeignPlaces([{ path: 'a.md', text: right }]), []);
});

test('every runtime dependency has a reason', () => {
  holds(dependenciesHaveReasons(dependencies, dependencyReasons));
  assert.equal(dependenciesHaveReasons(['left-pad'], {}).length, 1);
  assert.equal(dependenciesHaveReasons([], { yaml: 'not used any more' }).length, 1);
});

test('the scanner tells code from comments, strings, templates and regular expressions', () => {
  const text = [
    "const a = 'it\\'s // not'; code1();",
    'const b = /[/"]\\/`/g.test(x) ? 1 / 2 : code2 / 3; // comment',
    `const c = \`text \${code3({ d: \`\${code4}\` })} text\`; code5();`,
    "/* import x from 'y' */ import type { Z } from './z.ts';",
  ].join('\n');
  const { code, imports } = readSource('src/check/a.ts', text);
  assert.equal(code.length, text.length);
  for (const word of ['code1', 'code2', 'code3', 'code4', 'code5']) assert.ok(code.includes(word), word);
  for (const word of ['not', 'comment', 'text', '/g']) assert.ok(!code.includes(word), word);
  assert.deepEqual(imports, [{ line: 4, specifier: './z.ts', path: 'src/check/z.ts', typeOnly: true, dynamic: false }]);
  assert.equal(lineAt(text, text.indexOf('code5')), 3);
});

function holds(violations: readonly Violation[]): void {
  assert.ok(violations.length === 0, `${violations.length} broken:\n${violations.join('\n')}`);
}

test('functions are found with their names and lines, whatever their form', () => {
  const text = [
    'export async function first<T extends { a: 1 }>(a: (b: T) => void): Promise<{ c: 1 }> {',
    '  const second = (b: number): { d: 1 } => {',
    '    if (b) {',
    '    }',
    '  };',
    '}',
    'class Third {',
    '  constructor() {',
    '  }',
    '  get fourth(): string {',
    '  }',
    '}',
    'interface Fifth { sixth(): void }',
    'const seventh = { eighth(): void {',
    '} };',
  ].join('\n');
  const found = functionsOf(readSource('src/check/a.ts', text)).map(({ name, line, lines }) => `${name} ${line} ${lines}`);
  assert.deepEqual(found, ['first 1 6', 'second 2 4', 'constructor 8 2', 'fourth 10 2']);
});
