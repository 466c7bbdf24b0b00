import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Coverage } from '../../serve/service/coverage.ts';
import type { Service } from '../../serve/service/service.ts';
import { Misuse } from '../verb.ts';

/** What clients touched in one run, as it is kept in a file. */
export interface CoverageRecord extends Coverage {
  /** What was served. */
  readonly document: string;
  readonly since: string;
  readonly until: string;
}

/** Writes the record of a running service now and then, and at its end. @throws {Misuse} where it cannot be written. */
export function keepCoverage(service: Service, document: string, path: string): { close(): void } {
  const since = new Date().toISOString();
  const write = (): void => {
    const coverage = service.coverage();
    if (!coverage) return;
    const record: CoverageRecord = { document, since, until: new Date().toISOString(), ...coverage };
    // Whoever reads it meanwhile reads a whole one.
    writeFileSync(`${path}.new`, `${JSON.stringify(record, undefined, 1)}\n`);
    renameSync(`${path}.new`, path);
  };
  try {
    rmSync(path, { force: true });
    writeFileSync(`${path}.new`, '');
  } catch (cause) {
    throw new Misuse(`${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause });
  }
  const timer = setInterval(() => {
    try {
      write();
    } catch {
      // A full disk stops no service; the next time, or the end, may succeed.
    }
  }, everyMs).unref();
  return {
    close() {
      clearInterval(timer);
      write();
    },
  };
}

const everyMs = 2_000;

/** Reads a record: the path of one, or of the data that it lies beside. @throws {Misuse} where there is none. */
export function readCoverage(path: string): CoverageRecord {
  for (const candidate of [path, `${path}.coverage.json`]) {
    const record = recordIn(candidate);
    if (record) return record;
  }
  throw new Misuse(
    `${path} is no record of a run, and none lies beside it: \`ninefold serve DOC --coverage FILE\` writes one, and so does every stand-in with a --store.`,
  );
}

function recordIn(path: string): CoverageRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    // A record is written whole, above.
    return typeof value === 'object' && value !== null && 'endpoints' in value && 'since' in value
      ? (value as CoverageRecord)
      : undefined;
  } catch {
    return undefined;
  }
}
