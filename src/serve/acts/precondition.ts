import type { Endpoint } from '../../parts/endpoints.ts';
import type { Compilation } from '../compilation.ts';
import type { RowModel } from '../rows/model.ts';
import { rowTag } from '../tags.ts';
import { evaluateConditions } from '../wire/conditional.ts';
import type { Precondition } from './act.ts';

/** Compiles If-Match and If-None-Match of an endpoint; nothing where it takes neither. */
export function compilePrecondition(endpoint: Endpoint, model: RowModel, compilation: Compilation): Precondition | undefined {
  const { ifMatch } = endpoint;
  if (ifMatch !== 'required' && ifMatch !== 'accepted') return undefined;
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
