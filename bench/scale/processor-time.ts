import { readFileSync } from 'node:fs';
import { Client } from 'pg';

/** Milliseconds of processor time that services and the sessions of their database have taken; what cannot be had is not there. */
export interface ProcessorTime {
  readonly services: number | undefined;
  readonly database: number | undefined;
}

/** Ticks of a clock that Linux counts processor time by, in milliseconds (`getconf CLK_TCK` is 100 wherever Node runs). */
const tickMs = 10;

/** Reads what these processes, and all sessions of a database on this machine where there is one, have taken so far (Linux). */
export async function processorTime(pids: readonly (number | undefined)[], address: string | undefined): Promise<ProcessorTime> {
  if (address === undefined) return { services: sumOf(pids), database: undefined };
  const client = new Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
  return { services: sumOf(pids), database: sumOf(rows.map(({ pid }) => pid)) };
}

function sumOf(pids: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const pid of pids) {
    try {
      // The words behind the name: of the process itself and of the system for it (proc_pid_stat(5)).
      const words = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      sum += (Number(words[11]) + Number(words[12])) * tickMs;
    } catch {
      return undefined;
    }
  }
  return sum;
}

/** Microseconds of each request; `–` where they were not measured. */
export function perRequest(before: number | undefined, after: number | undefined, requests: number): string {
  return before === undefined || after === undefined || requests === 0
    ? '–'
    : String(Math.round(((after - before) * 1000) / requests));
}
