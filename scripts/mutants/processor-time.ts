import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Loaded ahead of everything in each process of a test: when it ends it leaves behind how many seconds the processor worked. */
const folder = process.env.NINEFOLD_PROCESSOR_TIME;
if (folder !== undefined) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(join(folder, `${process.pid}.time`), String((user + system) / 1e6));
  });
}
