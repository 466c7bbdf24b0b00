import { parseDocument, serve } from '../../src/index.ts';

/** Sends bodies of nearly 4 MiB that are wrong at every place, and says how each is answered. */
const bytes = 4 * 1024 * 1024 - 1024;
const repeated = (piece: string, open: string, close: string) =>
  `${open}${Array.from({ length: Math.floor(bytes / (piece.length + 1)) }, () => piece).join(',')}${close}`;
const named = (value: string) => {
  const members = Array.from({ length: 150_000 }, (_, n) => `"n${n.toString(36).padStart(6, '0')}":${value}`);
  return `{${members.join(',')}}`;
};

const tries: readonly (readonly [what: string, shape: string, body: string])[] = [
  ['items', '{ type: array, items: string }', repeated('1', '[', ']')],
  ['objects', '{ type: array, items: { type: object, required: [a, b, c] } }', repeated('{}', '[', ']')],
  ['items of another resource', '{ type: array, items: card }', repeated('{}', '[', ']')],
  [
    'one of several forms',
    '{ type: array, items: { oneOf: [{ type: string }, { type: "null" }, card] } }',
    repeated('1', '[', ']'),
  ],
  ['none that is wanted', '{ type: array, contains: card }', repeated('1', '[', ']')],
  ['members that nobody stated', '{ type: object, additionalProperties: false }', named('1')],
  ['members that have a pattern', '{ type: object, patternProperties: { "^n": string } }', named('1')],
  ['names', '{ type: object, propertyNames: { maxLength: 3 } }', named('1')],
  [
    'what is not evaluated',
    '{ type: array, unevaluatedItems: false, prefixItems: [{ type: array, items: string }] }',
    `[${repeated('1', '[', ']')}]`,
  ],
];

const endpoints = tries.map(
  ([, shape], n) => `  POST /tries/${n}: { does: handler try_${n}, request: ${shape}, response: { 204: {} } }`,
);
const document = parseDocument(
  `
purpose: { purpose: Is sent what is wrong., users: { anybody: Asks. } }
resources: { card: { identifier: none, fields: { number: string, holder: string }, required: [number, holder] } }
endpoints:
${endpoints.join('\n')}
authentication: none
limits: { size: { body: 4MiB } }
`,
  'tries.yaml',
);
const handlers = Object.fromEntries(tries.map((_, n) => [`try_${n}`, async () => undefined]));
const service = await serve(document, { handlers });
const door = await service.listen({ port: 0, host: '127.0.0.1' });
for (const [n, [what, , body]] of tries.entries()) {
  const answer = await fetch(`http://127.0.0.1:${door.port}/tries/${n}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  console.log(`${what}: ${answer.status} with ${JSON.parse(text).violations?.length ?? text} violations`);
}
await door.close();
await service.close();
