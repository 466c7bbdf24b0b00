import { paint, type Terminal, wrapped } from './terminal.ts';
import type { Verb } from './verb.ts';

/** What `ninefold --help` says. */
export function overallHelp(verbs: readonly Verb[], terminal: Terminal): string {
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
export function verbHelp(verb: Verb, terminal: Terminal): string {
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
