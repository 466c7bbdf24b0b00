import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client as its code is: its types have it as a default export, and with calls that it has not. */
interface Raw {
  get(url: string, params?: object): Promise<unknown>;
  post(url: string, data: object): Promise<unknown>;
  put(url: string, data?: object): Promise<unknown>;
  patch(url: string, data?: object): Promise<unknown>;
  del(url: string): Promise<unknown>;
}
type Credentials = { readonly apiKey: string; readonly user: string; readonly pass: string };
const billbee = createRequire(import.meta.url)('billbee-node-api') as (credentials: Credentials) => Raw;

/** What the answers hold: `Data` in an envelope, with `Paging` in lists. */
interface Result<T> {
  readonly Data?: T;
  readonly ErrorCode?: number;
  readonly ErrorMessage?: string | null;
}
interface Paged<T> extends Result<readonly T[]> {
  readonly Paging?: {
    readonly Page?: number;
    readonly PageSize?: number;
    readonly TotalPages?: number;
    readonly TotalRows?: number;
  };
}
interface Billbee {
  get<T>(path: string, params?: object): Promise<T>;
  post<T>(path: string, data: object): Promise<T>;
  put<T>(path: string, data: object): Promise<T>;
  patch<T>(path: string, data: object): Promise<T>;
  del(path: string): Promise<unknown>;
}

const apiKey = '5F1E0C34-A1B2-4C3D-8E9F-0123456789AB';

/** The client has its address built in, and takes whole ones; the user's name and password are what Basic has in base 64. */
const connect = (place: Place, token: string): Billbee => {
  const [user = '', ...rest] = Buffer.from(token, 'base64').toString().split(':');
  const key = place.printed.find(({ name }) => name === 'x-billbee-api-key')?.value ?? apiKey;
  const api = billbee({ apiKey: key, user, pass: rest.join(':') });
  const at = (path: string): string => `${place.url}/api/v1/${path}`;
  return {
    get: <T>(path: string, params?: object) => api.get(at(path), params) as Promise<T>,
    post: <T>(path: string, data: object) => api.post(at(path), data) as Promise<T>,
    put: <T>(path: string, data: object) => api.put(at(path), data) as Promise<T>,
    patch: <T>(path: string, data: object) => api.patch(at(path), data) as Promise<T>,
    del: (path) => api.del(at(path)),
  };
};

interface Item {
  readonly Quantity?: number;
  readonly TotalPrice?: number;
  readonly Product?: { readonly Title?: string; readonly SKU?: string };
}
interface Order {
  readonly BillBeeOrderId?: number | string;
  readonly OrderNumber?: string;
  readonly State?: number;
  readonly Currency?: string;
  readonly TotalCost?: number;
  readonly SellerComment?: string | null;
  readonly InvoiceNumber?: number | string | null;
  readonly Tags?: readonly string[];
  readonly OrderItems?: readonly Item[];
  readonly InvoiceAddress?: { readonly LastName?: string; readonly City?: string };
  readonly ShippingIds?: readonly { readonly ShippingId?: string }[];
}
interface Text {
  readonly LanguageCode?: string;
  readonly Text?: string;
}
interface Product {
  readonly Id?: number | string;
  readonly SKU?: string;
  readonly EAN?: string;
  readonly Price?: number;
  readonly Title?: readonly Text[];
  readonly StockCurrent?: number;
  readonly StockCode?: string;
}
interface Image {
  readonly Id?: number | string;
  readonly Url?: string;
  readonly Position?: number;
  readonly IsDefault?: boolean;
}
interface Customer {
  readonly Id?: number | string;
  readonly Name?: string;
  readonly Email?: string;
  readonly Tel1?: string;
  readonly VatId?: string;
}
interface Address {
  readonly Id?: number | string;
  readonly CustomerId?: number | string;
  readonly AddressType?: number;
  readonly FirstName?: string | null;
  readonly LastName?: string | null;
  readonly Street?: string | null;
  readonly City?: string | null;
  readonly CountryCode?: string | null;
}
interface Webhook {
  readonly Id?: string;
  readonly WebHookUri?: string;
  readonly Secret?: string;
  readonly Description?: string;
  readonly Filters?: readonly string[];
  readonly IsPaused?: boolean;
}

