import type { JsonMap } from '../../document/document.ts';
import { kindOfScheme } from '../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { operationIdOf, UniqueNames } from '../operation-names.ts';
import { refusalsOf } from '../refusals.ts';
import { clientPrelude } from './client-prelude.ts';
import { codeMember, constant, serviceConstant, statedOperation, tableRow } from './client-table.ts';
import { literal, type Names, propertyName } from './names.ts';
import { type OperationTypes, operationWord } from './operation-types.ts';
import type { ResourceTypes } from './resource-types.ts';
import { shapeType } from './shape-type.ts';
import { applied, both, type Member, neverType, objectOf, type Type, undefinedType, union, unknownType, word } from './syntax.ts';
import { declaration, flat } from './write.ts';

/** A client that calls every operation with `fetch`, and tells refusals apart by their codes. */
export function clientSection(operations: readonly OperationTypes[], types: ResourceTypes, names: Names): string[] {
  const { spec } = types.reading;
  const unique = new UniqueNames();
  const declarations: string[] = [];
  const table: [string, JsonMap][] = [];
  const members = operations.map((operation): Member => {
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
  readonly codeMember?: string;
  readonly version?: { readonly in: string; readonly name: string; readonly current: string };
  readonly schemes: { readonly [name: string]: { readonly in: string; readonly name: string; readonly prefix?: string } };
} = ${constant(serviceConstant(spec), '')};`,
    `const operations: { readonly [name: string]: Operation } = {\n${table.map(([name, row]) => `  ${propertyName(name)}: ${constant(row, '  ')},`).join('\n')}\n};`,
    clientPrelude,
  ];
}

/** `createParcel`; what would make a promise of the client is called otherwise. */
function memberName({ endpoint }: OperationTypes): string {
  const name = operationIdOf(operationWord(endpoint));
  return name === 'then' ? 'then_' : name;
}

function callType(operation: OperationTypes, refusals: string): Type {
  const { parameters, mayLackParameters, request, response, endpoint } = operation;
  const isConditional = endpoint.ifMatch === 'required' || endpoint.ifMatch === 'accepted';
  const own: Member[] = [
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
  const input = own.length === 0 ? word('CallOptions') : both([objectOf(own), word('CallOptions')]);
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
  return union([...(codeMember(spec) === undefined ? [] : refusals), word('Unexpected')]);
}

function errorBodyType({ reading, shapes }: ResourceTypes): Type {
  const payload = statedValue(reading.spec.errors.payload);
  if (payload === undefined) return unknownType;
  if (payload !== 'problem') return isStated(payload.shape) ? shapeType(payload.shape.value, shapes('shown')) : unknownType;
  const text = (name: string, optional = false): Member => ({ name, type: word('string'), optional });
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

/** One of the accepted schemes: a text, or a name and a password. */
function credentialType({ authentication }: Spec): Type {
  const accepted = entriesOf(authentication.schemes).filter(
    ([name]) => authentication.accept === undefined || authentication.accept.includes(name),
  );
  const pair = objectOf([
    { name: 'name', type: word('string') },
    { name: 'password', type: word('string') },
  ]);
  return accepted.length === 0
    ? objectOf([], neverType)
    : union(
        accepted.map(([name, scheme]) => {
          const isPair = kindOfScheme(scheme)?.proof?.by === 'password';
          return objectOf([{ name, type: isPair ? pair : word('string'), readonly: true }]);
        }),
      );
}
