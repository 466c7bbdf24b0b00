import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { followedOf } from '../../../parts/followed.ts';
import { type Generated, generatedOf } from '../../../parts/inner-values.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { SampleStyle, TrialRow, WantedRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { membersSent } from '../../make/fields-sent.ts';
import { rowFor } from '../../make/row-where.ts';
import { identifierOfNothing, takers } from '../../make/to-nothing.ts';
import { remove } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import { idIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { bodyBreaks } from '../endpoints/members-begun.ts';

/** What is counted is one more with each row, begins anew where it is counted within something, and never comes again. */
export const countedFields: Trial = {
  name: 'resources/counted',
  part: 'resources',
  about: 'A counted field is one more with each row, is counted anew within another, and never comes again.',
  noise: 'alone',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const [, field] of entriesOf(resource.fields)) {
        const made = generatedOf(resource, field);
        if (!made || 'wrong' in made || !made.counts) continue;
        const facts = [{ kind: 'allowed values', subject: `${name}.${field.name}` }];
        yield { name: `${name}.${field.name}`, facts, run: (session) => count(session, { resource, field, made }) };
      }
    }
  },
};

interface Counting {
  readonly resource: Resource;
  readonly field: Field;
  readonly made: Generated;
}

async function count(session: Session, counting: Counting): Promise<void> {
  const { model } = session;
  const { resource, field } = counting;
  const target = field.within === undefined ? undefined : entryOf(resource.fields, field.within)?.ref;
  const { within = '' } = field;
  const parent = target === undefined ? undefined : await rowFor(session, resource.name, within, target);
  const first = await makeIn(session, counting, parent);
  const second = await makeIn(session, counting, parent);
  claimNext(session, counting, first, second, 'next');
  const refused = await refuse(session, counting, parent);
  const isPlain = refersToItself(model, resource) || madeBy(model, resource.name).length > 0;
  const style = isPlain ? 'plain' : 'whole';
  const third = refused && (await makeIn(session, counting, parent, style));
  if (third) claimNext(session, counting, second, third, afterRefusal, refused);
  const dead = await referToNothing(session, counting, parent);
  const fourth = dead && (await makeIn(session, counting, parent));
  if (fourth) claimNext(session, counting, third ?? second, fourth, afterDeadReference, dead);
  const last = fourth ?? third ?? second;
  await countApart(session, counting);
  if (target !== undefined) {
    const other = await makeIn(session, counting, await rowFor(session, resource.name, within, target));
    claimFirst(session, counting, other);
  }
  if (model.endpointsThat('delete', resource.name).length === 0) return;
  const gone = await remove(session, last);
  session.need(isDone(gone.value), `it could not be deleted: ${gone.value.status}`);
  claimNext(session, counting, last, await makeIn(session, counting, parent), 'never again');
}

/** The reason of a claim that what is made within another word counts nothing within this one. */
const countedApart = 'apart';

/** Two words of a member within which a resource is counted; nothing where it is no such member. */
function wordsWithin(model: Model, resource: Resource, { within = '' }: Field): readonly Json[] {
  const group = entryOf(resource.fields, within);
  const words = group && isWritable(model.spec, resource, group) ? statedValue(group.shape)?.enum : undefined;
  const known = Array.isArray(words) ? (words as readonly Json[]).filter((one) => one !== null) : [];
  return known.length > 1 ? known.slice(0, 2) : [];
}

/** Two rows within one word, and one within another in between. */
async function countApart(session: Session, counting: Counting): Promise<void> {
  const { resource, field } = counting;
  const [word, another] = wordsWithin(session.model, resource, field);
  if (word === undefined || another === undefined || field.within === undefined) return;
  const makeOf = (value: Json) => session.make(resource.name, { style: 'plain', body: { [field.within!]: value } });
  const first = await makeOf(word);
  await makeOf(another);
  claimNext(session, counting, first, await makeOf(word), countedApart);
}

