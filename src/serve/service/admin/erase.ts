import type { Json, JsonMap } from '../../../document/document.ts';
import { isPersonal } from '../../../kinds/formats/all.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import type { Resource } from '../../../parts/resources.ts';
import type { Spec } from '../../../parts/spec.ts';
import { needlesOf } from '../../../store/maintenance.ts';
import type { Row, Transaction } from '../../../store/store.ts';
import { operationsOn } from '../../callers/rules.ts';
import { type Caller, type Fields, Refused } from '../../exchange/exchange.ts';
import { type Models, ownWork, type Work } from '../../resources/act.ts';
import { removeRow } from '../../resources/delete.ts';
import { forgetDeleted } from '../../resources/kept-row.ts';
import { compileModels, type RowModel } from '../../resources/model.ts';
import { drawOnce } from '../../resources/setters.ts';
import { startViewCompilation } from '../../resources/view-compilation.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';

/**
 * Takes a person out of the data for good. `erase { user?, id?, rows?: ["resource/id"], texts?, confirmed? }`: without `confirmed` it only
 * says what would go. Nothing is emitted about it, for an event would tell what is to be forgotten.
 */
export const eraseCommands: readonly AdminCommand[] = [{ name: 'erase', notes: ['erased'], run: erase }];

/** Who and what is meant. */
interface Meant {
  readonly user: string | undefined;
  readonly id: string | undefined;
  readonly rows: readonly string[];
  readonly texts: readonly string[];
}

interface OwnRow {
  readonly model: RowModel;
  readonly row: Row;
  readonly fields: Fields;
}

const pageMost = 500;

async function erase(input: JsonMap, over: Administered): Promise<Json> {
  const meant = meantBy(input);
  const models = over.engine?.().models ?? (await modelsOf(over));
  const isConfirmed = input.confirmed === true;
  const draw = drawOnce(over.chance, over.clock.now());
  const told = await over.store
    .change((rows) => {
      const done = eraseIn(ownWork(rows, models, draw, 'erase'), meant, over.spec());
      if (!isConfirmed) throw new Rehearsal(done);
      return done;
    })
    .catch((failure: unknown) => {
      if (failure instanceof Rehearsal) return failure.told;
      throw failure;
    });
  if (!isConfirmed) return { ...told, erased: false };
  over.credentials.changed();
  over.engine?.().events.recorded({ reached: new Set(), subscribers: told.rows.map((row) => row.slice(row.indexOf('/') + 1)) });
  await over.store.compact();
  return { ...told, erased: true };
}

/** Takes everything back, and tells what would have gone. */
class Rehearsal {
  readonly told: Told;
  constructor(told: Told) {
    this.told = told;
  }
}

function meantBy(input: JsonMap): Meant {
  const text = (name: string): string | undefined => {
    const value = input[name];
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw new Unfit(`${name} is a text.`);
  };
  const texts = (name: string): string[] => {
    const list = input[name] ?? [];
    if (Array.isArray(list) && list.every((one): one is string => typeof one === 'string' && one !== '')) return list;
    throw new Unfit(`${name} is a list of texts.`);
  };
  const meant = { user: text('user'), id: text('id'), rows: texts('rows'), texts: texts('texts') };
  const short = meant.texts.find((one) => one.length < shortestText);
  if (short !== undefined) throw new Unfit(`"${short}" stands in too much: give a text of at least ${shortestText} characters.`);
  if (meant.id === undefined && meant.rows.length === 0)
    throw new Unfit('Say who: by the identifier of the caller, or by a row, as in member/m1.');
  return meant;
}

const shortestText = 4;

/** The resources as they are kept, where no service runs. */
async function modelsOf({ spec, store }: Administered): Promise<Models> {
  const compilation = startViewCompilation(spec(), undefined, undefined);
  const models = compileModels(compilation, compilation.access);
  await store.prepare(
    [...models.values()].map(({ table }) => table),
    (table, row) => (models.get(table) as RowModel).columnsOf((models.get(table) as RowModel).parse(row)),
  );
  return models;
}

