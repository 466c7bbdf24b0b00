import assert from 'node:assert/strict';
import { CodatAccounting } from '@codat/accounting';
import {
  AccountStatus,
  AccountType,
  BankAccountBankAccountType,
  BillPaymentLineLinkType,
  BillStatus,
  CustomerStatus,
  InvoiceStatus,
  PaymentLinkType,
  PurchaseOrderStatus,
  type PushOption,
  SupplierStatus,
} from '@codat/accounting/dist/sdk/models/shared/index.js';
import { given, numbered, once, type Place, pages, refused, type State, statusOf, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): CodatAccounting =>
  new CodatAccounting({ serverURL: place.base, security: { authHeader: `Basic ${token}` } });

/** What every method of the client gives: it throws for no status, but tells it. */
interface Answer {
  readonly statusCode: number;
  readonly errorMessage?: unknown;
}
/** The answer, or a throw with its status, as other clients do of their own accord. */
const ok = async <A extends Answer>(call: Promise<A>): Promise<A> => {
  const answer = await call;
  if (answer.statusCode >= 400) {
    const why = JSON.stringify(answer.errorMessage ?? null);
    throw Object.assign(new Error(`answered ${answer.statusCode}: ${why}`), { statusCode: answer.statusCode });
  }
  assert.equal(answer.statusCode, 200);
  return answer;
};

/** A company and its connection to an accounting platform: both come from another API of the vendor's, and are known beforehand. */
const companyId = '8a210b68-6988-11ed-a1eb-0242ac120002';
const connectionId = '2e9d2c44-f675-40ba-8049-353bfcb5e171';
const at = { companyId, connectionId };
const missing = '00000000-0000-4000-8000-000000000000';
const all = { companyId, page: 1, pageSize: 1000 };

/** What tells of a write: it is under way, or done; the guide says that it is either. */
interface Push {
  readonly pushOperationKey: string;
  readonly status: string;
  readonly changes?: readonly { readonly type?: string; readonly recordRef?: { readonly id?: string } }[];
}
const accepted = <P extends Push>(push: P | undefined): P => {
  const told = given(push, 'push operation');
  assert.ok(['Pending', 'Success'].includes(told.status), told.status);
  assert.equal(typeof told.pushOperationKey, 'string');
  return told;
};
/** The id of what was made: in the record that the write tells of, or among its changes. */
const made = (push: (Push & { readonly data?: { readonly id?: string } }) | undefined): string => {
  const told = accepted(push);
  return given(told.data?.id ?? told.changes?.find(({ type }) => type === 'Created')?.recordRef?.id, 'id of what was made');
};
const ids = (rows: readonly { readonly id?: string }[] | undefined): string[] =>
  given(rows, 'results').map(({ id }) => given(id, 'id'));

interface Kept {
  readonly metadata?: { readonly isDeleted?: boolean };
}
/** What was deleted is not found any more, or says of itself that it is deleted. */
const gone = async (read: () => Promise<Kept | undefined>): Promise<void> => {
  let record: Kept | undefined;
  try {
    record = await read();
  } catch (thrown) {
    if (statusOf(thrown) === 404) return;
    throw thrown;
  }
  assert.equal(record?.metadata?.isDeleted, true, 'it is still there');
};

const customer = async (codat: CodatAccounting, customerName: string, status = CustomerStatus.Active): Promise<string> =>
  made((await ok(codat.customers.create({ ...at, customer: { customerName, status } }))).createCustomerResponse);
const supplier = async (codat: CodatAccounting, supplierName: string): Promise<string> =>
  made(
    (await ok(codat.suppliers.create({ ...at, supplier: { supplierName, status: SupplierStatus.Active } })))
      .createSupplierResponse,
  );
const account = async (codat: CodatAccounting, name: string, type = AccountType.Expense): Promise<string> =>
  made(
    (await ok(codat.accounts.create({ ...at, account: { name, type, status: AccountStatus.Active, isBankAccount: false } })))
      .createAccountResponse,
  );

