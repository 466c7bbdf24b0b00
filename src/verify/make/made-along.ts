import { entryOf } from '../../parts/fact.ts';
import { followedOf } from '../../parts/followed.ts';
import { machinesOf } from '../../parts/states.ts';
import type { Session } from '../script/session.ts';
import { ifTestable } from '../untestable.ts';
import { findRow } from './found.ts';
import type { TrialRow, WantedRow } from './row.ts';
import { walkTo } from './walk.ts';

type Make = (resource: string, wanted: WantedRow) => Promise<TrialRow>;

/** So many of the states that a transition leads to are tried. */
const targetsMost = 3;

/**
 * A row that is made with another, or by a transition of another: that is done, and the row is found in a list. Nothing where no
 * change makes one.
 */
export async function madeAlong(
  session: Session,
  resource: string,
  wanted: WantedRow,
  make: Make,
): Promise<TrialRow | undefined> {
  const { model } = session;
  const stated = model.resource(resource);
  const [first] = machinesOf(model.spec.states, resource)[0]?.initial ?? [];
  for (const { resource: other, change, acts } of followedOf(model.spec)) {
    if (change === 'updated' || change === 'deleted' || other === resource || !stated) continue;
    const own = `next.${model.identifierField(other)}`;
    for (const { does, set } of acts) {
      if (does?.verb !== 'create' || does.resource !== resource) continue;
      const tie = Object.keys(set).find(
        (name) => set[name]?.source.trim() === own && entryOf(stated.fields, name)?.ref === other,
      );
      if (tie === undefined) continue;
      const begun = wanted.parents?.[tie];
      const find = (parent: TrialRow) =>
        findRow(session, resource, { parents: { ...wanted.parents, [tie]: parent }, ...(first && { state: first.state }) });
      if (change === 'created') return find(begun ?? (await make(other, {})));
      for (const { state } of change.transition.to.slice(0, targetsMost)) {
        const moved = await ifTestable(begun ? moving(session, begun, state) : make(other, { state, for: wanted.for }));
        const found = moved && (await ifTestable(find(moved)));
        if (found) return found;
      }
    }
  }
  return undefined;
}

async function moving(session: Session, row: TrialRow, state: string): Promise<TrialRow> {
  await walkTo(session, row, state);
  return row;
}
