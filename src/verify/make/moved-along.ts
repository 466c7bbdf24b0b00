import { actsAfter, fieldNaming, transitionOf } from '../../parts/followed.ts';
import { type Machine, machineWith, type Transition } from '../../parts/states.ts';
import type { Demand } from '../exchange/row.ts';
import type { Session } from '../session/session.ts';
import { leadsTo } from './legs.ts';

/** A transition that a new row fires on what it refers to by a field: `created: { then: { do: claim wheel, to: next.wheel } }`. */
interface MovedAlong {
  readonly machine: Machine;
  readonly transition: Transition;
}

/** What a new row moves along of what a field of it refers to, where that is always so. */
export function movedAlong({ model: { spec } }: Session, resource: string, field: string): MovedAlong[] {
  return actsAfter(spec, { verb: 'create', resource }).flatMap(({ does, to, each, skips, if: condition }): MovedAlong[] => {
    const transition = does && transitionOf(spec, does);
    const machine = transition && machineWith(spec.states, does.resource, transition.name);
    return machine && fieldNaming(to?.source) === field && !each && !skips && !condition ? [{ machine, transition }] : [];
  });
}

/** What is moved along has to be where it may be moved, and as the condition of its transition asks: else the new row is refused as well. */
export function movedDemands(session: Session, moved: readonly MovedAlong[]): Demand[] {
  const { model } = session;
  return moved.flatMap(({ machine, transition }): Demand[] => {
    const { from, if: condition } = transition;
    const begun = machine.initial.map(({ state }) => state);
    const open = from === '*' ? [] : from.filter((state) => begun.some((one) => leadsTo(session, machine, one, state)));
    const inState: Demand = {
      members: [machine.field],
      source: '',
      isFirm: true,
      isMet: ({ [machine.field]: state }) => typeof state === 'string' && open.includes(state),
    };
    const reads = condition ? model.expressions.readsOf(condition, undefined) : [];
    const isOfRow = reads.every(({ root, path, follows }) => root === 'resource' && path.length === 1 && !follows);
    const members = [...new Set(reads.flatMap(({ path }) => path[0] ?? []))];
    const asked: Demand[] =
      condition && isOfRow && members.length > 0
        ? [{ members, source: condition.source, isFirm: false, isMet: (row) => holds(session, condition, row) }]
        : [];
    return [...(open.length > 0 ? [inState] : []), ...asked];
  });
}

function holds({ model }: Session, condition: NonNullable<Transition['if']>, row: Parameters<Demand['isMet']>[0]): boolean {
  const evaluated = model.expressions.evaluate(condition, undefined, { context: { resource: row } });
  return typeof evaluated === 'object' && evaluated.value === true;
}
