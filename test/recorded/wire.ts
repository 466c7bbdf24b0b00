import { type Chance, chanceOf } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { Samples } from '../../src/parts/samples/samples.ts';
import { toJsonSchema } from '../../src/parts/schemas.ts';
import { readSpec } from '../../src/parts/spec.ts';
import { createValidator } from '../../src/serve/http/ajv.ts';
import { compileBody } from '../../src/serve/http/body.ts';
import { evaluateConditions, parseEntityTags } from '../../src/serve/http/conditions.ts';
import { alikeItems, exactKeywords, parseJson, toJson } from '../../src/serve/http/json.ts';
import { compileAccept, matchesRange, parseMediaType, sentTypes } from '../../src/serve/http/media-type.ts';
import type { ParameterSpec } from '../../src/serve/http/parameter-reader.ts';
import { compileParameters } from '../../src/serve/http/parameters.ts';
import type { Schema } from '../../src/serve/http/schema.ts';
import { parseCookies } from '../../src/serve/http/target.ts';
import { compileXmlWriting } from '../../src/serve/http/xml-write.ts';
import { read } from '../check/harness.ts';
import { digest, type Line } from './approval.ts';
import { shapeOf } from './drawn-shapes.ts';
import { editAt, edited, otherText, sitesOf } from './edits.ts';
import { grounds } from './spoken.ts';

/** What goes over the wire, drawn: how texts are read by shapes, what is wrong with values, what is written and agreed on. */
export function* wire(): Generator<Line> {
  for (const [what, say] of Object.entries({ values, parameters, bodies, agreed, exact })) {
    for (let line = 0; line < 25; line++) {
      const chance = chanceOf(line);
      yield [`wire.${what}.${line}`, digest(Array.from({ length: 12 }, () => say(chance)))];
    }
  }
}

const spec = readSpec(read('title: Nothing', 'nothing.yaml'));
const samples = new Samples(spec);
const nothingShared = () => undefined;

/** A schema that stands alone, and some values of it and beside it. */
function drawnSchema(chance: Chance, depth = 2): { readonly schema: Schema; readonly all: readonly Json[] } {
  const shape = shapeOf(chance, depth, false);
  const made = grounds.map((ground) => samples.of(shape).make(ground, '')).filter((value) => typeof value !== 'symbol') as Json[];
  const [first = {}] = made.filter((value) => typeof value === 'object' && value !== null);
  const sites = sitesOf(first);
  const wrong =
    sites.length === 0 ? [] : [1, 2, 3].map(() => edited(first as JsonMap, [editAt(chance.one(sites), sites, chance)]));
  return { schema: withoutNegatives(toJsonSchema(spec, shape, 'sent')), all: [...made, ...wrong, ...others] };
}

/** A schema counts nothing below zero. */
function withoutNegatives(schema: JsonMap): Schema {
  const counts = /^(?:min|max)(?:Length|Items|Properties|Contains)$/;
  return JSON.parse(JSON.stringify(schema), (word, value) => (counts.test(word) && value < 0 ? 0 : value));
}

const others: readonly Json[] = ['a', 'AB-123', '', 3, -7, 0.5, true, null, [], ['a', 'a'], {}, { a: 'b', b: 2 }];

/** What is said of values that do not fit. */
function values(chance: Chance): unknown {
  const { schema, all } = drawnSchema(chance);
  const validate = createValidator().compile(schema);
  return [schema, [...all, 9_007_199_254_740_993n, { a: 12_345_678_901_234_567_890n }, [1n, 1n]].map((value) => validate(value))];
}

const styles = {
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  path: ['simple', 'label', 'matrix'],
  header: ['simple'],
  cookie: ['form'],
} as const;

/** What parameters of all styles are read as. */
function parameters(chance: Chance): unknown {
  const specs = ['a', 'b', 'c'].map((name): ParameterSpec => {
    const place = chance.one(['query', 'query', 'path', 'header', 'cookie'] as const);
    const style = chance.one<string>(styles[place]);
    return {
      name,
      in: place,
      shape: drawnSchema(chance, 1).schema,
      required: chance.between(0, 2) === 0,
      // The word is one of its place's.
      ...(chance.between(0, 1) === 0 && { style: style as NonNullable<ParameterSpec['style']> }),
      ...(chance.between(0, 1) === 0 && { explode: chance.between(0, 1) === 0 }),
      ...(chance.between(0, 3) === 0 && { default: 'd' }),
    };
  });
  const readThem = compileParameters(specs, {
    undeclared: chance.one(['refuse', 'ignore'] as const),
    splitsEncoded: chance.between(0, 1) === 0,
  });
  return [
    specs,
    Array.from({ length: 4 }, () => {
      const text = () => chance.one(texts);
      const query = Array.from({ length: chance.between(0, 4) }, () => `${chance.one(keys)}=${text()}`).join('&');
      const path = { a: text(), b: text(), c: text() };
      const headers = { a: text(), b: `${text()}, ${text()}`, cookie: `a=${text()}; b="${text()}"; c` };
      return [query, readThem(path, query, headers), [...parseCookies(headers.cookie)]];
    }),
  ];
}

const keys = ['a', 'b', 'c', 'a[x]', 'a[]', 'b[0]', 'b[y][z]', 'R', 'x', 'd', 'a%5Bx%5D', ''];
const texts = ['1', '-2', '1.5', 'true', 'false', '', 'x', 'x,y', '1,2,3', 'a%2Cb', 'x|y', 'x%20y', 'x+y', 'R=1,G=2', 'R,1,G,2', '%zz', '%C3%B6', '.1.2', ';a=1', 'null', '1e3', '[1]', '{"x":1}', '99999999999999999999']; // biome-ignore format: a table

