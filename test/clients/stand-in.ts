import { join } from 'node:path';
import { after } from 'node:test';
import { type ExchangeEntry, readDocument, type ServeOptions, serve } from '../../src/index.ts';

/**
 * The folder with the vendors' whole documents, unedited. Without it the excerpts are taken that come with the project: the same
 * documents with fewer paths, cut by scripts/excerpt.ts.
 */
const corpus = process.env.NINEFOLD_CORPUS;
const excerpts = join(import.meta.dirname, '../fixtures/corpus');

/** A vendor's document: its path in the folder of whole ones, and that of its excerpt. */
export interface VendorDocument {
  readonly whole: string;
  readonly excerpt: string;
}

/** A stand-in that a vendor's own client is pointed at. */
export interface StandIn {
  readonly url: string;
  readonly port: number;
  /** What it was asked, in order. */
  readonly asked: readonly ExchangeEntry[];
  /** Its failures, which no test expects. */
  readonly failures: readonly unknown[];
}

/** Serves a vendor's own document as a stand-in that takes any credential, until the tests are over. */
export async function standIn(document: VendorDocument, options: ServeOptions = {}): Promise<StandIn> {
  const path = corpus === undefined ? join(excerpts, document.excerpt) : join(corpus, document.whole);
  const asked: ExchangeEntry[] = [];
  const failures: unknown[] = [];
  const service = await serve(await readDocument(path), {
    sample: true,
    relax: 'auth',
    ...options,
    onExchange: (entry) => asked.push(entry),
    onFailure: (failure) => failures.push(failure),
  });
  const server = await service.listen({ port: 0 });
  after(async () => {
    await server.close();
    await service.close();
  });
  return { url: server.url.replace(/\/$/, ''), port: server.port, asked, failures };
}
