import { partNames } from '../document/document.ts';
import { callableOperations } from '../parts/operations.ts';
import { isOnLoopback } from './authentication/loopback.ts';
import type { Identified, Identify } from './authentication.ts';
import type { Engine } from './engine.ts';
import type { Call, Refusal, Reply } from './exchange.ts';

/** What a call for one of the service's own addresses comes to; nothing where it is for none of them. */
export type Own = Reply | { readonly refusal: Refusal };
export type AnswerOwn = (call: Call) => Own | Promise<Own> | undefined;

/**
 * The service's own address at the host's root: `GET /.well-known/ninefold` gives the ledger. A stated endpoint of the same path
 * comes first. From this machine everybody may read it; from elsewhere it is the operation `read ledger`, where a document names that.
 */
export function compileWellKnown({ compilation, clock, limits }: Engine, identify: Identify): AnswerOwn {
  const { spec, access } = compilation;
  const operation = callableOperations(spec).find(({ name }) => name === 'read ledger');
  const plan = operation && { operation };
  let body: string | undefined;

  function tell(): Reply {
    body ??= JSON.stringify(describe(compilation), null, 2);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }

  function tellTo(who: Identified): Own {
    if ('refusal' in who) return who;
    const { caller } = who;
    // It is asked only where there is such an operation.
    const own = operation!;
    const open = access.doubts(own);
    if (open.length > 0) return { refusal: { open } };
    const asked = access.of(own, caller?.user);
    const forbidden = asked.forbids(caller);
    if (forbidden) return { refusal: forbidden };
    const pass = asked.enter({ caller, now: clock.now(), operation: own.name, version: '' }, undefined);
    const late = 'refusal' in pass ? pass.refusal : pass.settle();
    return late ? { refusal: late } : tell();
  }

  return (call) => {
    if (call.path !== '/.well-known/ninefold') return undefined;
    const isHere = isOnLoopback(call);
    if (!isHere && !operation) return undefined;
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      return { status: call.method === 'OPTIONS' ? 204 : 405, headers: { allow: 'GET, HEAD, OPTIONS' }, body: undefined };
    }
    if (isHere || !plan) return tell();
    // Failed logins count here as everywhere.
    const hurried = limits.first?.(call, plan, clock.now());
    if (hurried) return { refusal: hurried };
    const who = identify(call, plan);
    return who instanceof Promise ? who.then(tellTo) : tellTo(who);
  };
}

function describe({ spec, ledger, facts }: Engine['compilation']) {
  const { total, parts } = ledger();
  return {
    title: spec.title,
    counts: { total, parts },
    open: partNames.flatMap((part) => facts.ofPart(part)),
  };
}
