import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import type { Machine, Target } from '../../parts/states.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { callerContext } from './access.ts';
import type { Follow } from './expectation.ts';
import { expectedAfter } from './expected.ts';
import type { Model } from './model.ts';
import { followedIn, watched } from './row-known.ts';

/**
 * Where a creation begins, as far as its request tells, and what it refers to: rows that are there from the start, as they are stated, and those
 * that exchanges showed. Nothing where that cannot be known.
 */
export function initialTarget(
  model: Model,
  { resource, initial }: Machine,
  exchange: TrialExchange,
  seen: readonly TrialExchange[],
): Target | undefined {
  const { endpoint, sent, caller } = exchange;
  if (!endpoint) return undefined;
  const follow = followedFrom(model, seen);
  const expected = expectedAfter(model, { ...exchange, status: 201 }, undefined, follow);
  const next: Record<string, Json> = {};
  const unseen = new Set<string>();
  for (const [name, field] of entriesOf(model.resource(resource)?.fields)) {
    const one = expected.get(name);
    const own = isMap(sent.json) ? sent.json[name] : undefined;
    if (one?.is === 'value') next[name] = one.value;
    // What is taken and never kept is read as it was sent.
    else if (!field.stored) Object.assign(next, own === undefined ? {} : { [name]: own });
    else if (one?.is !== 'absent') unseen.add(name);
  }
  const context = { ...callerContext(caller), next, request: sent.json ?? {}, operation: endpoint.operation, follow };
  for (const target of initial) {
    if (!target.if) return target;
    const holds = model.expressions.evaluate(target.if, endpoint.operation, { context, unseen: { next: unseen } });
    if (typeof holds === 'string') return undefined;
    if (holds.value === true) return target;
  }
  return undefined;
}

/** Reads rows that are stated, as far as nobody can change them, and others as they were shown. */
function followedFrom(model: Model, seen: readonly TrialExchange[]): Follow {
  const others = followedIn(model, seen);
  return (name, key) => {
    const resource = model.resource(name);
    const identifier = model.identifierField(name);
    const row = resource?.rows?.find(({ fields }) => fields[identifier] === key);
    if (!resource || !row) return others(name, key);
    const created = new Set(model.endpointsThat('create', name).map(({ operation }) => operation));
    const isKept = (field: Field) =>
      (field.immutable || !isWritable(model.spec, resource, field)) &&
      Object.keys(field.set).every((word) => word === 'create' || created.has(word));
    const moving = entriesOf(resource.fields).flatMap(([field, stated]) => (isKept(stated) ? [] : [field]));
    return watched(row.fields, new Set(moving));
  };
}
