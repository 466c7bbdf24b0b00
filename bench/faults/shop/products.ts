/** The range: products that clerks keep and everybody may look at. */
import { ulid } from '../identifiers.ts';
import { type Check, checkNew, checkPatch, decimal, type Fields, flag, list, oneOf, text, whole, wrong } from './checks.ts';
import { type Answer, type Exchange, Refusal, type Route } from './exchange.ts';
import { anyText, cursorNames, cursorPage, integer, readCursorPage, readQuery, wordOf } from './pages.ts';
import type { Measure, Product, Shop, Version } from './shop.ts';
import { newerKind, tellProduct } from './told.ts';

const kinds = ['book', 'toy', 'tool'];
const olderKinds = ['novel', 'toy', 'tool'];
const readOnly = ['id', 'created_at', 'updated_at'];

export const productRoutes: readonly Route[] = [
  { method: 'POST', path: '/products', operation: 'create product', users: ['clerk'], takesBody: 'json', run: create },
  {
    method: 'GET',
    path: '/products',
    operation: 'list product',
    users: ['customer', 'clerk'],
    query: readList,
    run: listProducts,
  },
  { method: 'GET', path: '/products/{id}', operation: 'read product', users: ['customer', 'clerk'], run: read },
  { method: 'PATCH', path: '/products/{id}', operation: 'update product', users: ['clerk'], takesBody: 'patch', run: update },
  { method: 'DELETE', path: '/products/{id}', operation: 'delete product', users: ['clerk'], run: remove },
];

function fieldsOf(version: Version, { faults }: Shop): Fields {
  const isOlder = version !== '2025-05-01';
  return {
    sku: {
      check: text({ pattern: faults.has('sku-pattern-unanchored') ? /[A-Z]{3}-[0-9]{4}/ : /^[A-Z]{3}-[0-9]{4}$/ }),
      isRequired: true,
    },
    name: { check: text({ min: faults.has('empty-name') ? 0 : 1, max: 60 }), isRequired: true },
    kind: { check: oneOf(...(isOlder ? olderKinds : kinds)), isRequired: true },
    price: { check: isOlder ? decimal(0.01, 1000) : whole(1, 100_000), isRequired: true },
    cost: { check: whole(0, 100_000) },
    measure: { check: measure },
    ...(!isOlder && {
      tags: { check: list(text({ min: 1, max: 20 }), faults.has('fifth-tag') ? 5 : 4), isKept: true },
    }),
    listed: { check: flag, isKept: true },
  };
}

const measure: Check = (value, path) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [wrong(path, value, 'an object')];
  const { width, height, ...rest }: Record<string, unknown> = { ...value };
  return [
    ...Object.keys(rest).map((name) => wrong(`${path}/${name}`, 'a field that is not known', 'no such field')),
    ...whole(1, 200)(width, `${path}/width`),
    ...whole(1, 200)(height, `${path}/height`),
  ];
};

/** Values of an older version, as the newest has them. */
function raised(sent: Record<string, unknown>, version: Version): Partial<Product> {
  if (version === '2025-05-01') return sent;
  const { kind, price } = sent;
  return {
    ...sent,
    ...(typeof kind === 'string' && { kind: newerKind(kind) }),
    ...(typeof price === 'number' && { price: Math.round(price * 100) }),
  };
}

function create({ shop, version, body }: Exchange): Answer {
  const sent = raised(checkNew(body, fieldsOf(version, shop), readOnly), version);
  const at = new Date(shop.clock.now()).toISOString();
  // checkNew has found every field that a new one needs.
  const product = { id: `prd_${ulid()}`, tags: [], listed: true, ...sent, created_at: at, updated_at: at } as unknown as Product;
  const known = foundBy(shop, product);
  if (known) {
    const status = shop.faults.has('found-told-as-new') ? 201 : 200;
    return { status, body: tellProduct(known, 'clerk', version, shop) };
  }
  shop.products.set(product.id, product);
  if (shop.faults.has('name-cut-at-fifty')) product.name = product.name.slice(0, 50);
  return {
    status: 201,
    headers: { Location: `/shop/products/${product.id}` },
    body: tellProduct(product, 'clerk', version, shop),
  };
}

function read({ shop, version, caller, path }: Exchange): Answer {
  return { status: 200, body: tellProduct(find(shop, path), caller.user, version, shop) };
}

