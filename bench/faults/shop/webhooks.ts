/** Webhooks: who is told of what happens. */
import { randomBytes } from 'node:crypto';
import { ulid } from '../identifiers.ts';
import { type Check, checkNew, checkPatch, type Fields, flag, list, uri, wrong } from './checks.ts';
import { type Answer, type Exchange, Refusal, type Route } from './exchange.ts';
import { cursorNames, cursorPage, readCursorPage, readQuery } from './pages.ts';
import { apply } from './products.ts';
import { type Caller, kinds, type Shop, type User, type Webhook } from './shop.ts';
import { tellWebhook } from './told.ts';

const everybody: readonly User[] = ['customer', 'clerk'];
const readOnly = ['id', 'owner', 'secret'];

export const webhookRoutes: readonly Route[] = [
  { method: 'POST', path: '/webhooks', operation: 'create webhook', users: everybody, takesBody: 'json', run: create },
  { method: 'GET', path: '/webhooks', operation: 'list webhook', users: everybody, query: readList, run: listWebhooks },
  { method: 'GET', path: '/webhooks/{id}', operation: 'read webhook', users: everybody, run: read },
  { method: 'PATCH', path: '/webhooks/{id}', operation: 'update webhook', users: everybody, takesBody: 'patch', run: update },
  { method: 'DELETE', path: '/webhooks/{id}', operation: 'delete webhook', users: everybody, run: remove },
];

const words = new Set<unknown>(['*', ...kinds, ...kinds.map((kind) => kind.replace(/\..*$/, '.*'))]);
const kindOrGroup: Check = (value, path) => (words.has(value) ? [] : [wrong(path, value, 'a kind of event')]);

const fields: Fields = {
  url: { check: uri, isRequired: true },
  events: { check: list(kindOrGroup), isKept: true },
  enabled: { check: flag, isKept: true },
};

function create({ shop, caller, version, body }: Exchange): Answer {
  const sent = checkNew(body, fields, readOnly);
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  // checkNew has found every field that a new one needs.
  const webhook = { id: `whk_${ulid()}`, owner: caller.id, events: ['*'], enabled: true, ...sent, secret } as unknown as Webhook;
  shop.webhooks.set(webhook.id, webhook);
  shop.subscribe(webhook, caller, version);
  return { status: 201, headers: { Location: `/shop/webhooks/${webhook.id}` }, body: tellWebhook(webhook, true, shop) };
}

function readList(sent: URLSearchParams) {
  return readQuery(sent, {}, cursorNames);
}

function listWebhooks({ shop, caller, request }: Exchange): Answer {
  const page = readCursorPage(new URL(request.url ?? '/', 'http://shop').searchParams, shop, caller.id);
  const own = [...shop.webhooks.values()].filter(({ owner }) => owner === caller.id);
  const { data, next } = cursorPage(own, () => 0, page, shop);
  return { status: 200, body: { data: data.map((one) => tellWebhook(one, false, shop)), next_cursor: next } };
}

function read({ shop, caller, path }: Exchange): Answer {
  return { status: 200, body: tellWebhook(find(shop, path, caller), false, shop) };
}

function update({ shop, caller, path, body }: Exchange): Answer {
  const webhook = find(shop, path, caller, 'foreign-webhook-changed');
  const next = apply(webhook, checkPatch(body, fields, readOnly));
  shop.webhooks.set(next.id, next);
  return { status: 200, body: tellWebhook(next, false, shop) };
}

function remove({ shop, caller, path }: Exchange): Answer {
  shop.webhooks.delete(find(shop, path, caller).id);
  return { status: 204 };
}

function find(
  { webhooks, faults }: Shop,
  { id = '' }: Readonly<Record<string, string>>,
  caller: Caller,
  open?: 'foreign-webhook-changed',
): Webhook {
  const webhook = webhooks.get(id);
  if (webhook && (webhook.owner === caller.id || (open && faults.has(open)))) return webhook;
  throw new Refusal('not_found');
}
