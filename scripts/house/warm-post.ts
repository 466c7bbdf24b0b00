import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { type Debugger, type Profiler, Session } from 'node:inspector/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseDocument, serve } from '../../src/index.ts';

/**
 * What one warm POST calls: `node scripts/house/warm-post.ts [--list]`. The service of `examples/parcels.md` listens on this machine
 * and has answered twenty POSTs. V8's precise coverage over the next one says which functions of `src` were called and how often; a
 * breakpoint in each of them, which never stops, then writes down the order of the calls of one more.
 */
export interface WarmPost {
  readonly calls: number;
  readonly files: number;
  readonly folders: number;
  /** How often a call is followed by one of another folder. */
  readonly changesOfFolder: number;
  /** The functions in the order of their calls, each as `file:name`. */
  readonly order: readonly string[];
}

const root = join(import.meta.dirname, '..', '..');
const sources = pathToFileURL(join(root, 'src')).href;

/** Where a breakpoint leaves the number of the function that it stands in. */
const trace = globalThis as { calledInOrder?: number[] };

export async function measureWarmPost(): Promise<WarmPost> {
  const service = await serve(parseDocument(readFileSync(join(root, 'examples', 'parcels.md'), 'utf8'), 'parcels.md'), {
    development: true,
  });
  const address = await service.listen({ port: 0 });
  const key = service.credentials.find(({ scheme, user }) => scheme === 'key' && user === 'merchant');
  if (!key) throw new Error('The example gives a merchant no key.');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = `${address.url}${service.basePath}/parcels`;
  const post = () => send(url, agent, { [key.name]: key.value });
  const session = new Session();
  session.connect();
  try {
    for (let count = 0; count < 20; count++) await post();
    const called = await callsOf(session, post);
    const order = await orderOf(session, called, post);
    return summary(called, order);
  } finally {
    session.disconnect();
    agent.destroy();
    await address.close();
    await service.close();
  }
}

function send(url: string, agent: Agent, headers: Record<string, string>): Promise<void> {
  const body = JSON.stringify({
    to: { name: 'Ada Lovelace', street: '12 St James Square', city: 'London', country: 'GB' },
    weight_g: 1200,
    service: 'express',
  });
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      if (response.statusCode !== 201) reject(new Error(`The POST was answered with ${response.statusCode}.`));
      // What is done after the answer, such as settling what is sent to nobody, belongs to the request too.
      response.on('end', () => setTimeout(resolve, 50));
    });
    sent.end(body);
  });
}

interface Called {
  readonly scriptId: string;
  readonly file: string;
  readonly name: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

async function callsOf(session: Session, post: () => Promise<void>): Promise<Called[]> {
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // What is compiled anew for being counted is compiled by this one.
  await post();
  await session.post('Profiler.takePreciseCoverage');
  await post();
  const { result } = (await session.post('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType;
  await session.post('Profiler.stopPreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith(`${sources}/`))
    .flatMap(({ url, scriptId, functions }) =>
      functions.flatMap(({ functionName, ranges: [range] }) =>
        // What V8 makes to fill in the fields of a class is no function that anybody wrote.
        range && range.count > 0 && functionName !== '<instance_members_initializer>'
          ? [{ scriptId, file: relative(root, fileURLToPath(url)), name: functionName || 'anonymous', ...range }]
          : [],
      ),
    );
}

async function orderOf(session: Session, called: readonly Called[], post: () => Promise<void>): Promise<number[]> {
  await session.post('Debugger.enable');
  const texts = new Map<string, string>();
  for (const [index, one] of called.entries()) {
    const text = texts.get(one.scriptId) ?? (await sourceOf(session, one.scriptId));
    texts.set(one.scriptId, text);
    const { locations } = (await session.post('Debugger.getPossibleBreakpoints', {
      start: { scriptId: one.scriptId, ...placeOf(text, one.startOffset) },
      end: { scriptId: one.scriptId, ...placeOf(text, one.endOffset + 1) },
      restrictToFunction: true,
    })) as Debugger.GetPossibleBreakpointsReturnType;
    const [first] = locations;
    if (!first) throw new Error(`${one.file}: ${one.name} has no place to stop at.`);
    const { scriptId, lineNumber, columnNumber = 0 } = first;
    const location = { scriptId, lineNumber, columnNumber };
    await session.post('Debugger.setBreakpoint', { location, condition: `calledInOrder.push(${index}), false` });
  }
  trace.calledInOrder = [];
  await post();
  const order = trace.calledInOrder;
  await session.post('Debugger.disable');
  return order;
}

async function sourceOf(session: Session, scriptId: string): Promise<string> {
  const { scriptSource } = (await session.post('Debugger.getScriptSource', { scriptId })) as Debugger.GetScriptSourceReturnType;
  return scriptSource;
}

function placeOf(text: string, offset: number): { readonly lineNumber: number; readonly columnNumber: number } {
  const before = text.slice(0, offset);
  const lineNumber = before.split('\n').length - 1;
  return { lineNumber, columnNumber: offset - (before.lastIndexOf('\n') + 1) };
}

function summary(called: readonly Called[], order: readonly number[]): WarmPost {
  const steps = order.map((index) => called[index] as Called);
  const folders = steps.map(({ file }) => dirname(file));
  return {
    calls: called.reduce((sum, { count }) => sum + count, 0),
    files: new Set(called.map(({ file }) => file)).size,
    folders: new Set(called.map(({ file }) => dirname(file))).size,
    changesOfFolder: folders.filter((folder, at) => at > 0 && folder !== folders[at - 1]).length,
    order: steps.map(({ file, name }) => `${file}:${name}`),
  };
}

if (import.meta.main) {
  const { calls, files, folders, changesOfFolder, order } = await measureWarmPost();
  if (process.argv.includes('--list')) console.log(order.join('\n'));
  console.log(`One warm POST: ${calls} calls over ${files} files in ${folders} folders, ${changesOfFolder} changes of folder.`);
}