function update({ shop, version, body, path }: Exchange): Answer {
  const product = find(shop, path);
  const patch: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
  if (isObject(patch.measure)) patch.measure = merged(product.measure, patch.measure);
  const checked = isObject(body) ? patch : body;
  const sent = raised(checkPatch(checked, fieldsOf(version, shop), readOnly), version);
  const next = apply(product, sent);
  if (!shop.faults.has('sku-taken-by-update')) refuseTaken(shop, next);
  if (JSON.stringify(next) === JSON.stringify(product))
    return { status: 200, body: tellProduct(product, 'clerk', version, shop) };
  if (!shop.faults.has('updated-at-stands-still')) next.updated_at = new Date(shop.clock.now()).toISOString();
  shop.products.set(product.id, shop.faults.has('update-not-stored') ? { ...next, name: product.name } : next);
  if (next.price !== product.price || shop.faults.has('priced-at-every-update')) {
    shop.emit({ kind: 'product.priced', payload: { product: next }, about: next.id, mayRead: () => true });
  }
  return { status: 200, body: tellProduct(next, 'clerk', version, shop) };
}

function remove({ shop, path }: Exchange): Answer {
  const product = find(shop, path);
  const isHeld = [...shop.orders.values()].some((order) => order.product === product.id);
  if (isHeld && !shop.faults.has('ordered-product-deleted')) throw new Refusal('in_use');
  shop.products.delete(product.id);
  if (shop.faults.has('delete-answers-200')) return { status: 200, body: { deleted: true } };
  return { status: 204 };
}

function readList(sent: URLSearchParams, version: Version, { faults }: Shop) {
  const isOlder = version !== '2025-05-01';
  return readQuery(
    sent,
    {
      kind: wordOf(...(isOlder ? olderKinds : kinds)),
      name: anyText,
      sort: wordOf('price', '-price'),
      // A mapped field is compared with `=` alone in older versions.
      ...(!isOlder && { max_price: integer() }),
      ...(faults.has('unknown-parameters-pass') && Object.fromEntries([...sent.keys()].map((name) => [name, anyText]))),
    },
    cursorNames,
  );
}

function listProducts({ shop, version, caller, query, request }: Exchange): Answer {
  const page = readCursorPage(new URL(request.url ?? '/', 'http://shop').searchParams, shop, version);
  const { kind, max_price: max, name, sort } = query;
  const rows = [...shop.products.values()].filter(
    (product) =>
      (kind === undefined || product.kind === newerKind(String(kind)) || shop.faults.has('kind-filter-ignored')) &&
      (max === undefined ||
        (shop.faults.has('max-price-excluded') ? product.price < Number(max) : product.price <= Number(max))) &&
      (name === undefined || product.name.includes(String(name))),
  );
  const key = ({ price }: Product): number => {
    if (sort === undefined) return 0;
    const value = shop.faults.has('price-sorted-as-text') ? asText(price) : price;
    return sort === 'price' ? value : -value;
  };
  const { data, next } = cursorPage(rows, key, page, shop);
  return { status: 200, body: { data: data.map((one) => tellProduct(one, caller.user, version, shop)), next_cursor: next } };
}

/** A number that sorts as its digits do. */
function asText(price: number): number {
  return Number(`0.${price}`);
}

function find({ products }: Shop, { id = '' }: Readonly<Record<string, string>>): Product {
  const product = products.get(id);
  if (!product) throw new Refusal('not_found');
  return product;
}

/** The product that has the number of a new one already: whoever sends one twice gets the same. */
function foundBy(shop: Shop, product: Product): Product | undefined {
  const { faults, products } = shop;
  if (faults.has('found-refused')) refuseTaken(shop, product);
  const known = [...products.values()].find(({ sku }) => sku === product.sku);
  if (!known || faults.has('found-made-again')) return undefined;
  if (!faults.has('found-overwritten')) return known;
  const next = { ...known, ...product, id: known.id };
  products.set(known.id, next);
  return next;
}

function refuseTaken({ products }: Shop, { id, sku }: Product): void {
  const isTaken = [...products.values()].some((other) => other.sku === sku && other.id !== id);
  if (isTaken) throw new Refusal('taken', [wrong('/sku', sku, 'a value that no other one holds')]);
}

/** A row with a patch over it; null takes a field away. */
export function apply<R extends object>(row: R, patch: object): R {
  const next: Record<string, unknown> = Object.fromEntries(Object.entries(row));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name];
    else next[name] = value;
  }
  // The patch was held to the same fields.
  return next as R;
}

function merged(measured: Measure | undefined, patch: object): object {
  return apply({ ...measured }, patch);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
