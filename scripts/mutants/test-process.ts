import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How a test file ended: every test passed, one failed, or it did not end within its time. */
export type Ending = 'passed' | 'failed' | 'timeout';

export interface TestRun {
  readonly ending: Ending;
  readonly seconds: number;
}

interface Surroundings {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly secondsAtMost: number;
}

/**
 * Runs one test file in a process of its own, and ends it, with every process that it started, at the first test that fails.
 * The environment is handed on to what it starts itself.
 */
export async function runTestFile(path: string, { root, environment, secondsAtMost }: Surroundings): Promise<TestRun> {
  const started = performance.now();
  const child = spawn(process.execPath, ['--test-reporter=tap', path], {
    cwd: root,
    // Within a test of the runner's own, the test file is to report as if nobody had started it.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'ninefold-mutants'), ...process.env, NODE_TEST_CONTEXT: undefined, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let ending: Ending | undefined;
  const stop = (how: Ending): void => {
    ending ??= how;
    endGroup(child.pid);
  };
  const timer = setTimeout(() => stop('timeout'), secondsAtMost * 1000);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/^\s*not ok /.test(line) && !/# (TODO|SKIP)\b/i.test(line)) stop('failed');
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  endGroup(child.pid);
  return { ending: ending ?? (code === 0 ? 'passed' : 'failed'), seconds: (performance.now() - started) / 1000 };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}
