import { isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Names } from './names.ts';
import { type OperationTypes, operationWord } from './operation-types.ts';
import type { ResourceTypes } from './resource-types.ts';
import { applied, type Member, neverType, objectOf, type Type, undefinedType, union, word } from './syntax.ts';
import { declaration, flat } from './write.ts';

/** `Handlers`, with a context for each: one property for every `handler NAME` of the document. */
export function handlerTypes(operations: readonly OperationTypes[], types: ResourceTypes, names: Names): string[] {
  const contexts: string[] = [];
  const byName = new Map<string, { readonly context: Type[]; readonly result: Type[]; readonly doc: string[] }>();
  for (const operation of operations) {
    const { effect, endpoint, params, received, result } = operation;
    if (effect?.verb !== 'handler') continue;
    const name = names.claim(operationWord(endpoint), 'Context', 'Operation');
    const caller = callerOf(operation, types.reading.spec);
    contexts.push(
      declaration(name, applied('HandlerContext', received, params, caller), [
        `What the handler of \`${endpoint.key}\` is given.`,
      ]),
    );
    const known = byName.get(effect.name) ?? { context: [], result: [], doc: [] };
    byName.set(effect.name, known);
    known.context.push(word(name));
    known.result.push(result === undefinedType ? word('void') : result);
    known.doc.push(...types.reading.prose(endpoint.at), `\`${endpoint.key}\``);
  }
  const members = [...byName].map(([name, { context, result, doc }]): Member => {
    const answer = union(result);
    return { name, type: functionType(union(context), answer), doc };
  });
  return [...contexts, declaration('Handlers', closed(members), ["The service's own operations."])];
}

/** `BeforeHandlers`, with a context for each: one property, that may be left out, for every operation that changes something. */
export function beforeTypes(operations: readonly OperationTypes[], types: ResourceTypes, names: Names): string[] {
  const contexts: string[] = [];
  const members = operations.flatMap((operation): Member[] => {
    const { endpoint } = operation;
    const context = beforeContext(operation, types);
    if (!context) return [];
    const name = names.claim(operationWord(endpoint), 'Context', 'Operation');
    contexts.push(declaration(name, context, [`What stands before \`${endpoint.key}\` is given.`]));
    const doc = [...types.reading.prose(endpoint.at), `\`${endpoint.key}\``];
    return [{ name: operation.operation, type: functionType(word(name), word('void')), optional: true, doc }];
  });
  const distinct = members.filter(({ name }, index) => members.findIndex((other) => other.name === name) === index);
  return [
    ...contexts,
    declaration('BeforeHandlers', closed(distinct), [
      'What stands in front of the stated operations: it may fail, or change what would be stored.',
    ]),
  ];
}

function beforeContext(operation: OperationTypes, types: ResourceTypes): Type | undefined {
  const { effect, params, request, received } = operation;
  if (!effect || !('resource' in effect) || effect.verb === 'read' || effect.verb === 'list') return undefined;
  const { resource, verb } = effect;
  const row = types.named(resource, 'row');
  if (!row) return undefined;
  const makes = verb === 'create' || verb === 'upsert';
  const before = verb === 'create' ? undefinedType : verb === 'upsert' ? union([row, undefinedType]) : row;
  const takesBody = verb === 'update' || verb === 'replace';
  const next = makes || (takesBody && types.passesThrough(resource)) ? types.named(resource, 'next') : row;
  const body = verb === 'transition' || verb === 'delete' ? received : request;
  return applied('BeforeContext', body, params, callerOf(operation, types.reading.spec), before, next ?? row);
}

/** Who calls: somebody known, unless anyone may. */
function callerOf({ operation, endpoint, effect }: OperationTypes, spec: Spec): Type {
  const { schemes, permissions, public: open } = spec.authentication;
  const resource = effect && 'resource' in effect ? effect.resource : undefined;
  const one = { name: operation, endpoint, ...(resource !== undefined && { resource }) };
  const rules = statedValue(permissions) ?? [];
  const isForAnyone = rules.some((rule) => rule.to === 'anyone' && namesOperation(rule.allow, one));
  const isKnown = isStated(schemes) && !namesOperation(open, one) && !isForAnyone;
  return isKnown ? word('Caller') : union([word('Caller'), undefinedType]);
}

/** An object of these members and no other, also where there are none. */
function closed(members: readonly Member[]): Type {
  return objectOf(members, members.length === 0 ? neverType : undefined);
}

function functionType(context: Type, answer: Type): Type {
  const result = union([answer, applied('Promise', answer)]);
  return word(`(context: ${flat(context)}) => ${flat(result)}`);
}
