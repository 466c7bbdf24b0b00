import type { Endpoint } from '../../parts/endpoints.ts';
import type { Expression, Named } from '../../parts/fact.ts';
import { type CompileExpression, isFailed } from '../exchange/compilation.ts';
import { noRate, strictestOf } from '../exchange/counted.ts';
import type { Plan, Value } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';
import { headerText } from '../http/send.ts';

/** Makes header fields of a scope; one that comes to nothing, or fails, is left out: the answer is there already. */
export type MakeHeaders = (scope: Readonly<Record<string, Value>>) => Record<string, string>;

/** Compiles header fields that expressions make; nothing where none are stated. */
export function compileMadeHeaders(stated: Named<Expression>, compile: CompileExpression): MakeHeaders | undefined {
  const headers = Object.entries(stated).map(([name, expression]) => [name.toLowerCase(), compile(expression)] as const);
  if (headers.length === 0) return undefined;
  return (scope) => {
    const out: Record<string, string> = {};
    for (const [name, evaluate] of headers) {
      const value = evaluate(scope);
      if (isFailed(value) || value === undefined || value === null) continue;
      out[name] = headerText(typeof value === 'object' ? toJson(value) : String(value));
    }
    return out;
  };
}

/** Compiles the header fields of every answer of an endpoint. */
export function compileTold({ headers }: Endpoint, compile: CompileExpression): Plan['tell'] {
  const make = compileMadeHeaders(headers, compile);
  return (
    make &&
    ((exchange, { status }) => {
      const { nowMs, plan, view, call, caller, counted } = exchange;
      return make({
        now: nowMs,
        operation: plan.operation.name,
        version: view.version ?? '',
        status,
        path: call.path,
        request_id: exchange.requestId(),
        caller,
        rate: (counted && strictestOf(counted, nowMs)) ?? noRate,
      });
    })
  );
}
