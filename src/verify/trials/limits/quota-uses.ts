import { statedValue } from '../../../parts/fact.ts';
import type { Quota } from '../../../parts/limits.ts';
import { type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import type { RowLimit } from '../../../parts/row-limits.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone, isExchange, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { capturesIn, freshIn } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { imagine } from '../../make/imagined.ts';
import { movedOn } from '../../make/moved-on.ts';
import { type Readied, ready } from '../../make/readied.ts';
import { rowFrom } from '../../make/row-made.ts';
import { stage } from '../../make/staged.ts';
import type { Model } from '../../model/model.ts';
import { ownRulesAt } from '../../model/own-condition.ts';
import { wholeRowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';

/** A quota, what uses it, and who. */
export interface Using {
  readonly quota: Quota;
  readonly operation: Operation;
  readonly caller: TrialCaller;
  /** Whether an answer says that it is used up. */
  readonly isUsedUp: (seen: TrialExchange) => boolean;
  readonly promised: string;
  /** The limits of rows that are reached before it. */
  readonly crowded: readonly RowLimit[];
}

/** What uses it up, and what makes room between, where fewer rows may be there than it lets through: the last is the one too many. */
export async function useUp(session: Session, using: Using): Promise<Done<TrialExchange>[]> {
  const uses: Done<TrialExchange>[] = [];
  let first: RequestPlan | undefined;
  for (let count = 0; count <= using.quota.limit; count++) {
    const { request: plan, row } = await readyUse(session, using);
    const done = await session.send(first ? alike(session.model, plan, first) : plan);
    first ??= plan;
    uses.push(done);
    if (!isDone(done.value)) break;
    if (using.crowded.length > 0) uses.push(...(await makeRoom(session, using, done, row)));
    if (count === 0 && using.quota.limit > 1) uses.push(...(await refusedBetween(session, using, plan)));
  }
  return uses;
}

/** Brings the row of a use out of what a limit of rows counts; gives what did so. @throws {Untestable} where that cannot be done */
async function makeRoom(
  session: Session,
  { crowded, operation: { endpoint } }: Using,
  done: Done<TrialExchange>,
  about: TrialRow | undefined,
): Promise<Done<TrialExchange>[]> {
  const { results } = session.run;
  const from = results.length;
  for (const limit of crowded) {
    const made = about ?? (endpoint && rowFrom(session, limit.of, endpoint, done));
    const row = made && { ...made, fields: wholeRowIn(done.value) ?? made.fields };
    const isOut = row !== undefined && (await movedOn(session, limit, row));
    session.need(isOut, `only ${limit.limit} such rows may be there at once, which is refused in the same way`);
  }
  return results.flatMap((value, step) =>
    step >= from && isExchange(value) && value.sent.method !== 'GET' ? [{ step, value }] : [],
  );
}

/** Whether one use is let through, and leaves as much room for rows as there was before it. */
export async function mayUseAgain(session: Session, using: Using): Promise<boolean> {
  const readied = await ifTestable(readyUse(session, using));
  const done = readied && (await session.send(readied.request));
  if (!done || !isDone(done.value)) return false;
  return (await ifTestable(makeRoom(session, using, done, readied.row))) !== undefined;
}

/** The uses among what was sent to use it up. */
export const usesIn = (all: readonly TrialExchange[], { operation }: Pick<Using, 'operation'>): readonly TrialExchange[] =>
  all.filter(({ endpoint }) => endpoint === operation.endpoint);

/** The next use says the same as the first where that may be said twice: else it could be refused for what it says. */
function alike(model: Model, plan: RequestPlan, { body }: RequestPlan): RequestPlan {
  const resource = resourceOfEffect(plan.endpoint && statedValue(plan.endpoint.does));
  const isOnce = resource === undefined || model.uniqueFields(resource).length > 0;
  const isPlain = body && 'value' in body && capturesIn(body.value).length === 0 && freshIn(body.value).length === 0;
  return isPlain && !isOnce && plan.body ? { ...plan, body } : plan;
}

/** Uses whose bodies are none, the one that was just done of a row that it has moved on, and such as errors of the service's own refuse: what is refused uses nothing up. */
async function refusedBetween(session: Session, using: Using, done: RequestPlan): Promise<Done<TrialExchange>[]> {
  const sent: Done<TrialExchange>[] = [];
  // Of a row that may not be there in the state that it has come to, it would have to make room.
  const { endpoint } = using.operation;
  // Under the same key the first answer is told again.
  const isRefused = statedValue(endpoint?.does)?.verb === 'transition' && endpoint?.idempotency === undefined;
  if (isRefused && using.crowded.length === 0) sent.push(await session.send(done));
  for (const value of [[], {}]) {
    const { body, ...plan } = await useOf(session, using);
    if (!body || !('value' in body)) break;
    sent.push(await session.send({ ...plan, body: { ...body, value } }));
  }
  return [...sent, ...(await refusedByOwn(session, using))];
}

/** So many errors of the service's own are tried, each of which may be looked for in another place. */
const ownMost = 4;

async function refusedByOwn(
  session: Session,
  { operation: { endpoint, resource = '' }, caller, crowded }: Using,
): Promise<Done<TrialExchange>[]> {
  const sent: Done<TrialExchange>[] = [];
  // What is let through all the same would have to make room.
  if (!endpoint || crowded.length > 0) return sent;
  for (const { rule } of ownRulesAt(session.model, endpoint).slice(0, ownMost)) {
    const staged = await ifTestable(
      (async () => {
        const [imagined] = imagine(session, endpoint, { rule });
        return imagined && stage(session, endpoint, imagined.slots, { scene: { ...imagined.met, caller }, resource });
      })(),
    );
    if (staged) sent.push(await session.send(staged.request));
  }
  return sent;
}

/** One use, with what it needs made before. @throws {Untestable} */
export async function useOnce(session: Session, using: Using): Promise<Done<TrialExchange>> {
  return session.send(await useOf(session, using));
}

/** The request that would be one. @throws {Untestable} */
async function useOf(session: Session, using: Using): Promise<RequestPlan> {
  return (await readyUse(session, using)).request;
}

/** The same, with the row that it is about. @throws {Untestable} */
async function readyUse(session: Session, { operation, caller }: Using): Promise<Readied> {
  const { endpoint } = operation;
  session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
  return ready(session, endpoint, { caller, maker: makerFor(session.model, operation, caller) });
}

/** Who makes what the operation is about: its caller, where that may. */
function makerFor(model: Model, { resource = '' }: Operation, caller: TrialCaller): TrialCaller | undefined {
  const may = model
    .endpointsThat('create', resource)
    .some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no');
  return may ? caller : undefined;
}
