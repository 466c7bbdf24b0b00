/** Scalar's mock server for a description: `node scalar.ts FOLDER FILE --port N`, where FOLDER has the packages. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder = '', file = '', , port = '0'] = process.argv.slice(2);
const { resolve } = createRequire(join(folder, 'package.json'));
const load = async (name: string): Promise<Record<string, (...given: unknown[]) => unknown>> =>
  await import(pathToFileURL(resolve(name)).href);
const [{ createMockServer }, { serve }] = await Promise.all([load('@scalar/mock-server'), load('@hono/node-server')]);
const app = (await createMockServer?.({ document: readFileSync(file, 'utf8') })) as { fetch: unknown };
serve?.({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' });
