import type { Json, Pointer } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow, WantedRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, resolve, type Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { refusesAlone } from '../../make/own-rules.ts';
import { rowFor } from '../../make/row-where.ts';
import type { Before } from '../../model/expectation.ts';
import { expectedAfter } from '../../model/expected.ts';
import type { Model } from '../../model/model.ts';
import { rowKnown } from '../../model/row-known.ts';
import { idIn, isMaking, rowIn, rowsShown, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { bareMap } from '../../values/at-path.ts';
import { isValid } from '../endpoints/bodies.ts';
import { findOtherwise } from './found-otherwise.ts';
import { makeUnlike } from './unlike.ts';

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
  const row = await session.make(name, { body, parents });
  const { made } = row;
  session.need(made !== undefined && made.value.endpoint !== undefined, `rows of ${name} are given, not made`);
  const { endpoint, caller } = made.value;
  const isIdentifier = rule.fields[0] === model.identifierField(name);
  const isPut = statedValue(endpoint.does)?.verb === 'upsert';
  session.need(!isIdentifier || !isPut, 'what is put in its place again is no second one');
  const other: Readonly<Record<string, Symbolic>> =
    field === undefined || body[field] === undefined ? body : { ...body, [field]: inOtherCase(body[field]) };
  const parts = await session.parts(endpoint, { body: other, parents, caller });
  const plan = model.request(endpoint, { path: parts.path, caller, ...(parts.json !== undefined && { json: parts.json }) });
  const again = await session.send(plan);
  if (endpoint.exists) {
    const at = isIdentifier ? resource.at : rule.at;
    claimFound(session, { endpoint, resource, rule, at }, made, again);
    const isSecondOf = (before: TrialExchange, exchange: TrialExchange) =>
      isDone(before) && isMaking(before) && isValid(model, exchange) && isSecond(model, resource, rule, { before, exchange });
    await findOtherwise(session, row, { endpoint, resource, by: rule.fields, at, plan, isSecond: isSecondOf });
    return;
  }
  claimRefused(session, again, {
    by: { when: 'resource.exists' },
    fact: isIdentifier ? { kind: 'identifiers', subject: name } : uniqueFact(name, rule.fields),
    beside: [made],
    reason: field === undefined ? sentTwice(rule) : 'unique, other letters',
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
  if (field === undefined && !isIdentifier)
    await makeUnlike(session, { resource, rule }, { made, caller, wanted: { body, parents } }, (fields) =>
      freshValues(session, resource, fields),
    );
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
      const promised = `200 with the ${resource.name} that is there, ${asText(wanted)}`;
      // Who may not read it is told that the value is taken.
      if (!isDone(second)) {
        const isTaken = exists !== undefined && model.refusals.codeIn(second) === exists;
        return isTaken ? { promised, seen: asText(second.status) } : moot('something else stood in its way');
      }
      const found = idIn(model, second);
      const [old = {}, now = {}] = [rowIn(first), rowIn(second)];
      const other = Object.keys(now).find((name) => old[name] !== undefined && !isSame(old[name], now[name]));
      if (isSame(found, wanted) && other !== undefined)
        return { promised: `${other} as it was: ${JSON.stringify(old[other])}`, seen: JSON.stringify(now[other]) };
      return second.status === 200 && isSame(found, wanted)
        ? undefined
        : { promised, seen: `${second.status}, ${asText(found)}` };
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

/** The reason of the claim that values which are there are refused when they are sent once more. */
export function sentTwice({ fields }: Pick<Unique, 'fields'>): string {
  return `${fields.join(' and ')}, sent twice`;
}

/** The fact that says that values are unique: what is allowed of the last of them. */
export function uniqueFact(resource: string, fields: readonly string[]): FactName {
  return { kind: 'allowed values', subject: `${resource}.${fields.at(-1) ?? ''}` };
}

/** Values for the fields of a rule that a caller writes, which no other row has: new ones, and rows to refer to. */
export async function freshValues(
  session: Session,
  resource: Resource,
  fields: readonly string[],
): Promise<Required<Pick<WantedRow, 'body' | 'parents'>>> {
  const { model } = session;
  const bound = new Set(model.endpointsThat('create', resource.name).flatMap((endpoint) => boundByPath(model.spec, endpoint)));
  const body: Record<string, Symbolic> = bareMap({});
  const parents: Record<string, TrialRow> = {};
  for (const name of fields) {
    const field = entryOf(resource.fields, name);
    if (!field || field.readOnly) continue;
    if (field.ref !== undefined) parents[name] = await rowFor(session, resource.name, name, field.ref);
    const value = parents[name]?.id ?? freshlyTaken(session, resource.name, name);
    if (value !== undefined && !bound.has(name)) body[name] = value;
  }
  return { body, parents };
}

const freshMost = 12;

/** A value that no other row has, and that no error of the service's own refuses by itself: a time to come, where times that are over are refused. */
function freshlyTaken(session: Session, resource: string, field: string): Fresh | undefined {
  const { model, run } = session;
  const [endpoint] = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  for (let tries = 0; ; tries++) {
    const fresh = model.freshValue(resource, field);
    if (!fresh || !endpoint || tries === freshMost) return fresh;
    if (!refusesAlone(session, endpoint, { [field]: resolve(fresh, run) }, callersFor(session, endpoint)[0])) return fresh;
  }
}

/** A text in other letters: capitals where there are small ones, and the other way round. */
function inOtherCase(value: Symbolic): Fresh {
  return new Fresh((_draw, values) => {
    const text = asText(resolve(value, values));
    return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
  });
}

/** Whether two rows cannot both be there: they are alike in all that a rule names, and it is about both of them. */
export function areAlike(
  model: Model,
  resource: Resource,
  rule: Unique,
  { one, other }: { one: ShownFields; other: ShownFields },
): boolean {
  const isAlike = rule.fields.every((name) => {
    const value = one[name];
    const next = other[name];
    if (value === undefined || value === null || next === undefined || next === null) return false;
    return isSame(value, next) || (entryOf(resource.fields, name)?.ignoreCase === true && lower(value) === lower(next));
  });
  return isAlike && [one, other].every((row) => isAbout(model, resource, rule, row));
}

function lower(value: Json): string {
  return asText(value).toLowerCase();
}

/** Whether a rule is about a row as it would be stored. */
function isAbout(model: Model, resource: Resource, rule: Unique, row: ShownFields): boolean {
  if (!rule.while) return true;
  const hidden = [...model.unseenBy(resource.name, undefined)].filter((name) => row[name] === undefined);
  const holds = model.expressions.evaluate(rule.while, undefined, { context: { next: row }, unseen: { next: new Set(hidden) } });
  return typeof holds === 'object' && holds.value === true;
}

/** A row as a change that made it or moved it was sent and answered: what its reader was not shown is as it was sent, or set for good. */
export function rowAfter(model: Model, resource: Resource, change: TrialExchange): ShownFields {
  const [shown] = rowsShown(model, change)?.rows ?? [];
  const verb = change.endpoint && statedValue(change.endpoint.does)?.verb;
  const isNew = verb === 'create';
  const unseen = model.unseenBy(resource.name, model.readerOf(change));
  const sent = bodyFields({ body: change.sent.json });
  // What is hidden stays as it is in a replacement, whatever is sent.
  const taken = verb === 'replace' ? Object.fromEntries(Object.entries(sent ?? {}).filter(([name]) => !unseen.has(name))) : sent;
  const fields = bareMap({ ...taken, ...(shown && unexpanded(model, resource.name, shown)) });
  return isNew ? rowKnown(model, resource.name, { fields, unseen, creation: change }).fields : fields;
}

/** The row that a request would have made of nothing, or of another row, as far as it can be reckoned; whatever was answered. */
export function rowMeant(model: Model, request: TrialExchange, before?: Before): ShownFields {
  const expected = expectedAfter(model, { ...request, status: 201 }, before);
  return bareMap(Object.fromEntries([...expected].flatMap(([name, one]) => (one.is === 'value' ? [[name, one.value]] : []))));
}

/** Whether a change can give a field of a row another value that its caller chooses. */
export function isChangeable(model: Model, resource: Resource, name: string): boolean {
  const field = entryOf(resource.fields, name);
  const isOwn = field !== undefined && isWritable(model.spec, resource, field) && !field.immutable;
  return isOwn && statedValue(resource.identifier)?.field !== name && Object.keys(field.set).length === 0;
}
