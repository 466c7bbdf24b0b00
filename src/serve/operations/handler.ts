import type { Answer } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf } from '../../parts/left-out.ts';
import { type Operation, operationsOf } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import { freePass } from '../callers/operation-access.ts';
import {
  type Exchange,
  type Fields,
  type Keyed,
  type OperationRun,
  type Refusal,
  Refused,
  refusalReply,
  type Value,
} from '../exchange/exchange.ts';
import { compilePrune } from '../exchange/visibility.ts';
import type { Reply } from '../http/call.ts';
import { sentTypes } from '../http/media-type.ts';
import { headerText } from '../http/send.ts';
import type { Validate } from '../http/validation.ts';
import { changeFor, type Outcome, type Pause, readFor, type Work, workFor } from '../resources/act.ts';
import { compileStatedBody } from '../resources/body.ts';
import { insertRow, updateRow } from '../resources/create.ts';
import { removeRow } from '../resources/delete.ts';
import { compileBegin } from '../resources/kept-row.ts';
import { compilePathGuard } from '../resources/locate.ts';
import type { RowModel } from '../resources/model.ts';
import { compileOwnErrors } from '../resources/precondition.ts';
import { applySetters } from '../resources/setters.ts';
import { compileFiring } from '../resources/transition.ts';
import { fire } from '../serve.ts';
import { answerScope, compileHeaders, encodeReply } from './answers.ts';
import { idempotencyKey, keep, replay } from './change.ts';
import type { Engine } from './engine.ts';
import { type HandlerEffects, handlerContext, isUnchanged, triesMax, type WantedChange } from './handler-context.ts';
import type { Handler } from './handlers.ts';

/**
 * Compiles `handler NAME` (section 8 of the language): the handler runs outside the transaction; what it read is checked
 * by revision and what it wrote is applied in one; on a conflict it runs again.
 */
export function compileHandlerRun(operation: Operation, endpoint: Endpoint, handler: Handler, engine: Engine): OperationRun {
  const early = compileEarly(operation, endpoint, engine);
  const attempt = compileAttempt(operation, endpoint, handler, engine);

  async function replayed(exchange: Exchange, keyed: Keyed): Promise<Reply | undefined> {
    const found = await engine.store.read((rows) => replay(rows, keyed, exchange.nowMs));
    return found && ('refusal' in found ? refusalReply(exchange, found.refusal) : found);
  }

  return async (exchange) => {
    const keyed = idempotencyKey(endpoint.idempotency, exchange, engine);
    if (keyed && 'refusal' in keyed) return refusalReply(exchange, keyed.refusal);
    if (keyed) {
      if (engine.inFlight.has(keyed.key)) return refusalReply(exchange, { when: 'idempotency.busy' });
      engine.inFlight.add(keyed.key);
      exchange.deadline?.whenOver(() => engine.inFlight.delete(keyed.key));
    }
    try {
      const known = keyed && (await replayed(exchange, keyed));
      if (known) return known;
      const bad = await early(exchange);
      if (bad) throw new Refused(bad);
      for (let tries = 0; tries < triesMax; tries++) {
        const done = await attempt(exchange, keyed);
        if (done === 'conflict') {
          exchange.deadline?.release();
          continue;
        }
        engine.timersChanged();
        engine.events.recorded(exchange.recorded);
        return done;
      }
      return refusalReply(exchange, { when: 'write.conflict' });
    } catch (failure) {
      if (!(failure instanceof Refused)) throw failure;
      const reply = refusalReply(exchange, failure.refusal);
      if (keyed && failure.refusal.code !== undefined)
        await engine.store.change((rows) => keepInTime(rows, exchange, keyed, reply));
      return reply;
    } finally {
      // Once its time was over the key was let go of, and may be another request's.
      if (keyed && !exchange.deadline?.isOver) engine.inFlight.delete(keyed.key);
    }
  };
}

/** What is refused before the handler runs; the service's own errors that it knows itself it fails with. */
function compileEarly(
  operation: Operation,
  endpoint: Endpoint,
  engine: Engine,
): (exchange: Exchange) => Promise<Refusal | undefined> {
  const { compilation, models } = engine;
  const badBody = compileStatedBody(endpoint, compilation);
  const ownErrors = compileOwnErrors(operation, compilation);
  const access = compilation.access.of(operation, compilation.user);
  const lost = compilePathGuard(endpoint, models, compilation);
  return async (exchange) =>
    readFor(engine, exchange, (rows, draw) => {
      const work = workFor(rows, models, exchange, draw);
      const missing = lost?.(work, exchange);
      if (missing) return missing;
      const pass = access.enter(work.scope, undefined);
      if ('refusal' in pass) return pass.refusal;
      return badBody(work, exchange) ?? pass.settle() ?? ownErrors?.(work.scope);
    });
}

