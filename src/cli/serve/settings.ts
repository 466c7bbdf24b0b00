import { nearest } from '../../document/nearest.ts';
import { entriesOf, isStated } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { acceptedSchemes, unsupportedBy } from '../../serve/callers/accepted-schemes.ts';
import { isLoopback } from '../../serve/callers/origin.ts';
import { keyFlaw } from '../../serve/callers/proofs.ts';
import { targetFlaw } from '../../serve/events/addresses.ts';
import { brokerFlaw } from '../../serve/service/broker.ts';
import { inMemory, isDatabase } from '../../serve/service/open-store.ts';
import { type LogLevel, logLevels } from '../../serve/service/operations-door.ts';
import { countingFlaw } from '../../serve/service/sharing.ts';
import type { Terminal } from '../terminal.ts';
import { Misuse, type VerbCall } from '../verb.ts';
import { readOperationsToken } from './doors.ts';
import type { LogForm } from './log.ts';
import { readWorkers } from './workers.ts';

/** How a document is to be served, as the options say it. */
export interface ServeSettings {
  readonly port: number;
  readonly host: string;
  readonly store: string;
  /** Where rates are counted; nothing where the store says it. */
  readonly limits: string | undefined;
  readonly log: LogForm;
  /** Which exchanges are noted down at first; nothing = as the form has it. */
  readonly logLevel: LogLevel | undefined;
  readonly acceptsOpen: boolean;
  /** How a stand-in for somebody else's service is to be; nothing where none is meant. */
  readonly standIn: StandInSettings | undefined;
  readonly relax: 'auth' | undefined;
  /** The files that change a description before it is taken over. */
  readonly overlays: readonly string[];
  /** Where it is noted down what clients touch. */
  readonly coverage: string | undefined;
  /** Whether others than its maker are to use it: no credentials are made, and who may call must be settled. */
  readonly isProduction: boolean;
  /** The port of the door by which trials move the clock. */
  readonly clockPort?: number;
  /** The port of the workbench of trials. */
  readonly workbenchPort?: number;
  /** Where those who run the service ask how it is. */
  readonly operations?: OperationsSettings;
  /** How many processes serve it together; nothing for this one alone. */
  readonly workers: number | undefined;
  /** How long, once it is to stop, it says that it is not ready and goes on answering. */
  readonly drainDelayMs: number;
  /** How long what is under way then may take. */
  readonly drainMs: number;
}

/** Where the door of those who run the service is, and who may come in. */
export interface OperationsSettings {
  readonly host: string;
  readonly port: number;
  /** What an operator shows; without one only what is public is answered. */
  readonly token: string | undefined;
  readonly hosts: readonly string[];
}

/** How a stand-in makes up what is open, and what it lets pass. */
export interface StandInSettings {
  readonly seedValue: string;
  readonly isStrict: boolean;
}

/** @throws {Misuse} for a value that an option does not take. */
export function readSettings(asked: VerbCall, terminal: Pick<Terminal, 'isTTY'>): ServeSettings {
  const store = storeOf(asked) ?? inMemory;
  const standIn = readStandIn(asked);
  const clock = asked.value('clock');
  const workbench = asked.value('workbench');
  const operations = asked.value('operations');
  demandOperations(asked);
  demandReceivers(asked);
  if (asked.values('accept-credential').some((text) => text.trim() === ''))
    throw new Misuse(`${asked.spelt('accept-credential')}: write what your client shows, such as sk_test_123.`);
  return {
    port: readPort(asked.spelt('port'), asked.value('port') ?? String(usualPort)),
    host: readHost(asked.spelt('host'), asked.value('host') ?? '127.0.0.1'),
    store,
    limits: readLimits(asked),
    log: oneWordOf(asked, 'log', ['pretty', 'json']) ?? (terminal.isTTY ? 'pretty' : 'quiet'),
    logLevel: oneWordOf(asked, 'log-level', logLevels),
    acceptsOpen: oneWordOf(asked, 'open', ['accept']) === 'accept',
    standIn,
    relax: oneWordOf(asked, 'relax', ['auth']),
    overlays: asked.values('overlay'),
    coverage: asked.value('coverage') ?? (standIn && coverageBeside(store)),
    isProduction: readProduction(asked),
    ...(clock !== undefined && { clockPort: readPort(asked.spelt('clock'), clock) }),
    ...(workbench !== undefined && { workbenchPort: readPort(asked.spelt('workbench'), workbench) }),
    ...(operations !== undefined && { operations: readOperations(asked, operations) }),
    workers: readWorkers(asked, store),
    drainDelayMs: readDrainDelay(asked),
    drainMs: readSeconds(asked, 'drain', '10'),
  };
}

