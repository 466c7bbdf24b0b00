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
  { response }: Endpoint,
  samples: Samples,
): (rows: readonly Fields[], model: RowModel) => Value | undefined {
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shape = answer && statedValue(answer.shape);
  const lists = shape === undefined ? [] : listsIn(shape, samples);
  const [list] = lists;
  if (list === undefined || lists.length > 1) return () => undefined;
  const members = new Set(Object.keys(samples.membersOf(list.items)));
  return (rows, { identifier }) => {
    const shown = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name === identifier.field || members.has(name))),
    );
    return list.name === undefined ? shown : { [list.name]: shown };
  };
}

/** The lists of things that an answer is or holds. */
export function listsIn(shape: Shape, samples: Samples): { readonly name: string | undefined; readonly items: Shape }[] {
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
