import { pathOf } from '../../../document/pointer.ts';
import type { Reader, Transaction } from '../../../store/store.ts';
import type { Exchange } from '../../exchange/exchange.ts';

/** Remembers which fields of a row were made up, so that each answer that shows it can say so. */
export function keepNames(rows: Transaction, resource: string, id: string, names: readonly string[]): void {
  rows.keep(keyOf(resource, id), { fingerprint: '', body: names.join('\n'), expiresMs: Number.MAX_SAFE_INTEGER });
}

/** The fields of a row that were made up. */
export function namesOfRow(rows: Reader, resource: string, id: string): string[] {
  const body = rows.record(keyOf(resource, id), 0)?.body ?? '';
  return body === '' ? [] : body.split('\n');
}

function keyOf(resource: string, id: string): string {
  return `sampled\n${resource}\n${id}`;
}

/** The place of something that was made up, as the header names it: `/data/0/name` is `data[].name`, the whole `*`. */
export function nameOf(path: string): string {
  if (path === '') return '*';
  return pathOf(path)
    .map((key, at) => (/^\d+$/.test(key) ? '[]' : `${at === 0 ? '' : '.'}${key}`))
    .join('');
}

/** Names what was made up in the answer to a request. */
export function tellSampled(exchange: Exchange, names: readonly string[]): void {
  if (names.length > 0) exchange.sampled = [...new Set([...(exchange.sampled ?? []), ...names])];
}

/** The names as a header carries them; a name that a header cannot carry is percent-encoded. */
export function sampledHeader(names: readonly string[]): string {
  const told = names
    .slice(0, toldMost)
    .map((name) => name.toWellFormed().replaceAll(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent));
  return names.length > toldMost ? `${told.join(', ')}, and ${names.length - toldMost} more` : told.join(', ');
}

const toldMost = 64;
