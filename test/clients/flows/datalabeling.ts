import assert from 'node:assert/strict';
import { auth, datalabeling, type datalabeling_v1beta1 } from 'googleapis/build/src/apis/datalabeling/index.js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type DataLabeling = datalabeling_v1beta1.Datalabeling;
type DataSet = datalabeling_v1beta1.Schema$GoogleCloudDatalabelingV1beta1Dataset;
type SpecSet = datalabeling_v1beta1.Schema$GoogleCloudDatalabelingV1beta1AnnotationSpecSet;
type Instruction = datalabeling_v1beta1.Schema$GoogleCloudDatalabelingV1beta1Instruction;
type Job = datalabeling_v1beta1.Schema$GoogleCloudDatalabelingV1beta1EvaluationJob;
type Operation = datalabeling_v1beta1.Schema$GoogleLongrunningOperation;

/** The client's paths begin with `/v1beta1`, as those of the description do, so that its root is the place's bare address. */
const connect = (place: Place, token: string): DataLabeling => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token, expiry_date: Date.now() + 3_600_000 });
  return datalabeling({ version: 'v1beta1', rootUrl: `${place.url}/`, auth: credential, retry: false });
};

/** Projects, files of Cloud Storage, versions of models and tables of BigQuery are other services': these are there before. */
const project = 'projects/data-labeling-one';
const otherProject = 'projects/data-labeling-two';
const files = 'gs://data-labeling-one';
const model = (name: string): string => `${project}/models/${name}/versions/v1`;

const wrongly = <T>(body: object): T => body as T;
const idOf = (name: string): string => given(name.split('/').at(-1), 'id');

