import type { Terminal } from './terminal.ts';

/** One word of the command line: what it is for, what may follow it, and the module that does it. */
export interface Verb {
  readonly name: string;
  /** One line for the list of verbs. */
  readonly summary: string;
  /** What it does and what it exits with, for `--help`. */
  readonly about: string;
  /** The words one of which stands before the document: `keys add DOC`; absent = none does. */
  readonly actions?: readonly string[];
  /** What it takes in place of a document, and may do without. */
  readonly takes?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Loads the module on first use, so that no verb waits for another's. */
  readonly load: () => Promise<VerbRun>;
}

export interface Option {
  /** What stands for its value in the help; absent = the option takes none. */
  readonly value?: string;
  readonly help: string;
  /** The letter that stands for it: `-o` for `--output`. */
  readonly short?: string;
  /** Whether it may be given several times. */
  readonly many?: boolean;
}

/** Does the verb's work; resolves to the exit code. */
export type VerbRun = (asked: VerbCall, terminal: Terminal) => Promise<number>;

/** What was asked for, once it is known to be made of known words. */
export interface VerbCall {
  /** The word before the document, of a verb that has some; else empty. */
  readonly action: string;
  /** The path of the document, or of what the verb takes in its place; then empty where none was given. */
  readonly document: string;
  /** What the verb takes. */
  readonly options: Verb['options'];
  /** How a person wrote an option: `--port`, or where else its value comes from. */
  spelt(option: string): string;
  has(option: string): boolean;
  /** The value of an option; the last one where it was given several times. */
  value(option: string): string | undefined;
  values(option: string): readonly string[];
}

/** The command cannot be carried out as it was given: exit code 2. */
export class Misuse extends Error {}

/** A word of the command is not known, is missing or is one too many: the help says which there are. */
export class Misspelt extends Misuse {}

/** A share of so many things from 0 to 100 that an option asks for; 0 where it is not given. @throws {Misuse} */
export function shareOption(asked: VerbCall, option: string, of: string): number {
  const text = asked.value(option);
  if (text === undefined) return 0;
  const share = /^\d{1,3}(?:\.\d+)?%?$/.test(text) ? Number(text.replace('%', '')) : Number.NaN;
  if (share <= 100) return share;
  throw new Misuse(`--${option} ${text}: write a share of the ${of} from 0 to 100, as in --${option} 80%.`);
}
