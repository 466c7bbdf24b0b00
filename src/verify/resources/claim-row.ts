import type { Json } from '../../document/document.ts';
import { entriesOf } from '../../parts/fact.ts';
import type { Expectation } from '../model/expectation.ts';
import { beforeFrom, expectedAfter } from '../model/expected.ts';
import { judgeField } from '../model/judge-field.ts';
import type { Model } from '../model/model.ts';
import { type Fields, idIn, rowsShown, rowWith, unexpanded } from '../model/row-shown.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';

/** A change of a row, what it was before, and where it is seen afterwards. */
export interface Changed {
  readonly resource: string;
  /** The exchange that showed the row before; absent for a creation. */
  readonly before?: Done<Exchange>;
  readonly change: Done<Exchange>;
  /** The change itself, for what it answered, or a later exchange that shows the row. */
  readonly seen: Done<Exchange>;
  /** What is claimed: `answered`, `stored`. */
  readonly reason: 'answered' | 'stored';
}

/** Claims of every field of a row that it is what the change makes it. */
export function claimRow(session: Session, changed: Changed): void {
  const { model } = session;
  const { toleranceMs } = session.run.clock;
  const resource = model.resource(changed.resource);
  for (const [name, field] of resource ? entriesOf(resource.fields) : []) {
    const at = expectationOf(session, changed, name)?.at;
    const judge = (change: Exchange, seen: Exchange, before?: Exchange): Judgement => {
      if (!isDone(change)) return moot('the change was not made');
      const isItself = changed.seen.step === changed.change.step;
      const row = isItself ? ownRow(model, changed.resource, change) : rowWith(model, seen, idIn(model, change));
      if (!row) return moot('the row is not shown');
      if (model.unseenBy(changed.resource, model.readerOf(seen)).has(name)) return moot('the field is not shown to its reader');
      const expectation = expectations(model, changed.resource, change, before).get(name);
      const old = before && beforeOf(model, changed.resource, change, before)?.fields[name];
      if (expectation?.is === 'time' && before && stoodStill(old, row[name], change.fromMs - before.toMs)) {
        return { promised: `${name}: a time of the change`, seen: `${String(old)}, as before it` };
      }
      return (
        expectation &&
        judgeField(expectation, row[name], field, { toleranceMs, mayLack: model.hiddenInside(model.readerOf(seen)) })
      );
    };
    const fact = { kind: 'allowed values', subject: `${changed.resource}.${name}` };
    const reason = `${changed.reason}, ${expectationOf(session, changed, name)?.because ?? 'kept'}`;
    const place = at === undefined || at === field.at ? {} : { at };
    if (changed.before)
      session.claim({ ...{ fact, reason, ...place }, of: [changed.change, changed.seen, changed.before] as const, judge });
    else session.claim({ ...{ fact, reason, ...place }, of: [changed.change, changed.seen] as const, judge });
  }
}

/** Whether a time with milliseconds is the same as before, although some have gone by. */
function stoodStill(old: Json | undefined, now: Json | undefined, gapMs: number): boolean {
  return typeof old === 'string' && old === now && /\.\d*[1-9]/.test(old) && gapMs >= gapMinMs;
}

/** So long is waited before a change, so that its time is another one. */
export const gapMinMs = 15;

function expectationOf(session: Session, { resource, change, before }: Changed, name: string): Expectation | undefined {
  return expectations(session.model, resource, change.value, before?.value).get(name);
}

const known = new WeakMap<Exchange, { readonly before: Exchange | undefined; readonly map: ReadonlyMap<string, Expectation> }>();

/** Reckoned once for each change: what is asked is the same for all of its fields. */
function expectations(
  model: Model,
  resource: string,
  change: Exchange,
  before: Exchange | undefined,
): ReadonlyMap<string, Expectation> {
  const found = known.get(change);
  if (found && found.before === before) return found.map;
  const was = before && beforeOf(model, resource, change, before);
  const map = before && !was ? new Map<string, Expectation>() : expectedAfter(model, change, was);
  known.set(change, { before, map });
  return map;
}

function beforeOf(model: Model, resource: string, change: Exchange, before: Exchange) {
  const row = rowWith(model, before, idIn(model, change)) ?? ownRow(model, resource, before);
  return row && { fields: row, ...beforeFrom(model, resource, before) };
}

/** The row that an answer is, as its resource has it. */
function ownRow(model: Model, resource: string, exchange: Exchange): Fields | undefined {
  const shown = rowsShown(model, exchange);
  const [row] = shown?.resource === resource ? shown.rows : [];
  return row && unexpanded(model, resource, row);
}
