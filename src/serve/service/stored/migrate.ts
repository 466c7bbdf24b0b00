/** How what is stored is brought up to a document, in a service or in a store by itself. */

import { createHash } from 'node:crypto';
import { entriesOf } from '../../../parts/fact.ts';
import { uniquesOf } from '../../../parts/inner-values.ts';
import { namedSchema } from '../../../parts/schemas.ts';
import type { Spec } from '../../../parts/spec.ts';
import { Carries } from '../../../parts/versions/carries.ts';
import { type History, historyOf } from '../../../parts/versions/carry.ts';
import { Duplicates, StoreUnavailable } from '../../../store/failures.ts';
import type { Migration } from '../../../store/maintenance.ts';
import type { Reader, Renewal, Row, Store, StoredRecord } from '../../../store/store.ts';
import type { Compilation } from '../../exchange/compilation.ts';
import { systemClock } from '../../http/clock.ts';
import type { Models } from '../../resources/act.ts';
import { compileModels, type RowModel } from '../../resources/model.ts';
import { startViewCompilation } from '../../resources/view-compilation.ts';
import { changesAbove, levelOfRows, originOf, type RowsOrigin, readOrigin, renamedOrigin } from './origin.ts';
import { compileRenewal, MisfitCount, Misfits, requiredDefaults } from './renewing.ts';

/** How stored rows are brought up to a document. */
export interface MigrationOptions {
  /** The version that the rows are of, where the store does not say, or says what the document does not list. */
  readonly from?: string;
  /** Resources that are called otherwise from now on, with their rows. */
  readonly renamed?: readonly { readonly from: string; readonly to: string }[];
  /** Resources whose rows are given up. */
  readonly dropped?: readonly string[];
  /** Told what will be done before it is; where it throws, nothing is. */
  readonly before?: (plan: readonly string[]) => void | Promise<void>;
  /** Told now and then how many rows of a resource were gone through. */
  readonly progress?: (resource: string, done: number) => void;
  /** Find out what would come of it, and change nothing. */
  readonly isTrial?: boolean;
}

/** What is said of one migration alone is not said of the next. */
export function lastingOf({ before, progress }: MigrationOptions = {}): MigrationOptions {
  return { ...(before && { before }), ...(progress && { progress }) };
}

/** What bringing a store up to a document did, in words; nothing where it was as it is to be. */
export interface Migrated {
  readonly done: readonly string[];
  readonly renewed: number;
}

interface Migrating {
  readonly store: Store;
  readonly models: Models;
  readonly compilation: Compilation;
  readonly acceptMisfits: boolean;
  readonly options: MigrationOptions;
  readonly now: () => number;
}

/**
 * Brings a store up to a document, all of it or nothing: tables, columns and indexes; rows of older versions are carried up, required
 * fields that rows lack get their defaults; then each row has to fit.
 * @throws {Misfits} where rows are left that nothing carries, with what to do; the store is as it was then.
 */
export async function migrate(given: Migrating): Promise<Migrated> {
  for (let tries = 1; ; tries++) {
    try {
      return await migrateOnce(given);
    } catch (error) {
      // A session that ends takes all of it back, or it is all done: what is left to do is found out anew.
      if (!(error instanceof StoreUnavailable) || !given.store.shared || tries === triesMost) throw error;
    }
  }
}

const triesMost = 3;

