import { setTimeout as pause } from 'node:timers/promises';
import { handshakeOf } from '../../../kinds/handshakes/all.ts';
import { asText } from '../../exchange/as-text.ts';
import type { Client } from '../../exchange/client.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done, ScriptRun, Step } from '../../exchange/step.ts';
import { Fresh, resolve } from '../../exchange/symbol.ts';
import type { Session } from '../../session/session.ts';
import { deliveryOf } from './envelope.ts';
import { openReceiver, type React, type ReceivedDelivery, type Receiver } from './receiver.ts';

const receivers = new WeakMap<Client, Promise<Receiver>>();

/** The receiver of a run's client; opened when it is first needed, closed with the client. */
export function receiverOf({ client }: Pick<ScriptRun, 'client'>): Promise<Receiver> {
  const known = receivers.get(client);
  if (known) return known;
  const opened = openReceiver().then((receiver) => {
    client.closesWithIt(() => receiver.close());
    return receiver;
  });
  receivers.set(client, opened);
  return opened;
}

/** A new address of the receiver's. */
export async function newAddress(session: Session): Promise<Fresh> {
  const receiver = await receiverOf(session.run);
  const confirm = deliveryOf(session.model.spec)?.push?.confirm;
  const handshake = confirm && handshakeOf(confirm);
  if (handshake) receiver.confirms(handshake);
  const shell = { variable: 'RECEIVER', rest: '/hook' };
  return new Fresh(({ uuid }) => `${receiver.origin}/${uuid()}`, undefined, shell);
}

/** The step that says what deliveries to an address are answered with. */
export function reacting(url: Fresh, react: React): Step<true> {
  return {
    says: 'the receiver refuses what comes first',
    takes: [],
    async act(run) {
      (await receiverOf(run)).react(addressPath(url, run), react);
      return true;
    },
    tell: () => '',
    shell: () => [`printf ${refusedFirst(react)} > "$RECEIVED.refuse"`],
  };
}

/** The step that has what asks an address answered wrongly. */
export function denying(url: Fresh): Step<true> {
  return {
    says: 'the receiver answers wrongly what asks it whether it wants to be told',
    takes: [],
    async act(run) {
      (await receiverOf(run)).denies(addressPath(url, run));
      return true;
    },
    tell: () => '',
    shell: () => ['# the receiver answers the handshake otherwise than it has to'],
  };
}

/** How long it is waited until an address is asked, and then until what it answered was written down. */
const askedMs = 2_000;
const writtenMs = 300;

/** The step that waits until an address was asked, after the one that subscribed. */
export function beingAsked(url: Fresh, { step }: Done<TrialExchange>): Step<boolean> {
  return {
    says: 'wait until the address of the subscriber was asked',
    isWait: true,
    takes: [],
    needs: [step],
    async act(run) {
      const receiver = await receiverOf(run);
      const path = addressPath(url, run);
      const untilMs = Date.now() + askedMs;
      while (receiver.asked(path).length === 0 && Date.now() < untilMs) await pause(20);
      await pause(writtenMs);
      return receiver.asked(path).length > 0;
    },
    tell: (isAsked) => (isAsked ? 'it was asked' : 'it was not asked'),
    shell: () => ['sleep 2'],
  };
}

/** How many deliveries in a row are refused at first; many, where none is ever taken. */
function refusedFirst(react: React): number {
  const one: ReceivedDelivery = { headers: {}, text: '', body: undefined, method: 'POST', atMs: 0, status: 500 };
  const taken = Array.from({ length: refusedMost }, (_, count) => Array.from({ length: count }, () => one)).findIndex(
    (earlier) => react(one, earlier) < 300,
  );
  return taken < 0 ? 1_000 : taken;
}

const refusedMost = 10;

/** The path of an address in a run. */
export function addressPath(url: Fresh, run: ScriptRun): string {
  return new URL(asText(resolve(url, run))).pathname;
}