/** What went, and what names the person still. */
interface Told {
  readonly [name: string]: Json;
  /** As `resource/id`. */
  readonly rows: readonly string[];
}

function eraseIn(work: Work, meant: Meant, spec: Spec): Told {
  const own = ownRows(work, meant, spec);
  removeAll(work, own);
  const gone = work.stored.filter(({ after: next }) => next === undefined);
  const identifiers = [
    ...(meant.id === undefined ? [] : [meant.id]),
    ...gone.filter(({ model }) => !model.identifier.isInteger).map(({ id }) => id),
  ];
  const texts = [...new Set([...meant.texts, ...gone.flatMap(({ model, before }) => tellingTexts(model, before ?? {}))])];
  const erased = work.rows.erase({
    rows: gone.map(({ model, id }) => ({ resource: model.name, id })),
    identifiers: [...new Set(identifiers)],
    texts,
  });
  for (const { model, id } of gone) forgetDeleted(work.rows, model, id);
  const unlogged = removeLogged(work, needlesOf({ identifiers: [...new Set(identifiers)], texts }));
  const keys = removeKeys(work.rows, meant);
  return {
    rows: gone.map(({ model, id }) => `${model.name}/${id}`),
    ...erased,
    ...(unlogged !== undefined && { logged: unlogged }),
    keys,
    left: leftIn(work, identifiers, texts),
  };
}

/** Removes the rows of the log of events that tell of a person; how many, and nothing where there is no log. */
function removeLogged(work: Work, needles: readonly string[]): number | undefined {
  const log = [...work.models.values()].find(({ isLog }) => isLog);
  if (!log) return undefined;
  const telling: Row[] = [];
  eachRow(work, log, (row) => {
    if (needles.some((needle) => row.doc.includes(needle))) telling.push(row);
  });
  for (const row of telling) if (work.rows.get(log.name, row.id)) removeRow(work, log, row, log.parse(row), `erase ${log.name}`);
  return telling.length;
}

/**
 * The rows of a person: those that are named; the one that an operation with `identity: caller.id` reads; those with a field that is set
 * to the caller's identifier by an operation that the user may call; and subscribers that it made.
 */
function ownRows(work: Work, { user, id, rows }: Meant, spec: Spec): OwnRow[] {
  const found = new Map<string, OwnRow>();
  const add = (model: RowModel, row: Row) => found.set(`${model.name}/${row.id}`, { model, row, fields: model.parse(row) });
  for (const name of rows) {
    const [resource = '', key = ''] = [name.slice(0, name.indexOf('/')), name.slice(name.indexOf('/') + 1)];
    const model = work.models.get(resource);
    if (!model) throw new Unfit(`${name} names no resource of the document: write it as resource/id.`);
    const row = work.rows.get(resource, key);
    if (!row) throw new Unfit(`There is no ${name}.`);
    add(model, row);
  }
  if (id === undefined) return [...found.values()];
  const makers = statedValue(spec.events.delivery)?.push?.subscribers?.resource;
  for (const model of work.models.values()) {
    const fields = ownerFields(spec, model.resource, user);
    const accounts = operationsOn(spec, model.name, 'read').filter(({ endpoint }) => isCallerId(endpoint?.identity?.source));
    const isAccount = accounts.some((operation) => isAllowed(spec, operation, user));
    if (isAccount) {
      const row = work.rows.get(model.name, id);
      if (row) add(model, row);
    }
    if (fields.length === 0 && model.name !== makers) continue;
    eachRow(work, model, (row) => {
      const stored = model.parse(row);
      if (fields.some((name) => stored[name] === id) || (model.name === makers && isMadeBy(work, row.id, user, id)))
        add(model, row);
    });
  }
  return [...found.values()];
}

