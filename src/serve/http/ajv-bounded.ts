import { _, type Ajv, type CodeGen, type KeywordCxt, Name } from 'ajv';

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
