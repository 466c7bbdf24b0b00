import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Resource, Unique } from '../../parts/resources.ts';
import { isValid } from '../endpoints/bodies.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import type { Model } from '../model/model.ts';
import type { ShownFields } from '../model/row-shown.ts';
import { isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { areAlike, freshValues, inOtherCase, rowAfter, rowMeant, uniqueFact } from './alike.ts';

/** No two rows share what is unique; texts that ignore case are one in other letters. */
export const unique: Trial = {
  name: 'resources/unique',
  part: 'resources',
  about: 'A second row with the same unique values is refused.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      const identifier = statedValue(resource.identifier);
      const isMade = model.endpointsThat('create', name).length > 0;
      if (!identifier || (!isMade && model.endpointsThat('upsert', name).length === 0)) continue;
      for (const rule of resource.unique) {
        const by = `${name} by ${rule.fields.join(' and ')}`;
        const facts = [uniqueFact(name, rule.fields)];
        yield { name: by, facts, run: (session) => makeTwice(session, resource, rule) };
        for (const field of rule.fields) {
          if (!entryOf(resource.fields, field)?.ignoreCase) continue;
          yield { name: `${by}, ${field} in other letters`, facts, run: (session) => makeTwice(session, resource, rule, field) };
        }
      }
      if (identifier.generate !== 'client' || !isMade) continue;
      const rule = { at: resource.at, fields: [identifier.field] };
      const facts = [{ kind: 'identifiers', subject: name }];
      yield { name: `${name} by its identifier`, facts, run: (session) => makeTwice(session, resource, rule) };
    }
  },
};

/** With a field, the second has that in other letters. */
async function makeTwice(session: Session, resource: Resource, rule: Unique, field?: string): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const { body, parents } = await freshValues(session, resource, rule.fields);
  const { made } = await session.make(name, { body, parents });
  session.need(made !== undefined && made.value.endpoint !== undefined, `rows of ${name} are given, not made`);
  const { endpoint, caller } = made.value;
  const isIdentifier = rule.fields[0] === model.identifierField(name);
  const isPut = statedValue(endpoint.does)?.verb === 'upsert';
  session.need(!isIdentifier || !isPut, 'what is put in its place again is no second one');
  const other: Readonly<Record<string, Symbolic>> =
    field === undefined || body[field] === undefined ? body : { ...body, [field]: inOtherCase(body[field]) };
  const parts = await session.parts(endpoint, { body: other, parents, caller });
  const again = await session.send(
    model.request(endpoint, { path: parts.path, caller, ...(parts.json !== undefined && { json: parts.json }) }),
  );
  claimRefused(session, again, {
    by: { when: 'resource.exists' },
    fact: isIdentifier ? { kind: 'identifiers', subject: name } : uniqueFact(name, rule.fields),
    beside: [made],
    reason: field === undefined ? 'unique' : 'unique, other letters',
    ...(isIdentifier ? {} : { at: rule.at }),
    async control() {
      const free = await freshValues(session, resource, rule.fields);
      const { path, json } = await session.parts(endpoint, { ...free, caller });
      return model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
    },
    what: `a second ${name} with the same ${rule.fields.join(' and ')}${field === undefined ? '' : ' in other letters'}`,
    isSo: (exchange, before) =>
      before !== undefined && isDone(before) && isValid(model, exchange) && isSecond(model, resource, rule, { before, exchange }),
  });
}

/** Whether the second would be like the first in everything that is unique. */
function isSecond(
  model: Model,
  resource: Resource,
  rule: Unique,
  { before, exchange }: { readonly before: TrialExchange; readonly exchange: TrialExchange },
): boolean {
  const one = rowAfter(model, resource, before);
  const other = rowMeant(model, exchange);
  return areAlike(model, resource, rule, { one, other: { ...setAlike(resource, one, { before, exchange }), ...other } });
}

/** What the service sets for its caller is the same for the same caller, also where it cannot be reckoned here. */
function setAlike(
  { fields }: Resource,
  one: ShownFields,
  { before, exchange }: { readonly before: TrialExchange; readonly exchange: TrialExchange },
): ShownFields {
  if (exchange.caller?.name !== before.caller?.name) return {};
  const isSet = (name: string) => Object.keys(entryOf(fields, name)?.set ?? {}).length > 0;
  return Object.fromEntries(Object.entries(one).filter(([name]) => isSet(name)));
}