function readStandIn(asked: VerbCall): StandInSettings | undefined {
  if (asked.has('sample')) return { seedValue: asked.value('seed-value') ?? '', isStrict: asked.has('strict') };
  for (const option of ['seed-value', 'strict'])
    if (asked.has(option)) throw new Misuse(`--${option} is for stand-ins: give --sample too.`);
  return undefined;
}

/** A stand-in, a service that takes any credential, or one whose clock can be moved or that plays scenarios is never one that others rely on. */
function readProduction(asked: VerbCall): boolean {
  if (!asked.has('production')) return false;
  for (const option of ['sample', 'relax', 'accept-credential', 'clock', 'workbench', 'scenarios'])
    if (asked.has(option)) throw new Misuse(`--production and --${option} do not go together.`);
  return true;
}

/** Where the data is: an address with a password is better given by the environment, which others do not see. */
export function storeOf(asked: VerbCall): string | undefined {
  return asked.value('store') ?? process.env.NINEFOLD_STORE;
}

function readLimits(asked: VerbCall): string | undefined {
  const where = asked.value('limits');
  const flaw = where === undefined ? undefined : countingFlaw(where);
  if (flaw === undefined) return where;
  throw new Misuse(`${asked.spelt('limits')}: ${flaw}; or here, for each process by itself.`);
}

/** Where the record of a run is kept that is given none: beside its data; nothing for data in memory or in a database. */
function coverageBeside(store: string): string | undefined {
  return store === inMemory || isDatabase(store) ? undefined : `${store}.coverage.json`;
}

const usualPort = 4009;

function readPort(spelt: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Misuse(`${spelt} ${text}: a port is a number from 1 to 65535, or 0 for a free one.`);
}

function demandOperations(asked: VerbCall): void {
  for (const option of ['operations-token-file', 'operations-hosts'])
    if (asked.has(option) && !asked.has('operations'))
      throw new Misuse(`${asked.spelt(option)} is for the door of those who run the service: give --operations too.`);
}

/** Where events may go: an address that nothing can be sent to, or a host that no address has, would be found out by silence. */
function demandReceivers(asked: VerbCall): void {
  const anywhere = { allowsPrivate: true, hosts: undefined, isHttpsOnly: false, refusesPrivate: false };
  for (const url of asked.values('webhook')) {
    const flaw = targetFlaw(url, anywhere);
    if (flaw !== undefined)
      throw new Misuse(`${asked.spelt('webhook')} ${url}: write ${flaw}, such as http://127.0.0.1:8080/events.`);
  }
  for (const host of webhookHostsOf(asked))
    if (!/^(?:(?:\*\.)?[\w-]+(?:\.[\w-]+)*|[\da-f]*:[\da-f:.]+)$/i.test(host))
      throw new Misuse(
        `${asked.spelt('webhook-hosts')} ${host}: write names of hosts alone, such as hooks.example.com, or *.example.com for all below one.`,
      );
}

/** The hosts that webhooks may go to, from all that is given. */
export function webhookHostsOf(asked: VerbCall): readonly string[] {
  return asked.values('webhook-hosts').flatMap((value) => value.split(',').map((host) => host.trim()));
}

function readOperations(asked: VerbCall, place: string): OperationsSettings {
  const tokenFile = asked.value('operations-token-file');
  return {
    ...readPlace(asked.spelt('operations'), place),
    token: tokenFile === undefined ? undefined : readOperationsToken(asked.spelt('operations-token-file'), tokenFile),
    hosts: asked.values('operations-hosts').flatMap((hosts) => hosts.split(',').map((one) => one.trim())),
  };
}

