import type { Endpoint } from '../parts/endpoints.ts';
import { identifierParameter } from '../parts/payload.ts';
import { machineOf } from '../parts/states.ts';
import { Spent } from './client/budget.ts';
import type { Made, MadeRow } from './made.ts';
import { callersFor } from './make/callers-for.ts';
import { lookAt } from './make/look.ts';
import { pathValues } from './make/request-about.ts';
import type { TrialRow } from './make/row.ts';
import { stateOf, walkTo } from './make/walk.ts';
import type { Leftover } from './report.ts';
import { isDone } from './script/exchange.ts';
import type { Session } from './script/session.ts';
import { Missing } from './script/symbol.ts';
import { Untestable } from './untestable.ts';
import { NoValue } from './values/no-value.ts';

/** Rows may hold others that are older or younger: what stays is tried again for as long as anything goes. */
const passesMax = 4;
const beside = 8;
/** Who has not answered so often in a row is asked no more. */
const troublesMax = 40;

/** Removes what was made, or what one run made, where the document has a way, through the states that a deletion asks for; says what stays. */
export async function cleanUp(made: Made, start: () => Session, owner?: unknown): Promise<Leftover[]> {
  const whys = new Map<MadeRow, string>();
  for (let pass = 0, before = Number.POSITIVE_INFINITY; pass < passesMax && made.left.length < before; pass++) {
    before = made.left.length;
    const queue = made.left.filter(
      (row) => (owner === undefined || row.owner === owner) && start().model.endpointsThat('delete', row.resource).length > 0,
    );
    await Promise.all(
      Array.from({ length: beside }, async () => {
        for (let row = queue.shift(); row; row = queue.shift()) {
          const session = start();
          const isSilent = session.run.client.troublesInARow >= troublesMax;
          whys.set(row, isSilent ? 'the service no longer answers' : ((await remove(row, made, session)) ?? ''));
        }
      }),
    );
  }
  const staying = new Map<string, { count: number; why: string }>();
  for (const row of made.left) {
    const known = staying.get(row.resource);
    const why = whys.get(row) ?? 'the document has no operation that deletes one';
    staying.set(row.resource, { count: (known?.count ?? 0) + 1, why: known?.why ?? why });
  }
  return [...staying].map(([resource, { count, why }]) => ({ resource, count, why }));
}

/** Why a row stays; nothing where it is gone. */
async function remove(given: MadeRow, made: Made, session: Session): Promise<string | undefined> {
  const { model } = session;
  const row: TrialRow = { ...given, known: given.path, shown: undefined, fields: given.fields };
  let why = 'nobody who can be spoken for may delete it';
  for (const endpoint of model.endpointsThat('delete', given.resource)) {
    try {
      await reachState(session, row, endpoint);
      const path = { ...pathValues(endpoint, row), [identifierParameter(endpoint) ?? '']: given.id };
      for (const caller of callersFor(session, endpoint, row).slice(0, 2)) {
        const { value } = await session.send(model.request(endpoint, { path, caller }));
        if (isDone(value) || value.status === 404 || value.status === 410) {
          made.forget(given);
          return undefined;
        }
        why = `${endpoint.key} was answered ${value.status}`;
      }
    } catch (error) {
      if (![Untestable, Missing, NoValue, Spent].some((known) => error instanceof known)) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
  }
  return why;
}

/** Brings a row to a state in which it may be deleted. */
async function reachState(session: Session, row: TrialRow, { in: states }: Endpoint): Promise<void> {
  const machine = machineOf(session.model.spec.states, row.resource);
  if (!states || !machine) return;
  await lookAt(session, row).catch((error: unknown) => {
    if (!(error instanceof Untestable)) throw error;
  });
  let why: unknown;
  if (states.includes(stateOf(row, machine) ?? '')) return;
  for (const state of states) {
    try {
      await walkTo(session, row, state);
      return;
    } catch (error) {
      why = error;
    }
  }
  throw why;
}
