import type { ErrorCondition } from '../parts/errors.ts';
import { entryOf, statedValue } from '../parts/fact.ts';
import type { LedgerFact } from '../parts/facts/ledger.ts';
import type { Spec } from '../parts/spec.ts';
import { checkAsked } from './asked.ts';
import { cleanUp } from './clean-up.ts';
import { type Budget, startBudget } from './client/budget.ts';
import { Client } from './client/client.ts';
import { movedClock, ownClock, type ServiceClock } from './client/clock.ts';
import { Made } from './made.ts';
import { Maker } from './make/maker.ts';
import { callersOf } from './model/callers.ts';
import { Model } from './model/model.ts';
import { CannotRun, type VerifyOptions } from './options.ts';
import type { VerifyReport } from './report.ts';
import { Rounds } from './rounds.ts';
import type { ScriptRun } from './script/run.ts';
import { countVerdicts, Tally } from './tally.ts';
import { observers, trials } from './trials.ts';
import { runDraw } from './values/chance.ts';

const defaults = { requests: 20_000, timeMs: 45_000, answerMs: 10_000, beside: 16 };

/**
 * Holds a running service to its document: of every fact of the ledger it says whether it is held, broken, not testable or open.
 * @throws {CannotRun} where the address may not be used or nothing answers there.
 */
export async function verify(spec: Spec, options: VerifyOptions): Promise<VerifyReport> {
  const startMs = Date.now();
  const address = addressOf(options);
  const basePath = basePathOf(spec, address);
  const model = new Model(spec, callersOf(spec, options.callers ?? []), basePath, options.rows);
  checkAsked(options, model, trials);
  const seed = options.seed ?? seedOf(options.replay) ?? Math.floor(Math.random() * 2 ** 31);
  const connection = await connect(spec, address, options);
  const { client, budget } = connection;
  const made = new Made();
  const tally = new Tally(model.facts, (fact) => outOfReach(spec, fact));
  try {
    await reach(client, address, basePath);
    const rounds = new Rounds({
      model,
      seed,
      client,
      clock: connection.clock,
      budget,
      tally,
      startRun: () => startRun(connection, model, made, options),
      observers,
      options,
      made,
      origin: address.origin,
      beside: options.beside ?? defaults.beside,
      rows: (session) => new Maker(session),
    });
    const found = await rounds.all(trials);
    const verdicts = tally.verdicts();
    budget.beginLast();
    const leftovers = await cleanUp(made, () => rounds.bareSession());
    return {
      title: spec.title,
      url: options.url,
      seed,
      facts: verdicts,
      ...countVerdicts(verdicts),
      ...found,
      requests: budget.requests,
      ms: Date.now() - startMs,
      leftovers,
    };
  } finally {
    await connection.close();
  }
}

/** The way to the service for as long as a verification takes: what may be spent, whose time counts, what requests go over. */
interface Connection {
  readonly budget: Budget;
  readonly clock: ServiceClock;
  readonly client: Client;
  close(): Promise<void>;
}

/** @throws {CannotRun} where the clock that is named cannot be used. */
async function connect(spec: Spec, address: URL, options: VerifyOptions): Promise<Connection> {
  const budget = startBudget(options.requests ?? defaults.requests, options.timeMs ?? defaults.timeMs);
  const ended = new AbortController();
  const clock = options.clockUrl === undefined ? ownClock(budget, ended.signal) : await clockAt(options.clockUrl, options);
  const client = new Client({
    origin: address.origin,
    connections: 2 * (options.beside ?? defaults.beside),
    timeoutMs: options.answerMs ?? defaults.answerMs,
    budget,
    clock,
    ...rateWindowOf(spec, clock),
  });
  return {
    budget,
    clock,
    client,
    close() {
      ended.abort();
      return client.close();
    },
  };
}

