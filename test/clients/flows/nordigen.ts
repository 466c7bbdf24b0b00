import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Ask = (asked?: object) => Promise<unknown>;
type AskFor = (id: string) => Promise<unknown>;

/** The parts of the client that are used here: its own types are not found through its exports. */
interface Nordigen {
  token: string;
  secretKey: string;
  readonly generateToken: Ask;
  readonly exchangeToken: Ask;
  readonly initSession: Ask;
  readonly institution: { readonly getInstitutions: Ask; readonly getInstitutionById: AskFor };
  readonly agreement: {
    readonly acceptAgreement: Ask;
    readonly createAgreement: Ask;
    readonly deleteAgreement: AskFor;
    readonly getAgreementById: AskFor;
    readonly getAgreements: Ask;
  };
  readonly requisition: {
    readonly createRequisition: Ask;
    readonly deleteRequisition: AskFor;
    readonly getRequisitionById: AskFor;
    readonly getRequisitions: Ask;
  };
}
const NordigenClient = createRequire(import.meta.url)('nordigen-node') as new (options: object) => Nordigen;

interface Page {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Row[];
}

const connect = (place: Place, token: string): Nordigen => {
  const client = new NordigenClient({
    secretId: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    secretKey: '0c1d9c5fcbb7a4e4',
    baseUrl: `${place.base}/api/v2`,
  });
  if (token !== '') client.token = token;
  return client;
};

const one = async (answer: Promise<unknown>): Promise<Row> => (await answer) as Row;
const many = async (answer: Promise<unknown>): Promise<readonly Row[]> => {
  const rows = await answer;
  assert.ok(Array.isArray(rows), 'the answer is a list');
  return rows as Row[];
};

const nobody = '11111111-2222-4333-8444-555555555555';
const redirect = 'https://gocardless.com';

/** The guide's second step: the end user's bank, of the list for a country. */
const bank = async (nordigen: Nordigen, s: State): Promise<void> => {
  const [first] = await many(nordigen.institution.getInstitutions({ country: 'GB' }));
  assert.equal(typeof first?.id, 'string');
  s.bank = String(first?.id);
};

const agree = (nordigen: Nordigen, s: State, terms: object = {}): Promise<Row> =>
  one(
    nordigen.agreement.createAgreement({
      institutionId: s.bank,
      maxHistoricalDays: 90,
      accessValidForDays: 30,
      accessScope: ['balances', 'details'],
      ...terms,
    }),
  );
const agreement = (nordigen: Nordigen, id: string): Promise<Row> => one(nordigen.agreement.getAgreementById(id));
const requisition = (nordigen: Nordigen, s: State, more: object = {}): Promise<Row> =>
  one(nordigen.requisition.createRequisition({ redirectUrl: redirect, institutionId: s.bank, ...more }));

/** The offset of the next page, out of its address. */
const offsetOf = ({ next }: Page): string | undefined =>
  next === null ? undefined : (new URL(next).searchParams.get('offset') ?? undefined);

const requisitions = async (nordigen: Nordigen, limit: number, offset?: string): Promise<Page> =>
  (await nordigen.requisition.getRequisitions({ limit, ...(offset !== undefined && { offset: Number(offset) }) })) as Page;
const agreements = async (nordigen: Nordigen, limit: number, offset?: string): Promise<Page> =>
  (await nordigen.agreement.getAgreements({ limit, ...(offset !== undefined && { offset: Number(offset) }) })) as Page;

const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(id));

