import type { Endpoint } from '../../parts/endpoints.ts';
import type { Reader } from '../../store/store.ts';
import { credentialQueries } from '../callers/vary.ts';
import { isFailed } from '../exchange/compilation.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import { type Models, refuse, type Work } from './act.ts';
import type { RowModel } from './model.ts';
import { compileAddressAt } from './row-address.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Why a row is not found at a path: it is missing, or it is at another one by now. */
export type WhyNotFound = (work: Work<Reader>, exchange: Exchange) => { readonly refusal: Refusal };

/** Looks for a row as if another path had been asked for. */
type FindAt = (work: Work<Reader>, exchange: Exchange) => object | { readonly refusal: Refusal };

/**
 * Compiles where the row that a path does not name has gone; nothing where that is not stated. It is told to who may read that row alone, and
 * only where the endpoint finds it at its new address: anybody else is told what it would have been told without.
 */
export function compileWhyNotFound(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
  findAt: FindAt,
): WhyNotFound | undefined {
  if (!endpoint.moved) return undefined;
  const meant = compilation.expression(endpoint.moved, endpoint.operation);
  const addressOf = compileAddressAt(endpoint, models, compilation);
  const reading = compilation.access.reading(model.name, compilation.user);
  const secrets = credentialQueries(compilation.spec);

  function addressNow(work: Work<Reader>, exchange: Exchange): string | undefined {
    const id = meant(work.scope);
    if (id === undefined || id === null || isFailed(id)) return undefined;
    const row = work.rows.get(model.name, String(id));
    const fields = row && model.parse(row);
    if (!fields || (!reading.isFree && !reading.allows(work.scope, fields))) return undefined;
    const address = addressOf(work, fields);
    if (!address) return undefined;
    const { path, params } = address;
    const pathParams = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
    const there = { ...work, scope: { ...work.scope, params: { ...exchange.params, ...params } } };
    const found = findAt(there, { ...exchange, pathParams, params: there.scope.params });
    // Who may read it and not do this is told at its address.
    if ('refusal' in found && isAbsent(found.refusal)) return undefined;
    return path + queryOf(exchange.call.query, secrets);
  }

  return (work, exchange) => {
    const location = addressNow(work, exchange);
    return location === undefined ? refuse('resource.missing') : refuse('resource.moved', { headers: { location } });
  };
}

function isAbsent({ when }: Refusal): boolean {
  return when === 'resource.missing' || when === 'resource.gone';
}

/** What was asked besides goes with it; a credential is not said again, as whoever follows shows it anew. */
function queryOf(query: string, secrets: readonly string[]): string {
  if (query === '') return '';
  const asked = new URLSearchParams(query);
  for (const name of secrets) asked.delete(name);
  const text = asked.toString();
  return text === '' ? '' : `?${text}`;
}
