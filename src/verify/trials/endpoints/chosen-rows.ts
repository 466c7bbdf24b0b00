import type { Json } from '../../../document/document.ts';
import { compileDays } from '../../../kinds/limits/calendar.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { parameterShape } from '../../../parts/expressions/operation-scope.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Choosing, Parameter } from '../../../parts/parameters.ts';
import { type Reach, reachOf } from '../../../parts/reach.ts';
import type { Shape } from '../../../parts/shape.ts';
import { machineOn } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow, WantedRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, resolve, type Symbolic } from '../../exchange/symbol.ts';
import type { OwnList } from '../../make/own-list.ts';
import { requestAbout } from '../../make/request-about.ts';
import { statesOf } from '../../make/walk.ts';
import { isSendable } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import { isFreeText, OwnText, valuesApart } from '../../values/apart.ts';

/** A row of a list, and what of it or around it the list is chosen by. */
export interface Candidate {
  readonly row: TrialRow;
  /** The row that has the value: itself, or one around it. */
  readonly holder: TrialRow;
  /** Whether the list's caller was shown the holder, where it is another row. */
  readonly read: Done<TrialExchange> | undefined;
}

/** What is made for a parameter that chooses, and what it is asked. */
export interface Choosable {
  /** Members of the row that has the value, one map for each row of the list. */
  readonly bodies: readonly Readonly<Record<string, Symbolic>>[];
  readonly asks: readonly Symbolic[];
  /** Where the value is reached; nothing where it is the row's own condition or its words. */
  readonly reach?: Reach;
}

type PathChoosing = Extract<Choosing, { by: 'path' }>;

/** Values that tell whether a list is chosen as it says. @throws {Untestable} where none can be sent. */
export function choosableOf(session: Session, endpoint: Endpoint, parameter: Parameter): Choosable {
  const { chooses } = parameter;
  const { spec } = session.model;
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const own = new OwnText();
  if (chooses?.by === 'search') return searched(session, name, chooses.fields, own);
  if (chooses?.by === 'keeps') return kept(session, endpoint, parameter, chooses, own);
  // What chooses neither by words nor by a condition goes by a path.
  const { path } = chooses as PathChoosing;
  const reach = reachOf(spec, name, path);
  session.need(!('wrong' in reach), `${path} leads nowhere`);
  const [first = ''] = reach.names;
  const byState = reach.resource === name && reach.names.length === 1 ? chosenByState(session, parameter, reach) : undefined;
  if (byState) return byState;
  session.need(isSendable(session.model, reach.resource, first), `${path} is not sent`);
  return along(session, parameter, chooses as PathChoosing, reach, own);
}

/** Rows in the state in which they begin, asked for by that state and by another, in either order where several are taken. */
function chosenByState({ model }: Session, { op, chooses }: Parameter, reach: Reach): Choosable | undefined {
  const machine = machineOn(model.spec.states, reach.resource, reach.names[0] ?? '');
  const [begun] = machine?.initial ?? [];
  const other = machine && begun ? statesOf(machine).find((state) => state !== begun.state) : undefined;
  if (!begun || other === undefined || (op !== '=' && op !== 'in')) return undefined;
  const areSeveral = op === 'in' || (chooses?.by === 'path' && chooses.split !== undefined);
  const asks = areSeveral ? [[other, begun.state], [begun.state, other], [other]] : [begun.state, other];
  return { bodies: [{}, {}], asks, reach };
}

function along(session: Session, parameter: Parameter, chooses: PathChoosing, reach: Reach, own: OwnText): Choosable {
  const { op } = parameter;
  const values = chooses.zone === undefined ? valuesFor(parameter, reach.shape, own) : momentsAround(chooses.zone);
  const [low, middle, high = middle] = values;
  session.need(low !== undefined && middle !== undefined && high !== undefined, `of ${chooses.path} no values apart are known`);
  const held = (...all: readonly Symbolic[]) => bodyAlong(session, reach, all);
  if (chooses.zone !== undefined) return { bodies: values.map((value) => held(value)), asks: [aDay], reach };
  if (reach.isList) {
    const several = chooses.split === undefined && op !== 'in' ? [low] : [[low, middle], [middle]];
    return { bodies: [held(low, middle), held(low), held(high)], asks: several, reach };
  }
  // Each row that is made has one of the values around it, so that no row has both that are asked for.
  const asks: Symbolic[] = chooses.split !== undefined || op === 'in' ? [[low, middle], [middle]] : [middle];
  const folds = (chooses.ignoreCase || reach.ignoreCase) && isFreeText(reach.shape);
  const otherCase = new Fresh((_draw, run) => asText(resolve(middle, run)).toUpperCase());
  if (folds) asks.push(asks[0] === middle ? otherCase : [otherCase]);
  return { bodies: [low, middle, high].map((value) => held(value)), asks, reach };
}

function valuesFor({ op }: Parameter, shape: Shape, own: OwnText): readonly Symbolic[] {
  if (!isFreeText(shape) || (op !== 'prefix' && op !== 'contains')) return valuesApart(shape, own);
  const other = new OwnText();
  // In the order low, middle, high: the one in the middle is asked for, and the others have it at their ends, or not at all.
  return op === 'prefix'
    ? [own.with('m'), own.with(), own.with('', 'a')]
    : [other.with('m', 'a'), own.with(), own.with('m', 'a')];
}

const aDay = '2031-02-10';

