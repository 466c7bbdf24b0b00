/** What follows from changes of rows, for the row itself and its children. */

import { below } from '../../document/pointer.ts';
import { type Following, followingBounds } from '../../parts/effects.ts';
import type { Expression } from '../../parts/fact.ts';
import { type Followed, followedOf, referringRows } from '../../parts/followed.ts';
import type { Scalar } from '../../store/store.ts';
import { freePass } from '../callers/operation-access.ts';
import { type Evaluate, getOrMake, isFailed, type PreparedExpression, unfit } from '../exchange/compilation.ts';
import { type Fields, type Refusal, Refused, type Value } from '../exchange/exchange.ts';
import { Bare, withoutPrototype } from '../http/json.ts';
import {
  type ChangedChild,
  follower,
  type Models,
  type Names,
  type SentChild,
  type SentRows,
  type StoredChange,
  type Work,
} from '../resources/act.ts';
import { violationOfChild } from '../resources/children-sent.ts';
import { identifierText, identifierValue, type RowModel } from '../resources/model.ts';
import { applySetters, type Setter } from '../resources/setters.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { compileDoing, type Doing } from './doing.ts';

/** The models of a document, with what follows from changes of their rows. Without any they are as they were. */
export function withFollowing(models: ReadonlyMap<string, RowModel>, compilation: ViewCompilation): Models {
  const all = followedOf(compilation.spec);
  return all.length === 0 ? models : Object.assign(new Map(models), { follow: compileFollow(all, models, compilation) });
}

/** Compiles what follows from changes, each change's on its first. */
function compileFollow(
  all: readonly Followed[],
  models: ReadonlyMap<string, RowModel>,
  compilation: ViewCompilation,
): NonNullable<Models['follow']> {
  const ofModels = new Map<RowModel, Map<string, Map<string, readonly CarryOut[]>>>();
  const following = (change: StoredChange): readonly CarryOut[] => {
    const ofModel = getOrMake(ofModels, change.model, () => new Map<string, Map<string, readonly CarryOut[]>>());
    const known = getOrMake(ofModel, change.operation, () => new Map<string, readonly CarryOut[]>());
    const kinds = kindsOf(change);
    const taker = change.children && (change.before === undefined ? 'created' : 'updated');
    // What is made, changed or removed and takes no children has one kind, which is its own key.
    const key = kinds.length === 1 && taker === undefined ? (kinds[0] ?? '') : `${kinds.join(' ')}\n${taker ?? ''}`;
    return getOrMake(known, key, () =>
      all
        .filter((one) => one.resource === change.model.name)
        .flatMap((one) => {
          const isMet = ({ children }: Following) =>
            children === undefined ? kinds.includes(nameOf(one)) : nameOf(one) === taker;
          return one.acts.filter(isMet).map((act) => compileAct(act, change.operation, models, compilation));
        }),
    );
  };
  return (work, since) => {
    const { stored } = work;
    const until = stored.length;
    work.following ??= { acts: 0, depth: 0 };
    work.following.depth += 1;
    if (work.following.depth > followingBounds.depth) throw tooMuch(`deeper than ${followingBounds.depth} changes`);
    for (let at = since; at < until; at++) {
      // What follows is added behind, and what was stored stays where it is.
      const change = stored[at] as StoredChange;
      for (const carryOut of following(change)) carryOut(work, change);
    }
    work.following.depth -= 1;
  };
}

const created: readonly string[] = ['created'];
const deleted: readonly string[] = ['deleted'];
const updated: readonly string[] = ['updated'];

function kindsOf({ before, after, transitions }: StoredChange): readonly string[] {
  if (before === undefined) return created;
  if (after === undefined) return deleted;
  return transitions.length === 0 ? updated : transitions.map((transition) => `transition ${transition}`);
}

function nameOf({ change }: Followed): string {
  return typeof change === 'string' ? change : `transition ${change.transition.name}`;
}

/** Carries an act out, once or for each of its rows. @throws {Refused} where it is refused, and is not to be passed over. */
type CarryOut = (work: Work, change: StoredChange) => void;

