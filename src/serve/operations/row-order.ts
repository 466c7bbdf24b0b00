import type { Endpoint } from '../../parts/endpoints.ts';
import { orderWords, rowWords, wholeOrder } from '../../parts/errors.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { Plan, View } from '../exchange/exchange.ts';
import { type Act, readFor, workFor } from '../resources/act.ts';
import { compileLocator, type Locator } from '../resources/locate.ts';
import type { Engine } from './engine.ts';

/**
 * Compiles the look for a row that a document has come before something that has refused already; nothing where no row is meant, or it
 * comes last. Before the user's right, only a row that there is not is told: what the user may not read is refused for that.
 */
export function compileEarlierRow(endpoint: Endpoint, engine: Engine, engineOf: (view: View) => Engine): Plan['earlierRow'] {
  const order = wholeOrder(statedValue(engine.compilation.spec.errors.order) ?? []);
  const effect = statedValue(endpoint.does);
  const model = engine.models.get(resourceOfEffect(effect) ?? '');
  // Where a row is put that there is not, it is made.
  if (effect?.verb === 'upsert') return undefined;
  const isLast = order.slice(order.indexOf('row') + 1).every((word) => !earlierThan.has(word));
  if (isLast || !model || (identifierParameter(endpoint) === undefined && !endpoint.identity)) return undefined;
  const locators: Locator[] = [];
  return (exchange, step) => {
    const seen = engineOf(exchange.view);
    const { index } = exchange.view;
    const locator = locators[index] ?? compileLocator(endpoint, model, seen.models, seen.compilation);
    locators[index] = locator;
    return readFor(seen, exchange, (rows, draw) => {
      const work = workFor(rows, seen.models, exchange, draw);
      const found = locator.find(work, exchange);
      if (!('refusal' in found)) return undefined;
      const id = locator.idOf(work, exchange);
      const isThere = id !== undefined && rows.get(model.name, id) !== undefined;
      return step === 'user' && isThere ? undefined : found.refusal;
    });
  };
}

/** What may refuse before a row is looked for. */
const earlierThan: ReadonlySet<string> = new Set(['user', 'accept', 'body', 'parameters']);

/** An act with the order that is stated for what it asks of a row, where it is another than that of section 6. */
export function inStatedOrder(act: Act, { compilation }: Engine): Act {
  const order = wholeOrder(statedValue(compilation.spec.errors.order) ?? []).filter((word) => rowWords.has(word));
  const isUsual = orderWords.filter((word) => rowWords.has(word)).every((word, at) => word === order[at]);
  return isUsual ? act : { ...act, order };
}