/** One run of the handler, and the change that applies what it wrote. */
function compileAttempt(
  operation: Operation,
  endpoint: Endpoint,
  handler: Handler,
  engine: Engine,
): (exchange: Exchange, keyed: Keyed | undefined) => Promise<Reply | 'conflict'> {
  const answer = compileHandlerAnswer(endpoint, engine);
  const spend = engine.limits.spendOf(operation);
  return async (exchange, keyed) => {
    const { context, collected } = handlerContext(engine, exchange, undefined, {});
    const value = await handler(context);
    const reply = answer(exchange, value, makesSecret(collected, engine));
    const again = keyed ? answer(exchange, value, false) : reply;
    const isWriting = collected.writes.length > 0 || collected.emitted.length > 0;
    if (isWriting && exchange.mayNotWrite) return refusalReply(exchange, { when: 'caller.forbidden.user' });
    if (!isWriting && !keyed && !spend) return reply;
    return changeFor(engine, exchange, (rows, draw) => {
      exchange.deadline?.apply();
      const replayed = keyed && replay(rows, keyed, exchange.nowMs);
      if (replayed) return 'refusal' in replayed ? refusalReply(exchange, replayed.refusal) : replayed;
      if (!isUnchanged(rows, collected)) return 'conflict';
      const work = workFor(rows, engine.models, exchange, draw);
      for (const wanted of collected.writes) applyWanted(work, wanted, operation, engine);
      spend?.(rows, exchange, reply.status);
      exchange.recorded = engine.events.record(work, exchange.caller, collected.emitted);
      if (keyed) keep(rows, keyed, again);
      return reply;
    });
  };
}

/** Whether a run makes a secret that is revealed once: a row that has one, or a new value of it. */
function makesSecret({ writes }: HandlerEffects, { models }: Engine): boolean {
  return writes.some((wanted) => {
    const secrets = [...(models.get(wanted.resource)?.fields.values() ?? [])].filter(({ reveal }) => reveal === 'once');
    if (wanted.kind === 'update') return secrets.some(({ name }) => Object.hasOwn(wanted.patch, name));
    if (wanted.kind === 'fire') return secrets.some(({ set }) => set[wanted.transition] !== undefined);
    return wanted.kind === 'create' && secrets.length > 0;
  });
}

function keepInTime(rows: Transaction, { deadline }: Exchange, keyed: Keyed, reply: Reply): void {
  deadline?.apply();
  keep(rows, keyed, reply);
}

