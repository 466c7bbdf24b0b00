/** Starts the shop: `node bench/faults/shop.ts --port 0 --fault ID`. */
import { serveFromCommandLine } from './command.ts';
import { startShop } from './shop/start.ts';

await serveFromCommandLine(startShop);
