import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { leftOutOf, showingOperations } from '../../../parts/left-out.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { transitionNamed } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor, contextOfRow } from '../../make/callers-for.ts';
import { lookAt, lookInList, showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** A row that has everything, seen by each user in every way that there is: nobody is shown what is hidden, and lists show what reading does. */
export const shownTo: Trial = {
  name: 'resources/shown to',
  part: 'resources',
  about: 'What is hidden from a user is in no answer to it, and a list shows a row as it is.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      for (const user of usersGiven(model)) {
        const readers = readersOf(model, name);
        const leftOut = leftOutOf(model.spec, { user });
        const hidden = entriesOf(resource.fields).filter(
          ([, field]) => leftOut.has(field) || isNeverShown(model.spec, field, { name: user, user }),
        );
        const facts = hidden.map(([field]) => ({ kind: 'required flags', subject: `${name}.${field}` }));
        if (readers.length === 0) continue;
        // What could not be looked at of a field is missing of its resource, too.
        if (hidden.length > 0) facts.push({ kind: 'field names', subject: name });
        yield { name: `${name} to ${user}`, facts, run: (session) => show(session, resource, readers, user) };
        for (const state of statesThatSet(model, name, hidden)) {
          const named = `${name} in ${state} to ${user}`;
          yield { name: named, facts, run: (session) => show(session, resource, readers, user, state) };
        }
      }
    }
  },
};

/** The operations that show rows whole, or in lists. */
function readersOf(model: Model, resource: string): readonly Endpoint[] {
  return [...model.endpointsThat('read', resource).filter(showsWhole), ...model.endpointsThat('list', resource)];
}

/** The reason of a claim that a field is hidden at an endpoint from somebody who may call it. */
export const hiddenAt = (key: string): string => `hidden from a user at ${key}`;

/** The endpoints at which a field that there is something in is hidden from others who may call them. */
export function hidingEndpoints(model: Model, resource: Resource, field: Field): readonly Endpoint[] {
  const isFilled = isWritable(model.spec, resource, field) || field.generate !== undefined || Object.keys(field.set).length > 0;
  if (field.visible === undefined || field.writeOnly || !isFilled) return [];
  return readersOf(model, resource.name).filter((endpoint) =>
    model.callers.some(
      (caller) => isNeverShown(model.spec, field, caller) && model.access.allows(model.operationOf(endpoint), caller) !== 'no',
    ),
  );
}

/** The users of whom there are callers. */
export function usersGiven(model: Model): string[] {
  return [...new Set(model.callers.map(({ user }) => user))];
}

/** The states to which transitions lead that set what is hidden: before, there is nothing in it. */
function statesThatSet({ spec }: Model, resource: string, hidden: readonly (readonly [string, Field])[]): string[] {
  const states = hidden.flatMap(([, { set }]) =>
    Object.keys(set).flatMap((word) => transitionNamed(spec.states, resource, word)?.to[0]?.state ?? []),
  );
  return [...new Set(states)].slice(0, statesMost);
}

const statesMost = 2;

async function show(
  session: Session,
  resource: Resource,
  readers: readonly Endpoint[],
  user: string,
  state?: string,
): Promise<void> {
  const maker = fillingMaker(session, resource, user);
  const wanted = state === undefined ? {} : { state };
  const row = await session.make(resource.name, { style: 'whole', ...wanted, ...(maker && { caller: maker }) });
  const { made } = row;
  session.need(made !== undefined, `rows of ${resource.name} are given, not made`);
  const filled = await fill(session, resource, row, user);
  const seenBy = await witnesses(session, resource, row, user);
  let read: Done<TrialExchange> | undefined;
  for (const endpoint of readers) {
    const reader = callersFor(session, endpoint, row).find((one) => one.user === user);
    if (!reader) continue;
    const isList = statedValue(endpoint.does)?.verb === 'list';
    const seen = isList ? (await lookInList(session, row, endpoint, reader))?.done : await readBy(session, row, endpoint, reader);
    if (!seen) continue;
    for (const [name, field] of entriesOf(resource.fields)) {
      if (isNeverShown(session.model.spec, field, reader))
        claimHidden(session, resource.name, field, { made, seen, filled, witness: seenBy.get(name) });
      else if (leftOutOf(session.model.spec, { user }).has(field))
        claimByRule(session, row, field, endpoint, reader, { made, seen });
      else if (isList && read) claimListed(session, resource.name, name, { made, read, seen });
    }
    if (!isList) read = seen;
  }
}

