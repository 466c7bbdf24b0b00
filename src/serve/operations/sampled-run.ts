import type { Answer } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import { alternativesOf } from '../../parts/shapes/branches.ts';
import type { Row, Transaction } from '../../store/store.ts';
import { type Exchange, type Fields, type OperationRun, Refused, refusalReply, type Value } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { Reply } from '../http/call.ts';
import { toJson } from '../http/json.ts';
import { changeFor, type Work, workFor } from '../resources/act.ts';
import { compileStatedBody, isFields } from '../resources/body.ts';
import { updateRow } from '../resources/create.ts';
import type { RowModel } from '../resources/model.ts';
import type { Drawn } from '../resources/setters.ts';
import type { MemberPath, StandIn } from '../resources/stand-in.ts';
import { compileAnswers } from './answers.ts';
import { compileCountedList, compileListedNames } from './counted-list.ts';
import type { Engine } from './engine.ts';
import { holdsOthers, type NamedRow, type PlacedResult, placedResult, rowNamed } from './named-row.ts';

/**
 * Compiles what a stand-in does where nobody knows what an endpoint does: it answers in the stated shape, changes no row that
 * its path names, and keeps a row that it had to make up for the answer.
 */
export function compileSampledRun(
  operation: Operation,
  endpoint: Endpoint,
  open: readonly OpenFact[],
  standIn: StandIn,
  engine: Engine,
): OperationRun {
  const { compilation, models } = engine;
  const badBody = compileStatedBody(endpoint, compilation);
  const named = rowNamed(endpoint, engine);
  const isHolder = named !== undefined && !named.isLast && holdsOthers(endpoint, named, engine);
  const relate = compileRelated(endpoint, named, standIn, models);
  const member = named && !named.isLast ? standIn.compileMemberPath(endpoint, named.model, named.depth) : undefined;
  const answer = compileOpenReply(endpoint, named, member, standIn, engine);
  const access = compilation.access.of(operation, compilation.user);
  const spend = engine.limits.spendOf(operation);
  const isRestoring = standIn.isRestoring(endpoint);
  const isMaking = standIn.makesEachTime(endpoint);

  function carryOut(rows: Transaction, exchange: Exchange, draw: Drawn): Reply {
    const work = workFor(rows, models, exchange, draw);
    const pass = access.enter(work.scope, undefined);
    const bad = 'refusal' in pass ? pass.refusal : (badBody(work, exchange) ?? pass.settle());
    if (bad) return refusalReply(exchange, bad);
    const there = named && rowCalled(standIn, work, exchange, named);
    const found =
      there ?? (named && isRestoring ? standIn.given.back(work, named.model, identifierIn(work, exchange, named)) : undefined);
    // What stands below a thing that holds others and may be there, since nobody has ever made any of its kind, is there too.
    const isTaken = named && !found && isHolder && standIn.given.isUntouched(rows, named.model.name);
    if (named && !found && !isTaken) return refusalReply(exchange, { when: 'resource.missing' });
    if (isMaking) exchange.repeated = standIn.timesSent(rows, exchange);
    const row = named && found && changed(standIn, work, exchange, named, member, found);
    const made = answer(work, exchange, row, relate(work, exchange, row));
    if ('refusal' in made) throw new Refused(made.refusal);
    spend?.(rows, exchange, made.reply.status);
    exchange.recorded = engine.events.record(work, exchange.caller);
    return made.reply;
  }

  return async (exchange) => {
    exchange.accepted = [...(exchange.accepted ?? []), ...open.filter((fact) => isMet(fact, exchange))];
    try {
      const reply = await changeFor(engine, exchange, (rows, draw) => {
        exchange.deadline?.apply();
        return carryOut(rows, exchange, draw);
      });
      engine.timersChanged();
      engine.events.recorded(exchange.recorded);
      return reply;
    } catch (failure) {
      if (failure instanceof Refused) return refusalReply(exchange, failure.refusal);
      throw failure;
    }
  };
}

