import assert from 'node:assert/strict';
import { type Asset, Client, ClientCredentials, type Dataset, Token, type Transition } from '@lucidtech/las-sdk-node';
import { once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

const hour = 3_600_000;

/** A token which is kept is taken as it is: the client asks for another only where it has run out. */
const connect = (place: Place, token: string): Client => {
  const kept = { getPersistentToken: () => new Token(token, Date.now() + hour), setPersistentToken: () => undefined };
  return new Client(new ClientCredentials(place.base, 'flows', 'unused', '127.0.0.1', kept));
};

const content = Buffer.from('export const Viewer = () => "a remote component";').toString('base64');

/** The guide names assets, the client's own type does not. */
const asset = (las: Client, name: string): Promise<Asset> => las.createAsset(content, { name } as object);

const dataset = (las: Client, name: string): Promise<Dataset> => las.createDataset({ name, description: 'Scanned in March' });

const fields = {
  total_amount: { type: 'amount', description: 'What is to pay' },
  due_date: { type: 'date', description: 'Until when' },
} as const;

const manual = (las: Client, name: string): Promise<Transition> =>
  las.createTransition('manual', { name, description: 'Somebody looks at it' });

const machine = (transition: string) => ({
  definition: {
    StartAt: 'Look',
    States: { Look: { Type: 'Task', Resource: transition, End: true } },
  },
});

const workflow = async (las: Client, s: State, name: string): Promise<string> => {
  if (!Object.keys(s).includes('transition')) s.transition = (await manual(las, 'Look')).transitionId;
  return (await las.createWorkflow(name, machine(s.transition), { description: 'Invoices that come by mail' })).workflowId;
};

const assets = async (las: Client): Promise<string[]> => {
  const rows = await pages(
    (nextToken) => las.listAssets({ maxResults: 50, nextToken }),
    (page) => page.assets,
    (page) => page.nextToken,
  );
  return rows.map(({ assetId }) => assetId);
};

const datasets = async (las: Client, maxResults: number): Promise<string[]> => {
  const rows = await pages(
    (nextToken) => las.listDatasets({ maxResults, nextToken }),
    (page) => page.datasets,
    (page) => page.nextToken,
  );
  return rows.map(({ datasetId }) => datasetId);
};

const executions = async (las: Client, transition: string, status?: 'running' | 'succeeded'): Promise<string[]> =>
  (await las.listTransitionExecutions(transition, { status })).executions.map(({ executionId }) => executionId);

const nobody = '0123456789abcdef0123456789abcdef';

/** Guide: docs.cradl.ai (Lucidtech): "Getting started", "Datasets", "Models", "Assets", "Secrets", "Transitions", "Workflows", "REST API". */
export const vendor: Vendor<Client> = {
  document: 'lucidtech/lucidtech.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJraWQiOiJuaW5lZm9sZC1mbG93cyJ9.eyJzdWIiOiJsYXMifQ.c2lnbmVk',
  client: connect,
  flows: {
    'an asset is made, changed and deleted': (las, s) => ({
      create: async () => {
        const made = await asset(las, 'viewer.js');
        s.id = made.assetId;
        assert.match(s.id, /^las:asset:[a-f0-9]{32}$/);
        assert.equal(made.name, 'viewer.js');
      },
      'read it with its content': async () => {
        const read = await las.getAsset(s.id);
        assert.deepEqual([read.assetId, read.name, read.content], [s.id, 'viewer.js', content]);
      },
      'give it another content': async () => {
        const changed = await las.updateAsset(s.id, { content: Buffer.from('second') });
        assert.equal(changed.assetId, s.id);
      },
      'it has that, and its name': async () => {
        const read = await las.getAsset(s.id);
        assert.deepEqual([Buffer.from(read.content, 'base64').toString(), read.name], ['second', 'viewer.js']);
      },
      delete: async () => assert.equal((await las.deleteAsset(s.id)).assetId, s.id),
      'it is gone': async () => refused(las.getAsset(s.id), 404),
      'it is not listed': async () => assert.ok(!(await assets(las)).includes(s.id)),
    }),
    'assets through all pages': (las, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = (await asset(las, `part-${n}.js`)).assetId;
      },
      'pages of two': async () => {
        const rows = await pages(
          (nextToken) => las.listAssets({ maxResults: 2, nextToken }),
          (page) => page.assets,
          (page) => page.nextToken,
        );
        once(
          rows.map(({ assetId }) => assetId),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page has no more than was asked for': async () => {
        const page = await las.listAssets({ maxResults: 2 });
        assert.equal(page.assets.length, 2);
        assert.equal(typeof page.nextToken, 'string');
      },
    }),
    'a dataset is made, changed and deleted': (las, s) => ({
      create: async () => {
        const asked = { name: 'Invoices', description: 'Scanned in March', retentionInDays: 30, metadata: { office: 'Oslo' } };
        const made = await las.createDataset({ ...asked, containsPersonallyIdentifiableInformation: false });
        s.id = made.datasetId;
        assert.partialDeepStrictEqual(made, { ...asked, containsPersonallyIdentifiableInformation: false });
      },
      read: async () => {
        const read = await las.getDataset(s.id);
        assert.deepEqual([read.datasetId, read.name, read.retentionInDays], [s.id, 'Invoices', 30]);
      },
      change: async () => {
        const changed = await las.updateDataset(s.id, { name: 'Invoices of March', retentionInDays: 60 });
        assert.deepEqual([changed.datasetId, changed.name, changed.retentionInDays], [s.id, 'Invoices of March', 60]);
      },
      'it stays changed, and the rest as it was': async () => {
        const read = await las.getDataset(s.id);
        assert.partialDeepStrictEqual(read, {
          datasetId: s.id,
          name: 'Invoices of March',
          description: 'Scanned in March',
          metadata: { office: 'Oslo' },
        });
      },
      delete: async () => assert.equal((await las.deleteDataset(s.id)).datasetId, s.id),
      'it is gone': async () => refused(las.getDataset(s.id), 404),
      'it cannot be deleted again': async () => refused(las.deleteDataset(s.id), 404),
    }),
    'datasets through all pages': (las, s) => ({
      'create four': async () => {
        for (const n of [1, 2, 3, 4]) s[`id${n}`] = (await dataset(las, `Batch ${n}`)).datasetId;
      },
      'pages of three': async () => once(await datasets(las, 3), [s.id1, s.id2, s.id3, s.id4], 'pages'),
      'all on one page': async () => once(await datasets(las, 100), [s.id1, s.id2, s.id3, s.id4], 'page'),
      'without the one that is deleted': async () => {
        await las.deleteDataset(s.id2);
        const rows = await datasets(las, 3);
        once(rows, [s.id1, s.id3, s.id4], 'pages');
        assert.ok(!rows.includes(s.id2));
      },
    }),
    'a secret is never told': (las, s) => ({
      create: async () => {
        const made = await las.createSecret({ username: 'docker', password: 'hunter2' }, { description: 'A registry' });
        s.id = made.secretId;
        assert.match(s.id, /^las:secret:[a-f0-9]{32}$/);
        assert.equal(made.description, 'A registry');
        assert.ok(!JSON.stringify(made).includes('hunter2'));
      },
      'it is listed without its data': async () => {
        const { secrets } = await las.listSecrets();
        once(
          secrets.map(({ secretId }) => secretId),
          [s.id],
        );
        assert.ok(!JSON.stringify(secrets).includes('hunter2'));
      },
      'describe it otherwise': async () => {
        const changed = await las.updateSecret(s.id, { description: 'Another registry', name: 'registry' });
        assert.deepEqual([changed.secretId, changed.description, changed.name], [s.id, 'Another registry', 'registry']);
      },
      'a secret that is not there': async () => {
        await refused(las.updateSecret(`las:secret:${nobody}`, { description: 'nothing' }), 404);
      },
    }),
    'an app client with a secret': (las, s) => ({
      create: async () => {
        const asked = {
          name: 'Back office',
          callbackUrls: ['https://office.example.com/signed-in'],
          logoutUrls: ['https://office.example.com/signed-out'],
        };
        const made = await las.createAppClient({ ...asked, generateSecret: true });
        s.id = made.appClientId;
        assert.partialDeepStrictEqual(made, { ...asked, hasSecret: true });
        assert.equal(typeof made.clientId, 'string');
      },
      rename: async () => {
        const changed = await las.updateAppClient(s.id, { name: 'Front office' });
        assert.deepEqual([changed.appClientId, changed.name], [s.id, 'Front office']);
      },
      'it is listed by its new name': async () => {
        const row = (await las.listAppClients()).appClients.find(({ appClientId }) => appClientId === s.id);
        assert.deepEqual([row?.name, row?.callbackUrls], ['Front office', ['https://office.example.com/signed-in']]);
      },
      delete: async () => assert.equal((await las.deleteAppClient(s.id)).appClientId, s.id),
      'it is not listed': async () => {
        const rows = (await las.listAppClients()).appClients.map(({ appClientId }) => appClientId);
        assert.ok(!rows.includes(s.id));
      },
      'it cannot be changed': async () => refused(las.updateAppClient(s.id, { name: 'Nobody' }), 404),
    }),
    'a user is invited and leaves': (las, s) => ({
      invite: async () => {
        const made = await las.createUser('ada@example.com', { metadata: { team: 'accounts' } });
        s.id = made.userId;
        assert.match(s.id, /^las:user:[a-f0-9]{32}$/);
        assert.deepEqual(made.metadata, { team: 'accounts' });
      },
      read: async () => {
        const read = await las.getUser(s.id);
        assert.deepEqual([read.userId, read.metadata], [s.id, { team: 'accounts' }]);
      },
      'another team': async () => {
        const changed = await las.updateUser(s.id, { metadata: { team: 'sales' } });
        assert.deepEqual([changed.userId, changed.metadata], [s.id, { team: 'sales' }]);
      },
      'they are listed': async () => {
        const { users } = await las.listUsers();
        once(
          users.map(({ userId }) => userId),
          [s.id],
          'users',
        );
      },
      delete: async () => assert.equal((await las.deleteUser(s.id)).userId, s.id),
      'they are gone': async () => refused(las.getUser(s.id), 404),
    }),
    'a model reads fields': (las, s) => ({
      create: async () => {
        const made = await las.createModel(fields, { name: 'Invoices', description: 'Reads invoices' });
        s.id = made.modelId;
        assert.partialDeepStrictEqual(made, { name: 'Invoices', description: 'Reads invoices', fieldConfig: fields });
      },
      read: async () => {
        const read = await las.getModel(s.id);
        assert.deepEqual([read.modelId, read.fieldConfig], [s.id, fields]);
      },
      'a field more': async () => {
        const fieldConfig = { ...fields, supplier: { type: 'string' as const, description: 'Who sent it' } };
        await las.updateModel(s.id, { fieldConfig });
        const read = await las.getModel(s.id);
        assert.deepEqual([Object.keys(read.fieldConfig ?? {}).length, read.name], [3, 'Invoices']);
      },
      'it is listed': async () => {
        const { models } = await las.listModels();
        once(
          models.map(({ modelId }) => modelId),
          [s.id],
          'models',
        );
      },
      delete: async () => assert.equal((await las.deleteModel(s.id)).modelId, s.id),
      'it is gone': async () => refused(las.getModel(s.id), 404),
    }),
    'a data bundle of datasets, for a model': (las, s) => ({
      'two models and a dataset': async () => {
        s.model = (await las.createModel(fields, { name: 'Invoices' })).modelId;
        s.other = (await las.createModel(fields, { name: 'Receipts' })).modelId;
        s.dataset = (await dataset(las, 'March')).datasetId;
      },
      bundle: async () => {
        const made = await las.createDataBundle(s.model, [s.dataset], { name: 'Bundle of March' });
        s.id = made.dataBundleId;
        assert.deepEqual([made.modelId, made.name], [s.model, 'Bundle of March']);
        once(
          made.datasets.map(({ datasetId }) => datasetId),
          [s.dataset],
          'datasets of the bundle',
        );
      },
      'the model has it': async () => {
        const { dataBundles } = await las.listDataBundles(s.model);
        assert.deepEqual(
          dataBundles.map(({ dataBundleId, modelId }) => [dataBundleId, modelId]),
          [[s.id, s.model]],
        );
      },
      'the other model does not': async () => assert.deepEqual((await las.listDataBundles(s.other)).dataBundles, []),
      rename: async () => {
        const changed = await las.updateDataBundle(s.model, s.id, { name: 'Bundle of spring' });
        assert.deepEqual([changed.dataBundleId, changed.name, changed.modelId], [s.id, 'Bundle of spring', s.model]);
      },
      delete: async () => assert.equal((await las.deleteDataBundle(s.model, s.id)).dataBundleId, s.id),
      'the model has none': async () => assert.deepEqual((await las.listDataBundles(s.model)).dataBundles, []),
    }),
    'a transition is made, changed and deleted': (las, s) => ({
      create: async () => {
        const made = await manual(las, 'Check the total');
        s.id = made.transitionId;
        assert.deepEqual([made.transitionType, made.name], ['manual', 'Check the total']);
      },
      read: async () => {
        const read = await las.getTransition(s.id);
        assert.deepEqual([read.transitionId, read.description], [s.id, 'Somebody looks at it']);
      },
      change: async () => {
        const changed = await las.updateTransition(s.id, { name: 'Check all' });
        assert.deepEqual([changed.transitionId, changed.name], [s.id, 'Check all']);
      },
      'it is of the same type still': async () => {
        const read = await las.getTransition(s.id);
        assert.deepEqual([read.name, read.transitionType, read.description], ['Check all', 'manual', 'Somebody looks at it']);
      },
      delete: async () => assert.equal((await las.deleteTransition(s.id)).transitionId, s.id),
      'it is gone': async () => refused(las.getTransition(s.id), 404),
    }),
    'transitions of one type': (las, s) => ({
      'one that a person does, one that a container does': async () => {
        s.manual = (await manual(las, 'Look')).transitionId;
        const parameters = { imageUrl: 'images.example.com/ocr:1', cpu: 256 as const, memory: 512 as const };
        s.docker = (await las.createTransition('docker', { name: 'Read', parameters })).transitionId;
      },
      'by persons': async () => {
        const rows = (await las.listTransitions({ transitionType: 'manual' })).transitions.map((row) => row.transitionId);
        assert.deepEqual([rows.includes(s.manual), rows.includes(s.docker)], [true, false]);
      },
      'by containers': async () => {
        const rows = (await las.listTransitions({ transitionType: 'docker' })).transitions.map((row) => row.transitionId);
        assert.deepEqual([rows.includes(s.manual), rows.includes(s.docker)], [false, true]);
      },
      'the container keeps its image': async () => {
        const { parameters } = await las.getTransition(s.docker);
        assert.deepEqual([parameters.imageUrl, parameters.memory], ['images.example.com/ocr:1', 512]);
      },
    }),
    'a person does a task': (las, s) => ({
      'a task to do': async () => {
        s.transition = (await manual(las, 'Look')).transitionId;
        const made = await las.executeTransition(s.transition);
        s.id = made.executionId;
        assert.deepEqual([made.transitionId, made.status], [s.transition, 'running']);
      },
      'it waits': async () => once(await executions(las, s.transition, 'running'), [s.id], 'running tasks'),
      'somebody is at it': async () => las.sendHeartbeat(s.transition, s.id),
      'it is done': async () => {
        const done = await las.updateTransitionExecution(s.transition, s.id, { status: 'succeeded', output: { total: '12.50' } });
        assert.deepEqual([done.executionId, done.status], [s.id, 'succeeded']);
      },
      'it stays done': async () => {
        const read = await las.getTransitionExecution(s.transition, s.id);
        assert.deepEqual([read.executionId, read.transitionId, read.status], [s.id, s.transition, 'succeeded']);
      },
      'nothing waits': async () => assert.deepEqual(await executions(las, s.transition, 'running'), []),
      'it is among what is done': async () => once(await executions(las, s.transition, 'succeeded'), [s.id], 'done tasks'),
    }),
    'a workflow is made, changed and deleted': (las, s) => ({
      create: async () => {
        s.id = await workflow(las, s, 'Mail room');
        assert.match(s.id, /^las:workflow:[a-f0-9]{32}$/);
      },
      read: async () => {
        const read = await las.getWorkflow(s.id);
        assert.deepEqual([read.workflowId, read.name, read.description], [s.id, 'Mail room', 'Invoices that come by mail']);
      },
      'say who is told of errors': async () => {
        const errorConfig = { email: 'errors@example.com', manualRetry: true };
        const changed = await las.updateWorkflow(s.id, { name: 'Mail', errorConfig });
        assert.deepEqual([changed.name, changed.errorConfig], ['Mail', errorConfig]);
      },
      'it is listed so': async () => {
        const row = (await las.listWorkflows()).workflows.find(({ workflowId }) => workflowId === s.id);
        assert.deepEqual([row?.name, row?.errorConfig.email], ['Mail', 'errors@example.com']);
      },
      delete: async () => assert.equal((await las.deleteWorkflow(s.id)).workflowId, s.id),
      'it is gone': async () => refused(las.getWorkflow(s.id), 404),
    }),
    'a workflow runs': (las, s) => ({
      'two workflows': async () => {
        s.workflow = await workflow(las, s, 'Mail room');
        s.other = await workflow(las, s, 'Front desk');
      },
      start: async () => {
        const made = await las.executeWorkflow(s.workflow, { documentId: `las:document:${nobody}` });
        s.id = made.executionId;
        assert.deepEqual([made.workflowId, made.status], [s.workflow, 'running']);
        assert.deepEqual(made.input, { documentId: `las:document:${nobody}` });
      },
      read: async () => {
        const read = await las.getWorkflowExecution(s.workflow, s.id);
        assert.deepEqual([read.executionId, read.workflowId], [s.id, s.workflow]);
        assert.deepEqual(read.input, { documentId: `las:document:${nobody}` });
      },
      'it is listed below its workflow': async () => {
        const page = await las.listWorkflowExecutions(s.workflow);
        assert.equal(page.workflowId, s.workflow);
        assert.deepEqual(
          page.executions.map(({ executionId }) => executionId),
          [s.id],
        );
      },
      'the other workflow has none': async () => {
        const page = await las.listWorkflowExecutions(s.other);
        assert.deepEqual([page.workflowId, page.executions], [s.other, []]);
      },
      delete: async () => assert.equal((await las.deleteWorkflowExecution(s.workflow, s.id)).executionId, s.id),
      'it is gone': async () => refused(las.getWorkflowExecution(s.workflow, s.id), 404),
    }),
    'wrong requests': (las) => ({
      'an asset has some content': async () => refused(las.createAsset(''), 400),
      'a user has an address': async () => refused(las.createUser('nobody'), 400),
      'days are a number': async () => {
        await refused(las.createDataset({ name: 'Invoices', retentionInDays: 'long' as unknown as number }), 400);
      },
      'a task is for persons or containers': async () => refused(las.createTransition('robot' as 'manual'), 400),
      'an error says what is wrong': async () => {
        const thrown = await refused(las.createUser('nobody'), 400);
        const { data } = (thrown as { response: { data: { message?: unknown } } }).response;
        assert.equal(typeof data.message, 'string');
      },
      'nothing came of it': async () => {
        const rows = (await las.listDatasets()).datasets.filter(({ name }) => name === 'Invoices');
        assert.deepEqual(rows, []);
      },
    }),
    'a credential that is refused': (las, s, another) => ({
      'the right one is taken': async () => {
        s.id = (await dataset(las, 'Mine')).datasetId;
      },
      'another one reads nothing': async () => refused(another('nobody').getDataset(s.id), 401, 403),
      'nor does it make anything': async () => refused(another('nobody').createDataset({ name: 'Theirs' }), 401, 403),
      'there is nothing of theirs': async () => {
        const rows = (await las.listDatasets()).datasets.filter(({ name }) => name === 'Theirs');
        assert.deepEqual(rows, []);
      },
    }),
  },
  strict: ['a credential that is refused'],
};