/** The ends of a day in a zone, just before and just after. */
function momentsAround(zone: string): readonly string[] {
  const { startMs, endMs } = compileDays(zone)(aDay);
  return [startMs - 1000, startMs, endMs - 1000, endMs].map((ms) => new Date(ms).toISOString());
}

function bodyAlong(session: Session, { names, isList }: Reach, values: readonly Symbolic[]): Readonly<Record<string, Symbolic>> {
  session.need(!isList || names.length === 1, `${names.join('.')} stands inside a list of maps`);
  const [first = '', ...inner] = names;
  const value: Symbolic = isList ? values : (values[0] ?? null);
  return { [first]: inner.reduceRight<Symbolic>((within, name) => ({ [name]: within }), value) };
}

function searched(session: Session, name: string, fields: readonly string[], own: OwnText): Choosable {
  const { model } = session;
  const resource = model.resource(name);
  const free = fields.filter((field) => {
    const shape = resource && statedValue(entryOf(resource.fields, field)?.shape);
    return shape !== undefined && isFreeText(shape) && isSendable(model, name, field);
  });
  const [first, second] = free;
  session.need(first !== undefined, `no text of a ${name} can be sent`);
  const upper = new Fresh((_draw, run) => asText(resolve(own.with(), run)).toUpperCase());
  const both = new Fresh((_draw, run) => `${asText(resolve(own.with('', 'a'), run))} ${asText(resolve(own.with(), run))}`);
  // One row has both words, one has one of them alone, and one has neither.
  const withOne = { [second ?? first]: own.with('', 'b') };
  return { bodies: [{ [first]: own.with('', 'a') }, withOne, { [first]: new OwnText().with('', 'a') }], asks: [upper, both] };
}

/** Rows that differ in the field that the condition reads, asked for by each value that the parameter takes. */
function kept(
  session: Session,
  endpoint: Endpoint,
  parameter: Parameter,
  { condition }: Extract<Choosing, { by: 'keeps' }>,
  own: OwnText,
): Choosable {
  const { model } = session;
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = model.resource(name);
  const reads = model.expressions.readsOf(condition, endpoint.operation).filter(({ root }) => root === 'resource');
  const bodies = reads.flatMap(({ path: [field = ''] }) => {
    const shape = resource && statedValue(entryOf(resource.fields, field)?.shape);
    const values = shape && isSendable(model, name, field) ? valuesApart(shape, own) : [];
    return values.map((value) => ({ [field]: value }));
  });
  const asks = valuesApart(parameterShape(model.spec, endpoint, parameter), own);
  const { enum: words } = parameterShape(model.spec, endpoint, parameter);
  const all = Array.isArray(words) ? (words as readonly Json[]).slice(0, 6) : asks;
  session.need(all.length > 0, `no values of ${parameter.name} are known`);
  return { bodies: bodies.length > 0 ? bodies.slice(0, 6) : [{}, {}], asks: all };
}

/** Makes a row of a list with these members, or with a row around it that has them. @throws {Untestable} */
export async function makeCandidate(
  session: Session,
  list: OwnList,
  at: number,
  { reach, body }: { readonly reach: Reach | undefined; readonly body: Readonly<Record<string, Symbolic>> },
): Promise<Candidate> {
  const steps = reach?.steps ?? [];
  const wanted = list.wanted(at);
  const [step] = steps;
  if (!step) {
    const row = await session.make(list.resource, { ...wanted, body: { ...wanted.body, ...body } });
    return { row, holder: row, read: undefined };
  }
  if ('of' in step) {
    session.need(steps.length === 1, 'it goes on from rows that refer to this one');
    const row = await session.make(list.resource, wanted);
    const holder = await session.make(step.of, { parents: { [step.field]: row }, for: list.caller, body });
    return { row, holder, read: await readOf(session, holder, list.caller) };
  }
  let holder: TrialRow | undefined;
  let parent: TrialRow | undefined;
  for (const [index, one] of [...steps.entries()].reverse()) {
    session.need('to' in one && one.names.length === 1, 'it goes through a reference inside a value');
    const next = steps[index + 1];
    const parents = parent && next && 'to' in next ? { [next.names[0] ?? '']: parent } : {};
    const asked: WantedRow = { parents, for: list.caller, ...(holder === undefined && { body }) };
    parent = await session.make(one.to, asked);
    holder ??= parent;
  }
  const field = step.names[0] ?? '';
  const row = await session.make(list.resource, {
    ...wanted,
    parents: { ...wanted.parents, ...(parent && { [field]: parent }) },
  });
  return { row, holder: holder ?? row, read: holder && (await readOf(session, holder, list.caller)) };
}

/** The row as the list's caller reads it by itself; nothing where no operation reads it, or whoever lists may read all of them. */
async function readOf(
  session: Session,
  row: TrialRow,
  caller: TrialCaller | undefined,
): Promise<Done<TrialExchange> | undefined> {
  const [endpoint] = session.model.endpointsThat('read', row.resource);
  if (!endpoint || endpoint.identity || isFree(session, row.resource, caller)) return undefined;
  return session.send(await requestAbout(session, row, endpoint, { caller }));
}

/** Whether a caller may read all rows of a resource. */
export function isFree({ model }: Session, resource: string, caller: TrialCaller | undefined): boolean {
  const reads = model.endpointsThat('read', resource);
  return (reads.length > 0 ? reads : model.endpointsThat('list', resource)).some((endpoint) => {
    const operation = model.operationOf(endpoint);
    return model.access.isPublic(operation) || model.access.rules(operation, caller)?.some((rule) => !rule.if) === true;
  });
}