async function migrateOnce(given: Migrating): Promise<Migrated> {
  const { store, models, compilation, acceptMisfits, options } = given;
  const { renamed = [], dropped = [] } = options;
  const history = historyOf(compilation.spec);
  const record = recordOf(models, compilation, history);
  const known = store.shared ? await store.shared.remembered(shapesKey) : await store.read((rows) => rows.record(shapesKey, 0));
  const origin = renamedOrigin(known && readOrigin(known.body), renamed);
  const beside = await leftOver(given, acceptMisfits);
  const isFit = known?.fingerprint === record.fingerprint && options.from === undefined && renamed.length === 0;
  const isSame = isFit && known.body === record.body;
  const hasRows = (!isSame || dropped.length > 0) && (await store.tablesBeside(dropped)).length > 0;
  const above = carriesOf(given, history, origin, isSame || !hasRows || (isFit && origin === undefined));
  const plan = [
    ...renamed.map(({ from, to }) => `The rows of ${from} become rows of ${to}.`),
    ...dropped.map((name) => `The rows of ${name} are given up.`),
    ...above.words,
    ...(isFit || !hasRows ? [] : filledWords(models, origin)),
  ];
  if (plan.length > 0) await options.before?.(plan);
  const misfits = new MisfitCount();
  const renewalOf = (model: RowModel) => compileRenewal(model, above.carries?.resource(model.name), misfits);
  const renewal: Renewal = {
    renamed,
    dropped,
    ...(options.isTrial && { isTrial: true }),
    ...(hasRows &&
      !(isFit && above.carries === undefined) && {
        rows: new Map([...models.values()].map((model) => [model.name, renewalOf(model)])),
      }),
    ...(options.progress && { progress: options.progress }),
    settle(rows, areOthers) {
      // It may be run again, and counts anew then.
      const all = misfits.copy();
      if (hasRows) countDangling(rows, models, origin, all);
      const unfit = all.rows;
      if (unfit.length > 0 && !acceptMisfits) throw new Misfits(unfit);
      if (options.isTrial) throw new Tried();
      const kept = unfit.length > 0 ? { ...record, fingerprint: '' } : record;
      // Another process may have brought the same document up meanwhile.
      const now = rows.record(shapesKey, 0);
      const isKept = now?.fingerprint === kept.fingerprint && now.body === kept.body;
      const documents = store.shared && (!isKept || areOthers) ? [[documentKey, documentRecord(compilation)] as const] : [];
      return [...(isKept ? [] : [[shapesKey, kept] as const]), ...documents];
    },
  };
  const done = await prepared(given, renewal);
  return { done: [...plan, ...beside], renewed: done?.renewed ?? 0 };
}

/** What is remembered of rows that fit. */
function recordOf(models: Models, compilation: Compilation, history: History | undefined): StoredRecord {
  const body = JSON.stringify(originOf(models, history));
  return { fingerprint: fingerprintOf(models, compilation), body, expiresMs: Number.MAX_SAFE_INTEGER };
}

/** Under which it is remembered which shapes every stored row is known to fit, and which document they are of. */
const shapesKey = 'shapes that all rows fit';

/** Under which the document is remembered that tables were last brought up to: processes that serve an older one go on with it. */
export const documentKey = 'document that tables are of';

function documentRecord({ spec: { document } }: Compilation): StoredRecord {
  const body = JSON.stringify({ ...document.tree, title: document.title });
  return { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER };
}

/** Takes back a trial. */
class Tried extends Error {}

async function prepared({ store, models, options }: Migrating, renewal: Renewal): Promise<Migration | undefined> {
  try {
    return await store.prepare(
      [...models.values()].map(({ table }) => table),
      (table, row) => columnsOf(models.get(table) as RowModel, row),
      renewal,
    );
  } catch (error) {
    if (error instanceof Tried && options.isTrial) return undefined;
    if (error instanceof Duplicates) throw new Misfits([], [duplicatesText(error, models)]);
    throw error;
  }
}

/** Rows are looked through only when what they have to fit has changed. */
function fingerprintOf(models: Models, { spec }: Compilation): string {
  const hash = createHash('sha256');
  for (const [name] of entriesOf(spec.resources.all)) hash.update(JSON.stringify([name, namedSchema(spec, `stored/${name}`)]));
  for (const { name, machines, resource } of models.values()) {
    hash.update(JSON.stringify([name, ...machines.flatMap(({ states }) => [...states])]));
    const rules = [
      ...Object.values(resource.rules).map((rule) => rule.if.source),
      ...resource.choices.map(({ fields }) => fields),
    ];
    if (rules.length > 0) hash.update(JSON.stringify(rules));
  }
  return hash.digest('base64url');
}

function columnsOf(model: RowModel, row: Row) {
  return model.columnsOf(model.parse(row));
}

