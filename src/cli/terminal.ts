import { styleText } from 'node:util';
import { shownLine } from '../document/frame.ts';

/** Where a verb writes, and how what it writes is shown. */
export interface Terminal {
  /** What was asked for: the standard output. */
  write(text: string): void;
  /** Why nothing came of it: the standard error. */
  complain(text: string): void;
  /** Whether a person sees the output as it comes. */
  readonly isTTY: boolean;
  readonly columns: number;
  readonly colour: boolean;
}

export type TextStyle = Parameters<typeof styleText>[0];

/** The terminal, file or pipe that this process was started with. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  // A reader that has seen enough, such as `head`, is no failure of ours.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    write: (text) => void stdout.write(text),
    complain: (text) => void stderr.write(text),
    isTTY: stdout.isTTY === true,
    get columns() {
      return stdout.columns || 120;
    },
    colour: wantsColour(process.env, stdout.isTTY === true),
  };
}

/** Whether to colour: what `FORCE_COLOR` says, else not where `NO_COLOR` is set, else in a terminal that is not dumb. */
export function wantsColour(environment: Readonly<Record<string, string | undefined>>, isTTY: boolean): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: term } = environment;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (refused !== undefined && refused !== '') return false;
  return isTTY && term !== 'dumb';
}

/** The text in a style, where the terminal shows colours. */
export function paint(terminal: Pick<Terminal, 'colour'>, style: TextStyle, text: string): string {
  return terminal.colour && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}

/** Words of a document or a client on one line: what would move the cursor or change its colours is shown as a sign. */
export function printable(text: string): string {
  return shownLine(text.replace(/\s+/g, ' '), 0, 0, Number.POSITIVE_INFINITY).text;
}

/** `1 error`, `2 errors`. */
export function counted(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

/** Breaks a text at its blanks into lines of at most so many columns; its own lines stay. What could steer a terminal is shown as a sign. */
export function wrapped(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    for (const word of printable(line)
      .split(' ')
      .filter((part) => part !== '')) {
      if (current !== '' && current.length + 1 + word.length > columns) {
        lines.push(current);
        current = word;
      } else current = current === '' ? word : `${current} ${word}`;
    }
    return [...lines, current];
  });
}

/** How long a second signal counts as the first: Ctrl-C reaches the whole process group, and npm hands it on once more. */
const echoMs = 1_000;

/**
 * Calls back on the first SIGINT or SIGTERM. A later one that is no echo of it ends the process with exit code 1 at once.
 * The handlers stay until the process ends, so that an echo cannot meet it without them; they do not keep it from ending.
 */
export function onStop(stop: (signal: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs === undefined) {
      firstMs = nowMs;
      stop(signal);
    } else if (nowMs - firstMs > echoMs) process.exit(1);
  };
  process.on('SIGINT', hear);
  process.on('SIGTERM', hear);
}
