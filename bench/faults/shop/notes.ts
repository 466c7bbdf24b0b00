/** Notes: what customers and clerks write about an order. */
import { ulid } from '../identifiers.ts';
import { checkNew, text, wrong } from './checks.ts';
import { type Answer, type Exchange, Refusal, type Route } from './exchange.ts';
import { find as findOrder, isVisible } from './orders.ts';
import { badPage, one, readQuery, readSize } from './pages.ts';
import type { Caller, Note, Order, Shop, User } from './shop.ts';
import { tellNote } from './told.ts';

const everybody: readonly User[] = ['customer', 'clerk'];
const pageNames = ['after', 'limit'];

export const noteRoutes: readonly Route[] = [
  { method: 'POST', path: '/orders/{order}/notes', operation: 'create note', users: everybody, takesBody: 'json', run: create },
  { method: 'GET', path: '/orders/{order}/notes', operation: 'list note', users: everybody, query: readList, run: listNotes },
  { method: 'GET', path: '/notes/{id}', operation: 'read note', users: everybody, run: read },
  { method: 'DELETE', path: '/notes/{id}', operation: 'delete note', users: everybody, run: remove },
];

function create({ shop, caller, path, body }: Exchange): Answer {
  const order = findOrder(shop, { id: path.order ?? '' }, caller);
  const max = shop.faults.has('long-notes') ? 2000 : 200;
  const sent = checkNew(body, { order: { check: text() }, text: { check: text({ min: 1, max }), isRequired: true } }, [
    'id',
    'author',
    'at',
  ]);
  if (sent.order !== undefined && sent.order !== order.id) throw new Refusal('invalid', [wrong('/order', sent.order, order.id)]);
  if (shop.faults.has('notes-switched-off')) throw new Refusal('unavailable');
  const note = addNote(shop, order, caller.id, String(sent.text));
  return { status: 201, headers: { Location: `/shop/notes/${note.id}` }, body: tellNote(note) };
}

/** Adds a note to an order, and tells of it. */
export function addNote(shop: Shop, order: Order, author: string, text: string): Note {
  const note: Note = { id: `nte_${ulid()}`, order: order.id, author, text, at: new Date(shop.clock.now()).toISOString() };
  shop.notes.set(note.id, note);
  shop.emit({ kind: 'note.added', payload: { note }, about: note.id, mayRead: (reader) => isVisible(order, reader) });
  return note;
}

function readList(sent: URLSearchParams) {
  return readQuery(sent, {}, pageNames);
}

/** A page of those after the note that the query names. */
function listNotes({ shop, caller, path, request }: Exchange): Answer {
  const sent = new URL(request.url ?? '/', 'http://shop').searchParams;
  const size = readSize(sent, 'limit', 5, 20);
  const after = one(sent, 'after');
  const order = findOrder(shop, { id: path.order ?? '' }, caller);
  const rows = [...shop.notes.values()].filter((note) => note.order === order.id);
  if (after !== undefined && !rows.some(({ id }) => id === after)) throw badPage('after', after);
  const repeats = shop.faults.has('page-repeats-last-note');
  const rest = after === undefined ? rows : rows.filter(({ id }) => (repeats ? id >= after : id > after));
  return { status: 200, body: { notes: rest.slice(0, size).map(tellNote), more: rest.length > size } };
}

function read({ shop, caller, path }: Exchange): Answer {
  return { status: 200, body: tellNote(find(shop, path, caller)) };
}

function remove({ shop, caller, path }: Exchange): Answer {
  const note = find(shop, path, caller);
  if (note.author !== caller.id && !shop.faults.has('foreign-note-deleted')) throw new Refusal('forbidden');
  shop.notes.delete(note.id);
  return { status: 204 };
}

function find({ notes, orders, faults }: Shop, { id = '' }: Readonly<Record<string, string>>, caller: Caller): Note {
  const note = notes.get(id);
  const order = note && orders.get(note.order);
  const isKnown = order ? isVisible(order, caller) : caller.user === 'clerk';
  if (note && (isKnown || faults.has('foreign-note-read'))) return note;
  throw new Refusal('not_found');
}