const dataset = async (
  d: DataLabeling,
  s: State,
  displayName: string,
  more: DataSet = {},
  parent = project,
): Promise<DataSet> => {
  const requestBody = { dataset: { displayName, ...more } };
  const { data } = await d.projects.datasets.create({ parent, requestBody });
  s[displayName] = given(data.name, 'name');
  return data;
};
const datasets = (d: DataLabeling, parent = project, pageSize?: number): Promise<DataSet[]> =>
  pages(
    async (pageToken) => (await d.projects.datasets.list({ parent, pageSize, pageToken })).data,
    ({ datasets: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const specSet = async (d: DataLabeling, s: State, displayName: string, labels = ['dog', 'cat']): Promise<SpecSet> => {
  const annotationSpecs = labels.map((label) => ({ displayName: label, description: `A ${label}.` }));
  const requestBody = { annotationSpecSet: { displayName, description: 'What is to be seen.', annotationSpecs } };
  const { data } = await d.projects.annotationSpecSets.create({ parent: project, requestBody });
  s[displayName] = given(data.name, 'name');
  return data;
};
const specSets = (d: DataLabeling, pageSize?: number): Promise<SpecSet[]> =>
  pages(
    async (pageToken) => (await d.projects.annotationSpecSets.list({ parent: project, pageSize, pageToken })).data,
    ({ annotationSpecSets: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const instructions = (d: DataLabeling): Promise<Instruction[]> =>
  pages(
    async (pageToken) => (await d.projects.instructions.list({ parent: project, pageToken })).data,
    ({ instructions: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const jobs = (d: DataLabeling, filter?: string, pageSize?: number): Promise<Job[]> =>
  pages(
    async (pageToken) => (await d.projects.evaluationJobs.list({ parent: project, filter, pageSize, pageToken })).data,
    ({ evaluationJobs: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const operations = (d: DataLabeling, pageSize?: number): Promise<Operation[]> =>
  pages(
    async (pageToken) => (await d.projects.operations.list({ name: project, pageSize, pageToken })).data,
    ({ operations: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));

/** An operation has a name that it can be asked about with; whether it ends soon is the service's affair. */
const started = (operation: Operation): string => {
  const name = given(operation.name, 'name');
  assert.match(name, /operations\/[^/]+$/);
  return name;
};
/** Asks about an operation until it has ended, for at most eight seconds. */
const finished = async (d: DataLabeling, operation: Operation): Promise<Operation> => {
  let now = operation;
  for (let turn = 0; now.done !== true && turn < 40; turn += 1) {
    await new Promise((go) => setTimeout(go, 200));
    now = (await d.projects.operations.get({ name: given(operation.name, 'name') })).data;
  }
  assert.equal(now.done, true);
  assert.equal(now.error ?? undefined, undefined);
  return now;
};
/** How the work has to be done, which is made in the end, and found by what it is called. */
const instruct = async (d: DataLabeling, s: State, displayName: string, dataType = 'IMAGE'): Promise<Operation> => {
  const instruction = {
    displayName,
    description: 'How to tell one from the other.',
    dataType,
    pdfInstruction: { gcsFileUri: `${files}/instruction.pdf` },
  };
  const { data } = await d.projects.instructions.create({ parent: project, requestBody: { instruction } });
  const operation = await finished(d, data);
  const found = (await instructions(d)).find((one) => one.displayName === displayName);
  s[displayName] = given(given(found, displayName).name, 'name');
  return operation;
};
const inputs = (dataType: string, file: string) => ({
  inputConfig: {
    dataType,
    ...(dataType === 'TEXT' ? { textMetadata: { languageCode: 'en-US' } } : {}),
    gcsSource: { inputUri: `${files}/${file}`, mimeType: 'text/csv' },
  },
});
const human = (instruction: string, annotatedDatasetDisplayName: string) => ({
  instruction,
  annotatedDatasetDisplayName,
  annotatedDatasetDescription: 'Made by people.',
  labelGroup: 'flows_1',
  replicaCount: 3,
  questionDuration: '600s',
});

const asked = (set: string, of: string): Job => ({
  description: `Looks after ${of}.`,
  schedule: 'every 24 hours',
  modelVersion: model(of),
  annotationSpecSet: set,
  labelMissingGroundTruth: false,
  evaluationJobConfig: {
    inputConfig: {
      dataType: 'IMAGE',
      annotationType: 'IMAGE_CLASSIFICATION_ANNOTATION',
      classificationMetadata: { isMultiLabel: true },
      bigquerySource: { inputUri: `bq://data-labeling-one/evaluation/${of}` },
    },
    imageClassificationConfig: { annotationSpecSet: set, allowMultiLabel: true },
    evaluationConfig: {},
    bigqueryImportKeys: { data_json_key: 'image', label_json_key: 'sentiment', label_score_json_key: 'confidence' },
    exampleCount: 1000,
    exampleSamplePercentage: 0.25,
  },
});
const job = async (d: DataLabeling, s: State, set: string, of: string): Promise<Job> => {
  const { data } = await d.projects.evaluationJobs.create({ parent: project, requestBody: { job: asked(set, of) } });
  s[of] = given(data.name, 'name');
  return data;
};
const jobOf = async (d: DataLabeling, name: string): Promise<Job> => (await d.projects.evaluationJobs.get({ name })).data;
/** A job that is not paused waits for its time, or runs. */
const goesOn = ({ state }: Job): void => assert.ok(['SCHEDULED', 'RUNNING'].includes(given(state, 'state')), `it is ${state}`);

/**
 * Guide: cloud.google.com/ai-platform/data-labeling/docs (datasets, label sets, instructions, labeling tasks), its reference of
 * REST, and cloud.google.com/ai-platform/prediction/docs/continuous-evaluation. What is read or deleted by its name
 * (`/v1beta1/{name}`) is by the guide the resource of that name, where the description knows operations alone.
 */
export const vendor: Vendor<DataLabeling> = {
  document: 'datalabeling/datalabeling.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up-for-nobody',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a dataset, from the first to the last day': (d, s) => ({
      made: async () => {
        const made = await dataset(d, s, 'pets', { description: 'Dogs, and others.' });
        assert.deepEqual([made.displayName, made.description], ['pets', 'Dogs, and others.']);
        assert.match(given(made.name, 'name'), /^projects\/[^/]+\/datasets\/[^/]+$/);
      },
      read: async () => {
        const { data } = await d.projects.datasets.get({ name: s.pets });
        assert.deepEqual([data.name, data.displayName, data.description], [s.pets, 'pets', 'Dogs, and others.']);
      },
      'when it was made': async () => {
        const { data } = await d.projects.datasets.get({ name: s.pets });
        assert.ok(!Number.isNaN(Date.parse(given(data.createTime, 'createTime'))), `it is ${data.createTime}`);
      },
      'is in the list': async () => once(names(await datasets(d)), [given(s.pets, 'name')], 'datasets'),
      'a part of it': async () => {
        const { data } = await d.projects.datasets.get({ name: s.pets, fields: 'name' });
        assert.deepEqual(data, { name: s.pets });
      },
      deleted: () => d.projects.datasets.delete({ name: s.pets }),
      gone: () => refused(d.projects.datasets.get({ name: s.pets }), 404),
      'no longer in the list': async () => assert.ok(!names(await datasets(d)).includes(s.pets ?? ''), 'it is'),
    }),

    'datasets, through all pages': (d, s) => ({
      'five are made': async () => {
        for (const name of ['page1', 'page2', 'page3', 'page4', 'page5']) await dataset(d, s, name);
      },
      'a page is no longer than asked for': async () => {
        const { data } = await d.projects.datasets.list({ parent: project, pageSize: 2 });
        assert.ok((data.datasets ?? []).length <= 2, `it has ${data.datasets?.length}`);
        s.next = given(data.nextPageToken || undefined, 'nextPageToken');
      },
      'the page after it has others': async () => {
        const { data: first } = await d.projects.datasets.list({ parent: project, pageSize: 2 });
        const { data: second } = await d.projects.datasets.list({ parent: project, pageSize: 2, pageToken: s.next });
        const before = names(first.datasets ?? []);
        assert.ok(
          names(second.datasets ?? []).every((name) => !before.includes(name)),
          'it repeats one',
        );
      },
      'each is in one of them': async () => {
        const rows = await datasets(d, project, 2);
        once(
          names(rows),
          ['page1', 'page2', 'page3', 'page4', 'page5'].map((name) => given(s[name], name)),
          'datasets',
        );
      },
      'one is deleted': () => d.projects.datasets.delete({ name: s.page3 }),
      'the others stay': async () => {
        const rows = names(await datasets(d, project, 2));
        once(
          rows,
          ['page1', 'page2', 'page4', 'page5'].map((name) => given(s[name], name)),
          'datasets',
        );
        assert.ok(!rows.includes(s.page3 ?? ''), 'it lists what was deleted');
      },
      'all on one page': async () => {
        const { data } = await d.projects.datasets.list({ parent: project, pageSize: 100 });
        assert.equal((data.datasets ?? []).length, 4);
        assert.equal(data.nextPageToken || undefined, undefined);
      },
    }),

    'datasets of two projects': (d, s) => ({
      'one in the one': async () => {
        const { name } = await dataset(d, s, 'here');
        assert.ok(given(name, 'name').startsWith(`${project}/datasets/`), `it is ${name}`);
      },
      'one in the other': async () => {
        const { name } = await dataset(d, s, 'there', {}, otherProject);
        assert.ok(given(name, 'name').startsWith(`${otherProject}/datasets/`), `it is ${name}`);
      },
      'the first has its own': async () => assert.deepEqual(names(await datasets(d)), [s.here]),
      'the second has its own': async () => assert.deepEqual(names(await datasets(d, otherProject)), [s.there]),
      'two of one name are two': async () => {
        const { name } = await dataset(d, s, 'here', {}, otherProject);
        assert.equal((await datasets(d, otherProject)).length, 2);
        assert.ok(given(name, 'name').startsWith(`${otherProject}/`), `it is ${name}`);
      },
      'not found in the wrong project': () =>
        refused(d.projects.datasets.get({ name: `${project}/datasets/${idOf(given(s.there, 'there'))}` }), 404),
    }),

    'an annotation spec set, from the first to the last day': (d, s) => ({
      made: async () => {
        const made = await specSet(d, s, 'animals');
        assert.deepEqual([made.displayName, made.description], ['animals', 'What is to be seen.']);
        assert.match(given(made.name, 'name'), /^projects\/[^/]+\/annotationSpecSets\/[^/]+$/);
      },
      read: async () => {
        const { data } = await d.projects.annotationSpecSets.get({ name: s.animals });
        assert.deepEqual([data.name, data.displayName], [s.animals, 'animals']);
        assert.deepEqual(
          given(data.annotationSpecs, 'annotationSpecs').map(({ displayName }) => displayName),
          ['dog', 'cat'],
        );
      },
      'two more': async () => {
        await specSet(d, s, 'plants', ['tree', 'herb']);
        await specSet(d, s, 'things', ['car', 'house']);
      },
      'all are in the list, page by page': async () => {
        const rows = await specSets(d, 1);
        once(
          rows.map(({ displayName }) => given(displayName, 'displayName')),
          ['animals', 'plants', 'things'],
          'annotation spec sets',
        );
      },
      deleted: () => d.projects.annotationSpecSets.delete({ name: s.animals }),
      gone: () => refused(d.projects.annotationSpecSets.get({ name: s.animals }), 404),
      'the others stay': async () => {
        const rows = names(await specSets(d));
        once(rows, [given(s.plants, 'plants'), given(s.things, 'things')], 'annotation spec sets');
        assert.ok(!rows.includes(s.animals ?? ''), 'it lists what was deleted');
      },
    }),

    'labels of a set': (d, s) => ({
      'three labels': async () => {
        const { annotationSpecs } = await specSet(d, s, 'colours', ['red', 'green', 'blue']);
        assert.equal(given(annotationSpecs, 'annotationSpecs').length, 3);
      },
      'they are numbered from 0': async () => {
        const { data } = await d.projects.annotationSpecSets.get({ name: s.colours });
        assert.deepEqual(
          given(data.annotationSpecs, 'annotationSpecs').map(({ displayName, index }) => [displayName, index ?? 0]),
          [
            ['red', 0],
            ['green', 1],
            ['blue', 2],
          ],
        );
      },
      'each with what it means': async () => {
        const { data } = await d.projects.annotationSpecSets.get({ name: s.colours });
        assert.deepEqual(
          given(data.annotationSpecs, 'annotationSpecs').map(({ description }) => description),
          ['A red.', 'A green.', 'A blue.'],
        );
      },
      'they are in the list too': async () => {
        const row = (await specSets(d)).find(({ name }) => name === s.colours);
        assert.deepEqual(
          given(row, 'colours').annotationSpecs?.map(({ displayName }) => displayName),
          ['red', 'green', 'blue'],
        );
      },
      'of two alike one is accepted': async () => {
        const { annotationSpecs } = await specSet(d, s, 'doubled', ['red', 'red', 'blue']);
        once(
          given(annotationSpecs, 'annotationSpecs').map(({ displayName }) => given(displayName, 'displayName')),
          ['red', 'blue'],
          'annotation specs',
        );
      },
    }),

    'an instruction, from the first to the last day': (d, s) => ({
      'made, in the end': async () => {
        const operation = await instruct(d, s, 'howto');
        assert.match(given(operation.name, 'name'), /operations\/[^/]+$/);
      },
      'the operation tells what it made': async () => {
        const operation = await instruct(d, s, 'howto2', 'TEXT');
        assert.equal(given(operation.response, 'response').name, s.howto2);
      },
      read: async () => {
        const { data } = await d.projects.instructions.get({ name: s.howto });
        assert.deepEqual([data.name, data.displayName, data.dataType], [s.howto, 'howto', 'IMAGE']);
        assert.equal(data.pdfInstruction?.gcsFileUri, `${files}/instruction.pdf`);
        assert.match(given(data.name, 'name'), /^projects\/[^/]+\/instructions\/[^/]+$/);
      },
      'both are in the list': async () => {
        const rows = (await instructions(d)).map(({ displayName, dataType }) => `${displayName} ${dataType}`);
        once(rows, ['howto IMAGE', 'howto2 TEXT'], 'instructions');
      },
      deleted: () => d.projects.instructions.delete({ name: s.howto }),
      gone: () => refused(d.projects.instructions.get({ name: s.howto }), 404),
      'the other stays': async () => assert.deepEqual(names(await instructions(d)), [s.howto2]),
    }),

    'data are imported': (d, s) => ({
      'a dataset': () => dataset(d, s, 'imports'),
      'an import begins': async () => {
        const requestBody = inputs('IMAGE', 'images.csv');
        const { data } = await d.projects.datasets.importData({ name: s.imports, requestBody });
        s.operation = started(data);
        assert.ok([undefined, s.imports].includes(data.metadata?.dataset as string | undefined));
      },
      'it can be asked about': async () => {
        const { data } = await d.projects.operations.get({ name: s.operation });
        assert.equal(data.name, s.operation);
        assert.ok(data.done === undefined || typeof data.done === 'boolean', `done is ${data.done}`);
      },
      'it is among the operations of the project': async () =>
        once(names(await operations(d)), [given(s.operation, 'operation')], 'operations'),
      'another dataset has one of its own': async () => {
        await dataset(d, s, 'texts');
        const requestBody = inputs('TEXT', 'texts.csv');
        const { data } = await d.projects.datasets.importData({ name: s.texts, requestBody });
        s.second = started(data);
        assert.notEqual(s.second, s.operation);
      },
      'both are listed, page by page': async () =>
        once(names(await operations(d, 1)), [given(s.operation, 'operation'), given(s.second, 'second')], 'operations'),
      'the first is forgotten': () => d.projects.operations.delete({ name: s.operation }),
      'the second is not': async () => {
        await refused(d.projects.operations.get({ name: s.operation }), 404);
        assert.equal((await d.projects.operations.get({ name: s.second })).data.name, s.second);
      },
    }),

    'labeling tasks': (d, s) => ({
      'what they need': async () => {
        await dataset(d, s, 'tasks');
        await specSet(d, s, 'choices');
        await instruct(d, s, 'tasks-howto');
      },
      'of images': async () => {
        const requestBody = {
          basicConfig: human(given(s['tasks-howto'], 'instruction'), 'Images, labeled'),
          feature: 'CLASSIFICATION',
          imageClassificationConfig: {
            annotationSpecSet: s.choices,
            allowMultiLabel: true,
            answerAggregationType: 'MAJORITY_VOTE',
          },
        };
        const { data } = await d.projects.datasets.image.label({ parent: s.tasks, requestBody });
        s.images = started(data);
      },
      'it can be asked about': async () => {
        const { data } = await d.projects.operations.get({ name: s.images });
        assert.equal(data.name, s.images);
      },
      'it is cancelled, and stays': async () => {
        await d.projects.operations.cancel({ name: s.images });
        assert.equal((await d.projects.operations.get({ name: s.images })).data.name, s.images);
      },
      'of text': async () => {
        await dataset(d, s, 'tasks-text');
        const requestBody = {
          basicConfig: { ...human(given(s['tasks-howto'], 'instruction'), 'Texts, labeled'), languageCode: 'fr' },
          feature: 'TEXT_ENTITY_EXTRACTION',
          textEntityExtractionConfig: { annotationSpecSet: s.choices },
        };
        const { data } = await d.projects.datasets.text.label({ parent: s['tasks-text'], requestBody });
        s.text = started(data);
      },
      'of videos': async () => {
        await dataset(d, s, 'tasks-video');
        const requestBody = {
          basicConfig: human(given(s['tasks-howto'], 'instruction'), 'Videos, labeled'),
          feature: 'OBJECT_TRACKING',
          objectTrackingConfig: { annotationSpecSet: s.choices, clipLength: 20, overlapLength: 1 },
        };
        const { data } = await d.projects.datasets.video.label({ parent: s['tasks-video'], requestBody });
        s.video = started(data);
      },
      'all are operations of the project': async () =>
        once(
          names(await operations(d)),
          [given(s.images, 'images'), given(s.text, 'text'), given(s.video, 'video')],
          'operations',
        ),
    }),

    'an evaluation job, from the first to the last day': (d, s) => ({
      made: async () => {
        await specSet(d, s, 'set1');
        const made = await job(d, s, given(s.set1, 'set1'), 'lifecycle');
        assert.match(given(made.name, 'name'), /^projects\/[^/]+\/evaluationJobs\/[^/]+$/);
        assert.deepEqual([made.description, made.schedule], ['Looks after lifecycle.', 'every 24 hours']);
        assert.deepEqual([made.modelVersion, made.annotationSpecSet], [model('lifecycle'), s.set1]);
      },
      read: async () => {
        const read = await jobOf(d, given(s.lifecycle, 'name'));
        assert.deepEqual([read.name, read.modelVersion], [s.lifecycle, model('lifecycle')]);
        assert.equal(read.labelMissingGroundTruth ?? false, false);
      },
      'with what it was asked': async () => {
        const { evaluationJobConfig: config } = await jobOf(d, given(s.lifecycle, 'name'));
        assert.deepEqual([config?.exampleCount, config?.exampleSamplePercentage], [1000, 0.25]);
        assert.partialDeepStrictEqual(config?.inputConfig, asked('', 'lifecycle').evaluationJobConfig?.inputConfig);
        assert.deepEqual(config?.bigqueryImportKeys, asked('', 'lifecycle').evaluationJobConfig?.bigqueryImportKeys);
      },
      'it is scheduled': async () => goesOn(await jobOf(d, given(s.lifecycle, 'name'))),
      'is in the list': async () => once(names(await jobs(d)), [given(s.lifecycle, 'name')], 'evaluation jobs'),
      deleted: () => d.projects.evaluationJobs.delete({ name: s.lifecycle }),
      gone: () => refused(jobOf(d, given(s.lifecycle, 'name')), 404),
      'the list is empty': async () => assert.deepEqual(await jobs(d), []),
    }),

    'an evaluation job is paused and resumed': (d, s) => ({
      'a job': async () => {
        await specSet(d, s, 'set2');
        await job(d, s, given(s.set2, 'set2'), 'pausing');
      },
      paused: async () => {
        await d.projects.evaluationJobs.pause({ name: s.pausing, requestBody: {} });
        assert.equal((await jobOf(d, given(s.pausing, 'name'))).state, 'PAUSED');
      },
      'once more changes nothing': async () => {
        await d.projects.evaluationJobs.pause({ name: s.pausing, requestBody: {} });
        assert.equal((await jobOf(d, given(s.pausing, 'name'))).state, 'PAUSED');
      },
      resumed: async () => {
        await d.projects.evaluationJobs.resume({ name: s.pausing, requestBody: {} });
        goesOn(await jobOf(d, given(s.pausing, 'name')));
      },
      'that once more changes nothing too': async () => {
        await d.projects.evaluationJobs.resume({ name: s.pausing, requestBody: {} });
        goesOn(await jobOf(d, given(s.pausing, 'name')));
      },
      'what it was asked stays': async () => {
        const { evaluationJobConfig: config, schedule } = await jobOf(d, given(s.pausing, 'name'));
        assert.deepEqual([schedule, config?.exampleCount], ['every 24 hours', 1000]);
      },
      'one that is deleted is not resumed': async () => {
        await d.projects.evaluationJobs.delete({ name: s.pausing });
        await refused(d.projects.evaluationJobs.resume({ name: s.pausing, requestBody: {} }), 400, 404);
      },
    }),

    'an evaluation job is changed': (d, s) => ({
      'a job': async () => {
        await specSet(d, s, 'set3');
        await job(d, s, given(s.set3, 'set3'), 'changing');
      },
      'what the mask names is changed': async () => {
        const { data } = await d.projects.evaluationJobs.patch({
          name: s.changing,
          updateMask: 'evaluationJobConfig.exampleCount',
          requestBody: { evaluationJobConfig: { exampleCount: 500 } },
        });
        assert.deepEqual([data.name, data.evaluationJobConfig?.exampleCount], [s.changing, 500]);
      },
      'it stays changed, and the rest as it was': async () => {
        const { evaluationJobConfig: config, schedule, description } = await jobOf(d, given(s.changing, 'name'));
        assert.deepEqual([config?.exampleCount, config?.exampleSamplePercentage], [500, 0.25]);
        assert.deepEqual([schedule, description], ['every 24 hours', 'Looks after changing.']);
        assert.deepEqual(config?.bigqueryImportKeys, asked('', 'changing').evaluationJobConfig?.bigqueryImportKeys);
      },
      'what it does not name is not': async () => {
        await d.projects.evaluationJobs.patch({
          name: s.changing,
          updateMask: 'evaluationJobConfig.exampleSamplePercentage',
          requestBody: { evaluationJobConfig: { exampleCount: 7, exampleSamplePercentage: 0.5 } },
        });
        const { evaluationJobConfig: config } = await jobOf(d, given(s.changing, 'name'));
        assert.deepEqual([config?.exampleCount, config?.exampleSamplePercentage], [500, 0.5]);
      },
      'two at once': async () => {
        await d.projects.evaluationJobs.patch({
          name: s.changing,
          updateMask: 'evaluationJobConfig.exampleCount,evaluationJobConfig.exampleSamplePercentage',
          requestBody: { evaluationJobConfig: { exampleCount: 50, exampleSamplePercentage: 0.125 } },
        });
        const { evaluationJobConfig: config } = await jobOf(d, given(s.changing, 'name'));
        assert.deepEqual([config?.exampleCount, config?.exampleSamplePercentage], [50, 0.125]);
      },
      'its schedule cannot be changed': () =>
        refused(
          d.projects.evaluationJobs.patch({
            name: s.changing,
            updateMask: 'schedule',
            requestBody: { schedule: 'every 48 hours' },
          }),
          400,
        ),
      'a number that is none is refused': () =>
        refused(
          d.projects.evaluationJobs.patch({
            name: s.changing,
            updateMask: 'evaluationJobConfig.exampleCount',
            requestBody: wrongly({ evaluationJobConfig: { exampleCount: 'a few' } }),
          }),
          400,
        ),
    }),

    'evaluation jobs that are looked for': (d, s) => ({
      'three jobs': async () => {
        await specSet(d, s, 'set4');
        for (const name of ['first', 'second', 'third']) await job(d, s, given(s.set4, 'set4'), name);
      },
      'one is paused': () => d.projects.evaluationJobs.pause({ name: s.second, requestBody: {} }),
      'by its state': async () => assert.deepEqual(names(await jobs(d, 'evaluation_job.state = PAUSED')), [s.second]),
      'by its model': async () => assert.deepEqual(names(await jobs(d, 'evaluation_job.model_id = third')), [s.third]),
      'by both': async () => {
        const both = (of: string) => `evaluation_job.model_id = ${of} AND evaluation_job.state = PAUSED`;
        assert.deepEqual(names(await jobs(d, both('second'))), [s.second]);
        assert.deepEqual(await jobs(d, both('first')), []);
      },
      'all, page by page': async () => {
        const three = [given(s.first, 'first'), given(s.second, 'second'), given(s.third, 'third')];
        once(names(await jobs(d, undefined, 1)), three, 'evaluation jobs');
      },
      'another of the same version is refused': () => {
        const requestBody = { job: asked(given(s.set4, 'set4'), 'first') };
        return refused(d.projects.evaluationJobs.create({ parent: project, requestBody }), 400, 409);
      },
    }),

    'what is there only later': (d, s) => ({
      'a dataset': () => dataset(d, s, 'fresh'),
      'it has no data': async () => {
        const { data } = await d.projects.datasets.dataItems.list({ parent: s.fresh, pageSize: 10 });
        assert.deepEqual([data.dataItems ?? [], data.nextPageToken || undefined], [[], undefined]);
        assert.equal(Number((await d.projects.datasets.get({ name: s.fresh })).data.dataItemCount ?? 0), 0);
      },
      'and nothing annotated': async () => {
        const { data } = await d.projects.datasets.annotatedDatasets.list({ parent: s.fresh });
        assert.deepEqual([data.annotatedDatasets ?? [], data.nextPageToken || undefined], [[], undefined]);
      },
      'nothing was evaluated': async () => {
        const { data } = await d.projects.evaluations.search({ parent: project });
        assert.deepEqual([data.evaluations ?? [], data.nextPageToken || undefined], [[], undefined]);
      },
      'nor by a job of today': async () => {
        await specSet(d, s, 'set5');
        await job(d, s, given(s.set5, 'set5'), 'patient');
        const filter = `evaluation_job.evaluation_job_id = ${idOf(given(s.patient, 'name'))} AND evaluation_job.model_id = patient`;
        assert.deepEqual((await d.projects.evaluations.search({ parent: project, filter })).data.evaluations ?? [], []);
      },
      'it did not fail yet': async () => assert.deepEqual((await jobOf(d, given(s.patient, 'name'))).attempts ?? [], []),
    }),

    'a credential that is refused': (d, s, another) => ({
      'a dataset': () => dataset(d, s, 'guarded'),
      'not read by another': () => refused(another('ya29.of-nobody').projects.datasets.get({ name: s.guarded }), 401),
      'not listed by another': () => refused(another('ya29.of-nobody').projects.datasets.list({ parent: project }), 401),
      'none is made by another': () =>
        refused(
          another('ya29.of-nobody').projects.datasets.create({
            parent: project,
            requestBody: { dataset: { displayName: 'stolen' } },
          }),
          401,
        ),
      'not deleted by another': () => refused(another('ya29.of-nobody').projects.datasets.delete({ name: s.guarded }), 401),
      'it is there, and alone': async () => assert.deepEqual(names(await datasets(d)), [s.guarded]),
    }),

    'wrong requests': (d, s) => ({
      'a dataset whose name is a list': () =>
        refused(
          d.projects.datasets.create({ parent: project, requestBody: wrongly({ dataset: { displayName: ['a', 'b'] } }) }),
          400,
        ),
      'it was not made': async () => assert.deepEqual(await datasets(d), []),
      'a name that is too long': () =>
        refused(d.projects.datasets.create({ parent: project, requestBody: { dataset: { displayName: 'x'.repeat(65) } } }), 400),
      'an instruction for smells': () => {
        const instruction = {
          displayName: 'smells',
          dataType: 'SMELL',
          pdfInstruction: { gcsFileUri: `${files}/instruction.pdf` },
        };
        return refused(d.projects.instructions.create({ parent: project, requestBody: { instruction } }), 400);
      },
      'a page of no known size': () =>
        refused(d.projects.datasets.list({ parent: project, pageSize: 'all' as unknown as number }), 400),
      'data of no known type': async () => {
        await dataset(d, s, 'wrong');
        await refused(d.projects.datasets.importData({ name: s.wrong, requestBody: inputs('HOLOGRAM', 'holograms.csv') }), 400);
      },
      'a task of no known kind': () =>
        refused(
          d.projects.datasets.image.label({
            parent: s.wrong,
            requestBody: { basicConfig: human(`${project}/instructions/1`, 'Wrong'), feature: 'SCRIBBLES' },
          }),
          400,
        ),
      'a number of people that is none': () =>
        refused(
          d.projects.datasets.text.label({
            parent: s.wrong,
            requestBody: wrongly({
              basicConfig: { ...human(`${project}/instructions/1`, 'Wrong'), replicaCount: 'a crowd' },
              feature: 'TEXT_CLASSIFICATION',
            }),
          }),
          400,
        ),
    }),

    'what is not there': (d) => ({
      'a dataset': async () => {
        await refused(d.projects.datasets.get({ name: `${project}/datasets/nowhere` }), 404);
        await refused(d.projects.datasets.delete({ name: `${project}/datasets/nowhere` }), 404);
      },
      'importing into it, exporting from it': async () => {
        const name = `${project}/datasets/nowhere`;
        await refused(d.projects.datasets.importData({ name, requestBody: inputs('IMAGE', 'images.csv') }), 404);
        const requestBody = {
          annotatedDataset: `${name}/annotatedDatasets/nowhere`,
          outputConfig: { gcsDestination: { outputUri: `${files}/out.csv`, mimeType: 'text/csv' } },
        };
        await refused(d.projects.datasets.exportData({ name, requestBody }), 404);
      },
      'its data': () => refused(d.projects.datasets.dataItems.list({ parent: `${project}/datasets/nowhere` }), 404),
      'an evaluation job': async () => {
        const name = `${project}/evaluationJobs/nowhere`;
        await refused(d.projects.evaluationJobs.pause({ name, requestBody: {} }), 404);
        const change = {
          updateMask: 'evaluationJobConfig.exampleCount',
          requestBody: { evaluationJobConfig: { exampleCount: 1 } },
        };
        await refused(d.projects.evaluationJobs.patch({ name, ...change }), 404);
      },
      'examples of what is not annotated': () =>
        refused(
          d.projects.datasets.annotatedDatasets.examples.list({
            parent: `${project}/datasets/nowhere/annotatedDatasets/nowhere`,
          }),
          404,
        ),
      'what was said of it': async () => {
        const parent = `${project}/datasets/nowhere/annotatedDatasets/nowhere`;
        const { feedbackThreads } = d.projects.datasets.annotatedDatasets;
        await refused(feedbackThreads.list({ parent }), 404);
        const thread = `${parent}/feedbackThreads/nowhere`;
        await refused(feedbackThreads.feedbackMessages.list({ parent: thread }), 404);
        await refused(feedbackThreads.feedbackMessages.create({ parent: thread, requestBody: { body: 'Well?' } }), 404);
      },
      'comparing examples of no evaluation': () =>
        refused(
          d.projects.datasets.evaluations.exampleComparisons.search({
            parent: `${project}/datasets/nowhere/evaluations/nowhere`,
            requestBody: { pageSize: 10 },
          }),
          404,
        ),
      'an operation': () => refused(d.projects.operations.get({ name: `${project}/operations/nowhere` }), 404),
    }),
  },
};