function eachRow(work: Work, model: RowModel, see: (row: Row) => void): void {
  for (let last = 0; ; ) {
    const page = work.rows.scan(model.name, last, pageMost);
    for (const row of page) see(row);
    last = page.at(-1)?.seq ?? last;
    if (page.length < pageMost) return;
  }
}

/** The fields that say whose a row is. */
function ownerFields(spec: Spec, resource: Resource, user: string | undefined): string[] {
  const makes = ['create', 'upsert'].flatMap((verb) => operationsOn(spec, resource.name, verb));
  if (!makes.some((operation) => isAllowed(spec, operation, user))) return [];
  return entriesOf(resource.fields).flatMap(([name, { set }]) =>
    Object.values(set).some((expression) => isCallerId(expression?.source)) ? [name] : [],
  );
}

/** Whether a user may do something at all; nobody in particular may do everything. */
function isAllowed(spec: Spec, operation: Operation, user: string | undefined): boolean {
  const rules = statedValue(spec.authentication.permissions);
  if (user === undefined || rules === undefined) return true;
  return rules.some(({ allow, to }) => namesOperation(allow, operation) && (to === 'anyone' || to.includes(user)));
}

function isCallerId(source: string | undefined): boolean {
  return source?.trim() === 'caller.id';
}

function isMadeBy(work: Work, subscriber: string, user: string | undefined, id: string): boolean {
  // What is kept there is written by the subscribers' own part.
  const { maker } = JSON.parse(work.rows.outbox.subscriber(subscriber) ?? '{}') as { readonly maker?: Caller };
  return maker?.id === id && (user === undefined || maker.user === user);
}

/** Removes rows with what goes with them; one that another of them holds goes after it. @throws {Unfit} where somebody else's holds one. */
function removeAll(work: Work, own: readonly OwnRow[]): void {
  let left = own;
  while (left.length > 0) {
    let held: string | undefined;
    const again = left.filter(({ model, row, fields }) => {
      if (!work.rows.get(model.name, row.id)) return false;
      try {
        removeRow(work, model, row, fields, `erase ${model.name}`);
        return false;
      } catch (failure) {
        if (!(failure instanceof Refused)) throw failure;
        held = `${model.name}/${row.id} is still referred to: ${failure.refusal.message ?? 'delete what refers to it first.'}`;
        return true;
      }
    });
    if (again.length === left.length)
      throw new Unfit(`${held} Delete that first, or name it too: --row RESOURCE/ID. Nothing was erased.`);
    left = again;
  }
}

/** Texts of a row by which somebody is known wherever they stand: addresses of mail, telephone numbers. */
function tellingTexts({ fields }: RowModel, row: Fields): string[] {
  return [...fields.values()].flatMap(({ name, shape }) => {
    const value = row[name];
    const isTelling = isPersonal(statedValue(shape)?.format);
    return isTelling && typeof value === 'string' && value.length >= shortestText ? [value] : [];
  });
}

function removeKeys(rows: Transaction, { user, id }: Meant): number {
  if (id === undefined) return 0;
  let removed = 0;
  for (let last = ''; ; ) {
    const page = rows.credentials({ after: last, most: pageMost });
    const end = page.at(-1);
    if (!end) return removed;
    last = end.name;
    for (const one of page) {
      if (one.caller !== id || (user !== undefined && one.user !== user)) continue;
      rows.removeCredential(one.name, one.serial);
      removed += 1;
    }
  }
}

const leftMost = 100;

/** Rows of others that name the person still: what becomes of them is for somebody to decide. */
function leftIn(work: Work, identifiers: readonly string[], texts: readonly string[]): string[] {
  const needles = [...identifiers.map((id) => JSON.stringify(id)), ...texts.map((text) => JSON.stringify(text).slice(1, -1))];
  const left: string[] = [];
  for (const model of work.models.values())
    eachRow(work, model, ({ id, doc }) => {
      if (left.length < leftMost && needles.some((needle) => doc.includes(needle))) left.push(`${model.name}/${id}`);
    });
  return left;
}
