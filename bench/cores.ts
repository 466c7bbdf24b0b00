/** Which core a process runs on. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Whether processes can be kept to one core each: `taskset` is there, and there are two cores. */
export const pinned =
  process.platform === 'linux' && availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;

/** The command line that runs the given one on one core, or anywhere where that cannot be had. */
export function onCore(core: 0 | 1, line: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return pinned ? ['taskset', '-c', String(core), ...line] : line;
}