function compileAct(
  act: Following,
  operation: string,
  models: ReadonlyMap<string, RowModel>,
  compilation: ViewCompilation,
): CarryOut {
  const { does, each, to } = act;
  const model = does && models.get(does.resource);
  if (!does || !model) throw new Error(`What follows from "${operation}" is done to no resource that can be kept.`);
  const doing = compileDoing(does, Object.keys(act.set), model, compilation);
  const reckon = (expression: Expression | undefined) =>
    expression && demanded(compilation.prepare(expression, operation), operation, compilation);
  const holds = reckon(act.if);
  const target = does.verb === 'create' ? undefined : (reckon(to) ?? itself(model, each !== undefined));
  const items = each ? compileItems(each, reckon(each), models, compilation) : undefined;
  if (act.children !== undefined) {
    return compileChildren(act, doing, model, (work, once) => {
      count(work);
      return tried(work, doing, once, { caller: work.scope.caller });
    });
  }
  const given = Object.entries(act.set).flatMap(([name, expression]) => {
    const field = model.fields.get(name);
    if (!field) return [];
    const prepared = compilation.prepare(expression, operation);
    const refuse: Setter['refuse'] = (names, message) =>
      unfit(
        compilation.spec,
        { expression: prepared, operation, names },
        message,
        'a value with which all that follows can be done',
      );
    return [
      {
        field: name,
        keepsNull: field.keepsNull,
        expression,
        evaluate: prepared.evaluate,
        validate: doing.validator(field),
        refuse,
      },
    ];
  });

  function once(work: Work, names: Names): void {
    if (holds && holds(names) !== true) return;
    count(work);
    const id = target && identifierText(target(names));
    // Without a row there is nothing to be done.
    if (target && id === undefined) return;
    attempt(work, act, doing, id, applySetters(given, names, new Bare(), true));
  }

  return (work, change) => {
    const names = namesOf(work, change);
    if (!items) once(work, names);
    else for (const item of items(work, change, names)) once(work, { ...names, item });
  };
}

/** The row that stands in the list, or that the list names. */
function itself({ identifier }: RowModel, isEach: boolean): Evaluate | undefined {
  if (!isEach) return () => undefined;
  return ({ item }) => (typeof item === 'object' && item !== null ? (item as Fields)[identifier.field] : item);
}

/** What an act is done for. @throws {Refused} where there are more than may be. */
type Items = (work: Work, change: StoredChange, names: Names) => readonly Value[];

function compileItems(
  each: Expression,
  list: Evaluate | undefined,
  models: ReadonlyMap<string, RowModel>,
  compilation: ViewCompilation,
): Items {
  const most = followingBounds.acts;
  const bounded = <T>(found: readonly T[]): readonly T[] => {
    if (found.length > most) throw tooMuch(`for more than ${most} of ${each.source}`);
    return found;
  };
  const rows = referringRows(compilation.spec, each);
  const from = rows && models.get(rows.resource);
  if (!rows || !from) return (_work, _change, names) => bounded((list?.(names) as readonly Value[] | null) ?? []);
  return (work, change) => {
    const referrer = change.model.referrers.find((one) => one.from === rows.resource && one.field === rows.field);
    if (!referrer) return [];
    const query = { ...referrer.query, limit: 1 };
    const id = identifierValue(change.id, referrer.isInteger) as Scalar;
    return bounded(work.rows.all(query, [id, most + 1])).map((row) => from.parse(row));
  };
}

/** What an act reads: of a change that the caller asked for all that it could, of one that followed what was stored alone. */
function namesOf(work: Work, { operation, before, after }: StoredChange): Names {
  const isAsked = work.scope.operation === operation;
  const scope = isAsked ? work.scope : ownScope(work, operation);
  return { ...scope, ...(before && { resource: before }), ...(after && { next: after }) };
}

function ownScope({ nowMs, rows, models }: Work, operation: string): Names {
  return { now: nowMs, operation, version: '', follow: follower(rows, models) };
}

