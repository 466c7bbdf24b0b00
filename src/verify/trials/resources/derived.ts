import type { Json } from '../../../document/document.ts';
import type { Aggregate } from '../../../parts/derived/aggregates.ts';
import { type Derivation, derivationsOf } from '../../../parts/derived/derivations.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { followedOf } from '../../../parts/followed.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow, WantedRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { lookAt } from '../../make/look.ts';
import { rowFor } from '../../make/row-where.ts';
import { remove, stateOf, walkTo } from '../../make/walk.ts';
import { derivedValue } from '../../model/derived.ts';
import { judgeField } from '../../model/judge-field.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { changesOf } from './changes.ts';
import { changeRow, changingOf } from './changing.ts';
import { statesCounted, wordsRead } from './rows-counted.ts';

/** What is derived of the rows that refer to a row is true after each of their changes. */
export const derived: Trial = {
  name: 'resources/derived',
  part: 'resources',
  about: 'What is derived of other rows is true when they are made, changed, moved to another row, and deleted.',
  noise: 'quiet',
  *cases(model) {
    const over = derivationsOf(model.spec).all.filter(({ aggregates }) => aggregates.length > 0);
    const groups = Map.groupBy(
      over.flatMap((derivation) => derivation.aggregates.map((aggregate) => ({ derivation, aggregate }))),
      ({ derivation, aggregate }) => JSON.stringify([derivation.resource, aggregate.from, aggregate.by]),
    );
    for (const group of groups.values()) {
      const [{ derivation, aggregate }] = group as [(typeof group)[0]];
      const derivations = [...new Set(group.map((one) => one.derivation))];
      const reads = new Set(derivations.flatMap(({ itemReads }) => itemReads.get(aggregate.from) ?? []));
      const watched = { resource: derivation.resource, from: aggregate.from, by: aggregate.by, derivations, reads };
      yield {
        name: `${aggregate.from}.${aggregate.by}`,
        facts: derivations.map(({ resource, field }) => ({ kind: 'allowed values', subject: `${resource}.${field.name}` })),
        run: (session) => changeReferring(session, watched),
      };
    }
  },
};

/** Derived fields of one resource, and the rows of another that they are reckoned of. */
interface Watched extends Pick<Aggregate, 'from' | 'by'> {
  readonly resource: string;
  readonly derivations: readonly Derivation[];
  /** What is read of the rows that refer. */
  readonly reads: ReadonlySet<string>;
}

/** So many ways of changing a row that refers are tried. */
const changesMost = 4;

async function changeReferring(session: Session, watched: Watched): Promise<void> {
  const { model } = session;
  const { resource, from, by, reads } = watched;
  // What follows from other changes may change the rows that are looked at, and is seen there; those that it makes are not known.
  // What others make of rows of theirs is not below one that was made for this.
  const making = followedOf(model.spec).filter(({ acts }) =>
    acts.some(({ does }) => does?.verb === 'create' && does.resource === from),
  );
  if (making.some(({ resource: of, change }) => of === from || of === resource || change === 'created'))
    throw new Untestable(`each ${from} may also be made by what follows from other changes`);
  // What is left of little soon lets nobody in.
  const own = new Set(watched.derivations.flatMap(({ ownReads }) => ownReads));
  const body = numbersOf(model, resource, own, 1000);
  const parent = await rowFor(session, from, by, resource, { style: 'whole', body });
  const rows: TrialRow[] = [];
  const look = async (reason: string, removal?: Done<TrialExchange>) => {
    for (const row of rows) await lookAt(session, row);
    await lookAt(session, parent);
    claimDerived(session, watched, parent, rows, { reason, ...(removal && { removal }) });
  };
  const refer = (target: TrialRow, more: Pick<WantedRow, 'style' | 'body'> = {}) => {
    const reference = isSent(model, watched) ? { [by]: target.id } : {};
    return session.make(from, { ...more, parents: { [by]: target }, body: { ...more.body, ...reference } });
  };
  await look('of none');
  rows.push(await refer(parent));
  await look('made');
  for (const number of [3, 2]) {
    const another = await attempt(() => refer(parent, { style: 'whole', body: numbersOf(model, from, reads, number) }));
    if (!another) continue;
    rows.push(another);
    await look('made again');
  }
  for (const { name, value, says } of wordsRead(model, from, reads)) {
    const another = await attempt(() => refer(parent, { body: { [name]: value } }));
    if (!another) continue;
    rows.push(another);
    await look(says);
  }
  // What counts rows in some states alone counts those in all of them wrongly, whether its expression speaks of states or not.
  for (const { machine, state } of statesCounted(model, from, reads)) {
    const moving = await attempt(() => refer(parent));
    if (!moving) continue;
    rows.push(moving);
    // However far it comes, it is there.
    await attempt(() => walkTo(session, moving, state, { machine }));
    await look(`in ${stateOf(moving, machine) ?? 'a state'}`);
  }
  await changeRead(session, watched, rows, look);
  const last = rows.pop() as TrialRow;
  const removal = await attempt(() => remove(session, last));
  if (removal && isDone(removal.value)) await look('deleted', removal);
  else rows.push(last);
  await letGo(session, watched, rows, look);
}

