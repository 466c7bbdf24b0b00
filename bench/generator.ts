/** The load generator's process, seen from the benchmark. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onCore } from './cores.ts';
import type { LoadJob, LoadResult } from './load.ts';

export interface Generator {
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

/** Starts the load generator on the second core, where there is one. */
export function startGenerator(): Generator {
  const [command, ...args] = onCore(1, [process.execPath, fileURLToPath(new URL('load-process.ts', import.meta.url))]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    run: (job) => runJob(child, job),
    stop: () => child.kill(),
  };
}

async function runJob(child: ChildProcess, job: LoadJob): Promise<LoadResult> {
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout((job.seconds + job.warmSeconds) * 1000 + 20_000)]);
  const onExit = (): void => ended.abort(new Error('the load generator ended'));
  child.once('exit', onExit);
  try {
    const answer = once(child, 'message', { signal });
    child.send(job);
    const [result] = await answer;
    // The generator sends nothing but results.
    return result as LoadResult;
  } finally {
    child.off('exit', onExit);
  }
}
