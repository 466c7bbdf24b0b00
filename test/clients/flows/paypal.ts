import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, type Place, refused, type Vendor } from '../kit.ts';

/** The client has no types of its own; these are what the flows need of it. */
interface Request {
  headers: Record<string, string>;
  body: unknown;
  prefer?: (value: string) => void;
}
interface Order {
  readonly id?: string;
  readonly status?: string;
  readonly intent?: string;
  readonly links?: readonly { href: string; rel: string }[];
  readonly payer?: { email_address?: string };
  readonly purchase_units?: readonly {
    amount?: { currency_code: string; value: string };
    description?: string;
    payments?: { captures?: readonly { id?: string }[]; authorizations?: readonly { id?: string }[] };
  }[];
}
interface Answer {
  readonly statusCode: number;
  readonly result: Order;
}
interface Sdk {
  readonly core: {
    readonly PayPalEnvironment: new (id: string, secret: string, url: string, webUrl: string) => object;
    readonly PayPalHttpClient: new (environment: object) => { execute: (request: Request) => Promise<Answer> };
  };
  readonly orders: Record<
    'OrdersCreateRequest' | 'OrdersGetRequest' | 'OrdersPatchRequest' | 'OrdersCaptureRequest' | 'OrdersAuthorizeRequest',
    new (
      id?: string,
    ) => Request
  >;
}

const sdk = createRequire(import.meta.url)('@paypal/checkout-server-sdk') as Sdk;
const { OrdersCreateRequest, OrdersGetRequest, OrdersPatchRequest, OrdersCaptureRequest, OrdersAuthorizeRequest } = sdk.orders;