/** Changes what is read of a row that refers. */
async function changeRead(
  session: Session,
  { from, by, reads }: Watched,
  rows: readonly TrialRow[],
  look: (reason: string) => Promise<void>,
): Promise<void> {
  const { model } = session;
  const resource = model.resource(from);
  const [row] = rows;
  for (const endpoint of resource && row ? model.endpointsThat('update', from) : []) {
    const changes = changesOf(model, endpoint, resource!).filter(({ fields }) =>
      fields.every((name) => reads.has(name) && name !== by),
    );
    for (const { members, says } of changes.slice(0, changesMost)) {
      const done = await attempt(async () => {
        const changing = await changingOf(session, endpoint, row!);
        const sent = await members(session, row!);
        return sent && changeRow(session, changing, sent, (await lookAt(session, row!)).done, undefined);
      });
      if (done) await look(says);
    }
  }
}

/** Lets a row refer to another one: it counts there, and here no more. */
async function letGo(
  session: Session,
  watched: Watched,
  rows: TrialRow[],
  look: (reason: string) => Promise<void>,
): Promise<void> {
  const { model } = session;
  const { resource, from, by } = watched;
  const [row] = rows;
  const field = entryOf(model.resource(from)!.fields, by);
  const [endpoint] = model.endpointsThat('update', from);
  if (!row || !endpoint || !field || field.immutable || !isSent(model, watched)) return;
  const other = await attempt(() => session.make(resource, { style: 'whole' }));
  const done =
    other &&
    (await attempt(async () => {
      const changing = await changingOf(session, endpoint, row);
      return changeRow(session, changing, { [by]: other.id }, (await lookAt(session, row)).done, undefined);
    }));
  if (!done || !other) return;
  await look('let go');
  await lookAt(session, other);
  claimDerived(session, watched, other, [row], { reason: 'taken over' });
}

/** Whole numbers for the fields of a resource that are reckoned with, where one of them fits. */
function numbersOf(model: Model, name: string, reads: ReadonlySet<string>, number: number): Record<string, number> {
  const resource = model.resource(name);
  const bound = new Set(model.endpointsThat('create', name).flatMap((endpoint) => boundByPath(model.spec, endpoint)));
  return Object.fromEntries(
    (resource ? entriesOf(resource.fields) : []).flatMap(([field, stated]) => {
      const shape = statedValue(stated.shape);
      const isOurs = resource && isWritable(model.spec, resource, stated) && !stated.writable && !bound.has(field);
      if (!reads.has(field) || !isOurs || (shape?.type !== 'integer' && shape?.type !== 'number')) return [];
      return model.schemas.of(shape, 'sent')(number).length === 0 ? [[field, number]] : [];
    }),
  );
}

/** Whether the reference is sent in a body. */
function isSent({ spec, resource }: Model, { from, by }: Watched): boolean {
  const stated = entryOf(spec.resources.all, from);
  const field = stated && entryOf(stated.fields, by);
  return stated !== undefined && field !== undefined && isWritable(spec, stated, field) && resource !== undefined;
}

