import type { Endpoint } from '../../parts/endpoints.ts';
import { fieldNaming, followedOf, referringRows } from '../../parts/followed.ts';
import { machineWith, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { lookAt } from './look.ts';
import { referringTo, type Walking } from './referring.ts';
import { waysToCreate } from './ways.ts';

/** What is done to a row that refers to another, and moves the other along: `claim: { created: { then: { do: claim sonde, to: next.sonde } } }`. */
export interface Brings {
  readonly resource: string;
  /** Its reference to the row that is moved, or that row's to it. */
  readonly by: string;
  /** Whether the row that is moved refers to it: what becomes of a vat becomes of each order that is in it. */
  readonly isAbove?: boolean;
  /** Absent where making it is what moves the other. */
  readonly transition: Transition | undefined;
}

interface Firing extends Walking {
  fireOnRow(session: Session, row: TrialRow, endpoint: Endpoint, transition: Transition): Promise<unknown>;
}

/** What is surely followed by a transition of a row, and somebody may do. */
export function bringing(session: Session, resource: string, { name }: Transition): readonly Brings[] {
  const { model } = session;
  const canBeDone = ({ resource: other, transition }: Brings): boolean => {
    if (!transition) return waysToCreate(session, other, undefined).length > 0;
    const endpoint = model.endpointOfTransition(other, transition.name);
    return endpoint !== undefined && callersFor(session, endpoint).length > 0;
  };
  return followedOf(model.spec).flatMap(({ resource: other, change, acts }) =>
    acts.flatMap(({ does, to, each, if: condition }): Brings[] => {
      const isIt = does?.verb === 'transition' && does.resource === resource && does.transition === name;
      if (!isIt || condition || other === resource || change === 'updated' || change === 'deleted') return [];
      const below = each && referringRows(model.spec, each);
      const isAbove = below?.resource === resource && change !== 'created';
      const by = isAbove ? below.field : each ? undefined : fieldNaming(to?.source);
      if (by === undefined) return [];
      const transition = change === 'created' ? undefined : change.transition;
      const brings = { resource: other, by, transition, ...(isAbove && { isAbove }) };
      return canBeDone(brings) ? [brings] : [];
    }),
  );
}

/** The rows that are being brought on: what is done for one of them is not to wait for it. */
const underWay = new WeakSet<TrialRow>();

/** Does to a row that refers to another what moves the other along; makes the first where there is none that may come to it. @throws {Untestable} */
export async function bringOn(
  session: Session,
  row: TrialRow,
  { resource, by, transition, isAbove }: Brings,
  { leadsTo, walkTo, fireOnRow }: Firing,
): Promise<void> {
  if (underWay.has(row)) throw new Untestable(`a ${row.resource} waits for a ${resource}, and that for it`);
  underWay.add(row);
  try {
    const make = () => session.make(resource, { parents: { [by]: row } });
    if (!transition) await make();
    else {
      const machine = machineWith(session.model.spec.states, resource, transition.name);
      const endpoint = session.model.endpointOfTransition(resource, transition.name);
      session.need(machine !== undefined && endpoint !== undefined, `nobody can ${transition.name} a ${resource}`);
      const fromIn = (other: TrialRow): string | undefined => {
        const now = asText(other.fields?.[machine.field]);
        if (transition.from === '*' || transition.from.includes(now)) return now;
        return transition.from.find((state) => leadsTo(session, machine, now, state));
      };
      const those = isAbove ? [] : referringTo(session, row, { from: resource, by });
      const other = isAbove
        ? await rowAbove(session, row, { resource, by })
        : (those.findLast((one) => fromIn(one) !== undefined) ?? (await make()));
      const from = fromIn(other);
      session.need(from !== undefined, `no caller can bring a ${resource} to where ${transition.name} is open`);
      await walkTo(session, other, from, { machine });
      await fireOnRow(session, other, endpoint, transition);
    }
    await lookAt(session, row);
  } finally {
    underWay.delete(row);
  }
}

/** The row that a row refers to, as it is shown now. @throws {Untestable} where nobody was shown which it is */
async function rowAbove(session: Session, row: TrialRow, { resource, by }: Omit<Brings, 'transition'>): Promise<TrialRow> {
  const id = row.fields?.[by] ?? row.known[by];
  session.need(id !== undefined && id !== null, `which ${resource} a ${row.resource} is of is not shown`);
  const above: TrialRow = { resource, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
  await lookAt(session, above);
  return above;
}
