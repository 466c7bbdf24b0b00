import type { Json, JsonMap } from '../../document/document.ts';
import { newMap } from '../../document/values.ts';
import { schemePrefix } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { callableOperations, type Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import { refusalsOf } from '../refusals.ts';
import { literal, propertyName } from './names.ts';
import type { OperationTypes } from './operation-types.ts';
import { parameterMembers } from './parameters.ts';
import { undefinedType } from './syntax.ts';

/** What the client knows of the service as a whole. */
export function serviceConstant(spec: Spec): JsonMap {
  const [url] = statedValue(spec.purpose.baseUrls) ?? [];
  const schemes = newMap();
  for (const [name, scheme] of entriesOf(spec.authentication.schemes)) {
    const carrier = statedValue(scheme.carrier);
    if (carrier === undefined) continue;
    const prefix = schemePrefix(scheme);
    schemes[name] = { in: scheme.in, name: carrier, ...(prefix !== undefined && { prefix }) };
  }
  const select = statedValue(spec.versioning.select);
  const current = entriesOf(spec.versioning.versions).find(([, version]) => version.current)?.[0];
  const member = codeMember(spec);
  return {
    ...(url !== undefined && /^https?:/i.test(url) && { baseUrl: url }),
    ...(member !== undefined && { codeMember: member }),
    ...(select && select.by !== 'pin' && current !== undefined && { version: { in: select.by, name: select.carrier, current } }),
    schemes,
  };
}

/** What the client knows of one operation. */
export function tableRow(operation: OperationTypes, spec: Spec): JsonMap {
  const { endpoint, request } = operation;
  const codes = [...new Set(refusalsOf(spec, statedOperation(operation, spec)).flatMap(({ code }) => code ?? []))];
  const media = endpoint.consumes?.[0] ?? 'application/json';
  return {
    method: endpoint.method,
    path: endpoint.path.replace(/#.*$/, ''),
    params: carriers(endpoint, spec),
    ...(request !== undefinedType && { media }),
    ...(endpoint.idempotency && { key: endpoint.idempotency.header }),
    codes,
  };
}

/** Where each parameter is carried. */
function carriers(endpoint: Endpoint, spec: Spec): JsonMap {
  const out = newMap();
  const inPath = new Set(pathParameters(endpoint.path));
  const names = parameterMembers(endpoint, { spec, view: 'create', typeOf: () => undefined }).map(({ name }) => name);
  for (const name of names) {
    const parameter = entriesOf(endpoint.parameters).find(([own]) => own === name)?.[1];
    const { style, explode } = parameter ?? {};
    out[name] = {
      in: parameter?.in ?? (inPath.has(name) ? 'path' : 'query'),
      ...(style !== undefined && { style }),
      ...(explode !== undefined && { explode }),
    };
  }
  return out;
}

/** A value as TypeScript writes it. */
export function constant(value: Json, indent: string): string {
  if (typeof value === 'string') return literal(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => constant(item, indent)).join(', ')}]`;
  // A key that is computed is only a key.
  const entries = Object.entries(value).map(
    ([key, inner]) => `${key === '__proto__' ? "['__proto__']" : propertyName(key)}: ${constant(inner, indent)}`,
  );
  if (entries.length === 0) return '{}';
  const line = `{ ${entries.join(', ')} }`;
  if (line.length + indent.length <= 120) return line;
  return `{\n${Object.entries(value)
    .map(
      ([key, inner]) =>
        `${indent}  ${key === '__proto__' ? "['__proto__']" : propertyName(key)}: ${constant(inner, `${indent}  `)},`,
    )
    .join('\n')}\n${indent}}`;
}

/** The operation with its transition, which types do not keep. */
export function statedOperation({ endpoint, operation }: OperationTypes, spec: Spec): Operation {
  return callableOperations(spec).find((other) => other.endpoint?.key === endpoint.key) ?? { name: operation, endpoint };
}

/** The member of a refusal's body that holds its code. */
export function codeMember(spec: Spec): string | undefined {
  const payload = statedValue(spec.errors.payload);
  if (payload === undefined) return undefined;
  if (payload === 'problem') return 'code';
  const { data } = payload;
  if (typeof data.source === 'string') return undefined;
  return Object.entries(data).find(
    ([, expression]) => typeof expression === 'object' && expression.source.trim() === 'code',
  )?.[0];
}