/** Tries an act on a row. What is refused before anything is stored may be passed over. @throws {Refused} */
function attempt(work: Work, { skips }: Following, doing: Doing, id: string | undefined, given: Fields): void {
  const refusal = tried(work, doing, (own) => doing.act(own, id, given));
  if (!refusal || (skips && refusal.when !== 'internal')) return;
  throw new Refused(doing.own(refusal));
}

/** The refusal of what is refused before anything of it is stored: what follows from what was carried out is refused as a whole. @throws {Refused} */
function tried(work: Work, doing: Doing, act: (work: Work) => Refusal | undefined, more?: Names): Refusal | undefined {
  const { stored } = work;
  const before = stored.length;
  const own = ownScope(work, doing.name);
  try {
    return act({ ...work, scope: more ? { ...own, ...more } : own });
  } catch (failure) {
    if (!(failure instanceof Refused) || stored.length > before) throw failure;
    return failure.refusal;
  }
}

function count({ following }: Work): void {
  if (!following) return;
  following.acts += 1;
  if (following.acts > followingBounds.acts) throw tooMuch(`more than ${followingBounds.acts} times`);
}

function tooMuch(what: string): Refused {
  return new Refused({ when: 'internal', message: `Something would follow ${what}, which no change may.` });
}

/** @throws {Refused} where it comes to nothing. */
function demanded(expression: PreparedExpression, operation: string, { spec }: ViewCompilation): Evaluate {
  return (names) => {
    const value = expression.evaluate(names);
    if (!isFailed(value)) return value;
    const message = `What follows from a change failed (${expression.source}): ${value.reason}`;
    throw new Refused(unfit(spec, { expression, operation, names }, message, 'a value with which all that follows can be done'));
  };
}

/** Tries what is done to one row; the refusal, where it is refused. */
type Attempt = (work: Work, act: (work: Work) => Refusal | undefined) => Refusal | undefined;

/**
 * Compiles what becomes of the rows that were sent with the one that was made or changed: those that are made, changed or deleted, as the
 * act says. @throws {Refused} for all of it, at its place in what was sent.
 */
function compileChildren(
  { does, children: name = '', set }: Following,
  doing: Doing,
  child: RowModel,
  attempt: Attempt,
): (work: Work, change: StoredChange) => void {
  const ties = Object.keys(set);
  const refuse = (refusal: Refusal, { model }: StoredChange, index?: number): Refused => {
    const { violations } = refusal;
    const tie = below('', model.fields.get(name)?.children?.field ?? '');
    // Of which row it is, was not sent; and one that is left out has no place.
    const sentWrong = index === undefined ? [] : violations?.filter(({ path }) => path !== tie);
    return new Refused({
      ...doing.own(refusal),
      ...(sentWrong && index !== undefined && { violations: sentWrong.map((one) => violationOfChild(name, index, one)) }),
    });
  };
  function make(work: Work, change: StoredChange, { fields, index }: SentChild): void {
    const given = withoutPrototype(fields);
    for (const tie of ties) given[tie] = change.after?.[change.model.identifier.field];
    const refusal = attempt(work, (own) => doing.act(own, undefined, given));
    if (refusal) throw refuse(refusal, change, index);
  }
  function alter(work: Work, change: StoredChange, { id, index, take }: ChangedChild): void {
    const refusal = attempt(work, (own) => {
      const row = own.rows.get(child.name, id);
      if (!row) return { when: 'reference.missing' };
      const found = { row, fields: child.parse(row), pass: freePass };
      const taken = take(own, found);
      return 'refusal' in taken ? taken.refusal : doing.change(own, found, taken);
    });
    if (refusal) throw refuse(refusal, change, index);
  }
  function remove(work: Work, change: StoredChange, id: string): void {
    // What another one took with it is gone already.
    if (!work.rows.get(child.name, id)) return;
    const refusal = attempt(work, (own) => doing.act(own, id, {}));
    if (refusal) throw refuse(refusal, change);
  }
  return (work, change) => {
    const sent: SentRows | undefined = change.children?.get(name);
    if (!sent) return;
    if (does?.verb === 'create') for (const one of sent.made) make(work, change, one);
    else if (does?.verb === 'update') for (const one of sent.changed) alter(work, change, one);
    else for (const id of sent.gone) remove(work, change, id);
  };
}
