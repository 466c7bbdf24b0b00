import { spawn } from 'node:child_process';

/** A command may take so long to start a service anew. */
const restartMsMax = 60_000;

/** Starts a service anew by a command of the shell, which ends once that is done. Fails where the command does. */
export function restartBy(command: string): () => Promise<void> {
  return () =>
    new Promise((resolve, reject) => {
      // What it prints is nothing of ours, and a service that it leaves behind keeps no pipe of ours open.
      const child = spawn(command, { shell: true, stdio: 'ignore', timeout: restartMsMax });
      child.on('error', reject);
      child.on('exit', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`--restart: the command ended with ${code ?? signal}`));
      });
    });
}
