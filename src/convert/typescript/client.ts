import type { Json, JsonMap } from '../../document/document.ts';
import { newMap } from '../../document/values.ts';
import { acceptedSets, kindOfScheme, placed, type Scheme, schemePrefix } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, isStated, type Named, statedValue } from '../../parts/fact.ts';
import { callableOperations, type Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import { placeMadeBy } from '../../parts/reach.ts';
import type { Spec } from '../../parts/spec.ts';
import { refusalsOf } from '../spec/refusals.ts';
import { literal, operationIdOf, propertyName, type TypeNames, UniqueNames } from '../spec/words.ts';
import { clientPrelude } from './client-prelude.ts';
import { clientSigning, thatSigns } from './client-signing.ts';
import { type OperationTypes, operationWord } from './operation-types.ts';
import { parameterMembers } from './parameters.ts';
import type { ResourceTypes } from './resource-types.ts';
import { shapeType } from './shape-type.ts';
import {
  applied,
  intersectionOf,
  neverType,
  type ObjectMember,
  objectOf,
  type Type,
  undefinedType,
  union,
  unknownType,
  word,
} from './syntax.ts';
import { declaration, flat } from './write.ts';

/** A client that calls every operation with `fetch`, and tells refusals apart by their codes. */
export function clientSection(operations: readonly OperationTypes[], types: ResourceTypes, names: TypeNames): string[] {
  const { spec } = types.reading;
  const unique = new UniqueNames();
  const isSigning = entriesOf(spec.authentication.schemes).some(([, scheme]) => signingOf(scheme) !== undefined);
  const declarations: string[] = [];
  const table: [string, JsonMap][] = [];
  const members = operations.map((operation): ObjectMember => {
    const name = unique.claim(memberName(operation));
    table.push([name, tableRow(operation, spec)]);
    const refusals = names.claim(operationWord(operation.endpoint), 'Error', 'Operation');
    declarations.push(declaration(refusals, refusalType(operation, spec), [`How \`${operation.operation}\` is refused.`]));
    const { key, at, deprecated } = operation.endpoint;
    const says = operation.operation === key ? `\`${key}\`` : `\`${operation.operation}\`, \`${key}\``;
    const gone = deprecated === undefined ? {} : { deprecated: '' };
    return { name, type: callType(operation, refusals), doc: [...types.reading.prose(at), says], ...gone };
  });
  return [
    declaration('ErrorBody', errorBodyType(types), ['The body of a refusal.']),
    declaration('Credential', credentialType(spec), ['What shows who is calling, by the name of its scheme.']),
    ...declarations,
    declaration('Client', members.length === 0 ? objectOf([], neverType) : objectOf(members), ['The operations of the service.']),
    `const service: {
  readonly baseUrl?: string;
  readonly codeAt?: readonly string[];
  readonly version?: { readonly in: string; readonly name: string; readonly current: string };
  readonly schemes: { readonly [name: string]: { readonly in: string; readonly name: string; readonly prefix?: string; readonly isName?: boolean${isSigning ? '; readonly signs?: Signing' : ''} } };
} = ${constant(serviceConstant(spec), '')};`,
    `const operations: { readonly [name: string]: Operation } = {\n${table.map(([name, row]) => `  ${propertyName(name)}: ${constant(row, '  ')},`).join('\n')}\n};`,
    ...(isSigning ? [thatSigns(clientPrelude), clientSigning] : [clientPrelude]),
  ];
}

/** `createParcel`; what would make a promise of the client is called otherwise. */
function memberName({ endpoint }: OperationTypes): string {
  const name = operationIdOf(operationWord(endpoint));
  return name === 'then' ? 'then_' : name;
}

/** How an operation is called; where its caller may choose what is shown, what is answered is another thing with the choice than without. */
function callType(operation: OperationTypes, refusals: string): Type {
  const { chosen, parameters, response } = operation;
  if (!chosen) return callWith(operation, refusals, parameters, response);
  const unsaid = objectOf([{ name: chosen.by, type: undefinedType, optional: true }]);
  const whole = flat(callWith(operation, refusals, intersectionOf([parameters, unsaid]), response));
  return word(`(${whole}) & (${flat(callWith(operation, refusals, parameters, chosen.type))})`);
}

function callWith(operation: OperationTypes, refusals: string, parameters: Type, response: Type): Type {
  const { mayLackParameters, request, endpoint } = operation;
  const isConditional = endpoint.ifMatch === 'required' || endpoint.ifMatch === 'accepted';
  const own: ObjectMember[] = [
    ...(parameters === undefinedType ? [] : [{ name: 'params', type: parameters, optional: mayLackParameters, readonly: true }]),
    ...(request === undefinedType ? [] : [{ name: 'body', type: request, readonly: true }]),
    ...(endpoint.idempotency
      ? [{ name: 'idempotencyKey', type: word('string'), optional: !endpoint.idempotency.required, readonly: true }]
      : []),
    ...(isConditional
      ? [{ name: 'ifMatch', type: word('string'), optional: endpoint.ifMatch !== 'required', readonly: true }]
      : []),
  ];
  const isOptional = own.every(({ optional }) => optional);
  const input = own.length === 0 ? word('CallOptions') : intersectionOf([objectOf(own), word('CallOptions')]);
  const answer = union([applied('Answer', response), word(refusals)]);
  return word(`(input${isOptional ? '?' : ''}: ${flat(input)}) => Promise<${flat(answer)}>`);
}

/** The refusals of an operation by status, and whatever else may come back. */
function refusalType(operation: OperationTypes, spec: Spec): Type {
  const byStatus = Map.groupBy(refusalsOf(spec, statedOperation(operation, spec)), ({ status }) => status);
  const refusals = [...byStatus]
    .sort(([one], [other]) => one - other)
    .flatMap(([status, refused]) => {
      const codes = refused.flatMap(({ code }) => (code === undefined ? [] : [word(literal(code))]));
      return codes.length === 0 ? [] : [applied('Refusal', word(String(status)), union(codes))];
    });
  return union([...(codeAt(spec) === undefined ? [] : refusals), word('Unexpected')]);
}

function errorBodyType({ reading, shapes }: ResourceTypes): Type {
  const payload = statedValue(reading.spec.errors.payload);
  if (payload === undefined) return unknownType;
  if (payload !== 'problem') return isStated(payload.shape) ? shapeType(payload.shape.value, shapes('shown')) : unknownType;
  const text = (name: string, optional = false): ObjectMember => ({ name, type: word('string'), optional });
  const violation = objectOf([text('in'), text('path'), text('found', true), text('expected')]);
  return objectOf(
    [
      text('type'),
      text('title'),
      { name: 'status', type: word('number') },
      text('detail'),
      text('code', true),
      text('request_id'),
      { name: 'violations', type: { kind: 'list', of: violation }, optional: true },
    ],
    unknownType,
  );
}

/** The schemes of one of the accepted sets: a text each, or a name and a password. */
function credentialType(spec: Spec): Type {
  const { authentication } = spec;
  const stated = new Map(entriesOf(authentication.schemes));
  const own = entriesOf(spec.endpoints.all).flatMap(([, { accept }]) => accept ?? []);
  const all = [...acceptedSets(authentication), ...own].filter((set) => set.length > 0 && set.every((name) => stated.has(name)));
  const accepted = [...new Map(all.map((set) => [JSON.stringify([...set].sort()), set])).values()];
  const pair = objectOf([
    { name: 'name', type: word('string') },
    { name: 'password', type: word('string') },
  ]);
  const signingKey = objectOf([
    { name: 'keyId', type: word('string') },
    { name: 'secret', type: word('string') },
    { name: 'algorithm', type: word('string'), optional: true },
  ]);
  return accepted.length === 0
    ? objectOf([], neverType)
    : union(
        accepted.map((set) =>
          objectOf(
            set.map((name) => {
              const scheme = stated.get(name);
              const isPair = scheme !== undefined && kindOfScheme(scheme)?.proof?.by === 'password';
              const signs = scheme && signingOf(scheme);
              return { name, type: isPair ? pair : signs ? signingKey : word('string'), readonly: true };
            }),
          ),
        ),
      );
}

/** What a client has to know to sign, where callers sign. */
function signingOf(scheme: Scheme): JsonMap | undefined {
  const proof = kindOfScheme(scheme)?.proof;
  return proof?.by === 'signing' && proof.lacks(scheme) === undefined ? proof.forClients(placed(scheme)) : undefined;
}

/** What the client knows of the service as a whole. */
function serviceConstant(spec: Spec): JsonMap {
  const [url] = statedValue(spec.purpose.baseUrls) ?? [];
  const schemes = newMap();
  for (const [name, scheme] of entriesOf(spec.authentication.schemes)) {
    const carrier = statedValue(scheme.carrier);
    if (carrier === undefined) continue;
    const prefix = schemePrefix(scheme);
    const proof = kindOfScheme(scheme)?.proof;
    const isName = proof?.by === 'key' && proof.write !== undefined;
    const signs = signingOf(scheme);
    schemes[name] = {
      in: scheme.in,
      name: carrier,
      ...(prefix !== undefined && { prefix }),
      ...(isName && { isName }),
      ...(signs && { signs }),
    };
  }
  const select = statedValue(spec.versioning.select);
  const current = entriesOf(spec.versioning.versions).find(([, version]) => version.current)?.[0];
  const code = codeAt(spec);
  return {
    ...(url !== undefined && /^https?:/i.test(url) && { baseUrl: url }),
    ...(code && { codeAt: [...code] }),
    ...(select && select.by !== 'pin' && current !== undefined && { version: { in: select.by, name: select.carrier, current } }),
    schemes,
  };
}

/** What the client knows of one operation. */
function tableRow(operation: OperationTypes, spec: Spec): JsonMap {
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
function constant(value: Json, indent: string): string {
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
function statedOperation({ endpoint, operation }: OperationTypes, spec: Spec): Operation {
  return callableOperations(spec).find((other) => other.endpoint?.key === endpoint.key) ?? { name: operation, endpoint };
}

/** The members of a refusal's body that lead to its code. */
function codeAt(spec: Spec): readonly string[] | undefined {
  const payload = statedValue(spec.errors.payload);
  if (payload === undefined) return undefined;
  if (payload === 'problem') return ['code'];
  const { data } = payload;
  // A lone expression has a text as its source; of a map, that would be a member, which is none.
  return typeof data.source === 'string' ? undefined : placeMadeBy(data as Named<Expression>, 'code');
}
