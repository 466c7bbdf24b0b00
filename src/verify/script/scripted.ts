import type { Json } from '../../document/document.ts';
import type { TrialCaller } from '../model/callers.ts';
import type { StepTold } from '../report.ts';
import type { Replayed, Suspect } from './replay.ts';
import { concrete } from './request.ts';
import type { ShellNames } from './shell.ts';
import { type Captured, resolve, type Spot } from './symbol.ts';

/** What was done and what came of it, step by step. */
export function tellSteps({ steps }: Suspect, { results }: Replayed): StepTold[] {
  return [...steps].map(([number, step]) => ({
    does: step.says,
    came: shortened(results[number] === undefined ? '' : step.tell(results[number])),
  }));
}

/**
 * The steps as commands for a POSIX shell with curl and Node. A value of an earlier answer is a variable that is read off that
 * answer; credentials are variables that whoever runs it sets.
 */
export function shellScript(suspect: Suspect, { run }: Replayed, origin: string): string[] {
  const wanted = variablesOf(suspect);
  const callers = new Set<string>();
  const names: ShellNames = {
    captured: ({ step, spot }) => wanted.get(step)?.get(keyOf(spot)) ?? 'unknown',
    valueOf: (value) => resolve(value, run) as Json,
    credential(caller: TrialCaller) {
      const name = caller.name.toUpperCase().replaceAll(/\W/g, '_');
      callers.add(name);
      return name;
    },
    written: (plan) => concrete(plan, run).outgoing,
  };
  const lines = [...suspect.steps].flatMap(([number, step]) => {
    const commands = step.shell(names);
    const variables = wanted.get(number);
    if (!variables || commands.length === 0) return commands;
    const answer = `answer_${number + 1}`;
    return [
      `${answer}=$(${commands.join('\n')}) && printf '%s\\n' "$${answer}"`,
      ...[...variables].map(
        ([spot, variable]) => `${variable}=$(printf '%s' "$${answer}" | ${readerOf(JSON.parse(spot) as Spot)})`,
      ),
    ];
  });
  const usesFresh = lines.some((line) => line.includes('"$N"'));
  return [
    `URL=${origin}`,
    ...[...callers].map((name) => `: "\${${name}:?the credential, as it stands in the request}"`),
    ...(usesFresh ? ['N=$(date +%s)$$'] : []),
    ...lines,
  ];
}

/** The variables that later steps need of each step's answer. */
function variablesOf({ steps }: Suspect): Map<number, Map<string, string>> {
  const wanted = new Map<number, Map<string, string>>();
  for (const step of steps.values()) {
    for (const captured of step.takes) {
      const variables = wanted.get(captured.step) ?? new Map<string, string>();
      wanted.set(captured.step, variables);
      variables.set(keyOf(captured.spot), variableOf(captured));
    }
  }
  return wanted;
}

function variableOf({ step, spot }: Captured): string {
  const word = spot.in === 'header' ? spot.name : spot.pointer.join('_');
  return `${word.replaceAll(/\W/g, '_')}_${step + 1}`;
}

/** The command that reads a value off an answer with its head, as `curl -i` gives it. */
function readerOf(spot: Spot): string {
  const read = "require('fs').readFileSync(0,'utf8')";
  if (spot.in === 'header') {
    const found = `/^${spot.name}: *(.*?)\\r?$/im.exec(${read})[1]`;
    return spot.pattern === undefined
      ? `node -p "${found}"`
      : `node -p "new RegExp(${JSON.stringify(spot.pattern).replaceAll('"', "'")}).exec(${found})[1]"`;
  }
  const path = spot.pointer.map((key) => (typeof key === 'number' ? `[${key}]` : `['${key}']`)).join('');
  return `node -p "JSON.parse(${read}.split(/\\r?\\n\\r?\\n/).slice(1).join('\\n\\n'))${path}"`;
}

function keyOf(spot: Spot): string {
  return JSON.stringify(spot);
}

function shortened(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
