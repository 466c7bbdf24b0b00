import type { Json, JsonMap } from '../../document/document.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { SchemaWriter } from './schema-writer.ts';

/** What a refusal looks like: RFC 9457 with this language's members, or the stated shape; nothing where that is open. */
export function errorSchema(spec: Spec, writer: SchemaWriter): JsonMap | undefined {
  const payload = statedValue(spec.errors.payload);
  if (payload === undefined) return undefined;
  if (payload === 'problem') return problemSchema(spec);
  const shape = statedValue(payload.shape);
  return shape && writer.shape(shape, 'answer');
}

/** The media type of a refusal. */
export function errorMedia(spec: Spec): string {
  const payload = statedValue(spec.errors.payload);
  return payload === undefined || payload === 'problem' ? 'application/problem+json' : 'application/json';
}

/** RFC 9457 section 3. `code` is left out where no stated code is for the condition; codes may bring members of their own. */
function problemSchema(spec: Spec): JsonMap {
  const codes = entriesOf(spec.errors.codes).map(([name]) => name);
  const isWhole = codes.length > 0 && spec.errors.others === undefined;
  return {
    description: 'A refusal (RFC 9457).',
    type: 'object',
    properties: {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 200, maximum: 599 },
      detail: { type: 'string' },
      code: { type: 'string', ...(isWhole && { enum: codes }) },
      request_id: { type: 'string' },
      violations: { type: 'array', items: violation },
      ...constantsOf(spec),
    },
    required: ['type', 'title', 'status', 'detail', 'request_id'],
  };
}

const violation: JsonMap = {
  type: 'object',
  properties: {
    in: { type: 'string', enum: ['body', 'path', 'query', 'header', 'cookie'] },
    path: { type: 'string', description: 'A JSON Pointer into the body, or the name of a parameter.' },
    found: { type: 'string' },
    expected: { type: 'string' },
  },
  required: ['in', 'path', 'expected'],
};

/** The constants that codes bring, each with the values it may have. */
function constantsOf(spec: Spec): JsonMap {
  const values = new Map<string, Json[]>();
  for (const [, { constants }] of entriesOf(spec.errors.codes)) {
    for (const [name, value] of Object.entries(constants)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  const out: Record<string, Json> = Object.create(null);
  for (const [name, list] of values) out[name] = { enum: [...new Set(list)] };
  return out;
}
