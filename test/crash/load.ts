import { type Account, accountOf } from './account.ts';
import type { Chance } from './chance.ts';
import { listAll, plural, type Sender } from './clients.ts';
import type { History } from './history.ts';
import type { Operation, Resource, Row } from './records.ts';
import type { Line } from './server.ts';

/** Sends requests as many clients at once until it is told to stop. */
export interface Load {
  /** How many answers came in so far. */
  readonly answered: number;
  /** Resolves once that many answers have come in. */
  reached(answers: number): Promise<void>;
  /** Asks the clients to stop, and waits until they have. */
  stopped(): Promise<void>;
}

/** How often what is asked for; what empties the house is asked for more often while it is full. */
const weights = {
  'create team': 3,
  'create account': 16,
  'create entry': 12,
  'create card': 4,
  'create ticket': 6,
  activate: 12,
  credit: 16,
  suspend: 3,
  resume: 5,
  close: 2,
  update: 16,
  'delete account': 4,
  'delete card': 4,
  'delete team': 1,
  'send again': 6,
  list: 1,
};
type Wish = keyof typeof weights;

const most = { team: 12, account: 120, handles: 160, seats: 60, changes: 30 };

export function startLoad(history: History, line: Line, sender: Sender, chance: Chance, clients: number): Load {
  const { tags } = history;
  const times = new Set<number>();
  const waiting: { readonly answers: number; readonly resolve: () => void }[] = [];
  let answered = 0;
  let sent = 0;
  let isStopped = false;
  const running = Array.from({ length: clients }, client);

  async function client(): Promise<void> {
    while (!isStopped && !sender.isBroken) {
      const answer = await act();
      if (answer === 'nothing to do') continue;
      answered++;
      for (const { resolve } of waiting.filter(({ answers }) => answers === answered)) resolve();
    }
    // Nobody waits for answers that do not come any more.
    for (const { resolve } of waiting) resolve();
  }

  async function act(): Promise<unknown> {
    const isFull = history.seen.account.size > most.account;
    const wish: Wish = chance.weighed({
      ...weights,
      ...(isFull && { 'create account': 4, 'delete account': 20, 'delete team': 2 }),
    });
    if (wish === 'list') return list();
    if (wish === 'send again') return sendAgain();
    if (wish === 'update') return update();
    const operation = wishFor(wish);
    if (!operation) return Promise.resolve('nothing to do');
    const twice = operation.key !== undefined && chance.percent(10);
    return Promise.all(Array.from({ length: twice ? 2 : 1 }, () => sender.carryOut(operation)));
  }

  function named(): string {
    return `r${history.round}.${++sent}`;
  }

  function make(verb: string, resource: Resource, path: string, body: Row | undefined, more: Partial<Operation> = {}): Operation {
    const op = String(body?.op ?? (resource === 'team' && body ? body.name : named()));
    const isKeyed = verb !== 'update' && verb !== 'delete' && chance.percent(60);
    const method = verb === 'update' ? 'PATCH' : verb === 'delete' ? 'DELETE' : 'POST';
    const told = { round: history.round, open: 0, fresh: 0, state: 'sent' as const, told: [] };
    return { op, verb, resource, method, path, ...(body && { body }), ...(isKeyed && { key: `key ${op}` }), ...told, ...more };
  }

  function wishFor(wish: Exclude<Wish, 'list' | 'send again' | 'update'>): Operation | undefined {
    const [verb = '', resource] = wish.split(' ') as [string, Resource | undefined];
    const team = chance.one(history.alive('team'))?.id;
    const account = someAccount();
    if (wish === 'create team') return history.seen.team.size < most.team ? createTeam() : undefined;
    if (wish === 'create account') return team === undefined ? undefined : createAccount(team);
    if (verb === 'delete') {
      const id = chance.one(history.alive(resource as Resource))?.id;
      if (id === undefined) return undefined;
      return make(verb, resource as Resource, `/${plural[resource as Resource]}/${id}`, undefined, { id: String(id) });
    }
    if (wish === 'create ticket') return createTicket();
    if (!account) return undefined;
    if (wish === 'create entry') return make(verb, 'entry', '/entries', { account: account.id, op: named() });
    if (wish === 'create card')
      return make(verb, 'card', '/cards', { account: account.id, ...(team !== undefined && { issuer: team }), op: named() });
    return transition(wish, account);
  }

  /** The newest accounts more often than the others, so that requests race. */
  function someAccount(): Account | undefined {
    const accounts = history.alive('account');
    const row = chance.percent(60) ? accounts.at(-1 - chance.below(Math.min(12, accounts.length || 1))) : chance.one(accounts);
    return row && accountOf(row).changes < most.changes ? accountOf(row) : undefined;
  }

  function createTeam(): Operation {
    return make('create', 'team', '/teams', { name: named() });
  }

  function createAccount(team: unknown): Operation {
    return make('create', 'account', '/accounts', { team, ...fields(), remind_at: soon(), op: named() });
  }

  /** From an address of which a few hold for several kills, so that their quotas are used up in between. */
  function createTicket(): Operation {
    const address = `10.0.${history.round >> 2}.${1 + chance.below(6)}`;
    return make('create', 'ticket', '/tickets', { place: address, op: named() }, { address });
  }

  function fields(): { readonly handle: string; readonly seat?: number } {
    const handle = `h${chance.below(most.handles)}`;
    return chance.percent(60) ? { handle, seat: 1 + chance.below(most.seats) } : { handle };
  }

  /** A time of which nothing else is reminded, soon or just gone by. */
  function soon(): string {
    let at = Date.now() - 100 + chance.below(1_500);
    while (times.has(at)) at++;
    times.add(at);
    return new Date(at).toISOString();
  }

  function transition(verb: string, { id }: Account): Operation {
    const amount = verb === 'credit' && { amount: 1 + chance.below(1_000) };
    const remind = verb === 'activate' && { remind_at: soon() };
    return make(verb, 'account', `/accounts/${id}/${verb}`, { ...amount, ...remind, op: named() }, { id: String(id) });
  }

  /** Several clients send what they read the same ETag of. */
  async function update(): Promise<unknown> {
    const id = chance.percent(50) ? chance.one([...tags.keys()]) : undefined;
    const account = id ?? someAccount()?.id;
    if (account === undefined) return 'nothing to do';
    const ifMatch = (id && tags.get(id)) || (await sender.read(String(account)));
    if (!ifMatch) return tags.delete(String(account));
    tags.set(String(account), ifMatch);
    const { handle, seat } = fields();
    const changes = chance.weighed({ handle: 3, seat: 3, leave: 1, remind: 1, nothing: 4 });
    const body = {
      handle: { handle },
      seat: { seat: seat ?? 1 },
      leave: { seat: null },
      remind: { remind_at: soon() },
      nothing: {},
    }[changes];
    const more = { id: String(account), ifMatch };
    const answer = await sender.carryOut(make('update', 'account', `/accounts/${account}`, { ...body, op: named() }, more));
    if (answer && tags.get(String(account)) === ifMatch && chance.percent(answer.status === 412 ? 90 : 30))
      tags.delete(String(account));
    return answer;
  }

  /** Once more what was acknowledged, in this life of the server or in an earlier one. */
  async function sendAgain(): Promise<unknown> {
    const all = [...history.ops.values()];
    const known = all.slice(chance.percent(50) ? -200 : 0).filter(({ state, key, answer }) => state === 'made' && key && answer);
    const operation = chance.one(known);
    return operation ? sender.carryOut(operation) : 'nothing to do';
  }

  async function list(): Promise<unknown> {
    const rows = await listAll(line, 'account', 20 + chance.below(60));
    for (const row of rows ?? []) history.see('account', row, 'a list');
    const ids = rows?.map(({ id }) => id) ?? [];
    if (new Set(ids).size < ids.length) history.violations.push({ what: 'A list under way gave a row twice.' });
    return rows;
  }

  return {
    get answered() {
      return answered;
    },
    reached: (answers) =>
      new Promise((resolve) => {
        if (answered >= answers) resolve();
        else waiting.push({ answers, resolve });
      }),
    async stopped() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
