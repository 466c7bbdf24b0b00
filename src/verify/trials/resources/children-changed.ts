import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { changingEndpoints, draftChildren } from '../../make/children.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { changingOf } from './changing.ts';
import { childrenShownIn, type Family, factOfChildren, isShownInParent, parentShown } from './children.ts';

/** What a change of a row says of its children is what becomes of them: those that it names stay, those that it leaves out are gone. */
export const childrenInChanges: Trial = {
  name: 'resources/children changed',
  part: 'resources',
  about: 'The children that are sent with a change of their row are those that it has then, and nobody else is named among them.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const [, field] of entriesOf(resource.fields)) {
        const { children } = field;
        const child = children && model.resource(children.resource);
        if (!children || !child) continue;
        const family: Family = { resource, field, children, child };
        const facts = [{ kind: 'allowed values', subject: `${name}.${field.name}` }];
        for (const endpoint of changingEndpoints(model, resource, field)) {
          yield {
            name: `${name}.${field.name}, ${endpoint.key}`,
            facts,
            run: (session) => changeThem(session, family, endpoint),
          };
          if (statedValue(child.identifier)?.generate === 'client') continue;
          yield {
            name: `${name}.${field.name}, ${endpoint.key}, others`,
            facts,
            run: (session) => nameOthers(session, family, endpoint),
          };
        }
      }
    }
  },
};

/** So many children are sent. */
const count = 2;

/** Makes a request that gives a row these children. */
type PlanChange = (list: readonly Symbolic[]) => Promise<RequestPlan>;

async function begin(session: Session, { resource, field, children, child }: Family, endpoint: Endpoint): Promise<PlanChange> {
  const { model } = session;
  const most = Math.min(children.most, children.page);
  session.need(count >= children.least && count <= most, `not ${count} ${field.name} may be sent`);
  const [state] = endpoint.in ?? [];
  const row = await session.make(resource.name, state === undefined ? {} : { state });
  session.need(isShownInParent(model, child, row.caller), 'not all of them need be shown');
  const { path, caller, whole } = await changingOf(session, endpoint, row);
  const others = new Set(entriesOf(resource.fields).flatMap(([name, one]) => (one.children ? [name] : [])));
  const kept = Object.entries(whole).filter(([name, value]) => value !== null && !others.has(name));
  return async (list) => {
    const json = { ...Object.fromEntries(kept), [field.name]: [...list] };
    const headers = await session.preconditions(endpoint, row, caller);
    return model.request(endpoint, { path, caller, json, headers });
  };
}

/** The identifier of one that is shown in an answer. */
function identifierOf(session: Session, family: Family, done: Done<TrialExchange>): Symbolic {
  const { model } = session;
  const { field, children, child } = family;
  const row = parentShown(model, done.value);
  const isAlone = isMap(done.value.body) && Object.hasOwn(done.value.body, field.name);
  const shown = row && childrenShownIn(model, family, row);
  session.need(isAlone && shown?.length === count, `the answer does not show its ${field.name}`);
  return session.captured(
    done,
    field.name,
    ...(children.envelope ? [children.envelope.items] : []),
    0,
    model.identifierField(child.name),
  );
}