/** Compiles the answer where nobody knows what an endpoint does: what belongs to the row of the path, what was sent to it before, a row, or what was sent. */
function compileOpenReply(
  endpoint: Endpoint,
  named: NamedRow | undefined,
  member: MemberPath | undefined,
  standIn: StandIn,
  engine: Engine,
) {
  const { compilation, models } = engine;
  const count = compileCountedList(endpoint, standIn, engine);
  const names = compileListedNames(endpoint, standIn, engine);
  const answers = compileAnswers(endpoint, compilation);
  const shown = modelShown(endpoint, models);
  const placed = placedResult(endpoint, shown, engine);
  const kept = standIn.compileKept(endpoint);
  const undescribed = standIn.compileUndescribed(endpoint);
  const cut = standIn.compileOpenPages(endpoint);
  const sentOf = compileEcho(endpoint);
  return (
    work: Work,
    exchange: Exchange,
    row: Row | undefined,
    related: Value | undefined,
  ): ReturnType<NonNullable<typeof answers>> => {
    if (undescribed && related === undefined) return { reply: undescribed(work.rows, exchange) };
    if (related === undefined) kept?.keep(work, exchange);
    if (!answers) return { reply: { status: 204, headers: {}, body: undefined } };
    const counted = count?.(work, exchange);
    if (counted !== undefined) return answers(exchange, countCame(work, counted));
    const told = names?.(work, exchange);
    const listed = told?.value ?? related ?? kept?.listed(work, exchange);
    if (listed !== undefined) {
      const { value, page } = told ?? cut?.(listed, exchange) ?? { value: listed };
      return answers(exchange, { status: 200, scope: { ...work.scope, result: value }, work, ...(page && { page }) });
    }
    const own = named?.model.name === shown?.name ? row : undefined;
    const result = shown && resultOf(standIn, work, exchange, { shown, placed }, own);
    const came = { status: 200, scope: { ...work.scope, result }, work };
    if (result) return answers(exchange, came);
    const before = { ...(row && named && member?.shown(named.model.parse(row))), ...kept?.sent(work, exchange) };
    return answers(exchange, { ...came, sent: sentOf(exchange, before) });
  };
}

/** What came out of counting: a bare number, or what an answer has of one. */
function countCame(work: Work, counted: Value) {
  const came = { status: 200, scope: { ...work.scope, result: isFields(counted) ? undefined : counted }, work };
  return isFields(counted) ? { ...came, sent: counted } : came;
}

function identifierIn(work: Work, { pathParams }: Exchange, { parameter, whole }: NamedRow): string {
  return whole?.(work, pathParams) ?? pathParams[parameter] ?? '';
}

/** The row of an identifier, the one that people call so, or where nothing makes such rows, one that is made for it. */
function rowCalled({ given }: StandIn, work: Work, exchange: Exchange, named: NamedRow): Row | undefined {
  const { model, whole } = named;
  const id = identifierIn(work, exchange, named);
  // Where a whole path tells rows apart, its last part alone is the name of others too.
  const known = work.rows.get(model.name, id) ?? (whole ? undefined : given.called(work.rows, model, id));
  return known ?? (given.has(model.name) ? given.find(work, model, id, {}) : undefined);
}

/** What is shown of what belongs to the row of the path, or of the things that the body lists; nothing where the endpoint is about neither. */
function compileRelated(endpoint: Endpoint, named: NamedRow | undefined, standIn: StandIn, models: Engine['models']) {
  const relate = named && standIn.compileRelation(endpoint, named.model, named.depth);
  const many = standIn.compileMany(endpoint, models, named?.model.name);
  return (work: Work, exchange: Exchange, row: Row | undefined) =>
    (row && relate?.(work, exchange, row.id)) ?? many?.(work, exchange, row);
}

