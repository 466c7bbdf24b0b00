/** Calls that reach no endpoint: those for addresses of the service itself, and their refusals. */

import { partNames } from '../../document/document.ts';
import { isStated } from '../../parts/fact.ts';
import { callableOperations } from '../../parts/operations.ts';
import { isNever } from '../../parts/possible-errors.ts';
import { isOnLoopback } from '../callers/origin.ts';
import type { Identified, Identify } from '../callers/presented.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Refusal, RefusalTable } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { Call, Reply } from '../http/call.ts';
import { addHeaders } from '../http/send.ts';
import { bodyBytesMaxOf, protectingBounds } from '../limits/stated-bounds.ts';
import type { Engine } from '../operations/engine.ts';
import { compileRefusals } from '../operations/errors.ts';
import type { CompiledVersions } from '../operations/versioning.ts';
import type { AnswerCall, Steps } from '../serve.ts';
import type { Note } from '../steps.ts';

/** What is answered to calls that reach no endpoint; `answer` takes one that is meant as another. */
export function compileUnrouted(
  engine: Engine,
  identify: Identify,
  versions: CompiledVersions,
  note: Note | undefined,
  answer: AnswerCall,
): Pick<Steps, 'answerUnrouted' | 'refuseCall'> {
  const { compilation, chance } = engine;
  const table = compileUnroutedRefusals(engine);
  const wellKnown = compileWellKnown(engine, identify);
  const openRoutes = openRoutesOf(engine);
  const bodyBytesMax = bodyBytesMaxOf(compilation.spec.limits);
  const isMethodNever = isNever(compilation.spec, 'method.unsupported');

  function refuse(call: Call, refusal: Refusal, version?: string): Reply {
    const reply = refuseCall(table, call, refusal, `req_${chance.uuid()}`);
    addHeaders(reply.headers, versions.unrouted(version));
    note?.(call, undefined, reply, refusal);
    return reply;
  }

  function answerOwn(call: Call, own: Own): Reply {
    if ('refusal' in own) return refuse(call, own.refusal);
    note?.(call, undefined, own, undefined);
    return own;
  }

  /** The path has other methods (RFC 9110 section 15.5.6). */
  function answerMethod(call: Call, methods: readonly string[], version: string | undefined): PromiseOrValue<Reply> {
    const allow = [...new Set([...methods, 'OPTIONS'])].join(', ');
    const meant = compilation.standIn?.asMeant(call, methods, bodyBytesMax);
    if (meant) return after(meant, (other) => (other === 'too large' ? refuse(call, { when: 'limit.size' }) : answer(other)));
    if (call.method !== 'OPTIONS') return refuse(call, methodRefusal(allow), version);
    const reply: Reply = { status: 204, headers: { allow, ...versions.unrouted(version) }, body: undefined };
    note?.(call, undefined, reply, undefined);
    return reply;
  }

  /** Where a method is never unsupported, its path is unknown to it. */
  function methodRefusal(allow: string): Refusal {
    return isMethodNever ? { when: 'route.unknown' } : { when: 'method.unsupported', headers: { allow } };
  }

  return {
    refuseCall: refuse,
    answerUnrouted(call, { found, version }) {
      const own = wellKnown(call);
      if (own) return after(own, (made) => answerOwn(call, made));
      // A path that has other methods may be written with a slash more or less than the one that is meant.
      const meant = compilation.standIn?.asRouted(call);
      if (meant) return answer(meant);
      if (found.kind === 'method') return answerMethod(call, found.allow, version);
      return refuse(call, openRoutes ? { open: openRoutes } : unknownRoute(engine, call), version);
    },
  };
}

/** Whoever begins at the root of a host is told where the service is; not in production. */
function unknownRoute({ basePath, isProduction }: Engine, { path }: Call): Refusal {
  const isBeside = basePath !== '' && !isProduction && path !== basePath && !path.startsWith(`${basePath}/`);
  return {
    when: 'route.unknown',
    ...(isBeside && { message: `There is nothing under this path; the service is below ${basePath}.` }),
  };
}

/** The refusals of calls that reach no endpoint, in the stated shape of errors. */
export function compileUnroutedRefusals({ compilation }: Engine): RefusalTable {
  return compileRefusals(compilation.spec, undefined, compilation.facts, (expression) => compilation.expression(expression));
}

/** The answer to a call that reaches no endpoint. */
export function refuseCall(table: RefusalTable, call: Pick<Call, 'path'>, refusal: Refusal, requestId: string): Reply {
  return table.answer(refusal, { path: call.path, requestId, caller: undefined, tellsProse: true });
}

/** The open facts of a path that is not listed: where the list is open, or is said not to be the whole. */
function openRoutesOf({ compilation: { spec, facts } }: Engine): OpenFact[] | undefined {
  const { endpoints } = spec;
  if (endpoints.all.standing === 'open') return facts.ofPart('endpoints');
  if (!isStated(endpoints.all) || !endpoints.others) return undefined;
  return facts.others('endpoints');
}

/** What a call for one of the service's own addresses comes to; nothing where it is for none of them. */
type Own = Reply | { readonly refusal: Refusal };
type AnswerOwn = (call: Call) => PromiseOrValue<Own> | undefined;

/**
 * The service's own addresses: `GET /.well-known/ninefold`, at the host's root, gives the ledger, and `GET {base}/openapi.json`
 * the document as OpenAPI. A stated endpoint of the same path comes first. From this machine everybody may read them, but in
 * production, where a proxy of the same machine may stand in front; from elsewhere they are the operation `read ledger`, where a document names that.
 */
function compileWellKnown(
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
