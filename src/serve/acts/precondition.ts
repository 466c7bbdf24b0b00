import type { Endpoint } from '../../parts/endpoints.ts';
import type { Row } from '../../store/store.ts';
import type { Compilation } from '../compilation.ts';
import type { Exchange, Fields, Refusal } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import { rowTag } from '../tags.ts';
import { evaluateConditions } from '../wire/conditional.ts';

/** Whether a request's If-Match and If-None-Match let it change this row (RFC 9110 section 13.1); no row = there is none. */
export type Precondition = (exchange: Exchange, row: Row | undefined, fields: Fields | undefined) => Refusal | undefined;

export function compilePrecondition(endpoint: Endpoint, model: RowModel, compilation: Compilation): Precondition {
  const { ifMatch } = endpoint;
  if (ifMatch !== 'required' && ifMatch !== 'accepted') return () => undefined;
  const tag = rowTag(model, compilation);
  return ({ call }, row) => {
    const match = call.headers['if-match'];
    const noneMatch = call.headers['if-none-match'];
    if (match === undefined && noneMatch === undefined)
      return ifMatch === 'required' ? { when: 'precondition.required' } : undefined;
    const verdict = evaluateConditions({
      method: call.method,
      ifMatch: headerText(match),
      ifNoneMatch: headerText(noneMatch),
      current: row && tag(row),
    });
    return verdict === 'pass' ? undefined : { when: 'precondition.failed' };
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
