import assert from 'node:assert/strict';
import {
  ComprehendMedical,
  type ComprehendMedicalAsyncJobFilter,
  type ComprehendMedicalAsyncJobProperties,
  type JobStatus,
  type LanguageCode,
  type StartEntitiesDetectionV2JobRequest,
} from '@aws-sdk/client-comprehendmedical';
import { type Flow, given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): ComprehendMedical => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new ComprehendMedical({
    endpoint: place.base,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    maxAttempts: 1,
  });
  client.middlewareStack.add(
    (next) => async (sent) => {
      try {
        return await next(sent);
      } catch (thrown) {
        const status = (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status !== undefined) Object.defineProperty(thrown as object, 'status', { value: status, enumerable: true });
        throw thrown;
      }
    },
    { step: 'initialize', name: 'status beside the message' },
  );
  return client;
};

/** The guide has a 400 for each of the service's own exceptions; the description has numbers of its own for each, by operation. */
const denied = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> => refused(call, 400, ...described);
/** The guide's common errors have 400 and 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 400, 401, 403);

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);

/** Buckets, roles and keys belong to other services: these are there before. */
const role = 'arn:aws:iam::123456789012:role/ComprehendMedicalBatchProcessingRole';
const nowhere = '0123456789abcdef0123456789abcdef';

type Start = StartEntitiesDetectionV2JobRequest;
type Listed = { ComprehendMedicalAsyncJobPropertiesList?: ComprehendMedicalAsyncJobProperties[]; NextToken?: string };
type Asked = { Filter?: ComprehendMedicalAsyncJobFilter; NextToken?: string; MaxResults?: number };
/** The five kinds of jobs, each of which has the same four operations. */
interface Kind {
  start(c: ComprehendMedical, how: Start): Promise<{ JobId?: string | undefined }>;
  describe(
    c: ComprehendMedical,
    JobId: string,
  ): Promise<{ ComprehendMedicalAsyncJobProperties?: ComprehendMedicalAsyncJobProperties | undefined }>;
  list(c: ComprehendMedical, asked: Asked): Promise<Listed>;
  stop(c: ComprehendMedical, JobId: string): Promise<{ JobId?: string | undefined }>;
}
const entities: Kind = {
  start: (c, how) => c.startEntitiesDetectionV2Job(how),
  describe: (c, JobId) => c.describeEntitiesDetectionV2Job({ JobId }),
  list: (c, asked) => c.listEntitiesDetectionV2Jobs(asked),
  stop: (c, JobId) => c.stopEntitiesDetectionV2Job({ JobId }),
};
const phi: Kind = {
  start: (c, how) => c.startPHIDetectionJob(how),
  describe: (c, JobId) => c.describePHIDetectionJob({ JobId }),
  list: (c, asked) => c.listPHIDetectionJobs(asked),
  stop: (c, JobId) => c.stopPHIDetectionJob({ JobId }),
};
const icd: Kind = {
  start: (c, how) => c.startICD10CMInferenceJob(how),
  describe: (c, JobId) => c.describeICD10CMInferenceJob({ JobId }),
  list: (c, asked) => c.listICD10CMInferenceJobs(asked),
  stop: (c, JobId) => c.stopICD10CMInferenceJob({ JobId }),
};
const rx: Kind = {
  start: (c, how) => c.startRxNormInferenceJob(how),
  describe: (c, JobId) => c.describeRxNormInferenceJob({ JobId }),
  list: (c, asked) => c.listRxNormInferenceJobs(asked),
  stop: (c, JobId) => c.stopRxNormInferenceJob({ JobId }),
};
const snomed: Kind = {
  start: (c, how) => c.startSNOMEDCTInferenceJob(how),
  describe: (c, JobId) => c.describeSNOMEDCTInferenceJob({ JobId }),
  list: (c, asked) => c.listSNOMEDCTInferenceJobs(asked),
  stop: (c, JobId) => c.stopSNOMEDCTInferenceJob({ JobId }),
};

const how = (JobName: string, more: Partial<Start> = {}): Start => ({
  InputDataConfig: { S3Bucket: 'clinical-notes', S3Key: 'input/2026/' },
  OutputDataConfig: { S3Bucket: 'clinical-results', S3Key: 'output/' },
  DataAccessRoleArn: role,
  LanguageCode: 'en',
  JobName,
  ...more,
});
const begun = async (c: ComprehendMedical, kind: Kind, name: string, more: Partial<Start> = {}): Promise<string> =>
  given((await kind.start(c, how(name, more))).JobId, 'JobId');