/** What bodies of every type are read as, and what is written as XML. */
function bodies(chance: Chance): unknown {
  const { schema, all } = drawnSchema(chance);
  const accepted = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml', 'text/*'];
  const decode = compileBody({ accepted, shape: schema });
  const write = compileXmlWriting(schema, nothingShared, { root: 'it', wrapsNamed: chance.between(0, 1) === 0 });
  const value = chance.one(all);
  const json = toJson(value);
  const xml = write(value);
  const form = Array.from({ length: chance.between(0, 4) }, () => `${chance.one(keys)}=${chance.one(texts)}`).join('&');
  const part = (name: string) =>
    `--line\r\nContent-Disposition: form-data; name="${name}"${chance.one(['', '; filename="f.txt"', "; filename*=UTF-8''%C3%B6"])}\r\n${chance.one(['', 'Content-Type: application/json\r\n', 'X-Other : 1\r\nno colon\r\n', 'content-transfer-encoding: base64\r\n'])}\r\n${chance.one(texts)}\r\n`;
  const parts = `${part('a')}${part(chance.one(keys))}--line--${chance.one(['\r\n', '', 'x'])}`;
  const sent: readonly (readonly [string, string])[] = [
    [json, 'application/json'],
    [String(otherText(json, chance)), 'application/json'],
    [
      chance.one(['{"a":1,"a":2}', '[1,]', '1e999', '"\\ud800"', '{"a":12345678901234567890}', ' {} x', '\ufeff{}', '[[[]]]']),
      'application/json; charset=utf-8',
    ],
    [form, accepted[1]!],
    [parts, `multipart/form-data; boundary=${chance.one(['line', '"line"', 'other'])}`],
    [xml, 'application/xml'],
    [String(otherText(xml, chance)), 'application/xml'],
    [chance.one(xmls), 'text/xml'],
    [
      json,
      chance.one(['text/plain', 'text/plain; charset=latin1', 'image/png', 'nonsense', 'application/json;charset="utf-8"; x=1']),
    ],
  ];
  return [schema, sent.map(([text, type]) => decode(Buffer.from(text), type)), parseJson(Buffer.from(json), { depth: 2 })];
}

const xmls = ['<a/>', '<it><a>1</a><a>2</a><b x="1">t</b></it>', '<it a="1">&lt;&#65;&#x42;&amp;</it>', '<!DOCTYPE a><a/>', '<a><b></a>', '<a>&no;</a>', '<a><![CDATA[x]]></a>', '<?xml version="1.0"?><!-- c --><a/>', '<a x="1" x="2"/>', '<a/><b/>', '', '<a b=1/>']; // biome-ignore format: a table

/** What is agreed on: types, validators. */
function agreed(chance: Chance): unknown {
  const types = [
    'application/json',
    'text/html',
    'text/*',
    '*/*',
    'application/xml',
    'application/problem+json',
    'application/*+json',
    'image/png',
  ];
  const qualities = ['', ';q=0', ';q=0.5', '; q=1.0', ';q=x', ';level=1', ';q=0.001'];
  const accept = Array.from({ length: chance.between(0, 3) }, () => chance.one(types) + chance.one(qualities)).join(
    chance.one([',', ', ', ' ,']),
  );
  const produces = chance.shuffled(types).slice(0, chance.between(1, 3));
  const tags = ['"a"', 'W/"a"', '"b"', '*', 'a', '"a", "b"', 'W/"b","a"', '', '"a" "b"', '"unended'];
  const [ifMatch, ifNoneMatch] = [chance.one([undefined, ...tags]), chance.one([undefined, ...tags])];
  const method = chance.one(['GET', 'HEAD', 'PUT', 'DELETE']);
  const current = chance.one([[], ['"a"'], ['W/"a"'], ['"b"', '"a"']]);
  const type = chance.one(types) + chance.one(['', ';charset=utf-8', '; charset="x"', ';a=1;b=2', ';a=1;a=2', ';', '; =1']);
  return [
    [accept, produces, compileAccept(produces)(accept), sentTypes(produces), types.map((one) => matchesRange(one, accept))],
    [type, parseMediaType(type)],
    [ifMatch, ifNoneMatch, method, current, evaluateConditions({ method, ifMatch, ifNoneMatch, current })],
    tags.map((tag) => parseEntityTags(tag)),
  ];
}

/** Numbers beyond what a double holds, by every keyword that is about numbers. */
function exact(chance: Chance): unknown {
  const some: readonly unknown[] = [
    0,
    -0,
    1,
    2.5,
    3n,
    -3n,
    9_007_199_254_740_993n,
    2 ** 53,
    1e300,
    0.1,
    'x',
    null,
    true,
    [1n],
    [1],
    { a: 1n },
  ];
  const [stated, value, other] = [chance.one(some), chance.one(some), chance.one(some)];
  return [
    Object.entries(exactKeywords).map(([word, holds]) => {
      const list = /Enum|Type/.test(word) ? [stated, other, 'integer', 'number'] : stated;
      try {
        return [word, holds(list, value)];
      } catch (error) {
        return [word, String(error)];
      }
    }),
    alikeItems([stated, value, other]),
  ];
}