const data = <T>(answer: Result<T>): T => given(answer.Data, 'Data');
const list = <T>(a: Billbee, path: string, params: object = {}, pageSize = 250): Promise<T[]> =>
  numbered(async (page) => data(await a.get<Paged<T>>(path, { ...params, page, pageSize })), 1, 100);
const own = (rows: readonly { readonly Id?: number | string }[]): string[] => rows.map(({ Id }) => String(given(Id, 'Id')));
const orders = async (a: Billbee, params: object = {}, pageSize = 250): Promise<string[]> =>
  (await list<Order>(a, 'orders', params, pageSize)).map(({ BillBeeOrderId }) => String(given(BillBeeOrderId, 'BillBeeOrderId')));
const readOrder = async (a: Billbee, id: string): Promise<Order> => data(await a.get<Result<Order>>(`orders/${id}`));
const readProduct = async (a: Billbee, id: string): Promise<Product> => data(await a.get<Result<Product>>(`products/${id}`));

const hammer = { Quantity: 2, TotalPrice: 39.8, TaxIndex: 1, Product: { Title: 'Hammer', SKU: 'hammer-1' } };
const order = async (a: Billbee, s: State, as: string, what: object = {}): Promise<Order> => {
  const made = data(
    await a.post<Result<Order>>('orders', {
      OrderNumber: `number-${as}`,
      State: 1,
      CreatedAt: '2024-05-14T10:00:00Z',
      Currency: 'EUR',
      PaymentMethod: 1,
      ShippingCost: 4.9,
      TotalCost: 39.8,
      OrderItems: [hammer],
      ...what,
    }),
  );
  s[as] = String(given(made.BillBeeOrderId, 'BillBeeOrderId'));
  return made;
};
/** What is needed of a product. */
const article = { Type: 1, Price: 19.9, VatIndex: 1, Vat1Rate: 19, Vat2Rate: 7, IsDigital: false, IsCustomizable: false };
/** The description does not say what the answer holds, the client does; where it holds no id, the list tells it. */
const product = async (a: Billbee, s: State, as: string, what: object = {}): Promise<void> => {
  const SKU = `sku-${as}`;
  const made = await a.post<Result<Product>>('products', { ...article, SKU, Title: [{ LanguageCode: 'DE', Text: as }], ...what });
  const found = made.Data?.Id ?? (await list<Product>(a, 'products')).find((row) => row.SKU === SKU)?.Id;
  s[as] = String(given(found, 'Id'));
};
const customer = async (a: Billbee, s: State, as: string, what: object = {}): Promise<Customer> => {
  const Address = { AddressType: 1, FirstName: 'Erika', LastName: as, Street: 'Heidestr.', City: 'Köln', CountryCode: 'DE' };
  const body = { Name: `Erika ${as}`, Email: `${as}@example.com`, Type: 0, Address, ...what };
  const made = data(await a.post<Result<Customer>>('customers', body));
  s[as] = String(given(made.Id, 'Id'));
  return made;
};

const nothing = '99999999999999';
const secret = 'a-secret-of-between-32-and-64-characters';
const basic = (user: string, password: string): string => Buffer.from(`${user}:${password}`).toString('base64');
const nobody = basic('nobody@example.com', 'nobody-has-this-password');

