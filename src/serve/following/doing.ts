import type { FollowingEffect } from '../../parts/effects.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { followingName } from '../../parts/followed.ts';
import { type Operation, operationsOf } from '../../parts/operations.ts';
import type { Field } from '../../parts/resources.ts';
import { freePass, freeReading } from '../callers/operation-access.ts';
import { type Fields, type Refusal, Refused } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { Validate } from '../http/validation.ts';
import { type Changing, type Found, refuse, type TakenRow, type Work } from '../resources/act.ts';
import { compileMissingReference } from '../resources/body.ts';
import { compileMaker } from '../resources/create.ts';
import { compileRemoval } from '../resources/delete.ts';
import type { RowModel } from '../resources/model.ts';
import { compileFiring } from '../resources/transition.ts';
import { compileRowChange } from '../resources/update.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { carryThrough } from '../serve.ts';

/** What an act does, compiled: a whole operation, for which nobody is asked for leave. */
export interface Doing {
  readonly name: string;
  /** Does it, to the row with this identifier where there is to be one, and makes one under it; or says why not. @throws {Refused} */
  act(work: Work, id: string | undefined, given: Fields): Refusal | undefined;
  /** Does it to a row of which it is known what it becomes. @throws {Refused} */
  change(work: Work, found: Found, taken: TakenRow): Refusal | undefined;
  /** The refusal with the code that errors have for this act by its name. */
  own(refusal: Refusal): Refusal;
  validator(field: Field): Validate;
}

/** Compiles it; `given` are the fields that the act itself gives. */
export function compileDoing(does: FollowingEffect, given: readonly string[], model: RowModel, asked: ViewCompilation): Doing {
  const name = followingName(does);
  const compilation = withoutLeave(asked);
  const operation = operationsOf(compilation.spec).find((one) => one.name === name && one.follows) ?? { name };
  const change = does.verb === 'create' ? undefined : compileChanging(does, operation, given, model, compilation);
  const maker = does.verb === 'create' ? compileMaker(operation, model, compilation, given) : undefined;
  const making = maker && demandWhole(maker.change, name, compilation);
  return {
    name,
    own: compileOwnCodes(name, compilation),
    validator: ({ shape }) => compilation.validate(statedValue(shape) ?? {}, 'stored'),
    change: (work, found, taken) => (change ? carry(work, change.change, found, taken) : undefined),
    act(work, id, fields) {
      if (maker && making) {
        const taken = maker.take(work, fields);
        return 'refusal' in taken ? taken.refusal : carry(work, making, id === undefined ? nothing : { ...nothing, id }, taken);
      }
      const row = id === undefined ? undefined : work.rows.get(model.name, id);
      if (!row || !change) return refuse('reference.missing').refusal;
      const found: Found = { row, fields: model.parse(row), pass: freePass };
      const taken = change.take(work, found, fields);
      return 'refusal' in taken ? taken.refusal : carry(work, change.change, found, taken);
    },
  };
}

const nothing: Found = { row: undefined, fields: undefined, pass: freePass };

function carry(work: Work, change: Changing, found: Found, taken: TakenRow): Refusal | undefined {
  const outcome = carryThrough(work, change, found, taken);
  return 'refusal' in outcome ? outcome.refusal : undefined;
}

/** The same, where whoever made the change need not be able to read what follows refers to. */
function withoutLeave(compilation: ViewCompilation): ViewCompilation {
  return { ...compilation, access: { ...compilation.access, reading: () => freeReading } };
}

/** A change of a row that is there. */
interface RowDoing {
  readonly change: Changing;
  take(work: Work, found: Found, given: Fields): TakenRow | { readonly refusal: Refusal };
}

function compileChanging(
  does: FollowingEffect,
  operation: Operation,
  given: readonly string[],
  model: RowModel,
  compilation: ViewCompilation,
): RowDoing {
  const missing = compileMissingReference(compilation);
  const lacking = (work: Work, next: Fields, { fields }: Found) => missing(work, model, next, fields);
  if (does.verb === 'delete') {
    return { change: compileRemoval(operation, model, compilation), take: (_work, { fields }) => ({ next: { ...fields } }) };
  }
  if (does.verb === 'transition') {
    const firing = compileFiring(does.transition, operation, model, compilation, given);
    return {
      change: firing.change,
      take(work, found, fields) {
        const taken = firing.take(work, found);
        const next = withGiven(taken.next, fields, given);
        const refusal = lacking(work, next, found);
        return refusal ? { refusal } : { ...taken, next };
      },
    };
  }
  const change = compileRowChange(operation, model, 'update', compilation, { given });
  return {
    change: demandWhole(change, operation.name, compilation),
    take(work, found, fields) {
      const next = withGiven(found.fields ?? {}, fields, given);
      const refusal = lacking(work, next, found);
      return refusal ? { refusal } : { next };
    },
  };
}

/** What comes to nothing is taken out. */
function withGiven(before: Fields, fields: Fields, given: readonly string[]): Fields {
  const next = withoutPrototype(before);
  for (const name of given) {
    if (fields[name] === undefined) delete next[name];
    else next[name] = fields[name];
  }
  return next;
}

/** What follows has to be whole in itself; that it is not is no fault of the caller's. A stand-in makes up what is missing. */
function demandWhole(change: Changing, name: string, { standIn }: ViewCompilation): Changing {
  if (standIn) return change;
  const { model } = change;
  return {
    ...change,
    set(...of) {
      const next = change.set(...of);
      const [first] = model.validateStored(next);
      if (!first) return next;
      const message = `"${name}" follows, and what it comes to is not right: ${first.path || '/'} is ${first.found}, not ${first.expected}.`;
      throw new Refused({ when: 'internal', message });
    },
  };
}

/** The codes that errors have for one act by its name. What was wrong with its row is not in what the caller sent. */
function compileOwnCodes(name: string, { spec }: ViewCompilation): Doing['own'] {
  const codes = new Map<string, string>();
  for (const [code, { rules }] of entriesOf(spec.errors.codes)) {
    for (const { on, when } of rules) {
      if (on?.includes(name))
        for (const condition of statedValue(when) ?? []) if (!codes.has(condition)) codes.set(condition, code);
    }
  }
  return ({ violations: _violations, ...refusal }) => {
    const code = refusal.code ?? codes.get(refusal.when ?? '');
    return code === undefined ? refusal : { ...refusal, code };
  };
}
