import type { FactName } from './model/facts.ts';
import type { Model } from './model/model.ts';
import type { Judgement } from './script/claim.ts';
import type { Exchange } from './script/exchange.ts';

/** Something that every answer to a stated operation is held to, whichever trial asked. */
export interface Observer {
  readonly name: string;
  /** What it claims of one exchange; nothing where it has nothing to say. */
  observe(exchange: Exchange, model: Model): Iterable<Observed>;
}

export interface Observed {
  readonly fact: FactName;
  /** A short word for what was claimed; one fact is reported once for each. */
  readonly reason: string;
  readonly judgement: Judgement;
}
