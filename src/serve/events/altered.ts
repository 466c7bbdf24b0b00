import { altersInSight } from '../../parts/left-out.ts';
import type { Fields } from '../exchange/exchange.ts';
import { compilePrune, type Prune } from '../exchange/visibility.ts';
import { copy, toJson } from '../http/json.ts';
import type { StoredChange } from '../resources/act.ts';
import { keptFields } from '../resources/kept-row.ts';
import type { RowModel } from '../resources/model.ts';
import type { EventsSetting } from './setting.ts';

/** What a change altered of its row, as it was. */
export type Altered = (change: StoredChange) => Fields;

interface Compared {
  readonly names: readonly string[];
  /** What nobody in particular sees of the fields' own values. */
  readonly prune: Prune | undefined;
}

/** Compiles `event.before`: the fields that everybody sees and that a change gave other values; null for one that was not there. */
export function compileAltered({ compilation: { spec } }: EventsSetting): Altered {
  const known = new Map<string, Compared>();

  function comparedOf({ name, resource, fields }: RowModel): Compared {
    const found = known.get(name);
    if (found) return found;
    const names = [...fields].flatMap(([field, stated]) => (altersInSight(spec, stated) ? [field] : []));
    const prune = compilePrune(spec, { resource: resource.name }, { user: undefined, reveals: false });
    const made = { names, prune };
    known.set(name, made);
    return made;
  }

  return ({ model, before, after }) => {
    if (!before || !after) return {};
    const { names, prune } = comparedOf(model);
    const [was, is] = [seen(keptFields(model, before), prune), seen(keptFields(model, after), prune)];
    const altered: Fields = {};
    for (const name of names) if (toJson(was[name] ?? null) !== toJson(is[name] ?? null)) altered[name] = was[name] ?? null;
    return altered;
  };
}

function seen(fields: Fields, prune: Prune | undefined): Fields {
  if (!prune) return fields;
  const own = copy(fields);
  prune(own);
  return own;
}
