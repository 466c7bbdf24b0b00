import type { Breach, VerifyReport } from '../../verify/report.ts';
import type { ExchangeTold } from '../../verify/session/told.ts';
import { counted } from '../terminal.ts';
import { alsoOf, breachesOf, reproducedText } from './breaches.ts';
import { asidesOf } from './text.ts';

/** The report in Markdown, as for a comment on a change: the counts, then each cause with its exchange and its commands. */
export function verifyMarkdown(report: VerifyReport): string {
  const { title, url, total, requests, ms, seed, parts, breaches, crashes, causes, unsteady } = report;
  const failures = crashes.length === 0 ? '' : `, ${counted(crashes.length, 'failure')}`;
  const byId = new Map(breaches.map((breach) => [breach.id, breach]));
  const verdicts = Object.keys(total) as (keyof typeof total)[];
  const row = (name: string, counts: typeof total) => `| ${name} | ${verdicts.map((verdict) => counts[verdict]).join(' | ')} |`;
  const list = (head: string, rows: readonly string[]) =>
    rows.length === 0 ? [] : ['', `## ${head}`, '', ...rows.map((one) => `- ${plain(one)}`)];
  return [
    `# ${plain(title)}: ${total.broken === 0 ? 'nothing broken' : `${total.broken} broken`}${failures}`,
    '',
    `${code(url)}, ${requests} requests in ${(ms / 1000).toFixed(1)} s, seed ${seed}${report.stopped === undefined ? '' : `; it ended early: ${plain(report.stopped)}`}`,
    '',
    `| part | ${verdicts.join(' | ')} |`,
    `|---|${verdicts.map(() => '--:').join('|')}|`,
    ...Object.entries(parts).map(([part, counts]) => row(part, counts)),
    row('total', total),
    ...causes.flatMap((cause) => causeLines(breachesOf(cause, byId))),
    ...list(
      'Failures of the service',
      crashes.map(({ subject, promised, seen }) => `${subject}: promised ${promised}; seen ${seen}`),
    ),
    ...list(
      'Unsteady',
      unsteady.map(
        (one) =>
          `${one.kind} of ${one.subject}: promised ${one.promised}; seen ${one.seen}, ${one.seenTimes} of ${one.tries} times`,
      ),
    ),
    ...asidesOf(report).flatMap(([head, rows]) => list(head, rows)),
    '',
  ].join('\n');
}

/** A cause under its own heading: what was promised and seen, the exchange, the commands. */
function causeLines([first, ...others]: readonly Breach[]): string[] {
  if (!first) return [];
  return [
    '',
    `## ${plain(`${first.kind} of ${first.subject}`)}${first.isKnown ? ' (known)' : ''}`,
    '',
    `${code(`${first.place.file}:${first.place.line}`)}`,
    '',
    `- promised: ${plain(first.promised)}`,
    `- seen: ${plain(first.seen)}`,
    ...others.map((other) => `- also: ${plain(alsoOf(first, other))}`),
    `- run again: ${reproducedText(first.reproduced)}`,
    '',
    ...fenced('http', first.exchanges.map(exchangeText).join('\n\n')),
    '',
    ...fenced('sh', first.script.join('\n')),
  ];
}

/** What matters has a mark in front. */
function exchangeText({ request, answer }: ExchangeTold): string {
  const line = (sign: string) => (one: ExchangeTold['request'][number]) => `${sign} ${one.matters ? '▸' : ' '} ${one.text}`;
  return [...request.map(line('>')), ...answer.map(line('<'))].join('\n');
}

/** A block whose fence is longer than any in it. */
function fenced(language: string, text: string): string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return text === '' ? [] : [`${fence}${language}`, text, fence];
}

function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${longest > 0 ? ` ${text} ` : text}${fence}`;
}

/** Words on one line that mean nothing in Markdown. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');
}
