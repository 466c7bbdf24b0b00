import type { Json } from '../../document/document.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { ShellNames } from '../exchange/shell.ts';
import { type Captured, resolve, type Spot } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import type { Replayed, Suspect } from './replay.ts';
import { concrete } from './request.ts';

/** One step in words. */
export interface StepTold {
  readonly does: string;
  readonly came: string;
}

/** What was done and what came of it, step by step. */
export function tellSteps({ steps }: Suspect, { results }: Replayed): StepTold[] {
  return [...steps].map(([number, step]) => ({
    does: step.says,
    came: shortened(results[number] === undefined ? '' : step.tell(results[number])),
  }));
}

/**
 * The steps as commands for a POSIX shell with curl and Node, from nothing on. A value of an earlier answer is a variable that is read
 * off that answer; a credential is a variable that whoever runs it sets; what is sent by web hook is received by a few lines of Node.
 */
export function shellScript(suspect: Suspect, { run }: Replayed, model: Model, origin: string): string[] {
  const wanted = variablesOf(suspect);
  const credentials = new Map<string, string>();
  const names: ShellNames = {
    captured: ({ step, spot }) => wanted.get(step)?.get(keyOf(spot)) ?? 'unknown',
    valueOf: (value) => resolve(value, run) as Json,
    credential(caller: TrialCaller) {
      const { name, about } = credentialVariable(caller, model);
      credentials.set(name, about);
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
  const uses = (variable: string) => lines.some((line) => line.includes(`"${variable}`));
  return [
    `URL=${origin}`,
    ...[...credentials].map(([name, about]) => `: "\${${name}:?${about}}"`),
    ...(uses('$N"') ? ['N=$(date +%s)$$'] : []),
    ...(uses('$RECEIVE') ? receiver : []),
    ...lines,
  ];
}

/** A variable for a credential, and what it is to be set to: whole, as it stands in the request. */
function credentialVariable(
  { name, credential }: TrialCaller,
  { callers }: Model,
): { readonly name: string; readonly about: string } {
  const variable = name.toUpperCase().replaceAll(/\W/g, '_');
  if (!credential) return { name: variable, about: 'a credential' };
  const { in: place, carrier, value, scheme } = credential;
  const prefix = /^[A-Za-z]+ +/.exec(value)?.[0] ?? '';
  const where = `the value of the ${place} ${carrier}${prefix === '' ? '' : `, with ${prefix.trim()} in front`}`;
  const owner = callers.find((caller) => caller.credential?.value === value);
  const signing = owner?.credential?.signs
    ? `what the ${place} ${carrier} says of this very request, signed with the key of ${owner.name} as ${scheme.name} states it`
    : undefined;
  const about =
    signing ??
    (owner
      ? `${where}: the credential of ${owner.name}`
      : `${where}: a credential of the scheme ${scheme.name} that is not good (${name})`);
  return { name: variable, about: about.replaceAll(/["$`\\}]/g, ' ') };
}

/**
 * Receives web hooks on this machine, and writes each down as a line; the first so many as the file beside it says are answered 500. The
 * address is there once it listens.
 */
const receiver: readonly string[] = [
  'RECEIVED=$(mktemp)',
  `node -e '`,
  'const fs = require("fs"), file = process.argv[1];',
  'let left = -1;',
  'require("http").createServer((request, response) => {',
  '  let body = "";',
  '  request.on("data", (piece) => { body += piece; }).on("end", () => {',
  '    if (left < 0) left = fs.existsSync(file + ".refuse") ? Number(fs.readFileSync(file + ".refuse")) : 0;',
  '    response.writeHead(left > 0 ? 500 : 204).end();',
  '    fs.appendFileSync(file, [request.method, request.url, response.statusCode, JSON.stringify(request.headers), body].join(" ") + "\\n");',
  '    if (left > 0) left -= 1;',
  '  });',
  '}).listen(0, "127.0.0.1", function () { fs.writeFileSync(file + ".at", "http://127.0.0.1:" + this.address().port); });',
  `' "$RECEIVED" &`,
  `trap "kill $! 2>/dev/null" EXIT`,
  'until [ -s "$RECEIVED.at" ]; do sleep 1; done',
  'RECEIVER=$(cat "$RECEIVED.at")',
];

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
