import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

interface Answer<T> {
  readonly response: { readonly statusCode: number };
  readonly body?: T;
}

interface Contact {
  readonly email: string;
  readonly jobTitle?: string;
  readonly nameFirst: string;
  readonly nameLast: string;
  readonly nameMiddle?: string;
  readonly phone: string;
  readonly suffix?: string;
}

interface Organization {
  readonly name: string;
  readonly phone: string;
  readonly assumedName?: string;
  readonly registrationAgent?: string;
  readonly registrationNumber?: string;
  readonly address?: Readonly<Record<string, string>>;
}

interface Certificate {
  readonly certificateId: string;
  readonly commonName?: string;
  readonly contact: Contact;
  readonly createdAt: string;
  readonly organization?: Organization;
  readonly period: number;
  readonly productType: string;
  readonly rootType?: string;
  readonly slotSize?: string;
  readonly status: string;
  readonly subjectAlternativeNames?: readonly { readonly subjectAlternativeName: string; readonly status: string }[];
}

interface Action {
  readonly type: string;
  readonly createdAt: string;
}

interface Letter {
  readonly id: number;
  readonly recipients: string;
  readonly subject: string;
  readonly body: string;
  readonly dateEntered: string;
}

interface Summary {
  readonly certificateId: string;
  readonly commonName: string;
  readonly period: number;
  readonly status: string;
}

interface Page {
  readonly certificates: readonly Summary[];
  readonly pagination: { readonly total?: number };
}

type Call<Parameters, T = never> = (parameters: Parameters) => PromiseLike<Answer<T>>;

interface One {
  readonly certificateId: string;
}

/** The parts of the client that are used here: it has no types of its own. */
interface Certificates {
  domain: string;
  certificate_create: Call<
    { readonly certificateCreate: object; readonly xMarketId?: string },
    { readonly certificateId: string }
  >;
  certificate_validate: Call<{ readonly certificateCreate: object; readonly xMarketId?: string }>;
  certificate_get: Call<One, Certificate>;
  certificate_action_retrieve: Call<One, readonly Action[]>;
  certificate_callback_get: Call<One, { readonly callbackUrl: string }>;
  certificate_callback_replace: Call<One & { readonly callbackUrl: string }>;
  certificate_callback_delete: Call<One>;
  certificate_cancel: Call<One>;
  certificate_download: Call<One>;
  certificate_siteseal_get: Call<One & { readonly theme?: string; readonly locale?: string }>;
  certificate_verifydomaincontrol: Call<One>;
  certificate_reissue: Call<One & { readonly reissueCreate: object }>;
  certificate_renew: Call<One & { readonly renewCreate: object }>;
  certificate_revoke: Call<One & { readonly certificateRevoke: object }>;
}

type Module = (key: string, secret: string) => { readonly certificates: Certificates };

/** What the client rejects with is no error: here it is one, with its status. */
interface GoDaddy {
  /** An order's number. */
  order(order: object, market?: string): Promise<string>;
  validate(order: object): Promise<void>;
  get(id: string): Promise<Certificate>;
  /** The types of an order's actions. */
  actions(id: string): Promise<string[]>;
  callback(id: string): Promise<string>;
  call(id: string, url: string): Promise<void>;
  callNoMore(id: string): Promise<void>;
  cancel(id: string): Promise<void>;
  download(id: string): Promise<unknown>;
  seal(id: string, theme?: string): Promise<unknown>;
  verify(id: string): Promise<void>;
  reissue(id: string, reissueCreate: object): Promise<unknown>;
  renew(id: string, renewCreate: object): Promise<unknown>;
  revoke(id: string, reason: string): Promise<unknown>;
  /** What the client has no call for: by HTTP, with the same header. */
  ask<T>(method: string, path: string): Promise<T>;
}

const load = createRequire(import.meta.url);

const failed = (status: number, body: unknown): Error =>
  Object.assign(new Error(`${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`), { status, body });

const settled = async <T>(call: PromiseLike<Answer<T>>, wanted: number): Promise<T | undefined> => {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (thrown) {
    const { response, body } = thrown as Partial<Answer<unknown>>;
    throw response === undefined ? thrown : failed(response.statusCode, body);
  }
  assert.equal(answer.response.statusCode, wanted);
  return answer.body;
};

