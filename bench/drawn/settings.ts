/** Services that nobody chose, as settings of `npm run bench serve`: Ninefold against the same written by hand. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Setting } from '../settings.ts';
import { byHand } from './by-hand.ts';
import { type DrawnService, drawnDocument, drawnRow, drawService, storedRow } from './service.ts';

/** Programs by hand are written where they find the packages of this project. */
const programs = fileURLToPath(new URL('../../node_modules/.cache/ninefold-bench', import.meta.url));

/** Writes the documents, the programs and the rows of so many services, drawn from a seed on. */
export function drawnSettings(folder: string, seed: number, count: number, rows: number): readonly Setting[] {
  mkdirSync(programs, { recursive: true });
  process.once('exit', () => rmSync(programs, { recursive: true, force: true }));
  return Array.from({ length: count }, (_, n) => drawnSetting(folder, drawService(seed + n), rows));
}

function drawnSetting(folder: string, service: DrawnService, rows: number): Setting {
  const name = `drawn ${service.seed}`;
  const document = join(folder, `drawn-${service.seed}.json`);
  const program = join(programs, `drawn-${service.seed}.mjs`);
  writeFileSync(document, drawnDocument(service));
  writeFileSync(program, byHand(service));
  return {
    name,
    about: `Seed ${service.seed}: ${told(service)}.`,
    sides: ['Ninefold', 'by hand'],
    acts: new Map([
      ['GET one', [1.3, 1.3]],
      ['page of 20', [2.1, 2.1]],
      ['durable create', [8, 3]],
    ]),
    path: service.path,
    page: service.page,
    row: (n: number) => drawnRow(service, n),
    ...(service.fill === 'from a file' && { rowsFile: writeRows(folder, service, rows) }),
    command: (side, store) =>
      side === 'Ninefold' ? [ninefold, 'serve', document, '--store', store] : [program, '--store', store],
    prepare: () => undefined,
    headers: {},
    oldVersion: {},
    createHeaders: {},
  };
}

const ninefold = fileURLToPath(new URL('../../bin/ninefold.js', import.meta.url));

function writeRows(folder: string, service: DrawnService, rows: number): string {
  const file = join(folder, `drawn-${service.seed}-rows.json`);
  const list = Array.from({ length: rows }, (_, n) => storedRow(service, n));
  writeFileSync(file, JSON.stringify({ [service.noun]: list }));
  return file;
}

/** What was drawn, in one line. */
function told({ fields, generate, order, fill }: DrawnService): string {
  const kinds = fields.map(({ shape, isRequired }) => `${shape.enum ? 'enum' : shape.type}${isRequired ? '' : '?'}`);
  const ordered = order === undefined ? 'no order' : `order ${order.isDescending ? '-' : ''}${order.field}`;
  return `${kinds.join(', ')}; identifiers ${generate}; ${ordered}; rows ${fill}`;
}
