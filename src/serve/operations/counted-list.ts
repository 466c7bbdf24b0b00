/** What is told of a list without its things: how many it has, told beside it, and their names alone. */

import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { Exchange, Value } from '../exchange/exchange.ts';
import { Refused } from '../exchange/exchange.ts';
import type { Work } from '../resources/act.ts';
import { compileList } from '../resources/lists/list.ts';
import { boundFields, compileLocator } from '../resources/locate.ts';
import type { PageTold, StandIn } from '../resources/stand-in.ts';
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

/** The names that an answer lists, and the page that they are. */
type TellNames = (work: Work, exchange: Exchange) => { readonly value: Value; readonly page: PageTold };

/** So many rows are looked at. */
const lookedAtMost = 1000;

/** Compiles how an endpoint lists the names of the things that are made and read below its path; nothing where it does not, or its path says what these have no field for. */
export function compileListedNames(endpoint: Endpoint, standIn: StandIn, { models, compilation }: Engine): TellNames | undefined {
  const naming = standIn.compileNamesOf(endpoint);
  const model = naming && models.get(naming.resource);
  const bound = pathParameters(endpoint.path);
  if (!naming || !model || bound.some((name) => !model.fields.has(name))) return undefined;
  const reading = compilation.access.reading(model.name, compilation.user);
  return ({ rows, scope }, { pathParams }) => {
    const all = rows.scan(model.name, 0, lookedAtMost).map((row) => model.parse(row));
    const own = all.filter((fields) => bound.every((name) => String(fields[name]) === pathParams[name]));
    const names = own
      .filter((fields) => reading.isFree || reading.allows(scope, fields))
      .map((fields) => String(fields[model.identifier.field]));
    return { value: naming.said(names), page: wholePage(names.length) };
  };
}

/** A list in one piece. */
function wholePage(total: number): PageTold {
  const nowhere = { next: null, previous: null, nextUrl: null, previousUrl: null, url: '' };
  return { shown: total, total, size: undefined, skipped: 0, firstPage: 1, hasMore: false, ...nowhere };
}
