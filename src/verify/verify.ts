import { entriesOf, entryOf, statedValue } from '../parts/fact.ts';
import type { LedgerFact } from '../parts/facts/ledger.ts';
import { promisedOf, type Spec } from '../parts/spec.ts';
import { checkAsked, untriedOf } from './asked.ts';
import { isInward } from './evidence/looks-at-errors.ts';
import { type Budget, Spent, startBudget } from './exchange/budget.ts';
import { callersOf } from './exchange/callers.ts';
import { Client, type ClientOptions } from './exchange/client.ts';
import { movedClock, ownClock, type ServiceClock } from './exchange/clock.ts';
import type { ScriptRun } from './exchange/step.ts';
import { DrawnValues } from './exchange/symbol.ts';
import { Made } from './make/made.ts';
import { Maker } from './make/maker.ts';
import { Model } from './model/model.ts';
import { CannotRun, type VerifyOptions } from './options.ts';
import type { VerifyReport } from './report.ts';
import { Rounds } from './rounds.ts';
import { Skips } from './skips.ts';
import { unspokenIn } from './spoken-for.ts';
import { countVerdicts, Tally } from './tally.ts';
import { newAddress } from './trials/events/own-addresses.ts';
import { lanesOf } from './trials/limits/counted.ts';
import { quotaCounts, refilledAtMs, usedUpBy } from './trials/limits/refilled.ts';
import { observers, trials } from './trials.ts';
import { runDraw } from './values/fresh.ts';

/** A move of the clock does all that has fallen due meanwhile before it answers. */
const defaults = { requests: 40_000, timeMs: 60_000, answerMs: 10_000, clockMs: 30_000, beside: 16 };

/**
 * Holds a running service to its document: of every fact of the ledger it says whether it is held, broken, not testable or open.
 * @throws {CannotRun} where the address may not be used or nothing answers there.
 */
export async function verify(given: Spec, options: VerifyOptions): Promise<VerifyReport> {
  const startMs = Date.now();
  const spec = options.conventions ? given : promisedOf(given);
  const address = addressOf(options);
  const budget = startBudget(options.requests ?? defaults.requests, options.timeMs ?? defaults.timeMs);
  const basePath = basePathOf(spec, address);
  const { rows, conventions } = options;
  const model = new Model(spec, callersOf(spec, options.callers ?? []), basePath, { rows, conventions });
  checkAsked(options, model, trials);
  const skips = new Skips(options.skips ?? [], model, trials, startMs);
  const seed = options.seed ?? seedOf(options.replay) ?? Math.floor(Math.random() * 2 ** 31);
  const connection = await connect(spec, address, options, budget);
  const { client } = connection;
  const made = new Made();
  budget.owes(() => made.owed);
  const tally = new Tally(model, (fact) => notHeld(model, fact) ?? outOfReach(spec, fact));
  try {
    await reach(client, address, basePath);
    const rounds = new Rounds({
      model,
      seed,
      client,
      clock: connection.clock,
      budget,
      tally,
      skips,
      startRun: () => startRun(connection, model, made, options),
      observers,
      options,
      made,
      origin: address.origin,
      beside: besideOf(options),
      rows: (session) => new Maker(session, newAddress),
    });
    const found = await rounds.all(trials);
    for (const pattern of model.schemas.unjudged) doubtPattern(tally, model, pattern);
    const verdicts = tally.verdicts();
    const leftovers = await rounds.cleanUp();
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
      skips: skips.told,
      unspoken: unspokenIn(spec, model.callers),
      untried: untriedOf(trials, model, options),
    };
  } finally {
    await connection.close();
  }
}

/** Rows that somebody gave and that may be changed are there once: whoever changes one does so while nobody else looks. */
function besideOf({ mayChange = [], beside = defaults.beside }: VerifyOptions): number {
  return mayChange.length > 0 ? 1 : beside;
}

/** The way to the service for as long as a verification takes: what may be spent, whose time counts, what requests go over. */
interface Connection {
  readonly clock: ServiceClock;
  readonly client: Client;
  close(): Promise<void>;
}