/** Whether whoever makes a row with everything in it makes another one for it to refer to. */
function refersToItself(model: Model, { name, fields }: Resource): boolean {
  const targets = entriesOf(fields).flatMap(([, { ref }]) => ref ?? []);
  const further = targets.flatMap((target) => entriesOf(model.resource(target)?.fields).flatMap(([, { ref }]) => ref ?? []));
  return [...targets, ...further].includes(name);
}

/** The look at a number that comes after a creation that was refused: no refusal leaves a gap. */
const afterRefusal = 'after a refusal';

/** The same after one that was refused for what it refers to, which is looked for later than at the body itself. */
const afterDeadReference = 'after a reference to nothing';

/** What was refused, and the same as it would have been taken. */
interface Refused {
  readonly done: Done<TrialExchange>;
  readonly control: RequestPlan;
}

/** A creation that is refused for one of its members; nothing where none can be broken. */
async function refuse(session: Session, counting: Counting, parent: TrialRow | undefined): Promise<Refused | undefined> {
  const { model } = session;
  const { endpoint, ...plan } = await session.creation(counting.resource.name, wantedIn(session, counting, parent, 'plain'));
  const { body, caller } = plan;
  if (!endpoint || !body || !('value' in body)) return undefined;
  for (const { path, shape } of membersSent(model, endpoint, caller)) {
    const [broken] = path.length === 1 ? bodyBreaks(model, endpoint, shape) : [];
    if (broken) {
      const control = { ...plan, endpoint, body };
      const value = withMember(body.value, path, broken.value);
      return { done: await session.send({ ...control, body: { ...body, value }, isWhole: true }), control };
    }
  }
  return undefined;
}

/** A creation that is refused since it refers to a row that is not there; nothing where none is sent. */
async function referToNothing(session: Session, counting: Counting, parent: TrialRow | undefined): Promise<Refused | undefined> {
  const { model } = session;
  const { endpoint, ...plan } = await session.creation(counting.resource.name, wantedIn(session, counting, parent, 'plain'));
  const { body, caller } = plan;
  const field = endpoint && referenceSent(model, counting, endpoint);
  const isWritten = field?.writable === undefined || field.writable.includes(caller?.user ?? '');
  if (!field || !isWritten || !body || !('value' in body)) return undefined;
  const control = { ...plan, endpoint, body };
  const value = withMember(body.value, [field.name], identifierOfNothing(model, field));
  return { done: await session.send({ ...control, body: { ...body, value }, isWhole: true }), control };
}

/** The first reference that a creation sends, and within which nothing is counted. */
function referenceSent(
  model: Model,
  { resource, field }: Pick<Counting, 'resource' | 'field'>,
  endpoint: Endpoint,
): Field | undefined {
  const all = entriesOf(resource.fields).map(([, one]) => one);
  return all.find(
    (one) => one.ref !== undefined && one.name !== field.within && takers(model, resource, one, ['create']).includes(endpoint),
  );
}

function makeIn(
  session: Session,
  counting: Counting,
  parent: TrialRow | undefined,
  style: SampleStyle = 'plain',
): Promise<TrialRow> {
  return session.make(counting.resource.name, wantedIn(session, counting, parent, style));
}

function wantedIn(
  session: Session,
  { resource, field: { within } }: Counting,
  parent: TrialRow | undefined,
  style: SampleStyle,
): WantedRow {
  if (!parent || within === undefined) return { style };
  const group = entryOf(resource.fields, within);
  const isSent = group !== undefined && isWritable(session.model.spec, resource, group);
  return { style, parents: { [within]: parent }, ...(isSent && { body: { [within]: parent.id } }) };
}

/** A row as its creation shows it, with its number; nothing where it is not shown. */
function numberShown(
  model: Model,
  { field, made }: Counting,
  exchange: TrialExchange,
): { readonly number: number | undefined; readonly row: ShownFields } | undefined {
  const row = isDone(exchange) ? rowWith(model, exchange, idIn(model, exchange)) : undefined;
  const value = row?.[field.name];
  return row && value !== undefined ? { number: made.numberIn(value), row } : undefined;
}

