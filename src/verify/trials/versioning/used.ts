import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { compileInnerValues } from '../../../parts/inner-values.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { isServed } from '../../../parts/versions/spec-in-version.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { lookAt } from '../../make/look.ts';
import { putAgain } from '../../make/put-there.ts';
import { ready } from '../../make/readied.ts';
import { bodiesFor, carried, carriesTo, needServed, olderBody, versionsOf } from '../../make/versions.ts';
import { hiddenInside } from '../../model/fields.ts';
import { isFieldThere } from '../../model/judge-field.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { oneLine as told } from '../../values/difference.ts';
import { arbitraryValuesOf, Reference } from '../../values/values.ts';
import { askedIn, filteredIn, listedIn, type OlderWords } from './older-lists.ts';

const strangeWord = 'a word of another version';
const fact: FactName = { kind: 'version identifiers', subject: 'service' };

/** Lists, filters, patches and replacements in an older version do to rows what the same do in the newest, in the older words. */
export const olderUses: Trial = {
  name: 'versioning/uses',
  part: 'versioning',
  about: 'In an older version lists show what reads show, filters take its words, and changes leave what it cannot see as it is.',
  noise: 'quiet',
  *cases(model) {
    for (const { testCase } of usesOf(model)) yield testCase;
  },
};

/** A case, and the reason of its claim. */
interface OlderUse {
  readonly reason: string;
  readonly testCase: Case;
}

/** What is done in the words of each older version. */
export function* usesOf(model: Model): Iterable<OlderUse> {
  const versions = versionsOf(model);
  if (!versions) return;
  for (const { name } of versions.all) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      const carries = carriesTo(model, versions, name);
      const carry = carries?.resource(resource);
      if (!carries || !carry) continue;
      const shown = carries.expanding.resource(resource) ?? carry;
      const older = { versions, version: name, resource, carry, shown };
      for (const endpoint of model.endpoints.filter(({ key }) => isServed(versions.history, name, key)))
        yield* usesAt(model, endpoint, older);
    }
  }
}

function* usesAt(model: Model, endpoint: Endpoint, older: OlderWords): Iterable<OlderUse> {
  const effect = statedValue(endpoint.does);
  // A change is seen by reading, a list by its rows.
  const isShown = effect?.verb !== 'list' || endpoint.response.standing === 'open';
  const isByRows = isShown && endpoint.request.standing === 'open' && !endpoint.takes;
  if (!effect || !('resource' in effect) || effect.resource !== older.resource || !isByRows || endpoint.identity) return;
  const { version, versions, resource } = older;
  const useOf = (reason: string, what: string, run: (session: Session) => Promise<void>): OlderUse => ({
    reason,
    testCase: {
      name: `${endpoint.key} in ${version}${what}`,
      facts: [fact],
      run: async (session) => {
        needServed(session, versions, version);
        await run(session);
      },
    },
  });
  if (effect.verb === 'list') {
    yield useOf(`${resource} is listed`, '', (session) => listedIn(session, endpoint, older));
    for (const [, parameter] of entriesOf(endpoint.parameters)) {
      const line = isFiltering(parameter) ? older.carry.newer(parameter.filters ?? '') : undefined;
      if (line?.older === undefined) continue;
      // Each word that was renamed is asked for.
      for (const body of bodiesFor(model, versions, version, older.resource, older.carry))
        if (body === undefined || (parameter.filters ?? '') in body)
          yield useOf(
            `${parameter.name} filters`,
            ` with ${parameter.name}${body ? ` of ${JSON.stringify(body)}` : ''}`,
            (session) => filteredIn(session, endpoint, parameter, older, body),
          );
    }
  }
  if (effect.verb === 'update')
    yield useOf(`${resource} is patched`, '', (session) => changed(session, endpoint, older, 'patched'));
  if (effect.verb === 'replace' || effect.verb === 'upsert')
    yield useOf(`${resource} is replaced`, '', (session) => changed(session, endpoint, older, 'replaced'));
  if (effect.verb === 'create')
    for (const [field, was, is] of renamedWords(model, older)) {
      const line = older.carry.newer(field);
      if (line?.older === undefined) continue;
      yield useOf(strangeWord, `, with the newer word ${is}`, (session) =>
        strange(session, endpoint, older, { [line.older ?? '']: is }, true),
      );
      yield useOf(strangeWord, `, and the older word ${was} in the newest`, (session) =>
        strange(session, endpoint, older, { [field]: was }, false),
      );
    }
}

/** A filter by what a row has in a field: one value is asked for. */
function isFiltering({ in: place, filters, op }: Parameter): boolean {
  return place === 'query' && filters !== undefined && op === '=';
}

