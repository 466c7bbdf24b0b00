/** Documents that are made to take more memory or time than a check may: each as the name of its file and its text. */
type Made = readonly [file: string, text: string];

const repeat = (piece: string, times: number) => piece.repeat(times);
const many = (times: number, make: (at: number) => string, between = '\n') =>
  Array.from({ length: times }, (_, at) => make(at)).join(between);
const yaml = (text: string): Made => ['d.yaml', text];
const markdown = (text: string): Made => ['d.md', text];
const json = (text: string): Made => ['d.json', text];
const field = (words: string) =>
  yaml(`resources: { a: { identifier: { field: id, generate: ulid }, fields: { id: string, x: ${words} }, required: [id] } }`);
const condition = (text: string) =>
  yaml(`purpose: { users: { u: U } }
resources: { a: { identifier: { field: id, generate: ulid }, fields: { id: string, x: string, n: integer, l: { type: array, items: string } }, required: [id, x, n, l] } }
endpoints: { GET /a: { does: list a }, POST /a: { does: create a } }
authentication: { schemes: { k: { type: api_key, header: X-K } }, permissions: [{ allow: [list a, create a], to: u, if: ${JSON.stringify(text)} }] }`);
const openapi = (schemas: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  json(JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: {}, components: { schemas }, ...more }));
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const chain = (count: number, make: (next: unknown) => unknown) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`S${at}`, at === count - 1 ? { type: 'string' } : make(ref(`S${at + 1}`))]),
  );
const operations = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `/p${at}/{id}`,
      { get: { responses: { 200: { description: 'x', content: { 'application/json': { schema: ref('S0') } } } } } },
    ]),
  );

const texts: Readonly<Record<string, () => Made>> = {
  'lists nested fifty thousand deep': () => yaml(repeat('[', 50_000)),
  'maps nested fifty thousand deep': () => yaml(repeat('{a: ', 50_000)),
  'JSON nested a hundred thousand deep': () => json(repeat('{"a":', 100_000)),
  'indentation five thousand deep': () => yaml(many(5_000, (at) => `${repeat(' ', at)}a:`)),
  'aliases that double': () => yaml(`a0: &a0 [x]\n${many(40, (at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`)}`),
  'an alias inside itself': () => yaml('purpose: &a { functions: { x: *a } }'),
  'a hundred thousand anchors': () => yaml(many(100_000, (at) => `k${at}: &a${at} x`)),
  'a hundred thousand unknown parts': () => yaml(many(100_000, (at) => `part${at}: x`)),
  'one key a hundred thousand times': () => yaml(repeat('a: 1\n', 100_000)),
  'a scalar of eight megabytes': () => yaml(`title: ${repeat('x', 8_000_000)}`),
  'a quoted text of a million escapes': () => yaml(`title: "${repeat('\\u0041', 1_000_000)}"`),
  'a quoted text that never ends': () => yaml(`title: "${repeat('x\n', 500_000)}`),
  'a block text of a million lines': () => yaml(`title: |\n${repeat('  x\n', 1_000_000)}`),
  'a million line ends': () => yaml(repeat('\n', 1_000_000)),
  'a million carriage returns': () => yaml(repeat('\r', 1_000_000)),
  'a million tabs': () => yaml(`a:${repeat('\t', 1_000_000)}b`),
  'a hundred thousand documents in one': () => yaml(repeat('---\na: 1\n', 100_000)),
  'a hundred thousand tags': () => yaml(`purpose: [${many(100_000, () => '!x y', ', ')}]`),
  'a hundred thousand complex keys': () => yaml(repeat('? a\n: b\n', 100_000)),
  'a number of a million digits': () => json(`{"limits": ${repeat('9', 1_000_000)}}`),
  'a million numbers': () => json(`{"purpose": [1${repeat(',1', 1_000_000)}]}`),
  'a million empty maps': () => json(`{"resources": [{}${repeat(',{}', 1_000_000)}]}`),
  'a million surrogates alone': () => json(`{"title": "${repeat('\\ud800', 1_000_000)}"}`),
  'names that every object inherits': () =>
    json('{"__proto__": {"a": 1}, "resources": {"constructor": {"fields": {"__proto__": "string", "valueOf": "integer"}}}}'),
};