function claimNext(
  session: Session,
  counting: Counting,
  one: TrialRow,
  other: TrialRow,
  reason: string,
  refused?: Refused,
): void {
  const { model } = session;
  const { field } = counting;
  const { made: first } = one;
  const { made: second } = other;
  if (!first || !second) return;
  if (isMadeBetween(session, counting.resource.name, first.step, second.step)) return;
  session.claim({
    fact: factOf(counting),
    at: `${field.at}/generate`,
    reason: `counted, ${reason}`,
    ...(refused && { control: refused.control }),
    of: [first, second, ...(refused ? [refused.done] : [])] as const,
    judge(before: TrialExchange, after: TrialExchange, ...[between]: readonly TrialExchange[]): Judgement {
      if (between && (isDone(between) || between.status >= 500)) return moot('nothing was refused in between');
      const [a, b] = [before, after].map((exchange) => numberShown(model, counting, exchange));
      if (!a || !b) return moot('no number is shown');
      if (field.within !== undefined && JSON.stringify(a.row[field.within]) !== JSON.stringify(b.row[field.within]))
        return moot('they are counted within different things');
      if (a.number === undefined) return moot('what came before is no number');
      if (b.number === a.number + 1) return undefined;
      return { promised: `one more than ${a.number}, for nothing else was made`, seen: JSON.stringify(b.row[field.name]) };
    },
  });
}

/** The resources of whose changes the making of such a row may follow. */
function madeBy({ spec }: Model, name: string): string[] {
  return followedOf(spec).flatMap(({ resource, acts }) =>
    acts.some(({ does }) => does?.verb === 'create' && does.resource === name) ? [resource] : [],
  );
}

/** Whether between two steps something was changed from which the making of such a row follows. */
function isMadeBetween({ model, run }: Session, resource: string, from: number, to: number): boolean {
  return run.results.slice(from + 1, to).some((result) => {
    if (!isExchange(result) || !isDone(result)) return false;
    const effect = result.endpoint && statedValue(result.endpoint.does);
    const isRead = effect === undefined || effect.verb === 'read' || effect.verb === 'list';
    return !isRead && madeBy(model, resource).includes(resourceOfEffect(effect) ?? '');
  });
}

function claimFirst(session: Session, counting: Counting, { made }: TrialRow): void {
  const { model } = session;
  const { field } = counting;
  if (!made) return;
  session.claim({
    fact: factOf(counting),
    at: `${field.at}/within`,
    reason: 'counted, anew',
    of: [made] as const,
    judge(exchange: TrialExchange): Judgement {
      const shown = numberShown(model, counting, exchange);
      if (!shown) return moot('no number is shown');
      if (shown.number === 1) return undefined;
      return { promised: `1: the first within its ${field.within}`, seen: JSON.stringify(shown.row[field.name]) };
    },
  });
}

function factOf({ resource, field }: Counting): { readonly kind: string; readonly subject: string } {
  return { kind: 'allowed values', subject: `${resource.name}.${field.name}` };
}

/** The reasons of the claims by which what is counted was seen to be the next, after refusals too, and the first within something else. */
export function countedLooks(model: Model, resource: Resource, field: Field): readonly string[] {
  const made = generatedOf(resource, field);
  if (!made || 'wrong' in made || !made.counts) return [];
  const isWithinRows = field.within !== undefined && entryOf(resource.fields, field.within)?.ref !== undefined;
  const creations = model.endpointsThat('create', resource.name);
  const isSentMore = creations.some((endpoint) => bodyMedia(endpoint) !== undefined);
  const [first] = creations;
  const refers = first !== undefined && referenceSent(model, { resource, field }, first) !== undefined;
  const refusals = [...(isSentMore ? [afterRefusal] : []), ...(refers ? [afterDeadReference] : [])];
  const isWithinWords = wordsWithin(model, resource, field).length > 0;
  const apart = [...(isWithinRows ? ['anew'] : []), ...(isWithinWords ? [countedApart] : [])];
  return ['next', ...refusals, ...apart].map((look) => `counted, ${look}`);
}