/** Writes what is hidden from a user and was not sent by whoever made the row, as somebody who may. */
async function fill(
  session: Session,
  resource: Resource,
  row: TrialRow,
  user: string,
): Promise<ReadonlyMap<string, Done<TrialExchange>>> {
  const { model } = session;
  const filled = new Map<string, Done<TrialExchange>>();
  for (const [name, field] of entriesOf(resource.fields)) {
    const isSent = bodyFields({ body: row.made?.value.sent.json })?.[name] !== undefined;
    if (isSent || !isNeverShown(model.spec, field, { name: user, user }) || !isWritable(model.spec, resource, field)) continue;
    for (const endpoint of model.endpointsThat('update', resource.name)) {
      const writer = callersFor(session, endpoint, row).find(
        (one) => field.writable === undefined || field.writable.includes(one.user),
      );
      const value = writer && (model.freshValue(resource.name, name) ?? drawn(session, field));
      if (!writer || value === undefined) continue;
      const headers = await ifTestable(session.preconditions(endpoint, row, writer));
      if (!headers) continue;
      const plan = await requestAbout(session, row, endpoint, { caller: writer, headers, json: { [name]: value } });
      const done = await session.send(plan);
      if (isDone(done.value)) filled.set(name, done);
      break;
    }
  }
  return filled;
}

/** What is hidden from a user and set by the service, as somebody is shown it who may see it. */
async function witnesses(
  session: Session,
  resource: Resource,
  row: TrialRow,
  user: string,
): Promise<ReadonlyMap<string, Done<TrialExchange>>> {
  const { spec, callers } = session.model;
  const found = new Map<string, Done<TrialExchange>>();
  for (const [name, field] of entriesOf(resource.fields)) {
    if (!isNeverShown(spec, field, { name: user, user }) || Object.keys(field.set).length === 0) continue;
    const witness = callers.find((caller) => !isNeverShown(spec, field, caller));
    const look = witness && (await ifTestable(lookAt(session, row, witness)));
    if (look) found.set(name, look.done);
  }
  return found;
}

