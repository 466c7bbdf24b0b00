import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { ShipEngine as Client } from 'shipengine';
import { given, type Place, type Vendor } from '../kit.ts';

const { ShipEngine } = createRequire(import.meta.url)('shipengine') as { readonly ShipEngine: typeof Client };

const connect = (place: Place, token: string): Client => new ShipEngine({ apiKey: token, baseURL: place.url, retries: 0 });

/** What the client throws of 400 and 404: it tells who found the fault, its type and code, not the status. */
interface Fault {
  readonly name: string;
  readonly source: string;
  readonly type: string;
  readonly code: string;
  readonly requestID: string;
  readonly message: string;
}

/** The service itself refused the call, as its errors are described: with a request's id, a type, a code and words. */
const wrong = (call: Promise<unknown>): Promise<void> =>
  assert.rejects(call, (thrown: Fault) => {
    if (thrown.name !== 'ShipEngineError') throw thrown;
    assert.equal(typeof thrown.requestID, 'string');
    assert.ok(thrown.message.length > 0 && thrown.code.length > 0, 'the fault has words and a code');
    assert.notEqual(thrown.message, 'An unknown error occurred while calling the ShipEngine API.');
    return true;
  });

/** What may be told of where a package is. */
const states: ReadonlySet<string> = new Set(['un', 'ac', 'it', 'de', 'ex', 'at', 'ny']);

const from = {
  name: 'John Doe',
  phone: '111-111-1111',
  companyName: 'Example Corp.',
  addressLine1: '4009 Marathon Blvd',
  cityLocality: 'Austin',
  stateProvince: 'TX',
  postalCode: '78756',
  countryCode: 'US',
  addressResidentialIndicator: 'no',
} as const;
const to = {
  name: 'Jane Doe',
  phone: '222-222-2222',
  addressLine1: '525 S Winchester Blvd',
  cityLocality: 'San Jose',
  stateProvince: 'CA',
  postalCode: '95128',
  countryCode: 'US',
  addressResidentialIndicator: 'yes',
} as const;

/** A carrier of the account, which shipments are sent by; where none is listed, the one of the guide's examples. */
const carrier = async (engine: Client): Promise<string> => (await engine.listCarriers())[0]?.carrierId ?? 'se-28529731';

type Shipment = Parameters<Client['createLabelFromShipmentDetails']>[0]['shipment'];
const shipment = (carrierId: string, ounces = 20): Shipment => ({
  carrierId,
  serviceCode: 'usps_priority_mail',
  shipDate: '2026-12-01T00:00:00Z',
  shipFrom: from,
  shipTo: to,
  packages: [{ weight: { value: ounces, unit: 'ounce' } }],
});

const label = async (engine: Client, more: object = {}) =>
  engine.createLabelFromShipmentDetails({ shipment: shipment(await carrier(engine)), ...more });

const rates = async (engine: Client, carrierIds: string[]) => {
  const params: Parameters<Client['getRatesWithShipmentDetails']>[0] = {
    rateOptions: { carrierIds },
    shipment: {
      validateAddress: 'no_validation',
      shipFrom: from,
      shipTo: to,
      packages: [{ weight: { value: 20, unit: 'ounce' } }],
    },
  };
  return engine.getRatesWithShipmentDetails(params);
};

