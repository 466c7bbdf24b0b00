import { setTimeout as delay } from 'node:timers/promises';
import { readBeside } from '../../document/read/read.ts';
import type { Store } from '../../index.ts';
import { settableClock } from '../../serve/http/clock.ts';
import { copyBefore, isUnavailable, openStore, reached, shownStore } from '../../serve/service/open-store.ts';
import { BadRows } from '../../serve/service/seed.ts';
import { serveSpec } from '../../serve/service/serve-spec.ts';
import type { ServeOptions, Service } from '../../serve/service/service.ts';
import type { MigrationOptions } from '../../serve/service/stored/migrate.ts';
import { Misfits } from '../../serve/service/stored/renewing.ts';
import { findingLines, summary } from '../check-text.ts';
import { readRows, readScenariosFile } from '../data-files.ts';
import { ImportCache } from '../import-cache.ts';
import { misfitsText, planText } from '../migration.ts';
import { reportOnServed } from '../reading.ts';
import { announce } from '../serve/announcement.ts';
import { keepCoverage } from '../serve/coverage-file.ts';
import { loadHandlers } from '../serve/handlers-file.ts';
import { misspeltVariables, withSettings } from '../serve/layers.ts';
import { openServiceDoors } from '../serve/listening.ts';
import { createLog, type Log } from '../serve/log.ts';
import { liveCode, startReload } from '../serve/reload.ts';
import {
  checkBroker,
  checkExposure,
  checkKeys,
  checkUser,
  readSettings,
  type ServeSettings,
  webhookHostsOf,
} from '../serve/settings.ts';
import { startTraces } from '../serve/traces.ts';
import { giveBackMemory, leaveSupervisor, ownPlace, supervise } from '../serve/workers.ts';
import type { Terminal } from '../terminal.ts';
import { onStop } from '../terminal.ts';
import { Misuse, type VerbCall, type VerbRun } from '../verb.ts';

/** `ninefold serve DOC`. */
export const runServe: VerbRun = async (given, terminal) => {
  const asked = await withSettings(given, process.env);
  // A worker has a variable of its own, and what is wrong was told by then.
  if (!ownPlace()) for (const told of misspeltVariables(process.env, given.options)) terminal.complain(`ninefold: ${told}\n`);
  const settings = readSettings(asked, terminal);
  const log = createLog(settings.log, terminal, settings.logLevel, settings.operations !== undefined);
  if (settings.workers !== undefined && !ownPlace()) return supervise(settings.workers, log);
  try {
    return await serveHere(asked, terminal, settings, log);
  } finally {
    leaveSupervisor();
  }
};

async function serveHere(asked: VerbCall, terminal: Terminal, settings: ServeSettings, log: Log): Promise<number> {
  const readMs = Date.now();
  const cache = asked.has('no-cache') ? undefined : new ImportCache(process.env);
  const report = await reportOnServed(asked.document, cache, settings.overlays);
  if (!report.sound) {
    const text = [...findingLines(report, terminal), `${summary(report, asked.document, terminal)}; nothing is served.`];
    log.event('unsound', { document: asked.document, findings: report.findings }, text.join('\n'));
    return 1;
  }
  const means = { environment: process.env, readFile: (path: string) => readBeside(asked.document, path) };
  checkUser(asked.value('as'), report.spec);
  checkBroker(asked, report.spec);
  checkExposure(settings, report.spec, asked.document);
  checkKeys(settings, report.spec, means);
  const handlers = asked.value('handlers');
  const code = liveCode();
  if (handlers !== undefined) code.become(await loadHandlers(handlers, report.spec));
  const rows = asked.value('rows');
  const isTrial = settings.workbenchPort !== undefined || settings.clockPort !== undefined;
  const clock = isTrial ? settableClock() : undefined;
  const scenarios = asked.value('scenarios');
  const options: ServeOptions = {
    ...(clock && { clock }),
    ...(handlers !== undefined && { handlers: code.handlers, before: code.before }),
    ...(rows !== undefined && { rows: await readRows(rows, report.spec) }),
    ...(scenarios !== undefined && { scenarios: await readScenariosFile(scenarios, report.spec) }),
    ...(settings.workbenchPort !== undefined && { trials: true }),
    ...(settings.operations && { watch: true }),
    ...means,
    ...optionsOf(asked, settings, log),
  };
  if (asked.has('traces')) await startTraces();
  return overStore(settings.store, async (store) => {
    const service = await started(
      serveSpec(report.spec, { ...options, store, migration: migrationOf(store, settings, log) }),
      rows,
      log,
    );
    if (service === undefined) return 1;
    const coverage = settings.coverage === undefined ? undefined : keepCoverage(service, asked.document, settings.coverage);
    let cut = 0;
    try {
      cut = await runUntilStopped({ asked, terminal, settings, log, report, readMs, code, service, clock });
    } finally {
      try {
        coverage?.close();
      } finally {
        await service.close();
        log.flush();
      }
    }
    tellStopped(log, cut, settings);
    return cut === 0 ? 0 : 1;
  });
}

function tellStopped(log: Log, cut: number, { drainMs }: ServeSettings): void {
  const was = cut === 1 ? 'One request was' : `${cut} requests were`;
  const text = cut === 0 ? 'Stopped.' : `Stopped. ${was} not finished in ${drainMs / 1000} s and cut off.`;
  log.event('stopped', { cut }, text);
}

