/** A load generator that somebody else wrote: wrk, where it is installed. */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onCore } from './cores.ts';

/** Whether wrk can be run; it tells its version with exit code 1. */
export const wrkIsThere = spawnSync('wrk', ['--version']).error === undefined;

/** What wrk measured: requests a second, the 99th percentile, and how many answers were no success. */
export interface WrkResult {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly errors: number;
}

export interface WrkJob {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Whole requests, sent one after the other from the beginning again. */
  readonly requests: readonly string[];
  /** Where the script and its requests are written. */
  readonly folder: string;
}

/** Requests go to wrk in a file with a zero byte between them: Lua would turn the line ends in a text of a program. */
const script = (file: string): string => `
local requests = {}
for one in io.open(${JSON.stringify(file)}, 'rb'):read('*a'):gmatch('[^%z]+') do requests[#requests + 1] = one end
local at = 0
request = function()
  at = at % #requests + 1
  return requests[at]
end
done = function(summary, latency)
  local bad = summary.errors
  local errors = bad.connect + bad.read + bad.write + bad.status + bad.timeout
  print(string.format('RESULT %f %f %d', summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, errors))
end
`;

/** Runs wrk with one thread on the second core. */
export async function wrk({ port, connections, seconds, requests, folder }: WrkJob): Promise<WrkResult> {
  const file = join(folder, 'wrk-requests.bin');
  const program = join(folder, 'wrk.lua');
  writeFileSync(file, requests.join('\0'));
  writeFileSync(program, script(file));
  const options = ['-t1', `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`, '-s', program];
  const [command, ...args] = onCore(1, ['wrk', ...options, `http://127.0.0.1:${port}/`]);
  const { stdout } = await promisify(execFile)(command, args, { timeout: (seconds + 20) * 1000 });
  const result = /^RESULT (\S+) (\S+) (\d+)$/m.exec(stdout);
  if (result === null) throw new Error(`wrk told no result: ${stdout.slice(0, 300)}`);
  return { perSecond: Number(result[1]), p99Ms: Number(result[2]), errors: Number(result[3]) };
}
