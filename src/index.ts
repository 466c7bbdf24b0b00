import { type CheckReport, check as checkDocument } from './check/check.ts';
import { fromForeign } from './convert/foreign.ts';
import { toServedOpenApi } from './convert/openapi.ts';
import type { Document, Finding, JsonMap } from './document/document.ts';
import { parseDocument as parseText } from './document/read/parse.ts';
import { heapBytes, readBeside, readDocument as readFile } from './document/read/read.ts';
import { isKey } from './parts/form.ts';
import type { Spec } from './parts/spec.ts';
import { systemClock } from './serve/http/clock.ts';
import { copyBefore, openStore } from './serve/service/open-store.ts';
import { serveSpec } from './serve/service/serve-spec.ts';
import type { Service, ServeOptions as SpecOptions } from './serve/service/service.ts';
import type { VerifyOptions } from './verify/options.ts';
import type { VerifyReport } from './verify/report.ts';

export type { CheckReport } from './check/check.ts';
export { requireClosed } from './check/check.ts';
export type { Document, Finding, Json, JsonMap, PartName, Place, Pointer, Prose } from './document/document.ts';
export { renderFinding } from './document/frame.ts';
export { Unreadable } from './document/read/read.ts';
export type { Standing } from './parts/fact.ts';
export type { Ledger, LedgerFact, StandingCounts as Counts } from './parts/facts/ledger.ts';
export { ledgerOf } from './parts/facts/ledger.ts';
export type { Spec } from './parts/spec.ts';
export type { DevelopmentCredential } from './serve/callers/development.ts';
export type { Undelivered } from './serve/events/undelivered.ts';
export type { Clock, Entropy as Chance } from './serve/http/clock.ts';
export { movableClock, systemChance, systemClock } from './serve/http/clock.ts';
export { HandlerAnswer as Answer } from './serve/operations/handler.ts';
export type {
  BeforeHandlers,
  GivenHandlers,
  Handler,
  HandlerContext,
  HandlerStore,
  Handlers,
} from './serve/operations/handlers.ts';
export {
  type AnswerInput as ScenarioAnswer,
  BadScenario,
  type Fault as ScenarioFault,
  type ScenarioInput as Scenario,
} from './serve/scenarios/scenario.ts';
export type { Scenarios, ToldScenario } from './serve/scenarios/stage.ts';
export type { Workbench } from './serve/scenarios/workbench.ts';
export { Unfit } from './serve/service/admin/command.ts';
export type { Coverage, EndpointCoverage, OpenCoverage } from './serve/service/coverage.ts';
export { openStore } from './serve/service/open-store.ts';
export type { ExchangeEntry, Service } from './serve/service/service.ts';
export { Misfits } from './serve/service/stored/renewing.ts';
export type { Watched } from './serve/service/watched.ts';
export { NoScheme, NoUser } from './verify/exchange/callers.ts';
export type { Progress, VerifyOptions } from './verify/options.ts';
export { CannotRun } from './verify/options.ts';
export type { Breach, FactVerdict, Unsteady, Verdict, VerifyReport } from './verify/report.ts';

/**
 * Reads a document and what it includes from the disk. What is wrong with it is among its `findings`.
 * @throws {Unreadable} where its own file cannot be read.
 */
export function readDocument(path: string): Promise<Document> {
  return readFile(path, { isKey, foreign: fromForeign });
}

/** How a text is read that is no file of this machine. */
export interface ParseOptions {
  /** The content of an included file, by its path from the document's folder. Without it every include is a finding. */
  readonly include?: (path: string) => string | Uint8Array;
}

/** Reads a document from its text. The ending of `file` says whether it is Markdown, YAML or JSON; messages show it as the place. */
export function parseDocument(text: string | Uint8Array, file: string, options: ParseOptions = {}): Document {
  return parseText(text, file, { isKey, foreign: fromForeign, heapBytes: heapBytes(), ...options });
}

/** What a document states, what it leaves open and what is wrong with it. It never throws. */
export function check(document: Document): CheckReport {
  return checkDocument(document);
}

