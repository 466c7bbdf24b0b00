import assert from 'node:assert/strict';
import {
  AddressType,
  Apideck,
  type Applicant,
  ApplicantWebsitesType,
  type Application,
  ApplicationStatus,
  type AtsApi,
  EmailType,
  PhoneNumberType,
} from '@apideck/node';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

const service = 'lever';

/** The client puts `Bearer` before the key; the application and the consumer go in headers of their own with each call. */
const connect = (place: Place, token: string): AtsApi =>
  new Apideck({
    basePath: place.url,
    apiKey: token,
    appId: 'dSBdXd2H6Mqwfg0atXHXYcysLJE9qyn1VwBtXHX',
    consumerId: 'test-consumer',
    serviceId: service,
  }).ats;

const nothing = 'no-such-record-at-all';

interface Listed<T> {
  readonly data: readonly T[];
  readonly meta?: { readonly items_on_page?: number; readonly cursors?: { readonly next?: string | null } };
}
const walk = <T>(ask: (cursor: string | undefined) => Promise<Listed<T>>): Promise<T[]> =>
  pages(
    ask,
    ({ data }) => data,
    ({ meta }) => meta?.cursors?.next,
    100,
  );
const ids = (rows: readonly { readonly id?: string }[]): string[] => rows.map(({ id }) => given(id, 'id'));
const applicants = async (a: AtsApi): Promise<string[]> =>
  ids(await walk((cursor) => a.applicantsAll({ limit: 50, ...(cursor === undefined ? {} : { cursor }) })));
const applications = async (a: AtsApi): Promise<string[]> =>
  ids(await walk((cursor) => a.applicationsAll({ limit: 50, ...(cursor === undefined ? {} : { cursor }) })));

const applicant = async (a: AtsApi, s: State, as: string, what: Applicant): Promise<string> => {
  s[as] = given((await a.applicantsAdd({ applicant: what })).data.id, 'id');
  return s[as];
};
const application = async (a: AtsApi, s: State, as: string, what: Application): Promise<string> => {
  s[as] = given((await a.applicationsAdd({ application: what })).data.id, 'id');
  return s[as];
};
/** Jobs are there beforehand: no call of this version makes one. */
const job = async (a: AtsApi, s: State): Promise<void> => {
  s.job = given(given((await a.jobsAll({ limit: 20 })).data[0], 'job').id, 'id');
};

const elon: Applicant = {
  name: 'Elon Musk',
  first_name: 'Elon',
  last_name: 'Musk',
  headline: 'PepsiCo, Inc, Central Perk',
  cover_letter: 'I submit this application to express my sincere interest in this position.',
  emails: [{ email: 'elon@musk.com', type: EmailType.primary }],
  tags: ['New'],
};

