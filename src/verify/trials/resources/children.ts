import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Children } from '../../../parts/children.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { followedOf } from '../../../parts/followed.ts';
import { namesOperation, resourceOfEffect } from '../../../parts/operations.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { draftChildren, takingEndpoint } from '../../make/children.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { claimNothingLeft } from '../../make/left-behind.ts';
import { lookAt } from '../../make/look.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowWith, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** What refers to a row is shown in it, in its order and as many as a page holds; what is sent with it is made with it, or nothing is. */
export const childrenInParents: Trial = {
  name: 'resources/children',
  part: 'resources',
  about: 'A row is made with the children that are sent with it, or not at all, and shows them in their order.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const [, field] of entriesOf(resource.fields)) {
        const { children } = field;
        const child = children && model.resource(children.resource);
        if (!children || !child) continue;
        const facts = [{ kind: 'allowed values', subject: `${name}.${field.name}` }];
        const endpoint = takingEndpoint(model, resource, field);
        const family: Family = { resource, field, children, child };
        if (endpoint) {
          yield { name: `${name}.${field.name}, sent`, facts, run: (session) => sendAlong(session, family) };
          yield { name: `${name}.${field.name}, refused`, facts, run: (session) => refuseOne(session, family, endpoint) };
        }
        if (model.endpointsThat('create', child.name).length > 0)
          yield { name: `${name}.${field.name}, shown`, facts, run: (session) => showPage(session, family) };
      }
    }
  },
};

/** A field with children, and what they are. */
export interface Family {
  readonly resource: Resource;
  readonly field: Field;
  readonly children: Children;
  readonly child: Resource;
}

/** So many children are sent or made for one row. */
const childrenMost = 3;

async function sendAlong(session: Session, family: Family): Promise<void> {
  const { resource, field, children } = family;
  const count = Math.min(children.most, childrenMost);
  session.need(count >= children.least && count <= children.page, `more ${field.name} have to be sent, or fewer are shown`);
  const row = await session.make(resource.name, { body: { [field.name]: await draftChildren(session, family, count) } });
  session.need(
    row.made !== undefined && isShownInParent(session.model, family.child, row.caller),
    'not all of them need be shown',
  );
  claimSent(session, family, row.made);
  const { done } = await lookAt(session, row);
  claimKept(session, family, row.made, done);
}

/** Each of those that were sent is shown, with what was sent of it, as one of this row; and there are no others. */
function claimSent(session: Session, family: Family, made: Done<TrialExchange>): void {
  const { model } = session;
  const { resource, field, children, child } = family;
  session.claim({
    fact: factOfChildren(family),
    reason: 'children, sent',
    at: children.at,
    of: [made] as const,
    judge(exchange): Judgement {
      const row = parentShown(model, exchange);
      const sent = isMap(exchange.sent.json) ? exchange.sent.json[field.name] : undefined;
      if (!row || !Array.isArray(sent)) return moot('the row is not shown');
      const shown = childrenShownIn(model, family, row);
      if (!shown || shown.length < sent.length || (shown.length > sent.length && !mayFollow(model, child)))
        return { promised: `${sent.length} ${field.name}`, seen: JSON.stringify(row[field.name] ?? null) };
      const id = row[model.identifierField(resource.name)];
      for (const one of sent.filter(isMap)) {
        const kept = Object.entries({ ...one, ...(id !== undefined && { [children.field]: id }) }).filter(
          ([name]) => name === children.field || isSendable(model, child.name, name),
        );
        if (!shown.some((other) => kept.every(([name, value]) => isSame(other[name] ?? null, value))))
          return { promised: `a ${child.name} with ${JSON.stringify(Object.fromEntries(kept))}`, seen: JSON.stringify(shown) };
      }
      return misplaced(family, shown);
    },
  });
}

/** Whether children are made by what follows from a change, too, beside those that are sent. */
function mayFollow({ spec }: Model, { name }: Resource): boolean {
  return followedOf(spec).some(({ acts }) =>
    acts.some(({ does, children }) => children === undefined && does?.verb === 'create' && does.resource === name),
  );
}