/** Guide: app.billbee.io/swagger (authorization, the remarks of its operations), and the examples of Billbee's own SDKs. */
export const vendor: Vendor<Billbee> = {
  document: 'billbee/billbee.io.json',
  header: 'Authorization',
  word: 'Basic',
  also: ['x-billbee-api-key'],
  made: basic('erika@example.com', 'my-api-password'),
  client: connect,
  strict: ['a password that is refused'],
  flows: {
    'an order, from its making on': (a, s) => ({
      made: async () => {
        const made = await order(a, s, 'first', { InvoiceAddress: { FirstName: 'Erika', LastName: 'Muster', City: 'Köln' } });
        assert.deepEqual([made.OrderNumber, made.State, made.Currency, made.TotalCost], ['number-first', 1, 'EUR', 39.8]);
      },
      read: async () => {
        const read = await readOrder(a, s.first);
        assert.deepEqual(
          [String(read.BillBeeOrderId), read.OrderNumber, read.TotalCost, read.InvoiceAddress?.LastName],
          [s.first, 'number-first', 39.8, 'Muster'],
        );
      },
      'what was ordered': async () => {
        const { OrderItems } = await readOrder(a, s.first);
        assert.deepEqual(
          given(OrderItems, 'OrderItems').map(({ Quantity, TotalPrice, Product: of }) => [
            Quantity,
            TotalPrice,
            of?.Title,
            of?.SKU,
          ]),
          [[2, 39.8, 'Hammer', 'hammer-1']],
        );
      },
      'by its number': async () => {
        const found = data(await a.get<Result<Order>>('orders/findbyextref/number-first'));
        assert.deepEqual([String(found.BillBeeOrderId), found.OrderNumber], [s.first, 'number-first']);
      },
      'is in the list': async () => once(await orders(a), [s.first], 'orders'),
      'a comment of the seller': async () => {
        const changed = data(await a.patch<Result<Order>>(`orders/${s.first}`, { SellerComment: 'Wrap it well' }));
        assert.deepEqual([String(changed.BillBeeOrderId), changed.SellerComment], [s.first, 'Wrap it well']);
      },
      'the rest stays': async () => {
        const read = await readOrder(a, s.first);
        assert.deepEqual(
          [read.SellerComment, read.OrderNumber, read.TotalCost, read.InvoiceAddress?.City],
          ['Wrap it well', 'number-first', 39.8, 'Köln'],
        );
      },
    }),

    'orders through all pages': (a, s) => ({
      'five are made': async () => {
        for (const n of [1, 2, 3, 4, 5]) await order(a, s, `o${n}`);
        s.all = [s.o1, s.o2, s.o3, s.o4, s.o5].join(' ');
      },
      'two on a page': async () => {
        const { Data, Paging } = await a.get<Paged<Order>>('orders', { page: 1, pageSize: 2 });
        assert.deepEqual([Data?.length, Paging?.Page, Paging?.PageSize], [2, 1, 2]);
        s.first = given(Data, 'Data')
          .map(({ BillBeeOrderId }) => String(BillBeeOrderId))
          .join(' ');
      },
      'the next two are others': async () => {
        const { Data, Paging } = await a.get<Paged<Order>>('orders', { page: 2, pageSize: 2 });
        assert.deepEqual([Data?.length, Paging?.Page], [2, 2]);
        for (const row of given(Data, 'Data')) assert.ok(!s.first.split(' ').includes(String(row.BillBeeOrderId)), 'one again');
      },
      'all of them, each once': async () => {
        const rows = await orders(a, {}, 2);
        once(rows, [...new Set(rows)], 'orders');
        once(rows, s.all.split(' '), 'orders');
      },
      'how many there are': async () => {
        const { Paging } = await a.get<Paged<Order>>('orders', { page: 1, pageSize: 2 });
        const many = (await orders(a)).length;
        assert.deepEqual([Paging?.TotalRows, Paging?.TotalPages], [many, Math.ceil(many / 2)]);
      },
    }),

    'orders by what they are like': (a, s) => ({
      'three are made': async () => {
        await order(a, s, 'early', { CreatedAt: '2021-01-10T08:00:00Z', State: 3 });
        await order(a, s, 'middle', { CreatedAt: '2021-06-10T08:00:00Z', State: 14 });
        await order(a, s, 'late', { CreatedAt: '2021-11-10T08:00:00Z', State: 14 });
      },
      'those of a time': async () => {
        const found = await orders(a, { minOrderDate: '2021-06-01T00:00:00Z', maxOrderDate: '2021-06-30T00:00:00Z' });
        once(found, [s.middle], 'orders');
        assert.ok(!found.includes(s.early) && !found.includes(s.late), 'others are among them');
      },
      'those from a day on': async () => {
        const found = await orders(a, { minOrderDate: '2021-06-01T00:00:00Z' });
        once(found, [s.middle, s.late], 'orders');
        assert.ok(!found.includes(s.early), 'an older one is there');
      },
      'those that were offered': async () => {
        const found = await orders(a, { orderStateId: 14 });
        once(found, [s.middle, s.late], 'orders');
        assert.ok(!found.includes(s.early), 'a paid one is there');
      },
      'those from a number on': async () => {
        const from = [s.early, s.middle, s.late].map(Number).toSorted((one, other) => one - other)[1];
        const found = await orders(a, { minimumBillBeeOrderId: from });
        for (const id of found) assert.ok(Number(id) >= given(from, 'id'), `${id} is less`);
        once(found, [String(from)], 'orders');
      },
      'by a number that no order has': async () => refused(a.get('orders/findbyextref/no-such-order'), 404),
    }),

    'an order through its states': (a, s) => ({
      ordered: async () => {
        await order(a, s, 'moving');
        assert.equal((await readOrder(a, s.moving)).State, 1);
      },
      paid: async () => {
        await a.put(`orders/${s.moving}/orderstate`, { NewStateId: 3 });
        assert.equal((await readOrder(a, s.moving)).State, 3);
      },
      'is among the paid': async () => once(await orders(a, { orderStateId: 3 }), [s.moving], 'orders'),
      shipped: async () => {
        await a.put(`orders/${s.moving}/orderstate`, { NewStateId: 4 });
        assert.equal((await readOrder(a, s.moving)).State, 4);
      },
      'is no longer among the paid': async () => assert.ok(!(await orders(a, { orderStateId: 3 })).includes(s.moving), 'it is'),
      'a state that there is not': async () => refused(a.put(`orders/${s.moving}/orderstate`, { NewStateId: 99 }), 400),
      'it stays shipped': async () => {
        const read = await readOrder(a, s.moving);
        assert.deepEqual([read.State, read.OrderNumber], [4, 'number-moving']);
      },
    }),

    'tags of an order': (a, s) => {
      const tags = async (id: string): Promise<string[]> =>
        given((await readOrder(a, id)).Tags, 'Tags')
          .map((tag) => tag.toLowerCase())
          .toSorted();
      return {
        'two orders': async () => {
          await order(a, s, 'tagged');
          await order(a, s, 'plain');
        },
        'one has a tag': async () => {
          await a.post(`orders/${s.tagged}/tags`, { Tags: ['vip'] });
          assert.deepEqual(await tags(s.tagged), ['vip']);
        },
        'and another; the first is not added again': async () => {
          await a.post(`orders/${s.tagged}/tags`, { Tags: ['VIP', 'gift'] });
          assert.deepEqual(await tags(s.tagged), ['gift', 'vip']);
        },
        'orders with it': async () => {
          const found = await orders(a, { tag: 'gift' });
          once(found, [s.tagged], 'orders');
          assert.ok(!found.includes(s.plain), 'one without it is there');
        },
        'orders without it': async () => {
          const found = await orders(a, { tag: 'gift', excludeTags: true });
          once(found, [s.plain], 'orders');
          assert.ok(!found.includes(s.tagged), 'one with it is there');
        },
        'all of them replaced': async () => {
          await a.put(`orders/${s.tagged}/tags`, { Tags: ['late'] });
          assert.deepEqual(await tags(s.tagged), ['late']);
        },
      };
    },

    'shipments of an order': (a, s) => {
      const shipped = async (params: object): Promise<string[]> => {
        const rows = await list<{ readonly ShippingId?: string }>(a, 'shipment/shipments', params);
        return rows.map(({ ShippingId }) => given(ShippingId, 'ShippingId'));
      };
      return {
        'two orders': async () => {
          await order(a, s, 'sent', { State: 3 });
          await order(a, s, 'kept', { State: 3 });
        },
        'one is sent, in two parcels': async () => {
          await a.post(`orders/${s.sent}/shipment`, { ShippingId: '00340434161094000001', Comment: 'first', ShipmentType: 0 });
          await a.post(`orders/${s.sent}/shipment`, { ShippingId: '00340434161094000002', Comment: 'second', ShipmentType: 0 });
        },
        'the order has both': async () => {
          const { ShippingIds } = await readOrder(a, s.sent);
          const numbers = given(ShippingIds, 'ShippingIds').map(({ ShippingId }) => given(ShippingId, 'ShippingId'));
          assert.deepEqual(numbers.toSorted(), ['00340434161094000001', '00340434161094000002']);
        },
        'the shipments of the order': async () =>
          assert.deepEqual((await shipped({ orderId: s.sent })).toSorted(), ['00340434161094000001', '00340434161094000002']),
        'the other has none': async () => assert.deepEqual(await shipped({ orderId: s.kept }), []),
        'a shipment of an order that is not there': async () =>
          refused(a.post(`orders/${nothing}/shipment`, { ShippingId: '00340434161094000003' }), 404),
      };
    },

    'an invoice for an order': (a, s) => ({
      'an order that is paid': async () => {
        await order(a, s, 'billed', { State: 3 });
        assert.equal((await readOrder(a, s.billed)).OrderNumber, 'number-billed');
      },
      made: async () => {
        const path = `orders/CreateInvoice/${s.billed}?includeInvoicePdf=false`;
        const made = data(
          await a.post<Result<{ OrderNumber?: string; InvoiceNumber?: string; TotalGross?: number }>>(path, {
            includeInvoicePdf: false,
          }),
        );
        s.invoice = String(given(made.InvoiceNumber, 'InvoiceNumber'));
        assert.equal(made.OrderNumber, 'number-billed');
      },
      'the order has it': async () => {
        const { InvoiceNumber } = await readOrder(a, s.billed);
        assert.ok(s.invoice.includes(String(given(InvoiceNumber, 'InvoiceNumber'))), `${InvoiceNumber} is not of ${s.invoice}`);
      },
      'is in the list of invoices': async () => {
        const rows = await list<{ readonly InvoiceNumber?: string; readonly OrderNumber?: string }>(a, 'orders/invoices');
        const numbers = rows
          .filter(({ OrderNumber }) => OrderNumber === 'number-billed')
          .map(({ InvoiceNumber }) => InvoiceNumber);
        assert.deepEqual(numbers, [s.invoice]);
      },
      'none for an order that is not there': async () =>
        refused(a.post(`orders/CreateInvoice/${nothing}`, { includeInvoicePdf: false }), 404),
    }),

    'a product, from the first to the last day': (a, s) => ({
      made: () => product(a, s, 'saw', { EAN: '4006381333931', Title: [{ LanguageCode: 'DE', Text: 'Säge' }] }),
      read: async () => {
        const read = await readProduct(a, s.saw);
        assert.deepEqual([String(read.Id), read.SKU, read.EAN, read.Price], [s.saw, 'sku-saw', '4006381333931', 19.9]);
        assert.deepEqual(
          given(read.Title, 'Title').map(({ LanguageCode, Text }) => [LanguageCode, Text]),
          [['DE', 'Säge']],
        );
      },
      'by its SKU': async () => {
        const found = data(await a.get<Result<Product>>('products/sku-saw', { lookupBy: 'sku' }));
        assert.deepEqual([String(found.Id), found.SKU], [s.saw, 'sku-saw']);
      },
      'is in the list': async () => once(own(await list<Product>(a, 'products')), [s.saw], 'products'),
      'another price': async () => {
        await a.patch(`products/${s.saw}`, { Price: 24.5 });
        assert.equal((await readProduct(a, s.saw)).Price, 24.5);
      },
      'the rest stays': async () => {
        const read = await readProduct(a, s.saw);
        assert.deepEqual([read.SKU, read.EAN, read.Title?.[0]?.Text], ['sku-saw', '4006381333931', 'Säge']);
      },
      deleted: async () => a.del(`products/${s.saw}`),
      gone: async () => refused(a.get(`products/${s.saw}`), 404),
      'no longer in the list': async () =>
        assert.ok(!own(await list<Product>(a, 'products')).includes(s.saw), 'it is still listed'),
    }),

    'products, page by page and by what is looked for': (a, s) => ({
      'three are made': async () => {
        for (const as of ['plane', 'pliers', 'chisel']) await product(a, s, as);
      },
      'two on a page': async () => {
        const { Data, Paging } = await a.get<Paged<Product>>('products', { page: 1, pageSize: 2 });
        assert.deepEqual([Data?.length, Paging?.Page, Paging?.PageSize], [2, 1, 2]);
      },
      'all of them, each once': async () => {
        const rows = own(await list<Product>(a, 'products', {}, 2));
        once(rows, [...new Set(rows)], 'products');
        once(rows, [s.plane, s.pliers, s.chisel], 'products');
      },
      'between two ids': async () => {
        const only = { minimumBillBeeArticleId: s.pliers, maximumBillBeeArticleId: s.pliers };
        assert.deepEqual(own(await list<Product>(a, 'products', only)), [s.pliers]);
      },
      'one by a search': async () => {
        const found = data(
          await a.post<Result<{ readonly Products?: readonly Product[] }>>('search', { Type: ['product'], Term: 'sku-chisel' }),
        );
        once(own(given(found.Products, 'Products')), [s.chisel], 'products');
      },
      'none by a SKU that none has': async () => refused(a.get('products/no-such-sku', { lookupBy: 'sku' }), 404),
    }),

    'what is in stock': (a, s) => {
      type Stock = { readonly SKU?: string; readonly CurrentStock?: number; readonly OldStock?: number };
      return {
        'two products': async () => {
          await product(a, s, 'nail');
          await product(a, s, 'screw');
        },
        'ten of one': async () => {
          const told = data(
            await a.post<Result<Stock>>('products/updatestock', { Sku: 'sku-nail', NewQuantity: 10, Reason: 'count' }),
          );
          assert.deepEqual([told.SKU, told.CurrentStock], ['sku-nail', 10]);
        },
        'the product has them': async () => assert.equal((await readProduct(a, s.nail)).StockCurrent, 10),
        'both at once': async () => {
          const wanted = [
            { Sku: 'sku-nail', NewQuantity: 7 },
            { Sku: 'sku-screw', NewQuantity: 30 },
          ];
          const told = (await a.post<readonly Result<Stock>[]>('products/updatestockmultiple', wanted)).map(data);
          assert.deepEqual(
            told.map(({ SKU, CurrentStock }) => [SKU, CurrentStock]),
            [
              ['sku-nail', 7],
              ['sku-screw', 30],
            ],
          );
        },
        'both have them': async () => {
          assert.equal((await readProduct(a, s.nail)).StockCurrent, 7);
          assert.equal((await readProduct(a, s.screw)).StockCurrent, 30);
        },
        'where it lies': async () => {
          await a.post('products/updatestockcode', { Sku: 'sku-nail', StockCode: 'A-12-3' });
          const read = await readProduct(a, s.nail);
          assert.deepEqual([read.StockCode, read.StockCurrent], ['A-12-3', 7]);
        },
        'nothing is reserved': async () => {
          const params = { id: 'sku-screw', lookupBy: 'sku' };
          const { ReservedAmount } = data(
            await a.get<Result<{ readonly ReservedAmount?: number }>>('products/reservedamount', params),
          );
          assert.equal(ReservedAmount, 0);
        },
      };
    },

    'pictures of a product': (a, s) => {
      const images = async (): Promise<readonly Image[]> =>
        data(await a.get<Result<readonly Image[]>>(`products/${s.lamp}/images`));
      const add = async (as: string, Position: number): Promise<void> => {
        const body = { Url: `https://example.com/${as}.jpg`, Position, IsDefault: Position === 1 };
        s[as] = String(given(data(await a.put<Result<Image>>(`products/${s.lamp}/images/0`, body)).Id, 'Id'));
      };
      return {
        'a product and two pictures': async () => {
          await product(a, s, 'lamp');
          await add('front', 1);
          await add('back', 2);
          assert.notEqual(s.front, s.back);
        },
        'it has both': async () => assert.deepEqual(own(await images()).toSorted(), [s.front, s.back].toSorted()),
        'one of them': async () => {
          const read = data(await a.get<Result<Image>>(`products/${s.lamp}/images/${s.front}`));
          assert.deepEqual([String(read.Id), read.Position, read.IsDefault], [s.front, 1, true]);
        },
        'another place': async () => {
          await a.put(`products/${s.lamp}/images/${s.back}`, {
            Url: 'https://example.com/back.jpg',
            Position: 5,
            IsDefault: false,
          });
          assert.equal(data(await a.get<Result<Image>>(`products/images/${s.back}`)).Position, 5);
        },
        'one is deleted': async () => {
          await a.del(`products/${s.lamp}/images/${s.front}`);
          assert.deepEqual(own(await images()), [s.back]);
        },
        'it is gone': async () => refused(a.get(`products/images/${s.front}`), 404),
        'the other, and one that is not there': async () => {
          const ids = [Number(s.back), 99_999_999];
          const told = data(await a.post<Result<{ Deleted?: unknown[]; NotFound?: unknown[] }>>('products/images/delete', ids));
          assert.deepEqual([told.Deleted?.map(String), told.NotFound?.map(String)], [[s.back], ['99999999']]);
        },
      };
    },

    'a customer, from the first day on': (a, s) => ({
      made: async () => {
        const made = await customer(a, s, 'muster', { Tel1: '+49221123456', VatId: 'DE123456789' });
        assert.deepEqual([made.Name, made.Email, made.Tel1], ['Erika muster', 'muster@example.com', '+49221123456']);
      },
      read: async () => {
        const read = data(await a.get<Result<Customer>>(`customers/${s.muster}`));
        assert.deepEqual([String(read.Id), read.Name, read.VatId], [s.muster, 'Erika muster', 'DE123456789']);
      },
      'is in the list': async () => once(own(await list<Customer>(a, 'customers')), [s.muster], 'customers'),
      'has the address': async () => {
        const rows = await list<Address>(a, `customers/${s.muster}/addresses`);
        assert.deepEqual(
          rows.map(({ CustomerId, LastName, City }) => [String(CustomerId), LastName, City]),
          [[s.muster, 'muster', 'Köln']],
        );
      },
      'another name': async () => {
        const body = { Id: Number(s.muster), Name: 'Erika Gabler', Email: 'muster@example.com', Tel1: '+49221123456', Type: 0 };
        const changed = data(await a.put<Result<Customer>>(`customers/${s.muster}`, body));
        assert.deepEqual([String(changed.Id), changed.Name], [s.muster, 'Erika Gabler']);
      },
      'it stays changed': async () => {
        const read = data(await a.get<Result<Customer>>(`customers/${s.muster}`));
        assert.deepEqual([read.Name, read.Email, read.Tel1], ['Erika Gabler', 'muster@example.com', '+49221123456']);
      },
      'a customer that is not there': async () => refused(a.get(`customers/${nothing}`), 404),
    }),

    'addresses of a customer': (a, s) => {
      const read = async (): Promise<Address> => data(await a.get<Result<Address>>(`customers/addresses/${s.address}`));
      const cologne = {
        AddressType: 2,
        FirstName: 'Max',
        LastName: 'Muster',
        Street: 'Domstr.',
        City: 'Köln',
        CountryCode: 'DE',
      };
      return {
        'two customers, and another address for one': async () => {
          await customer(a, s, 'one');
          await customer(a, s, 'two');
          const made = data(await a.post<Result<Address>>(`customers/${s.one}/addresses`, cologne));
          s.address = String(given(made.Id, 'Id'));
          assert.deepEqual([String(made.CustomerId), made.FirstName, made.City], [s.one, 'Max', 'Köln']);
        },
        'the one has it, the other not': async () => {
          once(own(await list<Address>(a, `customers/${s.one}/addresses`)), [s.address], 'addresses');
          assert.ok(!own(await list<Address>(a, `customers/${s.two}/addresses`)).includes(s.address), 'the other has it');
        },
        'one field is changed': async () => {
          await a.patch(`customers/addresses/${s.address}`, { City: 'Bonn' });
          const now = await read();
          assert.deepEqual([now.City, now.FirstName, now.Street, now.AddressType], ['Bonn', 'Max', 'Domstr.', 2]);
        },
        'whose it is cannot be changed': async () => {
          await a.patch(`customers/addresses/${s.address}`, { CustomerId: Number(s.two), City: 'Bonn' }).catch(() => undefined);
          assert.equal(String((await read()).CustomerId), s.one);
        },
        'what is not sent becomes empty': async () => {
          await a.put(`customers/addresses/${s.address}`, {
            AddressType: 2,
            LastName: 'Muster',
            City: 'Berlin',
            CountryCode: 'DE',
          });
          const now = await read();
          assert.deepEqual([now.City, now.LastName, now.FirstName || undefined], ['Berlin', 'Muster', undefined]);
          assert.equal(String(now.CustomerId), s.one);
        },
        'is among all addresses': async () => once(own(await list<Address>(a, 'customer-addresses')), [s.address], 'addresses'),
      };
    },

    'told of what happens': (a, s) => {
      const hook = { WebHookUri: 'https://example.com/hook?noecho', Secret: secret, Filters: ['order.created'], IsPaused: false };
      const hooks = async (): Promise<string[]> => own(await a.get<readonly Webhook[]>('webhooks'));
      return {
        registered: async () => {
          const made = await a.post<Webhook>('webhooks', { ...hook, Description: 'new orders' });
          s.hook = given(made.Id, 'Id');
          assert.deepEqual([made.WebHookUri, made.Description, made.Filters], [hook.WebHookUri, 'new orders', ['order.created']]);
        },
        read: async () => {
          const read = await a.get<Webhook>(`webhooks/${s.hook}`);
          assert.deepEqual([read.Id, read.WebHookUri, read.IsPaused], [s.hook, hook.WebHookUri, false]);
        },
        'is in the list': async () => once(await hooks(), [s.hook], 'webhooks'),
        paused: async () => {
          await a.put(`webhooks/${s.hook}`, { ...hook, Id: s.hook, Description: 'new orders', IsPaused: true });
          const read = await a.get<Webhook>(`webhooks/${s.hook}`);
          assert.deepEqual([read.IsPaused, read.Description, read.Filters], [true, 'new orders', ['order.created']]);
        },
        deleted: async () => {
          await a.del(`webhooks/${s.hook}`);
          await refused(a.get(`webhooks/${s.hook}`), 404);
        },
        'two more': async () => {
          for (const as of ['h1', 'h2'])
            s[as] = given((await a.post<Webhook>('webhooks', { ...hook, Description: as })).Id, 'Id');
          once(await hooks(), [s.h1, s.h2], 'webhooks');
        },
        'all deleted at once': async () => {
          await a.del('webhooks');
          assert.deepEqual(await hooks(), []);
        },
      };
    },

    'what is wrong': (a) => ({
      'a product without a price': async () => {
        const { Price: _, ...rest } = article;
        await refused(a.post('products', { ...rest, SKU: 'priceless' }), 400);
      },
      'it was not made': async () =>
        assert.ok(!(await list<Product>(a, 'products')).some(({ SKU }) => SKU === 'priceless'), 'it was'),
      'an order in a state that there is not': async () => refused(a.post('orders', { OrderNumber: 'wrong', State: 99 }), 400),
      'a webhook without a secret': async () =>
        refused(a.post('webhooks', { WebHookUri: 'https://example.com/hook?noecho' }), 400),
      'an order that is not there': async () => refused(a.get(`orders/${nothing}`), 404),
      'a change of a product that is not there': async () => refused(a.patch(`products/${nothing}`, { Price: 1 }), 404),
      'tags for an order that is not there': async () => refused(a.post(`orders/${nothing}/tags`, { Tags: ['lost'] }), 404),
    }),

    'a password that is refused': (a, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray((await a.get<Paged<Order>>('orders')).Data)),
      'a wrong one': async () => refused(another(nobody).get('orders'), 401),
      'it cannot read customers': async () => refused(another(nobody).get('customers'), 401),
      'it cannot make anything': async () => refused(another(nobody).post('products', { ...article, SKU: 'stolen' }), 401),
      'nothing was made': async () =>
        assert.ok(!(await list<Product>(a, 'products')).some(({ SKU }) => SKU === 'stolen'), 'something was'),
    }),
  },
};