/** What carries the rows up, and what it does to them in words; nothing where they are of the newest version. */
function carriesOf(
  { compilation, options, now }: Migrating,
  history: History | undefined,
  origin: RowsOrigin | undefined,
  isNewest: boolean,
): { readonly carries?: Carries; readonly words: readonly string[] } {
  if (!history) {
    if (options.from !== undefined)
      throw new Misfits([], [`The document lists no versions, so that no rows are of ${options.from}.`]);
    return { words: [] };
  }
  if (isNewest) return { words: [] };
  const { spec } = compilation;
  const newest = history.versions.at(-1)?.name ?? '';
  const found = levelOfRows(origin, history, new Carries(spec, history, newest, now).resources, options.from);
  if ('unknown' in found) throw new Misfits([], [found.unknown]);
  const { level } = found;
  const words = changesAbove(history, level);
  if (words.length === 0) return { words: [] };
  const open = history.openAbove(history.versions.findLast(({ name }) => history.levelOf(name) <= level)?.name ?? '')[0];
  if (open) throw new Misfits([], [`Nobody has said what version ${open.version} changed; state its changes, or none.`]);
  return {
    carries: new Carries(spec, { ...history, levelOf: () => level }, newest, now),
    words: words.map((text) => `${text}.`),
  };
}

/** Required fields with a default that the rows of the document before did not have. */
function filledWords(models: Models, origin: RowsOrigin | undefined): string[] {
  return [...models.values()].flatMap((model) => {
    const had = origin?.resources[model.name];
    if (origin && !had) return [];
    return requiredDefaults(model)
      .filter(({ field }) => !had?.fields.includes(field))
      .map(({ field, value }) => `${model.name}.${field} is ${JSON.stringify(value)} where a row has none.`);
  });
}

/** @throws {Misfits} for resources with rows that the document does not have. */
async function leftOver({ store, models, options }: Migrating, acceptMisfits: boolean): Promise<string[]> {
  const { renamed = [], dropped = [] } = options;
  const unknown = renamed.find(({ to }) => !models.has(to));
  if (unknown) throw new Misfits([], [`The document has no resource ${unknown.to} that rows could become.`]);
  const beside = await store.tablesBeside([...models.keys(), ...renamed.map(({ from }) => from), ...dropped]);
  const told = beside.map(
    ({ name, count }) => `${count} ${count === 1 ? 'row' : 'rows'} of ${name} are stored, which the document does not have.`,
  );
  if (told.length === 0 || acceptMisfits) return told;
  const name = beside[0]?.name ?? '';
  throw new Misfits(
    [],
    [...told, `Say what becomes of them: ninefold store migrate DOC --store FILE --rename ${name}=NEW, or --drop ${name}.`],
  );
}

function duplicatesText({ table, column, count, examples }: Duplicates, models: Models): string {
  const model = models.get(table);
  const rule = model && uniquesOf(model.resource)[Number(column.slice('unique '.length))];
  const held = examples.map((ids) => ids.join(' and ')).join('; ');
  const values = count === 1 ? '1 value' : `${count} values`;
  return `${table} is to be unique by ${rule?.fields.join(', ') ?? column}, and several rows hold ${values}: ${held}. Change or delete some of them first.`;
}

/** Counts rows whose references lead nowhere, of fields that refer to what they did not before. */
function countDangling(rows: Reader, models: Models, origin: RowsOrigin | undefined, misfits: MisfitCount): void {
  for (const model of models.values()) {
    for (const { field, target } of model.references) {
      if (origin?.resources[model.name]?.refs[field] === target || !models.has(target)) continue;
      if (!model.table.columns.some(({ name }) => name === field)) continue;
      const then = { column: 'id' };
      const where = {
        op: 'and' as const,
        of: [
          { op: 'not' as const, of: { op: 'absent' as const, of: { column: field } } },
          { op: 'absent' as const, of: { via: field, table: target, then } },
        ],
      };
      const found = rows.all({ table: model.name, where, limit: 0 }, [3]);
      if (found.length === 0) continue;
      const count = rows.count({ table: model.name, where }, []);
      for (const [index, row] of found.entries())
        misfits.add(model.name, row.id, `/${field} refers to no ${target}`, index === 0 ? count - found.length + 1 : 1);
    }
  }
}

export { backUp, flawsOf, restore } from '../../../store/sqlite/copies.ts';

/** Brings a store up to a sound document, as serving it would. @throws {Misfits} */
export function bringUp(spec: Spec, store: Store, options: MigrationOptions): Promise<Migrated> {
  const compilation = startViewCompilation(spec, entriesOf(spec.purpose.users)[0]?.[0], undefined);
  const models = compileModels(compilation, compilation.access);
  return migrate({ store, models, compilation, acceptMisfits: false, options, now: () => systemClock.now() });
}
