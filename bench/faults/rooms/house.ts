/** What the parts of the service share, and what a request carries. */
import type { Clock } from '../clock.ts';
import type { Switches } from '../fault.ts';
import type { Database, Row } from './database.ts';
import type { RoomsFault } from './faults.ts';

export type User = 'member' | 'host';
export type Version = 'v2' | 'v3';

export interface Caller {
  readonly id: string;
  readonly user: User;
  readonly scopes: readonly string[];
}

export interface House {
  readonly clock: Clock;
  readonly faults: Switches<RoomsFault>;
  readonly db: Database;
  emit(event: HouseEvent): void;
}

/** Something that has happened to a row, which is kept with it as it was. */
export interface HouseEvent {
  readonly kind: string;
  readonly resource: 'room' | 'booking' | 'guest';
  readonly row: Row;
  /** Whose booking it is about; everybody may hear of rooms. */
  readonly member?: string;
  /** A payload of its own, where it is not the row. */
  readonly own?: Row;
}

/** What a route says of itself. */
export interface RouteConfig {
  readonly operation: string;
  /** Who may call it; nobody has to be known where it is missing. */
  readonly users?: readonly User[];
  readonly scopes?: Partial<Record<User, string>>;
  readonly takes?: readonly string[];
  /** Not there in the versions before the newest. */
  readonly isNew?: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    version: Version;
    /** The bytes of the body, for what has to be the same bytes again. */
    bytes: Buffer;
  }
  interface FastifyContextConfig extends Partial<RouteConfig> {}
}

/** What is wrong with one place of a request. */
export interface Complaint {
  readonly path: string;
  readonly expected: string;
}

/** Thrown by whatever refuses a request; its code is one of the document. */
export class Refused extends Error {
  readonly code: string;
  readonly fields: readonly Complaint[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: string, fields: readonly Complaint[] = [], headers: Readonly<Record<string, string>> = {}) {
    super(code);
    this.code = code;
    this.fields = fields;
    this.headers = headers;
  }
}

export const nobody: Caller = { id: '', user: 'member', scopes: [] };

export function nowText({ clock }: House): string {
  return new Date(clock.now()).toISOString();
}
