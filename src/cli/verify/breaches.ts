import type { Document } from '../../document/document.ts';
import { renderFinding } from '../../document/frame.ts';
import type { Breach, Cause, Reproduced, VerifyReport } from '../../verify/report.ts';
import type { ExchangeTold } from '../../verify/session/told.ts';
import { counted, paint, printable, type Terminal } from '../terminal.ts';

/** Breaches as a person reads them: each cause once, with the breach that shows it best, and the other facts that it breaks; then what made the service fail. */
export function breachText({ breaches, causes, crashes }: VerifyReport, document: Document, terminal: Terminal): string[] {
  const byId = new Map(breaches.map((breach) => [breach.id, breach]));
  const lines = causes.flatMap((cause) => {
    const [first, ...others] = breachesOf(cause, byId);
    return first ? causeLines(first, others, { document, terminal, what: 'this is not kept' }) : [];
  });
  if (crashes.length === 0) return lines;
  const failures = crashes.flatMap((crash) => causeLines(crash, [], { document, terminal, what: 'the service fails' }));
  return [...lines, paint(terminal, 'bold', 'failures of the service'), '', ...failures];
}

/** The breaches of a cause, the one that shows it best first. */
export function breachesOf(cause: Cause, byId: ReadonlyMap<string, Breach>): Breach[] {
  return cause.breaches.flatMap((id) => byId.get(id) ?? []);
}

/** A breach that another one of its cause shows better, in a line. */
export function alsoOf(first: Breach, { kind, subject, reason, place, promised, seen }: Breach): string {
  const isSame = promised === first.promised && seen === first.seen;
  return `${kind} of ${subject}, ${reason} (${place.file}:${place.line})${isSame ? '' : `: promised ${promised}; seen ${seen}`}`;
}

/** What is known of running the steps again. */
export function reproducedText({ runs, shown, from }: Reproduced): string {
  const start = {
    restarted: 'each from a new start of the service',
    alone: 'each from a clean start, with nothing beside them',
    'beside others': 'each from a clean start, beside other requests',
  }[from];
  if (shown >= runs || shown >= 2) return `${shown === 2 ? 'twice' : counted(shown, 'time')}, ${start}`;
  return `not reproduced every time: shown in ${shown} of ${counted(runs, 'run')}, ${start}; it may need what other requests had left behind`;
}

function causeLines(
  first: Breach,
  others: readonly Breach[],
  { document, terminal, what }: { readonly document: Document; readonly terminal: Terminal; readonly what: string },
): string[] {
  const frame = renderFinding(
    document,
    {
      code: `${first.part}/${first.kind.replaceAll(' ', '-')}`,
      severity: first.isKnown ? 'warning' : 'error',
      message: `${first.kind} of ${first.subject}: ${what}${first.isKnown ? ' (known)' : ''}`,
      place: first.place,
    },
    { colour: terminal.colour, width: terminal.columns },
  );
  const row = (name: string, text: string) => rowLines(name, text, terminal);
  return [
    frame,
    ...row('promised', first.promised),
    ...row('seen', first.seen),
    ...first.exchanges.flatMap((exchange) => exchangeLines(exchange, terminal)),
    ...others.flatMap((other, at) => row(at === 0 ? 'also' : '', alsoOf(first, other))),
    ...first.steps.flatMap(({ does, came }, at) => row(at === 0 ? 'steps' : '', `${at + 1}. ${does} → ${cut(came)}`)),
    ...(first.witnesses > 1 ? row('witnesses', `seen by ${counted(first.witnesses - 1, 'more case')}`) : []),
    ...row('run again', reproducedText(first.reproduced)),
    // What is to be copied stays on its line.
    `  ${paint(terminal, 'bold', 'replay'.padEnd(nameWidth))}${printable(`--replay '${first.id}'`)}`,
    ...first.script.map((line) => `    ${line.replaceAll('\n', '\n    ')}`),
    '',
  ];
}

/** The exchange with a mark at what matters: what was sent, then what came. */
function exchangeLines({ request, answer }: ExchangeTold, terminal: Terminal): string[] {
  const width = lineWidth(terminal) - 6;
  const line = (sign: string, { text, matters }: ExchangeTold['request'][number]) => {
    const indent = /^ */.exec(text)?.[0] ?? '';
    const shown = `${indent}${printable(text.trim())}`;
    const cut = shown.length > width ? `${shown.slice(0, width - 1)}…` : shown;
    return `  ${matters ? paint(terminal, 'bold', `${sign} ▸ ${cut}`) : `${sign}   ${cut}`}`;
  };
  return [...request.map((one) => line('>', one)), ...answer.map((one) => line('<', one))];
}

/** The exchange above has the rest. */
function cut(came: string): string {
  return came.length > 100 ? `${came.slice(0, 100)}…` : came;
}

const nameWidth = 11;

/** A name and a text, which goes on below itself where it is long. */
function rowLines(name: string, text: string, terminal: Terminal): string[] {
  const lines = folded(printable(text), lineWidth(terminal) - nameWidth - 2);
  return lines.map(
    (line, at) => `  ${at === 0 ? paint(terminal, 'bold', name.padEnd(nameWidth)) : ' '.repeat(nameWidth)}${line}`,
  );
}

/** A text in lines that are no longer than this, broken between words where that goes. */
function folded(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    const end = at > width / 2 ? at : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

/** No line is longer than the terminal, nor longer than anybody reads. */
function lineWidth({ columns }: Terminal): number {
  return Math.min(Math.max(columns, 40), 120);
}
