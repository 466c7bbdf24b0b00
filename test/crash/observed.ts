import { setTimeout as delay } from 'node:timers/promises';
import { accountOf, dueMs } from './account.ts';
import type { Chance } from './chance.ts';
import { listAll } from './clients.ts';
import type { History } from './history.ts';
import { untold } from './receiver.ts';
import type { Resource, Row } from './records.ts';
import type { Line } from './server.ts';

/** All rows of a server that nobody else asks anything of. */
export interface Observed {
  readonly rows: Readonly<Record<Resource, readonly Row[]>>;
  /** The same by identifier. */
  readonly byId: Readonly<Record<Resource, ReadonlyMap<string, Row>>>;
  /** What was known of rows before they were listed: events go on coming in meanwhile. */
  readonly known: Readonly<Record<Resource, ReadonlyMap<string, Row>>>;
  /** Accounts in a state that the clock does not change, as the list by that state gives them. */
  readonly resting: readonly Row[];
  /** Accounts that still wait for a clock that has long gone by. */
  readonly late: readonly Row[];
  /** Accounts of which a receiver has long not been told everything. */
  readonly untold: readonly Row[];
}

/** How late the clock may be, under the load of a machine that does other things too. */
const lateMs = 30_000;

/** What has to have happened before a server counts as quiet: nothing is due any more in any case. */
export interface Quiet {
  /** Every change is told. */
  readonly told?: boolean;
  /** Nothing will be due later either. */
  readonly over?: boolean;
}

/** Lists everything, again and again until the server is quiet. */
export async function observe(
  history: History,
  line: Line,
  chance: Chance,
  quiet: Quiet,
  look: (observed: Observed) => void,
): Promise<Observed> {
  const untilMs = Date.now() + lateMs;
  for (;;) {
    const atMs = Date.now();
    const { seen } = history;
    const known = { ...seen, account: new Map(seen.account) };
    const observed = { ...(await listEverything(line, chance)), known };
    const late = observed.rows.account.filter(
      (row) => (dueMs(accountOf(row), history.ops) ?? Infinity) < (quiet.over ? Infinity : atMs),
    );
    const waiting = quiet.told ? untold(history, observed.byId.account) : [];
    const isOver = atMs > untilMs;
    look({ ...observed, ...(isOver && { late, untold: waiting }) });
    if (late.length + waiting.length === 0 || isOver || history.violations.length > 0) return observed;
    await delay(10);
  }
}

async function listEverything(line: Line, chance: Chance): Promise<Omit<Observed, 'known'>> {
  const size = 10 + chance.below(190);
  const list = async (resource: Resource, filter = '') => {
    const rows = await listAll(line, resource, size, filter);
    if (!rows) throw new Error(`The list of ${resource} was not answered.`);
    return rows;
  };
  const rows = {
    team: await list('team'),
    account: await list('account'),
    entry: await list('entry'),
    card: await list('card'),
    ticket: await list('ticket'),
  };
  const resting = [...(await list('account', '&status=suspended')), ...(await list('account', '&status=closed'))];
  return {
    rows,
    byId: {
      team: byId(rows.team),
      account: byId(rows.account),
      entry: byId(rows.entry),
      card: byId(rows.card),
      ticket: byId(rows.ticket),
    },
    resting,
    late: [],
    untold: [],
  };
}

function byId(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [String(row.id), row]));
}
