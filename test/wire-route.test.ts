import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compileRoutes } from '../src/serve/http/route.ts';
import { splitTarget } from '../src/serve/http/socket-door.ts';
import { anyCodePoint } from './fixtures/letters.ts';

/** `METHOD target` -> the key that answers and its parameters, `405 ALLOW`, or `404`. */
function router(keys: readonly string[], base?: string): (request: string) => string {
  const routes = keys.map((key) => ({
    method: key.slice(0, key.indexOf(' ')),
    path: key.slice(key.indexOf(' ') + 1),
    value: key,
  }));
  const compiled = compileRoutes(routes, base === undefined ? {} : { base });
  return (request) => {
    const space = request.indexOf(' ');
    const { path, query } = splitTarget(request.slice(space + 1));
    const found = compiled.find(request.slice(0, space), path, query);
    if (found.kind === 'unknown') return '404';
    if (found.kind === 'method') return `405 ${found.allow.join(',')}`;
    const params = Object.entries(found.params).map(([name, value]) => `${name}=${value}`);
    return [found.value, ...params].join(' | ');
  };
}

const parcels = [
  'GET /',
  'GET /parcels',
  'POST /parcels',
  'GET /parcels/{id}',
  'DELETE /parcels/{id}',
  'GET /parcels/latest',
  'POST /parcels/{parcel}/scans',
  'GET /parcels/{id}/thumbnail.{extension}',
  'GET /compare/{a}-{b}',
  'GET /compare/{whole}',
  'POST /jobs/{id}:cancel',
  'GET /v1.0/status.json',
  'GET /größe/{x[y]}',
  'GET /files/a%2Fb',
  'GET /odd/*/(x)',
  'GET /deep/{x}/end',
  'GET /m/{a}-{b}/x',
  'GET /m/{c}/y',
  'GET /deep/fixed/other',
];

describe('a request finds its operation', () => {
  const find = router(parcels);
  for (const [request, answer] of [
    ['GET /', 'GET /'],
    ['GET /parcels', 'GET /parcels'],
    ['HEAD /parcels', 'GET /parcels'],
    ['GET /parcels?status=draft', 'GET /parcels'],
    ['GET http://host:80/parcels?x', 'GET /parcels'],
    ['GET http://host', 'GET /'],
    ['GET /parcels/7', 'GET /parcels/{id} | id=7'],
    ['GET /parcels/latest', 'GET /parcels/latest'],
    ['POST /parcels/7/scans', 'POST /parcels/{parcel}/scans | parcel=7'],
    ['GET /parcels/7/thumbnail.png', 'GET /parcels/{id}/thumbnail.{extension} | id=7 | extension=png'],
    ['GET /parcels/7/thumbnail.', '404'],
    ['GET /compare/x-y-z', 'GET /compare/{a}-{b} | a=x | b=y-z'],
    ['GET /compare/x%2Dy-z', 'GET /compare/{a}-{b} | a=x-y | b=z'],
    ['GET /compare/x%2Dy', 'GET /compare/{a}-{b} | a=x | b=y'],
    ['GET /compare/xy', 'GET /compare/{whole} | whole=xy'],
    ['GET /compare/-y', 'GET /compare/{whole} | whole=-y'],
    ['POST /jobs/a:b:cancel', 'POST /jobs/{id}:cancel | id=a:b'],
    ['POST /jobs/a%3Acancel', 'POST /jobs/{id}:cancel | id=a'],
    ['GET /v1.0/status.json', 'GET /v1.0/status.json'],
    ['GET /v1x0/status.json', '404'],
    ['GET /gr%C3%B6%C3%9Fe/%20', 'GET /größe/{x[y]} | x[y]= '],
    ['GET /files/a%2Fb', 'GET /files/a%2Fb'],
    ['GET /files/a%2fb', 'GET /files/a%2Fb'],
    ['GET /files/a/b', '404'],
    ['GET /odd/*/(x)', 'GET /odd/*/(x)'],
    ['GET /odd/y/(x)', '404'],
    ['GET /deep/fixed/end', 'GET /deep/{x}/end | x=fixed'],
    ['GET /deep/fixed/other', 'GET /deep/fixed/other'],
    ['GET /m/1-2/y', 'GET /m/{c}/y | c=1-2'],
    ['GET /m/%31-2/y', 'GET /m/{c}/y | c=1-2'],
    ['PUT /parcels', '405 GET,POST,HEAD'],
    ['DELETE /parcels/latest', '405 GET,HEAD'],
    ['POST /jobs/1:stop', '404'],
    ['OPTIONS *', '404'],
    ['get /parcels', '405 GET,POST,HEAD'],
    ['GET /Parcels', '404'],
  ] as const) {
    test(request, () => assert.equal(find(request), answer));
  }
});