const marked: Readonly<Record<string, () => Made>> = {
  'a hundred thousand headings': () => markdown(repeat('# a\n', 100_000)),
  'a hundred thousand headings of parts': () => markdown(repeat('## Limits\n### a\n#### b\n', 30_000)),
  'a hundred thousand open fences': () => markdown(`## Limits\n${repeat('```yaml\n', 100_000)}`),
  'fences that grow': () => markdown(many(3_000, (at) => repeat('`', 3 + at))),
  'a fence without a mark of a million keys': () => markdown(`## Limits\n\`\`\`\n${repeat('rate: 1\n', 500_000)}\`\`\``),
  'a table of fifty thousand rows': () =>
    markdown(`## Errors\n| codes | status |\n|---|---|\n${many(50_000, (at) => `| c${at} | 400 |`)}`),
  'a table of ten thousand columns': () =>
    markdown(`## Errors\n|${repeat(' a |', 10_000)}\n|${repeat('---|', 10_000)}\n|${repeat(' b |', 10_000)}`),
  'a table whose header is nearly a key, a hundred thousand times': () =>
    markdown(`## Errors\n${repeat('\n| code | x |\n|---|---|\n| a | b |\n', 30_000)}`),
  'a line of a million bars': () => markdown(`## Errors\n${repeat('|', 1_000_000)}\n${repeat('|-', 500_000)}`),
  'a line of a million dashes': () => markdown(`## Errors\nx | y\n${repeat('-', 1_000_000)}`),
  'quotes in quotes, ten thousand deep': () => markdown(`${repeat('>', 10_000)} x\n`),
  'lists in lists, ten thousand deep': () => markdown(many(10_000, (at) => `${repeat(' ', at % 2_000)}- x`)),
  'a million brackets': () => markdown(`## Purpose\n${repeat('[', 500_000)}${repeat('](', 250_000)}`),
  'a million stars': () => markdown(`## Purpose\n${repeat('*a', 500_000)}`),
  'a tag that never ends': () => markdown(`<a ${repeat('b="c" ', 200_000)}`),
  'a comment that never ends': () => markdown(`<!--${repeat('-', 1_000_000)}`),
  'prose of four megabytes that looks like facts': () =>
    markdown(`## Limits\n${repeat('at most 100 requests per minute and a body of 64 KB ', 80_000)}`),
  'arrows without an end': () => markdown(`## States\n${repeat('a -> b ', 300_000)}`),
};

const stated: Readonly<Record<string, () => Made>> = {
  'ten thousand resources': () =>
    yaml(
      `resources:\n${many(10_000, (at) => `  r${at}: { identifier: { field: id, generate: ulid }, fields: { id: string, n: { ref: r${(at + 1) % 10_000} } }, required: [id] }`)}`,
    ),
  'a resource of twenty thousand fields': () =>
    yaml(
      `resources:\n  a:\n    identifier: { field: f0, generate: ulid }\n    fields:\n${many(20_000, (at) => `      f${at}: string`)}`,
    ),
  'five thousand endpoints': () =>
    yaml(
      `resources: { a: { identifier: { field: id, generate: ulid }, fields: { id: string }, required: [id] } }\nendpoints:\n${many(5_000, (at) => `  GET /a${at}: { does: list a, as: list ${at} }`)}`,
    ),
  'two thousand states and transitions': () =>
    yaml(
      `resources: { a: { identifier: { field: id, generate: ulid }, fields: { id: string, s: { type: string, readOnly: true } }, required: [id, s] } }\nstates:\n  a:\n    field: s\n    initial: s0\n    states: [${many(2_000, (at) => `s${at}`, ', ')}]\n    transitions:\n${many(2_000, (at) => `      t${at}: s${at} -> s${(at + 1) % 2_000}`)}`,
    ),
  'two thousand users and permissions': () =>
    yaml(
      `purpose: { users: [${many(2_000, (at) => `u${at}`, ', ')}] }\nauthentication:\n  permissions:\n${many(2_000, (at) => `    - { allow: [read a${at}], to: u${at} }`)}`,
    ),
  'two thousand versions': () =>
    yaml(`versioning: { versions: { ${many(2_000, (at) => `v${at}: {}`, ', ')} }, select: { header: V } }`),
  'five thousand errors': () =>
    yaml(`errors: { codes: { ${many(5_000, (at) => `c${at}: { status: 400, when: request.invalid }`, ', ')} } }`),
  'five thousand rates': () => yaml(`limits: { rate: [${many(5_000, () => '{ per: caller, limit: 3, window: 1m }', ', ')}] }`),
  'a list of a hundred thousand allowed values': () => field(`{ enum: [${many(100_000, (at) => `v${at}`, ', ')}] }`),
  'a default of a hundred thousand items': () =>
    field(`{ type: array, items: integer, default: [${many(100_000, () => '1', ', ')}] }`),
  'a pattern of a hundred thousand letters': () => field(`{ type: string, pattern: "${repeat('a?', 50_000)}" }`),
  'a pattern of a thousand groups in each other': () =>
    field(`{ type: string, pattern: "${repeat('(', 1_000)}a${repeat(')*', 1_000)}" }`),
  'a pattern that counts to a million': () => field('{ type: string, pattern: "^(a{1,1000}){1,1000}$" }'),
  'a pattern that looks back and ahead': () => field('{ type: string, pattern: "^(?=(a+)+$)(?!x)(a+)+\\\\1$" }'),
  'a pattern of a hundred thousand alternatives': () =>
    field(`{ type: string, pattern: "${many(100_000, (at) => `a${at}`, '|')}" }`),
  'a text of a length beyond all': () => field('{ type: string, minLength: 9007199254740991 }'),
  'a list that must hold a billion items': () => field('{ type: array, items: string, minItems: 1000000000 }'),
  'a step that is hardly a number': () => field('{ type: number, multipleOf: 1e-300, minimum: 1, maximum: 2 }'),
  'shapes in shapes, sixty deep': () => field(`${repeat('{ type: object, properties: { a: ', 60)}string${repeat(' } }', 60)}`),
  'ten thousand alternatives': () => field(`{ shape: { oneOf: [${many(10_000, (at) => `{ const: c${at} }`, ', ')}] } }`),
  'an expression of a hundred thousand terms': () => condition(many(100_000, () => 'true', ' && ')),
  'an expression of ten thousand brackets': () => condition(`${repeat('(', 10_000)}true${repeat(')', 10_000)}`),
  'an expression of ten thousand signs': () => condition(`${repeat('!', 10_001)}true`),
  'an expression of ten thousand choices': () => condition(`${repeat('true ? true : ', 10_000)}true`),
  'an expression of loops in loops': () => condition(`${repeat('resource.l.all(x, ', 40)}true${repeat(')', 40)}`),
  'an expression of a text of a megabyte': () => condition(`resource.x == '${repeat('x', 1_000_000)}'`),
  'an expression of a list of a hundred thousand': () => condition(`resource.x in [${many(100_000, (at) => `'v${at}'`, ', ')}]`),
  'a path of ten thousand steps': () => yaml(`endpoints: { "GET ${repeat('/a', 10_000)}": { does: handler a } }`),
  'a path of a thousand parameters': () =>
    yaml(`endpoints: { "GET ${many(1_000, (at) => `/{p${at}}`, '')}": { does: handler a } }`),
  'ten thousand includes of itself': () => yaml(`include: [${many(10_000, () => 'd.yaml', ', ')}]`),
  'a duration of a million digits': () => yaml(`limits: { timeout: { request: "${repeat('9', 1_000_000)}s" } }`),
};

const foreign: Readonly<Record<string, () => Made>> = {
  'references in a row, five thousand long': () => openapi(chain(5_000, (next) => next)),
  'members in members, two thousand deep': () => openapi(chain(2_000, (next) => ({ type: 'object', properties: { a: next } }))),
  'all of all of, two hundred deep': () => openapi(chain(200, (next) => ({ allOf: [next, next] }))),
  'one of one of, two hundred deep': () => openapi(chain(200, (next) => ({ oneOf: [next, next] }))),
  'not not, two hundred deep': () => openapi(chain(200, (next) => ({ not: next }))),
  'a reference to itself': () => openapi({ S0: ref('S0') }),
  'schemas that all name all': () =>
    openapi(
      Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [
          `S${at}`,
          { allOf: Array.from({ length: 60 }, (_one, other) => ref(`S${other}`)) },
        ]),
      ),
    ),
  'three thousand operations over what is nested': () =>
    openapi(
      chain(30, (next) => ({ allOf: [next, next] })),
      { paths: operations(3_000) },
    ),
  'an example of a hundred thousand members': () =>
    openapi({ S0: { type: 'object', example: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`m${at}`, at])) } }),
  'ten thousand servers with variables': () =>
    openapi(
      {},
      {
        servers: Array.from({ length: 10_000 }, (_, at) => ({
          url: `https://{h}${at}.example`,
          variables: { h: { default: 'x' } },
        })),
      },
    ),
  'ten thousand security schemes': () =>
    openapi(
      {},
      {
        components: {
          securitySchemes: Object.fromEntries(
            Array.from({ length: 10_000 }, (_, at) => [`s${at}`, { type: 'http', scheme: 'basic' }]),
          ),
        },
      },
    ),
  'an AsyncAPI of five thousand channels': () =>
    json(
      JSON.stringify({
        asyncapi: '2.6.0',
        info: { title: 'A', version: '1' },
        channels: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, at) => [`c${at}`, { publish: { message: { payload: { type: 'object' } } } }]),
        ),
      }),
    ),
};

/** Every kind of document that asks for too much. */
export const documents: Readonly<Record<string, () => Made>> = { ...texts, ...marked, ...stated, ...foreign };
