/**
 * Where ajv is set right: formats that cost too much, loops that find too many errors, and the counting of what is evaluated.
 */

import { _, type Ajv, type CodeGen, type CodeKeywordDefinition, type KeywordCxt, Name, str } from 'ajv';
import { alwaysValidSchema, Type } from 'ajv/dist/compile/util.js';
import ajvContains from 'ajv/dist/vocabularies/applicator/contains.js';
import { formats } from '../../kinds/formats/all.ts';
import { standardTest } from '../../parts/shapes/validators.ts';
import { alikeItems, exactKeywords } from './json.ts';
import { isSchema } from './schema.ts';
import { WireFile } from './violation.ts';

/** Tightens the formats whose test is worse than linear in what strangers send. */
export function capFormats(ajv: Ajv): void {
  for (const [name, most] of slowFormats) ajv.addFormat(name, capped(name, most));
}

/**
 * Adds the words that schemas are prepared to: `wireBytes`, the exact keywords, and a `uniqueItems` that is linear and
 * survives a member named `valueOf`.
 */
export function addKeywords(ajv: Ajv): void {
  ajv.addKeyword({ keyword: 'wireBytes', validate: fitsBytes });
  ajv.addKeyword({ keyword: 'exactFormat', validate: fitsNumericFormat });
  for (const [keyword, validate] of Object.entries(exactKeywords)) ajv.addKeyword({ keyword, validate });
  ajv.removeKeyword('uniqueItems');
  const areUnique = (stated: unknown, items: unknown) =>
    stated !== true || !Array.isArray(items) || alikeItems(items) === undefined;
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', validate: areUnique });
}

/** Formats whose test is worse than linear, with the longest text that is worth it. */
const slowFormats: readonly (readonly [string, number])[] = [
  ['url', 2048],
  ['regex', 4096],
];

function capped(name: string, most: number): (text: string) => boolean {
  const test = standardTest(name);
  return (text) => text.length <= most && test(text);
}

function fitsNumericFormat(format: unknown, value: unknown): boolean {
  const kind = formats.find(({ word }) => word === format);
  return kind === undefined || !(typeof value === 'number' || typeof value === 'bigint') || kind.test(value);
}

function fitsBytes(stated: unknown, value: unknown): boolean {
  if (!isSchema(stated) || !Array.isArray(stated.types)) return true;
  if (value === null) return stated.types.includes('null');
  if (!(value instanceof WireFile) && typeof value !== 'string') return false;
  const length = typeof value === 'string' ? value.length : value.bytes.length;
  const { minimum, maximum } = stated;
  return !(typeof minimum === 'number' && length < minimum) && !(typeof maximum === 'number' && length > maximum);
}

/**
 * Ends each loop over the items or members of a value as soon as it has found `errorsMax` errors, so that what is kept of a wrong
 * value does not grow with it. What a loop found stays wrong whatever comes after; only `contains` looks for one that is right, and
 * forgets each item that is not.
 */
export function boundErrors(ajv: Ajv): void {
  for (const keyword of loops) {
    const { definition, code } = codeOf(ajv, keyword);
    definition.code = (cxt, ruleType) => {
      const { gen } = cxt;
      const before = gen.const('before', errors);
      const stop = () => gen.if(_`${errors} - ${before} >= ${errorsMax}`, () => gen.break());
      aroundLoops(gen, { stop }, () => code(cxt, ruleType));
    };
  }
  const { definition, code } = codeOf(ajv, 'contains');
  definition.code = (cxt, ruleType) => aroundLoops(cxt.gen, { forget: () => cxt.reset() }, () => code(cxt, ruleType));
}

/** Many more than are told, for those of a union are put together to fewer. */
const errorsMax = 1000;
const errors = new Name('errors');

/** The keywords whose loops are as long as a value. */
const loops = [
  'items',
  'prefixItems',
  'unevaluatedItems',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
];

type Code = (cxt: KeywordCxt, ruleType?: string) => void;

function codeOf(ajv: Ajv, keyword: string): { readonly definition: { code: Code }; readonly code: Code } {
  const definition = ajv.getKeyword(keyword);
  if (typeof definition !== 'object' || !('code' in definition)) throw new Error(`ajv has no code for ${keyword}.`);
  return { definition, code: definition.code };
}

/** Writes something at the start and at the end of the loops that are written meanwhile, but for those within them. */
function aroundLoops(gen: CodeGen, { stop, forget }: { stop?: () => void; forget?: () => void }, write: () => void): void {
  const whole = (body: (index: Name) => void) => (index: Name) => {
    restore();
    stop?.();
    body(index);
    forget?.();
    intercept();
  };
  const { forRange, forIn } = Object.getPrototypeOf(gen) as CodeGen;
  const intercept = () => {
    gen.forRange = (name, from, to, body, kind) => forRange.call(gen, name, from, to, whole(body), kind);
    gen.forIn = (name, object, body, kind) => forIn.call(gen, name, object, whole(body), kind);
  };
  const restore = () => {
    gen.forRange = forRange;
    gen.forIn = forIn;
  };
  intercept();
  write();
  restore();
}

