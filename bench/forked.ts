/** Programs of a benchmark that run as processes of their own, and tell their parent where they are. */
import { type ChildProcess, fork } from 'node:child_process';

export interface Forked<T> {
  readonly child: ChildProcess;
  /** Its first message. */
  readonly told: T;
  /** Lets it end, and waits until it has. */
  stop(): Promise<void>;
}

/** Starts a program, and waits for its first message. @throws where it ends before that */
export async function forked<T>(
  file: string,
  { words = [], env }: { readonly words?: readonly string[]; readonly env?: NodeJS.ProcessEnv },
): Promise<Forked<T>> {
  const child = fork(file, [...words], { env: { ...process.env, ...env } });
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const first = new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)));
  const early = gone.then((code) => {
    throw new Error(`${file} ended with ${code}`);
  });
  // It ends at last, which is no failure then.
  early.catch(() => {});
  const told = await Promise.race([first, early]);
  const stop = async () => {
    if (child.connected) child.disconnect();
    await gone;
  };
  return { child, told, stop };
}
