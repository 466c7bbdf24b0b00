import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { leftOutOf, showingOperations } from '../../../parts/left-out.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { machinesOf, transitionNamed } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { callersFor, contextOfRow } from '../../make/callers-for.ts';
import { lookAt, lookInList, showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Known } from '../../model/expressions.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';
import { fill, witnesses } from './filled.ts';

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
        const isPartly = hidden.some(([, field]) => leftOut.has(field));
        const facts = hidden.map(([field]) => ({ kind: 'required flags', subject: `${name}.${field}` }));
        if (readers.length === 0) continue;
        // What could not be looked at of a field is missing of its resource, too.
        if (hidden.length > 0) facts.push({ kind: 'field names', subject: name });
        if (isPartly) facts.push(...readers.map(({ operation }) => ({ kind: 'permission rules', subject: operation })));
        yield { name: `${name} to ${user}`, facts, run: (session) => show(session, resource, readers, user) };
        for (const state of new Set([...statesThatSet(model, name, hidden), ...(isPartly ? laterStates(model, name) : [])])) {
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

/** States after that in which a row begins: a lot is shown to others, without its reserve, once it is open. */
function laterStates({ spec }: Model, resource: string): string[] {
  const [machine] = machinesOf(spec.states, resource);
  const begun = new Set(machine?.initial.map(({ state }) => state));
  const from = machine
    ? entriesOf(machine.transitions).filter(([, one]) => one.from === '*' || one.from.some((s) => begun.has(s)))
    : [];
  return [...new Set(from.flatMap(([, { to }]) => to.map(({ state }) => state)))].slice(0, statesMost);
}

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
  // What is made along with something else is known by what showed it.
  const made = row.made ?? (await lookAt(session, row)).done;
  // Who is shown less of it afterwards knows less of it.
  const known = contextOfRow(session, row);
  const filled = await fill(session, resource, row, user);
  const seenBy = await witnesses(session, resource, row, user);
  let read: Done<TrialExchange> | undefined;
  for (const endpoint of readers) {
    const [reader, ...others] = callersFor(session, endpoint, row).filter((one) => one.user === user);
    if (!reader) continue;
    const isList = statedValue(endpoint.does)?.verb === 'list';
    const look = async (one: TrialCaller) =>
      isList ? (await lookInList(session, row, endpoint, one))?.done : await readBy(session, row, endpoint, one);
    const seen = await look(reader);
    if (!seen) continue;
    // Whoever made it is shown most of it: others are shown what rules leave of it.
    const leftOut = leftOutOf(session.model.spec, { user });
    const partly = entriesOf(resource.fields).filter(([, field]) => leftOut.has(field));
    const isShown = (name: string, one: TrialCaller) => isShownTo(session, row.resource, name, one, known);
    const barred = partly.find(([name]) => isShown(name, reader) !== false)?.[0];
    const less = barred === undefined ? undefined : others.find((one) => isShown(barred, one) === false);
    const seenLess = less && (await look(less));
    if (seenLess)
      for (const [name, field] of partly)
        claimByRule(session, row, field, endpoint, less, { made, seen: seenLess, isShown: isShown(name, less) });
    for (const [name, field] of entriesOf(resource.fields)) {
      if (isNeverShown(session.model.spec, field, reader))
        claimHidden(session, resource.name, field, { made, seen, filled, witness: seenBy.get(name) });
      else if (leftOut.has(field))
        claimByRule(session, row, field, endpoint, reader, { made, seen, isShown: isShown(name, reader) });
      else if (isList && read) claimListed(session, resource.name, name, { made, read, seen });
    }
    if (!isList) read = seen;
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
  { name, generate, set, required, visible }: Field,
  { made, seen, filled, witness }: Hiding,
): void {
  const { model } = session;
  const change = filled.get(name) ?? made;
  const isAlwaysSet = statedValue(required) === true && (set.create ?? set.write) !== undefined;
  const claim = {
    reason: hiddenAt(seen.value.endpoint?.key ?? ''),
    member: name,
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
  };
  session.claim({ fact: { kind: 'required flags', subject: `${resource}.${name}` }, ...claim });
  // What no rule shows is of the rule as well as of the field.
  const { operation } = seen.value.endpoint ?? {};
  if (visible === undefined && operation !== undefined)
    session.claim({ fact: { kind: 'permission rules', subject: operation }, ...claim, reason: leftOutByRules });
}

/** Claims that a field which some rules show and others leave out is there where one that shows it holds, and not there where none does. */
function claimByRule(
  session: Session,
  row: TrialRow,
  { name }: Field,
  endpoint: Endpoint,
  reader: TrialCaller,
  { made, seen, isShown }: Looked & { readonly isShown: boolean | undefined },
): void {
  const { model } = session;
  const facts = [
    { kind: 'required flags', subject: `${row.resource}.${name}` },
    { kind: 'permission rules', subject: endpoint.operation },
  ];
  for (const fact of facts)
    session.claim({
      fact,
      reason: isShown === false ? leftOutByRules : shownByRules,
      member: name,
      of: [made, seen] as const,
      judge(creation: TrialExchange, exchange: TrialExchange) {
        const id = isDone(creation) ? idIn(model, creation) : undefined;
        const shown = rowWith(model, exchange, id);
        const value = bodyFields({ body: creation.sent.json })?.[name] ?? rowWith(model, creation, id)?.[name];
        if (!shown || isShown === undefined || value === undefined || value === null)
          return moot('whether it is shown cannot be told');
        if ((shown[name] !== undefined) === isShown) return undefined;
        const promised = isShown
          ? `a rule shows ${name} to ${reader.user}`
          : `no rule shows ${name} of this row to ${reader.user}`;
        return { promised: `${promised} at ${endpoint.key}`, seen: oneLine(shown[name]) };
      },
    });
}

/** Whether some rule shows a field of this row to somebody; nothing where that is not known. */
function isShownTo(
  { model }: Session,
  resource: string,
  name: string,
  reader: TrialCaller,
  known: Known | undefined,
): boolean | undefined {
  const shows = showingOperations(model.spec, resource).map((operation) =>
    known ? model.access.allows(operation, reader, known, ({ fields }) => !fields || fields.includes(name)) : 'unknown',
  );
  return shows.includes('yes') ? true : shows.every((one) => one === 'no') ? false : undefined;
}

/** The reasons of claims that fields of a row are shown as rules have it, and that what none shows is not. */
const shownByRules = 'shown by rules';
export const leftOutByRules = 'left out by rules';

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
