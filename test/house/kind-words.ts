import type { OtherMeaning } from './kinds.ts';

/** The sorts of kinds, by their folders, whose words nobody else may know. Their words are those of their lists. */
export const sortsUnderRule: readonly string[] = [
  'limits',
  'pages',
  'generators',
  'formats',
  'signatures',
  'schemes',
  'envelopes',
  'streams',
  'deliveries',
];

/** Words of kinds that are other words too, each with where and what. */
export const otherMeanings: readonly OtherMeaning[] = [
  { word: 'none', where: 'src/', unlessBeside: 'style', reason: 'the standing of a fact that is promised to be absent' },
  { word: 'after', where: 'src/check/', unlessBeside: 'style', reason: 'when a transition happens by itself' },
  { word: 'after', where: 'src/parts/states.ts', reason: 'when a transition happens by itself' },
  { word: 'after', where: 'src/verify/states/', reason: 'when a transition happens by itself' },
  { word: 'after', where: 'src/verify/limits/quota-windows.ts', reason: 'what comes after a quota was used up' },
  { word: 'after', where: 'src/serve/resources/lists/query.ts', reason: 'the row that a question of the store goes on after' },
  { word: 'after', where: 'src/store/postgres/', reason: 'the name that a page of credentials goes on after' },
  { word: 'base64', where: 'src/', unlessBeside: 'generate', reason: 'an encoding of bytes (RFC 4648)' },
  { word: 'hex', where: 'src/', unlessBeside: 'generate', reason: 'an encoding of bytes (RFC 4648)' },
  { word: 'uuid', where: 'src/', unlessBeside: 'generate', reason: 'a format of JSON Schema' },
  { word: 'number', where: 'src/', unlessBeside: 'generate', reason: 'a type of JSON' },
  { word: 'signature', where: 'src/parts/', unlessBeside: 'type', reason: 'the member of a web hook that says how it is signed' },
  { word: 'signature', where: 'src/check/security/data.ts', reason: 'the member of a web hook that says how it is signed' },
  { word: 'api_key', where: 'src/verify/authentication/carriers.ts', reason: 'a query parameter that services take keys in' },
  { word: 'binary', where: 'src/parts/expressions/', reason: 'an operation of CEL that has two sides' },
  { word: 'binary', where: 'src/serve/resources/lists/cursor.ts', reason: 'an encoding of bytes as text' },
  { word: 'binary', where: 'src/serve/http/multipart.ts', reason: 'a transfer encoding (RFC 2045)' },
  { word: 'decimal', where: 'src/serve/exchange/column.ts', reason: 'the stored name of how a column is made' },
  { word: 'phone', where: 'src/', unlessBeside: 'format', reason: 'what fields are named' },
  { word: 'country', where: 'src/', unlessBeside: 'format', reason: 'what fields are named' },
  { word: 'currency', where: 'src/', unlessBeside: 'format', reason: 'what fields are named' },
  { word: 'webhook', where: 'src/cli/', reason: 'the option that names an address that every event goes to' },
  { word: 'stream', where: 'src/parts/answers.ts', reason: 'the member of an answer that is given piece by piece' },
  { word: 'stream', where: 'src/parts/forms/endpoints.ts', reason: 'the member of an answer that is given piece by piece' },
  { word: 'stream', where: 'src/convert/openapi/', reason: 'the member of an answer that is given piece by piece' },
  { word: 'stream', where: 'src/convert/asyncapi/read/operations.ts', reason: 'a word of AsyncAPI 1' },
  { word: 'stream', where: 'src/serve/', reason: 'bytes that come one after another' },
  { word: 'page', where: 'src/serve/service/well-known.ts', reason: 'the page that says what a service is' },
  { word: 'page', where: 'src/check/prose.ts', reason: 'how people write of rows on a page' },
];
