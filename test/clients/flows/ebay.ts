import assert from 'node:assert/strict';
import eBayApi from 'ebay-api';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** The client keeps the status of a refusal far within its error: it is told by the error itself here. */
const telling = <Part extends object>(part: Part): Part =>
  new Proxy(part, {
    get(held, name) {
      const member: unknown = Reflect.get(held, name, held);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const answer: unknown = member.apply(held, given);
        if (!(answer instanceof Promise)) return answer;
        return answer.catch((thrown: { meta?: { res?: { status?: number } } }) => {
          const status = thrown.meta?.res?.status;
          throw status === undefined ? thrown : Object.assign(thrown, { status });
        });
      };
    },
  });

/** The client makes its address of a scheme, a first label and the rest of a host, which are options of each part of the service. */
const connect = (place: Place, token: string) => {
  const { protocol, host, pathname } = new URL(place.base);
  const [subdomain = '', ...rest] = host.split('.');
  const ebay = new eBayApi({
    appId: 'example-app',
    certId: 'example-cert',
    sandbox: false,
    autoRefreshToken: false,
    marketplaceId: 'EBAY_US',
  });
  ebay.OAuth2.setCredentials(token);
  const address = {
    schema: `${protocol}//`,
    subdomain,
    tld: rest.join('.'),
    sandbox: false,
    basePath: pathname.replace(/\/$/, ''),
  };
  return {
    account: telling(ebay.sell.account.api(address)),
    /** The same, whose answers have their status and headers. */
    whole: telling(ebay.sell.account.api({ ...address, returnResponse: true })),
  };
};
type Client = ReturnType<typeof connect>;

type Row = Record<string, unknown>;
const of = (rows: readonly Row[] | undefined, member: string): string[] =>
  given(rows, 'list').map((row) => String(given(row[member], member)));

const everything = 'ALL_EXCLUDING_MOTORS_VEHICLES';
const shipping = (name: string, marketplaceId: 'EBAY_US' | 'EBAY_GB' = 'EBAY_US') => ({
  categoryTypes: [{ name: everything }],
  marketplaceId,
  name,
  handlingTime: { unit: 'DAY', value: 1 },
  shippingOptions: [
    {
      costType: 'FLAT_RATE',
      optionType: 'DOMESTIC',
      shippingServices: [
        { sortOrder: 1, shippingCarrierCode: 'USPS', shippingServiceCode: 'USPSPriorityFlatRateBox', freeShipping: true },
      ],
    },
  ],
});
const payment = (name: string, marketplaceId: 'EBAY_US' | 'EBAY_GB' = 'EBAY_US') => ({
  name,
  marketplaceId,
  categoryTypes: [{ name: everything }],
  immediatePay: true,
});
const returns = (name: string) => ({
  name,
  marketplaceId: 'EBAY_US',
  categoryTypes: [{ name: everything }],
  returnsAccepted: true,
  refundMethod: 'MONEY_BACK',
  returnShippingCostPayer: 'SELLER',
  returnPeriod: { value: 30, unit: 'DAY' },
});

