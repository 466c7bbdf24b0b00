import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileXmlReading, parseXml } from '../src/serve/http/xml-read.ts';
import { compileXmlWriting } from '../src/serve/http/xml-write.ts';

/** Bodies of XML: what is read, what is refused, and what is written, by what a schema says of `xml`. */

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    id: { type: 'integer', xml: { attribute: true } },
    title: { type: 'string', xml: { name: 'Title' } },
    isOpen: { type: 'boolean' },
    tags: { type: 'array', items: { ...text, xml: { name: 'tag' } }, xml: { name: 'labels', wrapped: true } },
    lines: { type: 'array', items: { $ref: 'line' }, xml: { name: 'line' } },
    note: { ...text, xml: { prefix: 'n', namespace: 'urn:notes' } },
  },
};
const line = { type: 'object', properties: { amount: { type: 'number' } }, xml: { name: 'line' } };
const resolve = (ref: string) => (ref === 'line' ? line : undefined);
const readIn = (xml: string, shape: object = schema) => {
  const read = compileXmlReading(shape as Record<string, unknown>, resolve)(Buffer.from(xml));
  return 'value' in read ? JSON.parse(JSON.stringify(read.value)) : read.problem.found;
};

const value = {
  id: 7,
  title: 'a < b & "c"',
  isOpen: true,
  tags: ['x', 'y'],
  lines: [{ amount: 1.5 }, { amount: 2 }],
  note: 'n',
};
const written = `<?xml version="1.0" encoding="UTF-8"?>
<order id="7"><Title>a &lt; b &amp; &quot;c&quot;</Title><isOpen>true</isOpen><labels><tag>x</tag><tag>y</tag></labels><line><amount>1.5</amount></line><line><amount>2</amount></line><n:note xmlns:n="urn:notes">n</n:note></order>`;

test('a value is written by the names, attributes, namespaces and wrappings of its schema, and read by them again', () => {
  const write = compileXmlWriting(schema, resolve, { root: 'order', wrapsNamed: false });
  assert.equal(write(value), written);
  assert.deepEqual(readIn(written), value);
});

test('comments, instructions, sections of characters and prefixes are read over; what no schema names is taken as it is', () => {
  const xml =
    '<?xml version="1.0"?><!-- a --><o:order xmlns:o="urn:o"><o:Title><![CDATA[<b>]]>&#x41;&#66;</o:Title><other a="1"><one>1</one><one>2</one></other></o:order>';
  assert.deepEqual(readIn(xml), { title: '<b>AB', other: { one: ['1', '2'] } });
});

test('a list that says nothing of wrapping is read wrapped or not, where its items have a name of their own', () => {
  const shape = { type: 'object', properties: { Zones: { type: 'array', items: { ...text, xml: { name: 'Zone' } } } } };
  const expected = { Zones: ['a', 'b'] };
  assert.deepEqual(readIn('<r><Zones><Zone>a</Zone><Zone>b</Zone></Zones></r>', shape), expected);
  assert.deepEqual(readIn('<r><Zone>a</Zone><Zone>b</Zone></r>', shape), expected);
  const write = (wrapsNamed: boolean) => compileXmlWriting(shape, resolve, { root: 'r', wrapsNamed })(expected).split('\n')[1];
  assert.equal(write(true), '<r><Zones><Zone>a</Zone><Zone>b</Zone></Zones></r>');
  assert.equal(write(false), '<r><Zone>a</Zone><Zone>b</Zone></r>');
});

test('what is no XML, defines or fetches something, or goes too deep is refused', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', /document type/],
    ['<a>&b;</a>', /entity/],
    ['<a>&</a>', /entity/],
    ['<a>&#0;</a>', /entity/],
    ['<a><b></a></b>', /end without its beginning/],
    ['<a>', /no end of <a>/],
    ['<a/><b/>', /second element/],
    ['<a b=c/>', /./],
    ['text', /outside/],
    ['', /no element/],
    [`${'<a>'.repeat(65)}${'</a>'.repeat(65)}`, /more than 64 levels/],
    [`<a>${'<b/>'.repeat(100_000)}</a>`, /more than 100000 elements/],
    [`<a ${' '.repeat(100_000)}`, /./],
  ];
  for (const [xml, reason] of refused) assert.match(String(readIn(xml)), reason, xml.slice(0, 40));
  assert.ok('problem' in parseXml(Buffer.from([0x3c, 0xff, 0x3e])));
  assert.deepEqual(readIn('<a><__proto__>x</__proto__></a>', {}), JSON.parse('{"__proto__":"x"}'));
});

// Each element read costs as much as the first: read the other way, a body of 700 KB would keep the process for a minute.
test('a body of very many elements comes to its end', { timeout: 30_000 }, () => {
  const lines = (inner: string) => `<a>${inner.repeat(90_000)}</a>`;
  const listed = { type: 'object', properties: { line: { type: 'array', items: text } } };
  assert.equal(readIn(lines('<line/>'), listed).line.length, 90_000);
  assert.equal(readIn(lines('<line/>'), {}).line.length, 90_000);
});
