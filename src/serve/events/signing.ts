import { type StatedSignature, signatureKind, signatureKinds } from '../../kinds/signatures/all.ts';
import type { Signature } from '../../kinds/signatures/kind.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import { webhookOf } from './kinds.ts';
import type { Post } from './posting.ts';
import type { EventsSetting } from './setting.ts';
import type { Subscriber } from './subscribers.ts';
import type { Wrapping } from './wrapping.ts';

/** Makes what is sent: the event in its envelope, with the stated header fields and its signature. */
export interface Signing {
  post(event: StoredEvent, subscriber: Subscriber, nowMs: number): Post | { readonly wrong: string };
}

// These belong to the connection.
const framing = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect'];

export function compileSigning(engine: EventsSetting, wrapping: Wrapping, allowsPrivate: boolean): Signing {
  const signature = signatureOf(webhookOf(engine)?.signature);
  const { user } = engine.compilation;
  return {
    post(event, subscriber, nowMs) {
      const { maker, version, url, fields } = subscriber;
      const body = wrapping.body(event, { user: fields === undefined ? user : maker?.user, version });
      if (typeof body !== 'string') return body;
      const own = wrapping.headers(event, subscriber);
      if ('wrong' in own) return { wrong: String(own.wrong) };
      const signed = signature.sign({ id: event.id, timestamp: Math.floor(nowMs / 1000), body }, subscriber.secrets(nowMs));
      if ('wrong' in signed) return { wrong: String(signed.wrong) };
      const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'ninefold', ...own };
      for (const name of framing) delete headers[name];
      // Whoever starts the service chooses where it sends; a row's address is somebody else's choice.
      const isPrivate = allowsPrivate || fields === undefined;
      return { url, headers: { ...headers, ...signed }, body, isPrivate };
    },
  };
}

/** The signature that is stated, or the usual one; what is stated and is none of them is never sent. */
function signatureOf(stated: StatedSignature | undefined): Signature {
  const kind = stated ? signatureKind(stated) : signatureKinds[0];
  return kind?.compile(stated?.facts ?? {}) ?? unknown;
}

const unknown: Signature = { sign: () => ({ wrong: 'The stated signature is none that can be made here.' }) };
