import type { PullKind } from '../../kinds/deliveries/kind.ts';
import type { StreamKind } from '../../kinds/streams/kind.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import type { Reader } from '../../store/store.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import { isFailed } from '../exchange/compilation.ts';
import type { Caller } from '../exchange/exchange.ts';
import { parseStoredValue } from '../http/json.ts';
import { isHandshake } from './confirming.ts';
import type { Audience, Wrapping } from './envelope.ts';
import type { Recording } from './recording.ts';
import { type Image, readImage } from './row-image.ts';

/** What the stream needs of a document, compiled once. */
export interface StreamRules {
  /** How somebody listens. */
  readonly way: PullKind;
  /** How far back a reader can resume. */
  readonly keptMs: number;
  /** How events are written one after another. */
  readonly kind: StreamKind;
  /** What keeps a connection from looking dead. */
  readonly comment: Buffer;
  readonly recording: Recording;
  readonly wrapping: Wrapping;
  /** Whether a caller that was let in still is somebody. */
  isGood(caller: Caller): PromiseOrValue<boolean>;
}

/** Whoever is the same caller in the same version. */
export interface Listeners {
  readonly caller: Caller | undefined;
  readonly version: string;
}

/** One event, as each group of readers that may hear of it is told. */
export interface ToldTo<Group> {
  readonly id: string;
  readonly seq: number;
  readonly pieces: ReadonlyMap<Group, Buffer>;
  /** Why it could not be written for some. */
  readonly wrong: readonly string[];
}

/** Inside a reading: what groups of readers are told of an event. */
export function tellTo<Group extends Listeners>(
  groups: readonly Group[],
  event: StoredEvent,
  rows: Reader,
  rules: StreamRules,
): ToldTo<Group> {
  const told = new EventForReaders(event, rows, rules);
  const pieces = new Map<Group, Buffer>();
  for (const group of groups) {
    const piece = told.pieceFor(group);
    if (piece) pieces.set(group, piece);
  }
  return { id: event.id, seq: event.seq, pieces, wrong: told.wrong };
}

/** One event on its way to many readers: what is the same for several of them is made once. */
class EventForReaders {
  readonly #event: StoredEvent;
  readonly #rows: Reader;
  readonly #rules: StreamRules;
  readonly #pieces = new Map<string, Buffer | undefined>();
  readonly wrong: string[] = [];
  #image: Image | undefined;

  constructor(event: StoredEvent, rows: Reader, rules: StreamRules) {
    this.#event = event;
    this.#rows = rows;
    this.#rules = rules;
  }

  /** What a group of readers is sent; nothing where its caller may not hear of it. */
  pieceFor({ caller, version }: Listeners): Buffer | undefined {
    if (!this.#mayHear(caller)) return undefined;
    const key = `${caller?.user ?? ''}\n${version}`;
    if (!this.#pieces.has(key)) this.#pieces.set(key, this.#write({ user: caller?.user, version }));
    return this.#pieces.get(key);
  }

  #write(audience: Audience): Buffer | undefined {
    const { id, kind } = this.#event;
    const body = this.#rules.wrapping.body(this.#event, audience);
    if (typeof body === 'string')
      return Buffer.from(this.#rules.kind.write({ id, event: this.#rules.wrapping.told(kind).kind, data: body }));
    this.wrong.push(body.wrong);
    return undefined;
  }

  /** The connected caller is the maker: it must be able to read the row as it was, unless `to` says otherwise. */
  #mayHear(caller: Caller | undefined): boolean {
    const { kinds, mayRead } = this.#rules.recording;
    const event = this.#event;
    const kind = isHandshake(event) ? undefined : kinds.named(event.kind);
    if (!kind) return false;
    this.#image ??= readImage(event);
    if (!kind.to) return event.resource !== null && mayRead(caller, event.resource, this.#image, this.#rows, event.atMs);
    const { id, atMs, operation } = event;
    const told = { id, ...kind.told, at: new Date(atMs).toISOString(), payload: parseStoredValue(event.payload) };
    const value = kind.to(operation)({ ...this.#image.scope, now: atMs, operation, version: '', event: told, caller });
    return !isFailed(value) && value === true;
  }
}
