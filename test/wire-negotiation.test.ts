import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { contentTag, evaluateConditions, parseEntityTags } from '../src/serve/http/conditions.ts';
import { compileAccept, sentTypes } from '../src/serve/http/media-type.ts';

describe('a range of media types is none that anything is sent as', () => {
  for (const [produces, structured, other] of [
    [undefined, 'application/json', 'application/json'],
    [['*/*'], 'application/json', 'application/json'],
    [['application/*'], 'application/json', 'application/json'],
    [['text/*'], 'text/plain', 'text/plain'],
    [['image/*'], 'application/octet-stream', 'application/octet-stream'],
    [['*/*', 'text/csv'], 'application/json', 'text/csv'],
    [['text/plain', 'text/json', 'application/json'], 'text/json', 'text/plain'],
    [['application/json; charset=utf-8'], 'application/json; charset=utf-8', 'application/json; charset=utf-8'],
    [['application/xml'], 'application/xml', 'application/xml'],
  ] as const) {
    test(String(produces), () => {
      const sent = sentTypes(produces);
      assert.deepEqual([sent.structured, sent.other], [structured, other]);
    });
  }

  test('and who accepts something of it is answered', () => {
    const anything = compileAccept(['*/*']);
    for (const accept of [undefined, '*/*', 'application/json', 'text/csv']) assert.equal(anything(accept), 'application/json');
    assert.equal(compileAccept(['text/*'])('application/json'), undefined);
    assert.equal(compileAccept(['text/*'])('text/csv'), 'text/plain');
    assert.equal(compileAccept(['text/*'])('application/json;q=0.5, text/*'), 'text/plain');
  });
});

describe('an Accept header chooses what is produced', () => {
  const negotiate = compileAccept(['application/json', 'text/csv', 'text/html']);
  for (const [accept, chosen] of [
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/csv', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/*;q=0.5, text/html', 'text/html'],
    ['text/html;q=0.2, text/csv;q=0.7, application/json;q=0.1', 'text/csv'],
    ['application/json;q=0, */*', 'text/csv'],
    ['*/*;q=0', undefined],
    ['image/png', undefined],
    ['application/json;q=0', undefined],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;charset="UTF-8";q=0.9, image/png', 'application/json'],
    ['application/json;version=2', undefined],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['nonsense', undefined],
    [',,;q=;', undefined],
  ] as const) {
    test(String(accept), () => {
      assert.equal(negotiate(accept), chosen);
      assert.equal(negotiate(accept), chosen, 'remembered');
    });
  }
  test('whatever it holds', () => fc.assert(fc.property(fc.string(), (accept) => void negotiate(accept))));
  test('and nothing produced means nothing chosen', () => assert.equal(compileAccept([])('*/*'), undefined));
});

describe('entity tags are parsed', () => {
  for (const [header, tags] of [
    ['*', '*'],
    [' * ', '*'],
    ['"a"', ['a']],
    ['"a", W/"b" ,"c,d"', ['a', 'W/b', 'c,d']],
    ['""', ['']],
    [', "a",, ', ['a']],
    ['"a" "b"', undefined],
    ['a', undefined],
    ['"a', undefined],
    ['w/"a"', undefined],
    ['*, "a"', undefined],
    ['', undefined],
  ] as const) {
    test(header, () => {
      const parsed = parseEntityTags(header);
      assert.deepEqual(
        typeof parsed === 'object' ? parsed.map(({ opaque, weak }) => (weak ? `W/${opaque}` : opaque)) : parsed,
        tags,
      );
    });
  }
  test('whatever the header', () => fc.assert(fc.property(fc.string(), (header) => void parseEntityTags(header))));
  test('and made', () => {
    assert.match(contentTag('x'), /^"[\w-]{27}"$/);
    assert.notEqual(contentTag('x'), contentTag('y'));
  });
});

describe('preconditions are evaluated', () => {
  for (const [method, ifMatch, ifNoneMatch, current, condition] of [
    ['GET', undefined, undefined, '"a"', 'pass'],
    ['PUT', '"a"', undefined, '"a"', 'pass'],
    ['PUT', '"b", "a"', undefined, '"a"', 'pass'],
    ['PUT', '"b"', undefined, '"a"', 'failed'],
    ['PUT', 'W/"a"', undefined, '"a"', 'failed'],
    ['PUT', '"a"', undefined, 'W/"a"', 'failed'],
    ['PUT', '*', undefined, '"a"', 'pass'],
    ['PUT', '*', undefined, undefined, 'failed'],
    ['PUT', '"a"', undefined, undefined, 'failed'],
    ['PUT', 'a', undefined, '"a"', 'failed'],
    ['GET', undefined, '"a"', '"a"', 'not-modified'],
    ['HEAD', undefined, 'W/"a"', '"a"', 'not-modified'],
    ['GET', undefined, '"a"', 'W/"a"', 'not-modified'],
    ['GET', undefined, '"b"', '"a"', 'pass'],
    ['GET', undefined, '*', '"a"', 'not-modified'],
    ['GET', undefined, '*', undefined, 'pass'],
    ['GET', undefined, 'a', '"a"', 'pass'],
    ['PUT', undefined, '*', undefined, 'pass'],
    ['PUT', undefined, '*', '"a"', 'failed'],
    ['PUT', undefined, '"a"', '"a"', 'failed'],
    ['PUT', undefined, 'a', '"a"', 'failed'],
    ['GET', '"b"', '"a"', '"a"', 'failed'],
    ['GET', '"a"', '"a"', '"a"', 'not-modified'],
  ] as const) {
    test(`${method} If-Match ${ifMatch} If-None-Match ${ifNoneMatch} of ${current}`, () => {
      assert.equal(
        evaluateConditions({ method, ifMatch, ifNoneMatch, current: current === undefined ? [] : [current] }),
        condition,
      );
    });
  }
});