/** Guides of shipengine.com/docs: "Quickstart", "Labels", "Rates", "Tracking", "Address validation", "Error handling". */
export const vendor: Vendor<Client> = {
  document: 'shipengine/shipengine.com.json',
  header: 'API-Key',
  made: 'TEST_vMiVbICUjBz4BZjq0TRBLC/9MrxY4+yjvb1G1RMxlJs',
  client: connect,
  flows: {
    'carriers of the account': (engine, s) => ({
      listed: async () => {
        const carriers = await engine.listCarriers();
        assert.ok(Array.isArray(carriers));
        s.ids = carriers.map(({ carrierId }) => carrierId).join();
      },
      'each once': async () => {
        const carriers = await engine.listCarriers();
        assert.equal(new Set(carriers.map(({ carrierId }) => carrierId)).size, carriers.length);
      },
      'the same when asked again': async () => {
        const again = await engine.listCarriers();
        assert.equal(again.map(({ carrierId }) => carrierId).join(), s.ids);
      },
    }),

    'the services of a carrier are its own': (engine, s) => ({
      'there is a carrier': async () => {
        const first = given((await engine.listCarriers())[0], 'first carrier');
        s.id = given(first.carrierId, 'carrier id');
        s.code = given(first.carrierCode, 'carrier code');
      },
      'its services say so': async () => {
        const found = (await engine.listCarriers()).find(({ carrierId }) => carrierId === s.id);
        for (const service of given(found, 'carrier').services) {
          assert.equal(typeof service.serviceCode, 'string');
          assert.equal(service.carrierId, s.id);
        }
      },
      'so do its packages': async () => {
        const found = (await engine.listCarriers()).find(({ carrierId }) => carrierId === s.id);
        for (const one of given(found, 'carrier').packages) assert.equal(typeof one.packageCode, 'string');
      },
    }),

    'an address tried': (engine) => ({
      'told back as it was sent': async () => {
        const [result] = await engine.validateAddresses([to]);
        const { originalAddress } = given(result, 'result');
        assert.deepEqual(
          [originalAddress.addressLine1, originalAddress.cityLocality, originalAddress.postalCode],
          ['525 S Winchester Blvd', 'San Jose', '95128'],
        );
      },
      'with a state that is one of four': async () => {
        const [result] = await engine.validateAddresses([to]);
        assert.ok(['unverified', 'verified', 'warning', 'error'].includes(given(result, 'result').status));
      },
      'and its country': async () => {
        const [result] = await engine.validateAddresses([{ ...to, countryCode: 'CA', stateProvince: 'ON' }]);
        assert.equal(given(result, 'result').originalAddress.countryCode, 'CA');
      },
    }),

    'several addresses tried at once': (engine, s) => ({
      'each has its own result, in order': async () => {
        const results = await engine.validateAddresses([from, to]);
        assert.equal(results.length, 2);
        assert.deepEqual(
          results.map(({ originalAddress }) => originalAddress.cityLocality),
          ['Austin', 'San Jose'],
        );
        s.count = String(results.length);
      },
      'three are three': async () => {
        const results = await engine.validateAddresses([to, from, to]);
        assert.deepEqual(
          results.map(({ originalAddress }) => originalAddress.postalCode),
          ['95128', '78756', '95128'],
        );
      },
      'messages are a list': async () => {
        for (const { messages } of await engine.validateAddresses([from, to])) assert.ok(Array.isArray(messages));
      },
    }),

    'a label bought': (engine, s) => ({
      bought: async () => {
        s.carrier = await carrier(engine);
        const made = await engine.createLabelFromShipmentDetails({ shipment: shipment(s.carrier) });
        assert.equal(made.carrierId, s.carrier);
        assert.equal(made.serviceCode, 'usps_priority_mail');
        s.id = given(made.labelId, 'label id');
      },
      'with its packages': async () => {
        const made = await label(engine);
        assert.equal(made.packages.length, 1);
        assert.deepEqual(made.packages[0]?.weight, { value: 20, unit: 'ounce' });
      },
      'each has its own number': async () => {
        assert.notEqual(given((await label(engine)).labelId, 'label id'), s.id);
      },
      'of a new label nothing is void': async () => assert.equal((await label(engine)).voided, false),
    }),

    'a label as it is wanted': (engine) => ({
      'as a picture': async () => {
        const made = await label(engine, { labelFormat: 'png', labelLayout: '4x6' });
        assert.deepEqual([made.labelFormat, made.labelLayout], ['png', '4x6']);
      },
      'on a letter': async () => {
        const made = await label(engine, { labelFormat: 'pdf', labelLayout: 'letter' });
        assert.deepEqual([made.labelFormat, made.labelLayout], ['pdf', 'letter']);
      },
      'to be downloaded from where it says': async () => {
        const made = await label(engine, { labelDownloadType: 'url' });
        assert.equal(typeof given(made.labelDownload, 'download').href, 'string');
      },
    }),

    'a label for what comes back': (engine) => ({
      'is one, with the number of the return': async () => {
        const made = await label(engine, { isReturnLabel: true, rmaNumber: 'RMA-17' });
        assert.deepEqual([made.isReturnLabel, made.rmaNumber], [true, 'RMA-17']);
      },
      'charged when it is taken': async () => {
        const made = await label(engine, { isReturnLabel: true, chargeEvent: 'on_carrier_acceptance' });
        assert.equal(made.chargeEvent, 'on_carrier_acceptance');
      },
      'another is none': async () => assert.equal((await label(engine, { isReturnLabel: false })).isReturnLabel, false),
    }),

    'a label of several packages': (engine, s) => ({
      'two of different weight': async () => {
        s.carrier = await carrier(engine);
        const packages = [
          { weight: { value: 10, unit: 'ounce' as const } },
          { weight: { value: 2, unit: 'pound' as const }, dimensions: { unit: 'inch' as const, length: 6, width: 4, height: 2 } },
        ];
        const made = await engine.createLabelFromShipmentDetails({ shipment: { ...shipment(s.carrier), packages } });
        assert.deepEqual(
          made.packages.map(({ weight }) => weight),
          [
            { value: 10, unit: 'ounce' },
            { value: 2, unit: 'pound' },
          ],
        );
      },
      'with what is insured': async () => {
        const insuredValue = { amount: 100, currency: 'usd' as const };
        const packages = [{ weight: { value: 10, unit: 'ounce' as const }, insuredValue }];
        const made = await engine.createLabelFromShipmentDetails({ shipment: { ...shipment(s.carrier), packages } });
        assert.deepEqual(made.packages[0]?.insuredValue, insuredValue);
      },
      'with words on it': async () => {
        const packages = [
          { weight: { value: 10, unit: 'ounce' as const }, labelMessages: { reference1: 'Order 7', reference2: 'Bin 3' } },
        ];
        const made = await engine.createLabelFromShipmentDetails({ shipment: { ...shipment(s.carrier), packages } });
        const { reference1, reference2 } = given(made.packages[0]?.labelMessages, 'messages');
        assert.deepEqual([reference1, reference2], ['Order 7', 'Bin 3']);
      },
    }),

    'a label voided': (engine, s) => ({
      bought: async () => {
        s.id = given((await label(engine)).labelId, 'label id');
      },
      voided: async () => {
        const answer = await engine.voidLabelWithLabelId(s.id);
        assert.equal(typeof answer.approved, 'boolean');
        assert.equal(typeof answer.message, 'string');
      },
      'another is still to be had': async () => {
        assert.notEqual(given((await label(engine)).labelId, 'label id'), s.id);
      },
    }),

    'a label followed': (engine, s) => ({
      bought: async () => {
        const made = await label(engine);
        s.id = given(made.labelId, 'label id');
        s.number = given(made.trackingNumber, 'tracking number');
      },
      'by its number': async () => {
        const log = await engine.trackUsingLabelId(s.id);
        assert.ok(Array.isArray(log.events));
        assert.ok(states.has(log.statusCode.toLowerCase()), `state ${log.statusCode}`);
      },
      'its number is the label’s': async () => assert.equal((await engine.trackUsingLabelId(s.id)).trackingNumber, s.number),
    }),

    'a package followed by the carrier’s number': (engine) => ({
      'its events are a list': async () => {
        const params = { carrierCode: 'stamps_com', trackingNumber: '9405511899223197428490' } as const;
        const log = await engine.trackUsingCarrierCodeAndTrackingNumber(params);
        assert.ok(Array.isArray(log.events));
      },
      'told of the number that was asked for': async () => {
        const params = { carrierCode: 'stamps_com', trackingNumber: '9405511899223197428490' } as const;
        const log = await engine.trackUsingCarrierCodeAndTrackingNumber(params);
        assert.equal(log.trackingNumber, '9405511899223197428490');
      },
      'with one of the states there are': async () => {
        const params = { carrierCode: 'fedex', trackingNumber: '61299998820821171811' } as const;
        const { statusCode } = await engine.trackUsingCarrierCodeAndTrackingNumber(params);
        assert.ok(states.has(statusCode.toLowerCase()), `state ${statusCode}`);
      },
    }),

    'what a shipment would cost': (engine, s) => ({
      'rates are asked for': async () => {
        s.carrier = await carrier(engine);
        const found = await rates(engine, [s.carrier]);
        assert.ok(Array.isArray(found.rateResponse.rates));
        s.shipment = given(found.shipmentId, 'shipment id');
      },
      'for what was sent': async () => {
        const found = await rates(engine, [s.carrier]);
        assert.equal(given(found.shipTo, 'receiver').cityLocality, 'San Jose');
        assert.equal(given(found.shipFrom, 'sender').cityLocality, 'Austin');
        assert.deepEqual(given(found.packages[0], 'package').weight, { value: 20, unit: 'ounce' });
      },
      'the rates are of its shipment': async () => {
        const found = await rates(engine, [s.carrier]);
        assert.equal(found.rateResponse.shipmentId, found.shipmentId);
      },
    }),

    'a label at a rate that was found': (engine, s) => ({
      'a rate': async () => {
        const found = await rates(engine, [await carrier(engine)]);
        const first = given(found.rateResponse.rates?.[0], 'first rate');
        s.rate = given(first.rateId, 'rate id');
        assert.equal(typeof first.shippingAmount.amount, 'number');
      },
      'bought at it': async () => {
        const made = await engine.createLabelFromRate({ rateId: s.rate, labelFormat: 'pdf', labelLayout: '4x6' });
        assert.deepEqual([made.labelFormat, made.labelLayout], ['pdf', '4x6']);
        s.id = given(made.labelId, 'label id');
      },
      'followed as any other': async () => assert.ok(Array.isArray((await engine.trackUsingLabelId(s.id)).events)),
    }),

    'labels that are not there': (engine) => ({
      'none to be voided': () => wrong(engine.voidLabelWithLabelId('se-0')),
      'none to be followed': () => wrong(engine.trackUsingLabelId('se-0')),
      'no rate to buy at': () => wrong(engine.createLabelFromRate({ rateId: 'se-0', labelFormat: 'pdf' })),
    }),

    'what is not right': (engine, s) => ({
      'a label in a format there is not': async () => {
        s.carrier = await carrier(engine);
        await wrong(engine.createLabelFromShipmentDetails({ shipment: shipment(s.carrier), labelFormat: 'gif' as never }));
      },
      'a weight in stones': () => {
        const packages = [{ weight: { value: 1, unit: 'stone' as never } }];
        return wrong(engine.createLabelFromShipmentDetails({ shipment: { ...shipment(s.carrier), packages } }));
      },
      'a package that weighs nothing we know': () => {
        const packages = [{ weight: undefined as never }];
        return wrong(engine.createLabelFromShipmentDetails({ shipment: { ...shipment(s.carrier), packages } }));
      },
    }),
  },
};
