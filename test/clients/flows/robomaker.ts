import assert from 'node:assert/strict';
import {
  type CreateSimulationJobCommandInput,
  type Filter,
  paginateListRobotApplications,
  paginateListSimulationApplications,
  paginateListSimulationJobBatches,
  paginateListSimulationJobs,
  paginateListWorldExportJobs,
  paginateListWorldGenerationJobs,
  paginateListWorlds,
  paginateListWorldTemplates,
  RoboMaker,
  type RobotSoftwareSuiteType,
} from '@aws-sdk/client-robomaker';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): RoboMaker => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new RoboMaker({
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

/** The reference has a 400 for what is wrong or taken; the description has numbers of its own for each exception, by operation. */
const denied = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> => refused(call, 400, ...described);
/** The reference has a 404 for what is not there; the description has a number of its own, by operation. */
const missing = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> => refused(call, 404, ...described);
/** The reference's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
/** What is on its way to another status is asked for until it has it, for a few seconds. */
const settled = async (status: () => Promise<string | undefined>, transient: RegExp): Promise<string | undefined> => {
  let now = await status();
  for (let turn = 0; turn < 10 && transient.test(now ?? ''); turn += 1) {
    await new Promise((done) => setTimeout(done, 300));
    now = await status();
  }
  return now;
};

/** Images, buckets and roles belong to other services: these are there before. */
const iamRole = 'arn:aws:iam::123456789012:role/RoboMakerRole';
const image = (name: string) => ({ uri: `123456789012.dkr.ecr.us-east-1.amazonaws.com/${name}` });
const arn = (what: string): string => `arn:aws:robomaker:us-east-1:123456789012:${what}`;
const noRobot = arn('robot-application/no-such-robot/1551203485821');
const noJob = arn('simulation-job/sim-0000dead0000');
const noTemplate = arn('world-template/0000dead-0000-4000-8000-00000000beef');
const noWorld = arn('world/generation-0000dead_world-1');

const robotSoftwareSuite = { name: 'General' as const };
const simulationSoftwareSuite = { name: 'SimulationRuntime' as const };
const robot = (r: RoboMaker, name: string, tags?: Record<string, string>) =>
  r.createRobotApplication({ name, robotSoftwareSuite, environment: image(`${name}:latest`), ...(tags && { tags }) });
const robotArn = async (r: RoboMaker, name: string): Promise<string> => given((await robot(r, name)).arn, 'arn');
const robots = async (r: RoboMaker, asked: { filters?: Filter[]; versionQualifier?: string } = {}, pageSize = 100) =>
  gather(paginateListRobotApplications({ client: r, pageSize }, asked), (page) => page.robotApplicationSummaries ?? []);
const names = (rows: readonly { name?: string | undefined }[]): string[] => rows.map(({ name }) => given(name, 'name'));
const arns = (rows: readonly { arn?: string | undefined }[]): string[] => rows.map((row) => given(row.arn, 'arn'));
const simulation = (r: RoboMaker, name: string) =>
  r.createSimulationApplication({
    name,
    simulationSoftwareSuite,
    robotSoftwareSuite,
    environment: image(`${name}:latest`),
  });
const simulationArn = async (r: RoboMaker, name: string): Promise<string> => given((await simulation(r, name)).arn, 'arn');
const simulations = async (r: RoboMaker, asked: { filters?: Filter[]; versionQualifier?: string } = {}, pageSize = 100) =>
  gather(paginateListSimulationApplications({ client: r, pageSize }, asked), (page) => page.simulationApplicationSummaries ?? []);
const request = (application: string, more: Partial<CreateSimulationJobCommandInput> = {}): CreateSimulationJobCommandInput => ({
  maxJobDurationInSeconds: 3600,
  iamRole,
  failureBehavior: 'Fail',
  simulationApplications: [
    { application, applicationVersion: '$LATEST', launchConfig: { command: ['roslaunch', 'hello_world', 'empty_world.launch'] } },
  ],
  ...more,
});
const simulate = async (
  r: RoboMaker,
  application: string,
  more: Partial<CreateSimulationJobCommandInput> = {},
): Promise<string> => given((await r.createSimulationJob(request(application, more))).arn, 'arn');
const jobs = async (r: RoboMaker, filters?: Filter[], pageSize = 100): Promise<string[]> => {
  const walk = paginateListSimulationJobs({ client: r, pageSize }, { ...(filters && { filters }) });
  return arns(await gather(walk, (page) => page.simulationJobSummaries ?? []));
};
const only = (name: string, value: string): Filter[] => [{ name, values: [value] }];

const house = (Height: number) => ({
  Version: '2',
  Buildings: [
    {
      Floors: [
        {
          Floorplan: {
            Footprint: { DesiredAspectRatio: { x: 1, y: 1 } },
            Ceiling: { Height },
            Rooms: [
              { Type: 'Bedroom', Name: 'Bedroom', DesiredShape: { Area: 20, AspectRatio: { x: 1, y: 1.2 } } },
              { Type: 'Kitchen', Name: 'Kitchen', DesiredShape: { Area: 15, AspectRatio: { x: 1.5, y: 1 } } },
            ],
            DesiredConnections: [{ Location: ['Bedroom', 'Kitchen'], ConnectionType: 'Doorway' }],
          },
        },
      ],
    },
  ],
});
const template = async (r: RoboMaker, name: string, height = 3): Promise<string> =>
  given((await r.createWorldTemplate({ name, templateBody: JSON.stringify(house(height)) })).arn, 'arn');
const templates = async (r: RoboMaker, pageSize = 100) =>
  gather(paginateListWorldTemplates({ client: r, pageSize }, {}), (page) => page.templateSummaries ?? []);
const bodyOf = async (r: RoboMaker, asked: { template?: string; generationJob?: string }): Promise<unknown> =>
  JSON.parse(given((await r.getWorldTemplateBody(asked)).templateBody, 'templateBody'));
const generate = async (r: RoboMaker, of: string, floorplanCount = 1): Promise<string> => {
  const made = await r.createWorldGenerationJob({ template: of, worldCount: { floorplanCount, interiorCountPerFloorplan: 1 } });
  return given(made.arn, 'arn');
};

/** Guide: docs.aws.amazon.com/robomaker/latest/dg (applications, simulation jobs, batches, WorldForge) and its API reference. */
export const vendor: Vendor<RoboMaker> = {
  document: 'robomaker/robomaker.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a robot application, from the first to the last day': (r, s) => ({
      made: async () => {
        const made = await robot(r, 'life-robot', { stage: 'test' });
        assert.deepEqual([made.name, made.version, made.robotSoftwareSuite?.name], ['life-robot', '$LATEST', 'General']);
        assert.deepEqual([made.environment?.uri, made.tags], [image('life-robot:latest').uri, { stage: 'test' }]);
        s.arn = given(made.arn, 'arn');
        s.first = given(made.revisionId, 'revisionId');
      },
      read: async () => {
        const read = await r.describeRobotApplication({ application: s.arn });
        assert.deepEqual(
          [read.arn, read.name, read.version, read.revisionId, read.environment?.uri],
          [s.arn, 'life-robot', '$LATEST', s.first, image('life-robot:latest').uri],
        );
        assert.ok(read.lastUpdatedAt instanceof Date, 'it was changed at no time');
      },
      'its name is taken': () => denied(robot(r, 'life-robot'), 481),
      'is in the list': async () => once(arns(await robots(r)), [s.arn], 'robot applications'),
      'another image, and it has another revision': async () => {
        const made = await r.updateRobotApplication({
          application: s.arn,
          robotSoftwareSuite,
          environment: image('life-robot:2'),
          currentRevisionId: s.first,
        });
        assert.deepEqual([made.arn, made.name, made.version], [s.arn, 'life-robot', '$LATEST']);
        assert.notEqual(given(made.revisionId, 'revisionId'), s.first);
        const read = await r.describeRobotApplication({ application: s.arn });
        assert.deepEqual([read.environment?.uri, read.revisionId], [image('life-robot:2').uri, made.revisionId]);
      },
      'not by who knows only the first': async () => {
        const late = { application: s.arn, robotSoftwareSuite, environment: image('life-robot:late') };
        await denied(r.updateRobotApplication({ ...late, currentRevisionId: s.first }), 480);
        assert.equal((await r.describeRobotApplication({ application: s.arn })).environment?.uri, image('life-robot:2').uri);
      },
      deleted: () => r.deleteRobotApplication({ application: s.arn }),
      gone: () => missing(r.describeRobotApplication({ application: s.arn }), 481),
      'no longer in the list': async () => without(arns(await robots(r)), s.arn),
    }),

    'versions of a robot application': (r, s) => ({
      'the first': async () => {
        const made = await robot(r, 'versioned-robot');
        s.arn = given(made.arn, 'arn');
        const version = await r.createRobotApplicationVersion({
          application: s.arn,
          currentRevisionId: given(made.revisionId, 'revisionId'),
        });
        assert.deepEqual([version.arn, version.name, version.version], [s.arn, 'versioned-robot', '1']);
      },
      'the second, after a change': async () => {
        const environment = image('versioned-robot:2');
        const made = await r.updateRobotApplication({ application: s.arn, robotSoftwareSuite, environment });
        s.revision = given(made.revisionId, 'revisionId');
        const version = await r.createRobotApplicationVersion({ application: s.arn, currentRevisionId: s.revision });
        assert.deepEqual([version.version, version.environment?.uri], ['2', environment.uri]);
      },
      'each is as it was': async () => {
        const one = await r.describeRobotApplication({ application: s.arn, applicationVersion: '1' });
        const two = await r.describeRobotApplication({ application: s.arn, applicationVersion: '2' });
        assert.deepEqual([one.version, one.environment?.uri], ['1', image('versioned-robot:latest').uri]);
        assert.deepEqual([two.version, two.environment?.uri], ['2', image('versioned-robot:2').uri]);
      },
      'without a version it is the latest': async () => {
        const read = await r.describeRobotApplication({ application: s.arn });
        assert.deepEqual([read.version, read.environment?.uri], ['$LATEST', image('versioned-robot:2').uri]);
      },
      'the list has the latest alone': async () => {
        const rows = (await robots(r)).filter((row) => row.name === 'versioned-robot');
        assert.deepEqual(
          rows.map(({ version }) => version),
          ['$LATEST'],
        );
      },
      'and all of them, when asked for': async () => {
        const rows = await robots(r, { versionQualifier: 'ALL' }, 1);
        const mine = rows.filter((row) => row.name === 'versioned-robot').map(({ version }) => given(version, 'version'));
        assert.deepEqual(mine.toSorted(), ['$LATEST', '1', '2']);
      },
      'no version of a revision that is not the last': () =>
        denied(r.createRobotApplicationVersion({ application: s.arn, currentRevisionId: 'not-the-last' }), 480),
      'one is deleted, and gone': async () => {
        await r.deleteRobotApplication({ application: s.arn, applicationVersion: '1' });
        await missing(r.describeRobotApplication({ application: s.arn, applicationVersion: '1' }), 481);
      },
      'the others are still there': async () => {
        assert.equal((await r.describeRobotApplication({ application: s.arn, applicationVersion: '2' })).version, '2');
        assert.equal((await r.describeRobotApplication({ application: s.arn })).version, '$LATEST');
      },
    }),

    'robot applications through all pages, and by name': (r, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await robotArn(r, `page-${letter}`);
      },
      'no more on a page than asked for': async () => {
        const page = await r.listRobotApplications({ maxResults: 2 });
        assert.equal(given(page.robotApplicationSummaries, 'robotApplicationSummaries').length, 2);
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () =>
        once(names(await robots(r, {}, 2)), ['page-a', 'page-b', 'page-c', 'page-d', 'page-e'], 'robot applications'),
      'each with what it is': async () => {
        const row = (await robots(r)).find(({ name }) => name === 'page-c');
        assert.deepEqual([row?.arn, row?.version, row?.robotSoftwareSuite?.name], [s.c, '$LATEST', 'General']);
      },
      'one by its name': async () => {
        const rows = await robots(r, { filters: only('name', 'page-d') });
        assert.deepEqual(arns(rows), [s.d]);
      },
      'by all of its name': async () => assert.deepEqual(await robots(r, { filters: only('name', 'page') }), []),
      'one less': async () => {
        await r.deleteRobotApplication({ application: s.b });
        const rows = names(await robots(r, {}, 2));
        once(rows, ['page-a', 'page-c', 'page-d', 'page-e'], 'robot applications');
        without(rows, 'page-b');
        assert.deepEqual(await robots(r, { filters: only('name', 'page-b') }), []);
      },
    }),

    'a simulation application, from the first to the last day': (r, s) => ({
      made: async () => {
        const made = await simulation(r, 'life-world');
        assert.deepEqual(
          [made.name, made.version, made.simulationSoftwareSuite?.name, made.robotSoftwareSuite?.name],
          ['life-world', '$LATEST', 'SimulationRuntime', 'General'],
        );
        s.arn = given(made.arn, 'arn');
        s.revision = given(made.revisionId, 'revisionId');
      },
      read: async () => {
        const read = await r.describeSimulationApplication({ application: s.arn });
        assert.deepEqual(
          [read.arn, read.name, read.revisionId, read.environment?.uri],
          [s.arn, 'life-world', s.revision, image('life-world:latest').uri],
        );
      },
      'its name is taken by a simulation': () => denied(simulation(r, 'life-world'), 481),
      'but not by a robot': async () => {
        s.robot = await robotArn(r, 'life-world');
        assert.notEqual(s.robot, s.arn);
        await refused(r.describeSimulationApplication({ application: s.robot }), 400, 404, 480, 481);
      },
      'in its list, by its name': async () =>
        assert.deepEqual(arns(await simulations(r, { filters: only('name', 'life-world') })), [s.arn]),
      changed: async () => {
        const made = await r.updateSimulationApplication({
          application: s.arn,
          simulationSoftwareSuite,
          robotSoftwareSuite,
          environment: image('life-world:2'),
          currentRevisionId: s.revision,
        });
        assert.notEqual(given(made.revisionId, 'revisionId'), s.revision);
        const read = await r.describeSimulationApplication({ application: s.arn });
        assert.deepEqual(
          [read.environment?.uri, read.revisionId, read.name],
          [image('life-world:2').uri, made.revisionId, 'life-world'],
        );
      },
      'deleted, and gone': async () => {
        await r.deleteSimulationApplication({ application: s.arn });
        await missing(r.describeSimulationApplication({ application: s.arn }), 481);
      },
      'the robot is still there': async () => {
        without(arns(await simulations(r)), s.arn);
        assert.equal((await r.describeRobotApplication({ application: s.robot })).name, 'life-world');
      },
    }),

    'versions of a simulation application': (r, s) => ({
      'the first': async () => {
        s.arn = await simulationArn(r, 'versioned-world');
        const version = await r.createSimulationApplicationVersion({ application: s.arn });
        assert.deepEqual([version.arn, version.version, version.name], [s.arn, '1', 'versioned-world']);
      },
      'the latest goes on without it': async () => {
        const environment = image('versioned-world:next');
        await r.updateSimulationApplication({ application: s.arn, simulationSoftwareSuite, robotSoftwareSuite, environment });
        const one = await r.describeSimulationApplication({ application: s.arn, applicationVersion: '1' });
        const latest = await r.describeSimulationApplication({ application: s.arn });
        assert.deepEqual(
          [one.environment?.uri, latest.environment?.uri, latest.version],
          [image('versioned-world:latest').uri, environment.uri, '$LATEST'],
        );
      },
      'both are listed, when asked for': async () => {
        const rows = await simulations(r, { versionQualifier: 'ALL' }, 1);
        const mine = rows.filter((row) => row.name === 'versioned-world').map(({ version }) => given(version, 'version'));
        assert.deepEqual(mine.toSorted(), ['$LATEST', '1']);
      },
      'one otherwise': async () => {
        const mine = (await simulations(r)).filter((row) => row.name === 'versioned-world');
        assert.deepEqual(
          mine.map(({ version }) => version),
          ['$LATEST'],
        );
      },
      'a version that there is not': () =>
        missing(r.describeSimulationApplication({ application: s.arn, applicationVersion: '99' }), 481),
      'the whole of it is deleted': async () => {
        await r.deleteSimulationApplication({ application: s.arn });
        await missing(r.describeSimulationApplication({ application: s.arn }), 481);
      },
    }),

    'a simulation job is made and cancelled': (r, s) => ({
      'its applications': async () => {
        s.robot = await robotArn(r, 'job-robot');
        s.world = await simulationArn(r, 'job-world');
      },
      made: async () => {
        const made = await r.createSimulationJob(
          request(s.world, {
            outputLocation: { s3Bucket: 'my-simulations', s3Prefix: 'runs' },
            compute: { simulationUnitLimit: 5, computeType: 'CPU' },
            loggingConfig: { recordAllRosTopics: false },
            tags: { stage: 'test' },
            robotApplications: [
              {
                application: s.robot,
                applicationVersion: '$LATEST',
                launchConfig: {
                  command: ['roslaunch', 'hello_world', 'rotate.launch'],
                  environmentVariables: { ROBOT_SPEED: '2', ROBOT_NAME: 'Ada' },
                  streamUI: true,
                },
                tools: [{ name: 'terminal', command: '/bin/bash', streamUI: true, exitBehavior: 'RESTART' }],
                uploadConfigurations: [{ name: 'bags', path: '/var/bags/*', uploadBehavior: 'UPLOAD_ON_TERMINATE' }],
              },
            ],
          }),
        );
        s.job = given(made.arn, 'arn');
        oneOf(made.status, 'Pending', 'Preparing');
        assert.deepEqual([made.iamRole, made.maxJobDurationInSeconds, made.failureBehavior], [iamRole, 3600, 'Fail']);
      },
      read: async () => {
        const read = await r.describeSimulationJob({ job: s.job });
        assert.deepEqual([read.arn, read.iamRole, read.maxJobDurationInSeconds], [s.job, iamRole, 3600]);
        assert.partialDeepStrictEqual(read.outputLocation, { s3Bucket: 'my-simulations' });
        assert.partialDeepStrictEqual(read.compute, { simulationUnitLimit: 5, computeType: 'CPU' });
        assert.deepEqual(read.tags, { stage: 'test' });
        oneOf(read.status, 'Pending', 'Preparing', 'Running', 'Completed');
      },
      'what the robot does': async () => {
        const [one] = given((await r.describeSimulationJob({ job: s.job })).robotApplications, 'robotApplications');
        assert.deepEqual([one?.application, one?.applicationVersion], [s.robot, '$LATEST']);
        assert.deepEqual(one?.launchConfig?.command, ['roslaunch', 'hello_world', 'rotate.launch']);
        assert.deepEqual(one?.launchConfig?.environmentVariables, { ROBOT_SPEED: '2', ROBOT_NAME: 'Ada' });
        assert.partialDeepStrictEqual(one?.tools, [{ name: 'terminal', command: '/bin/bash', exitBehavior: 'RESTART' }]);
        assert.partialDeepStrictEqual(one?.uploadConfigurations, [{ name: 'bags', uploadBehavior: 'UPLOAD_ON_TERMINATE' }]);
      },
      'in the list, with the names of its applications': async () => {
        const rows = await gather(paginateListSimulationJobs({ client: r }, {}), (page) => page.simulationJobSummaries ?? []);
        once(arns(rows), [s.job], 'jobs');
        const row = rows.find((one) => one.arn === s.job);
        assert.deepEqual([row?.robotApplicationNames, row?.simulationApplicationNames], [['job-robot'], ['job-world']]);
      },
      cancelled: async () => {
        await r.cancelSimulationJob({ job: s.job });
        const status = async () => (await r.describeSimulationJob({ job: s.job })).status;
        oneOf(await settled(status, /^Terminating$/), 'Canceled', 'Terminating', 'Terminated');
      },
      'not started again after that': () => denied(r.restartSimulationJob({ job: s.job }), 483),
      'what is not there is neither read, nor cancelled, nor started again': async () => {
        await missing(r.describeSimulationJob({ job: noJob }), 480);
        await missing(r.cancelSimulationJob({ job: noJob }), 480);
        await missing(r.restartSimulationJob({ job: noJob }), 480);
      },
    }),

    'simulation jobs through all pages, and some of them': (r, s) => ({
      'three of one world, one of another': async () => {
        s.one = await simulationArn(r, 'page-world');
        s.two = await simulationArn(r, 'other-world');
        for (const at of ['1', '2', '3']) s[`j${at}`] = await simulate(r, s.one);
        s.j4 = await simulate(r, s.two);
        assert.equal(new Set([s.j1, s.j2, s.j3, s.j4]).size, 4, 'two have the same ARN');
      },
      'no more on a page than asked for': async () => {
        const page = await r.listSimulationJobs({ maxResults: 2 });
        assert.equal(given(page.simulationJobSummaries, 'simulationJobSummaries').length, 2);
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () => once(await jobs(r, undefined, 1), [s.j1, s.j2, s.j3, s.j4], 'jobs'),
      'those of the first world': async () => {
        const rows = await jobs(r, only('simulationApplicationName', 'page-world'), 1);
        assert.deepEqual(rows.toSorted(), [s.j1, s.j2, s.j3].toSorted());
      },
      'those that are cancelled': async () => {
        await r.cancelSimulationJob({ job: s.j2 });
        const status = async () => (await r.describeSimulationJob({ job: s.j2 })).status;
        const now = given(await settled(status, /^Terminating$/), 'status');
        oneOf(now, 'Canceled', 'Terminating', 'Terminated');
        const rows = await jobs(r, only('status', now));
        once(rows, [s.j2], 'jobs');
        for (const job of [s.j1, s.j3, s.j4]) without(rows, job);
      },
      'none of a world that there is not': async () =>
        assert.deepEqual(await jobs(r, only('simulationApplicationName', 'no-such-world')), []),
      'no filter by what it does not know': () => denied(r.listSimulationJobs({ filters: only('colour', 'red') }), 480),
    }),

    'a job that is asked for twice, and several at once': (r, s) => ({
      'a job with a token': async () => {
        s.world = await simulationArn(r, 'twice-world');
        s.one = await simulate(r, s.world, { clientRequestToken: 'run-2026-0001' });
      },
      'the same again is the same job': async () => {
        assert.equal(await simulate(r, s.world, { clientRequestToken: 'run-2026-0001' }), s.one);
        assert.deepEqual(await jobs(r, only('simulationApplicationName', 'twice-world')), [s.one]);
      },
      'something else with that token is refused': () =>
        denied(simulate(r, s.world, { clientRequestToken: 'run-2026-0001', maxJobDurationInSeconds: 7200 }), 485),
      'another token is another job': async () => {
        s.two = await simulate(r, s.world, { clientRequestToken: 'run-2026-0002' });
        assert.notEqual(s.two, s.one);
        assert.equal((await r.describeSimulationJob({ job: s.two })).clientRequestToken, 'run-2026-0002');
      },
      'both are described at once': async () => {
        const { jobs: found, unprocessedJobs } = await r.batchDescribeSimulationJob({ jobs: [s.one, s.two] });
        assert.deepEqual(arns(given(found, 'jobs')).toSorted(), [s.one, s.two].toSorted());
        for (const one of found ?? []) assert.deepEqual([one.iamRole, one.maxJobDurationInSeconds], [iamRole, 3600]);
        assert.deepEqual(unprocessedJobs ?? [], []);
      },
      'not none at once': () => denied(r.batchDescribeSimulationJob({ jobs: [] }), 481),
    }),

    'a batch of simulation jobs': (r, s) => ({
      'three are asked for': async () => {
        s.world = await simulationArn(r, 'batch-world');
        const made = await r.startSimulationJobBatch({
          clientRequestToken: 'batch-2026-0001',
          batchPolicy: { timeoutInSeconds: 10800, maxConcurrency: 2 },
          createSimulationJobRequests: [600, 1200, 1800].map((maxJobDurationInSeconds) => {
            const { clientRequestToken: _, ...rest } = request(s.world, { maxJobDurationInSeconds });
            return { ...rest, maxJobDurationInSeconds };
          }),
          tags: { stage: 'test' },
        });
        s.batch = given(made.arn, 'arn');
        oneOf(made.status, 'Pending', 'InProgress');
        assert.deepEqual(made.batchPolicy, { timeoutInSeconds: 10800, maxConcurrency: 2 });
      },
      read: async () => {
        const read = await r.describeSimulationJobBatch({ batch: s.batch });
        assert.deepEqual([read.arn, read.clientRequestToken], [s.batch, 'batch-2026-0001']);
        assert.deepEqual(read.batchPolicy, { timeoutInSeconds: 10800, maxConcurrency: 2 });
        assert.deepEqual(read.tags, { stage: 'test' });
        assert.ok(read.createdAt instanceof Date, 'it was made at no time');
      },
      'each of the three is pending, made or failed': async () => {
        const read = await r.describeSimulationJobBatch({ batch: s.batch });
        const all = [read.pendingRequests, read.createdRequests, read.failedRequests].map((some) => some?.length ?? 0);
        assert.equal(
          all.reduce((sum, some) => sum + some, 0),
          3,
        );
      },
      'in the list, with as many': async () => {
        const walk = paginateListSimulationJobBatches({ client: r, pageSize: 1 }, {});
        const rows = await gather(walk, (page) => page.simulationJobBatchSummaries ?? []);
        once(arns(rows), [s.batch], 'batches');
        const row = rows.find((one) => one.arn === s.batch);
        assert.equal((row?.pendingRequestCount ?? 0) + (row?.createdRequestCount ?? 0) + (row?.failedRequestCount ?? 0), 3);
      },
      cancelled: async () => {
        await r.cancelSimulationJobBatch({ batch: s.batch });
        const status = async () => (await r.describeSimulationJobBatch({ batch: s.batch })).status;
        oneOf(await settled(status, /^Canceling$/), 'Canceling', 'Canceled');
      },
      'what is not there is neither read nor cancelled': async () => {
        const batch = arn('simulation-job-batch/simbatch-0000dead0000');
        await missing(r.describeSimulationJobBatch({ batch }), 480);
        await missing(r.cancelSimulationJobBatch({ batch }), 480);
      },
      'not a batch of nothing': () => denied(r.startSimulationJobBatch({ createSimulationJobRequests: [] }), 480),
    }),

    'a world template, from the first to the last day': (r, s) => ({
      made: async () => {
        const made = await r.createWorldTemplate({
          name: 'Small house',
          templateBody: JSON.stringify(house(3)),
          clientRequestToken: 'template-2026-0001',
          tags: { stage: 'test' },
        });
        assert.deepEqual(
          [made.name, made.clientRequestToken, made.tags],
          ['Small house', 'template-2026-0001', { stage: 'test' }],
        );
        s.arn = given(made.arn, 'arn');
      },
      read: async () => {
        const read = await r.describeWorldTemplate({ template: s.arn });
        assert.deepEqual([read.arn, read.name, read.tags], [s.arn, 'Small house', { stage: 'test' }]);
        assert.ok(read.createdAt instanceof Date, 'it was made at no time');
      },
      'its body is what was given': async () => assert.deepEqual(await bodyOf(r, { template: s.arn }), house(3)),
      'in the list': async () => {
        const rows = await templates(r);
        once(
          rows.map((row) => `${row.arn} ${row.name}`),
          [`${s.arn} Small house`],
          'templates',
        );
      },
      'another name and a higher ceiling': async () => {
        const made = await r.updateWorldTemplate({
          template: s.arn,
          name: 'High house',
          templateBody: JSON.stringify(house(4)),
        });
        assert.deepEqual([made.arn, made.name], [s.arn, 'High house']);
        assert.equal((await r.describeWorldTemplate({ template: s.arn })).name, 'High house');
        assert.deepEqual(await bodyOf(r, { template: s.arn }), house(4));
      },
      deleted: () => r.deleteWorldTemplate({ template: s.arn }),
      gone: async () => {
        await missing(r.describeWorldTemplate({ template: s.arn }), 481);
        await missing(r.getWorldTemplateBody({ template: s.arn }), 481);
        without(arns(await templates(r)), s.arn);
      },
      'not deleted, nor changed, any more': async () => {
        await missing(r.deleteWorldTemplate({ template: s.arn }), 481);
        await missing(r.updateWorldTemplate({ template: s.arn, name: 'Late house' }), 481);
      },
    }),

    'world templates through all pages': (r, s) => ({
      'four are made': async () => {
        for (const at of ['1', '2', '3', '4']) s[`t${at}`] = await template(r, `Template ${at}`, 2 + Number(at) / 2);
      },
      'no more on a page than asked for': async () => {
        const page = await r.listWorldTemplates({ maxResults: 2 });
        assert.equal(given(page.templateSummaries, 'templateSummaries').length, 2);
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await templates(r, 1);
        once(
          rows.map((row) => `${row.arn} ${row.name}`),
          ['1', '2', '3', '4'].map((at) => `${s[`t${at}`]} Template ${at}`),
          'templates',
        );
      },
      'each has its own body': async () => {
        assert.deepEqual(await bodyOf(r, { template: s.t1 }), house(2.5));
        assert.deepEqual(await bodyOf(r, { template: s.t4 }), house(4));
      },
      'one less': async () => {
        await r.deleteWorldTemplate({ template: s.t2 });
        const rows = arns(await templates(r, 2));
        once(rows, [s.t1, s.t3, s.t4], 'templates');
        without(rows, s.t2);
      },
      'a body that is no JSON is none': () =>
        denied(r.createWorldTemplate({ name: 'Broken', templateBody: '{ "Version": ' }), 480),
    }),

    'worlds are asked for, and no longer wanted': (r, s) => ({
      'of a template': async () => {
        s.template = await template(r, 'Asked house');
        const made = await r.createWorldGenerationJob({
          template: s.template,
          worldCount: { floorplanCount: 2, interiorCountPerFloorplan: 3 },
          clientRequestToken: 'worlds-2026-0001',
          tags: { stage: 'test' },
          worldTags: { made: 'by-night' },
        });
        s.job = given(made.arn, 'arn');
        oneOf(made.status, 'Pending', 'Running');
        assert.deepEqual([made.template, made.worldCount], [s.template, { floorplanCount: 2, interiorCountPerFloorplan: 3 }]);
      },
      read: async () => {
        const read = await r.describeWorldGenerationJob({ job: s.job });
        assert.deepEqual([read.arn, read.template, read.clientRequestToken], [s.job, s.template, 'worlds-2026-0001']);
        assert.deepEqual([read.tags, read.worldTags], [{ stage: 'test' }, { made: 'by-night' }]);
        assert.deepEqual(read.worldCount, { floorplanCount: 2, interiorCountPerFloorplan: 3 });
      },
      'the same again is the same job': async () => {
        const made = await r.createWorldGenerationJob({
          template: s.template,
          worldCount: { floorplanCount: 2, interiorCountPerFloorplan: 3 },
          clientRequestToken: 'worlds-2026-0001',
          tags: { stage: 'test' },
          worldTags: { made: 'by-night' },
        });
        assert.equal(made.arn, s.job);
      },
      'its body is that of the template': async () => assert.deepEqual(await bodyOf(r, { generationJob: s.job }), house(3)),
      'in the list, and by its template': async () => {
        const walk = paginateListWorldGenerationJobs({ client: r, pageSize: 1 }, {});
        const rows = await gather(walk, (page) => page.worldGenerationJobSummaries ?? []);
        once(
          rows.map((row) => `${row.arn} ${row.template}`),
          [`${s.job} ${s.template}`],
          'jobs',
        );
      },
      'cancelled, and among those that are': async () => {
        await r.cancelWorldGenerationJob({ job: s.job });
        const status = async () => (await r.describeWorldGenerationJob({ job: s.job })).status;
        const now = given(await settled(status, /^Canceling$/), 'status');
        oneOf(now, 'Canceling', 'Canceled');
        const { worldGenerationJobSummaries: rows } = await r.listWorldGenerationJobs({ filters: only('status', now) });
        once(arns(given(rows, 'worldGenerationJobSummaries')), [s.job], 'jobs');
        for (const row of rows ?? []) assert.equal(row.status, now);
      },
      'none of a template that is not there': async () => {
        await missing(generate(r, noTemplate), 480);
        await missing(r.describeWorldGenerationJob({ job: arn('world-generation-job/generation-0000dead') }), 480);
        await missing(r.cancelWorldGenerationJob({ job: arn('world-generation-job/generation-0000dead') }), 480);
      },
    }),

    'worlds, and what is done with them': (r, s) => ({
      'asked for, and waited for, but not for long': async () => {
        s.template = await template(r, 'Ready house');
        s.job = await generate(r, s.template);
        const status = async () => (await r.describeWorldGenerationJob({ job: s.job })).status;
        oneOf(await settled(status, /^(?:Pending|Running)$/), 'Pending', 'Running', 'Completed');
      },
      'as many as the job says are listed': async () => {
        const { finishedWorldsSummary } = await r.describeWorldGenerationJob({ job: s.job });
        const rows = await gather(paginateListWorlds({ client: r, pageSize: 1 }, {}), (page) => page.worldSummaries ?? []);
        const mine = rows.filter(({ generationJob }) => generationJob === s.job);
        assert.deepEqual(arns(mine).toSorted(), (finishedWorldsSummary?.succeededWorlds ?? []).toSorted());
        for (const row of mine) assert.equal(row.template, s.template);
        s.world = arns(mine)[0] ?? '';
      },
      'one that is there is read and exported': async () => {
        if (s.world === '') return;
        const read = await r.describeWorld({ world: s.world });
        assert.deepEqual([read.arn, read.generationJob, read.template], [s.world, s.job, s.template]);
        const outputLocation = { s3Bucket: 'my-worlds', s3Prefix: 'exports' };
        const made = await r.createWorldExportJob({ worlds: [given(s.world, 'world')], outputLocation, iamRole });
        const job = given(made.arn, 'arn');
        oneOf(made.status, 'Pending', 'Running');
        const exported = await r.describeWorldExportJob({ job });
        assert.deepEqual([exported.worlds, exported.outputLocation, exported.iamRole], [[s.world], outputLocation, iamRole]);
        const walk = paginateListWorldExportJobs({ client: r }, {});
        once(arns(await gather(walk, (page) => page.worldExportJobSummaries ?? [])), [job], 'export jobs');
      },
      'it is deleted, and gone': async () => {
        if (s.world === '') return;
        const { unprocessedWorlds } = await r.batchDeleteWorlds({ worlds: [given(s.world, 'world')] });
        assert.deepEqual(unprocessedWorlds ?? [], []);
        await missing(r.describeWorld({ world: s.world }), 481);
      },
      'what is not there is not deleted, and said so': async () => {
        const { unprocessedWorlds } = await r.batchDeleteWorlds({ worlds: [noWorld] });
        assert.deepEqual(unprocessedWorlds, [noWorld]);
      },
      'nor read, nor exported': async () => {
        await missing(r.describeWorld({ world: noWorld }), 481);
        await missing(r.createWorldExportJob({ worlds: [noWorld], outputLocation: { s3Bucket: 'my-worlds' }, iamRole }), 480);
        await missing(r.describeWorldExportJob({ job: arn('world-export-job/export-0000dead') }), 480);
        await missing(r.cancelWorldExportJob({ job: arn('world-export-job/export-0000dead') }), 480);
      },
      'nothing is not exported': () =>
        denied(r.createWorldExportJob({ worlds: [], outputLocation: { s3Bucket: 'my-worlds' }, iamRole }), 481),
    }),

    'tags of what there is': (r, s) => ({
      'an application with one': async () => {
        s.arn = given((await robot(r, 'tagged-robot', { stage: 'test' })).arn, 'arn');
        assert.deepEqual((await r.listTagsForResource({ resourceArn: s.arn })).tags, { stage: 'test' });
      },
      'two more': async () => {
        await r.tagResource({ resourceArn: s.arn, tags: { team: 'robots', empty: '' } });
        const { tags } = await r.listTagsForResource({ resourceArn: s.arn });
        assert.deepEqual(tags, { stage: 'test', team: 'robots', empty: '' });
      },
      'one has another value': async () => {
        await r.tagResource({ resourceArn: s.arn, tags: { stage: 'live' } });
        const { tags } = await r.listTagsForResource({ resourceArn: s.arn });
        assert.deepEqual(tags, { stage: 'live', team: 'robots', empty: '' });
      },
      'it has them where it is described, too': async () =>
        assert.deepEqual((await r.describeRobotApplication({ application: s.arn })).tags, {
          stage: 'live',
          team: 'robots',
          empty: '',
        }),
      'two are taken away': async () => {
        await r.untagResource({ resourceArn: s.arn, tagKeys: ['team', 'empty'] });
        assert.deepEqual((await r.listTagsForResource({ resourceArn: s.arn })).tags, { stage: 'live' });
      },
      'a template has its own': async () => {
        const resourceArn = await template(r, 'Tagged house');
        await r.tagResource({ resourceArn, tags: { owner: 'ops' } });
        assert.deepEqual((await r.listTagsForResource({ resourceArn })).tags, { owner: 'ops' });
      },
      'what is not there has none': async () => {
        await missing(r.listTagsForResource({ resourceArn: noRobot }), 481);
        await missing(r.tagResource({ resourceArn: noRobot, tags: { stage: 'late' } }), 481);
      },
    }),

    'a credential that is refused': (r, s, another) => ({
      'an application': async () => {
        s.arn = await robotArn(r, 'guarded-robot');
      },
      'not read by another': () => stranger(another('AKIANOBODYATALL00000').describeRobotApplication({ application: s.arn })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listRobotApplications({})),
      'nothing made by another': () => stranger(robot(another('AKIANOBODYATALL00000'), 'intruder-robot')),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteRobotApplication({ application: s.arn })),
      'no tags for another': () => stranger(another('AKIANOBODYATALL00000').listTagsForResource({ resourceArn: s.arn })),
      'it is still there, and alone': async () => {
        assert.equal((await r.describeRobotApplication({ application: s.arn })).name, 'guarded-robot');
        without(names(await robots(r)), 'intruder-robot');
      },
    }),

    'wrong requests, and what is not there': (r, s) => ({
      'a name of forbidden letters': async () => {
        await denied(robot(r, 'no spaces here'), 480);
        without(names(await robots(r)), 'no spaces here');
      },
      'a software suite that there is not': () =>
        denied(
          r.createRobotApplication({
            name: 'wrong-robot',
            robotSoftwareSuite: { name: 'Clockwork' as RobotSoftwareSuiteType },
            environment: image('wrong-robot:latest'),
          }),
          480,
        ),
      'a simulation without a software suite': () =>
        denied(
          r.createSimulationApplication({ name: 'wrong-world', simulationSoftwareSuite, robotSoftwareSuite: undefined }),
          480,
        ),
      'a job of a role that is none, and one for ever': async () => {
        s.world = await simulationArn(r, 'right-world');
        await denied(simulate(r, s.world, { iamRole: 'just-a-name-of-a-role' }), 481);
        await denied(simulate(r, s.world, { maxJobDurationInSeconds: 1_209_601 }), 481);
        assert.deepEqual(await jobs(r, only('simulationApplicationName', 'right-world')), []);
      },
      'a job of no application, and of one that is not there': async () => {
        await denied(r.createSimulationJob({ maxJobDurationInSeconds: 3600, iamRole }), 481);
        await refused(simulate(r, arn('simulation-application/no-such-world/1551203485821')), 400, 404, 480, 481);
      },
      'a template without a body': () => denied(r.createWorldTemplate({ name: 'Empty house' }), 480),
      'a page of too many rows': async () => {
        await denied(r.listRobotApplications({ maxResults: 101 }), 480);
        await denied(r.listWorldTemplates({ maxResults: 101 }), 480);
      },
      'what is not there is not read, nor changed': async () => {
        await missing(r.describeRobotApplication({ application: noRobot }), 481);
        await missing(r.describeFleet({ fleet: arn('deployment-fleet/no-such-fleet/1551203485821') }), 480);
        await missing(r.describeRobot({ robot: arn('robot/no-such-robot/1551203485821') }), 480);
        await missing(
          r.updateRobotApplication({ application: noRobot, robotSoftwareSuite, environment: image('late:latest') }),
          481,
        );
      },
      'nothing was made': async () => without(names(await robots(r)), 'wrong-robot'),
    }),
  },
};
