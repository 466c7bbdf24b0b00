import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BeforeHandlers, Handlers } from '../src/index.ts';
import { isLong } from './long.ts';
import { type Answered, type Tried, tryService } from './serving/tried.ts';
import {
  draftWaiting,
  makeWorld,
  readBox,
  refreshed,
  type Scenario,
  scenarios,
  sendDraft,
  type World,
  type Wrong,
  wrongDocument,
  wrongs,
} from './serving/wrong-requests.ts';

/**
 * Section 6 of the language: of everything that is wrong with a request, the earliest step answers. Every right request is
 * made wrong in one way, then in every two ways that can meet in it, with and without the user's own code before it.
 */
const gate = openGate();
const handlers: Handlers = {
  async weigh({ request, params }) {
    await gate.pass(params);
    return request;
  },
};
const changes = ['create box', 'update box', 'replace box', 'delete box', 'seal box', 'upsert slot', 'create parcel'];
const before: BeforeHandlers = Object.fromEntries(changes.map((name) => [name, ({ params }) => gate.pass(params)]));
const services: readonly { readonly title: string; readonly tried: Tried; readonly holds: boolean }[] = [
  { title: '', tried: await tryService(wrongDocument, { handlers }), holds: false },
  { title: ', with code before it', tried: await tryService(wrongDocument, { handlers, before }), holds: true },
];
let worlds = 0;

after(async () => {
  for (const { tried } of services) await tried.close();
});

for (const { title, tried, holds } of services) {
  for (const scenario of scenarios) {
    const possible = wrongsOf(scenario, holds || scenario.name === 'handler');

    test(`${scenario.name}: a request that is wrong in one way is refused for it and changes nothing${title}`, async () => {
      await demandRefusals(
        tried,
        scenario,
        possible.map((wrong) => [wrong]),
      );
    });

    // The same pairs with code before them are for the long run.
    if (holds && !isLong) continue;
    test(`${scenario.name}: of two things that are wrong the earlier step answers${title}`, async () => {
      await demandRefusals(tried, scenario, pairs(possible));
    });
  }
}

test('every step of the order and every condition of the table is met in some request', () => {
  const met = new Set(scenarios.flatMap((scenario) => wrongsOf(scenario, true)));
  assert.deepEqual(
    wrongs.filter((wrong) => !met.has(wrong)).map(({ name }) => name),
    [],
  );
  assert.deepEqual([...new Set(wrongs.map(({ step }) => Math.trunc(step)))], [1, 2, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
});

function wrongsOf({ born, wrongs: names }: Scenario, holds: boolean): Wrong[] {
  return wrongs.filter(({ name }) => name === born || (names.includes(name) && (holds || name !== 'busy key')));
}

/** Two wrongs that need one thing differently are in no request together. */
function pairs(possible: readonly Wrong[]): [Wrong, Wrong][] {
  return possible.flatMap((one, index) =>
    possible.slice(index + 1).flatMap((other): [Wrong, Wrong][] => {
      return one.needs !== undefined && one.needs === other.needs ? [] : [[one, other]];
    }),
  );
}

async function demandRefusals(tried: Tried, scenario: Scenario, combinations: readonly (readonly Wrong[])[]): Promise<void> {
  const failed: string[] = [];
  for (const both of combinations) failed.push(...(await refusalFailures(tried, scenario, both)));
  assert.deepEqual(failed, []);
  assert.deepEqual(tried.failures, []);
}

/** Makes one request wrong and sends it; what is not as it should be comes back in words. */
async function refusalFailures(tried: Tried, scenario: Scenario, both: readonly Wrong[]): Promise<string[]> {
  const what = `${scenario.name}: ${both.map(({ name }) => name).join(' and ')}`;
  worlds++;
  const made = await makeWorld(tried, `w${worlds}`);
  for (const { prepare } of both) await prepare?.(made, scenario);
  const world = await refreshed(made);
  const draft = scenario.draft(world);
  for (const { change } of both) change?.(draft, world);
  const isBusy = both.some(({ name }) => name === 'busy key');
  const waiting = isBusy ? await hold(world, scenario) : undefined;
  if (isBusy) draft.headers['idempotency-key'] = world.name;
  const stored = await storedBy(world);
  const answer = await sendDraft(tried, draft);
  // Scenarios that are born wrong carry that wrong themselves.
  const born = wrongs.find(({ name }) => name === scenario.born);
  const [first] = [...both, ...(born ? [born] : [])].toSorted((one, other) => one.step - other.step);
  const failed: string[] = [];
  if (!isAnswerOf(answer, first as Wrong)) failed.push(`${what}: ${first?.name} should have answered, but it was ${answer.text}`);
  if ((await storedBy(world)) !== stored) failed.push(`${what}: something was stored`);
  if (waiting) {
    gate.open();
    const { status, text } = await waiting.answer;
    if (status >= 300) failed.push(`${what}: the request that was under way came to ${status} ${text}`);
  }
  return failed;
}

function isAnswerOf({ status, json }: Answered, wrong: Wrong): boolean {
  return status === wrong.status && (json as { code?: string } | undefined)?.code === wrong.code;
}

/** Sends a request that waits in the user's own code; comes back once it does. */
async function hold(world: World, scenario: Scenario): Promise<{ readonly answer: Promise<Answered> }> {
  const draft = await draftWaiting(world, scenario);
  const entered = gate.close();
  const answer = sendDraft(world.tried, draft);
  await Promise.race([entered, answer]);
  return { answer };
}

/** What a request could have changed: its box to the byte, and how much there is of everything. */
async function storedBy({ tried, box }: World): Promise<string> {
  const counts = [];
  for (const list of ['/boxes?limit=1', '/notes?limit=1', '/slots?limit=1'])
    counts.push(((await tried.send('GET', list)).json as { total: number }).total);
  return JSON.stringify({ box: await readBox(tried, box), counts });
}

/** Where the user's own code waits while a key is busy. */
function openGate() {
  let opened = Promise.resolve();
  let open = () => {};
  let arrive = () => {};
  return {
    /** From now on whoever asks to wait does; resolves when somebody does. */
    close(): Promise<void> {
      opened = new Promise((resolve) => {
        open = resolve;
      });
      return new Promise((resolve) => {
        arrive = resolve;
      });
    },
    open: () => open(),
    async pass({ wait }: Readonly<Record<string, unknown>>): Promise<void> {
      if (wait !== 'yes') return;
      arrive();
      await opened;
    },
  };
}
