import assert from 'node:assert/strict';
import { RevAiApiClient, type RevAiApiJob, type RevAiJobOptions } from 'revai-node-sdk';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** The client puts `/speechtotext/v1` between a deployment's address and each path. */
const connect = (place: Place, token: string): RevAiApiClient => {
  const baseUrl = place.base.replace(/\/speechtotext\/v1$/, '');
  return new RevAiApiClient({ token, deploymentConfig: { baseUrl, baseWebsocketUrl: baseUrl.replace(/^http/, 'ws') } });
};

const media = 'https://www.rev.ai/FTC_Sample_1.mp3';

const submit = async (rev: RevAiApiClient, s: State, options: RevAiJobOptions = {}): Promise<RevAiApiJob> => {
  const made = await rev.submitJobUrl(media, options);
  s.id = given(made.id, 'id');
  return made;
};

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

/** Every job, page by page: what a page begins after is the last one of the page before. */
const all = async (rev: RevAiApiClient, limit: number): Promise<string[]> => {
  const rows = await pages(
    (after) => rev.getListOfJobs(limit, after),
    (page) => page,
    (page) => (page.length < limit ? undefined : page.at(-1)?.id),
  );
  return ids(rows);
};

/** Rev AI tells of an error in its body, which the client keeps as `details`. */
const told = (thrown: unknown): Record<string, unknown> =>
  given((thrown as { details?: Record<string, unknown> }).details, 'details');

const nobody = 'q0Nobody7Xzz';

/**
 * A job is deleted only when it is done, which a flow does not wait for.
 *
 * Guide: docs.rev.ai, "Asynchronous Speech-To-Text API": "Get started", "Submit a job", "Job options", "Get a list of jobs", "Errors".
 */
