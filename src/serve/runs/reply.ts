import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import { compileStatedBody } from '../acts/body.ts';
import { compileOwnErrors } from '../acts/own-errors.ts';
import { compileAnswers } from '../answers.ts';
import type { Engine } from '../engine.ts';
import { type Run, refused } from '../exchange.ts';
import { readFor, workFor } from '../scope.ts';

/** Compiles `reply`: the stated answer itself, its example or what its `data` makes. */
export function compileReplyRun(operation: Operation, endpoint: Endpoint, engine: Engine): Run {
  const answers = compileAnswers(endpoint, engine.compilation);
  const ownErrors = compileOwnErrors(operation, engine.compilation);
  const badBody = compileStatedBody(endpoint, engine.compilation);
  const access = engine.compilation.access.of(operation, engine.compilation.user);
  return (exchange) =>
    readFor(engine, exchange, (rows, draw) => {
      const work = workFor(rows, engine.models, exchange, draw);
      const { scope } = work;
      const pass = access.enter(scope, undefined);
      const bad = 'refusal' in pass ? pass.refusal : (badBody(work, exchange) ?? pass.settle() ?? ownErrors?.(scope));
      if (bad) return refused(exchange, bad);
      const made = answers?.(exchange, { status: 200, scope, work });
      if (!made || 'refusal' in made) return refused(exchange, made?.refusal ?? { when: 'internal' });
      return endpoint.cache === undefined
        ? made.reply
        : { ...made.reply, headers: { 'cache-control': endpoint.cache, ...made.reply.headers } };
    });
}
