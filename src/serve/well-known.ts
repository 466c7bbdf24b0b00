import { partNames } from '../document/document.ts';
import type { Engine } from './engine.ts';
import type { Call, Reply } from './exchange.ts';

/** The service's own address at the host's root: `GET /.well-known/ninefold` gives the ledger. A stated endpoint of the same path comes first. */
export function compileWellKnown({ compilation }: Engine): (call: Call) => Reply | undefined {
  let body: string | undefined;
  return (call) => {
    if (call.path !== '/.well-known/ninefold') return undefined;
    if (call.method !== 'GET' && call.method !== 'HEAD') {
      return { status: call.method === 'OPTIONS' ? 204 : 405, headers: { allow: 'GET, HEAD, OPTIONS' }, body: undefined };
    }
    body ??= JSON.stringify(describe(compilation), null, 2);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
}

function describe({ spec, ledger, facts }: Engine['compilation']) {
  return {
    title: spec.title,
    counts: { total: ledger.total, parts: ledger.parts },
    open: partNames.flatMap((part) => facts.ofPart(part)),
  };
}
