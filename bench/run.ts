/** Runs one benchmark: `npm run bench NAME -- OPTIONS`, or `node bench/run.ts NAME OPTIONS`. */

interface Bench {
  readonly about: string;
  readonly options: string;
  readonly load: () => Promise<{ readonly run: (args: readonly string[]) => Promise<number> }>;
}

const benches = new Map<string, Bench>([
  [
    'serve',
    {
      about:
        'requests a second, against the same service by hand and bare node:http; chosen and drawn documents (about 15 minutes)',
      options:
        '--only plain|guarded|booked|drawn  --documents 5  --seed 1  --rounds 5  --seconds 1.2  --markdown  --json FILE  --strict',
      load: () => import('./serve.ts'),
    },
  ],
  [
    'against',
    {
      about: 'what each request costs in this tree, against another tree of the same program (about 3 minutes)',
      options: '--tree ../before  --only plain|guarded|booked  --rounds 9  --seconds 1  --markdown',
      load: () => import('./against.ts'),
    },
  ],
  [
    'start',
    {
      about: 'from the command to the first answer, and memory at rest, from the built package (about 30 seconds)',
      options: '--starts 11  --markdown  --json FILE  --strict',
      load: () => import('./start.ts'),
    },
  ],
  [
    'pages',
    {
      about: 'a filtered and sorted page by cursor over 1,000,000 rows, against 10,000 (about a minute)',
      options: '--rows 1000000  --rounds 5  --seconds 1  --markdown  --json FILE  --strict',
      load: () => import('./pages.ts'),
    },
  ],
  [
    'stored',
    {
      about: 'old rows and timers: starts, carrying and copying 1,000,000 rows, timers a second (about 2 minutes)',
      options: '--rows 1000000  --timers 20000  --rounds 3  --markdown  --json FILE  --strict',
      load: () => import('./stored.ts'),
    },
  ],
  [
    'scale',
    {
      about: 'changes and reads over PostgreSQL, against the same service by hand on Fastify and pg (about a minute)',
      options: '--rounds 5  --seconds 1  --connections 64  --network 1  --processes 2  --markdown  --strict',
      load: () => import('./scale/scale.ts'),
    },
  ],
  [
    'overload',
    {
      about: 'five times as many requests as a service can answer, and how soon it is itself again (about 2 minutes)',
      options: '--rounds 3  --seconds 5  --times 5  --connections 4000  --at-once N  --only SQLite  --markdown  --strict',
      load: () => import('./overload/overload.ts'),
    },
  ],
  [
    'soak',
    {
      about: 'half of what a service can answer for 20 minutes: memory, descriptors, times and outbox have to stay flat (Linux)',
      options: '--minutes 20  --store SQLite|PostgreSQL  --markdown  --strict',
      load: () => import('./overload/soak.ts'),
    },
  ],
  [
    'handing',
    {
      about: 'what a process over a file would pay for requests that others hand it (about 5 seconds)',
      options: '',
      load: () => import('./handing.ts'),
    },
  ],
  [
    'rows',
    {
      about: 'many rows in PostgreSQL: starts, rows, pages and filters, against 10,000 (about a minute; 10,000,000 take 10 GB)',
      options: '--rows 1000000  --rounds 5  --seconds 1  --markdown  --json FILE  --strict',
      load: () => import('./rows.ts'),
    },
  ],
  [
    'scans',
    {
      about: 'lists that no index answers, over 1,000,000 rows, and what others wait for them (about a minute)',
      options: '--rows 1000000  --lists 8  --markdown  --strict',
      load: () => import('./scans.ts'),
    },
  ],
  [
    'denial',
    {
      about: 'whether the time of a refusal tells what is missing from what stays hidden (about 20 seconds)',
      options: '--rounds 5  --markdown  --json FILE  --strict',
      load: () => import('./denial.ts'),
    },
  ],
  [
    'limits',
    {
      about: 'what rates cost: bytes for each address, decisions a second, microseconds for a request (about 10 seconds)',
      options: '--rounds 5  --markdown  --strict',
      load: () => import('./limits.ts'),
    },
  ],
  [
    'events',
    {
      about: 'signed webhooks a second against a bare loop, and the memory of readers of the stream (about 2 minutes)',
      options: '--rounds 5  --count 20000  --rows 1000000  --readers 10000  --markdown  --json FILE  --strict',
      load: () => import('./events.ts'),
    },
  ],
  [
    'standin',
    {
      about: "stand-ins beside those of others, and one of Stripe's document: starts, first calls, reads (about 5 minutes)",
      options:
        '--corpus DIR  --only beside  --rivals DIR  --starts 5  --rounds 5  --seconds 1.2  --markdown  --json FILE  --strict',
      load: () => import('./standin.ts'),
    },
  ],
  [
    'twins',
    {
      about: 'official clients against real servers and stand-ins of their descriptions: what differs (about 2 minutes)',
      options: 'azurite  --corpus DIR  --json FILE',
      load: () => import('./twins.ts'),
    },
  ],
  [
    'corpus',
    {
      about: 'real interface descriptions taken over: facts, time and memory of each (about a minute)',
      options: '--corpus DIR  --rounds 3  --markdown',
      load: () => import('./corpus.ts'),
    },
  ],
  [
    'infer',
    {
      about: 'how often what is inferred of an operation is right, held to operations labelled by hand (about 20 seconds)',
      options: '--corpus DIR  --list  --markdown  --strict',
      load: () => import('./infer.ts'),
    },
  ],
  [
    'lifecycle',
    {
      about:
        'stand-ins of descriptions drawn by lot: whether what a client makes it can read, list, change and delete (about 5 minutes for 60)',
      options:
        '--directory DIR  --sample 20  --seed 1  --families 6  --only WORD  --paged  --workers 2  --list  --json  --markdown',
      load: () => import('./lifecycle.ts'),
    },
  ],
  [
    'faults',
    {
      about: 'which faults of two services written by hand `verify` finds, and that it finds none where there is none',
      options:
        '--only shop --only limits  --seed 1  --seeds 10  --requests N  --workers 2  --narrow  --markdown  --json FILE  --strict',
      load: () => import('./faults.ts'),
    },
  ],
  [
    'strangers',
    {
      about: 'what `verify` finds in services that were written by somebody who knew nothing of it',
      options: '--only NAME  --seed 1  --seeds 3  --faults N  --markdown',
      load: () => import('./strangers.ts'),
    },
  ],
  [
    'verify',
    {
      about: 'requests a second that `verify` sends to a service that can take them (about 30 seconds)',
      options: '--resources 24  --rounds 5  --seconds 2  --markdown  --strict',
      load: () => import('./verify.ts'),
    },
  ],
  [
    'own',
    {
      about: 'our own service over every example, held to its document under many seeds (about a minute for two)',
      options: '--only parcels  --seed 1  --seeds 50  --write  --corpus DIR  --markdown  --strict',
      load: () => import('./own.ts'),
    },
  ],
  [
    'strange',
    {
      about: 'our own service over documents drawn from the whole grammar: false alarms, and faults that are switched on',
      options: '--documents 5000  --from 1  --seed 1  --faults 5  --workers 2  --json FILE  --markdown  --strict',
      load: () => import('./strange.ts'),
    },
  ],
  [
    'proxy',
    {
      about:
        'alterations of answers and requests on their way, over our own service of an example or a real server of others: the share that is found',
      options:
        '--server rabbitmq|azurite|parse  --only WORD  --every N  --time 60  --seed 1  --workers 2  --list  --markdown  --strict',
      load: () => import('./mutating-proxy.ts'),
    },
  ],
]);

const [name = '', ...args] = process.argv.slice(2);
const bench = benches.get(name);
if (bench === undefined) {
  if (name !== '') console.log(`There is no benchmark "${name}".\n`);
  console.log('npm run bench NAME [-- OPTIONS]\n');
  for (const [word, { about, options }] of benches) console.log(`  ${word.padEnd(6)} ${about}\n         ${options}`);
  process.exitCode = name === '' ? 0 : 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const { run } = await bench.load();
  process.exit(await run(args));
}
