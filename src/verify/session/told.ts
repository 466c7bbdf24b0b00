import type { Json, Pointer } from '../../document/document.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { Flaw } from '../exchange/claim.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { ShellNames } from '../exchange/shell.ts';
import { type Captured, resolve, type Spot } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import type { Replayed, Suspect } from './replay.ts';
import { concrete } from './request.ts';

/** One exchange: what of it matters is marked. */
export interface ExchangeTold {
  readonly request: readonly LineTold[];
  readonly answer: readonly LineTold[];
}

export interface LineTold {
  readonly text: string;
  /** Whether it is about what was promised. */
  readonly matters?: boolean;
}

/** So many of the judged exchanges are shown, the last ones, and so many lines of a body. */
const exchangesMost = 3;
const linesMost = 24;
const lineLengthMost = 200;

/** The exchanges that a claim was judged by, with a mark at every line that is about what was promised. */
export function tellExchanges({ claim, steps }: Suspect, { results }: Replayed, flaw: Flaw, at: Pointer): ExchangeTold[] {
  const judged = claim.of.map(({ step }) => results[step]).filter(isExchange);
  const told = judged.length > 0 ? judged : [...steps.keys()].map((step) => results[step]).filter(isExchange);
  const words = wordsOf(claim.fact.subject, flaw, at);
  return [...new Set(told)].slice(-exchangesMost).map((exchange) => tellExchange(exchange, words));
}

function tellExchange(exchange: TrialExchange, words: ReadonlySet<string>): ExchangeTold {
  const { sent, caller, status, trouble } = exchange;
  const [path = '', query] = sent.target.split(/\?(.*)/s);
  const secret = caller?.credential;
  const parameters = (query ?? '').split('&').filter((pair) => pair !== '');
  const shown = parameters.map((pair) =>
    secret?.in === 'query' && pair.startsWith(`${encodeURIComponent(secret.carrier)}=`)
      ? `${secret.carrier}=${placeholder(exchange)}`
      : pair,
  );
  const target = shown.length === 0 ? path : `${path}?${shown.join('&')}`;
  const headers = Object.entries(sent.headers).map(([name, value]) => {
    const isSecret =
      (secret?.in === 'header' && name === secret.carrier.toLowerCase()) || (secret?.in === 'cookie' && name === 'cookie');
    return line(`${name}: ${isSecret ? placeholder(exchange) : value}`, words, name);
  });
  const isAboutQuery = parameters.some((pair) => words.has(wordIn(pair.split('=')[0] ?? '')));
  const request = [{ ...line(`${sent.method} ${target}`, words), ...(isAboutQuery && { matters: true }) }, ...headers];
  return {
    request: [...request, ...bodyLines(sent.json, sent.text ?? '', words)],
    answer: trouble
      ? [{ text: trouble.message, matters: true }]
      : [
          { text: asText(status), ...(words.has(asText(status)) && { matters: true }) },
          ...answerHeaders(exchange, words),
          ...bodyLines(exchange.body, exchange.text, words),
        ],
  };
}

/** What stands for a credential, which is nobody's to print. */
function placeholder({ caller }: TrialExchange): string {
  return `(the credential of ${caller?.name ?? 'nobody'})`;
}

/** Headers of an answer that are about what was promised, and those that say what the body is. */
function answerHeaders({ headers }: TrialExchange, words: ReadonlySet<string>): LineTold[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const told = line(`${name}: ${value}`, words, name);
    return told.matters || usual.has(name) ? [told] : [];
  });
}

const usual: ReadonlySet<string> = new Set(['content-type', 'location', 'retry-after', 'etag', 'www-authenticate', 'allow']);

/** A body as JSON of one member a line, cut around what matters. */
function bodyLines(json: Json | undefined, text: string, words: ReadonlySet<string>): LineTold[] {
  if (text === '') return [];
  const written = json === undefined || typeof json !== 'object' ? text : JSON.stringify(json, undefined, 2);
  const all = written.split('\n', linesScanned).map((one) => line(one, words, /^\s*"([^"]{1,80})":/.exec(one)?.[1]));
  if (all.length <= linesMost) return all;
  const first = Math.max(0, all.findIndex(({ matters }) => matters) - Math.floor(linesMost / 3));
  const cut = all.slice(first, first + linesMost);
  return [...(first > 0 ? [{ text: '…' }] : []), ...cut, ...(first + linesMost < all.length ? [{ text: '…' }] : [])];
}

/** A body is looked through no further. */
const linesScanned = 2_000;

/** A line, cut where it is long; it matters where it is about one of the words. */
function line(text: string, words: ReadonlySet<string>, name?: string): LineTold {
  const cut = text.length > lineLengthMost ? `${text.slice(0, lineLengthMost)}…` : text;
  return name !== undefined && words.has(wordIn(name)) ? { text: cut, matters: true } : { text: cut };
}

/** The names that a promise is about: what the fact is named for, and the words in what was promised and seen. */
function wordsOf(subject: string, { promised, seen }: Flaw, at: Pointer): ReadonlySet<string> {
  const field = subject.includes('.') ? subject.slice(subject.lastIndexOf('.') + 1) : '';
  const place = at.split('/').at(-1) ?? '';
  // What follows a brace is an answer as it came, of which everything would matter.
  const said = [promised, seen]
    .map((text) => text.slice(0, wordsMost).replace(/[{[].*/s, ''))
    .join(' ')
    .split(/[^\w-]+/);
  return new Set([field, place, ...said].map(wordIn).filter((word) => word.length > 1 && !plain.has(word)));
}

const wordsMost = 400;

function wordIn(text: string): string {
  return text.toLowerCase();
}

/** Words that promises are made of, and members of every second body too. */
const plain: ReadonlySet<string> = new Set([
  'is',
  'the',
  'of',
  'to',
  'it',
  'as',
  'not',
  'no',
  'none',
  'and',
  'or',
  'in',
  'by',
  'for',
  'with',
  'was',
  'are',
  'an',
  'be',
  'at',
]);

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