/** Guide: developer.ebay.com, Account API: "eBay business policies", "Establishing sales-tax tables", "Opting in to business policies", "Custom policies", and the reference of each call. */
export const vendor: Vendor<Client> = {
  document: 'ebay/sell-account.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'v^1.1#i^1#p^3#f^0#r^0#I^3#example',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a fulfillment policy, from the first to the last day': ({ account, whole }, s) => ({
      create: async () => {
        const { status, data } = await whole.createFulfillmentPolicy(shipping('Domestic free shipping') as never);
        assert.equal(status, 201);
        s.id = String(given(data.fulfillmentPolicyId, 'fulfillmentPolicyId'));
        assert.partialDeepStrictEqual(data, shipping('Domestic free shipping'));
      },
      read: async () => {
        const policy = await account.getFulfillmentPolicy(s.id);
        assert.equal(policy.fulfillmentPolicyId, s.id);
        assert.partialDeepStrictEqual(policy, shipping('Domestic free shipping'));
      },
      'by its name': async () =>
        assert.equal((await account.getFulfillmentPolicyByName('EBAY_US', 'Domestic free shipping')).fulfillmentPolicyId, s.id),
      list: async () =>
        once(of((await account.getFulfillmentPolicies('EBAY_US')).fulfillmentPolicies, 'fulfillmentPolicyId'), [s.id]),
      'three days instead of one': async () => {
        const changed = { ...shipping('Domestic free shipping'), handlingTime: { unit: 'DAY', value: 3 } };
        const policy = await account.updateFulfillmentPolicy(s.id, changed as never);
        assert.equal(policy.fulfillmentPolicyId, s.id);
        assert.partialDeepStrictEqual(policy, { name: 'Domestic free shipping', handlingTime: { unit: 'DAY', value: 3 } });
      },
      'read so': async () =>
        assert.partialDeepStrictEqual(await account.getFulfillmentPolicy(s.id), { handlingTime: { unit: 'DAY', value: 3 } }),
      delete: async () => assert.equal((await whole.deleteFulfillmentPolicy(s.id)).status, 204),
      'it is gone': async () => {
        await refused(account.getFulfillmentPolicy(s.id), 404);
      },
      'and no longer in the list': async () =>
        assert.ok(
          !of((await account.getFulfillmentPolicies('EBAY_US')).fulfillmentPolicies, 'fulfillmentPolicyId').includes(s.id),
        ),
    }),

    'a payment policy': ({ account, whole }, s) => ({
      create: async () => {
        const { status, data } = await whole.createPaymentPolicy(payment('Pay at once') as never);
        assert.equal(status, 201);
        s.id = String(given(data.paymentPolicyId, 'paymentPolicyId'));
        assert.partialDeepStrictEqual(data, payment('Pay at once'));
      },
      read: async () => {
        const policy = await account.getPaymentPolicy(s.id);
        assert.deepEqual([policy.paymentPolicyId, policy.name, policy.immediatePay], [s.id, 'Pay at once', true]);
      },
      'by its name': async () =>
        assert.equal((await account.getPaymentPolicyByName('EBAY_US', 'Pay at once')).paymentPolicyId, s.id),
      'called something else, with a description': async () => {
        const asked = { ...payment('Pay later'), immediatePay: false, description: 'For old customers' };
        const policy = await account.updatePaymentPolicy(s.id, asked as never);
        assert.partialDeepStrictEqual(policy, { paymentPolicyId: s.id, ...asked });
      },
      'listed so': async () => {
        const { paymentPolicies } = await account.getPaymentPolicies('EBAY_US');
        assert.deepEqual(
          paymentPolicies.filter((row: Row) => row.paymentPolicyId === s.id).map((row: Row) => [row.name, row.immediatePay]),
          [['Pay later', false]],
        );
      },
      delete: async () => assert.equal((await whole.deletePaymentPolicy(s.id)).status, 204),
      'it is gone': async () => {
        await refused(account.getPaymentPolicy(s.id), 404);
      },
    }),

    'a return policy': ({ account, whole }, s) => ({
      create: async () => {
        const { status, data } = await whole.createReturnPolicy(returns('Thirty days') as never);
        assert.equal(status, 201);
        s.id = String(given(data.returnPolicyId, 'returnPolicyId'));
        assert.partialDeepStrictEqual(data, returns('Thirty days'));
      },
      'where it is found is told': async () => {
        const { data, headers } = await whole.createReturnPolicy(returns('Sixty days') as never);
        assert.ok(String(given(headers.location, 'Location')).endsWith(`/return_policy/${data.returnPolicyId}`));
      },
      read: async () => {
        const policy = await account.getReturnPolicy(s.id);
        assert.equal(policy.returnPolicyId, s.id);
        assert.partialDeepStrictEqual(policy, returns('Thirty days'));
      },
      'the buyer pays': async () => {
        const asked = { ...returns('Thirty days'), returnShippingCostPayer: 'BUYER' };
        assert.equal((await account.updateReturnPolicy(s.id, asked as never)).returnShippingCostPayer, 'BUYER');
      },
      'by its name, so': async () => {
        const policy = await account.getReturnPolicyByName('EBAY_US', 'Thirty days');
        assert.deepEqual([policy.returnPolicyId, policy.returnShippingCostPayer], [s.id, 'BUYER']);
      },
      'nothing is taken back': async () => {
        const asked = {
          name: 'Thirty days',
          marketplaceId: 'EBAY_US',
          categoryTypes: [{ name: everything }],
          returnsAccepted: false,
        };
        assert.equal((await account.updateReturnPolicy(s.id, asked as never)).returnsAccepted, false);
      },
      delete: async () => assert.equal((await whole.deleteReturnPolicy(s.id)).status, 204),
      'it is gone': async () => {
        await refused(account.getReturnPolicy(s.id), 404);
      },
    }),

    'policies of two marketplaces': ({ account }, s) => ({
      'one for each': async () => {
        s.us = String(given((await account.createPaymentPolicy(payment('Over there') as never)).paymentPolicyId, 'id'));
        s.gb = String(given((await account.createPaymentPolicy(payment('Over here', 'EBAY_GB') as never)).paymentPolicyId, 'id'));
        assert.notEqual(s.us, s.gb);
      },
      'those of the one': async () => {
        const ids = of((await account.getPaymentPolicies('EBAY_US')).paymentPolicies, 'paymentPolicyId');
        assert.deepEqual([ids.includes(s.us), ids.includes(s.gb)], [true, false]);
      },
      'those of the other': async () => {
        const { paymentPolicies, total } = await account.getPaymentPolicies('EBAY_GB');
        const ids = of(paymentPolicies, 'paymentPolicyId');
        assert.deepEqual([ids.includes(s.us), ids.includes(s.gb)], [false, true]);
        assert.equal(total, ids.length);
      },
      'by the name, in the right one': async () =>
        assert.equal((await account.getPaymentPolicyByName('EBAY_GB', 'Over here')).paymentPolicyId, s.gb),
      'and not in the other': async () => {
        await refused(account.getPaymentPolicyByName('EBAY_US', 'Over here'), 400, 404);
      },
    }),

    'several fulfillment policies': ({ account }, s) => ({
      'three are made': async () => {
        for (const n of [1, 2, 3])
          s[`id${n}`] = String(
            given((await account.createFulfillmentPolicy(shipping(`Policy ${n}`) as never)).fulfillmentPolicyId, 'id'),
          );
      },
      'all are listed, and counted': async () => {
        const { fulfillmentPolicies, total } = await account.getFulfillmentPolicies('EBAY_US');
        once(of(fulfillmentPolicies, 'fulfillmentPolicyId'), [s.id1, s.id2, s.id3]);
        assert.equal(total, fulfillmentPolicies.length);
      },
      'one goes': async () => {
        await account.deleteFulfillmentPolicy(s.id2);
        const ids = of((await account.getFulfillmentPolicies('EBAY_US')).fulfillmentPolicies, 'fulfillmentPolicyId');
        once(ids, [s.id1, s.id3]);
        assert.ok(!ids.includes(s.id2));
      },
    }),

    'a policy of the seller’s own': ({ account, whole }, s) => ({
      create: async () => {
        const { status, headers } = await whole.createCustomPolicy({
          name: 'Battery law',
          label: 'About batteries',
          description: 'Batteries are taken back.',
          policyType: 'TAKE_BACK',
        } as never);
        assert.equal(status, 201);
        s.id = given(String(given(headers.location, 'Location')).split('/').at(-1), 'id in Location');
      },
      read: async () =>
        assert.partialDeepStrictEqual(await account.getCustomPolicy(s.id), {
          customPolicyId: s.id,
          name: 'Battery law',
          label: 'About batteries',
          description: 'Batteries are taken back.',
          policyType: 'TAKE_BACK',
        }),
      'another, of the other type': async () => {
        const { headers } = await whole.createCustomPolicy({
          name: 'Safety',
          label: 'Safe toys',
          description: 'Toys are tested.',
          policyType: 'PRODUCT_COMPLIANCE',
        } as never);
        s.other = given(String(given(headers.location, 'Location')).split('/').at(-1), 'id in Location');
      },
      'those of one type': async () => {
        const ids = of((await account.getCustomPolicies('TAKE_BACK')).customPolicies, 'customPolicyId');
        assert.deepEqual([ids.includes(s.id), ids.includes(s.other)], [true, false]);
      },
      'those of both': async () =>
        once(of((await account.getCustomPolicies('TAKE_BACK,PRODUCT_COMPLIANCE')).customPolicies, 'customPolicyId'), [
          s.id,
          s.other,
        ]),
      'change it': async () => {
        const asked = { name: 'Battery law', label: 'Old batteries', description: 'Send them to us.' };
        assert.equal((await whole.updateCustomPolicy(s.id, asked)).status, 204);
      },
      'read so': async () =>
        assert.partialDeepStrictEqual(await account.getCustomPolicy(s.id), {
          label: 'Old batteries',
          description: 'Send them to us.',
        }),
      'its name is taken': async () => {
        const again = { name: 'Battery law', label: 'Again', description: 'Again.', policyType: 'TAKE_BACK' };
        await refused(account.createCustomPolicy(again as never), 409);
      },
      'one that nobody has made': async () => {
        await refused(account.getCustomPolicy('9999999999'), 404);
      },
    }),

    'a table of sales tax': ({ account, whole }) => ({
      'an entry': async () => {
        const asked = { salesTaxPercentage: '8.75', shippingAndHandlingTaxed: true };
        assert.equal((await whole.createOrReplaceSalesTax('US', 'PR', asked)).status, 204);
      },
      read: async () =>
        assert.partialDeepStrictEqual(await account.getSalesTax('US', 'PR'), {
          countryCode: 'US',
          salesTaxJurisdictionId: 'PR',
          salesTaxPercentage: '8.75',
          shippingAndHandlingTaxed: true,
        }),
      'another place': async () => {
        await account.createOrReplaceSalesTax('US', 'GU', { salesTaxPercentage: '2', shippingAndHandlingTaxed: false });
      },
      'both in the table': async () =>
        once(of((await account.getSalesTaxes('US')).salesTaxes, 'salesTaxJurisdictionId'), ['PR', 'GU']),
      'another rate, in the same place': async () => {
        await account.createOrReplaceSalesTax('US', 'PR', { salesTaxPercentage: '9', shippingAndHandlingTaxed: false });
        const { salesTaxes } = await account.getSalesTaxes('US');
        assert.deepEqual(
          salesTaxes
            .filter((row: Row) => row.salesTaxJurisdictionId === 'PR')
            .map((row: Row) => [row.salesTaxPercentage, row.shippingAndHandlingTaxed]),
          [['9', false]],
        );
      },
      'take it out': async () => assert.equal((await whole.deleteSalesTax('US', 'PR')).status, 204),
      'only the other is left': async () => {
        const places = of((await account.getSalesTaxes('US')).salesTaxes, 'salesTaxJurisdictionId');
        assert.deepEqual([places.includes('PR'), places.includes('GU')], [false, true]);
      },
      'nothing is answered for it': async () => {
        const answer = await whole.getSalesTax('US', 'PR').catch((thrown: { meta?: { res?: { status?: number } } }) => {
          if (thrown.meta?.res?.status !== 404) throw thrown;
          return { status: 404 };
        });
        assert.ok([204, 404].includes(answer.status), `answered ${answer.status}`);
      },
    }),

    'a program of the seller': ({ account }) => ({
      'opt in': async () => {
        await account.optInToProgram({ programType: 'SELLING_POLICY_MANAGEMENT' });
      },
      'it is one of theirs': async () =>
        once(of((await account.getOptedInPrograms()).programs, 'programType'), ['SELLING_POLICY_MANAGEMENT']),
      'once is enough': async () => {
        await refused(account.optInToProgram({ programType: 'SELLING_POLICY_MANAGEMENT' }), 409);
      },
      'opt out': async () => {
        await account.optOutOfProgram({ programType: 'SELLING_POLICY_MANAGEMENT' });
      },
      'it is no longer': async () => {
        const answer = await account.getOptedInPrograms().catch((thrown: { meta?: { res?: { status?: number } } }) => {
          if (thrown.meta?.res?.status !== 404) throw thrown;
          return { programs: [] };
        });
        assert.ok(!of(answer.programs ?? [], 'programType').includes('SELLING_POLICY_MANAGEMENT'));
      },
    }),

    'what the account may do': ({ account }) => ({
      'its privileges': async () => assert.equal(typeof (await account.getPrivileges()).sellerRegistrationCompleted, 'boolean'),
      'its rate tables': async () => assert.ok(Array.isArray((await account.getRateTables()).rateTables)),
      'those of one country': async () => {
        const { rateTables } = await account.getRateTables('US');
        assert.ok(rateTables.every((row: Row) => row.countryCode === 'US'));
      },
      'its subscriptions, one to a page': async () => {
        const { subscriptions } = await account.getSubscription({ limit: '1' });
        assert.ok(subscriptions.length <= 1, `${subscriptions.length} on a page`);
      },
    }),

    'a token that is refused': (_client, _s, another) => ({
      refused: async () => {
        await refused(another('v^1.1#nobody').account.getFulfillmentPolicies('EBAY_US'), 401);
      },
    }),

    'requests that are wrong': ({ account }) => ({
      'policies of no marketplace': async () => {
        await refused(account.get('/fulfillment_policy'), 400);
      },
      'a name, but no marketplace': async () => {
        await refused(account.get('/return_policy/get_by_policy_name', { params: { name: 'Thirty days' } }), 400);
      },
      'a policy that nobody has made': async () => {
        await refused(account.getPaymentPolicy('9999999999'), 404);
      },
      'change of one that nobody has made': async () => {
        await refused(account.updateReturnPolicy('9999999999', returns('Nothing') as never), 404);
      },
      'delete of one that nobody has made': async () => {
        await refused(account.deleteFulfillmentPolicy('9999999999'), 404);
      },
    }),
  },
};
