import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { along, withPlaced } from '../../parts/reach.ts';
import type { Client } from '../exchange/client.ts';
import type { WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';

/** Gives an address that takes whatever is sent to it. */
export type NewAddress = (session: Session) => Promise<Symbolic>;

/** The services that tell nobody at an address of ours, but do elsewhere. */
const elsewhere = new WeakSet<Client>();

/** Notes that a row was taken with another address after all with ours were refused. */
export function heardElsewhere({ model, run }: Session, resource: string): void {
  if (isSubscriber(model, resource)) elsewhere.add(run.client);
}

export function isSubscriber({ spec }: Model, resource: string): boolean {
  return statedValue(spec.events.delivery)?.push?.subscribers?.resource === resource;
}

/** A subscriber that is told at an address of ours: elsewhere nobody is, and every event would be tried again and again. */
export async function heardHere(
  session: Session,
  endpoint: Endpoint,
  wanted: WantedRow,
  address: NewAddress | undefined,
): Promise<WantedRow> {
  const { url } = statedValue(session.model.spec.events.delivery)?.push?.subscribers ?? {};
  const effect = statedValue(endpoint.does);
  const isNew = (effect?.verb === 'create' || effect?.verb === 'upsert') && isSubscriber(session.model, effect.resource);
  if (!isNew || url === undefined || !address || wanted.isElsewhere) return wanted;
  return {
    ...wanted,
    body: withPlaced({ ...wanted.body }, url, along(wanted.body, url) ?? (await address(session))),
  };
}

/** The field that holds where a subscriber is told, and an address of ours; nothing where that is inside of another, or is refused. */
export async function heardAt(
  session: Session,
  resource: string,
  address: NewAddress | undefined,
): Promise<{ readonly field: string; readonly address: Symbolic } | undefined> {
  const { url } = statedValue(session.model.spec.events.delivery)?.push?.subscribers ?? {};
  const mayHear = isSubscriber(session.model, resource) && !elsewhere.has(session.run.client);
  if (!mayHear || !address || url === undefined || url.includes('.')) return undefined;
  return { field: url, address: await address(session) };
}
