/** Receives webhooks and answers 204: a process of its own. Tells how fast so many came, from the first to the last. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let expected = 0;
let count = 0;
let firstMs = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(204).end();
    count += 1;
    if (count === 1) firstMs = performance.now();
    if (count === expected) process.send?.({ perSecond: (count - 1) / ((performance.now() - firstMs) / 1000) });
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message: { readonly expected: number }) => {
  ({ expected } = message);
  count = 0;
});
process.on('disconnect', () => process.exit(0));
