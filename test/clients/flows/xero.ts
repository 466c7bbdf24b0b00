import assert from 'node:assert/strict';
import {
  type Account,
  AccountingApi,
  AccountType,
  Contact,
  ContactGroup,
  Invoice,
  type Item,
  type LineItem,
  PurchaseOrder,
  type Quote,
  QuoteStatusCodes,
} from 'xero-node';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): AccountingApi => {
  const api = new AccountingApi(place.base);
  api.accessToken = token;
  return api;
};

/** The organisation, as its connection names it. */
const tenant = '9f1a3c52-6a6b-4c2b-8f0e-5d7b2f1c4a90';

/** What was asked for; the client throws its errors as JSON in a string, and here they are objects. */
const sent = async <Body>(call: Promise<{ body?: Body }>): Promise<Body> => {
  try {
    return (await call).body as Body;
  } catch (thrown) {
    if (typeof thrown !== 'string') throw thrown;
    throw Object.assign(new Error(thrown.slice(0, 300)), JSON.parse(thrown) as object);
  }
};

const first = <Row>(rows: readonly Row[] | undefined): Row => {
  assert.equal(rows?.length, 1, `the answer has ${rows?.length} rows, not one`);
  return given(rows?.[0], 'row');
};

const contact = async (xero: AccountingApi, s: State, name = 'ABC Limited'): Promise<Contact> => {
  const { contacts } = await sent(xero.createContacts(tenant, { contacts: [{ name }] }));
  s.contact = given(first(contacts).contactID, 'ContactID');
  return first(contacts);
};

const contactIds = (rows: readonly Contact[] | undefined): string[] =>
  (rows ?? []).map((one) => given(one.contactID, 'ContactID'));

const lines: LineItem[] = [{ description: 'Acme Tires', quantity: 2, unitAmount: 20, accountCode: '200' }];

const invoice = async (xero: AccountingApi, s: State, more: Partial<Invoice> = {}): Promise<Invoice> => {
  const asked: Invoice = {
    type: Invoice.TypeEnum.ACCREC,
    contact: { contactID: s.contact },
    lineItems: lines,
    date: '2024-03-11',
    dueDate: '2024-04-10',
    reference: 'Website Design',
    status: Invoice.StatusEnum.DRAFT,
    ...more,
  };
  const made = first((await sent(xero.createInvoices(tenant, { invoices: [asked] }))).invoices);
  s.id = given(made.invoiceID, 'InvoiceID');
  return made;
};

const readInvoice = async (xero: AccountingApi, id: string): Promise<Invoice> =>
  first((await sent(xero.getInvoice(tenant, id))).invoices);

const nowhere = '4f4fa3b4-8d0c-4d3e-9d5a-2f6b7c8d9e0f';

