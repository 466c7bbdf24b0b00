/** What trials do to a service that runs, and where its clock is led. */

import type { Json, JsonMap } from '../../../document/document.ts';
import { instantOf, plusLapse } from '../../../parts/expressions/time-functions.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { CommitFailed } from '../../../store/failures.ts';
import { Refused } from '../../exchange/exchange.ts';
import type { SettableClock } from '../../http/clock.ts';
import type { ScenarioInput } from '../../scenarios/scenario.ts';
import type { RowsByResource, Workbench } from '../../scenarios/workbench.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';

/**
 * What trials do to a service that runs. `scenarios list`, `scenarios replace { scenarios }`, `scenarios add { … }`,
 * `scenarios remove { name }`; `rows add { resource: [row, …] }`; `reset`; `transitions fire { resource, id, transition }`;
 * `events emit { kind, data? }`; `clock show`, `clock set { advance } | { now }`.
 */
export const workbenchCommands: readonly AdminCommand[] = [
  command('scenarios list', ({ stage }) => told(stage)),
  command('scenarios replace', ({ stage }, { scenarios }) => {
    // What they are is read there.
    stage.replace(scenarios as unknown as readonly ScenarioInput[]);
    return told(stage);
  }),
  command('scenarios add', ({ stage }, input) => ({ name: stage.add(input as ScenarioInput) })),
  command('scenarios remove', ({ stage }, input) => {
    const name = text(input, 'name');
    if (!stage.remove(name)) throw new Unfit(`There is no scenario "${name}".`);
    return { removed: name };
  }),
  command('rows add', async (workbench, input) => ({ made: await workbench.seed(input as RowsByResource) })),
  command('reset', async (workbench) => {
    await workbench.reset();
    return { reset: true };
  }),
  command('transitions fire', (workbench, input) =>
    workbench.fire(text(input, 'resource'), text(input, 'id'), text(input, 'transition')),
  ),
  command('events emit', (workbench, input) => workbench.emit(text(input, 'kind'), input.data)),
  command('clock show', (workbench) => timeOf(clockOf(workbench))),
  command('clock set', setClock),
];

function command(name: string, run: (workbench: Workbench, input: JsonMap) => Json | Promise<Json>): AdminCommand {
  return {
    name,
    async run(input: JsonMap, { workbench }: Administered) {
      if (!workbench)
        throw new Unfit('This is for trials: serve with --workbench, --scenarios or --sample, and not in production.');
      try {
        return await run(workbench, input);
      } catch (failure) {
        throw wordsFor(failure);
      }
    },
  };
}

/** Whatever keeps a trial from being carried out is for whoever asked to know; a store that cannot write is a failure. */
function wordsFor(failure: unknown): unknown {
  if (failure instanceof CommitFailed) return failure;
  if (!(failure instanceof Refused)) return failure instanceof Error ? new Unfit(failure.message) : failure;
  const { code, when, message } = failure.refusal;
  return new Unfit(message ?? `This is refused: ${code ?? when ?? 'it cannot be done'}.`);
}

function told(stage: Workbench['stage']): Json {
  // What was written is JSON.
  return stage.list() as unknown as Json;
}

async function setClock(workbench: Workbench, input: JsonMap): Promise<Json> {
  const clock = clockOf(workbench);
  const target = targetOf(input, clock.now());
  if (target === undefined)
    throw new Unfit('Write { "now": "2026-06-01T09:00:00Z" } or { "advance": "PT1H" }, an ISO 8601 duration.');
  if (target < clock.now()) throw new Unfit(`The clock goes forward alone; it is ${new Date(clock.now()).toISOString()}.`);
  await workbench.settled();
  clock.set(target);
  await workbench.settled();
  return timeOf(clock);
}

function clockOf({ clock }: Workbench): SettableClock {
  if (!clock) throw new Unfit('The clock of this service cannot be set.');
  return clock;
}

function timeOf(clock: SettableClock): Json {
  return { now: new Date(clock.now()).toISOString() };
}

function text(input: JsonMap, name: string): string {
  const value = input[name];
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && value !== '' && !isPlainMap(value)) return value;
  throw new Unfit(`Say which ${name}, as a text.`);
}

/** Where `{ now }` or `{ advance }` leads a clock, in milliseconds since 1970; nothing where it is neither, or later than RFC 3339 can write. */
export function targetOf(asked: Json | undefined, nowMs: number): number | undefined {
  const { now, advance, ...rest } = isPlainMap(asked) ? asked : {};
  if (Object.keys(rest).length > 0 || (now === undefined) === (advance === undefined)) return undefined;
  const target = typeof now === 'string' ? instantOf(now) : typeof advance === 'string' ? plusLapse(nowMs, advance) : undefined;
  return target !== undefined && target <= latestMs ? target : undefined;
}

/** The last millisecond that RFC 3339 can write. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
