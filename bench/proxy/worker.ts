/** A process that holds our own service of an example to its document, behind a proxy that alters one thing after another. */
import { openOwn } from './opened.ts';
import { type Done, tryAlteration, type Work } from './tried.ts';

process.on('message', (work: Work) => {
  tryAlteration(work, (changes) => openOwn(work, changes))
    .catch((error: unknown): Done => {
      const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return {
        alteration: work.alteration ?? 'none',
        part: 'failed',
        altered: 0,
        broken: [],
        seconds: 0,
        ...(process.stderr.write(`${told}\n`) && {}),
      };
    })
    .then((told) => process.send?.(told));
});
