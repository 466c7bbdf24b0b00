import type { Following } from '../../../parts/effects.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { type Followed, fieldNaming, followedOf, followingName } from '../../../parts/followed.ts';
import { namesOperation, type Operation, operationsOf } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { hearsAll } from './cascades.ts';
import { endAll, eventMs, type Listening } from './ear.ts';
import { payloadFlaw, showsPayload } from './envelope.ts';
import type { ObservedChange } from './expected.ts';
import { eventsIn, isNameless, nameless, unshown } from './heard.ts';
import { canListen, everybody, hear } from './reached.ts';

/** What is done along with a change that callers make, and the kind of event that tells of it. */
export interface ToldAlong {
  readonly change: Operation;
  readonly act: Operation;
  readonly kind: EventKind;
}

/** The reason of a claim about such an event. */
export const followsFrom = ({ change }: ToldAlong): string => `follows ${change.name}`;

/** The acts that follow every change of a sort, under no condition, and each kind of event that tells of one under none either. */
export function toldAlongOf(model: Model): readonly ToldAlong[] {
  const acts = new Map(operationsOf(model.spec).map((operation) => [operation.name, operation]));
  return followedOf(model.spec).flatMap((followed) => {
    const changes = model.operations.filter((operation) => operation.endpoint && isChange(followed, operation));
    const surely = followed.acts
      .filter((one) => isSure(model, followed.resource, one))
      .flatMap(({ does }) => (does ? (acts.get(followingName(does)) ?? []) : []));
    return changes.flatMap((change) =>
      surely.flatMap((act) => kindsTelling(model, act).map((kind): ToldAlong => ({ change, act, kind }))),
    );
  });
}

/** Whether an act is carried out each time: it is done once, of a row that there always is, and what refuses it refuses the change. */
function isSure(model: Model, resource: string, { to, if: condition, each, skips, children }: Following): boolean {
  if (condition || each || skips || children !== undefined) return false;
  const field = to && entryOf(model.resource(resource)?.fields, fieldNaming(to.source) ?? '');
  return !to || (field !== undefined && statedValue(field.required) === true);
}

function isChange({ resource, change }: Followed, { endpoint, resource: of }: Operation): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  if (!effect || of !== resource) return false;
  if (typeof change !== 'string') return effect.verb === 'transition' && effect.transition === change.transition.name;
  return change === `${effect.verb}d` && change !== 'updated';
}

function kindsTelling(model: Model, act: Operation): EventKind[] {
  return entriesOf(model.spec.events.kinds).flatMap(([, kind]) =>
    !kind.if && !kind.each && !kind.to && namesOperation(statedValue(kind.on) ?? [], act, 'event') ? [kind] : [],
  );
}

/** What follows from a change is told as what callers do: a toll that is raised when a passage is over. */
export const toldAlong: Trial = {
  name: 'events/following',
  part: 'events',
  about: 'What is done along with a change emits its events as well.',
  noise: 'alone',
  *cases(model) {
    for (const told of canListen(model) ? toldAlongOf(model) : []) {
      const { change, act, kind } = told;
      yield {
        name: `${kind.name} of ${act.name}, after ${change.name}`,
        facts: [
          { kind: 'emitting operations', subject: kind.name },
          { kind: 'payload shapes', subject: kind.name },
        ],
        run: (session) => listenAlong(session, told),
      };
    }
  },
};

async function listenAlong(session: Session, told: ToldAlong): Promise<void> {
  const { model } = session;
  const { change, act, kind } = told;
  const { endpoint } = change;
  if (!endpoint) throw new Untestable(`no caller reaches ${change.name}`);
  const { request, row } = await ready(session, endpoint);
  if (row) await lookAt(session, row);
  const ears = await everybody(session);
  const ear = ears.find(({ maker, opened }) => hearsAll(model, act.resource ?? '', kind, maker, opened.value));
  session.need(ear !== undefined, `nobody who listens may surely read each ${act.resource}`);
  const acted = await session.send(request);
  if (!isDone(acted.value)) {
    await endAll(session);
    throw new Untestable(`${change.name} was answered ${acted.value.status}${briefly(acted.value)}`);
  }
  const isOf = (deliveries: Listening['deliveries']) => eventsIn(model, deliveries).some((event) => event.kind === kind.name);
  const heard = await hear(session, ear, [acted], { isEnough: isOf, ms: eventMs, quietMs: 100 });
  const of = [ear.opened, acted, heard] as const;
  session.claim({
    shrinkingRuns: 2,
    fact: { kind: 'emitting operations', subject: kind.name },
    reason: followsFrom(told),
    of,
    judge(opened: TrialExchange, done: TrialExchange, come: Listening): Judgement {
      if (!isDone(opened) || !isDone(done)) return moot('nobody listened, or the change was refused');
      const events = eventsIn(model, come.deliveries);
      if (isNameless(model, events)) return moot(nameless);
      return events.some((event) => event.kind === kind.name)
        ? undefined
        : { promised: `${act.name} follows ${change.name}, and ${kind.name} is told of it`, seen: 'none came' };
    },
  });
  session.claim({
    shrinkingRuns: 2,
    fact: { kind: 'payload shapes', subject: kind.name },
    reason: followsFrom(told),
    of,
    judge(opened: TrialExchange, done: TrialExchange, come: Listening): Judgement {
      const [event] = eventsIn(model, come.deliveries).filter((one) => one.kind === kind.name);
      if (!isDone(opened) || !isDone(done) || !event) return moot('nothing came');
      if (!showsPayload(model.spec)) return moot(unshown);
      // Of the row itself nothing is known but what is told.
      const seen: ObservedChange = {
        operation: act,
        before: undefined,
        after: undefined,
        acted: done,
        unseen: new Set(),
        beside: [],
      };
      return payloadFlaw(model, kind, event.payload, seen, ear.maker);
    },
  });
  await endAll(session);
}
