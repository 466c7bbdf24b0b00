import type { Pointer } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import type { Model } from '../../model/model.ts';
import { isMaking } from '../../model/row-known.ts';
import { idIn, rowIn, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isValid } from '../endpoints/bodies.ts';
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
      const finding = model.endpointsThat('create', name).filter(({ exists }) => exists);
      const found = finding.map(({ key }) => ({ kind: 'response payload shapes', subject: key }));
      for (const rule of resource.unique) {
        const by = `${name} by ${rule.fields.join(' and ')}`;
        const facts = [uniqueFact(name, rule.fields), ...found];
        yield { name: by, facts, run: (session) => makeTwice(session, resource, rule) };
        for (const field of rule.fields) {
          if (!entryOf(resource.fields, field)?.ignoreCase) continue;
          yield { name: `${by}, ${field} in other letters`, facts, run: (session) => makeTwice(session, resource, rule, field) };
        }
      }
      if (identifier.generate !== 'client' || !isMade) continue;
      const rule = { at: resource.at, fields: [identifier.field] };
      const facts = [{ kind: 'identifiers', subject: name }, ...found];
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
  if (endpoint.exists) {
    claimFound(session, { endpoint, resource, rule, at: isIdentifier ? resource.at : rule.at }, made, again);
    return;
  }
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

interface Finding {
  readonly endpoint: Endpoint;
  readonly resource: Resource;
  readonly rule: Unique;
  readonly at: Pointer;
}

/** A creation that finds answers with the row that is there, and makes none. */
function claimFound(
  session: Session,
  { endpoint, resource, rule, at }: Finding,
  made: Done<TrialExchange>,
  again: Done<TrialExchange>,
): void {
  const { model } = session;
  const exists = model.refusals.of('resource.exists', model.operationOf(endpoint))?.code.name;
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'found',
    at,
    of: [made, again] as const,
    judge(first: TrialExchange, second: TrialExchange): Judgement {
      if (!isDone(first) || !isMaking(first) || !isValid(model, second)) return moot('there was nothing to find');
      if (!isSecond(model, resource, rule, { before: first, exchange: second })) return moot('it is another one');
      const wanted = idIn(model, first);
      const promised = `200 with the ${resource.name} that is there, ${String(wanted)}`;
      // Who may not read it is told that the value is taken.
      if (!isDone(second)) {
        const isTaken = exists !== undefined && model.refusals.codeIn(second) === exists;
        return isTaken ? { promised, seen: String(second.status) } : moot('something else stood in its way');
      }
      const found = idIn(model, second);
      const [old = {}, now = {}] = [rowIn(first), rowIn(second)];
      const other = Object.keys(now).find((name) => old[name] !== undefined && !isSame(old[name], now[name]));
      if (isSame(found, wanted) && other !== undefined)
        return { promised: `${other} as it was: ${JSON.stringify(old[other])}`, seen: JSON.stringify(now[other]) };
      return second.status === 200 && isSame(found, wanted)
        ? undefined
        : { promised, seen: `${second.status}, ${String(found)}` };
    },
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
