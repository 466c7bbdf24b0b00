import { fork } from 'node:child_process';

/**
 * What it costs the one process that has a SQLite file to be handed a request by another process and to give the answer back: its CPU time, in
 * µs a request. Beside what it costs that process to read and answer HTTP by itself it says what workers over a file could gain at the most.
 */
const requests = 20_000;
const warm = 2_000;
const together = 64;

const body = JSON.stringify({ title: 'Dune', author: 'Frank Herbert', isbn: '9780441013593', genre: 'novel', year: 1965 });
const asked = { method: 'POST', path: '/books', headers: { 'content-type': 'application/json' }, body };
const answer = { status: 201, headers: { 'content-type': 'application/json', location: '/books/1' }, body };

if (process.argv[2] === 'writer') write();

/** Takes what it is handed, gives an answer back, and tells at the end what that cost. */
function write(): void {
  let taken = 0;
  let start = process.cpuUsage();
  process.on('message', () => {
    taken += 1;
    if (taken === warm) start = process.cpuUsage();
    process.send?.(answer);
    if (taken < requests) return;
    const { user, system } = process.cpuUsage(start);
    process.send?.({ micros: (user + system) / (requests - warm) });
  });
}

function handed(): Promise<number> {
  return new Promise((resolve) => {
    const writer = fork(import.meta.filename, ['writer']);
    let sent = 0;
    const send = () => {
      if (sent++ < requests) writer.send(asked);
    };
    writer.on('message', (told: { readonly micros?: number }) => {
      if (told.micros === undefined) return send();
      writer.kill();
      resolve(told.micros);
    });
    for (let n = 0; n < together; n++) send();
  });
}

export async function run(): Promise<number> {
  const rounds = [await handed(), await handed(), await handed()].sort((a, b) => a - b);
  process.stdout.write(
    `handed over: ${rounds.map((micros) => micros.toFixed(1)).join(', ')} µs of the writing process, a request\n`,
  );
  return 0;
}
