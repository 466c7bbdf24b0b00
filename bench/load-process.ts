/** The load generator as a process of its own: a job comes in as a message, its result goes out as one. */
import { type LoadJob, load } from './load.ts';

process.on('message', (message) => {
  // The parent sends nothing but jobs.
  void load(message as LoadJob).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
