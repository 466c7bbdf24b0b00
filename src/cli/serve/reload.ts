import type { CheckReport } from '../../check/check.ts';
import type { Service } from '../../serve/service/service.ts';
import { findingLines, ledgerLine, summary } from '../check-text.ts';
import { reportOnServed } from '../reading.ts';
import { paint, type Terminal } from '../terminal.ts';
import { Misuse } from '../verb.ts';
import { startWatch, type Watch } from '../watch.ts';
import { credentialLines, noteLines } from './announcement.ts';
import { loadHandlers, type OwnCode } from './handlers-file.ts';
import type { Log } from './log.ts';
import { checkExposure, type ServeSettings } from './settings.ts';

/** A service and what it was made of. */
export interface Reloading {
  readonly document: string;
  readonly report: CheckReport;
  /** When the document was read. */
  readonly readMs: number;
  readonly handlers: string | undefined;
  readonly code: LiveCode;
  readonly service: Service;
  readonly settings: ServeSettings;
}

/** The user's own code, looked up anew whenever the service makes its plans. */
export interface LiveCode extends OwnCode {
  /** Puts other code in the place of this. */
  become(code: OwnCode): void;
}

export function liveCode(): LiveCode {
  const handlers: Record<string, OwnCode['handlers'][string]> = Object.create(null);
  const before: Record<string, OwnCode['before'][string]> = Object.create(null);
  const fill = <T>(target: Record<string, T>, source: Readonly<Record<string, T>>): void => {
    for (const name of Object.keys(target)) delete target[name];
    Object.assign(target, source);
  };
  return {
    handlers,
    before,
    become(code) {
      fill(handlers, code.handlers);
      fill(before, code.before);
    },
  };
}

/** Serves the new document or handlers after each change of their files; what is not sound is told, and the last sound one stays. */
export function startReload(
  { document, report: first, readMs, handlers, code, service, settings }: Reloading,
  log: Log,
  terminal: Terminal,
): Watch {
  let readings = 0;
  let announced = service.credentials;
  const own = handlers === undefined ? [] : [handlers];
  let served = [...first.spec.document.sources.keys()];

  const keep = (why: string, fields: Readonly<Record<string, unknown>>): void => {
    const still = paint(terminal, 'yellow', `${document} is served as it was before this change.`);
    log.event('kept', fields, `${why}\n${still}`);
  };
  const reload = async (): Promise<void> => {
    const report = await reportOnServed(document, undefined, settings.overlays);
    const { sources } = report.spec.document;
    watch.follow(new Set([...served, ...sources.keys(), ...own]), !report.sound);
    if (!report.sound) {
      const text = [...findingLines(report, terminal), summary(report, document, terminal)].join('\n');
      return keep(text, { findings: report.findings });
    }
    checkExposure(settings, report.spec, document);
    readings += 1;
    const old = { handlers: { ...code.handlers }, before: { ...code.before } };
    if (handlers !== undefined) code.become(await loadHandlers(handlers, report.spec, readings));
    try {
      await service.replace(report.spec);
    } catch (error) {
      code.become(old);
      throw error;
    }
    const known = new Set(announced.map(({ value }) => value));
    const credentials = service.credentials.filter(({ value }) => !known.has(value));
    announced = service.credentials;
    served = [...sources.keys()];
    watch.follow(new Set([...served, ...own]));
    const said = `${paint(terminal, 'green', 'changed')}  ${document}: ${ledgerLine(report.ledger.total)}`;
    const notes = service.notes;
    const told = [said, ...noteLines(notes, terminal), ...credentialLines(credentials, terminal)];
    log.event('reloaded', { ledger: report.ledger.total, notes, credentials }, told.join('\n'));
  };
  const watch = startWatch(readMs, async () => {
    try {
      await reload();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      keep(error instanceof Misuse ? why : `${document} cannot take its place: ${why}`, { message: why });
    }
  });
  watch.follow([...served, ...own]);
  return watch;
}
