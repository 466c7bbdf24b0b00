import { derivationsOf } from '../../parts/derived/derivations.ts';
import { entryOf } from '../../parts/fact.ts';
import { conditionsOfTransition, type Transition } from '../../parts/states.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { lookAt } from './look.ts';

/** So many rows behind one are provided for. */
const behindMost = 3;

/**
 * Makes a row that refers to what a row refers to, where a transition's condition reads what is derived of such rows and there is none yet: a pane of the
 * window, before work on it is begun.
 */
export async function provideBehind(session: Session, row: TrialRow, transition: Transition): Promise<void> {
  const { spec, expressions } = session.model;
  const fields = session.model.resource(row.resource)?.fields;
  const reads = conditionsOfTransition(transition).flatMap((one) => expressions.readsOf(one, undefined));
  const seen = new Set<string>();
  for (const { root, path, follows } of reads) {
    const [name = ''] = path;
    const [derived, ...deeper] = follows ?? [];
    const target = entryOf(fields, name)?.ref;
    const id = row.known[name] ?? row.fields?.[name];
    if (root === 'request' || path.length !== 1 || derived === undefined || deeper.length > 0 || target === undefined) continue;
    if (id === undefined || seen.has(`${name}.${derived}`) || seen.size === behindMost) continue;
    const stated = derivationsOf(spec)
      .of(target)
      .find(({ field }) => field.name === derived);
    const [aggregate] = stated?.aggregates ?? [];
    if (!aggregate) continue;
    seen.add(`${name}.${derived}`);
    const other: TrialRow = { resource: target, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
    await ifTestable(lookAt(session, other));
    // What is nought, or not there, has nothing to be derived of.
    if (other.fields === undefined || other.fields[derived]) continue;
    await ifTestable(session.make(aggregate.from, { parents: { [aggregate.by]: other }, for: row.caller }));
    await ifTestable(lookAt(session, other));
  }
}
