/** What a benchmark has to reach, held against what it measured. */
import { styleText } from 'node:util';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';

export interface Target {
  readonly what: string;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  readonly unit?: string;
  /** One value for each round; empty when it could not be measured. */
  readonly measured: readonly number[];
}

/** Whether the median of the rounds reaches the target; nothing where it was not measured. */
export function reached(target: Target): boolean | undefined {
  if (target.measured.length === 0) return undefined;
  const value = median(target.measured);
  return target.bound === 'at least' ? value >= target.value : value <= target.value;
}

/** The targets beside their medians, lowest and highest rounds. */
export function targetReport(targets: readonly Target[], markdown: boolean): string {
  const table: Table = [
    ['target', 'to reach', 'median', 'lowest–highest', ''],
    ...targets.map((target) => {
      const unit = target.unit === undefined ? '' : ` ${target.unit}`;
      const { measured } = target;
      return [
        target.what,
        `${target.bound === 'at least' ? '≥' : '≤'} ${target.value}${unit}`,
        measured.length === 0 ? '–' : `${figure(median(measured))}${unit}`,
        measured.length === 0 ? '–' : `${figure(Math.min(...measured))}–${figure(Math.max(...measured))}`,
        { true: 'reached', false: 'missed', undefined: 'not measured' }[String(reached(target))]!,
      ];
    }),
  ];
  if (markdown) return asMarkdown(table);
  return asText(table)
    .replaceAll(/reached$/gm, (word) => colour('green', word))
    .replaceAll(/missed$/gm, (word) => colour('red', word));
}

/** The exit code: failing to run is 1 always, missing a target only where that was asked for. */
export function exitCode(targets: readonly Target[], strict: boolean): number {
  const all = targets.map(reached);
  return all.includes(undefined) || (strict && all.includes(false)) ? 1 : 0;
}

function colour(name: 'green' | 'red', text: string): string {
  return process.stdout.isTTY ? styleText(name, text) : text;
}
