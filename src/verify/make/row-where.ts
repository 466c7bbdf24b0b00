import type { Json } from '../../document/document.ts';
import { type Expression, entryOf, statedValue } from '../../parts/fact.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import { isSendable } from '../model/sendable.ts';
import type { Session } from '../session/session.ts';
import { lookAt } from './look.ts';
import { contextOfRow } from './row-context.ts';

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
