import type { Json } from '../../document/document.ts';
import type { Answer } from '../answers.ts';
import type { Endpoint } from '../endpoints.ts';
import { operationScope, parameterShape, resourceShape } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  type Expected,
  type ExpressionUse,
  type Scope,
  scopeOf,
  tellingScope,
  type Variable,
} from '../expressions/scope.ts';
import { shownReference } from '../expressions/shape-type.ts';
import { type Expression, entriesOf, entryOf, isStated, type Named, statedValue } from '../fact.ts';
import { leftOutOf } from '../left-out.ts';
import { type Operation, operationsOf } from '../operations.ts';
import type { Field, Resource } from '../resources.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';

/** The expressions of part 4: which row is meant, and how answers are made. */
export function endpointUses(spec: Spec): ExpressionUse[] {
  return operationsOf(spec).flatMap((operation) => {
    const { endpoint } = operation;
    if (!endpoint) return [];
    const scope = answerScope(spec, operation, endpoint);
    const answers = statedValue(endpoint.response) ?? [];
    const told = headerUses(endpoint.headers, `every answer of ${operation.name}`, [
      { operation: operation.name, scope: tellingScope(spec) },
    ]);
    return [
      ...identityUse(spec, operation, endpoint),
      ...movedUse(spec, operation, endpoint),
      ...keepsUses(spec, operation, endpoint),
      ...told,
      ...answers.flatMap((answer) => answerUses(answer, operation.name, [{ operation: operation.name, scope }])),
    ];
  });
}

/** What reading tells of rows that were deleted and are kept. */
export function deletedUses(spec: Spec, operations: readonly Operation[], { name, kept }: Resource): ExpressionUse[] {
  if (!kept?.answers) return [];
  const scopes = operations.flatMap((operation) => {
    const { endpoint, resource } = operation;
    if (!endpoint || resource !== name || statedValue(endpoint.does)?.verb !== 'read') return [];
    return [{ operation: operation.name, scope: answerScope(spec, operation, endpoint) }];
  });
  return scopes.length === 0 ? [] : kept.answers.flatMap((answer) => answerUses(answer, `a deleted ${name}`, scopes));
}

function identityUse(spec: Spec, operation: Operation, { identity }: Endpoint): ExpressionUse[] {
  if (!identity) return [];
  // The row is being looked for, so it cannot be read yet.
  const { resource: _resource, next: _next, ...scope } = operationScope(spec, operation);
  const resource = entryOf(spec.resources.all, operation.resource ?? '');
  const field = resource && entryOf(resource.fields, statedValue(resource.identifier)?.field ?? '');
  return [
    {
      at: identity.at,
      source: identity.source,
      name: `the identity of ${operation.name}`,
      role: 'value',
      expected: { shape: (field && statedValue(field.shape)) ?? { type: 'string' } },
      failure: 'internal',
      scopes: [{ operation: operation.name, scope: scopeOf(scope) }],
    },
  ];
}

/** The row that is meant now is not there at the path, so that nothing of it can be read. */
function movedUse(spec: Spec, operation: Operation, { moved }: Endpoint): ExpressionUse[] {
  if (!moved || operation.resource === undefined) return [];
  const { resource: _resource, next: _next, request: _request, ...scope } = operationScope(spec, operation);
  return [
    {
      at: moved.at,
      source: moved.source,
      name: `where the row of ${operation.name} has gone`,
      role: 'value',
      expected: { shape: { ref: operation.resource }, optional: true },
      failure: 'refused',
      scopes: [{ operation: operation.name, scope: scopeOf(scope) }],
    },
  ];
}

/** The conditions of parameters that choose rows: of each row, and of the value that was sent. */
function keepsUses(spec: Spec, operation: Operation, endpoint: Endpoint): ExpressionUse[] {
  return entriesOf(endpoint.parameters).flatMap(([name, parameter]) => {
    if (parameter.chooses?.by !== 'keeps') return [];
    const scope = { ...operationScope(spec, operation), value: { shape: parameterShape(spec, endpoint, parameter) } };
    const { source, at } = parameter.chooses.condition;
    return [
      {
        at,
        source,
        name: `what ${name} of ${operation.name} keeps`,
        role: 'condition',
        expected: aBoolean,
        failure: 'refused',
        scopes: [{ operation: operation.name, scope: scopeOf(scope) }],
      } as const,
    ];
  });
}

/** What the making of an answer reads: the operation's scope, and what came out. */
function answerScope(spec: Spec, operation: Operation, endpoint: Endpoint): Scope {
  const verb = statedValue(endpoint.does)?.verb;
  const row: Shape = operation.resource === undefined ? {} : answeredShape(spec, operation.resource, endpoint);
  const text: Variable = { shape: { type: 'string' } };
  const scope = { ...operationScope(spec, operation), path: text };
  if (verb === 'delete') return scopeOf(scope);
  if (verb !== 'list')
    return scopeOf({ ...scope, result: { shape: verb === 'handler' || verb === 'reply' || verb === undefined ? {} : row } });
  return scopeOf({
    ...scope,
    items: { shape: { type: 'array', items: row } },
    next_cursor: { shape: { type: ['string', 'null'] } },
    next_url: { shape: { type: ['string', 'null'] } },
    has_more: { shape: { type: 'boolean' } },
    total: { shape: { type: isCounted(spec, endpoint) ? 'integer' : ['integer', 'null'] } },
  });
}

