import { statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import type { FactName } from '../../exchange/facts.ts';
import { Untestable } from '../../exchange/untestable.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Ear } from './ear.ts';
import { openEar, streaming, streamOf } from './stream-ears.ts';
import { subscribe, subscribersOf, subscribing } from './subscribing.ts';

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
