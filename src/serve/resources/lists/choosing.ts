import { leftOutOf } from '../../../parts/left-out.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { allFilters, type RowFilter } from '../../callers/list-access.ts';
import type { Bindings } from '../../callers/rules.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { isHidden } from '../../exchange/visibility.ts';
import type { Models } from '../act.ts';
import type { ViewCompilation } from '../view-compilation.ts';

/** What the parameters of one list choose by, for one user. */
interface Chosen {
  /** The parameters that go by what this user does not see. */
  readonly unseen: readonly Parameter[];
  /** The rows that are shown anyhow, as far as the request chooses them; nothing = all rows. */
  filter(exchange: Exchange, scope: Bindings, shown: RowFilter | undefined): RowFilter | undefined;
}

/** Compiles it. Through other rows the caller is shown what it may read of them, and no more. */
export function compileChosen(operation: string, models: Models, { access, user, spec }: ViewCompilation): Chosen {
  const choices = access.choices(operation);
  if (choices.length === 0) return { unseen: [], filter: (_exchange, _scope, shown) => shown };
  const reader = { user, reveals: false, leftOut: leftOutOf(spec, { user }) };
  const hides = ([resource, name]: readonly [string, string]) => {
    const field = models.get(resource)?.fields.get(name);
    return field !== undefined && isHidden(field, reader);
  };
  return {
    unseen: choices.flatMap(({ parameter, reads }) => (reads.some(hides) ? [parameter] : [])),
    filter({ params }, scope, shown) {
      const filters = choices.flatMap(({ parameter, filter }) => {
        const value = params[parameter.name];
        return value === undefined ? [] : [filter(value, scope, (resource) => access.seen(resource, user).filter(scope))];
      });
      return filters.length === 0 ? shown : allFilters(shown ? [shown, ...filters] : filters);
    },
  };
}