/** Whether the rows of a list are counted: where its pages say how many there are. */
function isCounted(spec: Spec, { pagination }: Endpoint): boolean {
  return statedValue(pagination ?? spec.limits.pagination)?.total !== undefined;
}

/** A resource as an answer shows it: what not everyone may see may be absent, and what it refers to may stand there whole. */
function answeredShape(spec: Spec, name: string, endpoint: Endpoint): Shape {
  const resource = entryOf(spec.resources.all, name);
  const fields = resource && statedValue(resource.fields);
  const shape = resourceShape(spec, name, (field) => {
    const stated = fields?.[field];
    const isLeftOut = stated !== undefined && leftOutOf(spec, 'anybody').has(stated);
    return isLeftOut || stated?.visible !== undefined || stated?.writeOnly === true || stated?.reveal !== undefined;
  });
  if (!isPlainMap(shape.properties)) return shape;
  const shown = entriesOf(resource?.fields).flatMap(([field, stated]) => {
    const as = stated.ref === undefined ? undefined : shownAs(stated, stated.ref, endpoint);
    return as ? [[field, as] as const] : [];
  });
  return shown.length === 0 ? shape : { ...shape, properties: { ...shape.properties, ...Object.fromEntries(shown) } };
}

/** What stands in the place of a reference; nothing where that is its identifier. */
function shownAs({ show }: Field, ref: string, { expand }: Endpoint): Shape | undefined {
  if (show !== undefined && show !== 'id') return shownReference(ref, show === 'expand' ? { resource: ref } : show);
  // Its caller may ask for either.
  return expand && {};
}

function answerUses(answer: Answer, operation: string, scopes: ExpressionUse['scopes']): ExpressionUse[] {
  const place = `the answer ${answer.status} of ${operation}`;
  return [
    ...(answer.if
      ? [
          {
            at: answer.if.at,
            source: answer.if.source,
            name: `the condition of ${place}`,
            role: 'condition' as const,
            expected: aBoolean,
            failure: 'internal' as const,
            scopes,
          },
        ]
      : []),
    ...valueUses(answer.data, isStated(answer.shape) ? answer.shape.value : {}, place, scopes),
    ...headerUses(answer.headers, place, scopes),
  ];
}

const aScalar: Expected = { shape: { type: ['string', 'integer', 'number', 'boolean'] }, optional: true };

/** The expressions that make headers; null leaves one out. */
export function headerUses(headers: Named<Expression>, place: string, scopes: ExpressionUse['scopes']): ExpressionUse[] {
  return Object.entries(headers).map(([header, { at, source }]) => ({
    at,
    source,
    name: `the header ${header} of ${place}`,
    role: 'value',
    expected: aScalar,
    failure: 'internal',
    scopes,
  }));
}

/** The expressions that make a value: one for the whole, or one for each of its fields. */
export function valueUses(
  data: Named<Expression> | Expression | undefined,
  shape: Shape,
  place: string,
  scopes: ExpressionUse['scopes'],
): ExpressionUse[] {
  if (!data) return [];
  const usesOf = ({ at, source, parts }: Expression, name: string, expected: Expected): ExpressionUse[] => [
    { at, source, name, role: 'value', expected, failure: 'internal', scopes, ...(parts && { isMade: true }) },
    ...Object.entries(parts ?? {}).flatMap(([part, inner]) =>
      usesOf(inner, `${part} of ${name}`, expectedPart(expected.shape, part)),
    ),
  ];
  if (isExpression(data)) return usesOf(data, place, { shape });
  return Object.entries(data).flatMap(([field, expression]) =>
    usesOf(expression, `${field} of ${place}`, expectedMember(shape, field)),
  );
}

function isExpression(data: Named<Expression> | Expression): data is Expression {
  return typeof data.source === 'string';
}

/** What stands inside a map that is made is left out where it is null, so what has to be there is not null, and what need not be may be. */
function expectedPart(shape: Shape, part: string): Expected {
  if (isPlainMap(shape.items) && /^\d+$/.test(part)) return { shape: shape.items };
  const { shape: member, optional } = expectedMember(shape, part);
  const types = Array.isArray(member.type) ? member.type : member.type === undefined ? [] : [member.type];
  if (types.length === 0) return { shape: member, optional: optional ?? false };
  const others = types.filter((type) => type !== 'null');
  return { shape: { ...member, type: optional ? [...others, 'null'] : others } };
}

function expectedMember(shape: Shape, field: string): Expected {
  const properties: Json | undefined = shape.properties;
  const member = isPlainMap(properties) ? properties[field] : undefined;
  const required = Array.isArray(shape.required) && shape.required.includes(field);
  return { shape: isPlainMap(member) ? member : {}, optional: !required };
}
