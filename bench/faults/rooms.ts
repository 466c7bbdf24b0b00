/** Starts the meeting rooms: `node bench/faults/rooms.ts --port 0 --fault ID`. */
import { serveFromCommandLine } from './command.ts';
import { startRooms } from './rooms/start.ts';

await serveFromCommandLine(startRooms);
