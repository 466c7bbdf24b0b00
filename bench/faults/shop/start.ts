/** Starts the shop in this process. */
import { once } from 'node:events';
import { startClock } from '../clock.ts';
import type { RunningService } from '../command.ts';
import { switchesOf } from '../fault.ts';
import { counterRoutes } from './counter.ts';
import { couponRoutes } from './coupons.ts';
import { startDeliveries } from './deliveries.ts';
import { openDoor } from './door.ts';
import { shopFaults } from './faults.ts';
import { noteRoutes } from './notes.ts';
import { orderMoveRoutes } from './order-moves.ts';
import { orderRoutes } from './orders.ts';
import { productRoutes } from './products.ts';
import { startRate } from './quotas.ts';
import { tableOf } from './routing.ts';
import type { Caller, Shop } from './shop.ts';
import { webhookRoutes } from './webhooks.ts';

/** The keys that the shop has given out, by the callers that have them. */
export const shopKeys: ReadonlyMap<string, Caller> = new Map([
  ['sk_Anna0000000000000000000a', { id: 'anna', user: 'customer' }],
  ['sk_Ben00000000000000000000b', { id: 'ben', user: 'customer' }],
  ['sk_Clara000000000000000000c', { id: 'clara', user: 'clerk' }],
  ['sk_Dirk0000000000000000000d', { id: 'dirk', user: 'clerk' }],
]);

/** Keys that were taken back. */
export const revokedShopKeys: ReadonlyMap<string, Caller> = new Map([
  ['sk_Emma0000000000000000000e', { id: 'emma', user: 'customer' }],
  ['sk_Finn0000000000000000000f', { id: 'finn', user: 'clerk' }],
]);

export async function startShop({
  fault,
  port = 0,
}: {
  readonly fault?: string | undefined;
  readonly port?: number;
} = {}): Promise<RunningService> {
  const clock = startClock();
  const deliveries = startDeliveries();
  const shop: Shop = {
    clock,
    faults: switchesOf(shopFaults, fault),
    keys: shopKeys,
    revoked: revokedShopKeys,
    products: new Map(),
    coupons: new Map(),
    orders: new Map(),
    notes: new Map(),
    webhooks: new Map(),
    expiries: new Map(),
    emit: (event) => deliveries.emit(shop, event),
    subscribe: deliveries.subscribe,
  };
  const routes = [
    ...counterRoutes,
    ...productRoutes,
    ...couponRoutes,
    ...orderRoutes,
    ...orderMoveRoutes,
    ...noteRoutes,
    ...webhookRoutes,
  ];
  const server = openDoor(shop, tableOf(routes), startRate(shop));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The shop listens on no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    clock,
    async close() {
      deliveries.close();
      clock.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
