/** What the routes of the service are made with. */
import type { FastifyRequest } from 'fastify';
import type { House } from './house.ts';
import type { Quota } from './rates.ts';
import type { Schemas } from './schemas.ts';

export interface Parts {
  readonly house: House;
  readonly schemas: Schemas;
  readonly quota: Quota;
}

/** Where something is, in the version of the request. */
export function locationOf({ faults }: House, { version }: FastifyRequest, path: string): string {
  return faults.has('location-without-prefix') ? path : `/api/${version}${path}`;
}

export interface ById {
  readonly Params: { readonly id: string };
}

export interface ByBooking {
  readonly Params: { readonly booking: string };
}
