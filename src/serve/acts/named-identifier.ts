import type { Exchange } from '../exchange.ts';
import { bare } from '../json.ts';
import { identifierValue } from '../rows/identifier.ts';
import type { RowModel } from '../rows/model.ts';
import { describeValue, type Violation } from '../wire/violation.ts';
import { isFields } from './body.ts';

/** A body may repeat the identifier that the path names, and name no other. */
export function otherIdentifier({ request }: Exchange, model: RowModel, id: string): Violation | undefined {
  const { field } = model.identifier;
  const sent = isFields(request) && !model.readOnly.has(field) ? request[field] : undefined;
  if (sent === undefined || String(sent) === id) return undefined;
  return { in: 'body', path: `/${field}`, found: describeValue(sent), expected: `${describeValue(id)}, as the path says` };
}

/** The path says the identifier of a replace or upsert where the resource's own is the client's. */
export function withIdentifier(exchange: Exchange, model: RowModel, id: string): Exchange {
  const { request } = exchange;
  if (model.readOnly.has(model.identifier.field) || !isFields(request) || request[model.identifier.field] !== undefined)
    return exchange;
  const { field, isInteger } = model.identifier;
  return { ...exchange, request: Object.assign(bare(request), { [field]: identifierValue(id, isInteger) }) };
}