/** A change in the older words is the change that it would be in the newest, and leaves what the version cannot see. */
async function changed(session: Session, endpoint: Endpoint, older: OlderWords, how: 'patched' | 'replaced'): Promise<void> {
  const { model } = session;
  const { carry, resource, version } = older;
  const isPut = statedValue(endpoint.does)?.verb === 'upsert';
  const { row, request } = isPut ? await putAgain(session, endpoint, 'full') : await ready(session, endpoint, { style: 'full' });
  session.need(row?.made !== undefined, `rows of ${resource} are given, not made`);
  const whole = request.body && 'value' in request.body ? request.body.value : {};
  const sent = how === 'patched' ? patchOf(session, older, row, request.caller) : olderBody(session, carry, whole, {});
  session.need(
    sent !== undefined && Object.keys(sent).length > 0,
    `nothing of a ${resource} can be changed in the words of ${version}`,
  );
  const before = (await lookAt(session, row)).done;
  // Its tag in the older version is another one.
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const plan = { ...request, headers: { ...request.headers, ...headers }, body: { value: sent, type: 'application/json' } };
  const done = await session.send(askedIn(model, plan, version));
  const after = (await lookAt(session, row)).done;
  session.claim({
    fact,
    reason: `${resource} is ${how}`,
    of: [row.made, before, done, after],
    judge: (made: TrialExchange, was: TrialExchange, change: TrialExchange, is: TrialExchange): Judgement => {
      const [old, now] = [was, is].map((seen) => rowWith(model, seen, idIn(model, made)));
      const json = change.sent.json;
      if (!old || !now || !isMap(json) || !isDone(change)) return moot('it was not changed, or is not shown');
      const wanted = carried(() => (how === 'patched' ? carry.merge(old, json) : carry.up(json, old)));
      if (!wanted) return moot('it has no form in the newest version');
      const sentFields = carry.lines.flatMap(({ older: name, newer }) =>
        newer !== undefined && name !== undefined && Object.hasOwn(json, name) ? [newer] : [],
      );
      for (const name of [...sentFields, ...carry.unseen]) {
        const field = entryOf(model.resource(resource)?.fields, name);
        const isOwn = field && !field.derive && Object.keys(field.set).length === 0 && !field.readOnly;
        // What the service makes inside of a value follows from what is sent of it.
        const isMadeInside = field && compileInnerValues(model.spec, statedValue(field.shape) ?? {}) !== undefined;
        if (!isOwn || isMadeInside || model.unseenBy(resource, is.caller).has(name)) continue;
        const value = carry.unseen.includes(name) ? old[name] : wanted[name];
        if (isFieldThere(field, value, now[name], { mayHaveMore: true, mayLack: hiddenInside(model.spec, is.caller) })) continue;
        return { promised: `${name} once it is ${how} in ${version}: ${told(value)}`, seen: told(now[name]) };
      }
      return undefined;
    },
  });
}

const drawsMost = 12;

/** A patch with other values for what the version has otherwise, in its words. */
function patchOf(
  session: Session,
  { carry, resource }: OlderWords,
  row: TrialRow,
  caller: TrialCaller | undefined,
): Record<string, Symbolic> | undefined {
  const { model } = session;
  const out: Record<string, Json> = {};
  for (const { older, newer } of carry.lines) {
    const field = entryOf(model.resource(resource)?.fields, newer ?? '');
    const shape = field && statedValue(field.shape);
    if (older === undefined || newer === undefined || !shape || field.immutable || field.ref !== undefined) continue;
    // What its maker may not write is written by whoever may.
    const isOurs = field.writable ? field.writable.includes(caller?.user ?? '') : isSendable(model, resource, newer);
    if (!isOurs || field.readOnly || model.uniqueFields(resource).includes(newer)) continue;
    const drawn = session.chance.values(arbitraryValuesOf(model.spec, shape, 'full'), drawsMost);
    const value = drawn.find((one) => !(one instanceof Reference) && one !== null && !isSame(one as Json, row.fields?.[newer]));
    const was = value === undefined ? undefined : carried(() => carry.down({ [newer]: value }))?.[older];
    if (was !== undefined) out[older] = was;
  }
  return out;
}

/** The words of enums that were renamed since the version: the field, the older word, the newer one. */
function renamedWords(
  model: Model,
  { versions: { history }, version, resource }: OlderWords,
): (readonly [string, string, string])[] {
  return history.steps.flatMap(({ level, change }) => {
    if (level < history.levelOf(version) || change.kind !== 'enum' || change.resource !== resource) return [];
    const shape = statedValue(entryOf(model.resource(resource)?.fields, change.field)?.shape);
    const words: readonly Json[] = Array.isArray(shape?.enum) ? shape.enum : [];
    if (!isSendable(model, resource, change.field)) return [];
    return Object.entries(change.values).flatMap(([was, is]) =>
      typeof is === 'string' && was !== is && !words.includes(was) ? [[change.field, was, is] as const] : [],
    );
  });
}

/** A word of another version is no word of this one. */
async function strange(
  session: Session,
  endpoint: Endpoint,
  { carry, version }: OlderWords,
  members: Readonly<Record<string, Json>>,
  isOlder: boolean,
): Promise<void> {
  const { model } = session;
  const { request } = await ready(session, endpoint);
  const { body } = request;
  session.need(body !== undefined && 'value' in body && isMap(body.value as Json), `${endpoint.key} takes no body`);
  const valid = isOlder ? olderBody(session, carry, body.value, {}) : (body.value as Readonly<Record<string, Symbolic>>);
  session.need(valid !== undefined, `no body of ${version} is known`);
  const planOf = (value: Readonly<Record<string, Symbolic>>): RequestPlan => {
    const plan = { ...request, body: { ...body, value } };
    return isOlder ? askedIn(model, plan, version) : plan;
  };
  const done = await session.send(planOf({ ...valid, ...members }));
  const said = JSON.stringify(members);
  session.claim({
    fact,
    reason: strangeWord,
    of: [done],
    control: planOf(valid),
    judge: (seen: TrialExchange): Judgement => {
      if (seen.status >= 500 || model.refusals.isHurried(seen)) return moot('it could not be done now');
      return isDone(seen)
        ? { promised: `${said} is refused in ${isOlder ? version : 'the newest version'}`, seen: `${seen.status}` }
        : undefined;
    },
  });
}
