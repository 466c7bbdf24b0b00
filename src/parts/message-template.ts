import { pathOf } from '../document/pointer.ts';

/** What a message can say of the first thing that is wrong in a request. */
interface Told {
  readonly in: string;
  /** A JSON Pointer in a body, else the parameter's name. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

/** The ways in which the place of a violation in a body is written: `/items/0/price`, `items.0.price`, `items[0][price]`. */
export const violationPaths = ['pointer', 'dotted', 'bracketed'] as const;
export type ViolationPath = (typeof violationPaths)[number];

/** A JSON Pointer of a body, written in one of these ways. */
export function writtenPath(pointer: string, way: ViolationPath): string {
  if (way === 'pointer') return pointer;
  const [first = '', ...rest] = pathOf(pointer);
  return way === 'dotted' ? [first, ...rest].join('.') : first + rest.map((step) => `[${step}]`).join('');
}

const words: Readonly<Record<string, (told: Told) => string>> = {
  path: ({ path }) => path,
  name: ({ in: place, path }) => (place === 'body' ? pathOf(path).join('.') : path),
  in: (told) => told.in,
  found: ({ found }) => found,
  expected: ({ expected }) => expected,
};

const marks = /\{([a-z_]{1,40})\}/g;

/** The most characters that one word brings into a message. */
const wordMost = 200;

/** Compiles a message that says something of what is wrong; nothing where it says the same of all. Braces around anything else are text. */
export function compileMessage(message: string | undefined): ((told: Told) => string) | undefined {
  if (message === undefined || !tellsViolation(message)) return undefined;
  return (told) =>
    message.replace(marks, (mark, name: string) => (Object.hasOwn(words, name) ? cut(words[name]?.(told) ?? '') : mark));
}

/** Whether a message says something of what is wrong. */
export function tellsViolation(message: string): boolean {
  return [...message.matchAll(marks)].some(([, name = '']) => Object.hasOwn(words, name));
}

/** The names in braces that say nothing of what is wrong. */
export function unknownMarks(message: string): readonly string[] {
  return [...message.matchAll(marks)].flatMap(([, name = '']) => (Object.hasOwn(words, name) ? [] : [name]));
}

function cut(text: string): string {
  return text.length <= wordMost ? text : `${text.slice(0, wordMost).toWellFormed()}…`;
}
