import type { Fields, Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { rankOf } from './comparisons.ts';

/** Where a field stands in a row. */
export type RowPlace = (row: Fields) => readonly Value[];

/** How two rows stand to each other. */
export type RowOrder = (one: Fields, other: Fields) => number;

/** The order that a request asks for by the usual words: `sort=-name`, `order_by=name desc`, `sort_by=name&sort_order=desc`; nothing where it asks for none that is known. */
export function readOrder(sent: ReadonlyMap<string, Value>, find: (name: string) => RowPlace | undefined): RowOrder | undefined {
  const asked = wordIn(sent, sorting) ?? fieldIn(sent);
  if (typeof asked !== 'string' && !Array.isArray(asked)) return undefined;
  const isTurned = directionIn(sent);
  const texts = Array.isArray(asked) ? asked.map(String) : asked.split(',');
  const keys = texts.slice(0, keysMost).flatMap((text) => {
    if (text.length > textMost) return [];
    const [, sign = '', name = '', word = ''] = /^\s*([-+]?)(.*?)(?:[ :.|]+(asc|desc)\w*)?\s*$/i.exec(text) ?? [];
    const place = find(name) ?? find(`${name}_at`);
    const isDescending = sign === '-' || word.toLowerCase() === 'desc' || (sign === '' && word === '' && isTurned);
    return place ? [{ place, factor: isDescending ? -1 : 1 }] : [];
  });
  if (keys.length === 0) return undefined;
  return (one, other) => {
    for (const { place, factor } of keys) {
      const rank = rankOf(textOf(place(one)), textOf(place(other)));
      if (rank !== 0) return rank * factor;
    }
    return 0;
  };
}

/** By how many fields rows are ordered, and how long a word for one of them may be. */
const keysMost = 16;
const textMost = 200;

function textOf([value]: readonly Value[]): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? toJson(value) : String(value);
}

function wordIn(sent: ReadonlyMap<string, Value>, names: ReadonlySet<string>): Value {
  for (const [name, value] of sent) if (names.has(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase())) return value;
  return undefined;
}

/** What `order` says where it is no direction: `order=name`, `order=Name DESC`. */
function fieldIn(sent: ReadonlyMap<string, Value>): Value {
  const order = wordIn(sent, new Set(['order']));
  return /^(?:asc|desc)/i.test(textOf([order])) ? undefined : order;
}

function directionIn(sent: ReadonlyMap<string, Value>): boolean {
  for (const [name, value] of sent)
    if (directions.has(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase()) && /^desc/i.test(textOf([value]))) return true;
  return false;
}

const sorting: ReadonlySet<string> = new Set(['sort', 'sortby', 'orderby', 'ordering', 'sortfield', 'sortcolumn']);
const directions: ReadonlySet<string> = new Set([
  'order',
  'direction',
  'sortorder',
  'sortdirection',
  'sortdir',
  'orderdirection',
]);