const job = async (c: ComprehendMedical, kind: Kind, id: string): Promise<ComprehendMedicalAsyncJobProperties> =>
  given((await kind.describe(c, id)).ComprehendMedicalAsyncJobProperties, 'ComprehendMedicalAsyncJobProperties');
const rows = (
  c: ComprehendMedical,
  kind: Kind,
  Filter?: ComprehendMedicalAsyncJobFilter,
  MaxResults = 100,
): Promise<ComprehendMedicalAsyncJobProperties[]> =>
  pages(
    (from) => kind.list(c, { MaxResults, ...(Filter && { Filter }), ...(from !== undefined && { NextToken: from }) }),
    (page) => page.ComprehendMedicalAsyncJobPropertiesList ?? [],
    (page) => page.NextToken,
    60,
  );
const ids = async (
  c: ComprehendMedical,
  kind: Kind,
  Filter?: ComprehendMedicalAsyncJobFilter,
  MaxResults?: number,
): Promise<string[]> => (await rows(c, kind, Filter, MaxResults)).map((row) => given(row.JobId, 'JobId'));

/** A job of one kind, from its beginning until it is stopped; another kind knows nothing about it. */
const life =
  (kind: Kind, other: Kind, name: string): Flow<ComprehendMedical> =>
  (c, s) => ({
    started: async () => {
      s.id = await begun(c, kind, name, { KMSKey: '1234abcd-12ab-34cd-56ef-1234567890ab' });
      assert.ok(s.id.length <= 32, 'its id is longer than 32 letters');
    },
    'described as it was asked for': async () => {
      const read = await job(c, kind, s.id);
      assert.deepEqual(
        [read.JobId, read.JobName, read.LanguageCode, read.DataAccessRoleArn, read.KMSKey],
        [s.id, name, 'en', role, '1234abcd-12ab-34cd-56ef-1234567890ab'],
      );
      assert.deepEqual(read.InputDataConfig, { S3Bucket: 'clinical-notes', S3Key: 'input/2026/' });
      assert.equal(read.OutputDataConfig?.S3Bucket, 'clinical-results');
      assert.ok(read.OutputDataConfig?.S3Key?.startsWith('output/'), 'its results go elsewhere');
    },
    'it was submitted just now, and is on its way': async () => {
      const read = await job(c, kind, s.id);
      const ago = Date.now() - given(read.SubmitTime, 'SubmitTime').getTime();
      assert.ok(Math.abs(ago) < 300_000, `submitted ${ago} ms ago`);
      oneOf(read.JobStatus, 'SUBMITTED', 'IN_PROGRESS', 'COMPLETED');
    },
    'is in the list, once': async () => {
      const all = await rows(c, kind);
      once(
        all.map((row) => `${row.JobId} ${row.JobName}`),
        [`${s.id} ${name}`],
        'jobs',
      );
    },
    'no job of another kind': async () => {
      await denied(other.describe(c, s.id), 482);
      without(await ids(c, other), s.id);
    },
    stopped: async () => assert.equal((await kind.stop(c, s.id)).JobId, s.id),
    'it says so': async () => oneOf((await job(c, kind, s.id)).JobStatus, 'STOP_REQUESTED', 'STOPPED'),
    'what is not there is neither described nor stopped': async () => {
      await denied(kind.describe(c, nowhere), 482);
      await denied(kind.stop(c, nowhere), 481);
    },
  });

const note = [
  'Pt is 87 yo woman, highschool teacher with past medical history that includes',
  '- status post cardiac catheterization in April 2019.',
  'She presents today with palpitations and chest pressure.',
  'HPI : Sleeping trouble on present dosage of Clonidine. Severe Rash on face and leg, slightly itchy',
  'Meds : Vyvanse 50 mgs po at breakfast daily, Clonidine 0.2 mgs -- 1 and 1 / 2 tabs po qhs',
].join('\n');
const stay = 'Patient is John Smith, a 48-year-old teacher and resident of Seattle, Washington.';