/** Guide: developer.gocardless.com/bank-account-data, "Quickstart guide", "Bank account data", "Statuses", "Pagination", and the client's README. */
export const vendor: Vendor<Nordigen> = {
  document: 'nordigen/nordigen.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJ0b2tlbl90eXBlIjoiYWNjZXNzIn0.c2lnbmVk',
  client: connect,
  flows: {
    'a token, and another one for it': (_nordigen, s, another) => ({
      'get a token': async () => {
        const token = await one(another('').generateToken());
        s.access = String(token.access);
        s.refresh = String(token.refresh);
        assert.deepEqual([typeof token.access, typeof token.refresh], ['string', 'string']);
        assert.deepEqual([typeof token.access_expires, typeof token.refresh_expires], ['number', 'number']);
      },
      'it is a credential': async () => {
        const page = await requisitions(another(s.access), 10);
        assert.deepEqual([page.count, page.results.length], [0, 0]);
      },
      'refresh it': async () => {
        const token = await one(another('').exchangeToken({ refreshToken: s.refresh }));
        assert.equal(typeof token.access, 'string');
        s.fresh = String(token.access);
      },
      'the new one is a credential too': async () => assert.equal((await requisitions(another(s.fresh), 10)).count, 0),
      'a secret is needed': async () => {
        const nordigen = another('');
        nordigen.secretKey = '';
        await refused(nordigen.generateToken(), 400, 401);
      },
    }),
    'the banks of a country': (nordigen, s) => ({
      list: async () => {
        const rows = await many(nordigen.institution.getInstitutions({ country: 'GB' }));
        assert.ok(rows.length > 0 && rows.every(({ countries }) => (countries as string[]).includes('GB')));
        s.bank = String(rows[0]?.id);
        s.name = String(rows[0]?.name);
      },
      'read one': async () => {
        const read = await one(nordigen.institution.getInstitutionById(s.bank));
        assert.deepEqual([read.id, read.name], [s.bank, s.name]);
        assert.ok(Array.isArray(read.supported_features));
      },
      'one that there is not': () => refused(nordigen.institution.getInstitutionById('NO_SUCH_BANK'), 404),
    }),
    'an agreement is made, read and deleted': (nordigen, s) => ({
      'choose a bank': () => bank(nordigen, s),
      create: async () => {
        const made = await agree(nordigen, s);
        s.id = String(made.id);
        assert.deepEqual(
          [made.institution_id, made.max_historical_days, made.access_valid_for_days, made.access_scope],
          [s.bank, 90, 30, ['balances', 'details']],
        );
      },
      'nobody has accepted it': async () => {
        const read = await agreement(nordigen, s.id);
        assert.deepEqual([read.id, read.institution_id, read.accepted], [s.id, s.bank, null]);
      },
      'it is listed': async () => once(ids((await agreements(nordigen, 100)).results), [s.id], 'agreements'),
      delete: async () => {
        await nordigen.agreement.deleteAgreement(s.id);
      },
      'it is gone': () => refused(nordigen.agreement.getAgreementById(s.id), 404),
      'it cannot be deleted again': () => refused(nordigen.agreement.deleteAgreement(s.id), 404),
    }),
    'an agreement is accepted': (nordigen, s) => ({
      create: async () => {
        await bank(nordigen, s);
        s.id = String((await agree(nordigen, s)).id);
      },
      accept: async () => {
        const asked = { agreementId: s.id, ip: '192.0.2.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' };
        const accepted = await one(nordigen.agreement.acceptAgreement(asked));
        assert.equal(accepted.id, s.id);
        assert.ok(!Number.isNaN(Date.parse(String(accepted.accepted))), 'accepted is a time');
      },
      'it stays accepted': async () => {
        const read = await agreement(nordigen, s.id);
        assert.equal(typeof read.accepted, 'string');
      },
      'it cannot be accepted again': async () => {
        const asked = { agreementId: s.id, ip: '192.0.2.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' };
        await refused(nordigen.agreement.acceptAgreement(asked), 405);
      },
      'it cannot be deleted': () => refused(nordigen.agreement.deleteAgreement(s.id), 400),
    }),
    'agreements, page after page': (nordigen, s) => ({
      'create five': async () => {
        await bank(nordigen, s);
        for (const n of [1, 2, 3, 4, 5]) {
          s[`id${n}`] = String((await agree(nordigen, s, { maxHistoricalDays: 10 * n })).id);
        }
      },
      'pages of two': async () => {
        const rows = await pages(
          (from) => agreements(nordigen, 2, from),
          ({ results }) => results,
          offsetOf,
        );
        once(ids(rows), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages');
      },
      'a page counts them all': async () => {
        const page = await agreements(nordigen, 2);
        assert.deepEqual([page.count, page.results.length, page.previous], [5, 2, null]);
      },
      'the last has none after it': async () => {
        const page = await agreements(nordigen, 2, '4');
        assert.deepEqual([page.results.length, page.next, typeof page.previous], [1, null, 'string']);
      },
    }),
    'a requisition is made, read and deleted': (nordigen, s) => ({
      'agree first': async () => {
        await bank(nordigen, s);
        s.agreement = String((await agree(nordigen, s)).id);
      },
      create: async () => {
        const made = await requisition(nordigen, s, { agreement: s.agreement, reference: '124151', userLanguage: 'EN' });
        s.id = String(made.id);
        assert.deepEqual(
          [made.redirect, made.institution_id, made.agreement, made.reference],
          [redirect, s.bank, s.agreement, '124151'],
        );
        assert.deepEqual([made.status, made.accounts], ['CR', []]);
        assert.ok(URL.canParse(String(made.link)), 'the link is an address');
      },
      read: async () => {
        const read = await one(nordigen.requisition.getRequisitionById(s.id));
        assert.deepEqual([read.id, read.reference, read.status], [s.id, '124151', 'CR']);
        assert.deepEqual([read.account_selection, read.redirect_immediate], [false, false]);
      },
      'it is listed': async () => once(ids((await requisitions(nordigen, 100)).results), [s.id], 'requisitions'),
      delete: async () => {
        await nordigen.requisition.deleteRequisition(s.id);
      },
      'it is gone': () => refused(nordigen.requisition.getRequisitionById(s.id), 404),
      'the agreement is still there': async () => {
        const read = await agreement(nordigen, s.agreement);
        assert.equal(read.id, s.agreement);
      },
    }),
    'a session, as the client begins one': (nordigen, s) => ({
      begin: async () => {
        await bank(nordigen, s);
        const asked = { redirectUrl: redirect, institutionId: s.bank, referenceId: 'session-1', maxHistoricalDays: 60 };
        const made = await one(nordigen.initSession(asked));
        s.id = String(made.id);
        s.agreement = String(made.agreement);
        assert.deepEqual([made.reference, made.institution_id, typeof made.link], ['session-1', s.bank, 'string']);
      },
      'it made an agreement': async () => {
        const read = await agreement(nordigen, s.agreement);
        assert.deepEqual([read.institution_id, read.max_historical_days], [s.bank, 60]);
      },
      'no account is linked yet': async () => {
        const read = await one(nordigen.requisition.getRequisitionById(s.id));
        assert.deepEqual([read.agreement, read.accounts], [s.agreement, []]);
      },
    }),
    'requisitions, page after page': (nordigen, s) => ({
      'create three': async () => {
        await bank(nordigen, s);
        for (const n of [1, 2, 3]) s[`id${n}`] = String((await requisition(nordigen, s, { reference: `user-${n}` })).id);
      },
      'pages of two': async () => {
        const rows = await pages(
          (from) => requisitions(nordigen, 2, from),
          ({ results }) => results,
          offsetOf,
        );
        once(ids(rows), [s.id1, s.id2, s.id3], 'pages');
      },
      'the second page': async () => {
        const page = await requisitions(nordigen, 2, '2');
        assert.deepEqual([page.count, page.results.length, page.next], [3, 1, null]);
      },
    }),
    'a reference is used once': (nordigen, s) => ({
      create: async () => {
        await bank(nordigen, s);
        await requisition(nordigen, s, { reference: 'same' });
      },
      'not again': () => refused(requisition(nordigen, s, { reference: 'same' }), 400),
      'another one is': async () => assert.equal((await requisition(nordigen, s, { reference: 'other' })).reference, 'other'),
    }),
    'what an agreement leaves out': (nordigen, s) => ({
      create: async () => {
        await bank(nordigen, s);
        const made = await one(nordigen.agreement.createAgreement({ institutionId: s.bank }));
        assert.deepEqual([made.max_historical_days, made.access_valid_for_days], [90, 90]);
        assert.deepEqual([...(made.access_scope as string[])].sort(), ['balances', 'details', 'transactions']);
      },
      'access for no day': () => refused(agree(nordigen, s, { accessValidForDays: -1 }), 400),
      'access for longer than there is': () => refused(agree(nordigen, s, { accessValidForDays: 1000 }), 400),
      'a scope that there is not': () => refused(agree(nordigen, s, { accessScope: ['secrets'] }), 400),
    }),
    'a credential that is refused': (nordigen, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await requisitions(nordigen, 10)).results)),
      'none is refused': () => refused(requisitions(another(''), 10), 401),
      'none makes nothing': () => refused(another('').agreement.createAgreement({ institutionId: 'REVOLUT_REVOGB21' }), 401),
    }),
    'requests that are wrong': (nordigen, s) => ({
      'a requisition that nobody made': () => refused(nordigen.requisition.getRequisitionById(nobody), 404),
      'an ID that is none': () => refused(nordigen.requisition.getRequisitionById('272785d5-de45-4efb-aa1a'), 400),
      'no bank': () => refused(nordigen.agreement.createAgreement({}), 400),
      'no address to come back to': async () => {
        await bank(nordigen, s);
        await refused(requisition(nordigen, s, { redirectUrl: undefined }), 400);
      },
      'an agreement that nobody made': () => refused(requisition(nordigen, s, { agreement: nobody }), 400, 404),
      'a country that there is not': () => refused(nordigen.institution.getInstitutions({ country: 'GBA' }), 400),
    }),
  },
};
