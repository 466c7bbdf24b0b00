import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { paint, processTerminal, type Terminal, wrapped } from './cli/terminal.ts';
import { Misspelt, Misuse, type Verb, type VerbCall } from './cli/verb.ts';
import { verbs } from './cli/verbs/all.ts';
import { nearest } from './document/nearest.ts';

/** Carries out one command, given as the words after `ninefold`; resolves to the exit code. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  try {
    return await carryOut(argv, terminal);
  } catch (error) {
    if (!(error instanceof Misuse)) {
      const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
      terminal.complain(`ninefold ${manifest.version} failed; this is a fault of its own.\n${told}\n`);
      return 2;
    }
    terminal.complain(`ninefold: ${error.message}\n`);
    if (error instanceof Misspelt) {
      const verb = verbs.find(({ name }) => name === argv[0]);
      terminal.complain(`ninefold ${verb ? `${verb.name} ` : ''}--help shows what there is.\n`);
    }
    return 2;
  }
}

async function carryOut([word, ...words]: readonly string[], terminal: Terminal): Promise<number> {
  if (word === undefined) {
    terminal.complain(overallHelp(verbs, { ...terminal, colour: false }));
    return 2;
  }
  if (word === '--version' || word === '-v') {
    terminal.write(`${manifest.version}\n`);
    return 0;
  }
  const isHelp = word === '--help' || word === '-h' || word === 'help';
  const name = isHelp ? words[0] : word;
  if (name === undefined) {
    terminal.write(overallHelp(verbs, terminal));
    return 0;
  }
  const verb = verbs.find((one) => one.name === name);
  if (verb === undefined) throw unknownVerb(name);
  const asked = isHelp ? 'help' : readArguments(verb, words);
  if (asked === 'help') {
    terminal.write(verbHelp(verb, terminal));
    return 0;
  }
  return (await verb.load())(asked, terminal);
}

function unknownVerb(word: string): Misspelt {
  const isOption = word.startsWith('-');
  const known = isOption ? ['--help', '--version'] : verbs.map(({ name }) => name);
  const meant = nearest(word, known);
  const hint = meant === undefined ? `There ${isOption ? 'are' : 'is'} ${known.join(', ')}.` : `Did you mean ${meant}?`;
  return new Misspelt(`${word} is no ${isOption ? 'option' : 'verb'}. ${hint}`);
}

/** What `ninefold --help` says. */
function overallHelp(verbs: readonly Verb[], terminal: Terminal): string {
  const width = Math.max(...verbs.map((verb) => verb.name.length));
  return [
    'One document states a whole service interface in nine parts. ninefold checks it and serves it.',
    '',
    heading(terminal, 'Usage'),
    ...verbs.map((verb) => `  ${usage(verb)}`),
    '',
    heading(terminal, 'Verbs'),
    ...verbs.map((verb) => `  ${paint(terminal, 'cyan', verb.name.padEnd(width))}   ${verb.summary}`),
    '',
    heading(terminal, 'Options'),
    `  ${paint(terminal, 'cyan', '-h, --help')}      show this, or with a verb what it takes`,
    `  ${paint(terminal, 'cyan', '-v, --version')}   show the version`,
    '',
  ].join('\n');
}

/** What `ninefold VERB --help` says. */
function verbHelp(verb: Verb, terminal: Terminal): string {
  const names = Object.entries(verb.options).map(
    ([name, { value, short, help }]) =>
      [`${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`, help] as const,
  );
  const rows = [...names, ['-h, --help', 'show this'] as const];
  const width = Math.max(...rows.map(([name]) => name.length));
  const room = Math.max(30, Math.min(terminal.columns, 110) - width - 5);
  const options = rows.flatMap(([name, help]) => {
    const [first = '', ...rest] = wrapped(help, room);
    return [
      `  ${paint(terminal, 'cyan', name.padEnd(width))}   ${first}`,
      ...rest.map((line) => `${' '.repeat(width + 5)}${line}`),
    ];
  });
  return [
    `${heading(terminal, 'Usage')}  ${usage(verb)}`,
    '',
    ...verb.about.split('\n'),
    '',
    heading(terminal, 'Options'),
    ...options,
    '',
  ].join('\n');
}