/** The answer of a handler is validated before it leaves; one that does not fit is our failure, not the caller's. */
function compileHandlerAnswer(endpoint: Endpoint, engine: Engine): (exchange: Exchange, value: Value, reveals: boolean) => Reply {
  const { compilation } = engine;
  const { spec, user } = compilation;
  const pruneOf = ({ shape }: Answer, reveals: boolean) =>
    isStated(shape) ? compilePrune(spec, shape.value, { user, reveals, leftOut: leftOutOf(spec, { user }) }) : undefined;
  const answers = (statedValue(endpoint.response) ?? []).filter(({ status }) => /^[23]\d\d$/.test(status));
  const candidates = answers.map((answer) => ({
    status: Number(answer.status),
    headersOf: compileHeaders(answer, endpoint.operation, compilation),
    hasBody: isStated(answer.shape) && answer.status !== '204',
    validate: isStated(answer.shape) ? compilation.validate(answer.shape.value, 'shown') : undefined,
    carry: isStated(answer.shape) ? compilation.version?.carries.expanding.shape(answer.shape.value) : undefined,
    prune: pruneOf(answer, false),
    pruneRevealing: pruneOf(answer, true),
  }));
  const types = sentTypes(endpoint.produces);
  return (exchange, value, reveals) => {
    const own = isOwnAnswer(value) ? value : undefined;
    const body = own ? own.body : value;
    const candidate = own ? candidates.find(({ status }) => status === own.status) : candidates[0];
    if (!candidate)
      throw new Error(
        `The handler of "${exchange.plan.operation.name}" answered ${own ? own.status : 'something'}, which ${endpoint.key} does not state.`,
      );
    const stated = candidate.headersOf({ ...exchange.params, ...answerScope(exchange), result: body });
    if (typeof stated === 'string') throw new Error(stated);
    // What the handler says itself stands before what is reckoned.
    const headers: Record<string, string> = { ...stated };
    for (const [name, text] of Object.entries(own?.headers ?? {})) headers[name] = headerText(text);
    if (!candidate.hasBody) return { status: candidate.status, headers, body: undefined };
    const copy = typeof body === 'object' && body !== null && !(body instanceof Uint8Array) ? structuredClone(body) : body;
    (reveals ? candidate.pruneRevealing : candidate.prune)?.(copy);
    const violation = copy instanceof Uint8Array ? undefined : candidate.validate?.(copy)[0];
    if (violation) {
      throw new Error(
        `The handler of "${exchange.plan.operation.name}" answered what ${endpoint.key} does not state: ${violation.path || '/'} is ${violation.found}, not ${violation.expected}.`,
      );
    }
    const told = candidate.carry ? candidate.carry.down(copy) : copy;
    const isStructured = typeof told === 'object' && told !== null && !(told instanceof Uint8Array);
    return encodeReply(candidate.status, headers, told, isStructured ? types.structured : types.other);
  };
}

/** A handler that wants another status than the first stated one answers with an `Answer`. */
export class HandlerAnswer {
  readonly status: number;
  readonly body: Value;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, body?: Value, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

function isOwnAnswer(value: Value): value is HandlerAnswer {
  return value instanceof HandlerAnswer;
}

/** Applies one thing that a handler wants stored. @throws {Refused} or our own failure where it does not fit the document. */
function applyWanted(work: Work, wanted: WantedChange, operation: Operation, engine: Engine): void {
  const since = work.stored.length;
  storeWanted(work, wanted, operation, engine);
  // What follows from a transition was carried out with it.
  if (wanted.kind !== 'fire') engine.models.follow?.(work, since);
}

function storeWanted(work: Work, wanted: WantedChange, operation: Operation, engine: Engine): void {
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

function create(work: Work, model: RowModel, wanted: Extract<WantedChange, { kind: 'create' }>, operation: Operation): void {
  const draft: Fields = model.inner?.(work, undefined, wanted.fields) ?? { ...wanted.fields };
  demandStates(model, draft, compileBegin(model, operation.name)(work.scope, draft)?.next, 'starts in');
  const next = applySetters(model.setters([operation.name, 'create', 'write']), { ...work.scope, next: draft }, draft);
  demandValid(model.validateStored, next, `The ${model.name} that a handler creates`);
  insertRow(work, model, wanted.id, next, `create ${model.name}`);
}

function update(
  work: Work,
  model: RowModel,
  row: Parameters<typeof updateRow>[2],
  before: Fields,
  wanted: Extract<WantedChange, { kind: 'update' }>,
  operation: Operation,
): void {
  const patched: Fields = { ...before };
  for (const [field, value] of Object.entries(wanted.patch)) {
    if (value === null || value === undefined) delete patched[field];
    else patched[field] = value;
  }
  const draft = model.inner?.(work, before, patched) ?? patched;
  const { field } = model.identifier;
  if (draft[field] !== before[field]) throw new Error(`A handler changed ${field} of a ${model.name}, which it is known by.`);
  demandStates(model, draft, before, 'is in');
  const scope = { ...work.scope, resource: before, next: draft };
  const next = applySetters(model.setters([operation.name, 'update', 'write']), scope, draft);
  demandValid(model.validateStored, next, `The ${model.name} that a handler changes`);
  updateRow(work, model, row, before, next, `update ${model.name}`);
}

/** A state is written by transitions alone: a handler fires one. */
function demandStates(model: RowModel, fields: Fields, wanted: Fields | undefined, verb: string): void {
  const wrong = model.machines.find(({ field }) => fields[field] !== wanted?.[field]);
  if (!wrong) return;
  const is = `which ${verb} ${String(wanted?.[wrong.field])}`;
  throw new Error(`A handler wrote ${wrong.field} of a ${model.name}, ${is}: fire a transition instead.`);
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
