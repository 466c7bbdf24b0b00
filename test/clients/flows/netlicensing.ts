import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** What the service knows of a thing: the client's objects have a reader for each, and this for all. */
interface Thing {
  getProperty(name: string): unknown;
}
type Made = new (properties: object) => Thing;
/** A list is an array that knows of its pages too. */
interface Page extends Array<Thing> {
  getPageNumber(): unknown;
  getTotalPages(): unknown;
  getTotalItems(): unknown;
}
interface Context {
  setBaseUrl(url: string): Context;
  setUsername(name: string): Context;
  setPassword(password: string): Context;
}
interface Results {
  getValidators(): Record<string, Record<string, unknown>>;
}
interface Parameters {
  setProductNumber(number: string): Parameters;
}
interface Reads {
  get(context: Context, number: string): Promise<Thing>;
  list(context: Context): Promise<Page>;
}
interface Changes extends Reads {
  update(context: Context, number: string, thing: Thing): Promise<Thing>;
}
interface Deletes {
  delete(context: Context, number: string, forceCascade?: boolean): Promise<unknown>;
}

/** The part of the client that is used here: it has no types of its own. */
interface NetLicensing {
  readonly Context: new () => Context;
  readonly Product: Made;
  readonly ProductModule: Made;
  readonly LicenseTemplate: Made;
  readonly Licensee: Made;
  readonly License: Made;
  readonly Token: Made;
  readonly Transaction: Made;
  readonly PaymentMethod: Made;
  readonly ValidationParameters: new () => Parameters;
  readonly ProductService: Changes & Deletes & { create(context: Context, thing: Thing): Promise<Thing> };
  readonly ProductModuleService: Changes & Deletes & { create(context: Context, product: string, thing: Thing): Promise<Thing> };
  readonly LicenseTemplateService: Changes & Deletes & { create(context: Context, module: string, thing: Thing): Promise<Thing> };
  readonly LicenseeService: Changes &
    Deletes & {
      create(context: Context, product: string, thing: Thing): Promise<Thing>;
      validate(context: Context, number: string, parameters: Parameters): Promise<Results>;
      transfer(context: Context, number: string, source: string): Promise<unknown>;
    };
  readonly LicenseService: Reads &
    Deletes & {
      create(context: Context, licensee: string, template: string, transaction: string | null, thing: Thing): Promise<Thing>;
      update(context: Context, number: string, transaction: string | null, thing: Thing): Promise<Thing>;
    };
  readonly TokenService: Reads & Deletes & { create(context: Context, thing: Thing): Promise<Thing> };
  readonly TransactionService: Changes & { create(context: Context, thing: Thing): Promise<Thing> };
  readonly PaymentMethodService: Changes;
  readonly UtilityService: {
    listLicenseTypes(context: Context): Promise<readonly unknown[]>;
    listLicensingModels(context: Context): Promise<readonly unknown[]>;
  };
}
const net = createRequire(import.meta.url)('netlicensing-client') as NetLicensing;

/** The client makes the header of a name and a password. */
const connect = (place: Place, token: string): Context => {
  const [name = '', ...rest] = Buffer.from(token, 'base64').toString().split(':');
  return new net.Context().setBaseUrl(place.base).setUsername(name).setPassword(rest.join(':'));
};
const basic = (pair: string): string => Buffer.from(pair).toString('base64');

const number = (thing: Thing): string => String(given(thing.getProperty('number'), 'number'));
const of = (thing: Thing, ...names: readonly string[]): string[] => names.map((name) => String(thing.getProperty(name)));
const numbers = (page: Page): string[] => [...page].map(number);

const product = (api: Context, number: string, more: object = {}): Promise<Thing> =>
  net.ProductService.create(api, new net.Product({ number, name: 'Editor', version: '1.0', active: true, ...more }));
const module = (api: Context, product: string, number: string, more: object = {}): Promise<Thing> =>
  net.ProductModuleService.create(
    api,
    product,
    new net.ProductModule({ number, name: 'Features', licensingModel: 'MultiFeature', active: true, ...more }),
  );
const template = (api: Context, module: string, number: string, more: object = {}): Promise<Thing> =>
  net.LicenseTemplateService.create(
    api,
    module,
    new net.LicenseTemplate({
      number,
      name: 'Lite version',
      licenseType: 'FEATURE',
      active: true,
      price: 10,
      currency: 'EUR',
      ...more,
    }),
  );
const licensee = (api: Context, product: string, number: string, more: object = {}): Promise<Thing> =>
  net.LicenseeService.create(api, product, new net.Licensee({ number, name: 'Anna', active: true, ...more }));
