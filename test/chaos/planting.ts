import { accountOf } from '../crash/account.ts';
import type { Chance } from '../crash/chance.ts';
import type { Entry, Listed, Request } from '../crash/journal.ts';
import type { Resource, Row } from '../crash/records.ts';
import type { Answer } from '../crash/server.ts';

/** A recorded run that something is planted in. Rows are changed in place. */
export interface Planting {
  readonly entries: Entry[];
  readonly chance: Chance;
}

/** A violation, and what plants it somewhere; false where a run has no place for it. */
export interface Planted {
  readonly name: string;
  readonly plant: (planting: Planting) => boolean;
}

export type Mutable = Record<string, unknown>;
type Told = Extract<Entry, { readonly kind: 'told' }>;

export function listsOf({ entries }: Planting): Listed[] {
  return entries.flatMap((entry) => (entry.kind === 'listed' ? [entry.listed] : []));
}

/** The last list of a resource, as it may be changed. */
export function lastRows(planting: Planting, resource: Resource): Row[] {
  // A recorded run is read anew for each violation.
  return (listsOf(planting).at(-1)?.rows[resource] ?? []) as Row[];
}

/** Every request with the answers to it, in their order. */
export function exchanges({ entries }: Planting): { readonly request: Request; readonly answers: Answer[] }[] {
  const byOp = new Map<string, { readonly request: Request; readonly answers: Answer[] }>();
  const byTurn = new Map<number, Answer[]>();
  for (const entry of entries) {
    if (entry.kind === 'sent') {
      const one = byOp.get(entry.request.op) ?? { request: entry.request, answers: [] };
      byOp.set(entry.request.op, one);
      byTurn.set(entry.turn, one.answers);
    }
    if (entry.kind === 'answered' && entry.answer) byTurn.get(entry.turn)?.push(entry.answer);
  }
  return [...byOp.values()];
}

export const isMade = ({ answers }: { readonly answers: readonly Answer[] }): boolean =>
  answers.some(({ status }) => status < 300);
export const isRefused = ({ answers }: { readonly answers: readonly Answer[] }): boolean =>
  answers.length > 0 && answers.every(({ status }) => status >= 300);

export function toldOf({ entries }: Planting, isMeant: (told: Told) => boolean): Told[] {
  return entries.filter((entry): entry is Told => entry.kind === 'told' && isMeant(entry));
}

/** Takes entries out. */
export function without({ entries }: Planting, gone: ReadonlySet<Entry>): void {
  const left = entries.filter((entry) => !gone.has(entry));
  entries.splice(0, entries.length, ...left);
}

/** What was waited for in vain was waited for long enough. */
export function waitedFor(planting: Planting): void {
  for (const listed of listsOf(planting)) Object.assign(listed, { isOver: true });
}

/** Takes a row out of every list. */
export function unlist(planting: Planting, resource: Resource, isMeant: (row: Row) => boolean): void {
  for (const { rows, resting } of listsOf(planting)) {
    for (const list of resource === 'account' ? [rows.account, resting] : [rows[resource]]) {
      const left = list.filter((row) => !isMeant(row));
      (list as Row[]).splice(0, list.length, ...left);
    }
  }
}

/** Changes a row of the last list, also where it is listed by its state. */
export function change(planting: Planting, id: unknown, changes: Mutable): void {
  const last = listsOf(planting).at(-1);
  for (const row of [...(last?.rows.account ?? []), ...(last?.resting ?? [])])
    if (row.id === id) Object.assign(row as Mutable, changes);
}

/** What one more change makes of an account that is listed. */
export function further(planting: Planting, row: Row, word: string, more: Mutable = {}): void {
  const { changes, log } = accountOf(row);
  change(planting, row.id, { op: word, log: `${log} ${word}`, changes: changes + 1, ...more });
}

/** A place for it, and whether there was one. */
export function at<T>({ chance }: Planting, places: readonly T[], plant: (place: T) => void): boolean {
  const place = chance.one(places);
  if (place === undefined) return false;
  plant(place);
  return true;
}

export const streams = (told: Told): boolean => told.subscriber.startsWith('stream');
export const hooks = (told: Told): boolean => !streams(told);