type PayPal = (request: Request, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** No stored description has the door where tokens are given, so each request brings its own, which the client lets it. */
const connect = (place: Place, token: string): PayPal => {
  const client = new sdk.core.PayPalHttpClient(new sdk.core.PayPalEnvironment('id', 'secret', place.url, place.url));
  return async (request, body, headers = {}) => {
    if (body !== undefined) request.body = body;
    Object.assign(request.headers, { Authorization: `Bearer ${token}` }, headers);
    return client.execute(request);
  };
};

const whole = { Prefer: 'return=representation' };
const dollars = (value: string) => ({ currency_code: 'USD', value });
const order = (intent: 'CAPTURE' | 'AUTHORIZE', value: string, more: object = {}) => ({
  intent,
  purchase_units: [{ amount: dollars(value), ...more }],
});
const card = { card: { name: 'John Doe', number: '4111111111111111', expiry: '2032-02', security_code: '123' } };

const make = async (paypal: PayPal, intent: 'CAPTURE' | 'AUTHORIZE', value: string): Promise<string> =>
  given((await paypal(new OrdersCreateRequest(), order(intent, value), whole)).result.id, 'id');

const read = async (paypal: PayPal, id: string): Promise<Order> => (await paypal(new OrdersGetRequest(id))).result;

/** Guide: developer.paypal.com, "Orders API v2", "Idempotency", and the samples that come with the client. */
export const vendor: Vendor<PayPal> = {
  document: 'paypal/checkout_orders_v2.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'A21AAmadeup',
  client: connect,
  flows: {
    'an order is made and read': (paypal, s) => ({
      create: async () => {
        const { statusCode, result } = await paypal(new OrdersCreateRequest(), order('CAPTURE', '220.00'), whole);
        assert.equal(statusCode, 201);
        assert.deepEqual([result.status, result.intent], ['CREATED', 'CAPTURE']);
        s.id = given(result.id, 'id');
      },
      read: async () => {
        const found = await read(paypal, s.id);
        assert.deepEqual([found.id, found.intent, found.purchase_units?.[0]?.amount], [s.id, 'CAPTURE', dollars('220.00')]);
      },
    }),
    'an order with a buyer and a description': (paypal, s) => ({
      create: async () => {
        const payer = { email_address: 'buyer@example.com', name: { given_name: 'Jane', surname: 'Doe' } };
        const body = { ...order('CAPTURE', '30.00', { description: 'Camera Shop', custom_id: 'CUST-1' }), payer };
        s.id = given((await paypal(new OrdersCreateRequest(), body, whole)).result.id, 'id');
      },
      'read the buyer': async () => assert.equal((await read(paypal, s.id)).payer?.email_address, 'buyer@example.com'),
      'read the description': async () =>
        assert.equal((await read(paypal, s.id)).purchase_units?.[0]?.description, 'Camera Shop'),
    }),
    'a short answer is asked for': (paypal) => ({
      create: async () => {
        const { result } = await paypal(new OrdersCreateRequest(), order('CAPTURE', '10.00'), { Prefer: 'return=minimal' });
        assert.equal(typeof result.id, 'string');
        assert.equal(result.status, 'CREATED');
        const links = given(result.links, 'links');
        assert.ok(
          links.some(({ rel }) => rel === 'self'),
          'no link to itself',
        );
      },
    }),
    'an order is changed': (paypal, s) => ({
      create: async () => {
        s.id = await make(paypal, 'CAPTURE', '100.00');
      },
      'change the intent': async () => {
        const { statusCode } = await paypal(new OrdersPatchRequest(s.id), [
          { op: 'replace', path: '/intent', value: 'AUTHORIZE' },
        ]);
        assert.equal(statusCode, 204);
      },
      'read the intent': async () => assert.equal((await read(paypal, s.id)).intent, 'AUTHORIZE'),
      'change the amount': async () => {
        const path = "/purchase_units/@reference_id=='default'/amount";
        await paypal(new OrdersPatchRequest(s.id), [{ op: 'replace', path, value: dollars('200.00') }]);
      },
      'read the amount': async () => assert.deepEqual((await read(paypal, s.id)).purchase_units?.[0]?.amount, dollars('200.00')),
    }),
    'an order is captured': (paypal, s) => ({
      create: async () => {
        s.id = await make(paypal, 'CAPTURE', '55.00');
      },
      capture: async () => {
        const { statusCode, result } = await paypal(new OrdersCaptureRequest(s.id), { payment_source: card }, whole);
        assert.equal(statusCode, 201);
        assert.deepEqual([result.id, result.status], [s.id, 'COMPLETED']);
        assert.equal(typeof result.purchase_units?.[0]?.payments?.captures?.[0]?.id, 'string');
      },
      'read that it is complete': async () => assert.equal((await read(paypal, s.id)).status, 'COMPLETED'),
    }),
    'an order is authorized': (paypal, s) => ({
      create: async () => {
        s.id = await make(paypal, 'AUTHORIZE', '66.00');
      },
      authorize: async () => {
        const { statusCode, result } = await paypal(new OrdersAuthorizeRequest(s.id), { payment_source: card }, whole);
        assert.equal(statusCode, 201);
        assert.equal(result.id, s.id);
        assert.equal(typeof result.purchase_units?.[0]?.payments?.authorizations?.[0]?.id, 'string');
      },
    }),
    'the same request twice makes one order': (paypal, s) => {
      const key = { ...whole, 'PayPal-Request-Id': '7b92603e-77ed-4896-8e78-5dea2050476a' };
      return {
        create: async () => {
          s.id = given((await paypal(new OrdersCreateRequest(), order('CAPTURE', '11.00'), key)).result.id, 'id');
        },
        'once more': async () => {
          const { statusCode, result } = await paypal(new OrdersCreateRequest(), order('CAPTURE', '11.00'), key);
          assert.ok(statusCode === 200 || statusCode === 201);
          assert.equal(result.id, s.id);
        },
      };
    },
    'two orders are apart': (paypal, s) => ({
      create: async () => {
        s.one = await make(paypal, 'CAPTURE', '1.00');
        s.two = await make(paypal, 'CAPTURE', '2.00');
      },
      'capture one': async () => {
        await paypal(new OrdersCaptureRequest(s.one), { payment_source: card }, whole);
      },
      'the other is as it was': async () => {
        const found = await read(paypal, s.two);
        assert.deepEqual([found.status, found.purchase_units?.[0]?.amount], ['CREATED', dollars('2.00')]);
      },
    }),
    'a credential that is refused': (paypal, _s, another) => ({
      'the right one is taken': async () => {
        await make(paypal, 'CAPTURE', '5.00');
      },
      /** The client asks for another token after a 401, where no description has a door for tokens. */
      'another is refused': async () => refused(make(another('not-of-this-service'), 'CAPTURE', '5.00'), 401, 404),
    }),
    'requests that are wrong': (paypal) => ({
      'an order that nobody made': async () => refused(read(paypal, 'NOBODY0MADE0THIS'), 404),
      'an order without an intent': async () =>
        refused(paypal(new OrdersCreateRequest(), { purchase_units: [{ amount: dollars('1.00') }] }), 400, 422),
      'an order with an intent that there is not': async () =>
        refused(paypal(new OrdersCreateRequest(), { intent: 'GIVE', purchase_units: [{ amount: dollars('1.00') }] }), 400, 422),
      'an order without an amount': async () =>
        refused(paypal(new OrdersCreateRequest(), { intent: 'CAPTURE', purchase_units: [{}] }), 400, 422),
      'a capture of what nobody made': async () => refused(paypal(new OrdersCaptureRequest('NOBODY0MADE0THIS'), {}), 404, 422),
    }),
  },
};
