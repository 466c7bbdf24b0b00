/** Serves the document over the database of the environment, and tells its parent the port; with `first`, it makes the key as well. */
import { type JsonMap, openStore, serve } from '../../src/index.ts';
import { notesDocument } from './document.ts';

const store = openStore(String(process.env.NINEFOLD_STORE));
// A document as JSON is what `serve` takes.
const service = await serve(notesDocument as unknown as JsonMap, { store });
const made = process.argv.includes('first') ? await service.administer('keys add', { user: 'writer', id: 'w1' }) : {};
const { url } = await service.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: Number(new URL(url).port), made });
process.on('disconnect', () => process.exit());
