import type { EventKind } from '../../../parts/events.ts';
import type { Operation } from '../../../parts/operations.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { changing } from './changing.ts';
import { type Ear, eventMs, hasArrived, type Listening, type Waiting } from './ear.ts';
import { kindsOn } from './expected.ts';
import { emissionJudgement, eventsIn } from './heard.ts';
import { sureKind } from './pair.ts';

/** Something that is surely told of, to be done after what must not be: once it has come, silence says something. */
export interface EventFence {
  readonly operation: Operation;
  readonly kind: EventKind;
  /** It is ready to be sent: whatever it needs is there. */
  readonly request: RequestPlan;
}

/** How listening behind a fence goes on, and whether nothing but it shows anything. */
export interface Fenced {
  readonly waiting: Waiting;
  isSilence(heard: Listening): boolean;
}

/** Makes ready what is told of in none of these kinds, as somebody where that may be; nothing where no operation is such. */
export async function fenceBeside(
  session: Session,
  kinds: readonly EventKind[],
  wanted: TrialCaller | undefined,
): Promise<EventFence | undefined> {
  const { model } = session;
  for (const operation of changing(model)) {
    const { endpoint } = operation;
    const kind = sureKind(model, operation);
    if (!endpoint || !kind || kindsOn(model, operation).some((one) => kinds.includes(one))) continue;
    const mayBe = wanted !== undefined && model.access.allows(operation, wanted) === 'yes';
    const readied = await ifTestable(ready(session, endpoint, mayBe ? { caller: wanted, maker: wanted } : {}));
    if (readied) return { operation, kind, request: readied.request };
  }
  return undefined;
}

/** Does what has to be told of, and says how it is listened for; without a fence, for as long as a slow event would take. */
export async function behind(session: Session, fence: EventFence | undefined, ear: Ear, quietMs: number): Promise<Fenced> {
  const { model, run } = session;
  const acted = fence && (await ifTestable(session.send(fence.request)));
  const nothing = { deliveries: [], nowSeconds: undefined };
  const seen = acted && { created: ear.opened.value, shown: undefined, acted: acted.value, heard: nothing };
  const missed = seen && isDone(seen.acted) && emissionJudgement(model, fence.operation, fence.kind, ear.maker, seen);
  if (fence && missed && 'promised' in missed) {
    const hasCome = (deliveries: Listening['deliveries']) => isTold(model, fence.kind, deliveries);
    return {
      waiting: { isEnough: hasCome, ms: eventMs, quietMs: quietMs / 2 },
      isSilence: ({ deliveries }) => hasCome(deliveries),
    };
  }
  return {
    waiting: { isEnough: () => false, ms: 0, quietMs, isUnfenced: true },
    isSilence: () => hasArrived(run),
  };
}

function isTold(model: Model, { name }: EventKind, deliveries: Listening['deliveries']): boolean {
  return eventsIn(model, deliveries).some(({ kind }) => kind === name);
}
