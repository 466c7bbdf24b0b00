import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt, type Name, str } from 'ajv';
import { alwaysValidSchema, Type } from 'ajv/dist/compile/util.js';
import ajvContains from 'ajv/dist/vocabularies/applicator/contains.js';

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
