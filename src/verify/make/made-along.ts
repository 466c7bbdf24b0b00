import { entryOf } from '../../parts/fact.ts';
import { followedOf } from '../../parts/followed.ts';
import { machineOf } from '../../parts/states.ts';
import type { Session } from '../script/session.ts';
import { findRow } from './found.ts';
import type { TrialRow, WantedRow } from './row.ts';

/** A row that is made with another: that other is made, and the row is found in a list. Nothing where no creation makes one. */
export async function madeAlong(
  session: Session,
  resource: string,
  wanted: WantedRow,
  make: (resource: string, wanted: WantedRow) => Promise<TrialRow>,
): Promise<TrialRow | undefined> {
  const { model } = session;
  const stated = model.resource(resource);
  for (const { resource: other, change, acts } of followedOf(model.spec)) {
    if (change !== 'created' || other === resource || !stated) continue;
    const own = `next.${model.identifierField(other)}`;
    for (const { does, set } of acts) {
      if (does?.verb !== 'create' || does.resource !== resource) continue;
      const tie = Object.keys(set).find(
        (name) => set[name]?.source.trim() === own && entryOf(stated.fields, name)?.ref === other,
      );
      if (tie === undefined) continue;
      const parent = wanted.parents?.[tie] ?? (await make(other, {}));
      const [first] = machineOf(model.spec.states, resource)?.initial ?? [];
      const state = first?.state;
      return findRow(session, resource, { parents: { ...wanted.parents, [tie]: parent }, ...(state !== undefined && { state }) });
    }
  }
  return undefined;
}
