/** Stands between services and a database as a network would: what they send arrives so many milliseconds later. Tells its parent its port. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

const { hostname, port } = new URL(String(process.env.NINEFOLD_STORE));
const delayMs = Number(process.env.DELAY_MS);
const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ host: hostname, port: Number(port || 5432), noDelay: true });
  // Timers of one length ring in the order in which they were set.
  near.on('data', (bytes) => setTimeout(() => far.writable && far.write(bytes), delayMs));
  near.on('close', () => setTimeout(() => far.destroy(), delayMs));
  far.on('data', (bytes) => near.write(bytes));
  far.on('close', () => near.destroy());
  for (const socket of [near, far]) socket.on('error', () => socket.destroy());
}).listen(0, '127.0.0.1');
await once(server, 'listening');
// A server that listens on a port has an address that is no text.
process.send?.({ port: (server.address() as AddressInfo).port });
process.on('disconnect', () => process.exit());
