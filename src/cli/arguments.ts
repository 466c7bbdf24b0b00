import { parseArgs } from 'node:util';
import { nearest } from '../document/nearest.ts';
import { type Asked, Misspelt, type Verb } from './verb.ts';

/**
 * Reads the words after a verb.
 * @throws {Misspelt} where one is not known, lacks its value or has one too many.
 */
export function readArguments(verb: Verb, words: readonly string[]): Asked | 'help' {
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
