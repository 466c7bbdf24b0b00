import type { Json } from '../../document/document.ts';
import { entriesOf } from '../../parts/fact.ts';
import { type Fields, Refused } from '../exchange/exchange.ts';
import type { Engine } from '../operations/engine.ts';
import { ownWork, type Work } from '../resources/act.ts';
import { insertRow, newIdentifierOf } from '../resources/create.ts';
import { identifierValue, type RowModel } from '../resources/model.ts';
import { drawOnce } from '../resources/setters.ts';
import type { StandIn } from '../resources/stand-in.ts';
import { misfitOf } from './stored/renewing.ts';

/** Rows that cannot be made as they are given; the message names the resource, the row and the field. */
export class BadRows extends Error {}

/** Makes the rows that a service starts with, in one change: all of them or none. One whose identifier is there already is left as it is. */
export async function seedRows(
  engine: Engine,
  rows: Readonly<Record<string, readonly Readonly<Record<string, Json>>[]>>,
): Promise<number> {
  const nowMs = engine.clock.now();
  const { standIn } = engine.compilation;
  const draw = drawOnce(engine.chance, nowMs);
  return engine.store.change((tx) => {
    const work = ownWork(tx, engine.models, draw, 'start');
    let made = 0;
    for (const [resource, list] of Object.entries(rows)) {
      const model = engine.models.get(resource);
      if (!model)
        throw new BadRows(`"${resource}" is no resource that is kept; there are ${[...engine.models.keys()].join(', ')}.`);
      for (const [index, row] of list.entries())
        if (seedRow(work, model, standIn, { ...row }, `${resource}[${index}]`)) made += 1;
    }
    demandReferences(work, rows);
    return made;
  });
}

/** Makes the rows that a document states, where they are not there. @throws {BadRows} where one does not fit. */
export async function seedStated(engine: Engine): Promise<void> {
  const stated = entriesOf(engine.compilation.spec.resources.all).flatMap(([name, { rows }]) =>
    rows && rows.length > 0 ? [[name, rows.map(({ fields }) => fields)] as const] : [],
  );
  if (stated.length > 0) await seedRows(engine, Object.fromEntries(stated));
}

function seedRow(work: Work, model: RowModel, standIn: StandIn | undefined, row: Fields, place: string): boolean {
  const { field, generate } = model.identifier;
  const given = row[field];
  const made = given === undefined ? newIdentifierOf(work, model, standIn, row) : String(given);
  if (made === undefined && generate.by === 'client') throw new BadRows(`${place} has no ${field}.`);
  const id = made ?? String(work.rows.next(model.name));
  if (work.rows.get(model.name, id)) return false;
  const fields: Fields = {
    ...Object.fromEntries(model.defaults.map(({ field: name, value }) => [name, value])),
    ...row,
    [field]: identifierValue(id, model.identifier.isInteger),
  };
  for (const { field: name, make } of model.generated) fields[name] ??= make(work.draw);
  for (const { field: state, initial } of model.machines)
    fields[state] ??= initial(`create ${model.name}`)({ ...work.scope, next: fields })?.state;
  fillTimes(work, model, fields);
  const wrong = misfitOf(model, fields);
  if (wrong !== undefined) throw new BadRows(`${place} does not fit ${model.name}: ${wrong}.`);
  try {
    insertRow(work, model, id, fields, `create ${model.name}`);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    if (failure.refusal.when === 'limit.quota')
      throw new BadRows(`${place} is one too many: the document allows no more rows of ${model.name} that count as it does.`);
    throw new BadRows(
      `${place} does not fit ${model.name}: ${failure.refusal.violations?.map(({ path }) => path.slice(1)).join(', ') ?? 'it'} is taken by another row.`,
    );
  }
  return true;
}

/** Fields that creation sets are set where a row does not give them and they can be set without a caller. */
function fillTimes(work: Work, model: RowModel, fields: Fields): void {
  for (const { field, evaluate } of model.setters([`create ${model.name}`, 'create', 'write'])) {
    if (fields[field] !== undefined) continue;
    const value = evaluate({ ...work.scope, next: fields });
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') fields[field] = value;
  }
}

function demandReferences(work: Work, rows: Readonly<Record<string, readonly Readonly<Record<string, Json>>[]>>): void {
  for (const [resource, list] of Object.entries(rows)) {
    const model = work.models.get(resource);
    for (const [index, row] of list.entries()) {
      const missing = model
        ?.findReferences?.(row)
        .find(({ target, id }) => work.models.has(target) && !work.rows.get(target, id));
      if (missing)
        throw new BadRows(
          `${resource}[${index}]${missing.path.replaceAll('/', '.')} refers to the ${missing.target} ${missing.id}, which is not there.`,
        );
    }
  }
}
