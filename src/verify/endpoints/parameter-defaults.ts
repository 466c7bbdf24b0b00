import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import { shown } from '../values/difference.ts';
import type { Ask } from './asking.ts';

/** Leaving a parameter out is the same as sending its default, as far as the answers stand still by themselves. */
export async function compareDefaults(
  session: Session,
  endpoint: Endpoint,
  ask: Ask,
  valid: Readonly<Record<string, Symbolic>>,
): Promise<void> {
  // A list may have grown in between.
  if (statedValue(endpoint.does)?.verb === 'list') return;
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    if (!parameter.default || parameter.in !== 'query' || name in valid) continue;
    const told = { ...valid, [name]: parameter.default.value };
    // By turns, so that what others change in the meantime is not taken for a difference.
    const of = [await ask(valid), await ask(told), await ask(valid), await ask(told)] as const;
    session.claim({
      ...{ fact: { kind: 'parameters', subject: endpoint.key }, reason: `${name} by default`, at: parameter.at, of },
      judge(...seen: readonly [Exchange, Exchange, Exchange, Exchange]) {
        const isMeant = seen.every((one, at) => isDone(one) && name in one.sent.query === (at % 2 === 1));
        if (!isMeant) return moot('it cannot be compared');
        const [without, withIt, again, onceMore] = seen.map(({ body }) => partsOf(body)) as [Parts, Parts, Parts, Parts];
        const still = [...without].filter(
          ([key, one]) => isSame(one, again.get(key)) && isSame(withIt.get(key), onceMore.get(key)),
        );
        const other = still.find(([key, one]) => !isSame(one, withIt.get(key)));
        const sent = JSON.stringify(seen[1].sent.query[name]);
        return other
          ? { promised: `the same as with ${name} of ${sent}: ${shown(withIt.get(other[0]))}`, seen: shown(other[1]) }
          : still.length > 0
            ? undefined
            : moot('it never stands still');
      },
    });
  }
}

type Parts = ReadonlyMap<string, Json>;

/** The members of an answer, which may stand still one by one. */
function partsOf(body: Json | undefined): Parts {
  if (body === undefined) return new Map();
  return new Map(isMap(body) ? Object.entries(body) : [['', body]]);
}
