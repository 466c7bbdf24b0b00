/** What an answer states itself: a whole reply, and header fields that are told. */

import { repliedWith } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, isStated, type Named } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { type CompileExpression, isFailed } from '../exchange/compilation.ts';
import { noRate, strictestOf } from '../exchange/counted.ts';
import { type OperationRun, type Plan, refusalReply, type Value } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';
import { headerText } from '../http/send.ts';
import { readFor, workFor } from '../resources/act.ts';
import { compileStatedBody } from '../resources/body.ts';
import { compilePathGuard } from '../resources/locate.ts';
import { compileOwnErrors } from '../resources/precondition.ts';
import { compileAnswers } from './answers.ts';
import type { Engine } from './engine.ts';

/** Compiles `reply`: the stated answer itself, its example or what its `data` makes. */
export function compileReplyRun(operation: Operation, endpoint: Endpoint, engine: Engine): OperationRun {
  const answers = compileAnswers(withFirstExample(endpoint), engine.compilation);
  const ownErrors = compileOwnErrors(operation, engine.compilation);
  const badBody = compileStatedBody(endpoint, engine.compilation);
  const access = engine.compilation.access.of(operation, engine.compilation.user);
  const lost = compilePathGuard(endpoint, engine.models, engine.compilation);
  return (exchange) =>
    readFor(engine, exchange, (rows, draw) => {
      const work = workFor(rows, engine.models, exchange, draw);
      const { scope } = work;
      const missing = lost?.(work, exchange);
      if (missing) return refusalReply(exchange, missing);
      const pass = access.enter(scope, undefined);
      const bad = 'refusal' in pass ? pass.refusal : (badBody(work, exchange) ?? pass.settle() ?? ownErrors?.(scope));
      if (bad) return refusalReply(exchange, bad);
      const made = answers?.(exchange, { status: 200, scope, work });
      if (!made || 'refusal' in made) return refusalReply(exchange, made?.refusal ?? { when: 'internal' });
      return endpoint.cache === undefined
        ? made.reply
        : { ...made.reply, headers: { 'cache-control': endpoint.cache, ...made.reply.headers } };
    });
}

/** Of several examples the first is answered. */
function withFirstExample(endpoint: Endpoint): Endpoint {
  const { response } = endpoint;
  if (!isStated(response)) return endpoint;
  const value = response.value.map((answer) => {
    const [first] = answer.data ? [] : repliedWith(answer);
    return first === undefined ? answer : { ...answer, example: { value: first } };
  });
  return { ...endpoint, response: { ...response, value } };
}

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
