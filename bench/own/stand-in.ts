/** A stand-in of somebody else's service, made of its description, held to what was taken over of it. */
import { check, readDocument, serve } from '../../src/index.ts';
import { verify } from '../../src/verify/verify.ts';
import { knowReservedNames } from '../../test/verify/no-such-names.ts';
import type { OwnHeld } from './hold.ts';

/** Long enough for the largest, on a machine that has much else to do. */
const timeMs = 300_000;

/** Serves a description as a strict stand-in, which breaks nothing that its document says, and holds it. */
export async function holdStandIn(path: string, seed: number): Promise<OwnHeld> {
  knowReservedNames();
  const document = await readDocument(path);
  const failures: string[] = [];
  const service = await serve(document, {
    sample: true,
    strict: true,
    development: true,
    onFailure: (failure) => failures.push(String(failure)),
  });
  const server = await service.listen({ port: 0, host: '127.0.0.1' });
  try {
    const callers = service.credentials.map(({ user, id, scheme, value }) => ({ user, id, scheme, credential: value }));
    const report = await verify(check(document).spec, { url: server.url, callers, seed, timeMs });
    return { report, failures };
  } finally {
    await server.close();
    await service.close();
  }
}