/**
 * Keywords of ajv whose counting of what is evaluated differs from the specification (Core sections 10.2.2 and 11.2): an `if`
 * that fails evaluates nothing and one that holds does so also alone, and `unevaluatedItems` asks nothing more of a list once all of
 * its items are found evaluated while a value is validated. A `contains` beside it evaluates the items that it holds of, and no others.
 */
export function correctEvaluation(ajv: Ajv): void {
  for (const definition of [ifKeyword, containsKeyword, unevaluatedItems]) {
    ajv.removeKeyword(String(definition.keyword));
    ajv.addKeyword(definition);
  }
}

const ifKeyword: CodeKeywordDefinition = {
  keyword: 'if',
  schemaType: ['object', 'boolean'],
  trackErrors: true,
  error: {
    message: ({ params }) => str`must match "${params.ifClause}" schema`,
    params: ({ params }) => _`{failingKeyword: ${params.ifClause}}`,
  },
  code(cxt) {
    const { gen, it } = cxt;
    const clauses = (['then', 'else'] as const).filter((keyword) => asks(cxt, keyword));
    if (clauses.length === 0 && !it.opts.unevaluated) return;
    const valid = gen.let('valid', true);
    const holds = gen.name('_valid');
    const tried = cxt.subschema({ keyword: 'if', compositeRule: true, createErrors: false, allErrors: false }, holds);
    cxt.mergeValidEvaluated(tried, holds);
    cxt.reset();
    const clause = gen.let('ifClause', _`""`);
    cxt.setParams({ ifClause: clause });
    const met = gen.const('met', holds);
    for (const keyword of clauses) gen.if(keyword === 'then' ? met : _`!${met}`, () => validateClause(keyword));
    cxt.pass(valid, () => cxt.error(true));

    function validateClause(keyword: 'then' | 'else'): void {
      const inner = cxt.subschema({ keyword }, holds);
      gen.assign(valid, holds);
      cxt.mergeValidEvaluated(inner, valid);
      gen.assign(clause, _`${keyword}`);
    }
  },
};

/** Whether a clause may refuse a value or evaluate something of it. */
function asks({ it }: KeywordCxt, keyword: 'then' | 'else'): boolean {
  const schema: unknown = it.schema[keyword];
  return (
    schema !== undefined && !(typeof schema === 'object' && schema !== null ? alwaysValidSchema(it, schema) : schema === true)
  );
}

/** Ajv's own, which counts every item as evaluated; what stands beside it counts for itself. */
const containsKeyword: CodeKeywordDefinition = {
  ...ajvContains.default,
  code(cxt) {
    const { it } = cxt;
    const before = it.items;
    ajvContains.default.code(cxt);
    if (it.schema.unevaluatedItems === undefined) it.items = true;
    else if (before === undefined) delete it.items;
    else it.items = before;
  },
};

const unevaluatedItems: CodeKeywordDefinition = {
  keyword: 'unevaluatedItems',
  type: 'array',
  trackErrors: true,
  schemaType: ['boolean', 'object'],
  error: {
    message: ({ params: { len } }) => str`must NOT have more than ${len} items`,
    params: ({ params: { len } }) => _`{limit: ${len}}`,
  },
  code(cxt) {
    const { gen, data, it } = cxt;
    // The type of a keyword's own schema is whatever `schemaType` lets through.
    const schema: unknown = cxt.schema;
    if (it.items === true) return;
    const length = gen.const('len', _`${data}.length`);
    const evaluated = gen.const('evaluated', countOf(it.items, length));
    const contains: unknown = it.schema.contains;
    if (contains !== undefined && (schema === false || typeof schema === 'object')) {
      const valid = gen.var('valid', _`true`);
      gen.forRange('i', evaluated, length, (index) => {
        cxt.setParams({ len: index });
        const holds = gen.name('_valid');
        const place = { dataProp: index, dataPropType: Type.Num } as const;
        cxt.subschema({ keyword: 'contains', ...place, compositeRule: true, createErrors: false, allErrors: false }, holds);
        // What the attempt left is no error of the value.
        cxt.reset();
        gen.if(_`!${holds}`, () => {
          if (schema === false) {
            gen.assign(valid, false);
            cxt.error();
          } else cxt.subschema({ keyword: 'unevaluatedItems', ...place }, valid);
          gen.if(_`!${valid}`, () => gen.break());
        });
      });
      cxt.ok(valid);
    } else if (schema === false) {
      cxt.setParams({ len: evaluated });
      cxt.fail(_`${length} > ${evaluated}`);
    } else if (typeof schema === 'object' && schema !== null && !alwaysValidSchema(it, schema)) {
      const valid = gen.var('valid', _`${length} <= ${evaluated}`);
      gen.if(_`!${valid}`, () =>
        gen.forRange('i', evaluated, length, (index) => {
          cxt.subschema({ keyword: 'unevaluatedItems', dataProp: index, dataPropType: Type.Num }, valid);
          if (!it.allErrors) gen.if(_`!${valid}`, () => gen.break());
        }),
      );
      cxt.ok(valid);
    }
    it.items = true;
  },
};

/** How many items were evaluated: known when the schema is compiled, or a variable that is a number, or true for all of them. */
function countOf(items: number | Name | undefined, length: Name) {
  if (items === undefined) return _`0`;
  return typeof items === 'number' ? _`${items}` : _`${items} === true ? ${length} : ${items} || 0`;
}