interface Found {
  Id?: number | undefined;
  BeginOffset?: number | undefined;
  EndOffset?: number | undefined;
  Score?: number | undefined;
  Text?: string | undefined;
}
/** Every entity has an id of its own, a score, and a place in the text. */
const sound = (found: readonly Found[], text: string): void => {
  assert.equal(new Set(found.map(({ Id }) => Id)).size, found.length, 'two have the same id');
  for (const { BeginOffset = -1, EndOffset = -1, Score = -1, Text } of found) {
    assert.ok(Score >= 0 && Score <= 1, `a score of ${Score}`);
    assert.ok(BeginOffset >= 0 && BeginOffset < EndOffset && EndOffset <= text.length, `from ${BeginOffset} to ${EndOffset}`);
    assert.equal(text.slice(BeginOffset, EndOffset), Text);
  }
};

/** Guide: docs.aws.amazon.com/comprehend-medical/latest/dev (text analysis, ontology linking, batch APIs) and its API reference. */
export const vendor: Vendor<ComprehendMedical> = {
  document: 'comprehendmedical/comprehendmedical.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a job for entities, until it is stopped': life(entities, phi, 'entities-life'),
    'a job for health information, until it is stopped': life(phi, entities, 'phi-life'),
    'a job for diagnoses, until it is stopped': life(icd, rx, 'icd-life'),
    'a job for medication, until it is stopped': life(rx, snomed, 'rxnorm-life'),
    'a job for clinical terms, until it is stopped': life(snomed, icd, 'snomed-life'),

    'jobs through all pages': (c, s) => ({
      'five are started': async () => {
        for (const at of ['1', '2', '3', '4', '5']) s[`j${at}`] = await begun(c, entities, `page-${at}`);
        assert.equal(new Set([s.j1, s.j2, s.j3, s.j4, s.j5]).size, 5, 'two have the same id');
      },
      'no more on a page than asked for, and more to come': async () => {
        const page = await c.listEntitiesDetectionV2Jobs({ MaxResults: 2 });
        assert.equal(given(page.ComprehendMedicalAsyncJobPropertiesList, 'list').length, 2);
        given(page.NextToken, 'NextToken');
      },
      'the second page goes on where the first ended': async () => {
        const one = await c.listEntitiesDetectionV2Jobs({ MaxResults: 2 });
        const two = await c.listEntitiesDetectionV2Jobs({ MaxResults: 2, NextToken: given(one.NextToken, 'NextToken') });
        const first = (one.ComprehendMedicalAsyncJobPropertiesList ?? []).map(({ JobId }) => JobId);
        const second = (two.ComprehendMedicalAsyncJobPropertiesList ?? []).map(({ JobId }) => JobId);
        assert.ok(second.length > 0 && !second.some((id) => first.includes(id)), 'the same again');
      },
      'all of them, each once': async () => {
        const all = await ids(c, entities, undefined, 2);
        once(all, [...new Set(all), s.j1, s.j2, s.j3, s.j4, s.j5], 'jobs');
      },
      'one at a time, too': async () => once(await ids(c, entities, undefined, 1), [s.j1, s.j2, s.j3, s.j4, s.j5], 'jobs'),
      'all on one page, and it is the last': async () => {
        const page = await c.listEntitiesDetectionV2Jobs({ MaxResults: 500 });
        const all = (page.ComprehendMedicalAsyncJobPropertiesList ?? []).map(({ JobId }) => given(JobId, 'JobId'));
        once(all, [s.j1, s.j2, s.j3, s.j4, s.j5], 'jobs');
        assert.equal(page.NextToken, undefined);
      },
    }),

    'jobs of one name': (c, s) => ({
      'two of one name, one of another': async () => {
        s.a = await begun(c, phi, 'ward-7');
        s.b = await begun(c, phi, 'ward-7');
        s.c = await begun(c, phi, 'ward-8');
        assert.notEqual(s.a, s.b);
      },
      'those of the first name': async () => {
        const all = await rows(c, phi, { JobName: 'ward-7' });
        once(
          all.map((row) => given(row.JobId, 'JobId')),
          [s.a, s.b],
          'jobs',
        );
        for (const row of all) assert.equal(row.JobName, 'ward-7');
      },
      'the same on pages of one': async () => {
        const all = await ids(c, phi, { JobName: 'ward-7' }, 1);
        once(all, [s.a, s.b], 'jobs');
        without(all, s.c);
      },
      'that of the other': async () => assert.deepEqual(await ids(c, phi, { JobName: 'ward-8' }), [s.c]),
      'none of a name that nobody gave': async () => assert.deepEqual(await ids(c, phi, { JobName: 'ward-of-nobody' }), []),
    }),

    'jobs of one status': (c, s) => ({
      'two are started, one of them is stopped': async () => {
        s.going = await begun(c, rx, 'status-going');
        s.stopped = await begun(c, rx, 'status-stopped');
        assert.equal((await c.stopRxNormInferenceJob({ JobId: s.stopped })).JobId, s.stopped);
      },
      'the stopped one is in the list of its status': async () => {
        for (let turn = 0; turn < 10 && (await job(c, rx, s.stopped)).JobStatus === 'STOP_REQUESTED'; turn += 1) await pause(250);
        const status = given((await job(c, rx, s.stopped)).JobStatus, 'JobStatus');
        oneOf(status, 'STOP_REQUESTED', 'STOPPED');
        const all = await rows(c, rx, { JobStatus: status });
        once(
          all.map((row) => given(row.JobId, 'JobId')),
          [s.stopped],
          'jobs',
        );
        for (const row of all) assert.equal(row.JobStatus, status);
      },
      'the other is not': async () => without(await ids(c, rx, { JobStatus: 'STOPPED' }), s.going),
      'neither has failed': async () => {
        const all = await ids(c, rx, { JobStatus: 'FAILED' });
        without(all, s.going);
        without(all, s.stopped);
      },
      'the other goes on': async () =>
        oneOf((await job(c, rx, s.going)).JobStatus, 'SUBMITTED', 'IN_PROGRESS', 'COMPLETED', 'PARTIAL_SUCCESS'),
      'a status that there is not': () =>
        denied(c.listRxNormInferenceJobs({ Filter: { JobStatus: 'SLEEPING' as JobStatus } }), 480, 481),
    }),

    'jobs by the time they were submitted': (c, s) => ({
      'three are started': async () => {
        for (const at of ['1', '2', '3']) s[`t${at}`] = await begun(c, icd, `time-${at}`);
      },
      'those of the last hour': async () =>
        once(await ids(c, icd, { SubmitTimeAfter: new Date(Date.now() - 3_600_000) }), [s.t1, s.t2, s.t3], 'jobs'),
      'none of them was before': async () => {
        const all = await ids(c, icd, { SubmitTimeBefore: new Date(Date.now() - 3_600_000) });
        for (const id of [s.t1, s.t2, s.t3]) without(all, id);
      },
      'all of them before the next hour': async () =>
        once(await ids(c, icd, { SubmitTimeBefore: new Date(Date.now() + 3_600_000) }), [s.t1, s.t2, s.t3], 'jobs'),
      'none of them after it': async () => {
        const all = await ids(c, icd, { SubmitTimeAfter: new Date(Date.now() + 3_600_000) });
        for (const id of [s.t1, s.t2, s.t3]) without(all, id);
      },
      'after a time they come from the newest to the oldest': async () => {
        const all = await rows(c, icd, { SubmitTimeAfter: new Date(Date.now() - 3_600_000) });
        const times = all.map(({ SubmitTime }) => given(SubmitTime, 'SubmitTime').getTime());
        assert.deepEqual(
          times,
          times.toSorted((one, two) => two - one),
        );
      },
    }),

    'a request that is sent twice': (c, s) => ({
      'a job, with a token': async () => {
        s.id = await begun(c, snomed, 'sent-twice', { ClientRequestToken: 'token-2026-0001' });
      },
      'the same again is the same job': async () =>
        assert.equal(await begun(c, snomed, 'sent-twice', { ClientRequestToken: 'token-2026-0001' }), s.id),
      'it is in the list once': async () => {
        assert.deepEqual(await ids(c, snomed, { JobName: 'sent-twice' }), [s.id]);
      },
      'another token is another job': async () => {
        s.other = await begun(c, snomed, 'sent-twice', { ClientRequestToken: 'token-2026-0002' });
        assert.notEqual(s.other, s.id);
        once(await ids(c, snomed, { JobName: 'sent-twice' }), [s.id, s.other], 'jobs');
      },
      'a token has no spaces': () =>
        denied(c.startSNOMEDCTInferenceJob(how('sent-thrice', { ClientRequestToken: 'no spaces here' })), 480),
    }),

    'a job without a name, and one of a single document': (c, s) => ({
      'started without a name': async () => {
        const { JobName: _, ...rest } = how('');
        s.id = given((await c.startEntitiesDetectionV2Job(rest)).JobId, 'JobId');
      },
      'it has none': async () => {
        const read = await job(c, entities, s.id);
        assert.deepEqual([read.JobId, read.JobName ?? ''], [s.id, '']);
        assert.equal(read.KMSKey, undefined);
      },
      'one of a whole bucket': async () => {
        s.bucket = await begun(c, entities, 'whole bucket: 100%', {
          InputDataConfig: { S3Bucket: 'clinical-notes' },
          OutputDataConfig: { S3Bucket: 'clinical-results' },
        });
        const read = await job(c, entities, s.bucket);
        assert.deepEqual([read.JobName, read.InputDataConfig?.S3Bucket], ['whole bucket: 100%', 'clinical-notes']);
        assert.equal(read.OutputDataConfig?.S3Bucket, 'clinical-results');
      },
      'both are kept for some time': async () => {
        for (const id of [s.id, s.bucket]) {
          const read = await job(c, entities, id);
          const days = (given(read.ExpirationTime, 'ExpirationTime').getTime() - Date.now()) / 86_400_000;
          assert.ok(days > 1, `for ${days} days`);
        }
      },
      'both are in the list': async () => once(await ids(c, entities), [s.id, s.bucket], 'jobs'),
    }),

    'entities of a note': (c) => ({
      'a model has read it': async () => {
        const read = await c.detectEntitiesV2({ Text: note });
        assert.ok(given(read.ModelVersion, 'ModelVersion').length > 0, 'no model');
        assert.ok(Array.isArray(read.Entities), 'no entities');
      },
      'each is where it says, with a score': async () =>
        sound(given((await c.detectEntitiesV2({ Text: note })).Entities, 'Entities'), note),
      'medication by its generic name and by its brand': async () => {
        const { Entities } = await c.detectEntitiesV2({ Text: note });
        const found = (Entities ?? []).map(({ Text, Category, Type }) => `${Text} ${Category} ${Type}`);
        assert.ok(found.includes('Clonidine MEDICATION GENERIC_NAME'), 'no Clonidine');
        assert.ok(found.includes('Vyvanse MEDICATION BRAND_NAME'), 'no Vyvanse');
      },
      'with what belongs to it': async () => {
        const { Entities } = await c.detectEntitiesV2({ Text: note });
        const brand = given(
          Entities?.find(({ Text }) => Text === 'Vyvanse'),
          'Vyvanse',
        );
        const types = (brand.Attributes ?? []).map(({ Type, Text }) => `${Type} ${Text}`);
        assert.ok(types.includes('DOSAGE 50 mgs'), types.join(', '));
      },
      'the old operation still answers': async () => {
        const read = await c.detectEntities({ Text: note });
        given(read.ModelVersion, 'ModelVersion');
        assert.ok(Array.isArray(read.Entities), 'no entities');
      },
    }),

    'health information, and codes of ontologies': (c) => ({
      'a model has read it for health information': async () => {
        const read = await c.detectPHI({ Text: stay });
        assert.ok(given(read.ModelVersion, 'ModelVersion').length > 0, 'no model');
        assert.ok(Array.isArray(read.Entities), 'no entities');
      },
      'nothing but that': async () => {
        for (const { Category } of (await c.detectPHI({ Text: stay })).Entities ?? []) {
          assert.equal(Category, 'PROTECTED_HEALTH_INFORMATION');
        }
      },
      'each of that is where it says, with a score': async () =>
        sound(given((await c.detectPHI({ Text: stay })).Entities, 'Entities'), stay),
      'a name, an age and an address': async () => {
        const found = ((await c.detectPHI({ Text: stay })).Entities ?? []).map(({ Type, Text }) => `${Type} ${Text}`);
        assert.ok(found.includes('NAME John Smith'), found.join(', '));
        assert.ok(found.includes('AGE 48'), found.join(', '));
      },
      'a diagnosis': async () => {
        const Text = 'The patient has a history of type 2 diabetes mellitus and denies chest pain.';
        const read = await c.inferICD10CM({ Text });
        given(read.ModelVersion, 'ModelVersion');
        sound(given(read.Entities, 'Entities'), Text);
        for (const { Category } of read.Entities ?? []) assert.equal(Category, 'MEDICAL_CONDITION');
      },
      'a medication': async () => {
        const Text = 'Patient reports taking Levothyroxine 125 micrograms p.o. once daily, but denies taking Synthroid.';
        const read = await c.inferRxNorm({ Text });
        given(read.ModelVersion, 'ModelVersion');
        sound(given(read.Entities, 'Entities'), Text);
        for (const { Category } of read.Entities ?? []) assert.equal(Category, 'MEDICATION');
      },
      'clinical terms, and of which edition': async () => {
        const read = await c.inferSNOMEDCT({ Text: 'Patient presents with hypertension.' });
        given(read.ModelVersion, 'ModelVersion');
        given(read.SNOMEDCTDetails?.Edition, 'Edition');
        given(read.SNOMEDCTDetails?.VersionDate, 'VersionDate');
        assert.ok(Array.isArray(read.Entities), 'no entities');
      },
      'how many letters were read': async () => {
        const Text = 'Patient presents with hypertension.';
        assert.equal((await c.inferSNOMEDCT({ Text })).Characters?.OriginalTextCharacters, Text.length);
      },
    }),

    'text that is too long, or none': (c) => ({
      'no text at all': () => denied(c.detectEntitiesV2({ Text: '' }), 483),
      'none for health information': () => denied(c.detectPHI({ Text: '' }), 483),
      'the text is left out': () => denied(c.inferICD10CM({ Text: undefined }), 483),
      'more than twenty thousand letters': async () => {
        await denied(c.detectEntitiesV2({ Text: 'chest pain '.repeat(2000) }), 483, 485);
        await denied(c.detectPHI({ Text: 'chest pain '.repeat(2000) }), 483, 485);
      },
      'more than ten thousand for an ontology': async () => {
        const Text = 'chest pain '.repeat(1000);
        await denied(c.inferICD10CM({ Text }), 483, 485);
        await denied(c.inferRxNorm({ Text }), 483, 485);
        await denied(c.inferSNOMEDCT({ Text }), 483, 485);
      },
      'which entities can still be read from': async () =>
        given((await c.detectEntitiesV2({ Text: 'chest pain '.repeat(1000) })).ModelVersion, 'ModelVersion'),
    }),

    'a credential that is refused': (c, s, another) => ({
      'a job': async () => {
        s.id = await begun(c, phi, 'guarded');
      },
      'not described to another': () => stranger(another('AKIANOBODYATALL00000').describePHIDetectionJob({ JobId: s.id })),
      'not listed to another': () => stranger(another('AKIANOBODYATALL00000').listPHIDetectionJobs({})),
      'nothing started by another': () => stranger(another('AKIANOBODYATALL00000').startPHIDetectionJob(how('intruder'))),
      'not stopped by another': () => stranger(another('AKIANOBODYATALL00000').stopPHIDetectionJob({ JobId: s.id })),
      'no text read for another': () => stranger(another('AKIANOBODYATALL00000').detectPHI({ Text: stay })),
      'it goes on, and alone': async () => {
        oneOf((await job(c, phi, s.id)).JobStatus, 'SUBMITTED', 'IN_PROGRESS', 'COMPLETED');
        assert.deepEqual(await ids(c, phi, { JobName: 'intruder' }), []);
      },
    }),

    'wrong requests': (c) => ({
      'a language that it does not read': async () => {
        await denied(c.startEntitiesDetectionV2Job(how('wrong', { LanguageCode: 'fr' as LanguageCode })), 480);
        assert.deepEqual(await ids(c, entities, { JobName: 'wrong' }), []);
      },
      'a role that is none': () =>
        denied(c.startPHIDetectionJob(how('wrong', { DataAccessRoleArn: 'just-a-name-of-a-role' })), 480),
      'no input': () => denied(c.startRxNormInferenceJob(how('wrong', { InputDataConfig: undefined })), 480),
      'no bucket for the output': () =>
        denied(c.startSNOMEDCTInferenceJob(how('wrong', { OutputDataConfig: { S3Bucket: undefined } })), 480),
      'a bucket of forbidden letters': () =>
        denied(c.startICD10CMInferenceJob(how('wrong', { InputDataConfig: { S3Bucket: 'No_Such BUCKET' } })), 480),
      'a page of no rows, and one of too many': async () => {
        await denied(c.listEntitiesDetectionV2Jobs({ MaxResults: 0 }), 480, 481);
        await denied(c.listSNOMEDCTInferenceJobs({ MaxResults: 501 }), 480, 481);
      },
      'an id that is too long': () => denied(c.describeRxNormInferenceJob({ JobId: 'x'.repeat(33) }), 480),
      'nothing was started': async () => {
        for (const kind of [entities, phi, rx, snomed, icd]) assert.deepEqual(await ids(c, kind, { JobName: 'wrong' }), []);
      },
    }),
  },
};
