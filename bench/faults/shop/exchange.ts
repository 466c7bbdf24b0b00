/** One request on its way through the shop, and what it is answered. */
import type { IncomingMessage } from 'node:http';
import type { Caller, Shop, User, Version } from './shop.ts';

export interface Exchange {
  readonly shop: Shop;
  readonly request: IncomingMessage;
  readonly version: Version;
  readonly caller: Caller;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: unknown;
}

/** Query parameters that were read, by name. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** It was made before the request reached a route: no version of a route was deprecated. */
  readonly isUnrouted?: boolean;
}

/** What is wrong with one place of a request. */
export interface Violation {
  readonly in: 'body' | 'query' | 'header';
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

/** Thrown by whatever refuses a request; its code is one of the document. */
export class Refusal extends Error {
  readonly code: string;
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;
  isUnrouted = false;

  constructor(code: string, violations: readonly Violation[] = [], headers: Readonly<Record<string, string>> = {}) {
    super(code);
    this.code = code;
    this.violations = violations;
    this.headers = headers;
  }
}

/** A row of the table of routes. */
export interface Route {
  readonly method: string;
  /** Under the prefix, with a name in braces for each step that varies. */
  readonly path: string;
  readonly operation: string;
  /** Who may call it; nobody has to be known where it is missing. */
  readonly users?: readonly User[];
  readonly takesBody?: 'json' | 'patch';
  readonly query?: (sent: URLSearchParams, version: Version, shop: Shop) => Query;
  readonly run: (exchange: Exchange) => Answer | Promise<Answer>;
}
