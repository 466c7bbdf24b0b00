import assert from 'node:assert/strict';
import billingo, {
  type BankAccount,
  type Document,
  type DocumentInsert,
  type Partner,
  type Product,
} from '@codingsans/billingo-client';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

const {
  BankAccountService,
  CurrencyService,
  DocumentBlockService,
  DocumentService,
  OpenAPI,
  OrganizationService,
  PartnerService,
} = billingo;
const { ProductService } = billingo;

/** The client is one for the whole process: its address and key are set before each call. */
type Client = <T>(call: () => Promise<T>) => Promise<T>;
const connect =
  (place: Place, key: string): Client =>
  async (call) => {
    OpenAPI.BASE = place.base;
    OpenAPI.HEADERS = { 'X-API-KEY': key };
    return call();
  };

/** The client's enumerations are asked for by their values, as the description has them. */
const soap = (more: object = {}): Product =>
  ({ name: 'Soap', currency: 'HUF', vat: '27%', net_unit_price: 1000, unit: 'piece', ...more }) as unknown as Product;
const home = { country_code: 'HU', post_code: '1011', city: 'Budapest', address: 'Fő utca 1.' };
const anna = (more: object = {}): Partner =>
  ({ name: 'Anna Kft.', address: home, emails: ['anna@example.com'], taxcode: '12345678-2-41', ...more }) as unknown as Partner;
const account = (more: object = {}): BankAccount =>
  ({ name: 'Main', account_number: '11111111-22222222-33333333', currency: 'HUF', ...more }) as unknown as BankAccount;

const product = (api: Client, more: object = {}): Promise<Product> => api(() => ProductService.createProduct(soap(more)));
const partner = (api: Client, more: object = {}): Promise<Partner> => api(() => PartnerService.createPartner(anna(more)));
const id = (one: { readonly id?: number }): string => String(given(one.id, 'id'));
const field = (thrown: unknown): string =>
  JSON.stringify((given((thrown as { body?: unknown }).body, 'body') as { errors?: unknown }).errors ?? '');

/** What all documents need: where they are numbered, whom they are for. */
const paper = async (api: Client, partnerId: string, more: object = {}): Promise<Document> => {
  const blocks = await api(() => DocumentBlockService.listDocumentBlock());
  const block = given(blocks.data?.[0]?.id, 'document block');
  const wanted = {
    partner_id: Number(partnerId),
    block_id: block,
    type: 'invoice',
    fulfillment_date: '2030-07-06',
    due_date: '2030-07-14',
    payment_method: 'wire_transfer',
    language: 'hu',
    currency: 'HUF',
    items: [{ name: 'Soap', unit_price: 1000, unit_price_type: 'net', quantity: 2, unit: 'piece', vat: '27%' }],
    ...more,
  };
  return api(() => DocumentService.createDocument(wanted as unknown as DocumentInsert));
};

