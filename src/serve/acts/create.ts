import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Pass } from '../access/passing.ts';
import type { Compilation } from '../compilation.ts';
import { type Exchange, type Fields, Refused } from '../exchange.ts';
import { bare, copy } from '../json.ts';
import { identifierText, identifierValue } from '../rows/identifier.ts';
import type { RowModel } from '../rows/model.ts';
import { applySetters, asStored, insertRow } from '../rows/write.ts';
import { completeRow, newIdentifier } from '../sampling/sampled-rows.ts';
import { describeValue } from '../wire/violation.ts';
import type { Act, Hook, Models, Outcome, Pause, Work } from './act.ts';
import { refuse } from './act.ts';
import { compileMissingReference, compileSent, type MissingReference } from './body.ts';
import { compileLocator, type Locator } from './locate.ts';
import { compileOwnErrors, type OwnErrors } from './own-errors.ts';

/** What making a row needs, for create and for an upsert that finds none. */
export interface Maker {
  readonly model: RowModel;
  readonly operation: Operation;
  readonly words: readonly string[];
  readonly ownErrors: OwnErrors | undefined;
  readonly initial: ((scope: Work['scope']) => string | undefined) | undefined;
  readonly missingReference: MissingReference;
  readonly sampling: Compilation['sampling'];
}

export function compileMaker(operation: Operation, model: RowModel, compilation: Compilation): Maker {
  return {
    model,
    operation,
    words: [operation.name, 'create', 'write'],
    ownErrors: compileOwnErrors(operation, compilation),
    // Where it is open what a row starts in, a stand-in makes it up.
    initial: compilation.sampling && !model.machine?.hasInitial ? undefined : model.machine?.initial(operation.name),
    missingReference: compileMissingReference(compilation),
    sampling: compilation.sampling,
  };
}

/** Compiles `create RESOURCE`. */
export function compileCreate(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: Compilation,
): Act {
  const locator: Locator = compileLocator(endpoint, model, models, compilation);
  const sent = compileSent(endpoint, model, locator, compilation);
  const maker = compileMaker(operation, model, compilation);
  return (work: Work, exchange: Exchange, hook?: Hook) => {
    const pass = locator.enter(work, exchange);
    if ('refusal' in pass) return pass;
    const taken = sent(exchange);
    if ('refusal' in taken) return taken;
    return make(work, maker, taken.fields, undefined, hook, pass);
  };
}

/** Makes a row of what was sent: references, rules over it, state, the service's own errors, what is set and generated, then the row. */
export function make(
  work: Work,
  maker: Maker,
  sent: Fields,
  id: string | undefined,
  hook: Hook | undefined,
  pass: Pass,
): Outcome | Pause {
  const { model, operation, words, ownErrors, missingReference, sampling } = maker;
  for (const { field, value } of model.defaults) if (sent[field] === undefined) sent[field] = copy(value);
  const missing = missingReference(work, model, sent, undefined);
  if (missing) return { refusal: missing };
  const started = start(work, maker, sent);
  const generated = generate(work, model, started ?? sent);
  const hooked = hook?.next ?? generated;
  const forbidden = pass.settle(() => asStored(model.setters(words), { ...work.scope, next: hooked }, hooked));
  if (forbidden) return { refusal: forbidden };
  if (!started) return refuse('transition.illegal');
  if (hook && !hook.next) return { paused: { resource: undefined, next: generated } };
  const scope = { ...work.scope, next: hooked };
  const next = applySetters(model.setters(words), scope, hooked);
  const identifier = id ?? identify(work, maker, next);
  if (identifier === undefined) return refuse('request.invalid', { violations: [noIdentifier(model, next)] });
  next[model.identifier.field] = identifierValue(identifier, model.identifier.isInteger);
  const whole = sampling ? completeRow(sampling, work, model, identifier, next) : next;
  const own = ownErrors?.({ ...work.scope, next: whole });
  // What a stand-in made besides the row is undone with it.
  if (own && sampling) throw new Refused(own);
  if (own) return { refusal: own };
  const row = insertRow(work, model, identifier, whole, operation.name);
  return { did: 'created', row, fields: whole };
}

/** The state that a new row starts in; nothing where no target holds. */
function start(work: Work, { model, initial }: Maker, sent: Fields): Fields | undefined {
  if (!model.machine || !initial) return sent;
  const state = initial({ ...work.scope, next: sent });
  return state === undefined ? undefined : Object.assign(bare(sent), { [model.machine.field]: state });
}

function generate(work: Work, model: RowModel, fields: Fields): Fields {
  if (model.generated.length === 0) return fields;
  const next = bare(fields);
  for (const { field, make } of model.generated) if (next[field] === undefined) next[field] = make(work.draw);
  return next;
}

function identify(work: Work, { model, sampling }: Maker, next: Fields): string | undefined {
  const { generate: how, field } = model.identifier;
  // An identifier that was read off something is as likely as one that was made up: the same for the same seed.
  const isSeeded = sampling !== undefined && model.resource.identifier.standing === 'inferred';
  if (how.by === 'template') return isSeeded ? newIdentifier(sampling, work, model) : how.make(work.draw);
  if (how.by === 'sequence') return String(work.rows.next(model.name));
  const given = identifierText(next[field]);
  return given === undefined && how.by === 'open' && sampling ? newIdentifier(sampling, work, model) : given;
}

function noIdentifier(model: RowModel, next: Fields) {
  return {
    in: 'body' as const,
    path: `/${model.identifier.field}`,
    found: describeValue(next[model.identifier.field]),
    expected: `the identifier of the new ${model.name}, which a path can name`,
  };
}