/** Whoever looks again sees the same. */
function claimKept(session: Session, family: Family, made: Done<TrialExchange>, done: Done<TrialExchange>): void {
  const { model } = session;
  session.claim({
    fact: factOfChildren(family),
    reason: 'children, kept',
    at: family.children.at,
    of: [made, done] as const,
    judge(first, later): Judgement {
      const [was, now] = [parentShown(model, first), rowWith(model, later, idIn(model, first))].map(
        (row) => row && childrenShownIn(model, family, row),
      );
      if (!was || !now) return moot('the row is not shown');
      return isSame(was as Json, now as Json) ? undefined : { promised: JSON.stringify(was), seen: JSON.stringify(now) };
    },
  });
}

/** One that cannot be made is refused with all the others. */
async function refuseOne(session: Session, family: Family, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { resource, field, children } = family;
  const count = Math.min(children.most, Math.max(2, children.least));
  const list = await draftChildren(session, family, count);
  const { body: broken, when } = brokenIn(family, list);
  session.need(broken !== undefined, `nothing of a ${children.resource} can be sent wrongly for certain`);
  const marks = entriesOf(resource.fields).flatMap(([name, { shape, ref }]): [string, Symbolic][] => {
    const isText = ref === undefined && statedValue(shape)?.type === 'string' && isSendable(model, resource.name, name);
    const fresh = isText && model.tellsApart(resource.name, name) ? model.freshValue(resource.name, name) : undefined;
    return fresh ? [[name, fresh]] : [];
  });
  const own = Object.fromEntries(marks.slice(0, 1));
  const request = await session.creation(resource.name, { body: { ...own, [field.name]: broken } });
  const done = await session.send(request);
  const fact = factOfChildren(family);
  const isRefused = claimRefused(session, done, {
    by: { when },
    fact,
    reason: 'children, refused',
    at: children.at,
    what: `a ${resource.name} with a ${children.resource} that cannot be made`,
    control: () => session.creation(resource.name, { body: { [field.name]: list } }),
  });
  if (isRefused && request.endpoint === endpoint)
    await claimNothingLeft(session, { resource: resource.name, request, done, marks: Object.keys(own), fact });
}

/** The same list with something in its last one that cannot be: it refers to nothing, or lacks what it needs. */
function brokenIn(
  { children, child }: Family,
  list: readonly Symbolic[],
): { readonly body?: readonly Symbolic[]; readonly when: 'reference.missing' | 'request.invalid' } {
  const last = list.at(-1);
  const others = list.slice(0, -1);
  const fields = entriesOf(child.fields).filter(([name]) => isHeld(last) && Object.hasOwn(last, name) && name !== children.field);
  const referring = fields.find(([, { ref, shape }]) => ref !== undefined && statedValue(shape)?.type !== 'integer');
  if (referring && isHeld(last))
    return { body: [...others, { ...last, [referring[0]]: 'nf-nobody' }], when: 'reference.missing' };
  const needed = fields.find(([, field]) => statedValue(field.required) === true && field.default === undefined);
  if (!needed || !isHeld(last)) return { when: 'request.invalid' };
  const { [needed[0]]: _gone, ...rest } = last;
  return { body: [...others, rest], when: 'request.invalid' };
}

