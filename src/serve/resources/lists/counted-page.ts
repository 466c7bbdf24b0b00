import { pageStyles } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import { isCut } from '../../../parts/limits.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { PageAsked, Paging } from './paging.ts';

/**
 * A page by its place, where a client of a stand-in sends the usual parameter for it beside the one that pages are told by, or
 * though the document has none; of a list in one piece, as many rows as it asks for.
 */
export function countedPage(asked: PageAsked, exchange: Exchange, { names, pagination }: Paging): PageAsked {
  if (asked.position !== undefined || asked.row !== undefined || (asked.offset ?? 0) > 0) return asked;
  const sent = sentBeside(exchange, names);
  const size = isCut(pagination) ? asked.size : (numberIn(sent, sizeNames, 1) ?? asked.size);
  for (const [name, count] of countedPlaces) {
    const value = numberIn(sent, [name], count.least + 1);
    if (value !== undefined) return { ...asked, size, offset: Math.min(count.skip(value, size), Number.MAX_SAFE_INTEGER) };
  }
  return size === asked.size ? asked : { ...asked, size };
}

type Sent = (name: string) => unknown;

/** What a request says under a name of its query that pages do not read, whether or not the document has it. */
function sentBeside({ params, call }: Exchange, known: readonly string[]): Sent {
  if (call.query === '') return () => undefined;
  // `start_position` and `startPosition` are one name.
  const raw = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(call.query))
    if (!known.includes(name)) raw.set(plainOf(name), params[name] ?? value);
  return (name) => raw.get(plainOf(name));
}

function plainOf(name: string): string {
  return name.replaceAll(/[^A-Za-z]/g, '').toLowerCase();
}

function numberIn(sent: Sent, names: readonly string[], least: number): number | undefined {
  for (const name of names) {
    const text = String(sent(name) ?? '');
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  }
  return undefined;
}

/** The usual names of parameters that say how many rows a page has. */
const sizeNames = ['limit', 'perpage', 'pagesize'];

/** The usual names of parameters that tell the place of a page by a number: where several styles have one, the number of the first page is the greatest of theirs. */
const countedPlaces = new Map(
  (pageStyles as readonly PageStyle[])
    .flatMap(({ count, parameters }) =>
      count ? parameters.flatMap(({ usualNames }) => usualNames.map((name) => [name, count] as const)) : [],
    )
    .toSorted(([, one], [, other]) => one.least - other.least),
);
