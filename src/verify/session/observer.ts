import type { FactName, Judgement } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';

/** Something that every answer to a stated operation is held to, whichever trial asked. */
export interface Observer {
  readonly name: string;
  /** What it claims of one exchange; nothing where it has nothing to say. */
  observe(exchange: TrialExchange, model: Model): Iterable<Observed>;
}

export interface Observed {
  readonly fact: FactName;
  /** A short word for what was claimed; one fact is reported once for each. */
  readonly reason: string;
  readonly judgement: Judgement;
}

/** What an observer says again of another exchange, of the same fact for the same reason. */
export function judgementAgain(
  observer: Observer,
  seen: TrialExchange,
  model: Model,
  { fact, reason }: Pick<Observed, 'fact' | 'reason'>,
): Judgement {
  for (const observed of observedOnce(observer, seen, model)) {
    const isSame = observed.reason === reason && observed.fact.kind === fact.kind && observed.fact.subject === fact.subject;
    if (isSame) return observed.judgement;
  }
  return undefined;
}

const known = new WeakMap<TrialExchange, Map<Observer, readonly Observed[]>>();

/** What does not hold of an answer, which is judged again for each of the facts that were claimed of it. */
function observedOnce(observer: Observer, seen: TrialExchange, model: Model): readonly Observed[] {
  const own = known.get(seen) ?? new Map<Observer, readonly Observed[]>();
  known.set(seen, own);
  const observed = own.get(observer) ?? [...observer.observe(seen, model)].filter(({ judgement }) => judgement !== undefined);
  own.set(observer, observed);
  return observed;
}
