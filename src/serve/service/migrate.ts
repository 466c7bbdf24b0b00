import { createHash } from 'node:crypto';
import { entriesOf } from '../../parts/fact.ts';
import { namedSchema } from '../../parts/schemas.ts';
import type { Row, Store } from '../../store/store.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Fields } from '../exchange/exchange.ts';
import type { Models } from '../resources/act.ts';
import type { RowModel } from '../resources/model.ts';
import { Misfits } from './service.ts';

/** Brings a store up to a document: tables, columns, indexes; then counts the rows that do not fit it any more. Nothing is dropped. */
export async function migrate(store: Store, models: Models, compilation: Compilation, acceptMisfits: boolean): Promise<void> {
  await store.prepare(
    [...models.values()].map(({ table }) => table),
    (table, row) => columnsOf(models.get(table) as RowModel, row),
  );
  if (acceptMisfits || !(await store.read((rows) => [...models.keys()].some((name) => rows.scan(name, 0, 1).length > 0)))) return;
  const fingerprint = fingerprintOf(models, compilation);
  const known = await store.read((rows) => rows.record(shapesKey, 0));
  if (known?.fingerprint === fingerprint) return;
  await refuseMisfits(store, models);
  await store.change((rows) => rows.keep(shapesKey, { fingerprint, body: '', expiresMs: Number.MAX_SAFE_INTEGER }));
}

/** Under which the shapes are remembered that every stored row is known to fit. */
const shapesKey = 'shapes that all rows fit';

/** Rows are looked through only when what they have to fit has changed. */
function fingerprintOf(models: Models, { spec }: Compilation): string {
  const hash = createHash('sha256');
  for (const [name] of entriesOf(spec.resources.all)) hash.update(JSON.stringify([name, namedSchema(spec, `stored/${name}`)]));
  for (const { name, machine } of models.values()) hash.update(JSON.stringify([name, ...(machine?.states ?? [])]));
  return hash.digest('base64url');
}

function columnsOf(model: RowModel, row: Row) {
  return model.columnsOf(model.parse(row));
}

/** How many misfits are told of each resource. */
const examplesMost = 3;

async function refuseMisfits(store: Store, models: Models): Promise<void> {
  const misfits: Misfits['rows'][number][] = [];
  for (const model of models.values()) {
    const examples: string[] = [];
    let count = 0;
    for await (const row of rowsOf(store, model)) {
      const wrong = misfitOf(model, model.parse(row));
      if (wrong === undefined) continue;
      count += 1;
      if (examples.length < examplesMost) examples.push(`${row.id}: ${wrong}`);
    }
    if (count > 0) misfits.push({ resource: model.name, count, examples });
  }
  if (misfits.length > 0) throw new Misfits(misfits);
}

/** What is wrong with a stored row, in a few words. */
export function misfitOf(model: RowModel, fields: Fields): string | undefined {
  const violation = model.validateStored(fields)[0];
  if (violation) return `${violation.path === '' ? 'it' : violation.path} is ${violation.found}, not ${violation.expected}`;
  const state = model.machine && fields[model.machine.field];
  if (model.machine && model.machine.states.size > 0 && !(typeof state === 'string' && model.machine.states.has(state))) {
    return `its state ${String(state)} is none of ${[...model.machine.states].join(', ')}`;
  }
  return undefined;
}

async function* rowsOf(store: Store, model: RowModel): AsyncGenerator<Row> {
  for (let after = 0; ; ) {
    const page = await store.read((rows) => rows.scan(model.name, after, 1000));
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
  }
}
