import { readDocument, type ServeOptions, serve } from '../../src/index.ts';
import type { Place, Vendor } from './kit.ts';

/** Where flows go, until it is stopped. */
export interface Server {
  readonly place: Place;
  readonly stop: () => Promise<void>;
}

/** One of the project's own documents, served on a free port of this machine to the callers that the vendor's flows know. */
export async function startExample(document: string, { known, header, word }: Vendor<unknown>): Promise<Server> {
  const rows = known?.rows as ServeOptions['rows'];
  const service = await serve(await readDocument(document), {
    allowPrivateWebhooks: true,
    onFailure: (failure) => console.error(failure),
    ...(rows !== undefined && { rows }),
  });
  const printed = [];
  for (const caller of known?.callers ?? []) {
    const { secret } = (await service.administer('keys add', { ...caller })) as { secret: string };
    printed.push({ name: header.toLowerCase(), word: word ?? '', value: secret });
  }
  const server = await service.listen({ port: 0 });
  const url = server.url.replace(/\/$/, '');
  return {
    place: { url, base: url, port: server.port, printed },
    async stop() {
      await server.close();
      await service.close();
    },
  };
}