/** Guide: developer.xero.com, "Accounting API": "Contacts", "Contact Groups", "Invoices", "Items", "Accounts", "Tracking Categories", "Purchase Orders", "Quotes", "History", "Requests and responses". */
export const vendor: Vendor<AccountingApi> = {
  document: 'xero/xero_accounting.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjFDQUY4RTY2NzcyRDZEQzAyOEQ2NzI2RkQwMjYxNTgxNTcwRUZDMTkifQ.e30.c2ln',
  client: connect,
  flows: {
    'a contact is made, changed and archived': (xero, s) => ({
      create: async () => {
        const asked: Contact = {
          name: '24 locks',
          firstName: 'Ben',
          lastName: 'Bowden',
          emailAddress: 'ben.bowden@24locks.com',
          contactNumber: 'C-24',
        };
        const made = first((await sent(xero.createContacts(tenant, { contacts: [asked] }))).contacts);
        s.id = given(made.contactID, 'ContactID');
        assert.partialDeepStrictEqual({ ...made }, { ...asked, contactStatus: Contact.ContactStatusEnum.ACTIVE });
      },
      read: async () => {
        const read = first((await sent(xero.getContact(tenant, s.id))).contacts);
        assert.deepEqual([read.contactID, read.name, read.emailAddress], [s.id, '24 locks', 'ben.bowden@24locks.com']);
      },
      change: async () => {
        const contacts = { contacts: [{ contactID: s.id, emailAddress: 'hello@24locks.com' }] };
        const changed = first((await sent(xero.updateContact(tenant, s.id, contacts))).contacts);
        assert.deepEqual([changed.contactID, changed.emailAddress], [s.id, 'hello@24locks.com']);
      },
      'it keeps what was not named': async () => {
        const read = first((await sent(xero.getContact(tenant, s.id))).contacts);
        assert.deepEqual([read.name, read.firstName, read.emailAddress], ['24 locks', 'Ben', 'hello@24locks.com']);
      },
      archive: async () => {
        const contacts = { contacts: [{ contactID: s.id, contactStatus: Contact.ContactStatusEnum.ARCHIVED }] };
        const changed = first((await sent(xero.updateContact(tenant, s.id, contacts))).contacts);
        assert.equal(changed.contactStatus, Contact.ContactStatusEnum.ARCHIVED);
      },
      'it can still be read': async () => {
        const read = first((await sent(xero.getContact(tenant, s.id))).contacts);
        assert.deepEqual([read.name, read.contactStatus], ['24 locks', Contact.ContactStatusEnum.ARCHIVED]);
      },
    }),
    'some contacts at once': (xero, s) => ({
      'create three': async () => {
        const asked = { contacts: [{ name: 'Bayside Club' }, { name: 'City Agency' }, { name: 'DIISR' }] };
        const { contacts } = await sent(xero.createContacts(tenant, asked));
        assert.deepEqual(
          contacts?.map(({ name }) => name),
          ['Bayside Club', 'City Agency', 'DIISR'],
        );
        [s.a, s.b, s.c] = contactIds(contacts);
      },
      'those of two IDs': async () => {
        const { contacts } = await sent(xero.getContacts(tenant, undefined, undefined, undefined, [s.a, s.c]));
        assert.deepEqual(contactIds(contacts).sort(), [s.a, s.c].sort());
      },
      'where the name is one of them': async () => {
        const { contacts } = await sent(xero.getContacts(tenant, undefined, 'Name=="City Agency"'));
        assert.deepEqual(contactIds(contacts), [s.b]);
      },
      'in the order of their names, backwards': async () => {
        const { contacts } = await sent(xero.getContacts(tenant, undefined, undefined, 'Name DESC', [s.a, s.b, s.c]));
        assert.deepEqual(contactIds(contacts), [s.c, s.b, s.a]);
      },
    }),
    'contacts through all pages of a hundred': (xero, s) => ({
      'create more than a hundred, thirty-five at once': async () => {
        const made: string[] = [];
        for (const batch of ['A', 'B', 'C']) {
          const contacts = Array.from({ length: 35 }, (_, n): Contact => ({ name: `Customer ${batch}${n}` }));
          made.push(...contactIds((await sent(xero.createContacts(tenant, { contacts }))).contacts));
        }
        assert.equal(new Set(made).size, 105);
        s.ids = made.join();
      },
      'the first page has a hundred': async () => {
        const { contacts } = await sent(xero.getContacts(tenant, undefined, undefined, undefined, undefined, 1));
        assert.equal(contacts?.length, 100);
      },
      'pages until one is empty': async () => {
        const rows = await numbered(
          async (page) => (await sent(xero.getContacts(tenant, undefined, undefined, undefined, undefined, page))).contacts ?? [],
        );
        once(contactIds(rows), s.ids.split(','), 'pages');
      },
    }),
    'a contact is updated, or else created': (xero, s) => ({
      'it is created': async () => {
        const { contacts } = await sent(xero.updateOrCreateContacts(tenant, { contacts: [{ name: 'Marine Systems' }] }));
        s.id = given(first(contacts).contactID, 'ContactID');
      },
      'it is updated': async () => {
        const asked = { contacts: [{ contactID: s.id, name: 'Marine Systems', accountNumber: 'M-1' }] };
        const changed = first((await sent(xero.updateOrCreateContacts(tenant, asked))).contacts);
        assert.deepEqual([changed.contactID, changed.accountNumber], [s.id, 'M-1']);
      },
      'there is one': async () => {
        const { contacts } = await sent(xero.getContacts(tenant, undefined, 'Name=="Marine Systems"'));
        assert.deepEqual(
          contacts?.map(({ contactID, accountNumber }) => [contactID, accountNumber]),
          [[s.id, 'M-1']],
        );
      },
    }),
    'a group of contacts': (xero, s) => ({
      create: async () => {
        const made = first((await sent(xero.createContactGroup(tenant, { contactGroups: [{ name: 'VIPs' }] }))).contactGroups);
        s.group = given(made.contactGroupID, 'ContactGroupID');
        assert.deepEqual([made.name, made.status], ['VIPs', ContactGroup.StatusEnum.ACTIVE]);
      },
      rename: async () => {
        const asked = { contactGroups: [{ name: 'Suppliers' }] };
        assert.equal(first((await sent(xero.updateContactGroup(tenant, s.group, asked))).contactGroups).name, 'Suppliers');
      },
      'put a contact into it': async () => {
        await contact(xero, s);
        await sent(xero.createContactGroupContacts(tenant, s.group, { contacts: [{ contactID: s.contact }] }));
      },
      'the group has the contact': async () => {
        const read = first((await sent(xero.getContactGroup(tenant, s.group))).contactGroups);
        assert.deepEqual([read.name, contactIds(read.contacts)], ['Suppliers', [s.contact]]);
      },
      'take it out': async () => sent(xero.deleteContactGroupContact(tenant, s.group, s.contact)),
      'the group has none': async () => {
        const read = first((await sent(xero.getContactGroup(tenant, s.group))).contactGroups);
        assert.deepEqual(read.contacts ?? [], []);
      },
      'the contact is there': async () =>
        assert.equal(first((await sent(xero.getContact(tenant, s.contact))).contacts).name, 'ABC Limited'),
    }),
    'an invoice, from draft to approved': (xero, s) => ({
      'create the contact': async () => contact(xero, s),
      create: async () => {
        const made = await invoice(xero, s);
        assert.deepEqual(
          [made.type, made.status, made.reference, made.contact?.contactID],
          [Invoice.TypeEnum.ACCREC, Invoice.StatusEnum.DRAFT, 'Website Design', s.contact],
        );
      },
      'it has its line': async () => {
        const line = first((await readInvoice(xero, s.id)).lineItems);
        assert.deepEqual([line.description, line.quantity, line.unitAmount], ['Acme Tires', 2, 20]);
      },
      submit: async () => {
        const asked = { invoices: [{ status: Invoice.StatusEnum.SUBMITTED } as Invoice] };
        assert.equal(first((await sent(xero.updateInvoice(tenant, s.id, asked))).invoices).status, Invoice.StatusEnum.SUBMITTED);
      },
      approve: async () => {
        const asked = { invoices: [{ status: Invoice.StatusEnum.AUTHORISED } as Invoice] };
        assert.equal(first((await sent(xero.updateInvoice(tenant, s.id, asked))).invoices).status, Invoice.StatusEnum.AUTHORISED);
      },
      'it is approved, and keeps its reference': async () => {
        const read = await readInvoice(xero, s.id);
        assert.deepEqual([read.status, read.reference], [Invoice.StatusEnum.AUTHORISED, 'Website Design']);
      },
    }),
    'a draft of an invoice is deleted': (xero, s) => ({
      create: async () => {
        await contact(xero, s);
        await invoice(xero, s);
      },
      delete: async () => {
        const asked = { invoices: [{ status: Invoice.StatusEnum.DELETED } as Invoice] };
        assert.equal(first((await sent(xero.updateInvoice(tenant, s.id, asked))).invoices).status, Invoice.StatusEnum.DELETED);
      },
      'it says that it is deleted': async () => assert.equal((await readInvoice(xero, s.id)).status, Invoice.StatusEnum.DELETED),
    }),
    'invoices are filtered': (xero, s) => ({
      'create one to send and one to pay, of two contacts': async () => {
        await contact(xero, s, 'Ridgeway University');
        s.university = s.contact;
        await invoice(xero, s, { invoiceNumber: 'ORC1001' });
        s.sent = s.id;
        await contact(xero, s, 'Gable Print');
        await invoice(xero, s, {
          type: Invoice.TypeEnum.ACCPAY,
          status: Invoice.StatusEnum.SUBMITTED,
          invoiceNumber: 'GB1-White',
        });
      },
      'by the status': async () => {
        const { invoices } = await sent(
          xero.getInvoices(tenant, undefined, undefined, undefined, undefined, undefined, undefined, ['DRAFT']),
        );
        assert.deepEqual(
          invoices?.map(({ invoiceID }) => invoiceID),
          [s.sent],
        );
      },
      'by the contact': async () => {
        const { invoices } = await sent(
          xero.getInvoices(tenant, undefined, undefined, undefined, undefined, undefined, [s.university]),
        );
        assert.deepEqual(
          invoices?.map(({ invoiceID }) => invoiceID),
          [s.sent],
        );
      },
      'by the number': async () => {
        const { invoices } = await sent(xero.getInvoices(tenant, undefined, undefined, undefined, undefined, ['GB1-White']));
        assert.deepEqual(
          invoices?.map(({ invoiceID }) => invoiceID),
          [s.id],
        );
      },
      'where the type is one of them': async () => {
        const { invoices } = await sent(xero.getInvoices(tenant, undefined, 'Type=="ACCPAY"'));
        assert.deepEqual(
          invoices?.map(({ invoiceID }) => invoiceID),
          [s.id],
        );
      },
    }),
    'a note in the history of an invoice': (xero, s) => ({
      'create the invoice': async () => {
        await contact(xero, s);
        await invoice(xero, s);
      },
      'add a note': async () => {
        const asked = { historyRecords: [{ details: 'Changed the due date to 10 October' }] };
        await sent(xero.createInvoiceHistory(tenant, s.id, asked));
      },
      'it is in the history': async () => {
        const { historyRecords } = await sent(xero.getInvoiceHistory(tenant, s.id));
        once(
          (historyRecords ?? []).map(({ details }) => details ?? ''),
          ['Changed the due date to 10 October'],
        );
      },
    }),
    'an item that is sold': (xero, s) => ({
      create: async () => {
        const asked: Item = { code: 'ITEM-1', name: 'Guitars', description: 'Fender Strats', salesDetails: { unitPrice: 995 } };
        const made = first((await sent(xero.createItems(tenant, { items: [asked] }))).items);
        s.id = given(made.itemID, 'ItemID');
        assert.deepEqual([made.code, made.name, made.salesDetails?.unitPrice], ['ITEM-1', 'Guitars', 995]);
      },
      change: async () => {
        const asked = { items: [{ code: 'ITEM-1', description: 'Hello Xero' }] };
        assert.equal(first((await sent(xero.updateItem(tenant, s.id, asked))).items).description, 'Hello Xero');
      },
      read: async () => {
        const read = first((await sent(xero.getItem(tenant, s.id))).items);
        assert.deepEqual([read.itemID, read.name, read.description], [s.id, 'Guitars', 'Hello Xero']);
      },
      'it is listed': async () =>
        once(
          ((await sent(xero.getItems(tenant))).items ?? []).map(({ itemID }) => itemID ?? ''),
          [s.id],
        ),
      delete: async () => sent(xero.deleteItem(tenant, s.id)),
      'it is gone': async () => {
        await refused(sent(xero.getItem(tenant, s.id)), 404);
      },
    }),
    'an account of the chart': (xero, s) => ({
      create: async () => {
        const asked: Account = { code: '123456', name: 'FooBar', type: AccountType.EXPENSE, description: 'Hello World' };
        const made = first((await sent(xero.createAccount(tenant, asked))).accounts);
        s.id = given(made.accountID, 'AccountID');
        assert.deepEqual([made.code, made.name, made.type], ['123456', 'FooBar', AccountType.EXPENSE]);
      },
      rename: async () => {
        const asked = { accounts: [{ code: '123456', name: 'BarFoo', type: AccountType.EXPENSE }] };
        assert.equal(first((await sent(xero.updateAccount(tenant, s.id, asked))).accounts).name, 'BarFoo');
      },
      read: async () => {
        const read = first((await sent(xero.getAccount(tenant, s.id))).accounts);
        assert.deepEqual([read.accountID, read.name, read.description], [s.id, 'BarFoo', 'Hello World']);
      },
      'where the code is its own': async () => {
        const { accounts } = await sent(xero.getAccounts(tenant, undefined, 'Code=="123456"'));
        assert.equal(first(accounts).accountID, s.id);
      },
      delete: async () => assert.equal(first((await sent(xero.deleteAccount(tenant, s.id))).accounts).accountID, s.id),
    }),
    'a tracking category and its options': (xero, s) => ({
      create: async () => {
        const made = first((await sent(xero.createTrackingCategory(tenant, { name: 'Region' }))).trackingCategories);
        s.id = given(made.trackingCategoryID, 'TrackingCategoryID');
        assert.equal(made.name, 'Region');
      },
      'add an option': async () => {
        const made = first((await sent(xero.createTrackingOptions(tenant, s.id, { name: 'North' }))).options);
        s.option = given(made.trackingOptionID, 'TrackingOptionID');
        assert.equal(made.name, 'North');
      },
      'rename the option': async () => {
        const asked = { name: 'Northland' };
        assert.equal(first((await sent(xero.updateTrackingOptions(tenant, s.id, s.option, asked))).options).name, 'Northland');
      },
      'rename the category': async () => {
        const changed = await sent(xero.updateTrackingCategory(tenant, s.id, { name: 'Area' }));
        assert.equal(first(changed.trackingCategories).name, 'Area');
      },
      'the category has the option': async () => {
        const read = first((await sent(xero.getTrackingCategory(tenant, s.id))).trackingCategories);
        const option = first(read.options);
        assert.deepEqual([read.name, option.trackingOptionID, option.name], ['Area', s.option, 'Northland']);
      },
      'delete the option': async () => sent(xero.deleteTrackingOptions(tenant, s.id, s.option)),
      'delete the category': async () => sent(xero.deleteTrackingCategory(tenant, s.id)),
    }),
    'a purchase order': (xero, s) => ({
      create: async () => {
        await contact(xero, s);
        const asked: PurchaseOrder = {
          contact: { contactID: s.contact },
          lineItems: lines,
          date: '2024-03-13',
          reference: 'PO for tires',
        };
        const made = first((await sent(xero.createPurchaseOrders(tenant, { purchaseOrders: [asked] }))).purchaseOrders);
        s.id = given(made.purchaseOrderID, 'PurchaseOrderID');
        assert.deepEqual([made.reference, made.contact?.contactID], ['PO for tires', s.contact]);
      },
      submit: async () => {
        const asked = { purchaseOrders: [{ status: PurchaseOrder.StatusEnum.SUBMITTED } as PurchaseOrder] };
        const changed = first((await sent(xero.updatePurchaseOrder(tenant, s.id, asked))).purchaseOrders);
        assert.equal(changed.status, PurchaseOrder.StatusEnum.SUBMITTED);
      },
      'read it': async () => {
        const read = first((await sent(xero.getPurchaseOrder(tenant, s.id))).purchaseOrders);
        assert.deepEqual([read.status, read.reference], [PurchaseOrder.StatusEnum.SUBMITTED, 'PO for tires']);
      },
      'those that are submitted': async () => {
        const { purchaseOrders } = await sent(xero.getPurchaseOrders(tenant, undefined, 'SUBMITTED'));
        assert.equal(first(purchaseOrders).purchaseOrderID, s.id);
      },
      'none is billed': async () =>
        assert.deepEqual((await sent(xero.getPurchaseOrders(tenant, undefined, 'BILLED'))).purchaseOrders ?? [], []),
    }),
    'a quote is sent': (xero, s) => ({
      create: async () => {
        await contact(xero, s);
        const asked: Quote = {
          contact: { contactID: s.contact },
          lineItems: lines,
          date: '2024-03-13',
          title: 'Tires for the van',
        };
        const made = first((await sent(xero.createQuotes(tenant, { quotes: [asked] }))).quotes);
        s.id = given(made.quoteID, 'QuoteID');
        assert.deepEqual([made.title, made.contact?.contactID], ['Tires for the van', s.contact]);
      },
      send: async () => {
        const asked: Quote = { contact: { contactID: s.contact }, date: '2024-03-13', status: QuoteStatusCodes.SENT };
        const changed = first((await sent(xero.updateQuote(tenant, s.id, { quotes: [asked] }))).quotes);
        assert.equal(changed.status, QuoteStatusCodes.SENT);
      },
      'it is sent': async () => {
        const read = first((await sent(xero.getQuote(tenant, s.id))).quotes);
        assert.deepEqual([read.status, read.title], [QuoteStatusCodes.SENT, 'Tires for the van']);
      },
    }),
    'a token that is refused': (xero, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await sent(xero.getContacts(tenant))).contacts)),
      'another is not': async () => {
        await refused(sent(another('not-a-token').getContacts(tenant)), 401);
      },
    }),
    'requests that are wrong': (xero) => ({
      'a contact that never was': async () => {
        await refused(sent(xero.getContact(tenant, nowhere)), 404);
      },
      'an invoice that never was': async () => {
        await refused(sent(xero.getInvoice(tenant, nowhere)), 404);
      },
      'an item without its code': async () => {
        await refused(sent(xero.createItems(tenant, { items: [{ name: 'No code' } as Item] })), 400);
      },
      'an item with a code that is too long': async () => {
        await refused(sent(xero.createItems(tenant, { items: [{ code: 'C'.repeat(31), name: 'Long' }] })), 400);
      },
    }),
  },
};