/** A service that is to be run, and what it was made of. */
interface Running extends Pick<Parameters<typeof startReload>[0], 'report' | 'readMs' | 'code' | 'service' | 'settings'> {
  readonly asked: VerbCall;
  readonly terminal: Terminal;
  readonly log: Log;
  readonly clock: ReturnType<typeof settableClock> | undefined;
}

/** Listens, tells so, and waits for the signal to stop; what is under way then is finished, and how many requests were not is told. */
async function runUntilStopped({
  asked,
  terminal,
  settings,
  log,
  report,
  readMs,
  code,
  service,
  clock,
}: Running): Promise<number> {
  let cut = 0;
  // Before it listens: whoever supervises it may stop it from then on.
  const stopped = new Promise<NodeJS.Signals>(onStop);
  const onCut = (requests: number) => {
    cut = requests;
  };
  const doors = await openServiceDoors({ service, settings, log, clock, onCut });
  const { basePath, notes, credentials } = service;
  giveBackMemory();
  const served = { report, document: asked.document, store: shownStore(settings.store), basePath, notes, credentials };
  if (ownPlace()?.isFirst !== false)
    announce({ ...served, isProduction: settings.isProduction, url: doors.url, ...doors.beside }, log, terminal);
  const reloading = { document: asked.document, report, readMs, handlers: asked.value('handlers'), code, service, settings };
  const watch = asked.has('watch') ? startReload(reloading, log, terminal) : undefined;
  const signal = await stopped;
  watch?.close();
  doors.leave();
  if (settings.drainDelayMs > 0) {
    log.event(
      'draining',
      { signal, seconds: settings.drainDelayMs / 1000 },
      `Stopping in ${settings.drainDelayMs / 1000} s: /readyz says so.`,
    );
    await delayAwake(settings.drainDelayMs);
  }
  log.event('stopping', { signal }, 'Stopping: what is under way is finished.');
  await doors.close();
  return cut;
}

function optionsOf(asked: VerbCall, settings: ServeSettings, log: Log): ServeOptions {
  const { acceptsOpen, standIn, relax, coverage, isProduction, limits } = settings;
  const [user, broker] = [asked.value('as'), asked.value('broker')];
  return {
    ...(user !== undefined && { as: user }),
    ...(limits !== undefined && { limits }),
    ...(acceptsOpen && { open: 'accept' }),
    ...(standIn && { sample: true, seedValue: standIn.seedValue, strict: standIn.isStrict }),
    ...(relax && { relax }),
    ...(asked.has('accept-credential') && { acceptCredentials: asked.values('accept-credential') }),
    ...(coverage !== undefined && { coverage: true }),
    ...(broker !== undefined && { broker }),
    ...(asked.has('webhook') && { webhooks: asked.values('webhook').map((url) => ({ url })) }),
    ...(asked.has('allow-private-webhooks') && { allowPrivateWebhooks: true }),
    ...(asked.has('webhook-hosts') && { webhookHosts: webhookHostsOf(asked) }),
    ...(asked.has('https-webhooks') && { httpsWebhooks: true }),
    development: !isProduction,
    production: isProduction,
    openapi: async (spec) => JSON.stringify((await import('../../convert/openapi.ts')).toServedOpenApi(spec)),
    ...(asked.has('accept-misfits') && { acceptMisfits: true }),
    ...(log.exchange && { onExchange: log.exchange, notes: log.notes }),
    onAdministered: log.administered,
    onUndelivered: log.undelivered,
    onFailure: log.failure,
  };
}

/** Runs over the data in a file, and closes it whatever happens. */
async function overStore(path: string, run: (store: ReturnType<typeof openStore>) => Promise<number>): Promise<number> {
  let store: ReturnType<typeof openStore>;
  try {
    store = await reached(openStore(path));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Misuse(/[.?]$/.test(why) ? why : `${why}.`, { cause: error });
  }
  try {
    return await run(store);
  } finally {
    await store.close();
  }
}

/** What is told before stored rows become others, after a copy of them. */
function migrationOf(store: Store, { store: path }: ServeSettings, log: Log): MigrationOptions {
  return {
    async before(plan) {
      const copy = await copyBefore(store, path, Date.now());
      log.event('migrating', { plan, ...(copy !== undefined && { copy }) }, planText(plan, shownStore(path), copy));
    },
  };
}

/** The service, or nothing where stored rows, or those to start with, do not fit the document, which is told. */
async function started(starting: Promise<Service>, rows: string | undefined, log: Log): Promise<Service | undefined> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof BadRows) {
      log.event(
        'bad rows',
        { rows, message: error.message },
        `${rows}: ${error.message} Nothing was changed, and nothing is served.`,
      );
      return undefined;
    }
    if (isUnavailable(error) && error instanceof Error) throw new Misuse(`${error.message}.`, { cause: error });
    if (!(error instanceof Misfits)) throw error;
    const help = 'Change the document or the rows, or serve with --accept-misfits. Nothing was changed, and nothing is served.';
    log.event('misfits', { rows: error.rows, reasons: error.reasons }, `${misfitsText(error)}\n${help}`);
    return undefined;
  }
}

/**
 * Waits so long, in milliseconds, slice by slice: of a time in which the process is held up no more than a slice counts, for whoever asks
 * whether it is ready has no answer then, and is still to be told.
 */
async function delayAwake(ms: number): Promise<void> {
  for (let slice = 0; slice < slices; slice++) await delay(ms / slices);
}

const slices = 20;