const connect = (place: Place, token: string): GoDaddy => {
  const [key = '', secret = ''] = token.split(':');
  const { certificates: c } = (load('godaddy-api') as Module)(key, secret);
  c.domain = place.url;
  const empty = async (call: PromiseLike<Answer<never>>): Promise<void> => {
    await settled(call, 204);
  };
  return {
    order: async (order, market) => {
      const made = await settled(
        c.certificate_create({ certificateCreate: order, ...(market === undefined ? {} : { xMarketId: market }) }),
        202,
      );
      const { certificateId } = given(made, 'body');
      assert.ok(typeof certificateId === 'string' && certificateId.length > 0, 'the answer has no number');
      return certificateId;
    },
    validate: async (order) => empty(c.certificate_validate({ certificateCreate: order })),
    get: async (certificateId) => given(await settled(c.certificate_get({ certificateId }), 200), 'body'),
    actions: async (certificateId) =>
      given(await settled(c.certificate_action_retrieve({ certificateId }), 200), 'body').map(({ type }) => type),
    callback: async (certificateId) =>
      given(await settled(c.certificate_callback_get({ certificateId }), 200), 'body').callbackUrl,
    call: async (certificateId, callbackUrl) => empty(c.certificate_callback_replace({ certificateId, callbackUrl })),
    callNoMore: async (certificateId) => empty(c.certificate_callback_delete({ certificateId })),
    cancel: async (certificateId) => empty(c.certificate_cancel({ certificateId })),
    download: async (certificateId) => settled(c.certificate_download({ certificateId }), 200),
    seal: async (certificateId, theme) =>
      settled(c.certificate_siteseal_get({ certificateId, ...(theme === undefined ? {} : { theme }) }), 200),
    verify: async (certificateId) => empty(c.certificate_verifydomaincontrol({ certificateId })),
    reissue: async (certificateId, reissueCreate) => settled(c.certificate_reissue({ certificateId, reissueCreate }), 202),
    renew: async (certificateId, renewCreate) => settled(c.certificate_renew({ certificateId, renewCreate }), 202),
    revoke: async (certificateId, reason) => settled(c.certificate_revoke({ certificateId, certificateRevoke: { reason } }), 204),
    ask: async <T>(method: string, path: string): Promise<T> => {
      const response = await fetch(`${place.url}${path}`, { method, headers: { Authorization: `sso-key ${key}:${secret}` } });
      const text = await response.text();
      if (!response.ok) throw failed(response.status, text);
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
  };
};

const csr = `-----BEGIN CERTIFICATE REQUEST-----
MIICqjCCAZICAQAwZTELMAkGA1UEBhMCVVMxEDAOBgNVBAgMB0FyaXpvbmExDjAM
BgNVBAcMBVRlbXBlMRUwEwYDVQQKDAxBbHBpbmUgTGFtcHMxHTAbBgNVBAMMFHd3
dy5hbHBpbmUtbGFtcHMuY29tMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKC
AQEAq1372DQi/UFuetHRzYtDrze3dKfQWOfqoSpHCq7zznwan1F5/de9XUrEODTO
GByl9BUpxR33/K+Ce7xmhPMN/MQE/6Y0gTYtVC4nfiOGQbrd/mzK8h+3Lah3jDFi
mDMy3Zor2qVoEegVUAub3lKxmyqT7BqG+GXpcN6GzJ3oDDsd3PEKpe+H9unjsrGU
IWS2vib81EQTXGHQasWEZe1FAaO6nWCed1I9iPiNCz2XIwgRZwcpEpEyMqOP27ZF
02hxC6ynwma/ZNhp6Q/Q6UBxtyjETZ26ZtDQsCNU9gNQOtzL5uc6VK6tPvoawdwD
1DgYx8OvMof3LCk6L8u9qlVwIQIDAQABoAAwDQYJKoZIhvcNAQELBQADggEBAFUQ
ygCbojPTniDIlgpHxuRu4B6/Sfc3exCwthI/jmu1QnbpkR7+uwWQl3bXnUPXLPGD
jX2/FKkBjsimjIHHUCJ7Vdu/l3uE919RvONpx6KMRwlXsJMHJJpQ6n1P+bZxiyAM
q59Ysoe080efFU5dqEfRwQxbF/KZepLz++79+/cSoWZILBUQi9zl4zYrOFk/4Atl
4IWHM6rPr226eUQxiMFhkThoByXgFAliNhjN91TcvUWFpdIMNHYbP/nPvvIaSA+C
ak9trUfV8uHgWA1llRv6P5gguzJ9cCUKUjWa0nf9Qv338xRGleaLKcoYImyfG7ro
LlBBB7t93eX9bfm3+pE=
-----END CERTIFICATE REQUEST-----
`;

const contact: Contact = { email: 'ada@alpine-lamps.com', nameFirst: 'Ada', nameLast: 'Berger', phone: '+1.4805058800' };

const order = { csr, contact, period: 1, productType: 'DV_SSL', commonName: 'www.alpine-lamps.com' };

const address = {
  address1: '14455 N Hayden Rd',
  city: 'Scottsdale',
  state: 'Arizona',
  postalCode: '85260',
  country: 'US',
};

/** The customer of the guide's own example. */
const customer = '/v2/customers/295e3bc3-b3b9-4d95-aae5-ede41a994d13/certificates';

const nobody = 'no-such-certificate';

const without = (member: keyof typeof order): object => {
  const { [member]: _, ...rest } = order;
  return rest;
};

/** An error has a code, by which a caller tells it from others. */
const coded = (thrown: unknown): void =>
  assert.equal(typeof (thrown as { readonly body?: { readonly code?: unknown } }).body?.code, 'string', 'the error has no code');

const names = (certificate: Certificate): string[] =>
  (certificate.subjectAlternativeNames ?? []).map(({ subjectAlternativeName }) => subjectAlternativeName);

/** Guide: developer.godaddy.com, "Getting started", "Certificates". */
export const vendor: Vendor<GoDaddy> = {
  document: 'godaddy-certificates/certificates.json',
  header: 'authorization',
  word: 'sso-key',
  made: 'UzQxLikm_46KxDFnbjN7cQjmw6wocia:46L26ydpkwMaKZV6uVdDWe',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an order from its making to its cancel': (g, s) => ({
      create: async () => {
        s.id = await g.order(order);
      },
      read: async () => {
        const { certificateId, commonName, period, productType } = await g.get(s.id);
        assert.deepEqual([certificateId, commonName, period, productType], [s.id, 'www.alpine-lamps.com', 1, 'DV_SSL']);
      },
      'its contact came back': async () => assert.partialDeepStrictEqual((await g.get(s.id)).contact, contact),
      'it has a time': async () => assert.ok(!Number.isNaN(Date.parse((await g.get(s.id)).createdAt)), 'that is no time'),
      'it is pending': async () => assert.equal((await g.get(s.id)).status, 'PENDING_ISSUANCE'),
      cancel: async () => g.cancel(s.id),
      'it is canceled': async () => assert.equal((await g.get(s.id)).status, 'CANCELED'),
      'it is not canceled twice': async () => coded(await refused(g.cancel(s.id), 409)),
    }),

    'what happened to an order': (g, s) => ({
      create: async () => {
        s.id = await g.order(order);
      },
      'it was made': async () => assert.ok((await g.actions(s.id)).includes('CERTIFICATE_ORDER_CREATED'), 'it was not'),
      'it was not canceled': async () => assert.ok(!(await g.actions(s.id)).includes('CERTIFICATE_ORDER_CANCELED'), 'it was'),
      cancel: async () => g.cancel(s.id),
      'it was canceled': async () => once(await g.actions(s.id), ['CERTIFICATE_ORDER_CANCELED'], 'actions'),
      'it was made all the same': async () => once(await g.actions(s.id), ['CERTIFICATE_ORDER_CREATED'], 'actions'),
    }),

    'an order is validated before it is made': (g, s) => ({
      validate: async () => g.validate(order),
      'one without a request': async () => coded(await refused(g.validate(without('csr')), 400, 422)),
      'one whose request is none': async () => coded(await refused(g.validate({ ...order, csr: 'Please.' }), 400, 422)),
      'one of no product': async () => coded(await refused(g.validate({ ...order, productType: 'FREE_SSL' }), 400, 422)),
      create: async () => {
        s.id = await g.order(order);
      },
      'it is there': async () => assert.equal((await g.get(s.id)).certificateId, s.id),
    }),

    'a callback is registered, replaced and removed': (g, s) => ({
      create: async () => {
        s.id = await g.order(order);
      },
      'there is none yet': async () => refused(g.callback(s.id), 404),
      register: async () => g.call(s.id, 'https://hooks.alpine-lamps.com/first'),
      read: async () => assert.equal(await g.callback(s.id), 'https://hooks.alpine-lamps.com/first'),
      replace: async () => g.call(s.id, 'https://hooks.alpine-lamps.com/second?for=certificates&of=us'),
      'it is replaced': async () =>
        assert.equal(await g.callback(s.id), 'https://hooks.alpine-lamps.com/second?for=certificates&of=us'),
      remove: async () => g.callNoMore(s.id),
      'it is gone': async () => refused(g.callback(s.id), 404),
      'the order is not': async () => assert.equal((await g.get(s.id)).certificateId, s.id),
    }),

    'callbacks of two orders': (g, s) => ({
      'create one that names its own': async () => {
        s.one = await g.order({ ...order, callbackUrl: 'https://hooks.alpine-lamps.com/one' });
      },
      'create one that names none': async () => {
        s.two = await g.order({ ...order, commonName: 'two.alpine-lamps.com' });
      },
      'the one that was named': async () => assert.equal(await g.callback(s.one), 'https://hooks.alpine-lamps.com/one'),
      'register the other': async () => g.call(s.two, 'https://hooks.alpine-lamps.com/two'),
      'each has its own': async () =>
        assert.deepEqual(
          [await g.callback(s.one), await g.callback(s.two)],
          ['https://hooks.alpine-lamps.com/one', 'https://hooks.alpine-lamps.com/two'],
        ),
      'an empty one': async () => coded(await refused(g.call(s.two, ''), 400, 422)),
      'remove one': async () => g.callNoMore(s.one),
      'it is gone': async () => refused(g.callback(s.one), 404),
      'the other is there': async () => assert.equal(await g.callback(s.two), 'https://hooks.alpine-lamps.com/two'),
    }),

    'one of two orders is canceled': (g, s) => ({
      'create both': async () => {
        s.one = await g.order({ ...order, commonName: 'one.alpine-lamps.com' });
        s.two = await g.order({ ...order, commonName: 'two.alpine-lamps.com', period: 2 });
        assert.notEqual(s.one, s.two);
      },
      'each is itself': async () => {
        const [one, two] = [await g.get(s.one), await g.get(s.two)];
        assert.deepEqual([one.commonName, one.period], ['one.alpine-lamps.com', 1]);
        assert.deepEqual([two.commonName, two.period], ['two.alpine-lamps.com', 2]);
      },
      'cancel one': async () => g.cancel(s.one),
      'it is canceled': async () => assert.equal((await g.get(s.one)).status, 'CANCELED'),
      'the other is pending': async () => assert.equal((await g.get(s.two)).status, 'PENDING_ISSUANCE'),
      'nothing happened to it': async () =>
        assert.ok(!(await g.actions(s.two)).includes('CERTIFICATE_ORDER_CANCELED'), 'it was canceled'),
    }),

    'an order for several names': (g, s) => {
      const several = {
        ...order,
        productType: 'UCC_DV_SSL',
        slotSize: 'FIVE',
        subjectAlternativeNames: ['shop.alpine-lamps.com', 'mail.alpine-lamps.com'],
      };
      return {
        create: async () => {
          s.id = await g.order(several);
        },
        read: async () => {
          const { productType, slotSize } = await g.get(s.id);
          assert.deepEqual([productType, slotSize], ['UCC_DV_SSL', 'FIVE']);
        },
        'its names are there': async () =>
          once(names(await g.get(s.id)), ['shop.alpine-lamps.com', 'mail.alpine-lamps.com'], 'names'),
        'each has a state': async () => {
          for (const { status } of given((await g.get(s.id)).subjectAlternativeNames, 'names')) {
            assert.ok(['PENDING', 'INVALID', 'COMPLETED', 'FRAUD'].includes(status), `"${status}" is none`);
          }
        },
        'a number of slots that is not sold': async () =>
          coded(await refused(g.order({ ...several, slotSize: 'SIX' }), 400, 422)),
        'a name twice': async () => {
          const subjectAlternativeNames = ['shop.alpine-lamps.com', 'shop.alpine-lamps.com'];
          coded(await refused(g.order({ ...several, subjectAlternativeNames }), 400, 422));
        },
      };
    },

    'an order of an organization': (g, s) => {
      const organization: Organization = { name: 'Alpine Lamps LLC', phone: '+1.4805058800', address };
      const whole = { ...order, productType: 'OV_SSL', rootType: 'GODADDY_SHA_2', intelVPro: false, organization };
      return {
        create: async () => {
          s.id = await g.order(whole);
        },
        read: async () => {
          const { productType, rootType } = await g.get(s.id);
          assert.deepEqual([productType, rootType], ['OV_SSL', 'GODADDY_SHA_2']);
        },
        'the organization came back': async () => {
          const { name, phone } = given((await g.get(s.id)).organization, 'organization');
          assert.deepEqual([name, phone], ['Alpine Lamps LLC', '+1.4805058800']);
        },
        'its address too': async () => assert.partialDeepStrictEqual((await g.get(s.id)).organization?.address, address),
        'an organization without a name': async () => {
          const { name: _, ...nameless } = organization;
          coded(await refused(g.order({ ...whole, organization: nameless }), 400, 422));
        },
        'an address in no country': async () => {
          const nowhere = { ...organization, address: { ...address, country: 'Arizona' } };
          coded(await refused(g.order({ ...whole, organization: nowhere }), 400, 422));
        },
      };
    },

    'an order with extended validation': (g, s) => ({
      create: async () => {
        s.id = await g.order({
          ...order,
          productType: 'EV_SSL',
          period: 2,
          contact: { ...contact, jobTitle: 'Owner', nameMiddle: 'M', suffix: 'Jr' },
          organization: {
            name: 'Alpine Lamps LLC',
            phone: '+1.4805058800',
            assumedName: 'Lamps of the Alps',
            registrationAgent: 'Arizona Corporation Commission',
            registrationNumber: 'L-1234567-8',
            address,
          },
        });
      },
      read: async () => {
        const { productType, period } = await g.get(s.id);
        assert.deepEqual([productType, period], ['EV_SSL', 2]);
      },
      'all of its contact came back': async () => {
        const { jobTitle, nameFirst, nameMiddle, nameLast, suffix } = (await g.get(s.id)).contact;
        assert.deepEqual([jobTitle, nameFirst, nameMiddle, nameLast, suffix], ['Owner', 'Ada', 'M', 'Berger', 'Jr']);
      },
      'all of its organization too': async () => {
        const { assumedName, registrationAgent, registrationNumber } = given((await g.get(s.id)).organization, 'organization');
        assert.deepEqual(
          [assumedName, registrationAgent, registrationNumber],
          ['Lamps of the Alps', 'Arizona Corporation Commission', 'L-1234567-8'],
        );
      },
    }),

    'a wildcard in another market': (g, s) => ({
      create: async () => {
        s.id = await g.order({ ...order, productType: 'DV_WILDCARD_SSL', commonName: '*.alpine-lamps.com' }, 'de-DE');
      },
      read: async () => {
        const { productType, commonName } = await g.get(s.id);
        assert.deepEqual([productType, commonName], ['DV_WILDCARD_SSL', '*.alpine-lamps.com']);
      },
      'the domain is ours, or it is said that it is not': async () => {
        try {
          await g.verify(s.id);
        } catch (thrown) {
          coded(await refused(Promise.reject(thrown), 409));
        }
      },
      'cancel it': async () => g.cancel(s.id),
      'it is canceled': async () => assert.equal((await g.get(s.id)).status, 'CANCELED'),
    }),

    'what an order that is pending does not allow': (g, s) => ({
      create: async () => {
        s.id = await g.order(order);
      },
      download: async () => coded(await refused(g.download(s.id), 409)),
      'a seal': async () => coded(await refused(g.seal(s.id, 'DARK'), 409)),
      reissue: async () => coded(await refused(g.reissue(s.id, { csr, commonName: 'new.alpine-lamps.com' }), 409)),
      renew: async () => coded(await refused(g.renew(s.id, { period: 2 }), 409)),
      revoke: async () => coded(await refused(g.revoke(s.id, 'KEY_COMPROMISE'), 404, 409)),
      'it is as it was': async () => {
        const { status, commonName, period } = await g.get(s.id);
        assert.deepEqual([status, commonName, period], ['PENDING_ISSUANCE', 'www.alpine-lamps.com', 1]);
      },
    }),

    'orders that are wrong': (g) => ({
      'no request': async () => coded(await refused(g.order(without('csr')), 400, 422)),
      'no contact': async () => coded(await refused(g.order(without('contact')), 400, 422)),
      'no period': async () => coded(await refused(g.order(without('period')), 400, 422)),
      'a contact without an address': async () => {
        const { email: _, ...silent } = contact;
        coded(await refused(g.order({ ...order, contact: silent }), 400, 422));
      },
      'a period in words': async () => coded(await refused(g.order({ ...order, period: 'a year' }), 400, 422)),
      'a root that there is not': async () => coded(await refused(g.order({ ...order, rootType: 'OAK' }), 400, 422)),
      'the error tells the fields': async () => {
        const thrown = await refused(g.order({ ...order, productType: 'FREE_SSL' }), 400, 422);
        const { fields } = (thrown as { readonly body: { readonly fields?: readonly { path?: unknown; code?: unknown }[] } })
          .body;
        for (const { path, code } of fields ?? []) assert.deepEqual([typeof path, typeof code], ['string', 'string']);
      },
      'certificates of no entitlement': async () => refused(g.ask('GET', '/v2/certificates'), 400, 422),
    }),

    'a certificate that nobody ordered': (g) => ({
      read: async () => coded(await refused(g.get(nobody), 404)),
      'its actions': async () => coded(await refused(g.actions(nobody), 404)),
      'its callback': async () => coded(await refused(g.callback(nobody), 404)),
      'a callback for it': async () => coded(await refused(g.call(nobody, 'https://hooks.alpine-lamps.com/none'), 404)),
      'none for it': async () => coded(await refused(g.callNoMore(nobody), 404)),
      cancel: async () => coded(await refused(g.cancel(nobody), 404)),
      download: async () => coded(await refused(g.download(nobody), 404)),
      renew: async () => coded(await refused(g.renew(nobody, { csr }), 404)),
      revoke: async () => coded(await refused(g.revoke(nobody, 'SUPERSEDED'), 404)),
      'its domain': async () => coded(await refused(g.verify(nobody), 404)),
    }),

    'the letters about an order': (g, s) => {
      const letters = (path: string): string => `/v1/certificates/${s.id}/email/${path}`;
      return {
        create: async () => {
          s.id = await g.order(order);
        },
        'to another address': async () => {
          const { id, recipients } = await g.ask<Letter>('POST', letters('resend/bert@alpine-lamps.com'));
          assert.equal(typeof id, 'number');
          assert.ok(recipients.includes('bert@alpine-lamps.com'), `it went to "${recipients}"`);
        },
        history: async () => {
          const { id, subject, body, dateEntered } = await g.ask<Letter>('GET', letters('history'));
          assert.deepEqual([typeof id, typeof subject, typeof body], ['number', 'string', 'string']);
          assert.ok(!Number.isNaN(Date.parse(dateEntered)), 'that is no time');
          s.letter = String(id);
        },
        'once more': async () => g.ask('POST', letters(`${s.letter}/resend`)),
        'once more to somebody': async () => g.ask('POST', letters(`${s.letter}/resend/cora@alpine-lamps.com`)),
        'of an order that nobody made': async () =>
          refused(g.ask('POST', `/v1/certificates/${nobody}/email/resend/bert@alpine-lamps.com`), 404),
      };
    },

    "a customer's certificates through all pages": (g) => {
      const list = async (offset: number): Promise<Page> => g.ask<Page>('GET', `${customer}?limit=2&offset=${offset}`);
      const all = async (): Promise<Summary[]> => numbered(async (page) => (await list(page * 2)).certificates, 0);
      return {
        'in pages of two': async () => {
          const ids = (await all()).map(({ certificateId }) => certificateId);
          once(ids, ids, 'certificates');
        },
        'a page holds no more than was asked for': async () => assert.ok((await list(0)).certificates.length <= 2, 'it does'),
        'their number': async () => {
          const { total } = (await list(0)).pagination;
          if (total !== undefined) assert.equal((await all()).length, total);
        },
        'each is read as it is listed': async () => {
          for (const { certificateId, commonName, period, status } of (await all()).slice(0, 3)) {
            const one = await g.ask<Summary>('GET', `${customer}/${encodeURIComponent(certificateId)}`);
            assert.deepEqual(
              [one.certificateId, one.commonName, one.period, one.status],
              [certificateId, commonName, period, status],
            );
          }
        },
        'one that is not there': async () => refused(g.ask('GET', `${customer}/${nobody}`), 404),
        'its domains': async () => refused(g.ask('GET', `${customer}/${nobody}/domainVerifications`), 404),
      };
    },

    'a key that is refused': (_g, _s, another) => {
      const b = another('nobody:has-this-key');
      return {
        'it reads nothing': async () => coded(await refused(b.get(nobody), 401)),
        'it makes nothing': async () => coded(await refused(b.order(order), 401)),
        'it cancels nothing': async () => coded(await refused(b.cancel(nobody), 401)),
        'it lists nothing': async () => refused(b.ask('GET', customer), 401),
      };
    },
  },
};
