/** Starts the shop: `node bench/faults/shop.ts --port 0 --fault ID --auth-file FILE`. */
import { serveFromCommandLine } from './command.ts';
import { services } from './services.ts';

const { start, callers } = services.find(({ name }) => name === 'shop')!;
await serveFromCommandLine(start, await callers());