function usage(verb: Verb): string {
  if (verb.name === 'export') return 'ninefold export DOC --to FORMAT [-o FILE]';
  return `ninefold ${verb.name}${verb.actions ? ` ${verb.actions.join('|')}` : ''} ${verb.takes ?? 'DOC'} [options]`;
}

function heading(terminal: Terminal, text: string): string {
  return paint(terminal, 'bold', text);
}

/**
 * Reads the words after a verb.
 * @throws {Misspelt} where one is not known, lacks its value or has one too many.
 */
function readArguments(verb: Verb, words: readonly string[]): VerbCall | 'help' {
  const { tokens } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(
        Object.entries(verb.options).map(([name, { value, short }]) => [
          name,
          { type: value ? ('string' as const) : ('boolean' as const), ...(short !== undefined && { short }) },
        ]),
      ),
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const documents: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') documents.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') return 'help';
    const value = valueIn(verb, token);
    given.set(token.name, [...(given.get(token.name) ?? []), ...(value === undefined ? [] : [value])]);
  }
  return {
    action: actionOf(verb, documents),
    document: onlyDocument(verb, documents),
    options: verb.options,
    spelt: (option) => `--${option}`,
    has: (option) => given.has(option),
    value: (option) => given.get(option)?.at(-1),
    values: (option) => given.get(option) ?? [],
  };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function valueIn(verb: Verb, token: OptionToken): string | undefined {
  const option = Object.hasOwn(verb.options, token.name) ? verb.options[token.name] : undefined;
  if (option === undefined) throw unknownOption(verb, token.rawName);
  if (option.value === undefined) {
    if (token.value === undefined) return undefined;
    throw new Misspelt(`${token.rawName} takes no value.`);
  }
  // Without `=`, what begins with a dash is the next option, and the value was forgotten.
  const isForgotten = token.value === undefined || token.value === '' || (!token.inlineValue && /^--?[a-z]/.test(token.value));
  if (isForgotten) throw new Misspelt(`${token.rawName} needs a value: ${token.rawName} ${option.value}.`);
  return token.value;
}

function unknownOption(verb: Verb, rawName: string): Misspelt {
  const known = ['help', ...Object.keys(verb.options)];
  const meant = nearest(rawName.replace(/^-+/, ''), known);
  return new Misspelt(
    `${rawName} is no option of ${verb.name}. ${meant === undefined ? `It has --${known.join(', --')}.` : `Did you mean --${meant}?`}`,
  );
}

/** Takes the action off the words that are no options. */
function actionOf({ name, actions }: Verb, words: string[]): string {
  if (actions === undefined) return '';
  const action = words.shift();
  if (action !== undefined && actions.includes(action)) return action;
  const all = `${name} ${actions.join(` DOC, ${name} `)} DOC`;
  if (action === undefined) throw new Misspelt(`${name} needs to know what to do: ${all}.`);
  const meant = nearest(action, actions);
  throw new Misspelt(`${name} ${action}: ${meant === undefined ? `there is ${all}.` : `did you mean ${name} ${meant}?`}`);
}

function onlyDocument(verb: Verb, documents: readonly string[]): string {
  const [document, ...more] = documents;
  if (verb.takes !== undefined && document === undefined) return '';
  if (document === undefined || document === '')
    throw new Misspelt(
      `${verb.name} needs a document: ninefold ${verb.name}${verb.actions ? ` ${verb.actions[0]}` : ''} service.md.`,
    );
  if (more.length > 0)
    throw new Misspelt(
      `${verb.name} takes one ${verb.takes?.toLowerCase() ?? 'document'}; ${documents.join(', ')} are ${documents.length}.`,
    );
  return document;
}
