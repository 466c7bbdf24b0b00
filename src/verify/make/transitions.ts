import { entriesOf } from '../../parts/fact.ts';
import { allMachines, type Machine, type Transition } from '../../parts/states.ts';
import { type FactName, moot } from '../exchange/claim.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import { changedByClock, toldMeanwhile } from '../model/clock-changes.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { lookAt } from './look.ts';

/** The facts that firing a transition shows: the machine's, and those of the fields that it sets. */
export function factsOfFiring(model: Model, machine: Machine, { name }: Transition): FactName[] {
  const { resource } = machine;
  const stated = model.resource(resource);
  const fields = stated ? entriesOf(stated.fields) : [];
  const words = [name, `${name} ${resource}`, 'write'];
  const set = fields.filter(([, field]) => words.some((word) => field.set[word] !== undefined));
  return [...factsOfMachine(machine), ...set.map(([field]) => ({ kind: 'allowed values', subject: `${resource}.${field}` }))];
}

/** The transitions that have an endpoint. */
export function* fireable(model: Model): Iterable<{ readonly machine: Machine; readonly transition: Transition }> {
  for (const machine of allMachines(model.spec.states)) {
    for (const [name, transition] of entriesOf(machine.transitions)) {
      if (model.endpointOfTransition(machine.resource, name)) yield { machine, transition };
    }
  }
}

export function factsOfMachine({ key }: Machine): FactName[] {
  return ['transitions', 'states'].map((kind) => ({ kind, subject: key }));
}

/** Claims that a row is as it was, since what was asked was refused; what the clock was to do to it meanwhile is no doing of that. */
export async function claimUnchanged(
  session: Session,
  row: TrialRow,
  {
    before,
    attempt,
    fact,
  }: { readonly before: Done<TrialExchange>; readonly attempt: Done<TrialExchange>; readonly fact: FactName },
): Promise<void> {
  const { model } = session;
  const after = (await lookAt(session, row)).done;
  session.claim({
    fact,
    reason: 'refused, unchanged',
    of: [before, attempt, after, ...(row.made ? [row.made] : [])] as const,
    judge(was: TrialExchange, tried: TrialExchange, is: TrialExchange, ...made: readonly TrialExchange[]) {
      const id = idIn(model, tried);
      const old = rowWith(model, was, id);
      if (tried.status < 400 || !old) return moot('it was not refused');
      if (!isDone(is) && is.status !== 404 && is.status !== 410) return moot('whether it is still there was not answered');
      const now = rowWith(model, is, id);
      // What one of the two readers is not shown says nothing.
      const unseen = [was, is].flatMap((shown) => [...model.unseenBy(row.resource, model.readerOf(shown))]);
      const meanwhile = toldMeanwhile(model.spec, row.resource);
      const names = Object.keys({ ...old, ...now }).filter((name) => !unseen.includes(name) && !meanwhile.has(name));
      const other = now && names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
      if (other?.length === 0) return undefined;
      const byClock = changedByClock(model, row.resource, [...made, was, tried, is], (one) => rowWith(model, one, id));
      if (other?.every(byClock)) return moot('the clock had something to do with it meanwhile');
      return { promised: `what was refused changes nothing: ${JSON.stringify(old)}`, seen: JSON.stringify(now ?? null) };
    },
  });
}
