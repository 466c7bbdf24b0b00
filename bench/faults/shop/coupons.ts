/** Coupons: discounts under a code that the clerks choose. */
import { checkNew, date, email, type Fields, text, whole, wrong } from './checks.ts';
import { type Answer, type Exchange, Refusal, type Route } from './exchange.ts';
import { badPage, integer, one, readQuery, readSize } from './pages.ts';
import type { Coupon, Shop } from './shop.ts';
import { tellCoupon } from './told.ts';

export const couponRoutes: readonly Route[] = [
  { method: 'PUT', path: '/coupons/{code}', operation: 'upsert coupon', users: ['clerk'], takesBody: 'json', run: put },
  { method: 'GET', path: '/coupons/{code}', operation: 'read coupon', users: ['customer', 'clerk'], run: read },
  { method: 'GET', path: '/coupons', operation: 'list coupon', users: ['clerk'], query: readList, run: listCoupons },
  { method: 'DELETE', path: '/coupons/{code}', operation: 'delete coupon', users: ['clerk', 'customer'], run: remove },
];

function fieldsOf({ faults }: Shop): Fields {
  return {
    code: { check: text({ pattern: /^[A-Z0-9]{4,12}$/ }), isRequired: true },
    percent: { check: whole(1, faults.has('percent-to-hundred') ? 100 : 90), isRequired: true },
    ends_on: { check: faults.has('day-31-of-february') ? text({ pattern: /^\d{4}-[01]\d-[0-3]\d$/ }) : date },
    contact: { check: faults.has('contact-without-at') ? text() : email },
  };
}

function put({ shop, path, body }: Exchange): Answer {
  const code = path.code ?? '';
  const named = typeof body === 'object' && body !== null && !Array.isArray(body) ? { code, ...body } : body;
  const sent = checkNew(named, fieldsOf(shop), []);
  if (sent.code !== code) throw new Refusal('invalid', [wrong('/code', sent.code, code)]);
  if (shop.faults.has('coupons-not-set-up')) throw new Refusal('unavailable');
  const old = shop.coupons.get(code);
  // checkNew has found every field that a coupon needs.
  const next = { ...(old && shop.faults.has('put-merges') && old), ...sent } as unknown as Coupon;
  shop.coupons.set(code, next);
  const isNew = old === undefined;
  const headers = isNew ? { Location: `/shop/coupons/${code}` } : {};
  return { status: isNew || shop.faults.has('put-always-201') ? 201 : 200, headers, body: tellCoupon(next) };
}

function read({ shop, path }: Exchange): Answer {
  return { status: 200, body: tellCoupon(find(shop, path)) };
}

function readList(sent: URLSearchParams) {
  return readQuery(sent, {}, ['skip', 'take']);
}

function listCoupons({ shop, request }: Exchange): Answer {
  const sent = new URL(request.url ?? '/', 'http://shop').searchParams;
  const take = readSize(sent, 'take', 5, 10, !shop.faults.has('large-take-refused'));
  const skipped = one(sent, 'skip') ?? '0';
  const skip = integer(0)(skipped);
  if (typeof skip !== 'number') throw badPage('skip', skipped);
  const rows = [...shop.coupons.values()].sort((coupon, other) => (coupon.code < other.code ? -1 : 1));
  const page = rows.slice(skip, skip + take).map(tellCoupon);
  return { status: 200, body: { coupons: page, total: shop.faults.has('total-of-the-page') ? page.length : rows.length } };
}

function remove({ shop, caller, path }: Exchange): Answer {
  if (caller.user !== 'clerk' && !shop.faults.has('customer-deletes-coupon')) throw new Refusal('forbidden');
  shop.coupons.delete(find(shop, path).code);
  return { status: 204 };
}

function find({ coupons }: Shop, { code = '' }: Readonly<Record<string, string>>): Coupon {
  const coupon = coupons.get(code);
  if (!coupon) throw new Refusal('not_found');
  return coupon;
}
