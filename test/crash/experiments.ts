import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { type JsonMap, serve } from '../../src/index.ts';
import { steadyClock } from '../../src/serve/http/clock.ts';
import { type Chance, seeded } from './chance.ts';
import { startServer } from './server.ts';

/** What an experiment is given. */
interface Setting {
  readonly command: string;
  /** Its own. */
  readonly folder: string;
  readonly seed: number;
  /** How often it is tried. */
  readonly rounds: number;
}

/** A fault of a machine, what holds through it, and how that is seen: in words what was done. @throws where it does not hold. */
interface Experiment {
  readonly name: string;
  readonly holds: string;
  readonly carryOut: (setting: Setting) => Promise<string>;
}

const rows = 400;

/** Notes in their first version, or in the second, which renames and adds. */
function notes(version: 1 | 2): JsonMap {
  const fields = version === 1 ? { id: 'string', text: 'string' } : { id: 'string', title: 'string', kind: 'string' };
  return {
    title: 'Notes',
    resources: { note: { identifier: { field: 'id', generate: 'client' }, fields, required: Object.keys(fields) } },
    endpoints: {
      'POST /notes': { does: 'create note' },
      'GET /notes/{id}': { does: 'read note' },
      'GET /notes': { does: 'list note' },
    },
    authentication: 'none',
    limits: { pagination: { style: 'none' } },
    versioning: {
      versions: version === 1 ? { v1: { current: true } } : { v1: {}, v2: { current: true } },
      select: { header: 'V', default: 'current' },
      ...(version === 2 && {
        changes: {
          v2: [
            { rename: 'note.text', to: 'title' },
            { add: 'note.kind', default: 'plain' },
          ],
        },
      }),
    },
  } as JsonMap;
}

function written(folder: string, version: 1 | 2): string {
  const path = join(folder, `notes-${version}.json`);
  writeFileSync(path, JSON.stringify(notes(version)));
  return path;
}

async function filled(folder: string, bytes = 200): Promise<string> {
  const store = join(folder, 'notes.sqlite');
  const note = Array.from({ length: rows }, (_, n) => ({ id: `n${n}`, text: `text ${n} ${'x'.repeat(bytes)}` }));
  await (await serve(notes(1), { store, rows: { note } })).close();
  return store;
}

/** A server that is killed at random moments while it carries the rows of an older document: each time they are all of one shape. */
const documents: Experiment = {
  name: 'documents',
  holds: 'rows are carried to a changed document whole or not at all, whenever the server is killed',
  async carryOut({ command, folder, seed, rounds }) {
    const chance = seeded(seed);
    const first = await filled(folder);
    const next = written(folder, 2);
    let carried = 0;
    let kills = 0;
    for (let round = 0; round < 4 * rounds; round++) {
      const store = join(folder, `round-${round}.sqlite`);
      copyFileSync(first, store);
      const server = startServer(next, store, [], command);
      if (chance.percent(70)) await delay(250 + chance.below(500));
      else await server.address;
      await server.kill();
      kills += 1;
      if (shapeOf(store) === 'id,kind,title') carried += 1;
      // What was begun is begun anew, and is whole then.
      if (round % 4 > 0) continue;
      const again = startServer(next, store, [], command);
      await again.address;
      await again.kill();
      assert.equal(shapeOf(store), 'id,kind,title');
    }
    return `${kills} kills, ${carried} after the rows were carried`;
  },
};

/** The one list of fields that all rows have. */
function shapeOf(store: string): string {
  const database = new DatabaseSync(store);
  try {
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    const docs = database.prepare('SELECT doc FROM "rows:note"').all();
    assert.equal(docs.length, rows, 'every row is there');
    const shapes = new Set(
      docs.map(({ doc }) =>
        Object.keys(JSON.parse(String(doc)))
          .sort()
          .join(),
      ),
    );
    assert.equal(shapes.size, 1, `rows have the fields ${[...shapes].join(' or ')}`);
    return [...shapes].join();
  } finally {
    database.close();
  }
}

