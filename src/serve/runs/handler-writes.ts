import { type Operation, operationsOf } from '../../parts/operations.ts';
import { freePass } from '../access/passing.ts';
import type { Outcome, Pause, Work } from '../acts/act.ts';
import { compileFiring } from '../acts/transition.ts';
import type { Engine } from '../engine.ts';
import { type Fields, Refused } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import { removeRow } from '../rows/remove.ts';
import { applySetters, insertRow, updateRow } from '../rows/write.ts';
import { fire } from '../serve.ts';
import type { Validate } from '../wire/ajv.ts';
import type { Wanted } from './collected.ts';

/** Applies one thing that a handler wants stored. @throws {Refused} or our own failure where it does not fit the document. */
export function applyWanted(work: Work, wanted: Wanted, operation: Operation, engine: Engine): void {
  const model = engine.models.get(wanted.resource);
  if (!model) throw new Error(`${wanted.resource} is no resource of this document.`);
  if (wanted.kind === 'create') {
    create(work, model, wanted, operation);
    return;
  }
  const row = work.rows.get(model.name, wanted.id);
  if (!row) throw new Refused({ when: 'resource.missing' });
  const before = model.parse(row);
  if (wanted.kind === 'delete') removeRow(work, model, row, before, `delete ${model.name}`);
  else if (wanted.kind === 'fire')
    demandFired(fire(work, firing(engine, wanted.transition, model), { row, fields: before, pass: freePass }));
  else update(work, model, row, before, wanted, operation);
}

function create(work: Work, model: RowModel, wanted: Extract<Wanted, { kind: 'create' }>, operation: Operation): void {
  const draft: Fields = { ...wanted.fields };
  const state = model.machine?.initial(operation.name)({ ...work.scope, next: draft });
  demandState(model, draft, state, 'starts in');
  const next = applySetters(model.setters([operation.name, 'create', 'write']), { ...work.scope, next: draft }, draft);
  demandValid(model.validateStored, next, `The ${model.name} that a handler creates`);
  insertRow(work, model, wanted.id, next, `create ${model.name}`);
}

function update(
  work: Work,
  model: RowModel,
  row: Parameters<typeof updateRow>[2],
  before: Fields,
  wanted: Extract<Wanted, { kind: 'update' }>,
  operation: Operation,
): void {
  const draft: Fields = { ...before };
  for (const [field, value] of Object.entries(wanted.patch)) {
    if (value === null || value === undefined) delete draft[field];
    else draft[field] = value;
  }
  const { field } = model.identifier;
  if (draft[field] !== before[field]) throw new Error(`A handler changed ${field} of a ${model.name}, which it is known by.`);
  demandState(model, draft, model.machine && before[model.machine.field], 'is in');
  const scope = { ...work.scope, resource: before, next: draft };
  const next = applySetters(model.setters([operation.name, 'update', 'write']), scope, draft);
  demandValid(model.validateStored, next, `The ${model.name} that a handler changes`);
  updateRow(work, model, row, before, next, row.entered, `update ${model.name}`);
}

/** A state is written by transitions alone: a handler fires one. */
function demandState(model: RowModel, fields: Fields, state: unknown, verb: string): void {
  if (!model.machine || fields[model.machine.field] === state) return;
  const { field } = model.machine;
  throw new Error(`A handler wrote ${field} of a ${model.name}, which ${verb} ${String(state)}: fire a transition instead.`);
}

function firing(engine: Engine, transition: string, model: RowModel) {
  const name = `${transition} ${model.name}`;
  const operation = operationsOf(engine.compilation.spec).find((candidate) => candidate.name === name) ?? {
    name,
    resource: model.name,
  };
  return compileFiring(transition, operation, model, engine.compilation);
}

function demandFired(outcome: Outcome | Pause): void {
  if ('refusal' in outcome) throw new Refused(outcome.refusal);
}

function demandValid(validate: Validate, fields: Fields, what: string): void {
  const first = validate(fields)[0];
  if (first) throw new Error(`${what} is not right: ${first.path || '/'} is ${first.found}, not ${first.expected}.`);
}
