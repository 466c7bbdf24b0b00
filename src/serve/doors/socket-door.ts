import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Call, Reply, ReplyStream } from '../call.ts';
import { type Bounds, type SomeBounds, settleBounds } from './bounds.ts';
import { ClientGone } from './client-gone.ts';
import { flawOf } from './flaws.ts';
import { endAfterBody } from './parting.ts';
import { type DoorRefusal, ownDoorReply, type RefuseRaw } from './refusals.ts';
import { send } from './send.ts';
import { SocketCall } from './socket-call.ts';
import { streamTo } from './streaming.ts';

/** What stands behind a door. */
export type Answer = (call: Call) => Reply | Promise<Reply>;

export interface DoorOptions extends SomeBounds {
  /** Gives what the door itself refuses its shape; a problem of RFC 9457 unless given. */
  readonly refuseRaw?: RefuseRaw | undefined;
  /** Called for what the answer throws, which callers see as `internal` alone. */
  readonly onFailure?: ((failure: unknown) => void) | undefined;
}

/** Takes requests of node:http to an answer, and its replies back. */
export class SocketDoor {
  readonly bounds: Bounds;
  /** Whether each reply is the last of its connection. */
  isClosing = false;
  readonly #answer: Answer;
  readonly #options: DoorOptions;
  readonly #streams = new Set<ServerResponse>();

  constructor(answer: Answer, options: DoorOptions) {
    this.#answer = answer;
    this.#options = options;
    this.bounds = settleBounds(options);
  }

  /** Answers a request. A client that expects 100-continue is told to go on once its body is read. */
  take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const call = new SocketCall(request, response, expectsContinue);
    const flaw = flawOf(request, this.bounds);
    if (flaw) {
      this.#write(call, this.refuse(flaw, call.path), true);
      return;
    }
    try {
      const reply = this.#answer(call);
      if (!(reply instanceof Promise)) this.#write(call, reply, this.isClosing);
      else reply.then((made) => this.#write(call, made, this.isClosing)).catch((failure) => this.#fail(call, failure));
    } catch (failure) {
      this.#fail(call, failure);
    }
  }

  /** Answers a request that expects something else (RFC 9110 section 10.1.1). */
  refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
    const call = new SocketCall(request, response, false);
    this.#write(call, this.refuse('expectation', call.path), true);
  }

  /** Gives a refusal its stated shape, or the standard's where that fails. */
  refuse(kind: DoorRefusal, path: string): Reply {
    const { refuseRaw, onFailure } = this.#options;
    try {
      return refuseRaw?.(kind, path) ?? ownDoorReply(kind);
    } catch (failure) {
      onFailure?.(failure);
      return ownDoorReply(kind);
    }
  }

  #write(call: SocketCall, reply: Reply, last: boolean): void {
    const { response, unreadBytes } = call;
    // The connection was refused or has ended in the meantime.
    if (response.headersSent || response.destroyed) return;
    if (reply.stream) {
      this.#stream(call, reply, reply.stream);
      return;
    }
    if (unreadBytes === 0) {
      send(response, reply, last, false);
      return;
    }
    const kept = !last && unreadBytes <= this.bounds.drainBytesMax;
    send(response, reply, !kept, true);
    endAfterBody(call.request, response, kept, this.bounds);
  }

  #stream(call: SocketCall, reply: Reply, stream: ReplyStream): void {
    const { request, response } = call;
    if (call.unreadBytes > 0) request.resume();
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
    streamTo(response, reply, stream);
    if (this.isClosing) response.end();
  }

  /** Ends the replies that would go on. */
  endStreams(): void {
    for (const response of this.#streams) response.end();
  }

  #fail(call: SocketCall, failure: unknown): void {
    if (failure instanceof ClientGone) return;
    // A first attempt may have left its phrase.
    call.response.statusMessage = '';
    try {
      this.#write(call, this.refuse('internal', call.path), this.isClosing);
    } catch {
      this.#write(call, ownDoorReply('internal'), true);
    }
    this.#options.onFailure?.(failure);
  }
}