const damage: Experiment = {
  name: 'damage',
  holds: 'over damaged pages a server says that they are, or gives rows as they were, and a copy is restored',
  async carryOut({ command, folder, seed, rounds }) {
    const chance = seeded(seed);
    // One that is small is looked through whole when it is opened, a larger one is not.
    const small = await filled(folder);
    const large = await filled(mkdtempSync(join(folder, 'large-')), 12_000);
    const document = written(folder, 1);
    const counts = { refused: 0, failed: 0, served: 0 };
    for (let round = 0; round < 3 * rounds; round++) {
      const store = join(folder, `damaged-${round}.sqlite`);
      const whole = round % 3 === 0 ? small : large;
      copyFileSync(whole, store);
      spoil(store, chance);
      const server = startServer(document, store, [], command);
      const url = await server.address.catch(() => undefined);
      if (url === undefined) {
        assert.equal(await server.ended, 2, server.said.join('\n'));
        assert.match(server.said.join('\n'), /is damaged \(|is not a store of Ninefold|not one of Ninefold/);
        counts.refused += 1;
      } else {
        for (let n = 0; n < rows; n += 20) {
          const answer = await fetch(`${url}/notes/n${n}`);
          counts[answer.status === 200 ? 'served' : 'failed'] += 1;
          if (answer.status === 200) assert.match(((await answer.json()) as { text: string }).text, new RegExp(`^text ${n} x+$`));
          else assert.match(server.said.join('\n'), /is damaged \(/);
        }
        await server.kill();
      }
      const restored = spawn(process.execPath, [command, 'store', 'restore', '--store', store, '--copy', whole]);
      assert.deepEqual((await once(restored, 'close'))[0], 0);
      assert.equal(shapeOf(store), 'id,text');
    }
    return `${counts.refused} starts refused, ${counts.served} answers right, ${counts.failed} failed and told`;
  },
};

/** Writes nonsense over one page. */
function spoil(store: string, chance: Chance): void {
  const bytes = readFileSync(store);
  const page = chance.below(bytes.byteLength / 4096);
  bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
  writeFileSync(store, bytes);
}

const twoProcesses: Experiment = {
  name: 'two processes',
  holds: 'one process serves a store at a time, and the next begins as soon as it is gone, however it went',
  async carryOut({ command, folder, rounds }) {
    const store = await filled(folder);
    const document = written(folder, 1);
    for (let round = 0; round < rounds; round++) {
      const first = startServer(document, store, [], command);
      const url = await first.address;
      const second = startServer(document, store, [], command);
      assert.equal(await second.ended, 2);
      assert.match(second.said.join('\n'), /is in use by another process/);
      const body = JSON.stringify({ id: `round ${round}`, text: 'a' });
      const made = await fetch(`${url}/notes`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      assert.equal(made.status, 201);
      await first.kill();
      const third = startServer(document, store, [], command);
      const read = await fetch(`${await third.address}/notes/${encodeURIComponent(`round ${round}`)}`);
      assert.equal(read.status, 200);
      await third.kill();
    }
    return `${rounds} times`;
  },
};

const readOnly: Experiment = {
  name: 'read-only',
  holds: 'a store that may not be written is told for what it is',
  async carryOut({ command, folder }) {
    const path = join(folder, 'no-folder', 'notes.sqlite');
    const nowhere = startServer(written(folder, 1), path, [], command);
    assert.equal(await nowhere.ended, 2);
    assert.match(nowhere.said.join('\n'), /cannot be opened; its folder has to be there/);
    assert.ok(!existsSync(path));
    // A user who may write everything cannot be kept from it; where the system has such a folder, nobody may write there.
    const fixed = startServer(written(folder, 1), '/proc/notes.sqlite', [], command);
    assert.equal(await fixed.ended, 2);
    assert.match(fixed.said.join('\n'), /cannot be (?:opened|written to)/);
    return 'a folder that is not there, and one that nobody may write to';
  },
};

const fullDisk: Experiment = {
  name: 'full disk',
  holds:
    'where nothing can be written changes are answered 503 and none is stored, what is stored is read, and it heals by itself',
  async carryOut({ command, folder }) {
    if (process.platform !== 'linux') return 'not tried: it needs the limits of Linux';
    const store = await filled(folder);
    const server = startServer(written(folder, 1), store, [], command);
    const url = await server.address;
    const post = async (id: string) => {
      const body = JSON.stringify({ id, text: 'y'.repeat(50_000) });
      return (await fetch(`${url}/notes`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status;
    };
    const limit = async (bytes: string) => {
      const [code] = await once(
        spawn('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}`]).on('error', () => {}),
        'close',
      );
      return code === 0;
    };
    try {
      if (!(await limit('300000:unlimited'))) return 'not tried: there is no prlimit';
      const answers: number[] = [];
      for (let n = 0; n < 40; n++) answers.push(await post(`full ${n}`));
      assert.ok(answers.includes(503) && answers.every((status) => status === 201 || status === 503), `answers were ${answers}`);
      assert.equal((await fetch(`${url}/notes/n1`)).status, 200);
      await limit('unlimited:unlimited');
      assert.equal(await post('healed'), 201);
      for (const [n, status] of answers.entries())
        assert.equal((await fetch(`${url}/notes/${encodeURIComponent(`full ${n}`)}`)).status, status === 201 ? 200 : 404);
      return `${answers.filter((status) => status === 503).length} changes answered 503`;
    } finally {
      await server.kill();
    }
  },
};

/** A machine whose clock jumps while rows are made and timers wait. */
const clockJumps: Experiment = {
  name: 'clock jumps',
  holds: 'a clock that jumps is noticed within a second, no time of a row goes back, and no timer is early or lost',
  async carryOut({ seed, rounds }) {
    const chance = seeded(seed);
    let aheadMs = 0;
    const clock = steadyClock(() => Date.now() + aheadMs);
    const service = await serve(bells, { clock });
    const ask = async (method: string, path: string, body?: JsonMap) => {
      const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return (await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...sent }))).json() as Promise<JsonMap>;
    };
    try {
      let last = '';
      let slowestMs = 0;
      for (let round = 0; round < rounds; round++) {
        const { id } = await ask('POST', '/bells', { after: new Date(clock.now() + 3_600_000).toISOString() });
        aheadMs -= chance.below(60_000);
        const back = await ask('PATCH', `/bells/${id}`, { note: 'a' });
        assert.ok(String(back.changed) >= last, `${back.changed} is before ${last}`);
        aheadMs += 4_000_000;
        const jumped = performance.now();
        let bell = await ask('GET', `/bells/${id}`);
        for (; bell.state !== 'rung' && performance.now() - jumped < 20_000; await delay(20))
          bell = await ask('GET', `/bells/${id}`);
        slowestMs = Math.max(slowestMs, performance.now() - jumped);
        assert.equal(bell.state, 'rung');
        assert.ok(String(bell.changed) >= String(bell.after) && String(bell.changed) >= String(back.changed));
        last = String(bell.changed);
      }
      return `${rounds} times back and forth, noticed after ${Math.round(slowestMs)} ms at most`;
    } finally {
      await service.close();
    }
  },
};

const bells: JsonMap = {
  title: 'Bells',
  resources: {
    bell: {
      identifier: { field: 'id', generate: 'integer' },
      fields: {
        id: 'integer',
        after: { type: 'string', format: 'date-time' },
        note: 'string',
        state: { type: 'string', readOnly: true },
        changed: { type: 'string', format: 'date-time', readOnly: true, set: { write: 'now' } },
      },
      required: ['id', 'after', 'state', 'changed'],
    },
  },
  states: {
    bell: {
      field: 'state',
      initial: 'on',
      states: ['on', 'rung'],
      transitions: { ring: { from: 'on', to: 'rung', at: 'resource.after' } },
    },
  },
  endpoints: {
    'POST /bells': { does: 'create bell' },
    'GET /bells/{id}': { does: 'read bell' },
    'PATCH /bells/{id}': { does: 'update bell' },
  },
  authentication: 'none',
};

export const experiments: readonly Experiment[] = [documents, damage, twoProcesses, readOnly, fullDisk, clockJumps];
