/** Several processes that share a queue of work. */
import { type ChildProcess, fork } from 'node:child_process';

/** Has all of it done by processes that run a file, so many at a time; tells of each piece as it is done. */
export async function workThrough<Work extends object, Done>(
  file: string,
  queue: readonly Work[],
  beside: number,
  tell: (done: Done) => void,
): Promise<void> {
  const waiting = [...queue];
  const workers = Array.from({ length: Math.min(beside, queue.length) }, () => fork(file));
  try {
    await Promise.all(
      workers.map(async (worker) => {
        for (let work = waiting.shift(); work; work = waiting.shift()) tell(await given<Done>(worker, work));
      }),
    );
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
  }
}

function given<Done>(worker: ChildProcess, work: object): Promise<Done> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a process of the matrix ended with ${code}`));
    worker.once('exit', ended);
    worker.once('message', (message) => {
      worker.off('exit', ended);
      // Each worker answers with what came of its work.
      resolve(message as Done);
    });
    worker.send(work);
  });
}
