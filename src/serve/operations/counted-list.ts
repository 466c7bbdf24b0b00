/** How many things a list has, told beside it. */

import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { Exchange, Value } from '../exchange/exchange.ts';
import { Refused } from '../exchange/exchange.ts';
import type { Work } from '../resources/act.ts';
import { compileList } from '../resources/lists/list.ts';
import { boundFields, compileLocator } from '../resources/locate.ts';
import type { StandIn } from '../resources/stand-in.ts';
import type { Engine } from './engine.ts';

/** What an answer says of how many things there are. @throws {Refused} as the list itself is refused */
type TellCount = (work: Work, exchange: Exchange) => Value;

/**
 * Compiles what an endpoint says of how many things the list before it has in all its pages, narrowed by what both of them are asked with; nothing where it counts
 * no list.
 */
export function compileCountedList(endpoint: Endpoint, standIn: StandIn, engine: Engine): TellCount | undefined {
  const counting = standIn.compileCountOf(endpoint);
  const effect = counting && statedValue(counting.list.does);
  const model = effect && 'resource' in effect ? engine.models.get(effect.resource) : undefined;
  if (!counting || !model) return undefined;
  const { models, compilation } = engine;
  const { list, said } = counting;
  const { run } = compileList(list, model, models, engine.cursors, engine.acceptsOpen, compilation);
  const { bound } = compileLocator(list, model, models, compilation);
  const [own, names] = [pathParameters(endpoint.path), pathParameters(list.path)];
  return (work, exchange) => {
    const pathParams = Object.fromEntries(names.map((name, at) => [name, exchange.pathParams[own[at] ?? ''] ?? '']));
    const asked = { ...exchange, pathParams };
    if (standIn.given.has(model.name)) standIn.given.list(work, model, boundFields(model, bound, asked));
    const found = run(work, asked, 'shown');
    if ('refusal' in found) throw new Refused(found.refusal);
    return 'tooMany' in found ? undefined : said(found.total ?? found.items.length);
  };
}
