/** Starts the meeting rooms: `node bench/faults/rooms.ts --port 0 --fault ID --auth-file FILE`. */
import { serveFromCommandLine } from './command.ts';
import { services } from './services.ts';

const { start, callers } = services.find(({ name }) => name === 'rooms')!;
await serveFromCommandLine(start, await callers());
