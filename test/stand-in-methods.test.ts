import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, json, list, object, ref, sends, standIn, string, type Words } from './import/stand-in.ts';

/** Methods that are all sent by POST and called after what they do, and tell things by members of their bodies. */

const text = (description: string): Words => ({ type: 'string', description });
const strings = list(string);
const method = (operationId: string, sent: Words, shown: unknown, errors: Words = {}): Words => {
  const { responses } = answers(shown) as { responses: Words };
  return { post: { operationId, ...sends(sent), responses: { ...responses, ...errors } } };
};

const Table = object({ spaceName: string, tableName: string, note: string }, ['spaceName', 'tableName']);
const TableLine = object({ spaceName: string, tableName: string });
const both = object({ spaceName: string, tableName: string }, ['spaceName', 'tableName']);
const missing = { 480: { description: 'NoSuchTableException', ...json(ref('NoSuchTableException')) } };
const tables = {
  '/#Target=Store.CreateTable': method(
    'CreateTable',
    object({ spaceName: string, tableName: string, note: string }, ['spaceName', 'tableName']),
    object({ ok: string }),
  ),
  '/#Target=Store.GetTable': method('GetTable', both, ref('Table'), missing),
  '/#Target=Store.DeleteTable': method('DeleteTable', both, object({}), missing),
  '/#Target=Store.ListTables': method(
    'ListTables',
    object({ spaceName: string }, ['spaceName']),
    object({ tables: list(ref('TableLine')) }),
  ),
};
const Job = object({
  arn: string,
  title: string,
  jobStatus: { type: 'string', enum: ['STOPPING', 'PENDING', 'RUNNING', 'STOPPED'] },
});
const jobs = {
  '/startMillJob': method('StartMillJob', object({ title: string }), object({ arn: string, jobStatus: string })),
  '/describeMillJob': method('DescribeMillJob', object({ job: string }, ['job']), ref('MillJob')),
  '/describeMillJobs': method('DescribeMillJobs', object({ jobs: strings }), object({ jobs: list(ref('MillJob')) })),
  '/stopMillJob': method('StopMillJob', object({ job: string }, ['job']), object({})),
};

/** Every method of a description is known by the header that the fragment of its path names. */
const targeted = (paths: Readonly<Record<string, Words>>): Words =>
  Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const target = path.split('=')[1] ?? '';
      const post = item.post as Words;
      const parameters = [{ name: 'Target', in: 'header', required: true, schema: { type: 'string', enum: [target] } }];
      return [path, { post: { ...post, parameters } }];
    }),
  );

test('what several members of a body tell apart is another thing in another place', () =>
  standIn(targeted(tables), { Table, TableLine, NoSuchTableException: object({ message: string }) }, async (ask) => {
    const call = (name: string, body: Words) => ask('POST', '/', body, { Target: `Store.${name}` });
    for (const spaceName of ['one', 'two']) {
      assert.equal((await call('CreateTable', { spaceName, tableName: 't', note: spaceName })).status, 200);
    }
    assert.deepEqual((await call('GetTable', { spaceName: 'two', tableName: 't' })).json, {
      spaceName: 'two',
      tableName: 't',
      note: 'two',
    });
    assert.deepEqual((await call('ListTables', { spaceName: 'one' })).json.tables, [{ spaceName: 'one', tableName: 't' }]);
    assert.equal((await call('DeleteTable', { spaceName: 'one', tableName: 't' })).status, 200);
    const gone = await call('GetTable', { spaceName: 'one', tableName: 't' });
    assert.equal(gone.status, 480);
    assert.match(gone.json.message, /no such thing/);
    assert.equal((await call('GetTable', { spaceName: 'two', tableName: 't' })).json.note, 'two');
  }));

test('what a start answers is a new thing, which is found by the name that its answer has, and moved by what is called like a state', () =>
  standIn(jobs, { MillJob: Job }, async (ask) => {
    const start = async (title: string): Promise<string> => (await ask('POST', '/startMillJob', { title })).json.arn;
    const [one, two] = [await start('a'), await start('b')];
    assert.notEqual(one, two);
    const read = async (job: string) => (await ask('POST', '/describeMillJob', { job })).json;
    assert.deepEqual(await read(one), { arn: one, title: 'a', jobStatus: 'PENDING' });
    assert.equal((await ask('POST', '/stopMillJob', { job: one })).status, 200);
    assert.equal((await read(one)).jobStatus, 'STOPPED');
    assert.equal((await read(two)).jobStatus, 'PENDING');
    const listed: { arn: string }[] = (await ask('POST', '/describeMillJobs', {})).json.jobs;
    assert.deepEqual(listed.map(({ arn }) => arn).sort(), [one, two].sort());
    assert.equal((await ask('POST', '/describeMillJob', { job: 'nothing' })).status, 404);
    assert.equal((await ask('POST', '/stopMillJob', { job: 'nothing' })).status, 404);
  }));

test('a start that is told which thing is meant makes none', () =>
  standIn(
    {
      '/create-pump': method('createPump', object({ pump: string }, ['pump']), ref('Pump')),
      '/get-pump': method('getPump', object({ pump: string }, ['pump']), ref('Pump')),
      '/delete-pump': method('deletePump', object({ pump: string }, ['pump']), object({})),
      '/start-pump': method('startPump', object({ pump: string }, ['pump']), ref('Pump')),
    },
    { Pump: object({ pump: string, state: { type: 'string', enum: ['IDLE', 'RUNNING'] } }) },
    async (ask) => {
      assert.equal((await ask('POST', '/start-pump', { pump: 'p' })).status, 404);
      assert.equal((await ask('POST', '/create-pump', { pump: 'p' })).json.state, 'IDLE');
      assert.equal((await ask('POST', '/start-pump', { pump: 'p' })).json.state, 'RUNNING');
      assert.equal((await ask('POST', '/get-pump', { pump: 'p' })).json.state, 'RUNNING');
    },
  ));

test('PUT on a collection that is called a creation makes things, and PUT on one of them changes it', () =>
  standIn(
    {
      '/nets': {
        put: {
          operationId: 'CreateNet',
          ...sends(object({ netName: string, mesh: string }, ['netName'])),
          ...answers(ref('Net')),
        },
        get: { operationId: 'ListNets', ...answers(object({ nets: list(ref('Net')) })) },
      },
      '/nets/{netName}': {
        parameters: [{ name: 'netName', in: 'path', required: true, schema: string }],
        get: { operationId: 'DescribeNet', ...answers(ref('Net')) },
        put: { operationId: 'UpdateNet', ...sends(object({ mesh: string }, ['mesh'])), ...answers(ref('Net')) },
        delete: { operationId: 'DeleteNet', ...answers(ref('Net')) },
      },
    },
    { Net: object({ netName: string, mesh: text('How wide its meshes are.') }) },
    async (ask) => {
      assert.equal((await ask('PUT', '/nets/n', { mesh: 'wide' })).status, 404);
      assert.equal((await ask('PUT', '/nets', { netName: 'n', mesh: 'fine' })).json.netName, 'n');
      assert.equal((await ask('PUT', '/nets', { netName: 'n' })).status, 409);
      assert.deepEqual((await ask('PUT', '/nets/n', { mesh: 'wide' })).json, { netName: 'n', mesh: 'wide' });
      assert.deepEqual((await ask('GET', '/nets')).json.nets, [{ netName: 'n', mesh: 'wide' }]);
    },
  ));
