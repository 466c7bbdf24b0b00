import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * `npm run build`: `src` as declarations and bundled JavaScript in `dist`, for publishing. A type error fails it and leaves
 * no `dist`. The JavaScript is bundled because a start that opens hundreds of small files takes twice as long
 * (`npm run bench start`); what comes from other packages stays theirs.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const emitted = join(dist, '.emitted');

rmSync(dist, { recursive: true, force: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
if (status === 0) {
  for (const entry of readdirSync(join(emitted, 'src'))) renameSync(join(emitted, 'src', entry), join(dist, entry));
  rmSync(emitted, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ['src/cli.ts', 'src/index.ts'],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    logLevel: 'error',
  });
} else {
  rmSync(dist, { recursive: true, force: true });
}
process.exitCode = status ?? 1;
