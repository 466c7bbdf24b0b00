import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap } from '../../../document/values.ts';
import { compileMessage } from '../../../parts/errors.ts';
import { Failed } from '../../../parts/expressions/cel-value.ts';
import { compileExpression } from '../../../parts/expressions/compile.ts';
import { type Expression, isStated, type Named, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { placeMadeBy } from '../../../parts/reach.ts';
import { compileWithoutAbsent } from '../../../parts/shape-level.ts';
import { fitsAll } from '../../../parts/shapes/branches.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { errorScope } from '../../../parts/uses/callers.ts';
import { errorMedia, errorSchema } from '../../json-schema/write/payload-schemas.ts';
import { type PossibleRefusal, refusalsOf } from '../../spec/refusals.ts';
import { componentName } from '../../spec/words.ts';
import { errorPayloadKey, followsKey } from '../own/stated-schema.ts';
import { refusalHeaders } from './following-parameters.ts';
import { statedSchema } from './stated-schema.ts';
import { type ExportWriting, phraseOf, present, statedAt } from './writing.ts';

/** The refusals of an operation as responses, by status: each with its codes, its payload and an example a code. */
export function refusalResponses(operation: Operation, writing: ExportWriting, payload: RefusalBody): Map<string, JsonMap> {
  const byStatus = Map.groupBy(refusalsOf(writing.spec, operation), ({ status }) => status);
  const statuses = [...byStatus.keys()].sort((one, other) => one - other);
  return new Map(statuses.map((status) => [String(status), responseOf(byStatus.get(status) ?? [], operation, writing, payload)]));
}

/** How a refusal's body looks, whatever it is about. */
export interface RefusalBody {
  readonly media: string;
  /** Nothing where it is open. */
  readonly schema: JsonMap | undefined;
  /** The member that holds the code, where one does. */
  readonly codeAt: readonly string[] | undefined;
  /** A body as the service writes it; nothing where none can be made. */
  readonly example: (refused: PossibleRefusal, path: string) => Json | undefined;
}

/** Writes the schema of refusals once, under the name that readers expect. */
export function errorPayload(writing: ExportWriting): RefusalBody {
  const { spec, schemas } = writing;
  const stated = statedValue(spec.errors.payload);
  const media = errorMedia(spec);
  if (stated === undefined) return { media, schema: undefined, codeAt: undefined, example: () => undefined };
  if (stated === 'problem') {
    const schema = schemas.define('Problem', { ...errorSchema(spec, schemas), [followsKey]: true });
    return { media, schema, codeAt: ['code'], example: problemExample };
  }
  const written = statedAt(spec.document.tree, 'errors', 'payload', 'shape');
  const shape = isStated(stated.shape) && written !== undefined ? statedSchema(written, writing, 'answer') : {};
  const schema = schemas.define('Error', { ...shape, [errorPayloadKey]: true });
  const codeAt = isWhole(stated.data) ? undefined : placeMadeBy(stated.data, 'code');
  return { media, schema, codeAt, example: exampleMaker(writing, statedValue(stated.shape) ?? {}, stated.data) };
}

function responseOf(
  refused: readonly PossibleRefusal[],
  { endpoint }: Operation,
  writing: ExportWriting,
  payload: RefusalBody,
): JsonMap {
  const [first] = refused;
  const codes = refused.flatMap(({ code }) => code ?? []);
  const lines = refused.map(({ code, message }) => (code === undefined ? message : `\`${code}\`: ${message}`));
  const examples = newMap();
  for (const one of refused) {
    const value = payload.example(one, endpoint?.path ?? '/');
    if (value !== undefined) examples[one.code ?? one.when ?? 'refused'] = present({ summary: one.message, value });
  }
  const headers = refusalHeaders(refused, writing);
  const response = present({
    description: lines.length === 1 ? (lines[0] ?? '') : lines.map((line) => `- ${line}`).join('\n'),
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    content: payload.schema && {
      [payload.media]: present({
        schema: narrowed(payload, codes),
        examples: Object.keys(examples).length > 0 ? examples : undefined,
      }),
    },
    [followsKey]: true,
  });
  return writing.components.share('responses', nameOf(codes, first?.status ?? 500), response);
}

/** The schema of refusals with these codes alone. */
function narrowed({ schema = {}, codeAt }: RefusalBody, codes: readonly string[]): JsonMap {
  if (codeAt === undefined || codes.length === 0) return schema;
  const code = codes.length === 1 ? { const: codes[0] ?? '' } : { enum: codes };
  const inside = codeAt.reduceRight<JsonMap>((inner, name) => ({ type: 'object', properties: { [name]: inner } }), {
    type: 'string',
    ...code,
  });
  return fitsAll<Json>([schema, inside]);
}

/** `NotFound`, `WrongStateOrTooLate`: the codes while they are few, else what the status says. */
function nameOf(codes: readonly string[], status: number): string {
  return componentName(codes.length > 0 && codes.length <= 2 ? codes.join(' or ') : phraseOf(status));
}

function problemExample(refusal: PossibleRefusal): Json {
  const { status, code, constants, when } = refusal;
  const violation = when === undefined ? undefined : violations[when];
  return present({
    type: 'about:blank',
    title: phraseOf(status),
    status,
    detail: messageExample(refusal),
    code,
    ...constants,
    request_id: requestId,
    violations: violation && [violation],
  });
}

const requestId = '01JZ8Q4N6W3H9T5V7X2B1C0D4E';

type ViolationExample = JsonMap & Readonly<Record<'in' | 'path' | 'found' | 'expected', string>>;

/** What a message says of an example of a violation. */
function messageExample({ message, when }: PossibleRefusal): string {
  const violation = when === undefined ? undefined : violations[when];
  return (violation && compileMessage(message)?.(violation)) ?? message;
}

/** What a violation looks like, under the conditions that bring some. */
const violations: Readonly<Record<string, ViolationExample>> = {
  'request.malformed': { in: 'body', path: '', found: 'a text that is no JSON', expected: 'JSON' },
  'request.parameter': { in: 'query', path: 'no_such', found: 'a parameter that is not declared', expected: 'none of this name' },
  'request.invalid': { in: 'body', path: '/field', found: 'nothing', expected: 'a value' },
  'request.invalid.missing': { in: 'body', path: '/field', found: 'nothing', expected: 'a value' },
  'request.invalid.unknown': { in: 'body', path: '/field', found: 'a field that is not stated', expected: 'no such field' },
  'request.invalid.type': { in: 'body', path: '/field', found: '"a"', expected: 'an integer' },
  'request.invalid.value': { in: 'body', path: '/field', found: '0', expected: 'at least 1' },
  'request.invalid.read_only': {
    in: 'body',
    path: '/field',
    found: '"a"',
    expected: 'nothing: it is not for its caller to write',
  },
  'limit.page': { in: 'query', path: 'limit', found: '0', expected: 'a whole number from 1' },
};

function isWhole(data: Named<Expression> | Expression): data is Expression {
  return typeof data.source === 'string';
}

/** Makes examples as the service makes answers: by the stated expressions. */
function exampleMaker(writing: ExportWriting, shape: JsonMap, data: Named<Expression> | Expression): RefusalBody['example'] {
  const scope = errorScope(writing.spec);
  const compiled = (source: string, expected: JsonMap) =>
    compileExpression(writing.spec, { source, scope, expected: { shape: expected, optional: true } });
  const properties = isPlainMap(shape.properties) ? shape.properties : {};
  const whole = isWhole(data) ? compiled(data.source, shape) : undefined;
  const members = isWhole(data)
    ? []
    : Object.entries(data).map(([name, { source }]) => {
        const member = properties[name];
        return [name, compiled(source, isPlainMap(member) ? member : {})] as const;
      });
  const dropAbsent = compileWithoutAbsent(writing.spec, shape);
  const withoutAbsent = <T extends Json | undefined>(value: T): T => {
    dropAbsent(value);
    return value;
  };
  return (refusal, path) => {
    const { status, code, constants, when } = refusal;
    const violation = when === undefined ? undefined : violations[when];
    const context = {
      ...constants,
      code: code ?? null,
      status,
      message: messageExample(refusal),
      path,
      violations: violation ? [violation] : [],
      result: null,
      operation: '',
      version: '',
      request_id: requestId,
    };
    if (whole) return withoutAbsent(jsonOf(whole.evaluate(context)));
    const out = newMap();
    for (const [name, one] of members) {
      const value = jsonOf(one.evaluate(context));
      if (value !== undefined) out[name] = value;
    }
    return withoutAbsent(out);
  };
}

/** A value as JSON; nothing for what failed. */
function jsonOf(value: unknown): Json | undefined {
  if (value instanceof Failed || value === undefined) return undefined;
  // What evaluations give is JSON but for whole numbers past 2^53.
  return JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? Number(inner) : inner))) as Json;
}
