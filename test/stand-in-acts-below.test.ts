import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string } from './import/stand-in.ts';

/** Acts on a thing that make another one below it: `configs/{config}:start` shows a run of `configs/{config}/runs/{run}`. */

const named = (name: string) => ({ name, in: 'path', required: true, schema: string });
const Config = object({ name: string, label: string });
const Run = object({ name: string, note: string });
const paths = {
  '/v1/{parent}/configs': {
    post: {
      operationId: 'mill.yards.configs.create',
      parameters: [named('parent')],
      ...sends(ref('Config')),
      ...answers(ref('Config')),
    },
    get: {
      operationId: 'mill.yards.configs.list',
      parameters: [named('parent')],
      ...answers(object({ configs: list(ref('Config')) })),
    },
  },
  '/v1/{parent}/runs': {
    get: {
      operationId: 'mill.yards.configs.runs.list',
      parameters: [named('parent')],
      ...answers(object({ runs: list(ref('Run')) })),
    },
  },
  '/v1/{name}': { get: { operationId: 'mill.yards.configs.runs.get', parameters: [named('name')], ...answers(ref('Run')) } },
  '/v1/{name}:start': {
    post: { operationId: 'mill.yards.configs.start', parameters: [named('name')], ...sends(object({})), ...answers(ref('Run')) },
  },
};

test('each start makes a run below its config, which is read and listed there, and no config has runs before', () =>
  standIn(paths, { Config, Run }, async (ask) => {
    const make = async () => (await ask('POST', '/v1/yards/y/configs', { label: 'a' })).json.name as string;
    const runsOf = async (name: string): Promise<string[]> =>
      (await ask('GET', `/v1/${name}/runs`)).json.runs.map((run: { name: string }) => run.name);
    const [one, other] = [await make(), await make()];
    assert.deepEqual(await runsOf(one), []);
    const { json: first } = await ask('POST', `/v1/${one}:start`, {});
    const { json: second } = await ask('POST', `/v1/${one}:start`, {});
    assert.ok(first.name.startsWith(`${one}/runs/`) && first.name !== second.name, `${first.name} and ${second.name}`);
    assert.deepEqual((await ask('GET', `/v1/${first.name}`)).json, first);
    assert.deepEqual((await runsOf(one)).sort(), [first.name, second.name].sort());
    assert.deepEqual(await runsOf(other), []);
    assert.equal((await ask('POST', '/v1/yards/y/configs/nowhere:start', {})).status, 404);
  }));
