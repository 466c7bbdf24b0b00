import { partNames } from '../../document/document.ts';
import { callableOperations } from '../../parts/operations.ts';
import type { Identify } from '../callers/authentication.ts';
import { isOnLoopback } from '../callers/loopback.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Refusal } from '../exchange/exchange.ts';
import type { Identified } from '../exchange/identified.ts';
import type { Call, Reply } from '../http/call.ts';
import { protectingBounds } from '../limits/stated-bounds.ts';
import type { Engine } from '../operations/engine.ts';

/** What a call for one of the service's own addresses comes to; nothing where it is for none of them. */
export type Own = Reply | { readonly refusal: Refusal };
export type AnswerOwn = (call: Call) => PromiseOrValue<Own> | undefined;

/**
 * The service's own addresses: `GET /.well-known/ninefold`, at the host's root, gives the ledger, and `GET {base}/openapi.json`
 * the document as OpenAPI. A stated endpoint of the same path comes first. From this machine everybody may read them, but in
 * production, where a proxy of the same machine may stand in front; from elsewhere they are the operation `read ledger`, where a document names that.
 */
export function compileWellKnown(
  { compilation, clock, limits, openapi, basePath, onFailure, isProduction }: Engine,
  identify: Identify,
): AnswerOwn {
  const { spec, access } = compilation;
  const operation = callableOperations(spec).find(({ name }) => name === 'read ledger');
  const plan = operation && { operation };
  const pages = new Map<string, () => PromiseOrValue<string>>([
    ['/.well-known/ninefold', once(() => JSON.stringify(describe(compilation), null, 2))],
  ]);
  if (openapi)
    pages.set(
      `${basePath}/openapi.json`,
      once(() => openapi(spec)),
    );

  async function tell(write: () => PromiseOrValue<string>): Promise<Own> {
    try {
      return { status: 200, headers: { 'content-type': 'application/json' }, body: await write() };
    } catch (failure) {
      onFailure(failure, 'page');
      return { refusal: { when: 'internal' } };
    }
  }

  function tellTo(who: Identified, write: () => PromiseOrValue<string>): PromiseOrValue<Own> {
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
    return late ? { refusal: late } : tell(write);
  }

  return (call) => {
    const write = pages.get(call.path);
    if (!write) return undefined;
    const isHere = !isProduction && isOnLoopback(call);
    if (!isHere && !operation) return undefined;
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      return { status: call.method === 'OPTIONS' ? 204 : 405, headers: { allow: 'GET, HEAD, OPTIONS' }, body: undefined };
    }
    if (isHere || !plan) return tell(write);
    // Failed logins count here as everywhere.
    const hurried = limits.first?.({ call, counted: undefined, plan, nowMs: clock.now() });
    return after(hurried, (refusal): PromiseOrValue<Own> => {
      if (refusal) return { refusal };
      return after(identify(call, plan), (identified) => tellTo(identified, write));
    });
  };
}

/** What is made when it is first asked for, and kept. What could not be made is tried again. */
function once<T>(make: () => PromiseOrValue<T>): () => PromiseOrValue<T> {
  let made: { readonly value: PromiseOrValue<T> } | undefined;
  return () => {
    if (made) return made.value;
    const value = make();
    made = { value };
    if (value instanceof Promise) {
      value.catch(() => {
        made = undefined;
      });
    }
    return value;
  };
}

function describe({ spec, ledger, facts }: Engine['compilation']) {
  const { total, parts } = ledger();
  return {
    title: spec.title,
    counts: { total, parts },
    bounds: protectingBounds(spec.limits),
    open: partNames.flatMap((part) => facts.ofPart(part)),
  };
}
