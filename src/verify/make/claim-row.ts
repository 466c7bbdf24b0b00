import type { Json } from '../../document/document.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import { asText } from '../exchange/as-text.ts';
import { isFlaw, type Judgement, moot } from '../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import { changedByClock } from '../model/clock-changes.ts';
import type { Expectation } from '../model/expectation.ts';
import { beforeFrom, expectedAfter } from '../model/expected.ts';
import { hiddenInside } from '../model/fields.ts';
import { judgeField } from '../model/judge-field.ts';
import type { Model } from '../model/model.ts';
import { followedIn } from '../model/row-known.ts';
import { idIn, rowsShown, rowWith, type ShownFields, unexpanded } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { referredTo } from './own-rules.ts';

/** A change of a row, what it was before, and where it is seen afterwards. */
interface Changed {
  readonly resource: string;
  /** The exchange that showed the row before; absent for a creation. */
  readonly before?: Done<TrialExchange>;
  readonly change: Done<TrialExchange>;
  /** The change itself, for what it answered, or a later exchange that shows the row. */
  readonly seen: Done<TrialExchange>;
  /** What is claimed: `answered`, `stored`. */
  readonly reason: 'answered' | 'stored';
}

/** Claims of every field of a row that it is what the change makes it. */
export function claimRow(session: Session, changed: Changed): void {
  const { model } = session;
  const { toleranceMs } = session.run.clock;
  const resource = model.resource(changed.resource);
  const referred = referredTo(session, changed.resource, [
    rowIn(model, changed),
    bodyFields({ body: changed.change.value.sent.json }),
  ]);
  const known: Seen = {
    change: changed.change.value,
    before: changed.before?.value,
    referred: referred.map(({ value }) => value),
  };
  for (const [name, field] of resource ? entriesOf(resource.fields) : []) {
    const expected = expectations(model, changed.resource, known).get(name);
    // What is derived of other rows as well is claimed where those are looked at.
    if (expected?.because === 'derived' && expected.is === 'unknown') continue;
    const judge = (change: TrialExchange, seen: TrialExchange, ...others: readonly TrialExchange[]): Judgement => {
      const [before, rows] = changed.before ? [others[0], others.slice(1)] : [undefined, others];
      if (!isDone(change)) return moot('the change was not made');
      const isItself = changed.seen.step === changed.change.step;
      const row = isItself ? ownRow(model, changed.resource, change) : rowWith(model, seen, idIn(model, change));
      if (!row) return moot('the row is not shown');
      // What is revealed once is revealed in the answer that makes it.
      const isRevealed = isItself && field.reveal === 'once' && row[name] !== undefined;
      if (!isRevealed && model.unseenIn(changed.resource, model.readerOf(seen), row).has(name))
        return moot('the field is not shown to its reader');
      const expectation = expectations(model, changed.resource, { change, before, referred: rows }).get(name);
      const old = before && beforeOf(model, changed.resource, change, before)?.fields[name];
      if (expectation?.is === 'time' && before && stoodStill(old, row[name], change.fromMs - before.toMs)) {
        return { promised: `${name}: a time of the change`, seen: `${asText(old)}, as before it` };
      }
      const mayLack = hiddenInside(model.spec, model.readerOf(seen));
      if (!expectation) return moot('what it has to be cannot be reckoned from outside');
      const judgement = judgeField(expectation, row[name], field, { toleranceMs, mayLack });
      if (!isFlaw(judgement)) return judgement;
      const all = [...(before ? [before] : []), change, seen];
      const byClock = changedByClock(model, changed.resource, all, (one) => rowOf(model, changed.resource, change, one));
      return byClock(name) ? moot('the clock had something to do with it meanwhile') : judgement;
    };
    session.claim({
      fact: { kind: 'allowed values', subject: `${changed.resource}.${name}` },
      judge,
      reason: `${changed.reason}, ${expected?.because ?? 'kept'}`,
      ...(expected !== undefined && expected.at !== field.at && { at: expected.at }),
      of: [changed.change, changed.seen, ...(changed.before ? [changed.before] : []), ...referred] as const,
    });
  }
}

/** The row as the change showed it, which names what it refers to. */
function rowIn(model: Model, { resource, change, before }: Changed): ShownFields | undefined {
  return ownRow(model, resource, change.value) ?? (before && rowWith(model, before.value, idIn(model, change.value)));
}

/** Whether a time with milliseconds is the same as before, although some have gone by. */
function stoodStill(old: Json | undefined, now: Json | undefined, gapMs: number): boolean {
  return typeof old === 'string' && old === now && /\.\d*[1-9]/.test(old) && gapMs >= gapMinMs;
}

/** So long is waited before a change, so that its time is another one. */
export const gapMinMs = 15;

/** The exchanges that a row is reckoned from. */
interface Seen {
  readonly change: TrialExchange;
  readonly before: TrialExchange | undefined;
  /** Those that showed what it refers to. */
  readonly referred: readonly TrialExchange[];
}

const reckoned = new WeakMap<TrialExchange, { readonly seen: Seen; readonly map: ReadonlyMap<string, Expectation> }>();

/** Reckoned once for each change: what is asked is the same for all of its fields. */
function expectations(model: Model, resource: string, seen: Seen): ReadonlyMap<string, Expectation> {
  const { change, before, referred } = seen;
  const found = reckoned.get(change);
  const isKnown =
    found?.seen.before === before &&
    found?.seen.referred.length === referred.length &&
    referred.every((one, at) => one === found.seen.referred[at]);
  if (found && isKnown) return found.map;
  const was = before && beforeOf(model, resource, change, before);
  const followed = referred.length === 0 ? undefined : followedIn(model, referred);
  const map = before && !was ? new Map<string, Expectation>() : expectedAfter(model, change, was, followed);
  reckoned.set(change, { seen, map });
  return map;
}

function beforeOf(model: Model, resource: string, change: TrialExchange, before: TrialExchange) {
  const row = rowOf(model, resource, change, before);
  return row && beforeFrom(model, resource, before, row);
}

/** The row that was changed, as another exchange shows it. */
function rowOf(model: Model, resource: string, change: TrialExchange, seen: TrialExchange): ShownFields | undefined {
  return rowWith(model, seen, idIn(model, change)) ?? ownRow(model, resource, seen);
}

/** The row that an answer is, as its resource has it. */
function ownRow(model: Model, resource: string, exchange: TrialExchange): ShownFields | undefined {
  const shown = rowsShown(model, exchange);
  const [row] = shown?.resource === resource ? shown.rows : [];
  return row && unexpanded(model, resource, row);
}

/** A value of a field's type that nobody but a caller would give it; nothing for a field of another type. */
export function foreignValue(field: Field): Json | undefined {
  const shape = statedValue(field.shape);
  const [enumerated] = Array.isArray(shape?.enum) ? shape.enum : [];
  if (enumerated !== undefined) return enumerated;
  if (shape?.type === 'integer' || shape?.type === 'number')
    return typeof shape.maximum === 'number' ? Math.min(shape.maximum, 7) : 7;
  if (shape?.type === 'boolean') return true;
  if (shape?.type !== 'string' || field.ref !== undefined) return undefined;
  if (shape.format === undefined) return 'nf-foreign';
  return formatNamed(shape.format)?.time?.write(Date.UTC(2001, 0, 1));
}