export const vendor: Vendor<RevAiApiClient> = {
  document: 'rev-ai/rev.ai.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '02vPWJp3kQxN7bTzR5mC8yLsH4dGfA1eU6wK9oBqXjZiVtYnM0cErSaDlFgHuIoP2',
  client: connect,
  flows: {
    'whose token it is': (rev, s) => ({
      'an account has an address': async () => {
        const { email } = await rev.getAccount();
        assert.equal(typeof email, 'string');
        s.email = email;
      },
      'it has a balance in seconds': async () => assert.equal(typeof (await rev.getAccount()).balance_seconds, 'number'),
      'it is the same again': async () => assert.equal((await rev.getAccount()).email, s.email),
    }),
    'a job for a file at an address': (rev, s) => ({
      submit: async () => {
        const made = await submit(rev, s, { metadata: 'interview 12' });
        assert.deepEqual([made.status as string, made.metadata], ['in_progress', 'interview 12']);
      },
      'it was made now': async () => {
        const { created_on } = await rev.getJobDetails(s.id);
        const moment = Date.parse(given(created_on, 'created_on'));
        assert.ok(!Number.isNaN(moment), `${created_on} is no moment`);
      },
      read: async () => {
        const read = await rev.getJobDetails(s.id);
        assert.deepEqual([read.id, read.metadata, read.type], [s.id, 'interview 12', 'async']);
      },
      'it did not fail': async () => {
        const read = await rev.getJobDetails(s.id);
        assert.ok(!read.failure, `failure is ${read.failure}`);
        assert.ok(!read.failure_detail, `failure_detail is ${read.failure_detail}`);
      },
      'it is listed as it is read': async () => {
        const row = (await rev.getListOfJobs()).find(({ id }) => id === s.id);
        assert.deepEqual([row?.metadata, row?.status as string], ['interview 12', 'in_progress']);
      },
    }),
    'a file from the desk': (rev, s) => ({
      submit: async () => {
        const audio = Buffer.from('RIFF$   WAVEfmt ');
        const made = await rev.submitJobAudioData(audio, 'talk.wav', { metadata: 'from the desk' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.status as string, made.metadata], ['in_progress', 'from the desk']);
      },
      'it is called as the file is': async () => assert.equal((await rev.getJobDetails(s.id)).name, 'talk.wav'),
      'it came from no address': async () => assert.ok(!(await rev.getJobDetails(s.id)).media_url),
      'it keeps what was said of it': async () => assert.equal((await rev.getJobDetails(s.id)).metadata, 'from the desk'),
      'it is listed': async () => once(ids(await rev.getListOfJobs()), [s.id], 'jobs'),
    }),
    'what is wished of a transcript': (rev, s) => ({
      submit: async () => {
        const asked = { language: 'de', skip_diarization: true, skip_punctuation: true, filter_profanity: true };
        const made = await submit(rev, s, asked);
        assert.equal(made.language, 'de');
      },
      'the job has every wish': async () => {
        const read = await rev.getJobDetails(s.id);
        assert.partialDeepStrictEqual(read, { skip_diarization: true, skip_punctuation: true, filter_profanity: true });
        assert.equal(read.language, 'de');
      },
      'another one is English': async () => {
        await submit(rev, s);
        assert.equal((await rev.getJobDetails(s.id)).language, 'en');
      },
      'a recording of two channels': async () => {
        await submit(rev, s, { speaker_channels_count: 2, delete_after_seconds: 3600 });
        const read = await rev.getJobDetails(s.id);
        assert.deepEqual([read.speaker_channels_count, read.delete_after_seconds], [2, 3600]);
      },
    }),
    'words that are hard to hear': (rev, s) => ({
      submit: async () => {
        const made = await submit(rev, s, { custom_vocabularies: [{ phrases: ['Ninefold', 'Siv Aalto'] }], metadata: 'names' });
        assert.equal(made.status as string, 'in_progress');
      },
      read: async () => assert.equal((await rev.getJobDetails(s.id)).metadata, 'names'),
      'they are a list': async () => {
        const vocabularies = 'Ninefold' as unknown as { phrases: string[] }[];
        await refused(submit(rev, s, { custom_vocabularies: vocabularies }), 400);
      },
    }),
    'who is told when it is done': (rev, s) => ({
      submit: async () => {
        const made = await submit(rev, s, { callback_url: 'https://hooks.example.com/rev', metadata: 'call me' });
        assert.equal(made.callback_url, 'https://hooks.example.com/rev');
      },
      read: async () => {
        const read = await rev.getJobDetails(s.id);
        assert.deepEqual([read.callback_url, read.metadata], ['https://hooks.example.com/rev', 'call me']);
      },
      'another one tells nobody': async () => {
        await submit(rev, s, { metadata: 'I shall ask' });
        assert.ok(!(await rev.getJobDetails(s.id)).callback_url);
      },
    }),
    'jobs through all pages': (rev, s) => ({
      'submit five': async () => {
        for (const n of [1, 2, 3, 4, 5]) {
          await submit(rev, s, { metadata: `part ${n}` });
          s[`id${n}`] = s.id;
        }
      },
      'pages of two': async () => once(await all(rev, 2), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages'),
      'pages of three': async () => once(await all(rev, 3), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages'),
      'a page has as many as it may': async () => assert.equal((await rev.getListOfJobs(2)).length, 2),
      'what it begins after is not on it': async () => {
        const [first] = await rev.getListOfJobs(1);
        const rest = ids(await rev.getListOfJobs(100, given(first, 'job').id));
        assert.ok(!rest.includes(given(first, 'job').id));
        assert.equal(rest.length, 4);
      },
    }),
    'the last submitted is first': (rev, s) => ({
      'submit three': async () => {
        for (const n of [1, 2, 3]) {
          await submit(rev, s, { metadata: `take ${n}` });
          s[`id${n}`] = s.id;
          // Two jobs of one moment have no order.
          await new Promise((done) => setTimeout(done, 1100));
        }
      },
      'the list has them from last to first': async () =>
        assert.deepEqual(ids(await rev.getListOfJobs(3)), [s.id3, s.id2, s.id1]),
      'after the last is what came before it': async () =>
        assert.deepEqual(ids(await rev.getListOfJobs(10, s.id3)), [s.id2, s.id1]),
      'after the first is nothing': async () => assert.deepEqual(await rev.getListOfJobs(10, s.id1), []),
    }),
    'one file twice': (rev, s) => ({
      'submit it twice': async () => {
        s.first = given((await submit(rev, s, { metadata: 'first' })).id, 'id');
        await submit(rev, s, { metadata: 'second' });
      },
      'these are two jobs': async () => assert.notEqual(s.id, s.first),
      'each has its own words': async () => {
        const words = [(await rev.getJobDetails(s.first)).metadata, (await rev.getJobDetails(s.id)).metadata];
        assert.deepEqual(words, ['first', 'second']);
      },
      'both are listed': async () => once(ids(await rev.getListOfJobs()), [s.first, s.id], 'jobs'),
    }),
    'a job that still runs': (rev, s) => ({
      submit: async () => assert.equal((await submit(rev, s)).status as string, 'in_progress'),
      'it has no transcript yet': async () => {
        const thrown = await refused(rev.getTranscriptObject(s.id), 409);
        assert.equal((thrown as { currentValue?: unknown }).currentValue, 'in_progress');
      },
      'nor as a text': async () => refused(rev.getTranscriptText(s.id), 409),
      'it cannot be deleted yet': async () => refused(rev.deleteJob(s.id), 409),
      'it is there still': async () => assert.equal((await rev.getJobDetails(s.id)).id, s.id),
    }),
    'a job that is not there': (rev) => ({
      'it is not read': async () => refused(rev.getJobDetails(nobody), 404),
      'it has no transcript': async () => refused(rev.getTranscriptObject(nobody), 404),
      'nor as a text': async () => refused(rev.getTranscriptText(nobody), 404),
      'it is not deleted': async () => refused(rev.deleteJob(nobody), 404),
      'the error says so': async () => {
        const { status, title } = told(await refused(rev.getJobDetails(nobody), 404));
        assert.deepEqual([status, typeof title], [404, 'string']);
      },
    }),
    'wrong requests': (rev, s) => ({
      'a job needs a file': async () => {
        const { status, title } = told(await refused(rev.submitJob({ metadata: 'nothing' }), 400));
        assert.deepEqual([status, typeof title], [400, 'string']);
      },
      'a language that nobody hears': async () => refused(submit(rev, s, { language: 'klingon' }), 400),
      'more words than 512': async () => refused(submit(rev, s, { metadata: 'x'.repeat(513) }), 400),
      'more channels than eight': async () => refused(submit(rev, s, { speaker_channels_count: 9 }), 400),
      'a flag is true or false': async () => {
        await refused(submit(rev, s, { skip_diarization: 'perhaps' as unknown as boolean }), 400);
      },
      'a page of more than a thousand': async () => refused(rev.getListOfJobs(1001), 400),
      'nothing came of it': async () => assert.deepEqual(await rev.getListOfJobs(), []),
    }),
    'a token that is refused': (rev, s, another) => ({
      'the right one is taken': async () => {
        await submit(rev, s, { metadata: 'mine' });
      },
      'another one tells of no account': async () => refused(another('nobody').getAccount(), 401),
      'nor of jobs': async () => refused(another('nobody').getJobDetails(s.id), 401),
      'nor does it submit any': async () => {
        const { status } = told(await refused(another('nobody').submitJobUrl(media), 401));
        assert.equal(status, 401);
      },
      'there is one job': async () => assert.deepEqual(ids(await rev.getListOfJobs()), [s.id]),
    }),
  },
  strict: ['a token that is refused'],
};
