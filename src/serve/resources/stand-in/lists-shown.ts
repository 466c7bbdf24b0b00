/** Rows as the list of an answer shows them, and lists that are both sent and answered. */

import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import type { RowModel } from '../model.ts';

/** Rows as the list of an answer shows them: with the members that it has for them. */
export function compileShow(
  { response }: Pick<Endpoint, 'response'>,
  samples: Samples,
): (rows: readonly Fields[], model: RowModel) => Value | undefined {
  const list = listShown({ response }, samples);
  if (list === undefined) return () => undefined;
  const members = new Set(Object.keys(samples.membersOf(list.items)));
  return (rows, { identifier }) => {
    const shown = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name === identifier.field || members.has(name))),
    );
    return list.name === undefined ? shown : { [list.name]: shown };
  };
}

/** The one list of things that the answer of success is or holds; nothing where there are several. */
export function listShown({ response }: Pick<Endpoint, 'response'>, samples: Samples): ShownList | undefined {
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shape = answer && statedValue(answer.shape);
  const [list, ...others] = shape === undefined ? [] : listsIn(shape, samples);
  return others.length > 0 ? undefined : list;
}

/** A list in an answer: the member that holds it, none where the answer is it, and what it lists. */
export interface ShownList {
  readonly name: string | undefined;
  readonly items: Shape;
}

/** The lists of things that an answer is or holds. */
export function listsIn(shape: Shape, samples: Samples): ShownList[] {
  const itemsOf = (one: Json): Shape | undefined => {
    const items = isPlainMap(one) ? samples.whole(one).items : undefined;
    return isPlainMap(items) && Object.keys(samples.membersOf(items)).length > 0 ? items : undefined;
  };
  const bare = itemsOf(shape);
  if (bare) return [{ name: undefined, items: bare }];
  return Object.entries(samples.membersOf(shape)).flatMap(([name, inner]) => {
    const items = itemsOf(inner);
    return items && !/^included$/i.test(name) ? [{ name, items }] : [];
  });
}

/** A list of things that is sent and answered. */
interface ListedBoth {
  readonly resource: string;
  /** The member of the body that holds the list; absent = the body is it. */
  readonly member: string | undefined;
  /** What each of those sent is. */
  readonly items: Shape;
}

const making: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** The resource of which an answer is a list, where the body is a list of the same, or of what has mostly its fields, and nothing else is known. */
export function listedBoth({ method, does, request, response }: Endpoint, samples: Samples): ListedBoth | undefined {
  const sent = statedValue(request);
  if (!making.has(method) || statedValue(does) !== undefined || sent === undefined) return undefined;
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shown = statedValue(answer?.shape ?? { standing: 'none', at: '' });
  const [list, ...others] = shown === undefined ? [] : listsIn(shown, samples);
  const resource = others.length === 0 ? list?.items.resource : undefined;
  if (list === undefined || typeof resource !== 'string') return undefined;
  const sentLists = listsIn(sent, samples);
  const alike = sentLists.filter(({ items }) => items.resource === resource || sharesMost(items, list.items, samples));
  const [only, ...more] = alike;
  if (only !== undefined) return more.length > 0 ? undefined : { resource, member: only.name, items: only.items };
  const [whole, ...besides] = sentLists;
  const named = whole?.items.resource;
  const isNamed = besides.length === 0 && typeof named === 'string' && tellsNames(list.items, { resource: named }, samples);
  return isNamed ? { resource: named, member: whole?.name, items: whole?.items ?? {} } : undefined;
}

/** Whether what is listed is nothing of a thing but what tells it from others: `[contact]` is answered by `{ items: [{ id }] }`. */
function tellsNames(items: Shape, thing: Shape, samples: Samples): boolean {
  const names = Object.keys(samples.membersOf(items));
  const known = samples.membersOf(thing);
  return names.length === 1 && names.every((name) => Object.hasOwn(known, name));
}

function sharesMost(one: Shape, other: Shape, samples: Samples): boolean {
  const names = Object.keys(samples.membersOf(one));
  const known = samples.membersOf(other);
  return names.length > 1 && names.filter((name) => Object.hasOwn(known, name)).length * 2 > names.length;
}