async function attempt<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Untestable) return undefined;
    throw error;
  }
}

/** Claims of each derived field that it is what it comes to, of all the rows that refer to a row which this case made. */
function claimDerived(
  session: Session,
  watched: Watched,
  parent: TrialRow,
  rows: readonly TrialRow[],
  { reason, removal }: { readonly reason: string; readonly removal?: Done<TrialExchange> },
): void {
  const { model } = session;
  const seen = [parent, ...rows].map((row) => ({ made: row.made, shown: row.shown }));
  if (seen.some(({ made, shown }) => !made || !shown)) return;
  const of = [...seen.flatMap(({ made, shown }) => [made!, shown!]), ...(removal ? [removal] : [])];
  for (const derivation of watched.derivations) {
    // What is derived of rows of another resource too, which are not looked at here, is not known.
    if (derivation.aggregates.some(({ from, by }) => from !== watched.from || by !== watched.by) && reason !== 'of none')
      continue;
    const { resource, field, at } = derivation;
    session.claim({
      fact: { kind: 'allowed values', subject: `${resource}.${field.name}` },
      at,
      reason: `derived, ${reason}`,
      of,
      judge(...exchanges: readonly TrialExchange[]): Judgement {
        if (removal && !isDone(exchanges.at(-1)!)) return moot('nothing was deleted');
        const shown = seen.map((_, index) => rowWith(model, exchanges[2 * index + 1]!, idIn(model, exchanges[2 * index]!)));
        const [row, ...referring] = shown;
        if (!row || referring.some((one) => one === undefined)) return moot('a row is not shown');
        const isHidden = exchanges.some((one) => hides(model, watched, one));
        if (isHidden) return moot('what it is derived of is not shown');
        const isKnown = exchanges.every((one) => !model.unseenBy(watched.from, model.readerOf(one)).has(watched.by));
        if (!isKnown && !isKept(model, watched)) return moot('what its rows refer to is not shown');
        // What is made once more may be found instead: it counts once.
        const key = model.identifierField(watched.from);
        const each = new Map(referring.flatMap((one) => (one ? [[asText(one[key]), one] as const] : [])));
        return judgeDerived(model, derivation, row, [...each.values()], isKnown ? watched.by : undefined);
      },
    });
  }
}

function judgeDerived(
  model: Model,
  derivation: Derivation,
  row: ShownFields,
  referring: readonly ShownFields[],
  by: string | undefined,
): Judgement {
  const { field, at, resource } = derivation;
  const id = asText(row[model.identifierField(resource)]);
  const reckoned = derivedValue(model.spec, derivation, row, () =>
    // Where it is not shown what they refer to, that is what they were made with.
    by === undefined ? [...referring] : referring.filter((one) => asText(one[by]) === id),
  );
  if (!reckoned) return moot('what it comes to cannot be reckoned');
  const { value } = reckoned;
  if (isNear(value, row[field.name])) return undefined;
  const because = 'derived' as const;
  return judgeField(
    value === null ? { is: 'absent', because, at } : { is: 'value', value, because, at },
    row[field.name],
    field,
    {
      toleranceMs: 0,
      mayLack: new Set(),
    },
  );
}

/** Whether rows refer for good to what they were made with. */
function isKept(model: Model, { from, by }: Watched): boolean {
  return entryOf(model.resource(from)?.fields, by)?.immutable === true;
}

/** Sums of numbers with a point may be made in another order. */
function isNear(one: Json, other: Json | undefined): boolean {
  if (typeof one !== 'number' || typeof other !== 'number') return false;
  return Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));
}

/** Whether an exchange does not show its reader all that is reckoned with. */
function hides(model: Model, { resource, from, reads, derivations }: Watched, exchange: TrialExchange): boolean {
  const reader = model.readerOf(exchange);
  const hidden = model.unseenBy(from, reader);
  const own = model.unseenBy(resource, reader);
  return (
    [...reads].some((name) => hidden.has(name)) || derivations.some(({ ownReads }) => ownReads.some((name) => own.has(name)))
  );
}