/** A script's run from a clean start: what it makes is remembered, to be taken away in the end. */
function startRun({ client, clock }: Connection, model: Model, made: Made, { readOnly }: VerifyOptions): ScriptRun {
  const results: unknown[] = [];
  const note: ScriptRun['note'] = (exchange) => made.note(exchange, model, results);
  const isOthers: ScriptRun['isOthers'] = (resource, id) => made.isOthers(resource, id, results);
  return { client, note, isOthers, clock, results, fresh: new Map(), draw: runDraw(), isReadOnly: readOnly === true };
}

/** @throws {CannotRun} */
async function clockAt(url: string, { yesThisHost, answerMs = defaults.answerMs }: VerifyOptions): Promise<ServiceClock> {
  const { href } = addressOf({ url, ...(yesThisHost !== undefined && { yesThisHost }) });
  try {
    return await movedClock(href, answerMs);
  } catch (error) {
    throw new CannotRun(`The clock at ${url} cannot be used: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    });
  }
}

/** @throws {CannotRun} */
function addressOf({ url, yesThisHost }: VerifyOptions): URL {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    throw new CannotRun(`${url} is no address: write http://127.0.0.1:4009.`);
  }
  if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new CannotRun(`${url} is no HTTP address.`);
  const host = address.hostname.replace(/^\[|\]$/g, '');
  const isOwn = host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
  if (isOwn || yesThisHost === host || yesThisHost === address.host) return address;
  throw new CannotRun(
    `${host} is not this machine, and holding a service to its document changes its data. Name the host to say that this is meant: --yes-this-host ${host}.`,
  );
}

/** The prefix of the endpoints: the path of the address, else that of the document's first base address. */
function basePathOf(spec: Spec, address: URL): string {
  const own = address.pathname.replace(/\/+$/, '');
  if (own !== '') return own;
  const [stated] = statedValue(spec.purpose.baseUrls) ?? [];
  if (stated === undefined || !URL.canParse(stated)) return '';
  return new URL(stated).pathname.replace(/\/+$/, '');
}

/** What is waited for a rate that does not say how long: little where nobody can move the clock. */
const ownWindowMs = 5_000;
const movedWindowMs = 60_000;

function rateWindowOf(spec: Spec, clock: ServiceClock): { readonly rateWindowMs?: number } {
  const rates = statedValue(spec.limits.rate) ?? [];
  const rateWindowMs = Math.max(0, ...rates.map(({ windowMs }) => windowMs));
  const most = clock.advance === undefined ? ownWindowMs : movedWindowMs;
  return rateWindowMs > 0 && rateWindowMs <= most ? { rateWindowMs } : {};
}

/** A replay is drawn from the seed that the breach was found with. */
function seedOf(replay: string | undefined): number | undefined {
  const seed = /@(\d+)$/.exec(replay ?? '')?.[1];
  return seed === undefined ? undefined : Number(seed);
}

async function reach(client: Client, address: URL, basePath: string): Promise<void> {
  const answered = await client.send({ method: 'GET', target: basePath === '' ? '/' : basePath, headers: {} });
  if (answered.trouble?.kind === 'refused')
    throw new CannotRun(`Nothing answers at ${address.origin}: ${answered.trouble.message}.`);
}

/** What a service comes to by itself, or in a moment that nobody can choose. */
const inward: ReadonlySet<string> = new Set<ErrorCondition>([
  'internal',
  'service.unavailable',
  'write.conflict',
  'idempotency.busy',
]);

/** Why no request can show a fact; nothing where one could. */
export function outOfReach(spec: Spec, { kind, subject }: LedgerFact): string | undefined {
  if (kind === 'purpose') return 'it is words for people';
  if (kind !== 'conditions' && kind !== 'status codes') return undefined;
  const rules = entryOf(spec.errors.codes, subject)?.rules ?? [];
  const conditions = rules.flatMap(({ when }) => statedValue(when) ?? []);
  const isInward = conditions.length > 0 && conditions.every((condition) => inward.has(condition));
  return isInward && rules.every((rule) => rule.if === undefined) ? 'nobody can bring it about from outside' : undefined;
}
