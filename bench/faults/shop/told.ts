/** How rows look to a caller, in the version that it speaks. */
import type { Coupon, Note, Order, Product, Shop, User, Version, Webhook } from './shop.ts';

export function tellProduct(product: Product, user: User, version: Version, { faults }: Shop): object {
  const { id, sku, name, kind, price, cost, measure, tags, listed, created_at, updated_at } = product;
  const shown = user === 'clerk' || faults.has('cost-shown-to-all');
  const told = {
    id,
    sku,
    name,
    kind,
    price,
    measure,
    tags,
    listed,
    ...(shown && { cost }),
    created_at,
    updated_at,
    ...(faults.has('margin-in-answers') && { margin: cost === undefined ? null : price - cost }),
  };
  if (version === '2025-05-01') return told;
  const { tags: _tags, ...older } = told;
  return {
    ...older,
    ...(faults.has('tags-in-old-version') && { tags }),
    kind: faults.has('kind-not-translated') ? kind : olderKind(kind),
    price: faults.has('price-in-cents-for-all') ? price : price / 100,
  };
}

export function olderKind(kind: string): string {
  return kind === 'book' ? 'novel' : kind;
}

export function newerKind(kind: string): string {
  return kind === 'novel' ? 'book' : kind;
}

export function tellOrder(order: Order, version: Version, { faults }: Shop): object {
  const { phrase, message, ...rest } = order;
  return {
    ...rest,
    ...(faults.has('phrase-echoed') && { phrase }),
    ...(faults.has('total-as-text') && { total: String(rest.total) }),
    ...(version === '2025-05-01' || faults.has('remark-not-renamed') ? { message } : { remark: message }),
  };
}

export function tellNote(note: Note): object {
  return note;
}

export function tellCoupon(coupon: Coupon): object {
  return coupon;
}

/** The secret is told once, to whoever makes the subscription. */
export function tellWebhook({ id, owner, url, events, secret, enabled }: Webhook, isNew: boolean, { faults }: Shop): object {
  return { id, owner, url, events, ...((isNew || faults.has('secret-told-again')) && { secret }), enabled };
}
