import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Resource, Unique } from '../../parts/resources.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import type { Row } from '../make/row.ts';
import type { FactName } from '../model/facts.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { isSame } from '../values/difference.ts';

/** No two rows share what is unique; rows that differ in it, or lack it, do not stand in each other's way. */
export const unique: Trial = {
  name: 'resources/unique',
  part: 'resources',
  about: 'A second row with the same unique values is refused.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      const identifier = statedValue(resource.identifier);
      if (!identifier || model.endpointsThat('create', name).length === 0) continue;
      for (const rule of resource.unique) {
        const facts = rule.fields.map((field) => factOf(name, field));
        yield {
          name: `${name} by ${rule.fields.join(' and ')}`,
          facts,
          run: (session) => makeTwice(session, resource, rule.fields, rule),
        };
      }
      if (identifier.generate === 'client') {
        const facts = [{ kind: 'identifiers', subject: name }];
        yield {
          name: `${name} by its identifier`,
          facts,
          run: (session) => makeTwice(session, resource, [identifier.field], undefined),
        };
      }
    }
  },
};

function factOf(resource: string, field: string): FactName {
  return { kind: 'allowed values', subject: `${resource}.${field}` };
}

async function makeTwice(
  session: Session,
  resource: Resource,
  fields: readonly string[],
  rule: Unique | undefined,
): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const wanted: Record<string, Symbolic> = {};
  for (const field of fields) {
    const stated = entriesOf(resource.fields).find(([one]) => one === field)?.[1];
    if (!stated || stated.readOnly) continue;
    const value = stated.ref === undefined ? model.freshValue(name, field) : (await session.make(stated.ref)).id;
    if (value !== undefined) wanted[field] = value;
  }
  const first: Row = await session.make(name, { body: wanted });
  const { made } = first;
  session.need(made !== undefined && made.value.endpoint !== undefined, `rows of ${name} are given, not made`);
  const { endpoint, caller } = made.value;
  const parts = await session.parts(endpoint, { body: wanted, caller });
  const again = await session.send(
    model.request(endpoint, { path: parts.path, caller, ...(parts.json !== undefined && { json: parts.json }) }),
  );
  const fact = rule === undefined ? { kind: 'identifiers', subject: name } : factOf(name, fields.at(-1) ?? '');
  claimRefused(session, again, {
    ...{ by: { when: 'resource.exists' }, fact, reason: 'unique', beside: [made], ...(rule && { at: rule.at }) },
    what: `a second ${name} with the same ${fields.join(' and ')}`,
    isSo: (exchange, before) => before !== undefined && areAlike(session, exchange, before, { resource, fields, rule }),
  });
}

/** Whether the second is like the first in everything that is unique, and the rule is about both. */
function areAlike(
  session: Session,
  exchange: Exchange,
  before: Exchange,
  {
    resource,
    fields,
    rule,
  }: { readonly resource: Resource; readonly fields: readonly string[]; readonly rule: Unique | undefined },
): boolean {
  const { model } = session;
  const old = isDone(before) ? fieldsOf(before) : undefined;
  if (!old || exchange.caller?.name !== before.caller?.name) return false;
  const sent = typeof exchange.sent.json === 'object' && exchange.sent.json !== null ? (exchange.sent.json as typeof old) : {};
  const isAlike = fields.every((name) => {
    const field = entriesOf(resource.fields).find(([one]) => one === name)?.[1];
    const value = old[name];
    const next = exchange.sent.path[name] ?? sent[name];
    if (value === undefined || value === null || !field) return false;
    // What the service sets for its caller is the same for the same caller.
    return next === undefined
      ? field.readOnly && Object.keys(field.set).length > 0
      : isSame(next, value) ||
          typeof value === 'object' ||
          (field.ignoreCase && String(next).toLowerCase() === String(value).toLowerCase());
  });
  if (!isAlike || !rule?.while) return isAlike;
  const unseen = { next: model.unseenBy(resource.name, before.caller) };
  const holds = model.expressions.evaluate(rule.while, undefined, { context: { next: old }, unseen });
  return typeof holds === 'object' && holds.value === true;
}