describe('a path trick has one outcome', () => {
  const find = router(parcels);
  for (const [request, answer] of [
    ['GET /parcels/', '404'],
    ['GET //parcels', '404'],
    ['GET /parcels//', '404'],
    ['GET /parcels//scans', '404'],
    ['GET /parcels/%2e%2e', '404'],
    ['GET /parcels/%2E', '404'],
    ['GET /parcels/..', '404'],
    ['GET /parcels/../parcels', '404'],
    ['GET /./parcels', '404'],
    ['GET /parcels/...', 'GET /parcels/{id} | id=...'],
    ['GET /parcels/.%2e/x', '404'],
    ['GET /parcels/%00', '404'],
    ['GET /parcels/a%00b', '404'],
    ['GET /parcels/%', '404'],
    ['GET /parcels/%zz', '404'],
    ['GET /parcels/%C3', '404'],
    ['GET /parcels/%ED%A0%80', '404'],
    ['GET /parcels/a%2Fb', 'GET /parcels/{id} | id=a/b'],
    ['GET /parcels/..%2f..%2fetc', 'GET /parcels/{id} | id=../../etc'],
    ['GET /parcels/%252e%252e', 'GET /parcels/{id} | id=%2e%2e'],
    ['GET /parcels/__proto__', 'GET /parcels/{id} | id=__proto__'],
    ['GET /parcels/\u00c3\u00b6', 'GET /parcels/{id} | id=ö'],
    ['GET /parcels/\u00ff', '404'],
    ['GET /%70arcels', 'GET /parcels'],
    ['GET /parcels/l%61test', 'GET /parcels/latest'],
    ['GET parcels', '404'],
    ['GET ', '404'],
  ] as const) {
    test(JSON.stringify(request), () => assert.equal(find(request), answer));
  }
});

describe('a key may fix a query, and a fragment tells keys apart alone', () => {
  const find = router([
    'GET /s?type=x',
    'GET /s?type=x&deep',
    'GET /s#a',
    'GET /s#b',
    'PUT /s?acl',
    'GET /o/b?v=1',
    'GET /o/{id}',
    'GET /q?id={id}',
  ]);
  for (const [request, answer] of [
    ['GET /s?type=x', 'GET /s?type=x'],
    ['GET /s?a=1&type=%78', 'GET /s?type=x'],
    ['GET /s?deep=&type=x', 'GET /s?type=x&deep'],
    ['GET /s?type=y', 'GET /s#a'],
    ['GET /s', 'GET /s#a'],
    ['PUT /s', '404'],
    ['PUT /s?acl', 'PUT /s?acl'],
    ['POST /s', '405 GET,HEAD'],
    ['POST /s?acl', '405 GET,PUT,HEAD'],
    ['GET /o/b?v=1', 'GET /o/b?v=1'],
    ['GET /o/b?v=2', 'GET /o/{id} | id=b'],
    ['GET /q?id=7', 'GET /q?id={id}'],
    ['GET /q', '404'],
  ] as const) {
    test(request, () => assert.equal(find(request), answer));
  }
});

