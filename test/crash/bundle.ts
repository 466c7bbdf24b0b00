import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { startServer } from './server.ts';

const root = join(import.meta.dirname, '../..');

/**
 * The command line as one file with all that it needs: a server that is killed again and again spends most of its life starting, and from
 * hundreds of files it takes twice as long. Gives the file.
 */
export async function bundleCommand(folder: string): Promise<string> {
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `import module from 'node:module'; module.enableCompileCache();
        const { main } = await import('./src/cli.ts'); process.exitCode = await main(process.argv.slice(2));`,
      resolveDir: root,
    },
    outdir: folder,
    entryNames: 'ninefold',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // What comes from packages may ask for built-in modules in the old way.
    banner: {
      js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`,
    },
    // Of these a bundle has no names where they are loaded late.
    external: ['@redis/client', '@nats-io/*'],
    logLevel: 'error',
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const command = join(folder, 'ninefold.mjs');
  await keepCompiled(command, join(folder, 'first.sqlite'));
  return command;
}

/** A process that is killed keeps nothing of what it compiled: one that ends by itself does so for all that come. */
async function keepCompiled(command: string, store: string): Promise<void> {
  const server = startServer(join(import.meta.dirname, 'accounts.yaml'), store, [], command);
  await server.address;
  if (server.pid !== undefined) process.kill(server.pid, 'SIGTERM');
  await server.ended;
}