/** Guide: Billingo API v3 (app.swaggerhub.com/apis/Billingo/Billingo), "Authentication", "Errors" and each resource. */
export const vendor: Vendor<Client> = {
  document: 'billingo/billingo.hu.json',
  header: 'X-API-KEY',
  made: '7d1b8d1c-6f0d-11ee-8c99-0242ac120002',
  client: connect,
  flows: {
    'a product from its making to its end': (api, s) => ({
      create: async () => {
        const made = await product(api, { comment: 'Green' });
        s.id = id(made);
        assert.deepEqual(
          [made.name, made.comment, made.currency, made.vat, made.net_unit_price, made.unit],
          ['Soap', 'Green', 'HUF', '27%', 1000, 'piece'],
        );
      },
      read: async () => {
        const read = await api(() => ProductService.getProduct(Number(s.id)));
        assert.deepEqual([id(read), read.name, read.net_unit_price], [s.id, 'Soap', 1000]);
      },
      change: async () => {
        const changed = await api(() =>
          ProductService.updateProduct(Number(s.id), soap({ name: 'Big soap', net_unit_price: 1500 })),
        );
        assert.deepEqual([id(changed), changed.name, changed.net_unit_price], [s.id, 'Big soap', 1500]);
      },
      'it stays changed': async () => {
        const read = await api(() => ProductService.getProduct(Number(s.id)));
        assert.deepEqual([read.name, read.net_unit_price, read.vat], ['Big soap', 1500, '27%']);
      },
      delete: async () => api(() => ProductService.deleteProduct(Number(s.id))),
      'it is gone': async () =>
        refused(
          api(() => ProductService.getProduct(Number(s.id))),
          404,
        ),
    }),
    'products page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['one', 'two', 'three', 'four', 'five']) made.push(id(await product(api, { name })));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const page = await api(() => ProductService.listProduct(1, 2));
        assert.deepEqual([page.data?.length, page.current_page, page.per_page], [2, 1, 2]);
        assert.ok(Number(page.total) >= 5 && Number(page.last_page) >= 3, `${page.total} products on ${page.last_page} pages`);
      },
      'the newest first': async () => {
        const page = await api(() => ProductService.listProduct(1, 2));
        assert.equal(id(given(page.data?.[0], 'product')), s.all.split(' ').at(-1));
      },
      'all pages': async () => {
        const all = await pages(
          (from) => api(() => ProductService.listProduct(Number(from ?? 1), 2)),
          (page) => given(page.data, 'data'),
          (page) => (Number(page.current_page) < Number(page.last_page) ? String(Number(page.current_page) + 1) : undefined),
        );
        once(all.map(id), s.all.split(' '), 'products');
      },
      'pages by their links': async () => {
        const all = await pages(
          (from) =>
            api(() =>
              ProductService.listProduct(Number(new URL(from ?? 'http://x/?page=1', 'http://x').searchParams.get('page')), 2),
            ),
          (page) => given(page.data, 'data'),
          (page) => page.next_page_url,
        );
        once(all.map(id), s.all.split(' '), 'products');
      },
    }),
    'a partner from their making to their end': (api, s) => ({
      create: async () => {
        const made = await partner(api);
        s.id = id(made);
        assert.deepEqual([made.name, made.emails, made.taxcode], ['Anna Kft.', ['anna@example.com'], '12345678-2-41']);
        assert.deepEqual(made.address, home);
      },
      read: async () => {
        const read = await api(() => PartnerService.getPartner(Number(s.id)));
        assert.deepEqual([id(read), read.name, read.address?.city], [s.id, 'Anna Kft.', 'Budapest']);
      },
      'they move': async () => {
        const address = { ...home, post_code: '6720', city: 'Szeged' };
        const changed = await api(() => PartnerService.updatePartner(Number(s.id), anna({ address, phone: '+3615550123' })));
        assert.deepEqual([id(changed), changed.address, changed.phone], [s.id, address, '+3615550123']);
      },
      'they stay there': async () => {
        const read = await api(() => PartnerService.getPartner(Number(s.id)));
        assert.deepEqual([read.address?.city, read.phone], ['Szeged', '+3615550123']);
      },
      delete: async () => api(() => PartnerService.deletePartner(Number(s.id))),
      'they are gone': async () =>
        refused(
          api(() => PartnerService.getPartner(Number(s.id))),
          404,
        ),
    }),
    'all partners': (api, s) => ({
      'make three': async () => {
        const made = [];
        for (const name of ['Béla Bt.', 'Cili Zrt.', 'Dani ev.']) made.push(id(await partner(api, { name })));
        s.all = made.join(' ');
      },
      'they are on the pages': async () => {
        const all = await pages(
          (from) => api(() => PartnerService.listPartner(Number(from ?? 1), 2)),
          (page) => given(page.data, 'data'),
          (page) => (Number(page.current_page) < Number(page.last_page) ? String(Number(page.current_page) + 1) : undefined),
        );
        once(all.map(id), s.all.split(' '), 'partners');
      },
      'without the deleted one': async () => {
        const [first = ''] = s.all.split(' ');
        await api(() => PartnerService.deletePartner(Number(first)));
        const page = await api(() => PartnerService.listPartner(1, 100));
        assert.ok(!given(page.data, 'data').map(id).includes(first), 'the deleted partner is still listed');
      },
    }),
    'a bank account from its making to its end': (api, s) => ({
      create: async () => {
        const made = await api(() => BankAccountService.createBankAccount(account()));
        s.id = id(made);
        assert.deepEqual([made.name, made.account_number, made.currency], ['Main', '11111111-22222222-33333333', 'HUF']);
      },
      read: async () => {
        const read = await api(() => BankAccountService.getBankAccount(Number(s.id)));
        assert.deepEqual([id(read), read.name, read.currency], [s.id, 'Main', 'HUF']);
      },
      change: async () => {
        const changed = await api(() =>
          BankAccountService.updateBankAccount(Number(s.id), account({ name: 'In euros', currency: 'EUR', swift: 'OTPVHUHB' })),
        );
        assert.deepEqual([id(changed), changed.name, changed.currency, changed.swift], [s.id, 'In euros', 'EUR', 'OTPVHUHB']);
      },
      'it is listed changed': async () => {
        const page = await api(() => BankAccountService.listBankAccount(1, 100));
        const found = given(page.data, 'data').filter((one) => id(one) === s.id);
        assert.deepEqual(
          found.map(({ name, currency }) => [name, currency]),
          [['In euros', 'EUR']],
        );
      },
      delete: async () => api(() => BankAccountService.deleteBankAccount(Number(s.id))),
      'it is gone': async () =>
        refused(
          api(() => BankAccountService.getBankAccount(Number(s.id))),
          404,
        ),
    }),
    'an invoice is made and cancelled': (api, s) => ({
      'a partner': async () => {
        s.partner = id(await partner(api));
      },
      invoice: async () => {
        const made = await paper(api, s.partner, { comment: 'Thank you' });
        s.id = id(made);
        assert.deepEqual(
          [made.type, made.currency, made.payment_method, made.due_date, made.comment],
          ['invoice', 'HUF', 'wire_transfer', '2030-07-14', 'Thank you'],
        );
        assert.equal(id(given(made.partner, 'partner')), s.partner);
      },
      'what it comes to': async () => {
        const read = await api(() => DocumentService.getDocument(Number(s.id)));
        assert.deepEqual([id(read), read.gross_total, read.items?.length, read.items?.[0]?.name], [s.id, 2540, 1, 'Soap']);
      },
      cancel: async () => {
        const counter = await api(() => DocumentService.cancelDocument(Number(s.id)));
        assert.equal(counter.type, 'cancellation');
        assert.notEqual(id(counter), s.id);
      },
      'it is cancelled': async () => assert.equal((await api(() => DocumentService.getDocument(Number(s.id)))).cancelled, true),
    }),
    'an invoice of a product': (api, s) => ({
      'a partner and a product': async () => {
        s.partner = id(await partner(api));
        s.product = id(await product(api));
      },
      invoice: async () => {
        const made = await paper(api, s.partner, { items: [{ product_id: Number(s.product), quantity: 3 }] });
        s.id = id(made);
        assert.deepEqual(
          made.items?.map((item) => [String((item as { product_id?: number }).product_id), item.quantity]),
          [[s.product, 3]],
        );
      },
      'it is known by its product': async () => {
        const read = await api(() => DocumentService.getDocument(Number(s.id)));
        assert.deepEqual([id(read), read.items?.[0]?.name, read.items?.[0]?.quantity], [s.id, 'Soap', 3]);
      },
    }),
    'a proforma becomes an invoice': (api, s) => ({
      proforma: async () => {
        s.partner = id(await partner(api));
        const made = await paper(api, s.partner, { type: 'proforma' });
        s.id = id(made);
        assert.equal(made.type, 'proforma');
      },
      'its invoice': async () => {
        const made = await api(() => DocumentService.createDocumentFromProforma(Number(s.id)));
        s.invoice = id(made);
        assert.notEqual(s.invoice, s.id);
        assert.deepEqual([made.type, id(given(made.partner, 'partner'))], ['invoice', s.partner]);
      },
      'both are there': async () => {
        assert.equal((await api(() => DocumentService.getDocument(Number(s.id)))).type, 'proforma');
        assert.equal((await api(() => DocumentService.getDocument(Number(s.invoice)))).type, 'invoice');
      },
    }),
    'an invoice is paid': (api, s) => ({
      invoice: async () => {
        const made = await paper(api, id(await partner(api)));
        s.id = id(made);
        assert.equal(made.payment_status, 'outstanding');
      },
      pay: async () => {
        const paid = [{ date: '2030-07-10', price: 2540, payment_method: 'wire_transfer' }];
        const answer = await api(() => DocumentService.updatePayment(Number(s.id), paid as never));
        assert.deepEqual(
          answer.map(({ date, price, payment_method }) => [date, price, payment_method]),
          [['2030-07-10', 2540, 'wire_transfer']],
        );
      },
      'what was paid': async () => {
        const all = await api(() => DocumentService.getPayment(Number(s.id)));
        assert.deepEqual(
          all.map(({ price }) => price),
          [2540],
        );
      },
      'it is paid': async () => assert.equal((await api(() => DocumentService.getDocument(Number(s.id)))).payment_status, 'paid'),
      'take it back': async () => {
        await api(() => DocumentService.deletePayment(Number(s.id)));
        assert.deepEqual(await api(() => DocumentService.getPayment(Number(s.id))), []);
      },
    }),
    'documents are looked for': (api, s) => ({
      'make some': async () => {
        s.anna = id(await partner(api));
        s.bela = id(await partner(api, { name: 'Béla Bt.' }));
        s.wire = id(await paper(api, s.anna));
        s.cash = id(await paper(api, s.anna, { payment_method: 'cash' }));
        s.other = id(await paper(api, s.bela));
      },
      'those of a partner': async () => {
        const page = await api(() => DocumentService.listDocument(1, 100, undefined, Number(s.anna)));
        assert.deepEqual(given(page.data, 'data').map(id).sort(), [s.wire, s.cash].sort());
      },
      'those paid in cash': async () => {
        const page = await api(() => DocumentService.listDocument(1, 100, undefined, Number(s.anna), 'cash' as never));
        assert.deepEqual(given(page.data, 'data').map(id), [s.cash]);
      },
      'one on a page': async () => {
        const page = await api(() => DocumentService.listDocument(1, 1, undefined, Number(s.anna)));
        assert.deepEqual([page.data?.length, page.total, page.last_page], [1, 2, 2]);
      },
    }),
    'an invoice is sent': (api, s) => ({
      invoice: async () => {
        s.id = id(await paper(api, id(await partner(api))));
      },
      send: async () => {
        const sent = await api(() =>
          DocumentService.sendDocument(Number(s.id), { emails: ['anna@example.com', 'books@example.com'] }),
        );
        assert.deepEqual(sent.emails, ['anna@example.com', 'books@example.com']);
      },
      'its address for all': async () => {
        const { public_url } = await api(() => DocumentService.getPublicUrl(Number(s.id)));
        assert.match(String(public_url), /./);
      },
      'what the tax office says': async () =>
        assert.equal(typeof (await api(() => DocumentService.getOnlineSzamlaStatus(Number(s.id)))), 'object'),
    }),
    'what else can be asked': (api) => ({
      'who we are': async () =>
        assert.equal(typeof (await api(() => OrganizationService.getOrganizationData())).tax_code, 'string'),
      'where documents are numbered': async () => {
        const page = await api(() => DocumentBlockService.listDocumentBlock(1, 5));
        for (const one of given(page.data, 'data')) assert.deepEqual([typeof one.id, typeof one.name], ['number', 'string']);
      },
      'what money is worth': async () => {
        const rate = await api(() => CurrencyService.getConversionRate('EUR' as never, 'HUF' as never));
        assert.deepEqual([rate.from_currency, rate.to_currency, typeof rate.conversation_rate], ['EUR', 'HUF', 'number']);
      },
    }),
    'what is wrong': (api) => ({
      'a product without a name': async () => assert.match(field(await refused(product(api, { name: undefined }), 422)), /name/),
      'a tax that there is not': async () => assert.match(field(await refused(product(api, { vat: '101%' }), 422)), /vat/),
      'money that there is not': async () =>
        assert.match(field(await refused(product(api, { currency: 'XYZ' }), 422)), /currency/),
      'a partner without an address': async () =>
        assert.match(field(await refused(partner(api, { address: undefined }), 422)), /address/),
      'a product that is not there': async () =>
        refused(
          api(() => ProductService.getProduct(999_999_999)),
          404,
        ),
      'a document that is not there': async () =>
        refused(
          api(() => DocumentService.getDocument(999_999_999)),
          404,
        ),
    }),
    'a key that is refused': (api, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray((await api(() => ProductService.listProduct())).data), 'no products'),
      'a wrong one': async () =>
        refused(
          another('nobody-has-this-key')(() => ProductService.listProduct()),
          401,
        ),
      'it cannot make anything': async () => refused(product(another('nobody-has-this-key')), 401),
    }),
  },
};
