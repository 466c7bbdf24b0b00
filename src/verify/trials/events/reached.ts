import { setTimeout as pause } from 'node:timers/promises';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import type { FactName } from '../../exchange/claim.ts';
import type { Client } from '../../exchange/client.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { type Ear, endAll, type Listening, noteArrival, type Waiting } from './ear.ts';
import { receiverOf } from './own-addresses.ts';
import { openEar, streaming, streamOf } from './stream-ears.ts';
import { subscribe, subscribersOf, subscribing } from './subscribing.ts';

/** How long an event is waited for that only shows that events come. */
const proofMs = 1_500;
/** How many operations are tried for it. */
const proofsMax = 4;

/** Somebody who listens, to what came of the steps before. */
export interface Listener {
  readonly ear: Ear;
  readonly after: readonly Done<unknown>[];
  readonly waiting: Waiting;
}

/** One of them listens. @throws {Untestable} where nothing ever comes. */
export async function hear(
  session: Session,
  ear: Ear,
  after: readonly Done<unknown>[],
  waiting: Waiting,
): Promise<Done<Listening>> {
  const [heard] = await hearAll(session, [{ ear, after, waiting }]);
  // The cast holds: who listens alone hears alone.
  return heard as Done<Listening>;
}

/**
 * All of them listen at once. Where nothing has ever come to the receiver, silence says something only once something else has come:
 * a service may refuse to send web hooks to this machine. @throws {Untestable} where nothing ever comes.
 */
export async function hearAll(session: Session, listeners: readonly Listener[]): Promise<Done<Listening>[]> {
  const { client } = session.run;
  // Who has waited once for nothing does not wait again.
  await needReached(proofs.get(client));
  const heard = await Promise.all(listeners.map(({ ear, after, waiting }) => session.do(ear.hearing(after, waiting))));
  if (!heard.some(({ value }) => value.isUnreached)) return heard;
  // Nobody listens any more when others begin to.
  await endAll(session);
  // What is only told under conditions may come later.
  if (provers(session.model).length === 0) throw new Untestable(silence);
  const proof = proofs.get(client) ?? whyUnreached(session);
  proofs.set(client, proof);
  await needReached(proof);
  return heard;
}

/** Why nothing comes to the receiver of a client, once that was in doubt; nothing where something does. */
const proofs = new WeakMap<Client, Promise<string | undefined>>();

async function needReached(proof: Promise<string | undefined> | undefined): Promise<void> {
  const why = await proof;
  if (why !== undefined) throw new Untestable(why);
}

const silence = 'nothing ever came to the receiver on this machine: services may refuse to send web hooks to its addresses';

/** The operations that have to be told of, whatever else is so. */
function provers(model: Model): readonly Operation[] {
  return changing(model).filter((one) => isTold(model, one));
}

/** Why nothing comes of operations that have to be told of; nothing where something does. */
async function whyUnreached(session: Session): Promise<string | undefined> {
  let why: string | undefined;
  let isSilent = false;
  for (const operation of provers(session.model).slice(0, proofsMax)) {
    try {
      if (await tells(session, operation)) return undefined;
      isSilent = true;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why = error.message;
    }
  }
  return isSilent ? silence : (why ?? silence);
}

/** Whether an operation emits something whatever else is so. */
function isTold({ spec }: Model, operation: Operation): boolean {
  return entriesOf(spec.events.kinds).some(
    ([, kind]) => !kind.if && !kind.to && namesOperation(statedValue(kind.on) ?? [], operation, 'event'),
  );
}

async function tells(session: Session, { endpoint }: Operation): Promise<boolean> {
  if (!endpoint) return false;
  const { request } = await ready(session, endpoint, { style: 'whole' });
  await everybody(session);
  const acted = await session.send(request);
  session.need(isDone(acted.value), `${endpoint.key} was answered ${acted.value.status}`);
  const receiver = await receiverOf(session.run);
  const fromMs = Date.now();
  for (let waitedMs = 0; waitedMs < proofMs && receiver.connections === 0; waitedMs += 20) await pause(20);
  if (receiver.connections > 0) noteArrival(session.run, Date.now() - fromMs);
  await endAll(session);
  return receiver.connections > 0;
}

export const kindsFact: FactName = { kind: 'kinds of event', subject: 'service' };
export const deliveryFact: FactName = { kind: 'delivery mechanism', subject: 'service' };

/** Whether anybody can be told of anything. */
export function canListen(model: Model): boolean {
  return (
    (subscribersOf(model) !== undefined && subscribing(model).length > 0) ||
    (streamOf(model) !== undefined && streaming(model).length > 0)
  );
}

/** The operations that change rows of a resource, but for those that subscribers are kept with. */
export function changing(model: Model): Operation[] {
  const verbs = ['create', 'update', 'replace', 'upsert', 'delete', 'transition'];
  return model.operations.filter(({ endpoint, resource }) => {
    const verb = endpoint && statedValue(endpoint.does)?.verb;
    return verb !== undefined && verbs.includes(verb) && resource !== subscribersOf(model)?.resource;
  });
}

/** Everybody who can be told of something, all of whom listen from now on. @throws {Untestable} */
export async function everybody(session: Session): Promise<Ear[]> {
  const { model } = session;
  const ears: Ear[] = [];
  let why: unknown = new Untestable('nobody can listen');
  for (const maker of subscribing(model)) {
    try {
      ears.push(await subscribe(session, maker, { events: ['*'] }));
    } catch (error) {
      // A service may let only so many subscribe, or not everybody.
      if (!(error instanceof Untestable)) throw error;
      why = error;
    }
  }
  if (streamOf(model)) for (const caller of streaming(model)) ears.push(await openEar(session, caller));
  if (ears.length === 0) throw why;
  return ears;
}

/** Somebody who listens: whoever is wanted where that can be, on the stream where there is one. @throws {Untestable} */
export async function anEar(session: Session, wanted?: Ear['maker']): Promise<Ear> {
  const { model } = session;
  const readers = streamOf(model) ? streaming(model) : [];
  if (readers.length > 0) return openEar(session, readers.includes(wanted) ? wanted : readers[0]);
  const makers = subscribersOf(model) ? subscribing(model) : [];
  session.need(makers.length > 0, 'nobody can listen');
  return subscribe(session, makers.includes(wanted) ? wanted : makers[0], { events: ['*'] });
}