/** @throws {CannotRun} where the clock that is named cannot be used. */
async function connect(spec: Spec, address: URL, options: VerifyOptions, budget: Budget): Promise<Connection> {
  const ended = new AbortController();
  const clock =
    options.clockUrl === undefined ? ownClock(budget, ended.signal) : await clockAt(options.clockUrl, options, budget);
  const client = new Client({
    origin: address.origin,
    connections: 2 * (options.beside ?? defaults.beside),
    timeoutMs: options.answerMs ?? defaults.answerMs,
    budget,
    clock,
    ...rateWindowOf(spec, clock),
    toldNames: statedValue(spec.limits.headers) ?? {},
  });
  return {
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
  const owner = {};
  const note: ScriptRun['note'] = (exchange) => made.note(exchange, model, owner);
  const isOthers: ScriptRun['isOthers'] = (resource, id) => made.isOthers(resource, id, owner);
  return {
    client,
    note,
    isOthers,
    clock,
    owner,
    results: [],
    fresh: new DrawnValues(),
    draw: runDraw(),
    isReadOnly: readOnly === true,
    lanesOf: (plan) => lanesOf(model, plan),
    refilledAtMs: (exchange) => refilledAtMs(model, exchange),
    quotasOf: (plan) => quotaCounts(model, plan),
    usedUpBy: (exchange) => usedUpBy(model, exchange),
  };
}

/** @throws {CannotRun} */
async function clockAt(
  url: string,
  { yesThisHost, answerMs = defaults.clockMs }: VerifyOptions,
  budget: Budget,
): Promise<ServiceClock> {
  const { href } = addressOf({ url, ...(yesThisHost !== undefined && { yesThisHost }) });
  try {
    return await movedClock(href, answerMs, budget);
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

function rateWindowOf(spec: Spec, clock: ServiceClock): Pick<ClientOptions, 'rateWindowMs' | 'rateWindowsMs'> {
  const rateWindowsMs = (statedValue(spec.limits.rate) ?? []).map(({ windowMs }) => windowMs);
  const rateWindowMs = Math.max(0, ...rateWindowsMs);
  const most = clock.advance === undefined ? ownWindowMs : movedWindowMs;
  return { rateWindowsMs, ...(rateWindowMs > 0 && rateWindowMs <= most && { rateWindowMs }) };
}

/** A replay is drawn from the seed that the breach was found with. */
function seedOf(replay: string | undefined): number | undefined {
  const seed = /@(\d+)$/.exec(replay ?? '')?.[1];
  return seed === undefined ? undefined : Number(seed);
}

async function reach(client: Client, address: URL, basePath: string): Promise<void> {
  const answered = await client
    .send({ method: 'GET', target: basePath === '' ? '/' : basePath, headers: {} })
    // Who takes all the time for its first answer is there, and is said to have shown nothing.
    .catch((error: unknown) => {
      if (error instanceof Spent) return undefined;
      throw error;
    });
  if (answered?.trouble?.kind === 'refused')
    throw new CannotRun(`Nothing answers at ${address.origin}: ${answered.trouble.message}.`);
}

/** Why a fact is held to nothing, whatever is seen. */
function notHeld({ conventions }: Model, { standing }: LedgerFact): string | undefined {
  return standing === 'inferred' && !conventions ? 'it was inferred, and is no promise: --conventions holds to it' : undefined;
}

/** A pattern that some value took too long to be held to shows nothing of the fields that have it. */
function doubtPattern(tally: Tally, { spec }: Model, pattern: string): void {
  for (const [resource, { fields }] of entriesOf(spec.resources.all)) {
    for (const [name, { shape }] of entriesOf(fields)) {
      if (JSON.stringify(statedValue(shape) ?? {}).includes(JSON.stringify(pattern)))
        tally.doubted(
          { kind: 'allowed values', subject: `${resource}.${name}` },
          `whether a value is of the pattern ${pattern} takes too long to say`,
        );
    }
  }
}

/** Why no request can show a fact; nothing where one could. */
export function outOfReach(spec: Spec, { kind, subject }: LedgerFact): string | undefined {
  if (kind === 'purpose') return 'it is words for people';
  if (kind === 'formats') return hasFormat(spec, subject) ? undefined : 'no format is stated, so no answer can break it';
  if (kind !== 'conditions' && kind !== 'status codes') return undefined;
  const rules = entryOf(spec.errors.codes, subject)?.rules ?? [];
  return rules.length > 0 && rules.every(isInward) ? 'nobody can bring it about from outside' : undefined;
}

/** Whether anything is stated of the form of a field's texts or numbers, of those in it, or of what names the row that it refers to. */
function hasFormat(spec: Spec, subject: string, depth = 0): boolean {
  const at = subject.lastIndexOf('.');
  const { all } = spec.resources;
  const field = entryOf(entryOf(all, subject.slice(0, at))?.fields, subject.slice(at + 1));
  const target = field?.ref === undefined ? undefined : entryOf(all, field.ref);
  const identifier = target && statedValue(target.identifier);
  if (target && identifier && depth < referencesMost) return hasFormat(spec, `${target.name}.${identifier.field}`, depth + 1);
  return field?.ref !== undefined || JSON.stringify((field && statedValue(field.shape)) ?? {}).includes('"format"');
}

/** An identifier may be a reference itself. */
const referencesMost = 4;
