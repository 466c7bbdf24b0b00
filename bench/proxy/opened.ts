/** Services behind a proxy: our own of an example, and real ones of others. */
import { check, readDocument } from '../../src/index.ts';
import type { GivenCaller } from '../../src/verify/exchange/callers.ts';
import type { VerifyOptions } from '../../src/verify/options.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import type { RealServer, RunningServer } from '../../test/servers/server.ts';
import { openProxy, openStand, type StandOptions } from '../../test/verify/stand.ts';

/** A service that can be held to its document over the proxy before it. */
export interface Opened {
  /** Who can be spoken for. */
  readonly callers: readonly GivenCaller[];
  verify(options: Partial<VerifyOptions>): Promise<VerifyReport>;
  close(): Promise<void>;
}

export type Changes = Pick<StandOptions, 'bend' | 'spoil' | 'tell'>;

/** Our own service over an example, new for each alteration. */
export function openOwn(of: { readonly document: string; readonly handlers: string }, changes: Changes): Promise<Opened> {
  return openStand(of.document, { handlers: of.handlers, inPairs: true, serve: { allowPrivateWebhooks: true }, ...changes });
}

/** A real server of others that runs already: what is made there is removed again. */
export async function openReal(
  { document, skips = [] }: RealServer,
  { port, callers }: RunningServer,
  changes: Changes,
): Promise<Opened> {
  const proxy = await openProxy(port, changes);
  const { spec } = check(await readDocument(document));
  return {
    callers,
    verify: (options) => verify(spec, { url: `http://127.0.0.1:${proxy.port}`, callers, skips, ...options }),
    close: () => proxy.close(),
  };
}
