import type { Json } from '../../document/document.ts';
import { type Expression, entryOf, statedValue } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import { machineIn } from '../../parts/states.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { isSendable } from '../model/own-body.ts';
import type { Session } from '../session/session.ts';
import { callersFor, contextOfRow } from './callers-for.ts';
import { answering } from './demands.ts';
import { lookAt } from './look.ts';
import { stateOf } from './walk.ts';

/** So many rows are drawn until one is as a condition asks for. */
const drawsMost = 8;

/** A row of which a condition holds, or does not, as it was shown. @throws {Untestable} */
export async function makeWhere(
  session: Session,
  resource: string,
  wanted: WantedRow,
  condition: Expression,
  holds: boolean,
): Promise<TrialRow> {
  for (let draw = 0; draw < drawsMost; draw++) {
    const body = { ...chosen(session, resource, condition, draw), ...wanted.body };
    const row = await session.make(resource, draw === 0 ? wanted : { ...wanted, body, style: 'full' });
    if (!row.fields) await lookAt(session, row);
    const known = contextOfRow(session, row) ?? { context: {} };
    const now = session.run.clock.toService(Date.now());
    const evaluated = session.model.expressions.evaluate(condition, undefined, {
      ...known,
      context: { ...known.context, next: known.context.resource ?? {}, now },
    });
    if (typeof evaluated === 'object' && evaluated.value === holds) return row;
  }
  throw new Untestable(`no ${resource} was made for which ${condition.source} ${holds ? 'holds' : 'does not hold'}`);
}

/** Of the members that a condition reads, those that can be but a few things: each of them in turn. */
function chosen({ model }: Session, name: string, condition: Expression, draw: number): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const { root, path, follows } of model.expressions.readsOf(condition, undefined)) {
    const [field] = path;
    const shape = statedValue(entryOf(model.resource(name)?.fields, field ?? '')?.shape);
    if ((root !== 'resource' && root !== 'next') || field === undefined || follows || !isSendable(model, name, field)) continue;
    const values = shape?.type === 'boolean' ? [true, false] : Array.isArray(shape?.enum) ? (shape.enum as readonly Json[]) : [];
    const value = values[(draw - 1) % Math.max(1, values.length)];
    if (value !== undefined) out[field] = value;
  }
  return out;
}

/** A row for a new one of a resource to refer to by a field, made as whoever refers to it has to have it. @throws {Untestable} */
export async function rowFor(
  session: Session,
  resource: string,
  field: string,
  target: string,
  wanted: Pick<WantedRow, 'style' | 'body' | 'caller'> = {},
): Promise<TrialRow> {
  const { model } = session;
  const [endpoint] = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  const [asking] = endpoint ? callersFor(session, endpoint) : [];
  const asked = endpoint && answering(session, endpoint, field, { for: asking });
  if (!asked) return session.make(target, wanted);
  try {
    return await session.make(target, { ...wanted, ...asked, body: { ...asked.body, ...wanted.body }, for: asking });
  } catch (error) {
    if (!(error instanceof Untestable)) throw error;
    return session.make(target, wanted);
  }
}

/** So many states are tried. */
const statesMost = 4;

/** A row in one of some states: as it begins, where that is one of them, else in the first that it can be brought to. @throws {Untestable} */
export async function makeInSome(
  session: Session,
  resource: string,
  states: readonly string[] | undefined,
  wanted: WantedRow = {},
): Promise<TrialRow> {
  const [first] = states ?? [];
  if (states === undefined || first === undefined) return session.make(resource, wanted);
  let why: unknown;
  for (const [at, state] of states.slice(0, statesMost).entries()) {
    try {
      return await session.make(resource, { ...wanted, state });
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why ??= error;
      // What is drawn as it comes may begin in another one of them.
      const row = at === 0 ? await session.make(resource, wanted) : undefined;
      const machine = machineIn(session.model.spec.states, resource, state);
      const now = row && machine && stateOf(row, machine);
      if (row && now !== undefined && states.includes(now)) return row;
    }
  }
  throw why;
}

/** Values for fields that callers send, which no other row has: what is referred to is made anew. @throws {Untestable} */
export async function uniqueValues(
  session: Session,
  resource: Resource,
  fields: readonly string[],
): Promise<Record<string, Symbolic>> {
  const values: Record<string, Symbolic> = {};
  for (const name of fields) {
    const field = entryOf(resource.fields, name);
    if (!field || field.readOnly) continue;
    const value =
      field.ref === undefined
        ? session.model.freshValue(resource.name, name)
        : (await rowFor(session, resource.name, name, field.ref)).id;
    if (value !== undefined) values[name] = value;
  }
  return values;
}
