// Each fault by hand: its proof holds on the service as it is, and fails on the one with the fault. `node proofs/run.js [FAULT…]`;
// `--write` puts the list of the faults into stranger.json.
import { writeFileSync } from 'node:fs';
import { authentication } from './authentication.js';
import { endpoints } from './endpoints.js';
import { errors } from './errors.js';
import { events } from './events.js';
import { CREDENTIALS, world } from './kit.js';
import { limits } from './limits.js';
import { purpose } from './purpose.js';
import { resources } from './resources.js';
import { states } from './states.js';
import { versioning } from './versioning.js';

const parts = { purpose, resources, states, endpoints, authentication, events, errors, limits, versioning };
const all = Object.entries(parts).flatMap(([part, faults]) =>
  faults.map(([id, kind, subject, bug, proof]) => ({ id, part, kind, subject, bug, proof })),
);
const place = new URL('../stranger.json', import.meta.url);

if (process.argv.includes('--write')) {
  const users = {
    anna: 'keeper',
    bert: 'keeper',
    carl: 'keeper',
    ines: 'inspector',
    ivan: 'inspector',
    greg: 'grocer',
    gina: 'grocer',
    tess: 'keeper',
    theo: 'inspector',
    toni: 'grocer',
  };
  const callers = Object.entries(CREDENTIALS).map(([id, headers]) => ({
    user: users[id],
    id,
    credential: headers['x-apiary-key'] ?? headers.authorization.slice('Bearer '.length),
    scheme: headers['x-apiary-key'] ? 'key' : 'token',
    scopes: ['ines', 'theo'].includes(id) ? ['vet'] : [],
  }));
  const faults = all.map(({ proof, ...fault }) => fault);
  writeFileSync(
    place,
    `${JSON.stringify({ command: ['node', 'server.js'], document: 'service.yaml', callers, faults }, null, 1)}\n`,
  );
  process.exit(0);
}

const named = process.argv.slice(2);
const asked = all.filter(
  ({ id }) => named.length === 0 || named.some((name) => id === name || (name.endsWith('-') && id.startsWith(name))),
);
const failures = [];

async function holds(proof, fault) {
  const w = await world(fault);
  try {
    await proof(w);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    w.stop();
  }
}

const queue = [...asked];
async function worker() {
  for (let one = queue.shift(); one; one = queue.shift()) {
    const right = await holds(one.proof, undefined);
    const wrong = await holds(one.proof, one.id);
    if (right) failures.push(`${one.id}: fails on the right service: ${right.message.slice(0, 600)}`);
    if (!wrong) failures.push(`${one.id}: holds with the fault`);
    else if (wrong.code !== 'ERR_ASSERTION') failures.push(`${one.id}: breaks down: ${wrong.stack}`);
  }
}
await Promise.all([worker(), worker(), worker()]);
for (const failure of failures) console.log(failure);
console.log(`${asked.length} faults, ${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;