const invoiceOf = (customerId: string, invoiceNumber: string, status = InvoiceStatus.Submitted) => ({
  invoiceNumber,
  customerRef: { id: customerId },
  issueDate: '2026-03-02T00:00:00Z',
  dueDate: '2026-04-01T00:00:00Z',
  currency: 'GBP',
  lineItems: [{ description: 'Anvil', quantity: 2, unitAmount: 50, subTotal: 100, taxAmount: 20, totalAmount: 120 }],
  subTotal: 100,
  totalTaxAmount: 20,
  totalAmount: 120,
  amountDue: 120,
  status,
});
const invoice = async (codat: CodatAccounting, customerId: string, invoiceNumber: string): Promise<string> =>
  made((await ok(codat.invoices.create({ ...at, invoice: invoiceOf(customerId, invoiceNumber) }))).createInvoiceResponse);
const billOf = (supplierId: string, reference: string) => ({
  reference,
  supplierRef: { id: supplierId },
  issueDate: '2026-03-02T00:00:00Z',
  dueDate: '2026-04-01T00:00:00Z',
  currency: 'GBP',
  lineItems: [{ description: 'Rope', quantity: 10, unitAmount: 5, subTotal: 50, taxAmount: 10, totalAmount: 60 }],
  subTotal: 50,
  taxAmount: 10,
  totalAmount: 60,
  amountDue: 60,
  status: BillStatus.Open,
});
const bill = async (codat: CodatAccounting, supplierId: string, reference: string): Promise<string> =>
  made((await ok(codat.bills.create({ ...at, bill: billOf(supplierId, reference) }))).createBillResponse);

const options = (option: PushOption | undefined): PushOption => {
  const told = given(option, 'model');
  assert.ok(told.displayName.length > 0, 'no name');
  assert.equal(typeof told.required, 'boolean');
  assert.ok(['Array', 'Object', 'String', 'Number', 'Boolean', 'DateTime', 'File', 'MultiPart'].includes(told.type), told.type);
  return told;
};

const open = async (codat: CodatAccounting, s: State): Promise<void> => {
  s.customer = await customer(codat, 'Acme Ltd');
  s.invoice = await invoice(codat, s.customer, 'INV-1');
};

