/** Serves notes over the store of the environment, and tells its parent the port and a key. */
import { type JsonMap, openStore, serve } from '../../src/index.ts';
import { notesDocument } from '../scale/document.ts';

const atOnce = process.env.AT_ONCE;
const stated = atOnce === undefined ? {} : { at_once: [{ per: 'everyone', limit: Number(atOnce) }] };
const document = { ...notesDocument, limits: { ...notesDocument.limits, ...stated } };
// A document as JSON is what `serve` takes.
const service = await serve(document as unknown as JsonMap, { store: openStore(String(process.env.NINEFOLD_STORE)) });
const { secret } = (await service.administer('keys add', { user: 'writer', id: 'w1' })) as { secret: string };
const { url } = await service.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: Number(new URL(url).port), secret });
process.on('disconnect', () => process.exit());
