import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** `npm run build`: `src` as JavaScript and declarations in `dist`, for publishing. A type error fails it and leaves no `dist`. */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const emitted = join(dist, '.emitted');

rmSync(dist, { recursive: true, force: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
if (status === 0) {
  // The compiler also copies the schema that the sources import; `dist` stands as deep as `src`, so the package's own one serves.
  for (const entry of readdirSync(join(emitted, 'src'))) renameSync(join(emitted, 'src', entry), join(dist, entry));
  rmSync(emitted, { recursive: true });
} else {
  rmSync(dist, { recursive: true, force: true });
}
process.exitCode = status ?? 1;