/** Where a service keeps its data; `openStore` gives one. */
export type Store = NonNullable<SpecOptions['store']>;

/** How a service is run; what is not given is the machine's own clock and chance, and data in memory. */
export interface ServeOptions extends Omit<SpecOptions, 'store'> {
  /** Where the data is: a store that the caller closes, or the path of a SQLite file, `:memory:` for none. */
  readonly store?: Store | string;
}

/**
 * The service that a document describes: the path of one, one that was read, its nine parts as a plain JSON tree, or what `check` said of it,
 * which is then not worked out again.
 * @throws {Unsound} where a finding is an error.
 * @throws {Misfits} where stored rows do not fit the document.
 */
export async function serve(document: Given, options: ServeOptions = {}): Promise<Service> {
  const report = await soundReportOf(document);
  const { store, ...asked } = options;
  const given = { openapi: writeOpenApi, ...asked };
  const rest = typeof document === 'string' ? { readFile: (path: string) => readBeside(document, path), ...given } : given;
  if (typeof store !== 'string') return serveSpec(report.spec, { ...rest, ...(store && { store }) });
  const opened = openStore(store);
  const copying = async () => void (await copyBefore(opened, store, (asked.clock ?? systemClock).now()));
  const migration = { before: copying, ...asked.migration };
  try {
    const service = await serveSpec(report.spec, { ...rest, store: opened, migration });
    return closing(service, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * Holds a running service to its document, which is given as to `serve`.
 * @throws {Unsound} where a finding is an error.
 * @throws {CannotRun} where the address may not be used or nothing answers there.
 */
export async function verify(document: Given, options: VerifyOptions): Promise<VerifyReport> {
  const report = await soundReportOf(document);
  const { verify: verifySpec } = await import('./verify/verify.ts');
  return verifySpec(report.spec, options);
}

/** The document as OpenAPI. */
async function writeOpenApi(spec: Spec): Promise<string> {
  return JSON.stringify(toServedOpenApi(spec));
}

/** The same service, which closes its store as well. */
function closing(service: Service, store: Store): Service {
  return {
    listener: service.listener,
    fetch: (request) => service.fetch(request),
    listen: (options) => service.listen(options),
    fire: (resource, id, transition) => service.fire(resource, id, transition),
    replace: (spec) => service.replace(spec),
    administer: (command, input) => service.administer(command, input),
    openAdmin: () => service.openAdmin(),
    get credentials() {
      return service.credentials;
    },
    get notes() {
      return service.notes;
    },
    get basePath() {
      return service.basePath;
    },
    workbench: service.workbench,
    watched: service.watched,
    coverage: () => service.coverage(),
    settled: () => service.settled(),
    close: () => service.close().finally(() => store.close()),
  };
}

/** A document that contradicts itself cannot be served; `findings` say where. */
export class Unsound extends Error {
  override readonly name = 'Unsound';
  readonly findings: readonly Finding[];
  constructor(findings: readonly Finding[]) {
    const errors = findings.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    const where = first && `${first.place.file}:${first.place.line}:${first.place.column}: ${first.message}`;
    super(`The document has ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, the first at ${where}`);
    this.findings = findings;
  }
}

/** A document in the ways in which it may be given. */
type Given = string | Document | JsonMap | CheckReport;

/** @throws {Unsound} */
async function soundReportOf(given: Given): Promise<CheckReport> {
  const report = typeof given === 'object' && isReport(given) ? given : checkDocument(await documentOf(given));
  if (!report.sound) throw new Unsound(report.findings);
  return report;
}

async function documentOf(given: string | Document | JsonMap): Promise<Document> {
  if (typeof given === 'string') return readDocument(given);
  return isDocument(given) ? given : parseDocument(JSON.stringify(given, undefined, 2), 'document.json');
}

function isReport(given: Document | JsonMap | CheckReport): given is CheckReport {
  const { spec } = given as { readonly spec?: { readonly document?: Document | JsonMap } };
  return spec?.document !== undefined && isDocument(spec.document);
}

// A tree of JSON holds no Map.
function isDocument(given: Document | JsonMap): given is Document {
  return given.places instanceof Map;
}
