import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '8080' }, 'clock-port': { type: 'string' }, fault: { type: 'string' } },
});
if (values.fault) process.env.APIARY_FAULT = values.fault;

const { buildApp } = await import('./app.js');
const { Clock } = await import('./keeping/clock.js');
const { openDoor } = await import('./door.js');

const clock = new Clock();
const app = await buildApp({ clock });
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
if (values['clock-port']) openDoor(clock, Number(values['clock-port']));