describe('a fragment that tells parameters tells operations of one path apart by them', () => {
  const target = (value: string) => ({ in: 'header', name: 'X-Target', value }) as const;
  const scope = (value: string) => ({ in: 'query', name: 'scope', value }) as const;
  const app = { in: 'query', name: 'app', value: undefined } as const;
  const { find } = compileRoutes([
    { method: 'POST', path: '/#X-Target=S.Make', value: 'make', told: [target('S.Make')] },
    { method: 'POST', path: '/#X-Target=S.Read', value: 'read', told: [target('S.Read')] },
    { method: 'GET', path: '/c#scope=mine&app', value: 'mine', told: [scope('mine'), app] },
    { method: 'GET', path: '/c#app', value: 'of an app', told: [app] },
    { method: 'GET', path: '/c', value: 'all', told: [] },
    { method: 'GET', path: '/c?deep', value: 'deep', told: [] },
  ]);
  for (const [method, path, query, headers, answer] of [
    ['POST', '/', '', { 'x-target': 'S.Read' }, 'read'],
    ['POST', '/', '', { 'x-target': 'S.Make' }, 'make'],
    ['POST', '/', '', { 'x-target': 'S.None' }, 'make'],
    ['POST', '/', '', {}, 'make'],
    ['GET', '/c', 'scope=mine', {}, 'mine'],
    ['GET', '/c', 'app=1&scope=mine', {}, 'mine'],
    ['GET', '/c', 'app=1&scope=yours', {}, 'of an app'],
    ['GET', '/c', 'app=1', {}, 'of an app'],
    ['GET', '/c', '', {}, 'all'],
    ['GET', '/c', 'deep&app=1', {}, 'deep'],
  ] as const) {
    test(`${method} ${path}?${query} ${JSON.stringify(headers)}`, () => {
      const found = find(method, path, query, headers);
      assert.equal(found.kind === 'found' && found.value, answer);
    });
  }
});

describe('a base path stands in front of all', () => {
  const find = router(['GET /', 'GET /parcels/{id}'], '/v1');
  for (const [request, answer] of [
    ['GET /v1/parcels/7', 'GET /parcels/{id} | id=7'],
    ['GET /v1/parcels/a%20b', 'GET /parcels/{id} | id=a b'],
    ['GET /v1/', 'GET /'],
    ['GET /v1', '404'],
    ['GET /v10/', '404'],
    ['GET /parcels/7', '404'],
  ] as const) {
    test(request, () => assert.equal(find(request), answer));
  }
});

test('parameters have no prototype, and keep what was sent where something was encoded', () => {
  const { find } = compileRoutes([{ method: 'GET', path: '/{__proto__}/{b}', value: 1 }]);
  const found = find('GET', '/a%2Cb,c/d', '');
  assert.ok(found.kind === 'found');
  assert.deepEqual(Object.entries(found.params), [
    ['__proto__', 'a,b,c'],
    ['b', 'd'],
  ]);
  assert.deepEqual(Object.entries(found.raw ?? {}), [
    ['__proto__', 'a%2Cb,c'],
    ['b', 'd'],
  ]);
  assert.equal('constructor' in found.params, false);
});

test('any method, path and query finds something and never throws', () => {
  const { find } = compileRoutes(parcels.map((key) => ({ method: 'GET', path: key.split(' ')[1] ?? '', value: key })));
  const odd = fc.oneof(
    fc.string(),
    fc.constantFrom('..', '%2e', '%', '%zz', '', 'parcels', 'thumbnail.', '-', 'compare', 'größe', '\0'),
  );
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 6 }), fc.string(), (segments, query) => {
      const found = find('GET', `/${segments.join('/')}`, query);
      if (found.kind !== 'found') return;
      for (const value of Object.values(found.params))
        assert.ok(value !== '' && value !== '.' && value !== '..' && !value.includes('\0'));
    }),
  );
});

test('every encoded text comes back as the parameter it was', () => {
  const { find } = compileRoutes([{ method: 'GET', path: '/a/{id}/b', value: 1 }]);
  const text = fc.string({ unit: anyCodePoint, minLength: 1 }).filter((one) => one.isWellFormed() && !/^\.{1,2}$|\0/.test(one));
  fc.assert(
    fc.property(text, (id) => {
      const found = find('GET', `/a/${encodeURIComponent(id)}/b`, '');
      assert.equal(found.kind === 'found' && found.params.id, id);
    }),
  );
});