/** Guide: docs.codat.io, "Using the API" (authentication, creating, updating and deleting data; paging, querying, ordering; errors) and "Accounting API". */
export const vendor: Vendor<CodatAccounting> = {
  document: 'codat/accounting.json',
  header: 'authorization',
  word: 'Basic',
  made: btoa('a-made-up-api-key'),
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a customer, who changes': (codat, s) => ({
      made: async () => {
        const { createCustomerResponse: push } = await ok(
          codat.customers.create({
            ...at,
            customer: { customerName: 'Acme Ltd', emailAddress: 'jo@example.com', status: CustomerStatus.Active },
          }),
        );
        s.id = made(push);
      },
      read: async () => {
        const { customer: read } = await ok(codat.customers.get({ companyId, customerId: s.id }));
        assert.deepEqual(
          [read?.id, read?.customerName, read?.emailAddress, read?.status],
          [s.id, 'Acme Ltd', 'jo@example.com', 'Active'],
        );
      },
      'is in the list': async () => once(ids((await ok(codat.customers.list(all))).customers?.results), [s.id], 'customers'),
      'called something else': async () => {
        const changed = { id: s.id, customerName: 'Acme & Sons', phone: '+44 25691 154789', status: CustomerStatus.Active };
        accepted((await ok(codat.customers.update({ ...at, customerId: s.id, customer: changed }))).updateCustomerResponse);
      },
      'read so': async () => {
        const { customer: read } = await ok(codat.customers.get({ companyId, customerId: s.id }));
        assert.deepEqual([read?.id, read?.customerName, read?.phone], [s.id, 'Acme & Sons', '+44 25691 154789']);
      },
      'still one': async () => once(ids((await ok(codat.customers.list(all))).customers?.results), [s.id], 'customers'),
    }),

    'what is told of a write': (codat, s) => ({
      'of one that makes': async () => {
        const { createSupplierResponse: push } = await ok(
          codat.suppliers.create({ ...at, supplier: { supplierName: 'Kelly', status: SupplierStatus.Active } }),
        );
        s.id = made(push);
        s.key = given(push, 'push').pushOperationKey;
        assert.equal(push?.companyId, companyId);
      },
      'it was asked for at a time': async () => {
        const { updateSupplierResponse: push } = await ok(
          codat.suppliers.update({
            ...at,
            supplierId: s.id,
            supplier: { id: s.id, supplierName: 'Kelly & Co', status: SupplierStatus.Active },
          }),
        );
        const told = accepted(push);
        assert.ok(!Number.isNaN(Date.parse(told.requestedOnUtc)), told.requestedOnUtc);
        assert.ok(Number.isInteger(told.statusCode), String(told.statusCode));
        assert.notEqual(told.pushOperationKey, s.key, 'each has a key of its own');
      },
      'and both were of one supplier': async () => {
        const { supplier: read } = await ok(codat.suppliers.get({ companyId, supplierId: s.id }));
        assert.deepEqual([read?.id, read?.supplierName, read?.status], [s.id, 'Kelly & Co', 'Active']);
      },
      'who is in the list once': async () =>
        once(ids((await ok(codat.suppliers.list(all))).suppliers?.results), [s.id], 'suppliers'),
    }),

    'a bill, from its arrival to its end': (codat, s) => ({
      'a supplier': async () => {
        s.supplier = await supplier(codat, "Kelly's Industrial Supplies");
      },
      'a bill of theirs': async () => {
        s.id = await bill(codat, s.supplier, 'BILL-1');
      },
      read: async () => {
        const { bill: read } = await ok(codat.bills.get({ companyId, billId: s.id }));
        assert.deepEqual([read?.id, read?.reference, read?.supplierRef?.id, read?.totalAmount], [s.id, 'BILL-1', s.supplier, 60]);
        assert.deepEqual(
          read?.lineItems?.map(({ description, quantity, unitAmount }) => [description, quantity, unitAmount]),
          [['Rope', 10, 5]],
        );
      },
      'a note on it': async () => {
        const changed = { ...billOf(s.supplier, 'BILL-1'), id: s.id, note: 'Late' };
        accepted((await ok(codat.bills.update({ ...at, billId: s.id, bill: changed }))).updateBillResponse);
      },
      'read with it': async () => {
        const { bill: read } = await ok(codat.bills.get({ companyId, billId: s.id }));
        assert.deepEqual([read?.note, read?.reference], ['Late', 'BILL-1']);
      },
      deleted: async () => {
        accepted((await ok(codat.bills.delete({ ...at, billId: s.id }))).pushOperationSummary);
      },
      'gone afterwards': () => gone(async () => (await ok(codat.bills.get({ companyId, billId: s.id }))).bill),
    }),

    'two invoices, one of which goes': (codat, s) => ({
      'two are made': async () => {
        await open(codat, s);
        s.other = await invoice(codat, s.customer, 'INV-2');
        assert.notEqual(s.invoice, s.other);
      },
      'each is what it was made': async () => {
        for (const [id, number] of [
          [s.invoice, 'INV-1'],
          [s.other, 'INV-2'],
        ] as const) {
          const { invoice: read } = await ok(codat.invoices.get({ companyId, invoiceId: id }));
          assert.deepEqual(
            [read?.id, read?.invoiceNumber, read?.customerRef?.id, read?.amountDue],
            [id, number, s.customer, 120],
          );
        }
      },
      'one is void': async () => {
        const changed = { ...invoiceOf(s.customer, 'INV-1', InvoiceStatus.Void), id: s.invoice };
        accepted((await ok(codat.invoices.update({ ...at, invoiceId: s.invoice, invoice: changed }))).updateInvoiceResponse);
        const { invoice: read } = await ok(codat.invoices.get({ companyId, invoiceId: s.invoice }));
        assert.deepEqual([read?.status, read?.invoiceNumber], ['Void', 'INV-1']);
      },
      'and goes': async () => {
        accepted((await ok(codat.invoices.delete({ ...at, invoiceId: s.invoice }))).pushOperationSummary);
        await gone(async () => (await ok(codat.invoices.get({ companyId, invoiceId: s.invoice }))).invoice);
      },
      'the other stays': async () => {
        const { invoice: read } = await ok(codat.invoices.get({ companyId, invoiceId: s.other }));
        assert.deepEqual([read?.status, read?.invoiceNumber], ['Submitted', 'INV-2']);
        once(ids((await ok(codat.invoices.list(all))).invoices?.results), [s.other], 'invoices');
      },
    }),

    'customers through all pages': (codat, s) => ({
      'five are made': async () => {
        const five: string[] = [];
        for (let n = 1; n <= 5; n += 1) five.push(await customer(codat, `Customer ${n}`));
        assert.equal(new Set(five).size, 5);
        s.ids = five.join(',');
      },
      'two on a page, and which it is': async () => {
        const { customers } = await ok(codat.customers.list({ companyId, page: 1, pageSize: 2 }));
        assert.deepEqual([customers?.results?.length, customers?.pageNumber, customers?.pageSize], [2, 1, 2]);
        assert.ok(given(customers, 'page').totalResults >= 5, String(customers?.totalResults));
      },
      'another after it': async () => {
        const { customers } = await ok(codat.customers.list({ companyId, page: 1, pageSize: 2 }));
        assert.equal(typeof customers?.links?.next?.href, 'string');
        assert.equal(typeof customers?.links?.current?.href, 'string');
      },
      'page after page, as the links lead': async () => {
        const rows = await pages(
          async (_from, page) => given((await ok(codat.customers.list({ companyId, page, pageSize: 2 }))).customers, 'page'),
          ({ results }) => given(results, 'results'),
          ({ links }) => links.next?.href,
        );
        once(ids(rows), s.ids.split(','), 'pages');
      },
      'page after page, until one is empty': async () => {
        const total = given((await ok(codat.customers.list({ companyId, page: 1, pageSize: 2 }))).customers, 'page').totalResults;
        const rows = await numbered(async (page) =>
          page > Math.ceil(total / 2)
            ? []
            : given((await ok(codat.customers.list({ companyId, page, pageSize: 2 }))).customers?.results, 'results'),
        );
        assert.equal(rows.length, total);
        once(ids(rows), s.ids.split(','), 'pages');
      },
    }),

    'customers asked for': (codat, s) => ({
      'three are made': async () => {
        s.birch = await customer(codat, 'Birch');
        s.ash = await customer(codat, 'Ash', CustomerStatus.Archived);
        s.cedar = await customer(codat, 'Cedar');
      },
      'by what they are called': async () => {
        const { customers } = await ok(codat.customers.list({ ...all, query: 'customerName=Birch' }));
        assert.deepEqual(
          customers?.results?.map(({ customerName }) => customerName),
          ['Birch'],
        );
        assert.deepEqual(ids(customers?.results), [s.birch]);
      },
      'those of a status': async () => {
        const { customers } = await ok(codat.customers.list({ ...all, query: 'status=Archived' }));
        once(ids(customers?.results), [s.ash], 'rows');
        for (const { status } of given(customers?.results, 'results')) assert.equal(status, 'Archived');
      },
      'by both': async () => {
        const { customers } = await ok(codat.customers.list({ ...all, query: 'customerName=Birch&&status=Archived' }));
        assert.deepEqual(ids(customers?.results), []);
      },
      'in the order of their names': async () => {
        const { customers } = await ok(codat.customers.list({ ...all, orderBy: 'customerName' }));
        const mine = [s.ash, s.birch, s.cedar];
        assert.deepEqual(
          ids(customers?.results).filter((id) => mine.includes(id)),
          mine,
        );
      },
      'and the other way round': async () => {
        const { customers } = await ok(codat.customers.list({ ...all, orderBy: '-customerName' }));
        const mine = [s.cedar, s.birch, s.ash];
        assert.deepEqual(
          ids(customers?.results).filter((id) => mine.includes(id)),
          mine,
        );
      },
    }),

    'the accounts of a company': (codat, s) => ({
      'two are made': async () => {
        s.rent = await account(codat, 'Rent');
        s.sales = await account(codat, 'Sales', AccountType.Income);
      },
      'one of them': async () => {
        const { account: read } = await ok(codat.accounts.get({ companyId, accountId: s.rent }));
        assert.deepEqual(
          [read?.id, read?.name, read?.type, read?.status, read?.isBankAccount],
          [s.rent, 'Rent', 'Expense', 'Active', false],
        );
      },
      'both in the list': async () =>
        once(ids((await ok(codat.accounts.list(all))).accounts?.results), [s.rent, s.sales], 'accounts'),
      'those for income': async () => {
        const { accounts } = await ok(codat.accounts.list({ ...all, query: 'type=Income' }));
        once(ids(accounts?.results), [s.sales], 'rows');
        for (const { type } of given(accounts?.results, 'results')) assert.equal(type, 'Income');
      },
      'not more on a page than asked': async () =>
        assert.equal((await ok(codat.accounts.list({ companyId, page: 1, pageSize: 1 }))).accounts?.results?.length, 1),
    }),

    'an invoice that is paid': (codat, s) => ({
      'an invoice, and an account for the money': async () => {
        await open(codat, s);
        s.account = await account(codat, 'Till', AccountType.Asset);
      },
      paid: async () => {
        const payment = {
          date: '2026-03-09T00:00:00Z',
          customerRef: { id: s.customer },
          accountRef: { id: s.account },
          currency: 'GBP',
          totalAmount: 120,
          reference: 'PAY-1',
          lines: [{ amount: 120, links: [{ type: PaymentLinkType.Invoice, id: s.invoice, amount: -120 }] }],
        };
        s.id = made((await ok(codat.payments.create({ ...at, payment }))).createPaymentResponse);
      },
      'who paid, and where to': async () => {
        const { payment } = await ok(codat.payments.get({ companyId, paymentId: s.id }));
        assert.deepEqual(
          [payment?.id, payment?.reference, payment?.totalAmount, payment?.customerRef?.id, payment?.accountRef?.id],
          [s.id, 'PAY-1', 120, s.customer, s.account],
        );
      },
      'for which invoice': async () => {
        const { payment } = await ok(codat.payments.get({ companyId, paymentId: s.id }));
        assert.deepEqual(
          payment?.lines?.flatMap(({ links }) => links?.map(({ type, id, amount }) => [type, id, amount])),
          [['Invoice', s.invoice, -120]],
        );
      },
      'among the payments of that customer': async () => {
        const { payments } = await ok(codat.payments.list({ ...all, query: `customerRef.id=${s.customer}` }));
        once(ids(payments?.results), [s.id], 'payments');
        for (const { customerRef } of given(payments?.results, 'results')) assert.equal(customerRef?.id, s.customer);
      },
    }),

    'a bill that is paid, or was it': (codat, s) => ({
      'a bill': async () => {
        s.supplier = await supplier(codat, 'Kelly');
        s.bill = await bill(codat, s.supplier, 'BILL-7');
      },
      paid: async () => {
        const billPayment = {
          date: '2026-03-09T00:00:00Z',
          supplierRef: { id: s.supplier },
          currency: 'GBP',
          totalAmount: 60,
          reference: 'OUT-1',
          lines: [{ amount: 60, links: [{ type: BillPaymentLineLinkType.Bill, id: s.bill, amount: -60 }] }],
        };
        s.id = made((await ok(codat.billPayments.create({ ...at, billPayment }))).createBillPaymentResponse);
      },
      read: async () => {
        const { billPayment } = await ok(codat.billPayments.get({ companyId, billPaymentId: s.id }));
        assert.deepEqual(
          [billPayment?.id, billPayment?.reference, billPayment?.totalAmount, billPayment?.supplierRef?.id],
          [s.id, 'OUT-1', 60, s.supplier],
        );
        assert.equal(billPayment?.lines?.[0]?.links?.[0]?.id, s.bill);
      },
      'is in the list': async () => once(ids((await ok(codat.billPayments.list(all))).billPayments?.results), [s.id], 'payments'),
      'taken back': async () => {
        accepted((await ok(codat.billPayments.delete({ ...at, billPaymentId: s.id }))).pushOperationSummary);
      },
      'gone afterwards': () =>
        gone(async () => (await ok(codat.billPayments.get({ companyId, billPaymentId: s.id }))).billPayment),
      'the bill stays': async () => assert.equal((await ok(codat.bills.get({ companyId, billId: s.bill }))).bill?.id, s.bill),
    }),

    'an entry in the books': (codat, s) => ({
      'the book': async () => {
        s.journal = made(
          (await ok(codat.journals.create({ ...at, journal: { name: 'General', journalCode: 'GEN' } }))).createJournalResponse,
        );
        const { journal } = await ok(codat.journals.get({ companyId, journalId: s.journal }));
        assert.deepEqual([journal?.id, journal?.name, journal?.journalCode], [s.journal, 'General', 'GEN']);
      },
      'two accounts': async () => {
        s.from = await account(codat, 'Bank', AccountType.Asset);
        s.to = await account(codat, 'Rent');
      },
      'an entry, whose lines make nothing together': async () => {
        const journalEntry = {
          postedOn: '2026-03-02T00:00:00Z',
          description: 'Rent of March',
          journalRef: { id: s.journal },
          journalLines: [
            { accountRef: { id: s.from }, netAmount: -800, currency: 'GBP' },
            { accountRef: { id: s.to }, netAmount: 800, currency: 'GBP' },
          ],
        };
        s.id = made((await ok(codat.journalEntries.create({ ...at, journalEntry }))).createJournalEntryResponse);
      },
      read: async () => {
        const { journalEntry } = await ok(codat.journalEntries.get({ companyId, journalEntryId: s.id }));
        assert.deepEqual(
          [journalEntry?.id, journalEntry?.description, journalEntry?.journalRef?.id],
          [s.id, 'Rent of March', s.journal],
        );
        assert.deepEqual(
          journalEntry?.journalLines?.map(({ accountRef, netAmount }) => [accountRef?.id, netAmount]),
          [
            [s.from, -800],
            [s.to, 800],
          ],
        );
      },
      'is in the list': async () =>
        once(ids((await ok(codat.journalEntries.list(all))).journalEntries?.results), [s.id], 'entries'),
      'struck out': async () => {
        accepted((await ok(codat.journalEntries.delete({ ...at, journalEntryId: s.id }))).pushOperationSummary);
      },
      'gone afterwards': () =>
        gone(async () => (await ok(codat.journalEntries.get({ companyId, journalEntryId: s.id }))).journalEntry),
    }),

    'an account at a bank': (codat, s) => ({
      made: async () => {
        const bankAccount = {
          accountName: 'Current',
          accountNumber: '12345678',
          sortCode: '040004',
          accountType: BankAccountBankAccountType.Debit,
          currency: 'GBP',
          institution: 'Monzo',
        };
        s.id = made((await ok(codat.bankAccounts.create({ ...at, bankAccount }))).createBankAccountResponse);
      },
      'read, of its connection': async () => {
        const { bankAccount } = await ok(codat.bankAccounts.get({ ...at, accountId: s.id }));
        assert.deepEqual(
          [bankAccount?.id, bankAccount?.accountName, bankAccount?.accountNumber, bankAccount?.accountType],
          [s.id, 'Current', '12345678', 'Debit'],
        );
      },
      'is in the list of that connection': async () =>
        once(ids((await ok(codat.bankAccounts.list({ ...all, connectionId }))).bankAccounts?.results), [s.id], 'accounts'),
      'called something else': async () => {
        const bankAccount = { id: s.id, accountName: 'Main', accountNumber: '12345678', currency: 'GBP' };
        accepted((await ok(codat.bankAccounts.update({ ...at, bankAccountId: s.id, bankAccount }))).updateBankAccountResponse);
      },
      'read so': async () => {
        const { bankAccount } = await ok(codat.bankAccounts.get({ ...at, accountId: s.id }));
        assert.deepEqual([bankAccount?.id, bankAccount?.accountName], [s.id, 'Main']);
      },
    }),

    'an order from a supplier': (codat, s) => ({
      'a supplier': async () => {
        s.supplier = await supplier(codat, 'Kelly');
      },
      ordered: async () => {
        const purchaseOrder = {
          purchaseOrderNumber: 'PO-1',
          supplierRef: { id: s.supplier },
          issueDate: '2026-03-02T00:00:00Z',
          currency: 'GBP',
          lineItems: [
            { description: 'Rope', quantity: 9, unitAmount: 115, subTotal: 1035, taxAmount: 103.5, totalAmount: 1138.5 },
          ],
          totalAmount: 1138.5,
          status: PurchaseOrderStatus.Open,
        };
        s.id = made((await ok(codat.purchaseOrders.create({ ...at, purchaseOrder }))).createPurchaseOrderResponse);
      },
      read: async () => {
        const { purchaseOrder } = await ok(codat.purchaseOrders.get({ companyId, purchaseOrderId: s.id }));
        assert.deepEqual(
          [purchaseOrder?.id, purchaseOrder?.purchaseOrderNumber, purchaseOrder?.supplierRef?.id, purchaseOrder?.status],
          [s.id, 'PO-1', s.supplier, 'Open'],
        );
      },
      'among the open ones': async () => {
        const { purchaseOrders } = await ok(codat.purchaseOrders.list({ ...all, query: 'status=Open' }));
        once(ids(purchaseOrders?.results), [s.id], 'orders');
        for (const { status } of given(purchaseOrders?.results, 'results')) assert.equal(status, 'Open');
      },
      delivered: async () => {
        const purchaseOrder = {
          id: s.id,
          purchaseOrderNumber: 'PO-1',
          supplierRef: { id: s.supplier },
          status: PurchaseOrderStatus.Closed,
        };
        accepted(
          (await ok(codat.purchaseOrders.update({ ...at, purchaseOrderId: s.id, purchaseOrder }))).updatePurchaseOrderResponse,
        );
      },
      'no longer among them': async () => {
        const { purchaseOrders } = await ok(codat.purchaseOrders.list({ ...all, query: 'status=Open' }));
        assert.ok(!ids(purchaseOrders?.results).includes(s.id), 'it is');
        assert.equal((await ok(codat.purchaseOrders.get({ companyId, purchaseOrderId: s.id }))).purchaseOrder?.status, 'Closed');
      },
    }),

    'what may be written': (codat) => ({
      'of a customer': async () => {
        const { properties, type } = options((await ok(codat.customers.getCreateUpdateModel(at))).pushOption);
        assert.equal(type, 'Object');
        for (const { displayName, required } of Object.values(given(properties, 'properties')))
          assert.deepEqual([typeof displayName, typeof required], ['string', 'boolean']);
      },
      'of an account': async () => {
        options((await ok(codat.accounts.getCreateModel(at))).pushOption);
      },
      'of an invoice': async () => {
        options((await ok(codat.invoices.getCreateUpdateModel(at))).pushOption);
      },
      'of a bill': async () => {
        options((await ok(codat.bills.getCreateUpdateModel(at))).pushOption);
      },
    }),

    'a company and its reports': (codat) => ({
      'what it is': async () => {
        const company = given((await ok(codat.companyInfo.get({ companyId }))).companyDataset, 'company');
        for (const told of [company.companyName, company.baseCurrency])
          assert.ok(told === undefined || told === null || typeof told === 'string', String(told));
      },
      'asked for anew': async () => {
        const dataset = given((await ok(codat.companyInfo.refresh({ companyId }))).dataset, 'dataset');
        assert.equal(dataset.companyId, companyId);
        assert.deepEqual([typeof dataset.id, typeof dataset.isCompleted, typeof dataset.status], ['string', 'boolean', 'string']);
        assert.ok(Number.isInteger(dataset.progress), String(dataset.progress));
      },
      'what it has and owes': async () => {
        const sheet = given(
          (await ok(codat.reports.getBalanceSheet({ companyId, periodLength: 1, periodsToCompare: 3 }))).balanceSheet,
          'balance sheet',
        );
        assert.equal(typeof sheet.currency, 'string');
        for (const { netAssets } of sheet.reports) assert.equal(typeof netAssets, 'number');
      },
      'what it made': async () => {
        const report = given(
          (await ok(codat.reports.getProfitAndLoss({ companyId, periodLength: 1, periodsToCompare: 3 }))).profitAndLossReport,
          'report',
        );
        assert.equal(typeof report.currency, 'string');
        for (const { netProfit, grossProfit } of report.reports)
          assert.deepEqual([typeof netProfit, typeof grossProfit], ['number', 'number']);
      },
      'whether it is known who owes it': async () =>
        assert.equal(
          typeof (await ok(codat.reports.isAgedDebtorReportAvailable({ companyId })))
            .isAgedDebtorReportAvailable200ApplicationJSONBoolean,
          'boolean',
        ),
      'who owes it': async () => {
        const report = given(
          (await ok(codat.reports.getAgedDebtorsReport({ companyId, numberOfPeriods: 4, periodLengthDays: 30 })))
            .agedDebtorReport,
          'report',
        );
        for (const { agedCurrencyOutstanding } of report.data ?? [])
          for (const { agedOutstandingAmounts } of agedCurrencyOutstanding ?? [])
            for (const { amount } of agedOutstandingAmounts ?? []) assert.ok(['number', 'undefined'].includes(typeof amount));
      },
    }),

    'a key that is refused': (codat, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await ok(codat.customers.list(all))).customers?.results)),
      'a wrong one is not, for a list': () => refused(ok(another(btoa('wrong')).customers.list(all)), 401),
      'nor for a write': () =>
        refused(
          ok(
            another(btoa('wrong')).customers.create({
              ...at,
              customer: { customerName: 'Stolen', status: CustomerStatus.Active },
            }),
          ),
          401,
        ),
      'nor for a report': () => refused(ok(another(btoa('wrong')).reports.isAgedDebtorReportAvailable({ companyId })), 401),
    }),

    'what is not there, and what is not right': (codat) => ({
      'no such customer': () => refused(ok(codat.customers.get({ companyId, customerId: missing })), 404),
      'no such invoice': () => refused(ok(codat.invoices.get({ companyId, invoiceId: missing })), 404),
      'no such bill': () => refused(ok(codat.bills.get({ companyId, billId: missing })), 404),
      'a page has a size': () =>
        refused(ok(codat.customers.list({ companyId, page: 1, pageSize: 'many' as unknown as number })), 400),
      'not one above what is allowed': () => refused(ok(codat.customers.list({ companyId, page: 1, pageSize: 5001 })), 400),
      'a customer has a status that there is': () =>
        refused(ok(codat.customers.create({ ...at, customer: { customerName: 'Acme', status: 'Lost' as CustomerStatus } })), 400),
    }),
  },
};
