/** A service behind a proxy that alters answers and requests on their way, our own of an example or a real one of others: the share that `verify` finds. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { check, readDocument } from '../src/index.ts';
import type { RealServer } from '../test/servers/server.ts';
import { realServers, startReal } from '../test/servers/servers.ts';
import { workThrough } from './faults/workers.ts';
import { settingOf } from './proxy/alteration.ts';
import { alterationsOf } from './proxy/alterations.ts';
import { openReal } from './proxy/opened.ts';
import { type Done, tryAlteration, type Work } from './proxy/tried.ts';
import { asMarkdown, asText, figure, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      document: { type: 'string', default: 'examples/parcels.md' },
      handlers: { type: 'string', default: 'examples/parcels.handlers.ts' },
      server: { type: 'string' },
      time: { type: 'string', default: '60' },
      only: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      every: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
      list: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const { handlers, server } = values;
  const real = realServers.find(({ name }) => name === server);
  if (server !== undefined && !real) throw new Error(`There is no server ${server}.`);
  const document = real?.document ?? values.document;
  const all = alterationsOf(settingOf(check(await readDocument(document)).spec));
  const asked = all
    .filter(({ id, part }) => values.only.length === 0 || values.only.some((word) => id.includes(word) || part === word))
    .filter((_, at) => at % Number(values.every) === 0);
  if (values.list) {
    for (const { id, part } of asked) console.log(`${part}: ${id}`);
    return 0;
  }
  const calm: Work = {
    document,
    handlers,
    seed: Number(values.seed),
    known: real?.breaches.map(({ breach }) => breach) ?? [],
    timeMs: 1000 * Number(values.time),
  };
  const queue = [calm, ...asked.map(({ id }) => ({ ...calm, alteration: id }))];
  const met: Done[] = [];
  const tell = (done: Done): void => {
    met.push(done);
    const [first = 'not found'] = done.broken;
    process.stderr.write(`${done.part}: ${done.alteration}: ${done.altered} altered, ${figure(done.seconds)} s: ${first}\n`);
  };
  if (real) await overReal(real, queue, tell);
  else await workThrough<Work, Done>(join(import.meta.dirname, 'proxy/worker.ts'), queue, Number(values.workers), tell);
  return report(met, values.markdown, values.strict);
}

/** One alteration after the other over a real server: over one that starts soon, each over its own. */
async function overReal(server: RealServer, queue: readonly Work[], tell: (done: Done) => void): Promise<void> {
  for (const some of server.startsSoon ? queue.map((work) => [work]) : [queue]) {
    const running = await startReal(server);
    try {
      for (const work of some) tell(await tryAlteration(work, (changes) => openReal(server, running, changes)));
    } finally {
      await running.stop();
    }
  }
}

function report(met: readonly Done[], markdown: boolean, strict: boolean): number {
  const calm = met.find(({ alteration }) => alteration === 'none');
  const altered = met.filter(({ alteration }) => alteration !== 'none');
  const found = altered.filter(({ broken }) => broken.length > 0);
  const table: Table = [
    ['part', 'alterations', 'found', 'never came about'],
    ...[...Map.groupBy(altered, ({ part }) => part)].map(([part, some]) => {
      const count = (is: (one: Done) => boolean): string => String(some.filter(is).length);
      return [part, String(some.length), count(({ broken }) => broken.length > 0), count((one) => one.altered === 0)];
    }),
  ];
  console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  for (const { part, alteration, altered: times } of altered.filter(({ broken }) => broken.length === 0))
    console.log(`not found: ${part}: ${alteration}${times === 0 ? ', which never came about' : ''}`);
  for (const alarm of calm?.broken ?? []) console.log(`false alarm where nothing is altered: ${alarm}`);
  const goals: Target[] = [
    { what: 'alterations', bound: 'at least', value: 200, measured: [altered.length] },
    { what: 'alterations found', bound: 'at least', value: 90, unit: '%', measured: [(100 * found.length) / altered.length] },
    { what: 'false alarms where nothing is altered', bound: 'at most', value: 0, measured: [calm?.broken.length ?? 0] },
  ];
  console.log(targetReport(goals, markdown));
  return exitCode(goals, strict);
}