/** The row after the changes that the body lists, or that it sends of a member; as it was where it does neither. @throws {Refused} `request.invalid` where one of them cannot be. */
function changed(
  standIn: StandIn,
  work: Work,
  exchange: Exchange,
  named: NamedRow,
  member: MemberPath | undefined,
  row: Row,
): Row {
  const { model } = named;
  const before = model.parse(row);
  const fields = member?.change(exchange.request, before) ?? patched(standIn, exchange, named, before);
  if (fields === undefined) return row;
  const { field } = model.identifier;
  const next = { ...fields, [field]: before[field] };
  const { whole, names } = standIn.mendRow(work, model, row.id, next, before);
  standIn.keepNames(work.rows, model, row.id, names);
  return updateRow(work, model, row, before, whole, exchange.plan.operation.name).row;
}

function patched(standIn: StandIn, { call, request }: Exchange, { isLast }: NamedRow, before: Fields): Fields | undefined {
  const patch = isLast && call.method === 'PATCH' ? standIn.patchedBy(request, before) : undefined;
  if (patch && 'violations' in patch) throw new Refused({ when: 'request.invalid', violations: patch.violations });
  return patch?.fields;
}

/** The row that the answer shows: the one that the path names, one like it that was made before, or a new one. */
function resultOf(
  standIn: StandIn,
  work: Work,
  exchange: Exchange,
  { shown, placed }: { readonly shown: RowModel; readonly placed: PlacedResult | undefined },
  row: Row | undefined,
): Fields | undefined {
  if (row) {
    standIn.tellRow(exchange, work.rows, shown, row.id);
    return shown.parse(row);
  }
  const end = standIn.identifierAt(shown, placeOfResult(exchange));
  if (end === undefined) return undefined;
  const id = placed?.(work, exchange.pathParams, end) ?? end;
  const there = work.rows.get(shown.name, id);
  const fields = there ? shown.parse(there) : standIn.makeRow(work, shown, id, { ...exchangeEcho(exchange), ...idOf(shown, id) });
  standIn.tellRow(exchange, work.rows, shown, id);
  return fields;
}

/** Where the row of an answer is told from others: two acts that are sent otherwise show two. */
function placeOfResult({ call: { method, path }, request, repeated = 1 }: Exchange): string {
  const isSaid = method === 'POST' && isFields(request) && Object.keys(request).length > 0;
  const place = isSaid ? `${method} ${path}\n${toJson(request).slice(0, toldByMost)}` : `${method} ${path}`;
  return repeated > 1 ? `${place}\n${repeated}` : place;
}

/** So much of what was sent tells one act from another. */
const toldByMost = 4096;

/** Of a request without a query or a body it is no matter what those may be. */
function isMet({ kind }: OpenFact, { call }: Exchange): boolean {
  if (kind === 'parameters') return call.query !== '';
  return kind !== 'request payload shapes' || call.hasBody;
}

/** Compiles what an open answer may show of a request, and of what was sent before: what was asked for, in the path, and in the body. */
function compileEcho({ parameters }: Endpoint): (exchange: Exchange, before: Fields) => Fields {
  const queries = entriesOf(parameters).flatMap(([, { name, in: place }]) => (place === 'query' ? [name] : []));
  return (exchange, before) => {
    const asked = Object.fromEntries(queries.map((name) => [name, exchange.params[name]]));
    return { ...asked, ...before, ...exchangeEcho(exchange) };
  };
}

/** What was sent, of which an answer keeps what it has under the same names. */
function exchangeEcho({ request, pathParams }: Exchange): Fields {
  return { ...pathParams, ...(isFields(request) ? request : {}) };
}

function idOf({ identifier }: RowModel, id: string): Fields {
  return { [identifier.field]: identifier.isInteger ? Number(id) : id };
}

/** The kept resource that the first stated answer of success is. */
function modelShown({ response }: Endpoint, models: Engine['models']): RowModel | undefined {
  const answers: readonly Answer[] = isStated(response) ? response.value : [];
  const first = answers.find(({ status, shape }) => /^2/.test(status) && isStated(shape));
  const shape = first && statedValue(first.shape);
  const name = shape && resourceIn(shape);
  return name === undefined ? undefined : models.get(name);
}

/** The resource that a shape is, or the first branch of a union. */
function resourceIn(shape: Shape): string | undefined {
  return [shape, ...alternativesOf(shape)].find(({ resource }) => typeof resource === 'string')?.resource;
}
