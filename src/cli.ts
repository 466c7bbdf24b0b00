import manifest from '../package.json' with { type: 'json' };
import { readArguments } from './cli/arguments.ts';
import { overallHelp, verbHelp } from './cli/help.ts';
import { processTerminal, type Terminal } from './cli/terminal.ts';
import { Misspelt, Misuse } from './cli/verb.ts';
import { verbs } from './cli/verbs.ts';
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
