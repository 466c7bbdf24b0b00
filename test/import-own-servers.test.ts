/** Addresses that a path or an operation states for itself (OpenAPI 3.1 section 4.8.5): what is reached there, and what is not carried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importForeign } from '../src/convert/foreign.ts';
import type { Imported } from '../src/convert/openapi/import.ts';
import { reportOfImport } from '../src/convert/openapi/report.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';

const url = (address: string) => ({ servers: [{ url: address }] });
const get = (more: object = {}) => ({ get: { responses: { 204: { description: 'Done.' } }, ...more } });

/** The endpoints of a source with these paths, and what its report says of addresses. */
function imported(source: object, paths: object) {
  const whole = { openapi: '3.1.0', info: { title: 'T', version: '1' }, ...source, paths };
  let made: Imported | undefined;
  parseDocument(JSON.stringify(whole), 'api.json', {
    isKey,
    foreign(foreign) {
      made = importForeign(foreign, true);
      return made?.document;
    },
  });
  assert.ok(made);
  // The tree is that of a document, whose endpoints are a map by method and path.
  const { endpoints } = made.document.tree as { readonly endpoints: Record<string, unknown> };
  const left = reportOfImport(made).notCarried.flatMap(({ what, at }) =>
    at.flatMap((one) => (one.includes('servers') ? [`${one}: ${what}`] : [])),
  );
  return { keys: Object.keys(endpoints), left };
}

test('an operation stands at the path of its own address, which counts before that of its path', () => {
  const { keys, left } = imported(
    {},
    {
      '/calls': { ...get(), ...url('https://voice.example/api/v2/') },
      '/codes': { ...get(url('/api/v1')), ...url('https://codes.example/never') },
      '/here': get(),
    },
  );
  assert.deepEqual(keys, ['GET /api/v2/calls', 'GET /api/v1/codes', 'GET /here']);
  assert.deepEqual(left, [
    '/paths/~1calls/servers/0/url: the host of an address of its own; its path is kept',
    '/paths/~1codes/servers/0: servers',
  ]);
});

test('it stands below the path of the whole service, or stays where it is and is told', () => {
  const { keys, left } = imported(url('https://a.example/v1'), {
    '/same': { ...get(), ...url('https://a.example/v1') },
    '/below': { ...get(), ...url('https://a.example/v1/more') },
    '/beside': { ...get(), ...url('https://a.example/v10') },
    '/two': { ...get(), servers: [{ url: '/v1' }, { url: '/v2' }] },
  });
  assert.deepEqual(keys, ['GET /same', 'GET /more/below', 'GET /beside', 'GET /two']);
  assert.deepEqual(left, [
    '/paths/~1below/servers/0/url: the host of an address of its own; its path is kept',
    '/paths/~1beside/servers/0/url: an address that does not lie below that of the service',
    '/paths/~1two/servers/1/url: a second address of its own',
  ]);
});

test('no operation takes the place of another one', () => {
  const { keys, left } = imported({}, { '/a': { ...get(), ...url('/b') }, '/b/a': get() });
  assert.deepEqual(keys, ['GET /a', 'GET /b/a']);
  assert.deepEqual(left, ['/paths/~1a/servers/0/url: another operation stands at its path there']);
});
