import { partNames } from '../document/document.ts';
import type { Ledger, LedgerFact } from '../parts/ledger.ts';
import { counted, paint, shown, type Terminal, wrapped } from './terminal.ts';

/** Each open fact with its place and what the document asks or tells about it, part by part. */
export function openFactLines(ledger: Ledger, terminal: Terminal): string[] {
  return partNames.flatMap((part) => {
    const open = ledger.facts.filter((fact) => fact.part === part && fact.standing === 'open');
    if (open.length === 0) return [];
    const heading = `${paint(terminal, 'bold', part)}  ${paint(terminal, 'dim', counted(open.length, 'open fact'))}`;
    const width = Math.max(...open.map((fact) => nameOf(fact).length));
    return [heading, ...open.flatMap((fact, index) => factLines(fact, open[index - 1], width, terminal)), ''];
  });
}

function factLines(fact: LedgerFact, before: LedgerFact | undefined, width: number, terminal: Terminal): string[] {
  const { file, line, column } = fact.place;
  const room = Math.max(40, Math.min(terminal.columns, 120) - 6);
  const name = paint(terminal, 'yellow', nameOf(fact).padEnd(width));
  // Facts under one heading share its prose; it is told once.
  const isToldBefore = fact.prose === before?.prose && fact.place.line === before?.place.line;
  return [
    ...(fact.prose === undefined || isToldBefore ? [] : proseLines(fact.prose, room, terminal)),
    `  ${name}   ${paint(terminal, 'dim', `${file}:${line}:${column}`)}`,
    ...(fact.question === undefined
      ? []
      : wrapped(fact.question, room).map((text, index) => `      ${index === 0 ? '?' : ' '} ${text}`)),
  ];
}

function proseLines(prose: string, room: number, terminal: Terminal): string[] {
  const lines = wrapped(prose.trim().replace(/\n{2,}/g, '\n'), room - 2);
  const shown = lines.length > proseLinesMost ? [...lines.slice(0, proseLinesMost), '…'] : lines;
  return shown.map((text) => paint(terminal, 'dim', `  │ ${text}`.trimEnd()));
}

const proseLinesMost = 12;

/** `types of parcel.weight_g`, and `purpose` for what the whole service has once. */
function nameOf({ kind, subject }: LedgerFact): string {
  return subject === 'service' ? kind : `${kind} of ${shown(subject)}`;
}
