import type { Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import { identifierText, type RowModel } from '../model.ts';
import type { Rows } from '../stand-in.ts';
import { parentWord } from './named-things.ts';

/**
 * Sets of whom a new row is, where it says so itself: what is made by `POST /comments` with `item: { id }` is listed by
 * `GET /files/{file_id}/comments`, and what is made with `group: { id }` by `GET /groups/{group_id}/members`. A map that is not
 * called like the parent names it only where there is such a row.
 */
export function withNamedParents({ rows, models }: Rows, model: RowModel, fields: Fields): Fields {
  let out: Fields | undefined;
  for (const [name, { visible, ref }] of model.fields) {
    if (visible?.length !== 0 || fields[name] !== undefined) continue;
    const parent = ref === undefined ? undefined : models.get(ref);
    const others = Object.entries(fields).filter(([other]) => other !== name && other !== model.identifier.field);
    const called = others.find(([other]) => parentWord(other) === parentWord(name));
    const id =
      (called && identifierIn(called[1], parent)) ??
      (parent &&
        others.map(([, value]) => (isFields(value) ? identifierIn(value, parent) : undefined)).find((one) => isThere(one)));
    if (id === undefined) continue;
    out ??= { ...fields };
    out[name] = id;

    function isThere(one: Value): boolean {
      return one !== undefined && parent !== undefined && rows.get(parent.name, String(one)) !== undefined;
    }
  }
  return out ?? fields;
}

/** The identifier that a member says: it itself, or that of the thing which it shows. */
function identifierIn(value: Value, parent: RowModel | undefined): string | number | undefined {
  const own = isFields(value) ? value[parent?.identifier.field ?? 'id'] : value;
  return (typeof own === 'string' && identifierText(own) !== undefined) || typeof own === 'number' ? own : undefined;
}