/** Guide: developers.apideck.com/apis/ats/reference, with its pages on pagination and on errors. */
export const vendor: Vendor<AtsApi> = {
  document: 'apideck-ats/ats.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'sk_live_5ba8b1dc-made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an applicant, from the first to the last day': (a, s) => ({
      made: () => applicant(a, s, 'applicant', elon),
      read: async () => {
        const { data } = await a.applicantsOne({ id: s.applicant });
        assert.equal(data.id, s.applicant);
        assert.deepEqual(
          [data.name, data.first_name, data.last_name, data.headline, data.cover_letter, data.tags],
          [elon.name, elon.first_name, elon.last_name, elon.headline, elon.cover_letter, elon.tags],
        );
      },
      'is in the list': async () => once(await applicants(a), [s.applicant], 'applicants'),
      'another headline': async () => {
        const { data } = await a.applicantsUpdate({ id: s.applicant, applicant: { headline: 'SpaceX' } });
        assert.equal(data.id, s.applicant);
      },
      'the rest stays': async () => {
        const { data } = await a.applicantsOne({ id: s.applicant });
        assert.deepEqual([data.headline, data.name, data.last_name, data.tags], ['SpaceX', 'Elon Musk', 'Musk', ['New']]);
      },
      deleted: async () => assert.equal((await a.applicantsDelete({ id: s.applicant })).data.id, s.applicant),
      gone: () => refused(a.applicantsOne({ id: s.applicant }), 404),
      'no longer in the list': async () => assert.ok(!(await applicants(a)).includes(s.applicant), 'it is'),
    }),

    'an application, from the first to the last day': (a, s) => ({
      'an applicant and a job': async () => {
        await job(a, s);
        await applicant(a, s, 'applicant', elon);
      },
      made: () => application(a, s, 'application', { applicant_id: s.applicant, job_id: s.job, status: ApplicationStatus.open }),
      read: async () => {
        const { data } = await a.applicationsOne({ id: s.application });
        assert.deepEqual([data.id, data.applicant_id, data.job_id, data.status], [s.application, s.applicant, s.job, 'open']);
      },
      'is in the list': async () => once(await applications(a), [s.application], 'applications'),
      hired: async () => {
        const what: Application = { applicant_id: s.applicant, job_id: s.job, status: ApplicationStatus.hired };
        assert.equal((await a.applicationsUpdate({ id: s.application, application: what })).data.id, s.application);
      },
      'it stays so': async () => {
        const { data } = await a.applicationsOne({ id: s.application });
        assert.deepEqual([data.applicant_id, data.job_id, data.status], [s.applicant, s.job, 'hired']);
      },
      deleted: async () => assert.equal((await a.applicationsDelete({ id: s.application })).data.id, s.application),
      gone: () => refused(a.applicationsOne({ id: s.application }), 404),
    }),

    'applicants through all pages': (a, s) => ({
      'five are made': async () => {
        for (const n of [1, 2, 3, 4, 5]) await applicant(a, s, `a${n}`, { name: `Applicant ${n}`, last_name: `Number ${n}` });
      },
      'two on a page': async () => {
        const { data, meta } = await a.applicantsAll({ limit: 2 });
        assert.deepEqual([data.length, meta?.items_on_page], [2, 2]);
        s.cursor = given(meta?.cursors?.next, 'next cursor');
        s.first = ids(data).join(' ');
      },
      'the next two are others': async () => {
        const { data } = await a.applicantsAll({ limit: 2, cursor: s.cursor });
        assert.equal(data.length, 2);
        for (const id of ids(data)) assert.ok(!s.first.split(' ').includes(id), `${id} again`);
      },
      'all of them, each once': async () => {
        const rows = ids(await walk((cursor) => a.applicantsAll({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })));
        once(rows, [...new Set(rows)], 'applicants');
        once(rows, [s.a1, s.a2, s.a3, s.a4, s.a5], 'applicants');
      },
      'all on one page, which is the last': async () => {
        const { data, meta } = await a.applicantsAll({ limit: 200 });
        once(ids(data), [s.a1, s.a2, s.a3, s.a4, s.a5], 'applicants');
        assert.deepEqual([meta?.items_on_page, meta?.cursors?.next ?? undefined], [data.length, undefined]);
      },
    }),

    'applications through all pages': (a, s) => ({
      'three applicants for a job': async () => {
        await job(a, s);
        for (const n of [1, 2, 3]) {
          const id = await applicant(a, s, `a${n}`, { name: `Candidate ${n}`, last_name: `Number ${n}` });
          await application(a, s, `p${n}`, { applicant_id: id, job_id: s.job, status: ApplicationStatus.open });
        }
      },
      'one on a page': async () => {
        const { data, meta, links } = await a.applicationsAll({ limit: 1 });
        assert.deepEqual([data.length, meta?.items_on_page], [1, 1]);
        given(meta?.cursors?.next, 'next cursor');
        given(links?.next, 'next link');
      },
      'all of them, each once': async () => {
        const rows = ids(await walk((cursor) => a.applicationsAll({ limit: 1, ...(cursor === undefined ? {} : { cursor }) })));
        once(rows, [...new Set(rows)], 'applications');
        once(rows, [s.p1, s.p2, s.p3], 'applications');
      },
      'each with its applicant': async () => {
        const { data } = await a.applicationsAll({ limit: 200 });
        const of = new Map(data.map(({ id, applicant_id }) => [id, applicant_id]));
        assert.deepEqual([of.get(s.p1), of.get(s.p2), of.get(s.p3)], [s.a1, s.a2, s.a3]);
      },
      'one fewer when one is deleted': async () => {
        await a.applicationsDelete({ id: s.p2 });
        const rows = await applications(a);
        once(rows, [s.p1, s.p3], 'applications');
        assert.ok(!rows.includes(s.p2), 'it is still listed');
      },
    }),

    'jobs, from the list to one': (a, s) => ({
      'the list has one': () => job(a, s),
      'it is there by itself': async () => {
        const { data } = await a.jobsOne({ id: s.job });
        assert.equal(data.id, s.job);
      },
      'as the list tells of it': async () => {
        const one = (await a.jobsOne({ id: s.job })).data;
        const row = given(
          (await a.jobsAll({ limit: 20 })).data.find(({ id }) => id === s.job),
          'row',
        );
        assert.deepEqual([one.title, one.status, one.code], [row.title, row.status, row.code]);
      },
      'through all pages, each once': async () => {
        const rows = ids(await walk((cursor) => a.jobsAll({ limit: 1, ...(cursor === undefined ? {} : { cursor }) })));
        once(rows, [...new Set(rows)], 'jobs');
        assert.ok(rows.includes(s.job), 'the first is missing');
      },
      'no more of it than asked for': async () => {
        const { data } = await a.jobsOne({ id: s.job, fields: 'id' });
        assert.deepEqual([data.id, data.title, data.status, data.links], [s.job, undefined, undefined, undefined]);
      },
      'nor of those in the list': async () => {
        for (const { id, title, status } of (await a.jobsAll({ limit: 20, fields: 'id,title' })).data) {
          assert.deepEqual([typeof id, status], ['string', undefined]);
          assert.ok(title === undefined || title === null || typeof title === 'string');
        }
      },
      'one that is not there': () => refused(a.jobsOne({ id: nothing }), 404),
    }),

    'how an applicant is reached': (a, s) => ({
      'with all that is known': () =>
        applicant(a, s, 'applicant', {
          ...elon,
          birthday: new Date('1971-06-28'),
          emails: [
            { email: 'elon@musk.com', type: EmailType.primary },
            { email: 'elon@spacex.com', type: EmailType.work },
          ],
          phone_numbers: [{ number: '111-111-1111', country_code: '1', area_code: '323', type: PhoneNumberType.mobile }],
          addresses: [{ type: AddressType.home, line1: 'Main street', city: 'San Francisco', state: 'CA', country: 'US' }],
          websites: [{ url: 'http://example.com', type: ApplicantWebsitesType.personal }],
          social_links: [{ url: 'https://www.twitter.com/apideck', type: 'twitter' }],
        }),
      'its e-mail addresses': async () => {
        const { emails } = (await a.applicantsOne({ id: s.applicant })).data;
        assert.deepEqual(
          given(emails, 'emails').map(({ email, type }) => `${type} ${email}`),
          ['primary elon@musk.com', 'work elon@spacex.com'],
        );
      },
      'its telephone and its address': async () => {
        const { phone_numbers, addresses } = (await a.applicantsOne({ id: s.applicant })).data;
        const phone = given(phone_numbers?.[0], 'phone number');
        const home = given(addresses?.[0], 'address');
        assert.deepEqual([phone.number, phone.country_code, phone.type], ['111-111-1111', '1', 'mobile']);
        assert.deepEqual([home.type, home.line1, home.city, home.country], ['home', 'Main street', 'San Francisco', 'US']);
      },
      'where it is on the web': async () => {
        const { websites, social_links } = (await a.applicantsOne({ id: s.applicant })).data;
        assert.deepEqual([websites?.[0]?.url, websites?.[0]?.type], ['http://example.com', 'personal']);
        assert.deepEqual([social_links?.[0]?.url, social_links?.[0]?.type], ['https://www.twitter.com/apideck', 'twitter']);
      },
      'the day of its birth': async () => {
        const { birthday } = (await a.applicantsOne({ id: s.applicant })).data;
        assert.equal(new Date(given(birthday, 'birthday')).toISOString().slice(0, 10), '1971-06-28');
      },
      'another telephone': async () => {
        const phone_numbers = [{ number: '222-222-2222', type: PhoneNumberType.work }];
        await a.applicantsUpdate({ id: s.applicant, applicant: { phone_numbers } });
        const { data } = await a.applicantsOne({ id: s.applicant });
        const numbers = given(data.phone_numbers, 'phone numbers').map(({ number, type }) => `${type} ${number}`);
        once(numbers, ['work 222-222-2222'], 'telephones');
        assert.equal(given(data.emails, 'emails').length, 2);
      },
    }),

    'only the fields that are asked for': (a, s) => ({
      'an applicant': () => applicant(a, s, 'applicant', elon),
      'its name': async () => {
        const { data } = await a.applicantsOne({ id: s.applicant, fields: 'id,name' });
        assert.deepEqual([data.id, data.name], [s.applicant, 'Elon Musk']);
        assert.deepEqual([data.headline, data.emails, data.tags], [undefined, undefined, undefined]);
      },
      'what is within': async () => {
        const { data } = await a.applicantsOne({ id: s.applicant, fields: 'name,emails.email' });
        assert.deepEqual(
          given(data.emails, 'emails').map(({ email, type }) => [email, type]),
          [['elon@musk.com', undefined]],
        );
        assert.deepEqual([data.name, data.headline], ['Elon Musk', undefined]);
      },
      'in the list': async () => {
        const { data } = await a.applicantsAll({ limit: 200, fields: 'id,last_name' });
        const row = given(
          data.find(({ id }) => id === s.applicant),
          'row',
        );
        assert.deepEqual([row.last_name, row.name, row.emails], ['Musk', undefined, undefined]);
      },
      'all where none are named': async () => {
        const { data } = await a.applicantsOne({ id: s.applicant });
        assert.deepEqual([data.name, data.headline, data.tags], [elon.name, elon.headline, elon.tags]);
      },
    }),

    'applicants of a job': (a, s) => ({
      'a job': () => job(a, s),
      'one who applies, and one who does not': async () => {
        const id = await applicant(a, s, 'keen', { name: 'Keen One', last_name: 'One' });
        await applicant(a, s, 'idle', { name: 'Idle One', last_name: 'One' });
        await application(a, s, 'application', { applicant_id: id, job_id: s.job, status: ApplicationStatus.open });
      },
      'both are applicants': async () => once(await applicants(a), [s.keen, s.idle], 'applicants'),
      'the one is of the job': async () => {
        const { data } = await a.applicantsAll({ limit: 200, filter: { job_id: s.job } });
        once(ids(data), [s.keen], 'applicants of the job');
      },
      'the other is not': async () => {
        const { data } = await a.applicantsAll({ limit: 200, filter: { job_id: s.job } });
        assert.ok(!ids(data).includes(s.idle), 'it is listed');
      },
    }),

    'two who apply for one job': (a, s) => ({
      'both apply': async () => {
        await job(a, s);
        for (const name of ['left', 'right']) {
          const id = await applicant(a, s, name, { name: `Who is ${name}`, last_name: name });
          await application(a, s, `of ${name}`, { applicant_id: id, job_id: s.job, status: ApplicationStatus.open });
        }
        assert.notEqual(s['of left'], s['of right']);
      },
      'one is rejected': () => {
        const what: Application = { applicant_id: s.left, job_id: s.job, status: ApplicationStatus.rejected };
        return a.applicationsUpdate({ id: s['of left'], application: what });
      },
      'the other stays open': async () => {
        const { data } = await a.applicationsOne({ id: s['of right'] });
        assert.deepEqual([data.applicant_id, data.status], [s.right, 'open']);
      },
      'the list tells both': async () => {
        const { data } = await a.applicationsAll({ limit: 200 });
        const of = new Map(data.map(({ id, status }) => [id, status as string | null | undefined]));
        assert.deepEqual([of.get(s['of left']), of.get(s['of right'])], ['rejected', 'open']);
      },
      'the rejected one is deleted': () => a.applicationsDelete({ id: s['of left'] }),
      'who was rejected is an applicant still': async () =>
        assert.equal((await a.applicantsOne({ id: s.left })).data.name, 'Who is left'),
      'and the other application is there': async () =>
        assert.equal((await a.applicationsOne({ id: s['of right'] })).data.applicant_id, s.right),
    }),

    'an application goes from stage to stage': (a, s) => ({
      'an applicant and a job': async () => {
        await job(a, s);
        await applicant(a, s, 'applicant', elon);
      },
      'at the first stage': () =>
        application(a, s, 'application', {
          applicant_id: s.applicant,
          job_id: s.job,
          status: ApplicationStatus.open,
          stage: { id: '12345', name: 'Screening' },
        }),
      'it is there': async () => {
        const { stage } = (await a.applicationsOne({ id: s.application })).data;
        assert.deepEqual([stage?.id, stage?.name], ['12345', 'Screening']);
      },
      'to the next': () => {
        const what: Application = { applicant_id: s.applicant, job_id: s.job, stage: { id: '12346', name: 'Interview' } };
        return a.applicationsUpdate({ id: s.application, application: what });
      },
      'it is there now, and open as before': async () => {
        const { stage, status } = (await a.applicationsOne({ id: s.application })).data;
        assert.deepEqual([stage?.id, stage?.name, status], ['12346', 'Interview', 'open']);
      },
    }),

    'what an answer tells of itself': (a, s) => ({
      'when it is made': async () => {
        const answer = await a.applicantsAddRaw({ applicant: elon });
        const told = await answer.value();
        s.applicant = given(told.data.id, 'id');
        assert.deepEqual([answer.raw.status, told.service, told.resource, told.operation], [201, service, 'Applicants', 'add']);
      },
      'when it is read': async () => {
        const told = await a.applicantsOne({ id: s.applicant });
        assert.deepEqual([told.status_code, told.status, told.service], [200, 'OK', service]);
      },
      'what it is of': async () => {
        const one = await a.applicantsOne({ id: s.applicant });
        const all = await a.applicantsAll({});
        assert.deepEqual([one.resource, one.operation], ['Applicants', 'one']);
        assert.deepEqual([all.resource, all.operation], ['Applicants', 'all']);
      },
      'when it is changed': async () => {
        const told = await a.applicantsUpdate({ id: s.applicant, applicant: { headline: 'Tesla' } });
        assert.deepEqual([told.status_code, told.resource, told.operation], [200, 'Applicants', 'update']);
      },
      'when it is deleted': async () => {
        const told = await a.applicantsDelete({ id: s.applicant });
        assert.deepEqual([told.status_code, told.resource, told.operation], [200, 'Applicants', 'delete']);
      },
      'of lists without cursors, how many there are': async () => {
        const { data, meta } = await a.applicationsAll({});
        assert.equal(meta?.items_on_page, data.length);
        assert.ok(data.length <= 20, `${data.length}, where 20 is what there is without a limit`);
      },
    }),

    'wrong applicants': (a, s) => ({
      'how many there are': async () => {
        s.before = String((await applicants(a)).length);
      },
      'an e-mail address of no known kind': () =>
        refused(a.applicantsAdd({ applicant: { ...elon, emails: [{ email: 'elon@musk.com', type: 'pigeon' as never }] } }), 400),
      'an e-mail that has none': () =>
        refused(a.applicantsAdd({ applicant: { ...elon, emails: [{ type: 'work' } as never] } }), 400),
      'a telephone without a number': () =>
        refused(a.applicantsAdd({ applicant: { ...elon, phone_numbers: [{ type: 'mobile' } as never] } }), 400),
      'a name that is no text': () => refused(a.applicantsAdd({ applicant: { ...elon, name: { first: 'Elon' } as never } }), 400),
      'none of them was made': async () => assert.equal((await applicants(a)).length, Number(s.before)),
      'one that is right, to be changed wrongly': () => applicant(a, s, 'applicant', elon),
      'it stays as it was': async () => {
        const wrong: Applicant = { headline: 'Boring', confidential: 'perhaps' as never };
        await refused(a.applicantsUpdate({ id: s.applicant, applicant: wrong }), 400);
        assert.equal((await a.applicantsOne({ id: s.applicant })).data.headline, elon.headline);
      },
    }),

    'wrong applications': (a, s) => ({
      'an applicant and a job': async () => {
        await job(a, s);
        await applicant(a, s, 'applicant', elon);
        s.before = String((await applications(a)).length);
      },
      'for no job': () => refused(a.applicationsAdd({ application: { applicant_id: s.applicant } as never }), 400),
      'of no applicant': () => refused(a.applicationsAdd({ application: { job_id: s.job } as never }), 400),
      'of no known status': () =>
        refused(
          a.applicationsAdd({ application: { applicant_id: s.applicant, job_id: s.job, status: 'promoted' as never } }),
          400,
        ),
      'none of them was made': async () => assert.equal((await applications(a)).length, Number(s.before)),
      'one that is right': () =>
        application(a, s, 'application', { applicant_id: s.applicant, job_id: s.job, status: ApplicationStatus.open }),
      'is not changed to such a status': async () => {
        const wrong: Application = { applicant_id: s.applicant, job_id: s.job, status: 'promoted' as never };
        await refused(a.applicationsUpdate({ id: s.application, application: wrong }), 400);
        assert.equal((await a.applicationsOne({ id: s.application })).data.status, 'open');
      },
    }),

    'lists that are asked for wrongly': (a) => ({
      'none on a page': () => refused(a.applicantsAll({ limit: 0 }), 400),
      'too many on a page': () => refused(a.applicantsAll({ limit: 201 }), 400),
      'a limit that is no number': () => refused(a.applicationsAll({ limit: 'many' as never }), 400),
      'jobs, too many on a page': () => refused(a.jobsAll({ limit: 1000 }), 400),
      'the most that may be': async () => assert.equal((await a.applicantsAll({ limit: 200 })).status_code, 200),
      /** The guide has an InvalidCursorError, and does not tell its status. */
      'from a cursor that nobody gave': () => refused(a.applicantsAll({ cursor: 'from-nowhere' }), 400, 422),
    }),

    'what is not there': (a, s) => ({
      'an applicant': () => refused(a.applicantsOne({ id: nothing }), 404),
      'changing one': () => refused(a.applicantsUpdate({ id: nothing, applicant: { headline: 'Nobody' } }), 404),
      'deleting one': () => refused(a.applicantsDelete({ id: nothing }), 404),
      'an application': () => refused(a.applicationsOne({ id: nothing }), 404),
      'changing that': () => {
        const what: Application = { applicant_id: nothing, job_id: nothing, status: ApplicationStatus.hired };
        return refused(a.applicationsUpdate({ id: nothing, application: what }), 404);
      },
      'deleting that': () => refused(a.applicationsDelete({ id: nothing }), 404),
      'deleting an applicant again': async () => {
        await applicant(a, s, 'applicant', elon);
        await a.applicantsDelete({ id: s.applicant });
        await refused(a.applicantsDelete({ id: s.applicant }), 404);
      },
    }),

    'a credential that is refused': (a, s, another) => ({
      'an applicant': () => applicant(a, s, 'applicant', elon),
      'not read by another': () => refused(another('sk_live_of-no-one').applicantsOne({ id: s.applicant }), 401),
      'not listed by another': () => refused(another('sk_live_of-no-one').applicantsAll({}), 401),
      'none made by another': () => refused(another('sk_live_of-no-one').applicantsAdd({ applicant: elon }), 401),
      'not deleted by another': () => refused(another('sk_live_of-no-one').applicantsDelete({ id: s.applicant }), 401),
      'it is still there': async () => assert.equal((await a.applicantsOne({ id: s.applicant })).data.name, 'Elon Musk'),
    }),
  },
};
