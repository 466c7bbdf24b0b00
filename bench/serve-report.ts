/** The figures of `npm run bench serve`, and whether they reach their targets. */
import { pinned } from './cores.ts';
import type { ServeRun, Trial } from './serve-run.ts';
import { type Act, acts, connectionCounts, type Side, sides } from './settings.ts';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

/** Prints the report of a run, and gives the exit code. */
export function serveReport(run: ServeRun, markdown: boolean, strict: boolean): number {
  const print = markdown ? asMarkdown : asText;
  const targets = serveTargets(run);
  const parts = [
    heading(run),
    print(figures(run.trials)),
    print(memory(run)),
    `Against the others, round by round:`,
    targetReport(targets, markdown),
    ...warnings(run),
  ];
  console.log(parts.join('\n\n'));
  const failed = run.missing.length > 0 || run.trials.some(({ errors }) => errors > 0);
  return failed ? 1 : exitCode(targets, strict);
}

/** Prints what was measured of drawn documents: each in a table, and the targets at the median of the documents. */
export function drawnReport(runs: readonly ServeRun[], markdown: boolean, strict: boolean): number {
  const print = markdown ? asMarkdown : asText;
  const targets = acrossDocuments(runs);
  const parts = [
    `${runs.length} services that were drawn, not chosen, each against the same by hand.`,
    ...runs.flatMap((run) => [heading(run), print(figures(run.trials)), print(memory(run))]),
    'Against the same by hand: the median of each document, and of these the median, the lowest and the highest:',
    targetReport(targets, markdown),
    ...runs.flatMap((run) => warnings(run).map((warning) => `${run.setting.name}: ${warning}`)),
  ];
  console.log(parts.join('\n\n'));
  const failed = runs.some(({ missing, trials }) => missing.length > 0 || trials.some(({ errors }) => errors > 0));
  return failed ? 1 : exitCode(targets, strict);
}

/** The targets of single documents, with the median of each document in place of the rounds. */
function acrossDocuments(runs: readonly ServeRun[]): Target[] {
  const byWhat = new Map<string, Target>();
  for (const target of runs.flatMap(serveTargets)) {
    if (target.measured.length === 0) continue;
    const measured = [...(byWhat.get(target.what)?.measured ?? []), median(target.measured)];
    byWhat.set(target.what, { ...target, measured });
  }
  return [...byWhat.values()];
}

function heading({ setting, rounds, seconds, bytes }: ServeRun): string {
  const where = pinned ? 'servers on the first core, the load generator on the second' : 'processes on any core';
  const sizes = sides.flatMap((side) => (bytes[side] ? [`${side} ${bytes[side].one} and ${bytes[side].page}`] : []));
  return [
    setting.about,
    `${rounds} interleaved rounds of ${seconds} s each; Node ${process.versions.node}; ${where}.`,
    `10,000 rows; medians of the rounds. Bytes of a row and of a page: ${sizes.join(', ')}.`,
  ].join('\n');
}

function figures(trials: readonly Trial[]): Table {
  const header = ['', 'connections', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'flushes/s'];
  const lines: string[][] = [];
  for (const act of acts) {
    for (const connections of connectionCounts) {
      for (const side of sides) {
        const rounds = select(trials, act, connections, side);
        if (rounds.length === 0) continue;
        const middle = (of: (trial: Trial) => number | undefined): string => {
          const values = rounds.map(of).filter((value) => value !== undefined);
          return values.length === 0 ? '–' : figure(median(values));
        };
        lines.push([
          ...[act, String(connections), side, middle((t) => t.perSecond), middle((t) => t.p50Ms), middle((t) => t.p99Ms)],
          ...[middle((t) => t.cpuMicros), act === 'durable create' ? middle((t) => t.flushesPerSecond) : '–'],
        ]);
      }
    }
  }
  return [header, ...lines];
}

function memory({ memory: sides }: ServeRun): Table {
  return [
    ['memory (RSS), MiB', 'started', 'filled and warm', 'after the reads', 'settled', 'after the creates', 'settled'],
    ...sides.map(({ side, start, idle, afterReads, settledReads, afterCreates, settledCreates }) => [
      side,
      ...[start, idle, afterReads, settledReads, afterCreates, settledCreates].map(figure),
    ]),
  ];
}