/** Two are there; then one of them is named, the other left out, and a third sent. */
async function changeThem(session: Session, family: Family, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { field, children, child } = family;
  const change = await begin(session, family, endpoint);
  // Drafts that are made together are told apart, and two of them are there at a time.
  const drafts = await draftChildren(session, family, count + 1);
  const first = await session.send(await change(drafts.slice(0, count)));
  claimAll(session, family, first);
  const id = identifierOf(session, family, first);
  const name = model.identifierField(child.name);
  const second = await session.send(await change([{ [name]: id }, ...drafts.slice(count)]));
  session.claim({
    fact: factOfChildren(family),
    reason: 'children, changed',
    at: children.at,
    of: [second, first] as const,
    judge(changed: TrialExchange, before: TrialExchange): Judgement {
      const [was, row] = [before, changed].map((one) => parentShown(model, one));
      const sent = isMap(changed.sent.json) ? changed.sent.json[field.name] : undefined;
      const [old, now] = [was, row].map((one) => one && childrenShownIn(model, family, one));
      if (!isDone(before) || !old || old.length !== count) return moot(`the row has not its ${count} ${field.name}`);
      if (!isDone(changed))
        return { promised: `${field.name} that name one and bring another are taken`, seen: `${changed.status}` };
      if (!now || !Array.isArray(sent)) return moot('the row is not shown');
      const [named, added] = sent.filter(isMap);
      const kept = now.find((one) => isSame(one[name] ?? null, named?.[name] ?? null));
      const wanted = old.find((one) => isSame(one[name] ?? null, named?.[name] ?? null));
      if (now.length !== count || !kept || !wanted)
        return { promised: `the ${child.name} that was named, and the one that was sent with it`, seen: JSON.stringify(now) };
      const other = Object.keys(named ?? {}).length === 1 ? changedField(model, family, wanted, kept) : undefined;
      if (other !== undefined)
        return { promised: `${other} of the ${child.name} that was named stays`, seen: JSON.stringify(kept) };
      const own = Object.entries(added ?? {}).filter(([one]) => isSendable(model, child.name, one));
      return now.some((one) => one !== kept && own.every(([one2, value]) => isSame(one[one2] ?? null, value)))
        ? undefined
        : { promised: `a ${child.name} with ${JSON.stringify(Object.fromEntries(own))}`, seen: JSON.stringify(now) };
    },
  });
}

/** As many are shown as were sent, where none have been there. */
function claimAll(session: Session, family: Family, first: Done<TrialExchange>): void {
  session.claim({
    fact: factOfChildren(family),
    reason: 'children, changed',
    at: family.children.at,
    of: [first] as const,
    judge(changed: TrialExchange): Judgement {
      const row = isDone(changed) ? parentShown(session.model, changed) : undefined;
      const sent = isMap(changed.sent.json) ? changed.sent.json[family.field.name] : undefined;
      if (!row || !Array.isArray(sent)) return moot('the row is not shown');
      const now = childrenShownIn(session.model, family, row) ?? [];
      return now.length === sent.length
        ? undefined
        : { promised: `${sent.length} ${family.field.name}`, seen: JSON.stringify(now) };
    },
  });
}

/** A field that a caller may send, of a child of which nothing was sent, that is another. */
function changedField(
  model: Model,
  { child }: Family,
  was: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
) {
  return entriesOf(child.fields)
    .filter(([name, field]) => isSendable(model, child.name, name) && Object.keys(field.set).length === 0)
    .map(([name]) => name)
    .find((name) => JSON.stringify(was[name] ?? null) !== JSON.stringify(now[name] ?? null));
}

/** A child of another row is named, and one that nobody has: both are refused, and alike. */
async function nameOthers(session: Session, family: Family, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { children, child, field } = family;
  const name = model.identifierField(child.name);
  const theirs = await begin(session, family, endpoint);
  const other = await session.send(await theirs(await draftChildren(session, family, count)));
  const foreign = identifierOf(session, family, other);
  const change = await begin(session, family, endpoint);
  const good = await draftChildren(session, family, count);
  const isText = statedValue(entryOf(child.fields, name)?.shape)?.type === 'string';
  for (const id of [foreign, ...(isText ? ['nf-nobody'] : [])]) {
    const done = await session.send(await change([...good.slice(1), { [name]: id }]));
    claimRefused(session, done, {
      by: { when: 'request.invalid' },
      fact: factOfChildren(family),
      reason: 'children, others',
      at: children.at,
      what: `${field.name} that name a ${child.name} of another row, or of none`,
      control: () => change(good),
    });
  }
}
