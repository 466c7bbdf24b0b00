/** Whether how long a refusal takes tells what is missing from what stays hidden. */

import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import { parseDocument, type Service, serve } from '../src/index.ts';
import { median } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

const rowCount = 2_000;
const alternating = 5_000;

/** One parcel is the merchant's own, or that of a shop which is: the rule reads the row, or follows a reference. */
const documentWith = (condition: string): string => `
purpose: { purpose: Keeps parcels., users: { merchant: Sends them. } }
resources:
  shop: { identifier: { field: id, generate: client }, fields: { id: string, owner: string }, required: [id, owner] }
  parcel:
    identifier: { field: id, generate: client }
    fields:
      id: string
      merchant: string
      shop: { ref: shop, onDelete: restrict }
      to: { type: object, properties: { name: string, street: string, city: string } }
      weight_g: integer
      sent_at: { type: string, format: date-time }
    required: [id, merchant, shop, to, weight_g, sent_at]
endpoints:
  GET /parcels/{id}: { does: read parcel }
authentication:
  schemes: { key: { type: api_key, header: X-API-Key, generate: "pk_{random:32}" } }
  permissions: [{ allow: [read parcel], to: merchant, if: ${JSON.stringify(condition)} }]
`;
const rules = { 'a field of the row': 'resource.merchant == caller.id', 'a reference': 'resource.shop.owner == caller.id' };

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const targets: Target[] = [];
  for (const [title, condition] of Object.entries(rules)) {
    const service = await start(condition);
    const doors = { 'through a socket': await throughSocket(service), 'in process': inProcess(service) };
    for (const [door, send] of Object.entries(doors)) {
      await compare(send);
      const measured: number[] = [];
      for (let round = 0; round < Number(values.rounds); round++) measured.push(await compare(send));
      targets.push({ what: `missing against hidden by ${title}, ${door}`, bound: 'at most', value: 5, unit: '%', measured });
    }
    await service.close();
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(targets, undefined, 2)}\n`);
  console.log(
    `${alternating} alternating requests a round over ${rowCount} rows: how far the medians differ; Node ${process.versions.node}.\n`,
  );
  console.log(targetReport(targets, values.markdown));
  return exitCode(targets, values.strict);
}

function start(condition: string): Promise<Service> {
  const to = { name: 'Ada Lovelace', street: 'Kade 12', city: 'Delft' };
  const parcel = Array.from({ length: rowCount }, (_, n) => {
    return { id: idOf(n), merchant: 'm2', shop: 's2', to, weight_g: n + 1, sent_at: '2026-06-01T09:00:00.000Z' };
  });
  return serve(parseDocument(documentWith(condition), 'denial.yaml'), {
    identify: () => ({ id: 'm1', user: 'merchant', scopes: [] }),
    rows: { shop: [{ id: 's2', owner: 'm2' }], parcel },
  });
}

function idOf(n: number): string {
  return `pcl_${String(n).padStart(6, '0')}`;
}

type Send = (path: string) => Promise<number>;

/** By how many per cent the medians of missing and hidden differ. */
async function compare(send: Send): Promise<number> {
  const tookNs: { readonly missing: number[]; readonly hidden: number[] } = { missing: [], hidden: [] };
  for (let n = 0; n < alternating; n++) {
    const kind = n % 2 === 0 ? 'missing' : 'hidden';
    const id = idOf((n * 7_919) % rowCount);
    const path = `/parcels/${kind === 'missing' ? `x${id.slice(1)}` : id}`;
    const from = process.hrtime.bigint();
    const status = await send(path);
    tookNs[kind].push(Number(process.hrtime.bigint() - from));
    if (status !== 404) throw new Error(`${path} was answered ${status}`);
  }
  return Math.abs(median(tookNs.missing) / median(tookNs.hidden) - 1) * 100;
}

function inProcess(service: Service): Send {
  return async (path) => (await service.fetch(new Request(`http://127.0.0.1${path}`))).status;
}

async function throughSocket(service: Service): Promise<Send> {
  const { port } = await service.listen({ port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, agent }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end();
    });
}