/** The targets of the product, each with its ratio in every round. */
function serveTargets({ setting, trials, memory, second }: ServeRun): Target[] {
  const targets: Target[] = [];
  for (const [i, connections] of connectionCounts.entries()) {
    for (const [act, least] of setting.acts) {
      const what = `${act}, ${connections} connections`;
      const ratios = (of: (trial: Trial) => number, other: Side, otherAct = act): number[] =>
        select(trials, act, connections, 'Ninefold').map(
          (own) => of(own) / of(select(trials, otherAct, connections, other).find(({ round }) => round === own.round)!),
        );
      if (least !== undefined) {
        const value = least[i];
        const measured = ratios((t) => t.perSecond, 'by hand');
        if (value !== undefined) targets.push({ what: `${what}: requests/s, × by hand`, bound: 'at least', value, measured });
        targets.push({
          what: `${what}: p99, × by hand`,
          bound: 'at most',
          value: act === 'page of 20' ? 1 : 1.5,
          measured: ratios((t) => t.p99Ms, 'by hand'),
        });
      } else {
        targets.push({
          what: `${what}: time a request, × the newest`,
          bound: 'at most',
          value: 1.3,
          measured: ratios((t) => 1 / t.perSecond, 'Ninefold', 'GET one'),
        });
      }
      if (act === 'GET one' && setting.sides.includes('bare')) {
        targets.push({
          what: `${what}: requests/s, × bare`,
          bound: 'at least',
          value: 0.75,
          measured: ratios((t) => t.perSecond, 'bare'),
        });
      }
    }
  }
  return [...targets, ...secondTargets(setting, second), ...memoryTargets(memory)];
}

/** What wrk says of the same ratios. */
function secondTargets({ acts }: ServeRun['setting'], second: ServeRun['second']): Target[] {
  return [...acts].flatMap(([act, least]) => {
    const of = (side: Side) => second.filter((reading) => reading.act === act && reading.side === side);
    const byHand = of('by hand');
    if (least === undefined || byHand.length === 0) return [];
    const measured = of('Ninefold').map(({ round, perSecond }) => perSecond / byHand.find((b) => b.round === round)!.perSecond);
    return [{ what: `${act}, 64 connections, by wrk: requests/s, × by hand`, bound: 'at least', value: least[0], measured }];
  });
}

/** What is kept of memory once nobody asks any more, in times of what there was at the start. */
function memoryTargets(memory: ServeRun['memory']): Target[] {
  const own = memory.find(({ side }) => side === 'Ninefold');
  if (own?.start === undefined) return [];
  const { start, settledReads, settledCreates } = own;
  const kept = [
    { what: 'memory after the reads, settled, × started', mib: settledReads },
    { what: 'memory after the creates, settled, × started', mib: settledCreates },
  ];
  return kept.flatMap(({ what, mib }) =>
    mib === undefined ? [] : [{ what, bound: 'at most', value: 2, measured: [mib / start] }],
  );
}

/** What makes the figures doubtful. */
function warnings({ missing, trials }: ServeRun): string[] {
  const warned = [...missing];
  for (const { side, act, connections, round, errors, firstError } of trials) {
    if (errors > 0)
      warned.push(`${side}, ${act}, ${connections} connections, round ${round + 1}: ${errors} errors (${firstError})`);
  }
  const limited = trials.filter(({ generatorBusy, side }) => generatorBusy > 0.97 && side !== 'bare').length;
  if (limited > 0)
    warned.push(`In ${limited} trials the load generator used its whole core: there it was the limit, not the server.`);
  const starved = trials.filter(({ serverBusy = 1, act }) => act !== 'durable create' && serverBusy < 0.85).length;
  if (starved > 0)
    warned.push(
      `In ${starved} of ${trials.length} trials a server that reads had less than 85 % of its core: other programs ran.`,
    );
  return warned;
}

function select(trials: readonly Trial[], act: Act, connections: number, side: Side): Trial[] {
  return trials.filter((trial) => trial.act === act && trial.connections === connections && trial.side === side);
}