/** `9100`, on this machine alone, or `0.0.0.0:9100`. */
function readPlace(spelt: string, text: string): { readonly host: string; readonly port: number } {
  const [, host = '127.0.0.1', port = text] = /^(.+):([^:]*)$/.exec(text) ?? [];
  return { host: readHost(spelt, host), port: readPort(spelt, port) };
}

function readDrainDelay(asked: VerbCall): number {
  const ms = readSeconds(asked, 'drain-delay', '0');
  if (ms > 0 && !asked.has('operations'))
    throw new Misuse(`${asked.spelt('drain-delay')}: only who asks /readyz can know of it; give --operations too.`);
  return ms;
}

/** Whole seconds, in milliseconds. */
function readSeconds(asked: VerbCall, option: string, usual: string): number {
  const text = asked.value(option) ?? usual;
  if (/^\d{1,4}$/.test(text)) return Number(text) * 1000;
  throw new Misuse(`${asked.spelt(option)} ${text}: write whole seconds, from 0 to 9999.`);
}

function readHost(spelt: string, text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (/^[\w.:%-]+$/.test(host)) return host;
  throw new Misuse(`${spelt} ${text}: write an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.`);
}

function oneWordOf<const Word extends string>(asked: VerbCall, option: string, words: readonly Word[]): Word | undefined {
  const value = asked.value(option);
  if (value === undefined) return undefined;
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  const meant = nearest(value, words);
  throw new Misuse(
    `${asked.spelt(option)} ${value}: ${meant === undefined ? `write ${words.join(' or ')}.` : `did you mean ${meant}?`}`,
  );
}

/**
 * Whether a document may be served as the settings say: others reach the service only where it is settled who may call it.
 * @throws {Misuse} where it is not.
 */
export function checkExposure(settings: ServeSettings, spec: Spec, document: string): void {
  if (spec.authentication.schemes.standing !== 'open') return;
  const remedy = 'state schemes, or write `authentication: none` to have it so on purpose';
  if (settings.isProduction)
    throw new Misuse(
      `--production: the authentication schemes of ${document} are open, so that anybody could call it; ${remedy}.`,
    );
  if (isLoopback(settings.host)) return;
  throw new Misuse(
    `--host ${settings.host}: the authentication schemes of ${document} are open, and whoever reaches the address could call it; ${remedy}.`,
  );
}

/** @throws {Misuse} in production, where the keys that tokens are verified with are not there. */
export function checkKeys(
  settings: ServeSettings,
  spec: Spec,
  means: { readonly environment: Readonly<Record<string, string | undefined>>; readonly readFile: (path: string) => string },
): void {
  if (!settings.isProduction) return;
  for (const one of acceptedSchemes(spec)) {
    const flaw = unsupportedBy(one) === undefined ? keyFlaw(one, means) : undefined;
    if (flaw !== undefined)
      throw new Misuse(`--production: tokens of the scheme ${one.scheme.name} could not be verified: ${flaw}.`);
  }
}

/** @throws {Misuse} for the address of a broker that the document does not state, or of another kind. */
export function checkBroker(asked: VerbCall, spec: Spec): void {
  const address = asked.value('broker');
  const flaw = address === undefined ? undefined : brokerFlaw(spec, address);
  if (flaw !== undefined) throw new Misuse(`${asked.spelt('broker')}: ${flaw}.`);
}

/** @throws {Misuse} for a user that the document does not state, or where callers have to show who they are. */
export function checkUser(user: string | undefined, spec: Spec): void {
  if (user === undefined) return;
  if (isStated(spec.authentication.schemes))
    throw new Misuse(
      `--as ${user}: the document states how callers show who they are; \`serve\` prints a credential for each user.`,
    );
  const users = entriesOf(spec.purpose.users).map(([name]) => name);
  if (users.length === 0 || users.includes(user)) return;
  const meant = nearest(user, users);
  throw new Misuse(
    `--as ${user}: ${meant === undefined ? `the document's users are ${users.join(', ')}.` : `did you mean ${meant}?`}`,
  );
}
