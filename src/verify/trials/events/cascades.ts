import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { rowFor } from '../../make/row-where.ts';
import { remove } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { eventsIn } from './heard.ts';
import { everybody, hear } from './reached.ts';
import { asksFor, subscriberMade } from './subscribing.ts';

const quietMs = 120;

/** Rows that are deleted with what they refer to, and the kind of event that tells of it. */
export interface Cascade {
  readonly kind: EventKind;
  readonly resource: Resource;
  readonly field: Field;
  /** The resource whose rows are deleted. */
  readonly parent: string;
}

/** The reason of a claim about such events. */
export const goneWith = (parent: string): string => `deleted with its ${parent}`;

/** Whoever deletes a row deletes those that go with it, and each is told of: where somebody may surely read it, whatever it refers to. */
export function cascadesOf(model: Model): readonly Cascade[] {
  return entriesOf(model.spec.resources.all).flatMap(([name, resource]) =>
    entriesOf(resource.fields).flatMap(([, field]) => {
      const { ref: parent, onDelete } = field;
      if (onDelete !== 'cascade' || parent === undefined || parent === name) return [];
      if (model.endpointsThat('delete', parent).length === 0 || model.endpointsThat('create', name).length === 0) return [];
      return entriesOf(model.spec.events.kinds).flatMap(([, kind]) =>
        isOfDeletion(kind, name) ? [{ kind, resource, field, parent }] : [],
      );
    }),
  );
}

function isOfDeletion({ on, if: condition, each, to }: EventKind, resource: string): boolean {
  return (statedValue(on) ?? []).includes(`delete ${resource}`) && !condition && !each && !to;
}

export function cascadeCases(model: Model): readonly Case[] {
  return cascadesOf(model).map((cascade) => ({
    name: `a ${cascade.resource.name}, ${goneWith(cascade.parent)}`,
    facts: [{ kind: 'emitting operations', subject: cascade.kind.name }],
    run: (session) => deleteWith(session, cascade),
  }));
}

async function deleteWith(session: Session, { kind, resource, field, parent }: Cascade): Promise<void> {
  const { model } = session;
  const row = await rowFor(session, resource.name, field.name, parent);
  const isSent = isWritable(model.spec, resource, field);
  const child = await session.make(resource.name, {
    parents: { [field.name]: row },
    ...(isSent && { body: { [field.name]: row.id } }),
  });
  const { made } = child;
  session.need(made !== undefined, `rows of ${resource.name} are given, not made`);
  const ears = (await everybody(session)).filter(({ maker, opened }) =>
    hearsAll(model, resource.name, kind, maker, opened.value),
  );
  const [ear] = ears;
  session.need(ear !== undefined, `nobody who listens may surely read a ${resource.name}`);
  const done = await remove(session, row);
  session.need(isDone(done.value), `the ${parent} could not be deleted: ${done.value.status}`);
  const isOf = (heard: Listening['deliveries']) => eventsIn(model, heard).some((event) => event.kind === kind.name);
  const heard = await hear(session, ear, [made, done], { isEnough: isOf, ms: eventMs, quietMs });
  session.claim({
    shrinkingRuns: 2,
    fact: { kind: 'emitting operations', subject: kind.name },
    reason: goneWith(parent),
    at: `${field.at}/onDelete`,
    of: [ear.opened, made, done, heard] as const,
    judge(opened: TrialExchange, creation: TrialExchange, deletion: TrialExchange, come: Listening): Judgement {
      if (!isDone(opened) || !isDone(creation) || !isDone(deletion)) return moot('nobody listened, or nothing was deleted');
      const id = idIn(model, creation);
      const events = eventsIn(model, come.deliveries);
      if (events.some((event) => event.kind === undefined)) return moot('what comes does not say of which kind it is');
      return events.some((event) => event.kind === kind.name)
        ? undefined
        : {
            promised: `${resource.name} ${asText(id)} goes with its ${parent}, and ${kind.name} is told of it`,
            seen: 'none came',
          };
    },
  });
}

/** Whether somebody who listens asks for a kind and may read every row of a resource, whatever it refers to. */
export function hearsAll(
  model: Model,
  resource: string,
  kind: EventKind,
  maker: TrialCaller | undefined,
  opened: TrialExchange,
): boolean {
  const reads = model.endpointsThat('read', resource);
  const asked: readonly Operation[] = (reads.length > 0 ? reads : model.endpointsThat('list', resource)).map((endpoint) =>
    model.operationOf(endpoint),
  );
  const subscriber = subscriberMade(model, opened);
  return (
    asked.some((one) => model.access.allows(one, maker) === 'yes') && (!subscriber || asksFor(model, subscriber, kind) !== 'no')
  );
}
