import { repliedWith } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { type OperationRun, refusalReply } from '../exchange/exchange.ts';
import { readFor, workFor } from '../resources/act.ts';
import { compileStatedBody } from '../resources/body.ts';
import { compilePathGuard } from '../resources/locate.ts';
import { compileOwnErrors } from '../resources/own-errors.ts';
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
