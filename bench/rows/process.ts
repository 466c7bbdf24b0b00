/** Serves books over the database of the environment, and tells its parent the port. */
import { type JsonMap, openStore, serve } from '../../src/index.ts';

const text = (maxLength: number) => ({ type: 'string', maxLength });
const book = {
  id: 'string',
  title: text(200),
  author: text(120),
  isbn: text(13),
  genre: { enum: ['novel', 'poetry', 'history', 'science', 'travel'] },
  year: 'integer',
  pages: 'integer',
  price: 'integer',
  note: text(500),
};
const document: JsonMap = {
  title: 'Books',
  resources: { book: { identifier: { field: 'id', generate: '{ulid}' }, fields: book, required: Object.keys(book) } },
  endpoints: {
    'POST /books': { does: 'create book' },
    'GET /books/{id}': { does: 'read book' },
    'GET /books': { does: 'list book', parameters: { genre: { in: 'query' }, price: { in: 'query' } }, order: 'price' },
  },
  authentication: 'none',
  limits: {
    pagination: { style: 'cursor', cursor: 'cursor', size: 'limit', default: 20, max: 100, items: 'data', next: 'next_cursor' },
  },
};
const service = await serve(document, { store: openStore(String(process.env.NINEFOLD_STORE)) });
const { url } = await service.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: Number(new URL(url).port) });
// The most memory that it has taken, in MiB (getrusage counts KiB).
process.on('message', () => process.send?.({ mib: process.resourceUsage().maxRSS / 1024 }));
process.on('disconnect', () => process.exit());
