import { handshakeOf } from '../../kinds/handshakes/all.ts';
import type { Handshake } from '../../kinds/handshakes/kind.ts';
import { handshakeRequest, isConfirmedBy } from '../../kinds/handshakes/requests.ts';
import { along, withPlaced } from '../../parts/reach.ts';
import type { NewEvent, StoredEvent } from '../../store/outbox.ts';
import type { Transaction } from '../../store/store.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { ownWork } from '../resources/act.ts';
import { updateRow } from '../resources/create.ts';
import { applySetters, drawOnce } from '../resources/setters.ts';
import { pushOf } from './event-kinds.ts';
import type { Posted } from './posts.ts';
import type { EventsSetting } from './setting.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';

/** What is asked of an address before anything is delivered to it, as it waits to be sent: it is of no operation. */
export function newHandshake(id: string, atMs: number, challenge: string): NewEvent {
  const payload = JSON.stringify({ challenge });
  return { id, kind: handshakeName, atMs, operation: '', resource: null, row: null, payload, image: null };
}

/** How it is listed among deliveries. */
const handshakeName = 'confirm';

/** Whether what waits to be sent is a handshake. Every event is of an operation. */
export function isHandshake({ operation }: Pick<StoredEvent, 'operation'>): boolean {
  return operation === '';
}

/** The handshake that an event is. */
export function handshakeIn(event: StoredEvent | undefined): string | undefined {
  return event && isHandshake(event) ? event.id : undefined;
}

/** Why nothing may be sent to a subscriber now; nothing where it may be. */
export function whyUnasked({ asked }: Subscriber, event: StoredEvent): string | undefined {
  if (isHandshake(event)) return undefined;
  return asked === undefined ? undefined : 'Its address was asked, and has not confirmed yet.';
}

/** Why a handshake is not gone on with; nothing where it is. */
export function whyNotAsked({ asked }: Subscriber, event: StoredEvent): string | undefined {
  return isHandshake(event) && asked !== event.id ? 'Another address is asked, or this one has confirmed.' : undefined;
}

/** What is asked of addresses, and whether an answer is the right one. */
export interface Handshaking {
  request(event: StoredEvent, subscriber: Subscriber): ReturnType<typeof handshakeRequest> | undefined;
  /** What came of a handshake: one that was not answered as it has to be has failed. */
  judged(event: StoredEvent, subscriber: Subscriber, posted: Posted): Posted;
}

export function compileHandshaking(engine: EventsSetting): Handshaking {
  const stated = pushOf(engine)?.confirm;
  const handshake: Handshake | undefined = stated && handshakeOf(stated);
  const wordsOf = ({ payload }: StoredEvent, { id }: Subscriber) => ({
    // It was written above.
    challenge: String((JSON.parse(payload) as { readonly challenge: string }).challenge),
    id,
  });
  return {
    request: (event, subscriber) => handshake && handshakeRequest(handshake, wordsOf(event, subscriber)),
    judged(event, subscriber, posted) {
      const { status = 0, response = '', isCut } = posted;
      if (!handshake || status < 200 || status >= 300) return posted;
      const isRight = !isCut && isConfirmedBy(handshake, wordsOf(event, subscriber), response);
      return isRight || handshake.answers.length === 0
        ? posted
        : { ...posted, isRefused: true, error: 'It did not answer as it has to, to confirm its address.' };
    },
  };
}

/** The operation `confirm RESOURCE`: an address has confirmed, and the row says so where it has a field for it. */
export async function confirmSubscriber(
  engine: EventsSetting,
  subscribers: Subscribers,
  id: string,
  handshake: string,
): Promise<void> {
  const names = pushOf(engine)?.subscribers;
  const model = names && engine.models.get(names.resource);
  if (!names || !model) return;
  const operation = `confirm ${names.resource}`;
  const draw = drawOnce(engine.chance, engine.clock.now());
  const recorded = await engine.store.change((rows: Transaction) => {
    const row = rows.get(model.name, id);
    if (!row || !subscribers.confirm(rows, id, handshake)) return undefined;
    const before = model.parse(row);
    if (names.confirmed === undefined || along<Value>(before, names.confirmed) === true)
      return { reached: new Set<string>(), subscribers: [id] };
    const work = ownWork(rows, engine.models, draw, operation);
    const draft: Fields = withPlaced(before, names.confirmed, true);
    const next = applySetters(model.setters([operation, 'write']), { ...work.scope, resource: before, next: draft }, draft);
    updateRow(work, model, row, before, next, operation);
    return engine.events.record(work, undefined) ?? { reached: new Set<string>(), subscribers: [id] };
  });
  if (recorded) subscribers.changed([id]);
  engine.events.recorded(recorded);
}
