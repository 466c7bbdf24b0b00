import type { Expression } from '../../parts/fact.ts';
import type { Session } from '../script/session.ts';
import { Untestable } from '../untestable.ts';
import { lookAt } from './look.ts';
import type { TrialRow, WantedRow } from './row.ts';
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
    const row = await session.make(resource, draw === 0 ? wanted : { ...wanted, style: 'full' });
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