function isHeld(value: Symbolic | undefined): value is { readonly [key: string]: Symbolic } {
  return typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

/** As many are shown as a page holds, of one more; all of them where a page holds more than are made here. */
async function showPage(session: Session, family: Family): Promise<void> {
  const { model } = session;
  const { resource, field, children, child } = family;
  const row = await session.make(resource.name);
  const made: Done<TrialExchange>[] = [];
  const count = Math.min(children.page + 1, childrenMost);
  for (let at = 0; at < count; at++) {
    const one: TrialRow = await session.make(child.name, { parents: { [children.field]: row }, caller: row.caller });
    if (one.made) made.push(one.made);
  }
  session.need(made.length === count && isShownInParent(model, child, row.caller), `not all its ${field.name} need be shown`);
  const { done } = await lookAt(session, row);
  session.claim({
    fact: factOfChildren(family),
    reason: 'children, shown',
    at: children.at,
    of: [done, ...made] as const,
    judge(seen: TrialExchange, ...each: readonly TrialExchange[]): Judgement {
      const parent = rowWith(model, seen, idIn(model, seen));
      const id = parent?.[model.identifierField(resource.name)];
      const own = each.filter((one) => isDone(one) && isSame(parentShown(model, one)?.[children.field] ?? null, id ?? null));
      if (!parent || own.length < count) return moot('they are not shown as those of one row');
      const shown = childrenShownIn(model, family, parent);
      const isCut = count > children.page;
      const seenNow = JSON.stringify(parent[field.name] ?? null);
      if (!shown || (isCut ? shown.length !== children.page : shown.length < count))
        return { promised: isCut ? `${children.page} ${field.name}` : `at least ${count} ${field.name}`, seen: seenNow };
      if (isCut && hasMoreIn(family, parent) === false) return { promised: `that there are more ${field.name}`, seen: seenNow };
      return misplaced(family, shown);
    },
  });
}

/** The fact that says which children there may be. */
export function factOfChildren({ resource, field }: Family): { readonly kind: string; readonly subject: string } {
  return { kind: 'allowed values', subject: `${resource.name}.${field.name}` };
}

/** The row as an exchange shows it; nothing where it does not. */
export function parentShown(model: Model, exchange: TrialExchange): ShownFields | undefined {
  return isDone(exchange) ? rowWith(model, exchange, idIn(model, exchange)) : undefined;
}

/** The children in a row as it is shown; nothing where it shows none. */
export function childrenShownIn(
  model: Model,
  { field, children: { envelope }, child }: Family,
  row: ShownFields,
): readonly ShownFields[] | undefined {
  const whole = row[field.name];
  const list = envelope ? isMap(whole) && whole[envelope.items] : whole;
  // What a child refers to was sent as an identifier, however it is shown.
  return Array.isArray(list) ? list.filter(isMap).map((one) => unexpanded(model, child.name, one)) : undefined;
}

function hasMoreIn({ field, children: { envelope } }: Family, row: ShownFields): Json | undefined {
  const whole = row[field.name];
  return envelope?.hasMore !== undefined && isMap(whole) ? whole[envelope.hasMore] : undefined;
}

/** Two of them that stand the wrong way round, as far as it can be told which way that is. */
function misplaced({ field, children: { order }, child }: Family, shown: readonly ShownFields[]): Judgement {
  const [first] = order;
  const shape = first && statedValue(entryOf(child.fields, first.field)?.shape);
  const isPlain =
    shape && (shape.type === 'integer' || shape.type === 'number' || (shape.type === 'string' && shape.format === undefined));
  if (!first || !isPlain || entryOf(child.fields, first.field)?.ignoreCase) return undefined;
  for (const [at, row] of shown.entries()) {
    const [one, next] = [row[first.field], shown[at + 1]?.[first.field]];
    const isTold = (typeof one === 'number' && typeof next === 'number') || (typeof one === 'string' && typeof next === 'string');
    if (isTold && (first.descending ? one < next : one > next))
      return {
        promised: `${field.name} by ${first.field}${first.descending ? ', the last first' : ''}`,
        seen: JSON.stringify(shown.map((other) => other[first.field])),
      };
  }
  return undefined;
}

/** Whether a caller is shown every child of a row that it reads: nothing but the row stands for them, or a rule without a condition lets it read them all. */
export function isShownInParent(model: Model, child: Resource, caller: TrialCaller | undefined): boolean {
  const { authentication, endpoints } = model.spec;
  if (!isStated(authentication.permissions)) return true;
  const reads = ['read', 'list'].map((verb) =>
    entriesOf(endpoints.all).flatMap(([, endpoint]) => {
      const effect = statedValue(endpoint.does);
      return effect?.verb === verb && resourceOfEffect(effect) === child.name ? [model.operationOf(endpoint)] : [];
    }),
  );
  const deciding = reads.find((operations) => operations.length > 0);
  if (!deciding) return true;
  return deciding.some(
    (operation) =>
      model.access.isPublic(operation) ||
      (statedValue(authentication.permissions) ?? []).some(
        ({ allow, to, scopes, if: condition }) =>
          namesOperation(allow, operation) &&
          !condition &&
          scopes.length === 0 &&
          (to === 'anyone' || (caller !== undefined && to.includes(caller.user))),
      ),
  );
}