/** Any value of a field that is no reference; nothing where there is none. */
function drawn({ model, chance }: Session, { shape }: Field): Symbolic | undefined {
  const stated = statedValue(shape);
  try {
    const value = stated && chance.value(arbitraryValuesOf(model.spec, stated, 'plain'));
    // The cast holds: what is no reference, and has none in it, is a value.
    return value === null || JSON.stringify(stated).includes('"resource"') ? undefined : (value as Symbolic | undefined);
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

async function readBy(session: Session, row: TrialRow, endpoint: Endpoint, caller: TrialCaller): Promise<Done<TrialExchange>> {
  return session.send(await requestAbout(session, row, endpoint, { caller }));
}

/** Who makes the row: the user itself where it may read only its own, but rather somebody who may write what is hidden from it. */
export function fillingMaker(session: Session, { name, fields }: Resource, user: string): TrialCaller | undefined {
  const { model } = session;
  const ways = [...model.endpointsThat('create', name), ...model.endpointsThat('upsert', name)];
  const able = model.callers.filter((caller) =>
    ways.some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no'),
  );
  const writes = (caller: TrialCaller) =>
    entriesOf(fields).filter(([, { writable }]) => writable === undefined || writable.includes(caller.user)).length;
  return able.sort((one, other) => writes(other) - writes(one) || Number(other.user === user) - Number(one.user === user))[0];
}

interface Looked {
  readonly made: Done<TrialExchange>;
  readonly seen: Done<TrialExchange>;
}

interface Hiding extends Looked {
  /** What wrote it, where that was not what made the row. */
  readonly filled: ReadonlyMap<string, Done<TrialExchange>>;
  /** What showed it to somebody who may see it. */
  readonly witness: Done<TrialExchange> | undefined;
}

/** Claims that an answer does not show what was sent for a field, or made by the service, since it is hidden from its reader. */
function claimHidden(
  session: Session,
  resource: string,
  { name, generate, set, required }: Field,
  { made, seen, filled, witness }: Hiding,
): void {
  const { model } = session;
  const change = filled.get(name) ?? made;
  const isAlwaysSet = statedValue(required) === true && (set.create ?? set.write) !== undefined;
  session.claim({
    fact: { kind: 'required flags', subject: `${resource}.${name}` },
    reason: hiddenAt(seen.value.endpoint?.key ?? ''),
    of: [made, change, seen, ...(witness ? [witness] : [])] as const,
    judge(creation: TrialExchange, writing: TrialExchange, exchange: TrialExchange, ...[shown]: readonly TrialExchange[]) {
      const id = isDone(creation) && isDone(writing) ? idIn(model, creation) : undefined;
      const row = id === undefined ? undefined : rowWith(model, exchange, id);
      const sent = bodyFields({ body: writing.sent.json })?.[name] ?? (shown && rowWith(model, shown, id)?.[name]);
      const isThere = (sent !== undefined && sent !== null) || generate !== undefined || isAlwaysSet;
      if (!row || !isThere) return moot('there is nothing to be hidden');
      const reader = model.readerOf(exchange)?.user ?? 'whoever asks';
      return row[name] === undefined ? undefined : { promised: `${name} is not shown to ${reader}`, seen: oneLine(row[name]) };
    },
  });
}

/** Claims that a field which some rules show and others leave out is there where one that shows it holds, and not there where none does. */
function claimByRule(
  session: Session,
  row: TrialRow,
  { name }: Field,
  endpoint: Endpoint,
  reader: TrialCaller,
  { made, seen }: Looked,
): void {
  const { model } = session;
  const known = contextOfRow(session, row);
  const showing = showingOperations(model.spec, row.resource);
  const shows = showing.map((operation) =>
    known ? model.access.allows(operation, reader, known, ({ fields }) => !fields || fields.includes(name)) : 'unknown',
  );
  const isShown = shows.includes('yes') ? true : shows.every((one) => one === 'no') ? false : undefined;
  session.claim({
    fact: { kind: 'required flags', subject: `${row.resource}.${name}` },
    reason: 'shown by rules',
    of: [made, seen] as const,
    judge(creation: TrialExchange, exchange: TrialExchange) {
      const shown = isDone(creation) ? rowWith(model, exchange, idIn(model, creation)) : undefined;
      const sent = bodyFields({ body: creation.sent.json })?.[name];
      if (!shown || isShown === undefined || sent === undefined || sent === null)
        return moot('whether it is shown cannot be told');
      if ((shown[name] !== undefined) === isShown) return undefined;
      const promised = isShown ? `a rule shows ${name} to ${reader.user}` : `no rule shows ${name} of this row to ${reader.user}`;
      return { promised: `${promised} at ${endpoint.key}`, seen: oneLine(shown[name]) };
    },
  });
}

/** Claims that a list shows a field as reading the row does. */
function claimListed(
  session: Session,
  resource: string,
  name: string,
  { made, read, seen }: Looked & { readonly read: Done<TrialExchange> },
): void {
  const { model } = session;
  session.claim({
    fact: { kind: 'allowed values', subject: `${resource}.${name}` },
    reason: 'listed',
    of: [made, read, seen] as const,
    judge(creation: TrialExchange, reading: TrialExchange, listing: TrialExchange) {
      const hides = (one: TrialExchange) => model.unseenBy(resource, model.readerOf(one)).has(name);
      // A public read may show nobody in particular less than a list shows its caller.
      if (hides(reading) !== hides(listing)) return moot('it is shown to other readers');
      const id = isDone(creation) ? idIn(model, creation) : undefined;
      const one = rowWith(model, reading, id);
      const other = rowWith(model, listing, id);
      if (!one || !other || model.unseenBy(resource, model.readerOf(listing)).has(name)) return moot('it was not shown twice');
      return isSame(one[name] ?? null, other[name] ?? null)
        ? undefined
        : { promised: `${name} in a list: ${oneLine(one[name])}, as it is read`, seen: oneLine(other[name]) };
    },
  });
}
