import type { Json } from '../../document/document.ts';
import type { Caller } from '../exchange/exchange.ts';

/** Plain fields of a row or a body. */
export type Plain = { [key: string]: Json | Uint8Array | undefined };

/** What a handler may do with stored things. Reads see its own writes; nothing is stored before the handler has answered. */
export interface HandlerStore {
  get(resource: string, id: string): Promise<Plain | undefined>;
  /** Rows whose fields equal what is given, in creation order, `most` at a time (100 unless given). */
  list(resource: string, where?: Readonly<Record<string, Json>>, options?: { readonly most?: number }): Promise<Plain[]>;
  create(resource: string, fields: Plain): Promise<Plain>;
  update(resource: string, id: string, patch: Plain): Promise<Plain>;
  delete(resource: string, id: string): Promise<void>;
}

/** What a handler is given. It runs inside the same order of refusals as everything else. */
export interface HandlerContext {
  /** The body; one that is no JSON, form or text comes as bytes. */
  readonly request: Json | Uint8Array | undefined;
  readonly params: Readonly<Record<string, Json>>;
  /** The row that the path names, where there is one. */
  readonly resource: Plain | undefined;
  /** In `before`: what would be stored; it may be changed. */
  readonly next: Plain;
  readonly caller: Caller | undefined;
  readonly now: Date;
  readonly store: HandlerStore;
  /** Records an event of a stated kind. */
  emit(kind: string, data: Json): void;
  /** Refuses with one of the document's own codes; nothing is stored. */
  fail(code: string, message?: string): never;
  /** Fires a transition on a row, with everything else this handler does. */
  fire(resource: string, id: string, transition: string): void;
}

export type Handler = (context: HandlerContext) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;
export type BeforeHandlers = Handlers;

/**
 * Handlers as they are handed in: those of a document's own generated types, whose contexts are narrower than
 * `HandlerContext`, fit here as well as those that take a `HandlerContext`.
 */
export type GivenHandlers = Readonly<Record<string, (context: never) => unknown>>;