/** A product with one module and one template in it. */
const scheme = async (api: Context): Promise<void> => {
  await product(api, 'P-1');
  await module(api, 'P-1', 'M-1');
  await template(api, 'M-1', 'LT-1');
};

/** Guide: netlicensing.io/wiki/restful-api, "Security", "Object model", and the services of each kind of thing. */
export const vendor: Vendor<Context> = {
  document: 'netlicensing/netlicensing.io.json',
  header: 'Authorization',
  word: 'Basic',
  made: basic('demo:demo'),
  client: connect,
  flows: {
    'a product from its making to its end': (api) => ({
      create: async () => {
        const made = await product(api, 'P-EDIT', { description: 'For letters' });
        assert.deepEqual(of(made, 'number', 'name', 'version', 'description', 'active'), [
          'P-EDIT',
          'Editor',
          '1.0',
          'For letters',
          'true',
        ]);
      },
      read: async () => {
        const read = await net.ProductService.get(api, 'P-EDIT');
        assert.deepEqual(of(read, 'number', 'name', 'version'), ['P-EDIT', 'Editor', '1.0']);
      },
      change: async () => {
        const changed = await net.ProductService.update(api, 'P-EDIT', new net.Product({ name: 'Writer', version: '2.0' }));
        assert.deepEqual(of(changed, 'number', 'name', 'version'), ['P-EDIT', 'Writer', '2.0']);
      },
      'it stays changed': async () => {
        const read = await net.ProductService.get(api, 'P-EDIT');
        assert.deepEqual(of(read, 'name', 'version', 'description'), ['Writer', '2.0', 'For letters']);
      },
      delete: async () => net.ProductService.delete(api, 'P-EDIT', true),
      'it is gone': async () => refused(net.ProductService.get(api, 'P-EDIT'), 404),
    }),
    'all products': (api) => ({
      'make three': async () => {
        for (const one of ['P-A', 'P-B', 'P-C']) assert.equal(number(await product(api, one)), one);
      },
      'they are listed': async () => once(numbers(await net.ProductService.list(api)), ['P-A', 'P-B', 'P-C'], 'products'),
      'the list says how many there are': async () => {
        const all = await net.ProductService.list(api);
        assert.ok(Number(all.getTotalItems()) >= 3, `${all.getTotalItems()} products in all`);
      },
      'without the deleted one': async () => {
        await net.ProductService.delete(api, 'P-B', true);
        const left = numbers(await net.ProductService.list(api));
        assert.deepEqual([left.includes('P-A'), left.includes('P-B'), left.includes('P-C')], [true, false, true]);
      },
    }),
    'a product with a number of the service': (api) => {
      let known = '';
      return {
        create: async () => {
          const made = await net.ProductService.create(api, new net.Product({ name: 'Reader', version: '1.0', active: true }));
          known = number(made);
        },
        read: async () => assert.deepEqual(of(await net.ProductService.get(api, known), 'number', 'name'), [known, 'Reader']),
        'a property of its own': async () => {
          await net.ProductService.update(api, known, new net.Product({ colour: 'green' }));
          assert.deepEqual(of(await net.ProductService.get(api, known), 'colour', 'name'), ['green', 'Reader']);
        },
      };
    },
    'a module of a product': (api) => ({
      'a product': async () => product(api, 'P-M'),
      create: async () => {
        const made = await module(api, 'P-M', 'M-FEATURES');
        assert.deepEqual(of(made, 'number', 'name', 'licensingModel'), ['M-FEATURES', 'Features', 'MultiFeature']);
      },
      read: async () => {
        const read = await net.ProductModuleService.get(api, 'M-FEATURES');
        assert.deepEqual(of(read, 'number', 'productNumber'), ['M-FEATURES', 'P-M']);
      },
      change: async () => {
        await net.ProductModuleService.update(api, 'M-FEATURES', new net.ProductModule({ name: 'All features' }));
        const read = await net.ProductModuleService.get(api, 'M-FEATURES');
        assert.deepEqual(of(read, 'name', 'licensingModel'), ['All features', 'MultiFeature']);
      },
      'it is listed': async () => once(numbers(await net.ProductModuleService.list(api)), ['M-FEATURES'], 'modules'),
      delete: async () => {
        await net.ProductModuleService.delete(api, 'M-FEATURES', true);
        await refused(net.ProductModuleService.get(api, 'M-FEATURES'), 404);
      },
    }),
    'a template of licenses': (api) => ({
      'a module': async () => {
        await product(api, 'P-T');
        await module(api, 'P-T', 'M-T');
      },
      create: async () => {
        const made = await template(api, 'M-T', 'LT-LITE');
        assert.deepEqual(of(made, 'number', 'name', 'licenseType', 'currency'), ['LT-LITE', 'Lite version', 'FEATURE', 'EUR']);
        assert.equal(Number(made.getProperty('price')), 10);
      },
      read: async () => {
        const read = await net.LicenseTemplateService.get(api, 'LT-LITE');
        assert.deepEqual(of(read, 'number', 'productModuleNumber'), ['LT-LITE', 'M-T']);
      },
      'it costs more': async () => {
        await net.LicenseTemplateService.update(api, 'LT-LITE', new net.LicenseTemplate({ price: 12.5, currency: 'EUR' }));
        const read = await net.LicenseTemplateService.get(api, 'LT-LITE');
        assert.deepEqual([Number(read.getProperty('price')), ...of(read, 'name')], [12.5, 'Lite version']);
      },
      'it is listed': async () => once(numbers(await net.LicenseTemplateService.list(api)), ['LT-LITE'], 'templates'),
      delete: async () => {
        await net.LicenseTemplateService.delete(api, 'LT-LITE', true);
        await refused(net.LicenseTemplateService.get(api, 'LT-LITE'), 404);
      },
    }),
    'a licensee from their making to their end': (api) => ({
      'a product': async () => product(api, 'P-L'),
      create: async () => {
        const made = await licensee(api, 'P-L', 'I-ANNA');
        assert.deepEqual(of(made, 'number', 'name', 'active', 'productNumber'), ['I-ANNA', 'Anna', 'true', 'P-L']);
      },
      read: async () => {
        const read = await net.LicenseeService.get(api, 'I-ANNA');
        assert.deepEqual(of(read, 'number', 'name'), ['I-ANNA', 'Anna']);
      },
      disable: async () => {
        const changed = await net.LicenseeService.update(api, 'I-ANNA', new net.Licensee({ active: false, name: 'Anna B.' }));
        assert.deepEqual(of(changed, 'number', 'active', 'name'), ['I-ANNA', 'false', 'Anna B.']);
      },
      'they stay so': async () =>
        assert.deepEqual(of(await net.LicenseeService.get(api, 'I-ANNA'), 'active', 'name'), ['false', 'Anna B.']),
      'they are listed': async () => once(numbers(await net.LicenseeService.list(api)), ['I-ANNA'], 'licensees'),
      delete: async () => net.LicenseeService.delete(api, 'I-ANNA', true),
      'they are gone': async () => refused(net.LicenseeService.get(api, 'I-ANNA'), 404),
    }),
    'a license from its making to its end': (api) => ({
      'what it is of': async () => {
        await scheme(api);
        await licensee(api, 'P-1', 'I-1');
      },
      create: async () => {
        const made = await net.LicenseService.create(api, 'I-1', 'LT-1', null, new net.License({ number: 'L-1', active: true }));
        assert.deepEqual(of(made, 'number', 'active', 'licenseeNumber', 'licenseTemplateNumber'), ['L-1', 'true', 'I-1', 'LT-1']);
      },
      'its name is of its template': async () =>
        assert.deepEqual(of(await net.LicenseService.get(api, 'L-1'), 'number', 'name'), ['L-1', 'Lite version']),
      disable: async () => {
        await net.LicenseService.update(api, 'L-1', null, new net.License({ active: false }));
        assert.deepEqual(of(await net.LicenseService.get(api, 'L-1'), 'active'), ['false']);
      },
      'it is listed': async () => once(numbers(await net.LicenseService.list(api)), ['L-1'], 'licenses'),
      delete: async () => {
        await net.LicenseService.delete(api, 'L-1', true);
        await refused(net.LicenseService.get(api, 'L-1'), 404);
      },
    }),
    'what a licensee may use': (api) => ({
      'a licensee': async () => {
        await scheme(api);
        await licensee(api, 'P-1', 'I-2');
      },
      'a license': async () =>
        net.LicenseService.create(api, 'I-2', 'LT-1', null, new net.License({ number: 'L-2', active: true })),
      validate: async () => {
        const parameters = new net.ValidationParameters().setProductNumber('P-1');
        const results = (await net.LicenseeService.validate(api, 'I-2', parameters)).getValidators();
        const module = given(results['M-1'], 'result of the module');
        assert.deepEqual([module.productModuleNumber, module.licensingModel], ['M-1', 'MultiFeature']);
      },
      'nobody else may': async () =>
        refused(net.LicenseeService.validate(api, 'I-NOBODY', new net.ValidationParameters()), 400, 404),
    }),
    'licenses change hands': (api) => ({
      'two licensees': async () => {
        await scheme(api);
        await licensee(api, 'P-1', 'I-FROM', { markedForTransfer: true });
        await licensee(api, 'P-1', 'I-TO');
      },
      'a license': async () =>
        net.LicenseService.create(api, 'I-FROM', 'LT-1', null, new net.License({ number: 'L-3', active: true })),
      transfer: async () => net.LicenseeService.transfer(api, 'I-TO', 'I-FROM'),
      'whose it is': async () => assert.deepEqual(of(await net.LicenseService.get(api, 'L-3'), 'licenseeNumber'), ['I-TO']),
    }),
    'a token from its making to its end': (api) => {
      let known = '';
      return {
        create: async () => {
          const made = await net.TokenService.create(api, new net.Token({ tokenType: 'DEFAULT' }));
          known = number(made);
          assert.deepEqual(of(made, 'tokenType'), ['DEFAULT']);
        },
        read: async () => assert.deepEqual(of(await net.TokenService.get(api, known), 'number', 'tokenType'), [known, 'DEFAULT']),
        'it is listed': async () => once(numbers(await net.TokenService.list(api)), [known], 'tokens'),
        delete: async () => net.TokenService.delete(api, known),
        'it is not in use any more': async () => {
          const left = await net.TokenService.list(api);
          assert.ok(!numbers(left).includes(known), 'the deleted token is still listed');
        },
      };
    },
    'a shop for a licensee': (api) => ({
      'a licensee': async () => {
        await scheme(api);
        await licensee(api, 'P-1', 'I-SHOP');
      },
      'a token with an address': async () => {
        const made = await net.TokenService.create(api, new net.Token({ tokenType: 'SHOP', licenseeNumber: 'I-SHOP' }));
        assert.deepEqual(of(made, 'tokenType', 'licenseeNumber'), ['SHOP', 'I-SHOP']);
        assert.match(String(given(made.getProperty('shopURL'), 'shopURL')), /./);
      },
    }),
    'a transaction is closed': (api) => {
      let known = '';
      return {
        create: async () => {
          const made = await net.TransactionService.create(
            api,
            new net.Transaction({ active: true, source: 'SHOP', status: 'PENDING' }),
          );
          known = number(made);
          assert.deepEqual(of(made, 'status', 'source'), ['PENDING', 'SHOP']);
        },
        close: async () => {
          const changed = await net.TransactionService.update(api, known, new net.Transaction({ status: 'CLOSED' }));
          assert.deepEqual(of(changed, 'number', 'status'), [known, 'CLOSED']);
        },
        'it stays closed': async () => assert.deepEqual(of(await net.TransactionService.get(api, known), 'status'), ['CLOSED']),
        'it is listed': async () => once(numbers(await net.TransactionService.list(api)), [known], 'transactions'),
      };
    },
    'what the service supports': (api) => ({
      'kinds of licenses': async () => {
        const all = JSON.stringify(await net.UtilityService.listLicenseTypes(api));
        assert.match(all, /FEATURE/);
        assert.match(all, /TIMEVOLUME/);
      },
      'licensing models': async () =>
        assert.match(JSON.stringify(await net.UtilityService.listLicensingModels(api)), /MultiFeature/),
      'ways to pay': async () => {
        for (const one of await net.PaymentMethodService.list(api)) assert.match(number(one), /./);
      },
    }),
    'what is wrong': (api) => ({
      'a product without a name': async () =>
        refused(net.ProductService.create(api, new net.Product({ version: '1.0', active: true })), 400),
      'a module without a licensing model': async () => {
        await product(api, 'P-W');
        await refused(
          net.ProductModuleService.create(api, 'P-W', new net.ProductModule({ name: 'Features', active: true })),
          400,
        );
      },
      'a licensee of no product': async () => refused(licensee(api, 'P-NOWHERE', 'I-LOST'), 400, 404),
      'a product that is not there': async () => refused(net.ProductService.get(api, 'P-NOWHERE'), 404),
      'a license that is not there': async () => refused(net.LicenseService.get(api, 'L-NOWHERE'), 404),
    }),
    'a password that is refused': (api, _, another) => {
      const nobody = another(basic('demo:not-the-password'));
      return {
        'the right one': async () => assert.ok(Array.isArray(await net.ProductService.list(api)), 'no list'),
        'a wrong one': async () => refused(net.ProductService.list(nobody), 401, 403),
        'it cannot make anything': async () => refused(product(nobody, 'P-THEIRS'), 401, 403),
      };
    },
  },
};
