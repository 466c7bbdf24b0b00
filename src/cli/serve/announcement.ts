import type { CheckReport } from '../../check/check.ts';
import { kindOfScheme } from '../../parts/authentication.ts';
import { entriesOf } from '../../parts/fact.ts';
import { callableOperations } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { DevelopmentCredential } from '../../serve/callers/development.ts';
import { inMemory } from '../../serve/service/open-store.ts';
import { ledgerLine } from '../check-text.ts';
import { counted, paint, printable, type Terminal, wrapped } from '../terminal.ts';
import { curlLines } from './curl.ts';
import type { Log } from './log.ts';

/** What is told of a service once it can be asked. */
export interface Announced {
  readonly report: CheckReport;
  readonly document: string;
  readonly store: string;
  /** The address, without a path. */
  readonly url: string;
  readonly basePath: string;
  readonly notes: readonly string[];
  /** One for each user, made for this run. */
  readonly credentials: readonly DevelopmentCredential[];
  /** Whether others rely on it. */
  readonly isProduction: boolean;
  /** Where trials move its clock. */
  readonly clock?: string;
  /** Where trials do what no client may. */
  readonly workbench?: string;
  /** Where those who run it ask how it is. */
  readonly operations?: string;
}

/** Says what is served, where, over which data, what it does not do, and how to ask it. */
export function announce(announced: Announced, log: Log, terminal: Terminal): void {
  const { report, document, store, basePath, notes, credentials, clock, workbench, operations } = announced;
  const url = announced.url.replace(/\/$/, '');
  const curl = curlLines(report.spec, `${url}${basePath}`, url, credentials);
  const fields = {
    url,
    base: `${url}${basePath}`,
    title: report.title,
    document,
    store,
    ledger: report.ledger.total,
    warnings: report.findings.length,
    notes,
    credentials,
    curl,
    ...(clock !== undefined && { clock }),
    ...(workbench !== undefined && { workbench }),
    ...(operations !== undefined && { operations }),
  };
  log.event('listening', fields, announcementText(announced, url, curl, terminal));
}

function announcementText(announced: Announced, url: string, curl: readonly string[], terminal: Terminal): string {
  const { report, document, store, basePath, notes, credentials, clock, workbench, operations, isProduction } = announced;
  const warnings = report.findings.length;
  // In production they are an operation, where the document names it.
  const isAnswered = !isProduction || callableOperations(report.spec).some(({ name }) => name === 'read ledger');
  const data = store === inMemory ? 'in memory, forgotten at the end; --store FILE keeps it' : store;
  const rows: readonly (readonly [string, string])[] = [
    ['address', paint(terminal, ['bold', 'cyan'], url)],
    ...(basePath === '' ? [] : [['base', `${url}${basePath}`] as const]),
    ['document', `${document}${warnings === 0 ? '' : `, ${counted(warnings, 'warning')}: ninefold check shows them`}`],
    ['ledger', `${ledgerLine(report.ledger.total)}${isAnswered ? `; ${url}/.well-known/ninefold` : ''}`],
    ...(isAnswered ? [['openapi', `${url}${basePath}/openapi.json`] as const] : []),
    ['data', data],
    ...(isProduction && store !== inMemory ? keyRows(report.spec, document, store) : []),
    ...(clock === undefined ? [] : [['clock', `${clock}; {"advance":"PT1H"} sets it forward`] as const]),
    ...(workbench === undefined ? [] : [['bench', `${workbench}/ lists what trials can do`] as const]),
    ...(operations === undefined ? [] : [['watch', `${operations}/readyz, /livez and /metrics`] as const]),
  ];
  return [
    ...(report.title === '' ? [] : [paint(terminal, 'bold', printable(report.title))]),
    ...rows.map(([name, value]) => `  ${paint(terminal, 'dim', name.padEnd(8))}  ${value}`),
    ...noteLines(notes, terminal),
    ...credentialLines(credentials, terminal),
    '',
    ...curl,
    '',
  ].join('\n');
}

/** How a credential is come by where none is made for the run: of schemes whose keys or passwords are kept in the data. */
function keyRows(spec: Spec, document: string, store: string): readonly (readonly [string, string])[] {
  const isKept = entriesOf(spec.authentication.schemes).some(([, scheme]) => {
    const { proof } = kindOfScheme(scheme) ?? {};
    return proof !== undefined && ['key', 'password', 'signing'].includes(proof.by);
  });
  const [user] = entriesOf(spec.purpose.users).map(([name]) => name);
  if (!isKept || user === undefined) return [];
  return [['keys', `ninefold keys add ${document} --store ${store} --user ${user} gives one out`]];
}

/** The credentials that were made, as they are sent. */
export function credentialLines(credentials: readonly DevelopmentCredential[], terminal: Terminal): string[] {
  if (credentials.length === 0) return [];
  const width = Math.max(...credentials.map(({ user }) => user.length));
  const sent = ({ in: place, name, value, signs, scheme }: DevelopmentCredential) =>
    signs !== undefined
      ? signingWords(scheme, signs, value)
      : place === 'header'
        ? `${name}: ${value}`
        : place === 'cookie'
          ? `Cookie: ${name}=${value}`
          : `?${name}=${value}`;
  const lines = credentials.map((one) => `    ${paint(terminal, 'cyan', printable(one.user).padEnd(width))}  ${sent(one)}`);
  // Of two schemes in one place the credential may be one.
  return [`  ${paint(terminal, 'dim', 'credentials'.padEnd(8))}  for this run alone, kept nowhere`, ...new Set(lines)];
}

/** What somebody signs with: `ninefold verify --as USER=KEY:SECRET` does. */
function signingWords(scheme: string, algorithm: string, value: string): string {
  const [, key = '', secret = ''] = /^([^:]*):(.*)$/s.exec(value) ?? [];
  return `signs its requests as ${printable(scheme)} says (${algorithm}): key ${key}, ${algorithm.startsWith('hmac-') ? 'secret' : 'private key'} ${secret}`;
}

/** What a person should know, one point each. */
export function noteLines(notes: readonly string[], terminal: Terminal): string[] {
  const room = Math.max(50, Math.min(terminal.columns, 130) - 6);
  return notes.flatMap((note) =>
    wrapped(note, room).map((line, index) => (index === 0 ? `  ${paint(terminal, 'yellow', '!')} ${line}` : `    ${line}`)),
  );
}
