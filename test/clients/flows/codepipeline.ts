import assert from 'node:assert/strict';
import {
  type ActionTypeId,
  CodePipeline,
  type Job,
  type PipelineDeclaration,
  paginateListActionExecutions,
  paginateListActionTypes,
  paginateListPipelineExecutions,
  paginateListPipelines,
  paginateListTagsForResource,
  paginateListWebhooks,
  type StageDeclaration,
  type Tag,
  type WebhookDefinition,
} from '@aws-sdk/client-codepipeline';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): CodePipeline => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new CodePipeline({
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

/** The guide has a 400 for each of the service's own exceptions; the description has a number of its own for each, by operation. */
const denied = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> => refused(call, 400, ...described);
/** A key that is not known is an UnrecognizedClientException, 400, for services of this protocol; 403 in the list of common errors. */
const stranger = async (call: Promise<unknown>): Promise<void> => {
  const thrown = (await refused(call, 400, 401, 403)) as { status?: number; name?: string };
  if (thrown.status === 400) assert.match(thrown.name ?? '', /UnrecognizedClient|InvalidClientTokenId|InvalidSignature/);
};

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
/** What happens by itself is asked for until it has, for two seconds and a half. */
const until = async <T>(ask: () => Promise<T | undefined>, what: string): Promise<T> => {
  for (let turn = 0; turn < 10; turn += 1) {
    const found = await ask();
    if (found !== undefined) return found;
    await new Promise((done) => setTimeout(done, 250));
  }
  throw new Error(`${what}: not after ten times`);
};

const nowhere = '00000000-dead-4000-8000-00000000beef';
/** Roles, buckets, repositories and projects belong to other services: these are there before. */
const roleArn = 'arn:aws:iam::123456789012:role/AWS-CodePipeline-Service';
const artifactStore = { type: 'S3' as const, location: 'codepipeline-us-east-1-11EXAMPLE11' };

const bucket = (S3Bucket = 'amzn-s3-demo-source'): StageDeclaration => ({
  name: 'Source',
  actions: [
    {
      name: 'Fetch',
      actionTypeId: { category: 'Source', owner: 'AWS', provider: 'S3', version: '1' },
      runOrder: 1,
      configuration: { S3Bucket, S3ObjectKey: 'app.zip', PollForSourceChanges: 'false' },
      outputArtifacts: [{ name: 'SourceOut' }],
    },
  ],
});
const built = (ProjectName = 'my-project'): StageDeclaration => ({
  name: 'Build',
  actions: [
    {
      name: 'Compile',
      actionTypeId: { category: 'Build', owner: 'AWS', provider: 'CodeBuild', version: '1' },
      runOrder: 1,
      configuration: { ProjectName },
      inputArtifacts: [{ name: 'SourceOut' }],
      outputArtifacts: [{ name: 'BuildOut' }],
    },
  ],
});
/** What a webhook begins with: its filters may name what the action is configured with. */
const pulled: StageDeclaration = {
  name: 'Source',
  actions: [
    {
      name: 'Pull',
      actionTypeId: { category: 'Source', owner: 'ThirdParty', provider: 'GitHub', version: '1' },
      runOrder: 1,
      configuration: {
        Owner: 'my-org',
        Repo: 'my-repo',
        Branch: 'main',
        OAuthToken: 'ghp-example-token',
        PollForSourceChanges: 'false',
      },
      outputArtifacts: [{ name: 'SourceOut' }],
    },
  ],
};
const signed: StageDeclaration = {
  name: 'Approve',
  actions: [
    {
      name: 'Sign',
      actionTypeId: { category: 'Approval', owner: 'AWS', provider: 'Manual', version: '1' },
      runOrder: 1,
      configuration: { CustomData: 'Look at the new version' },
    },
  ],
};
const pipelineOf = (name: string, stages: StageDeclaration[] = [bucket(), built()]): PipelineDeclaration => ({
  name,
  roleArn,
  artifactStore,
  stages,
});
const make = async (c: CodePipeline, name: string, stages?: StageDeclaration[], tags?: Tag[]): Promise<PipelineDeclaration> => {
  const made = await c.createPipeline({ pipeline: pipelineOf(name, stages), ...(tags && { tags }) });
  return given(made.pipeline, 'pipeline');
};
const arnOf = async (c: CodePipeline, name: string): Promise<string> =>
  given((await c.getPipeline({ name })).metadata?.pipelineArn, 'pipelineArn');
const pipelines = async (c: CodePipeline, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListPipelines({ client: c, pageSize }, {}), (page) => page.pipelines ?? []);
  return rows.map((row) => given(row.name, 'name'));
};

/** A source of one's own: its worker asks for jobs, so that an execution goes on only when the flow says so. */
const gitType: ActionTypeId = { category: 'Source', owner: 'Custom', provider: 'MyGit', version: '1' };
const git = (c: CodePipeline) =>
  c.createCustomActionType({
    category: 'Source',
    provider: 'MyGit',
    version: '1',
    inputArtifactDetails: { minimumCount: 0, maximumCount: 0 },
    outputArtifactDetails: { minimumCount: 0, maximumCount: 1 },
    configurationProperties: [
      { name: 'Repository', required: true, key: true, secret: false, queryable: true, type: 'String' },
      { name: 'Branch', required: false, key: false, secret: false, type: 'String' },
    ],
  });
const cloned = (Repository: string): StageDeclaration => ({
  name: 'Source',
  actions: [
    {
      name: 'Clone',
      actionTypeId: gitType,
      runOrder: 1,
      configuration: { Repository, Branch: 'main' },
      outputArtifacts: [{ name: 'SourceOut' }],
    },
  ],
});
const waiting = async (c: CodePipeline, name: string): Promise<void> => {
  await git(c);
  await make(c, name, [cloned(`repo-${name}`), signed]);
};
const job = (c: CodePipeline, name: string): Promise<Job> =>
  until(async () => {
    const asked = { actionTypeId: gitType, maxBatchSize: 1, queryParam: { Repository: `repo-${name}` } };
    return (await c.pollForJobs(asked)).jobs?.[0];
  }, 'a job for the worker');
const start = async (c: CodePipeline, name: string): Promise<string> =>
  given((await c.startPipelineExecution({ name })).pipelineExecutionId, 'pipelineExecutionId');
const execution = async (c: CodePipeline, pipelineName: string, pipelineExecutionId: string) =>
  given((await c.getPipelineExecution({ pipelineName, pipelineExecutionId })).pipelineExecution, 'pipelineExecution');
const ends = (c: CodePipeline, name: string, id: string, status: string): Promise<true> =>
  until(async () => ((await execution(c, name, id)).status === status ? true : undefined), `the execution is ${status}`);
const executions = async (c: CodePipeline, pipelineName: string, pageSize = 100) =>
  gather(
    paginateListPipelineExecutions({ client: c, pageSize }, { pipelineName }),
    (page) => page.pipelineExecutionSummaries ?? [],
  );
const stage = async (c: CodePipeline, name: string, stageName: string) => {
  const { stageStates } = await c.getPipelineState({ name });
  return given(
    stageStates?.find((one) => one.stageName === stageName),
    `stage ${stageName}`,
  );
};

const types = async (c: CodePipeline, actionOwnerFilter: 'AWS' | 'Custom'): Promise<string[]> => {
  const rows = await gather(paginateListActionTypes({ client: c }, { actionOwnerFilter }), (page) => page.actionTypes ?? []);
  for (const { id } of rows) assert.equal(id?.owner, actionOwnerFilter);
  return rows.map(({ id }) => `${id?.category} ${id?.provider} ${id?.version}`);
};
const hook = (name: string, targetPipeline: string, more: Partial<WebhookDefinition> = {}): WebhookDefinition => ({
  name,
  targetPipeline,
  targetAction: 'Pull',
  filters: [{ jsonPath: '$.ref', matchEquals: 'refs/heads/{Branch}' }],
  authentication: 'GITHUB_HMAC',
  authenticationConfiguration: { SecretToken: 'a-secret-of-github' },
  ...more,
});
const hooks = async (c: CodePipeline, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListWebhooks({ client: c, pageSize }, {}), (page) => page.webhooks ?? []);
  return rows.map((row) => given(row.definition?.name, 'name'));
};
const tagsOf = async (c: CodePipeline, resourceArn: string): Promise<string[]> => {
  const rows = await gather(paginateListTagsForResource({ client: c }, { resourceArn }), (page) => page.tags ?? []);
  return rows.map(({ key, value }) => `${key}=${value}`).toSorted();
};

/** Guide: docs.aws.amazon.com/codepipeline/latest/userguide (pipelines, executions, transitions, approvals, custom actions, webhooks) and its API reference. */
export const vendor: Vendor<CodePipeline> = {
  document: 'codepipeline/codepipeline.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a pipeline, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await make(c, 'life-pipeline');
        assert.partialDeepStrictEqual(made, pipelineOf('life-pipeline'));
        assert.equal(made.version, 1);
      },
      read: async () => {
        const { pipeline, metadata } = await c.getPipeline({ name: 'life-pipeline' });
        assert.partialDeepStrictEqual(pipeline, pipelineOf('life-pipeline'));
        assert.equal(pipeline?.version, 1);
        s.arn = given(metadata?.pipelineArn, 'pipelineArn');
        assert.match(s.arn, /^arn:aws:codepipeline:[^:]+:\d{12}:life-pipeline$/);
        assert.ok(metadata?.created instanceof Date, 'it was made at no time');
        assert.ok(metadata.updated instanceof Date, 'it was changed at no time');
      },
      'its name is taken': () => denied(c.createPipeline({ pipeline: pipelineOf('life-pipeline') }), 481),
      'is in the list, with its version': async () => {
        const rows = await gather(paginateListPipelines({ client: c }, {}), (page) => page.pipelines ?? []);
        once(
          rows.map(({ name, version }) => `${name} ${version}`),
          ['life-pipeline 1'],
          'pipelines',
        );
      },
      'its stages, in their order': async () => {
        const at = await c.getPipelineState({ name: 'life-pipeline' });
        assert.deepEqual([at.pipelineName, at.pipelineVersion], ['life-pipeline', 1]);
        assert.deepEqual(
          at.stageStates?.map(({ stageName }) => stageName),
          ['Source', 'Build'],
        );
        assert.deepEqual(
          at.stageStates?.map(({ actionStates }) => actionStates?.[0]?.actionName),
          ['Fetch', 'Compile'],
        );
      },
      deleted: () => c.deletePipeline({ name: 'life-pipeline' }),
      gone: async () => {
        await denied(c.getPipeline({ name: 'life-pipeline' }), 481);
        await denied(c.getPipelineState({ name: 'life-pipeline' }), 481);
      },
      'no longer in the list': async () => without(await pipelines(c), 'life-pipeline'),
      'its name is free again': async () => assert.equal((await make(c, 'life-pipeline')).name, 'life-pipeline'),
    }),

    'a pipeline and its versions': (c) => ({
      'the first': async () => assert.equal((await make(c, 'versions')).version, 1),
      'changed, it has another version': async () => {
        const { pipeline } = await c.getPipeline({ name: 'versions' });
        const stages = [bucket(), built('other-project'), signed];
        const made = await c.updatePipeline({ pipeline: { ...given(pipeline, 'pipeline'), stages } });
        assert.equal(made.pipeline?.version, 2);
        assert.partialDeepStrictEqual(made.pipeline, pipelineOf('versions', stages));
      },
      'that is the one it has now': async () => {
        const { pipeline, metadata } = await c.getPipeline({ name: 'versions' });
        assert.equal(pipeline?.version, 2);
        assert.deepEqual(
          pipeline.stages?.map(({ name }) => name),
          ['Source', 'Build', 'Approve'],
        );
        assert.equal(pipeline.stages?.[1]?.actions?.[0]?.configuration?.ProjectName, 'other-project');
        const [created, updated] = [given(metadata?.created, 'created'), given(metadata?.updated, 'updated')];
        assert.ok(updated >= created, 'changed before it was made');
      },
      'the first can still be read': async () => {
        const { pipeline } = await c.getPipeline({ name: 'versions', version: 1 });
        assert.equal(pipeline?.version, 1);
        assert.deepEqual(
          pipeline.stages?.map(({ name }) => name),
          ['Source', 'Build'],
        );
        assert.equal(pipeline.stages?.[1]?.actions?.[0]?.configuration?.ProjectName, 'my-project');
      },
      'a third, whatever version is said': async () => {
        const made = await c.updatePipeline({ pipeline: { ...pipelineOf('versions'), version: 1 } });
        assert.equal(made.pipeline?.version, 3);
        assert.deepEqual(
          made.pipeline.stages?.map(({ name }) => name),
          ['Source', 'Build'],
        );
      },
      'the list and the state have the last': async () => {
        const rows = await gather(paginateListPipelines({ client: c }, {}), (page) => page.pipelines ?? []);
        once(
          rows.map(({ name, version }) => `${name} ${version}`),
          ['versions 3'],
          'pipelines',
        );
        assert.equal((await c.getPipelineState({ name: 'versions' })).pipelineVersion, 3);
      },
      'no ninth': () => denied(c.getPipeline({ name: 'versions', version: 9 }), 482),
      'what is not there has none': () => denied(c.getPipeline({ name: 'no-such-pipeline', version: 1 }), 481),
    }),

    'pipelines through all pages': (c) => ({
      'five, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) await make(c, `page-${letter}`);
      },
      'no more on a page than asked for': async () => {
        const page = await c.listPipelines({ maxResults: 2 });
        assert.ok(given(page.pipelines, 'pipelines').length <= 2, 'more than two');
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await pipelines(c, 2);
        once(rows, [...new Set(rows), 'page-a', 'page-b', 'page-c', 'page-d', 'page-e'], 'pipelines');
      },
      'each with its times': async () => {
        const rows = await gather(paginateListPipelines({ client: c }, {}), (page) => page.pipelines ?? []);
        const row = rows.find(({ name }) => name === 'page-c');
        assert.ok(row?.created instanceof Date && row.updated instanceof Date, 'it has none');
      },
      'no page of a token that is none': () => denied(c.listPipelines({ nextToken: 'not-a-token' }), 480, 481),
      'nor of no rows': () => denied(c.listPipelines({ maxResults: 0 }), 480),
      'one less': async () => {
        await c.deletePipeline({ name: 'page-b' });
        const rows = await pipelines(c, 2);
        once(rows, ['page-a', 'page-c', 'page-d', 'page-e'], 'pipelines');
        without(rows, 'page-b');
      },
    }),

    'a transition between stages': (c) => ({
      'it is open at first': async () => {
        await make(c, 'gated');
        assert.equal((await stage(c, 'gated', 'Build')).inboundTransitionState?.enabled, true);
      },
      closed: () =>
        c.disableStageTransition({
          pipelineName: 'gated',
          stageName: 'Build',
          transitionType: 'Inbound',
          reason: 'The build is broken - wait.',
        }),
      'it says so, why and since when': async () => {
        const at = (await stage(c, 'gated', 'Build')).inboundTransitionState;
        assert.deepEqual([at?.enabled, at?.disabledReason], [false, 'The build is broken - wait.']);
        given(at?.lastChangedBy, 'lastChangedBy');
        assert.ok(at?.lastChangedAt instanceof Date, 'changed at no time');
      },
      'the pipeline has no other version for that': async () =>
        assert.equal((await c.getPipeline({ name: 'gated' })).pipeline?.version, 1),
      'open again': async () => {
        await c.enableStageTransition({ pipelineName: 'gated', stageName: 'Build', transitionType: 'Inbound' });
        const at = (await stage(c, 'gated', 'Build')).inboundTransitionState;
        assert.deepEqual([at?.enabled, at?.disabledReason ?? undefined], [true, undefined]);
      },
      'no such stage': async () => {
        const asked = { pipelineName: 'gated', stageName: 'Ship', transitionType: 'Inbound' as const };
        await denied(c.disableStageTransition({ ...asked, reason: 'none' }), 482);
        await denied(c.enableStageTransition(asked), 482);
      },
      'no such pipeline': async () => {
        const asked = { pipelineName: 'no-such-pipeline', stageName: 'Build', transitionType: 'Inbound' as const };
        await denied(c.disableStageTransition({ ...asked, reason: 'none' }), 481);
        await denied(c.enableStageTransition(asked), 481);
      },
      'not without a reason': () => {
        const asked = { pipelineName: 'gated', stageName: 'Build', transitionType: 'Inbound' as const };
        return denied(c.disableStageTransition({ ...asked, reason: '' }), 480);
      },
    }),

    'executions of a pipeline': (c, s) => ({
      'two are started': async () => {
        await waiting(c, 'running');
        s.one = await start(c, 'running');
        s.two = await start(c, 'running');
        assert.notEqual(s.one, s.two);
      },
      'one is read': async () => {
        const at = await execution(c, 'running', s.two);
        assert.deepEqual([at.pipelineName, at.pipelineVersion, at.pipelineExecutionId], ['running', 1, s.two]);
        assert.equal(at.status, 'InProgress');
      },
      'both are in the list, through all pages': async () => {
        const rows = await executions(c, 'running', 1);
        once(
          rows.map(({ pipelineExecutionId }) => given(pipelineExecutionId, 'pipelineExecutionId')),
          [s.one, s.two],
          'executions',
        );
      },
      'the last is the first, and it says who started it': async () => {
        const rows = await executions(c, 'running');
        assert.equal(rows[0]?.pipelineExecutionId, s.two);
        assert.equal(rows[0]?.trigger?.triggerType, 'StartPipelineExecution');
        assert.ok(rows[0].startTime instanceof Date, 'started at no time');
      },
      'those of another pipeline are its own': async () => {
        await make(c, 'other', [cloned('repo-other'), signed]);
        s.other = await start(c, 'other');
        const rows = (await executions(c, 'other')).map(({ pipelineExecutionId }) => pipelineExecutionId ?? '');
        once(rows, [s.other], 'executions');
        without(rows, s.one);
        await denied(c.getPipelineExecution({ pipelineName: 'other', pipelineExecutionId: s.one }), 482);
      },
      'the same request twice is one': async () => {
        const asked = { name: 'other', clientRequestToken: 'start-once-1' };
        const first = await c.startPipelineExecution(asked);
        const second = await c.startPipelineExecution(asked);
        assert.equal(second.pipelineExecutionId, given(first.pipelineExecutionId, 'pipelineExecutionId'));
      },
      'one that is not there': () =>
        denied(c.getPipelineExecution({ pipelineName: 'running', pipelineExecutionId: nowhere }), 482),
      'none of a pipeline that is not there': async () => {
        await denied(c.startPipelineExecution({ name: 'no-such-pipeline' }), 482);
        await denied(c.listPipelineExecutions({ pipelineName: 'no-such-pipeline' }), 481);
      },
    }),

    'an execution is stopped': (c, s) => ({
      started: async () => {
        await waiting(c, 'stopping');
        s.one = await start(c, 'stopping');
        assert.equal((await execution(c, 'stopping', s.one)).status, 'InProgress');
      },
      'stopped, and what runs is abandoned': async () => {
        const asked = { pipelineName: 'stopping', pipelineExecutionId: s.one, abandon: true, reason: 'a wrong commit' };
        assert.equal((await c.stopPipelineExecution(asked)).pipelineExecutionId, s.one);
        oneOf((await execution(c, 'stopping', s.one)).status, 'Stopping', 'Stopped');
      },
      'after a while it is': () => ends(c, 'stopping', s.one, 'Stopped'),
      'the list says so, and why': async () => {
        const row = (await executions(c, 'stopping')).find(({ pipelineExecutionId }) => pipelineExecutionId === s.one);
        assert.deepEqual([row?.status, row?.stopTrigger?.reason], ['Stopped', 'a wrong commit']);
      },
      'not twice': () =>
        denied(c.stopPipelineExecution({ pipelineName: 'stopping', pipelineExecutionId: s.one, abandon: true }), 483, 484),
      'another can be started': async () => {
        const two = await start(c, 'stopping');
        assert.notEqual(two, s.one);
        assert.equal((await execution(c, 'stopping', two)).status, 'InProgress');
      },
      'nothing that is not there': async () => {
        await denied(c.stopPipelineExecution({ pipelineName: 'no-such-pipeline', pipelineExecutionId: s.one }), 482);
        await denied(c.stopPipelineExecution({ pipelineName: 'stopping', pipelineExecutionId: nowhere }), 480, 483);
      },
    }),

    'from a worker and an approval to success': (c, s) => ({
      'a new pipeline runs at once: there is a job': async () => {
        await waiting(c, 'delivering');
        const found = await job(c, 'delivering');
        s.job = given(found.id, 'id');
        s.nonce = given(found.nonce, 'nonce');
        assert.match(given(found.accountId, 'accountId'), /^\d{12}$/);
        assert.partialDeepStrictEqual(found.data?.actionTypeId, gitType);
        assert.equal(found.data?.pipelineContext?.pipelineName, 'delivering');
        assert.deepEqual([found.data.pipelineContext.stage?.name, found.data.pipelineContext.action?.name], ['Source', 'Clone']);
      },
      'what it is about': async () => {
        const { jobDetails } = await c.getJobDetails({ jobId: s.job });
        assert.equal(jobDetails?.id, s.job);
        assert.deepEqual(jobDetails.data?.actionConfiguration?.configuration, { Repository: 'repo-delivering', Branch: 'main' });
        s.execution = given(jobDetails.data?.pipelineContext?.pipelineExecutionId, 'pipelineExecutionId');
      },
      'the worker has it, and nobody else': async () => {
        await denied(c.acknowledgeJob({ jobId: s.job, nonce: '999999999' }), 481);
        oneOf((await c.acknowledgeJob({ jobId: s.job, nonce: s.nonce })).status, 'InProgress');
      },
      'the worker is done': () =>
        c.putJobSuccessResult({
          jobId: s.job,
          currentRevision: { revision: '8f3a1c9', changeIdentifier: '8f3a1c9', revisionSummary: 'a new door' },
          executionDetails: { summary: 'cloned', externalExecutionId: 'clone-1', percentComplete: 100 },
        }),
      'not twice': () =>
        denied(c.putJobFailureResult({ jobId: s.job, failureDetails: { type: 'JobFailed', message: 'late' } }), 482),
      'now somebody has to approve': async () => {
        s.token = await until(async () => {
          const at = (await stage(c, 'delivering', 'Approve')).actionStates?.find(({ actionName }) => actionName === 'Sign');
          return at?.latestExecution?.status === 'InProgress' ? at.latestExecution.token : undefined;
        }, 'a token for the approval');
        const at = await stage(c, 'delivering', 'Source');
        assert.deepEqual([at.latestExecution?.status, at.latestExecution?.pipelineExecutionId], ['Succeeded', s.execution]);
      },
      approved: async () => {
        const asked = { pipelineName: 'delivering', stageName: 'Approve', actionName: 'Sign', token: s.token };
        const made = await c.putApprovalResult({ ...asked, result: { status: 'Approved', summary: 'looks good' } });
        assert.ok(made.approvedAt instanceof Date, 'approved at no time');
        await denied(c.putApprovalResult({ ...asked, result: { status: 'Rejected', summary: 'no' } }), 480, 481);
      },
      'so it succeeds': async () => {
        await ends(c, 'delivering', s.execution, 'Succeeded');
        const [revision] = given((await execution(c, 'delivering', s.execution)).artifactRevisions, 'artifactRevisions');
        assert.deepEqual(
          [revision?.name, revision?.revisionId, revision?.revisionSummary],
          ['SourceOut', '8f3a1c9', 'a new door'],
        );
      },
    }),

    'a failure, and another try': (c, s) => ({
      'a job': async () => {
        await waiting(c, 'failing');
        const found = await job(c, 'failing');
        s.job = given(found.id, 'id');
        await c.acknowledgeJob({ jobId: s.job, nonce: given(found.nonce, 'nonce') });
        const { jobDetails } = await c.getJobDetails({ jobId: s.job });
        s.execution = given(jobDetails?.data?.pipelineContext?.pipelineExecutionId, 'pipelineExecutionId');
      },
      'no other try, as long as nothing has failed': () =>
        denied(
          c.retryStageExecution({
            pipelineName: 'failing',
            stageName: 'Source',
            pipelineExecutionId: s.execution,
            retryMode: 'FAILED_ACTIONS',
          }),
          481,
          484,
        ),
      'it fails': async () => {
        const failureDetails = { type: 'JobFailed' as const, message: 'no such branch', externalExecutionId: 'clone-2' };
        await c.putJobFailureResult({ jobId: s.job, failureDetails });
        await ends(c, 'failing', s.execution, 'Failed');
      },
      'the stage says so, and why': async () => {
        const at = await stage(c, 'failing', 'Source');
        assert.equal(at.latestExecution?.status, 'Failed');
        const action = at.actionStates?.find(({ actionName }) => actionName === 'Clone')?.latestExecution;
        assert.deepEqual([action?.status, action?.errorDetails?.message], ['Failed', 'no such branch']);
      },
      'the one after did not begin': async () =>
        assert.equal((await stage(c, 'failing', 'Approve')).latestExecution ?? undefined, undefined),
      'another try, of the same execution': async () => {
        const made = await c.retryStageExecution({
          pipelineName: 'failing',
          stageName: 'Source',
          pipelineExecutionId: s.execution,
          retryMode: 'FAILED_ACTIONS',
        });
        assert.equal(made.pipelineExecutionId, s.execution);
        await ends(c, 'failing', s.execution, 'InProgress');
      },
      'there is another job': async () => assert.notEqual((await job(c, 'failing')).id, s.job),
      'no try of what is not there': async () => {
        const asked = { stageName: 'Source', pipelineExecutionId: s.execution, retryMode: 'FAILED_ACTIONS' as const };
        await denied(c.retryStageExecution({ ...asked, pipelineName: 'no-such-pipeline' }), 482);
        await denied(c.retryStageExecution({ ...asked, pipelineName: 'failing', stageName: 'Ship' }), 483);
      },
    }),

    'actions that ran': (c, s) => {
      const ran = (name: string, pipelineExecutionId?: string) =>
        gather(
          paginateListActionExecutions(
            { client: c, pageSize: 1 },
            { pipelineName: name, ...(pipelineExecutionId && { filter: { pipelineExecutionId } }) },
          ),
          (page) => page.actionExecutionDetails ?? [],
        );
      return {
        'one is done': async () => {
          await waiting(c, 'acting');
          const found = await job(c, 'acting');
          const jobId = given(found.id, 'id');
          await c.acknowledgeJob({ jobId, nonce: given(found.nonce, 'nonce') });
          const { jobDetails } = await c.getJobDetails({ jobId });
          s.execution = given(jobDetails?.data?.pipelineContext?.pipelineExecutionId, 'pipelineExecutionId');
          await c.putJobSuccessResult({ jobId, currentRevision: { revision: 'r1', changeIdentifier: 'r1' } });
        },
        'it is told of, of that execution': async () => {
          const row = await until(
            async () =>
              (await ran('acting', s.execution)).find((one) => one.actionName === 'Clone' && one.status === 'Succeeded'),
            'the action in the list',
          );
          assert.deepEqual([row.pipelineExecutionId, row.stageName, row.pipelineVersion], [s.execution, 'Source', 1]);
          s.action = given(row.actionExecutionId, 'actionExecutionId');
          assert.ok(row.startTime instanceof Date, 'started at no time');
        },
        'with what it was about': async () => {
          const row = (await ran('acting')).find(({ actionExecutionId }) => actionExecutionId === s.action);
          assert.partialDeepStrictEqual(row?.input?.actionTypeId, gitType);
          assert.deepEqual(row?.input?.configuration, { Repository: 'repo-acting', Branch: 'main' });
        },
        'the next one waits': async () => {
          const row = await until(
            async () => (await ran('acting', s.execution)).find(({ actionName }) => actionName === 'Sign'),
            'the approval in the list',
          );
          assert.deepEqual([row.status, row.stageName], ['InProgress', 'Approve']);
        },
        'none of it in another execution': async () => {
          const two = await start(c, 'acting');
          const rows = await ran('acting', two);
          for (const row of rows) assert.equal(row.pipelineExecutionId, two);
          without(
            rows.map(({ actionExecutionId }) => actionExecutionId ?? ''),
            s.action,
          );
        },
        'of an execution, and of a pipeline, that is not there': async () => {
          await denied(c.listActionExecutions({ pipelineName: 'acting', filter: { pipelineExecutionId: nowhere } }), 483);
          await denied(c.listActionExecutions({ pipelineName: 'no-such-pipeline' }), 481);
        },
      };
    },

    'a new revision of the source': (c, s) => {
      const revision = (revisionId: string) => ({
        revisionId,
        revisionChangeId: revisionId,
        created: new Date('2026-02-03T04:05:06Z'),
      });
      const asked = { pipelineName: 'revised', stageName: 'Source', actionName: 'Clone' };
      return {
        'a pipeline': () => waiting(c, 'revised'),
        'it runs for a new one': async () => {
          const made = await c.putActionRevision({ ...asked, actionRevision: revision('rev-0001') });
          assert.equal(made.newRevision, true);
          s.execution = given(made.pipelineExecutionId, 'pipelineExecutionId');
        },
        'the execution is there, and says what began it': async () => {
          const row = (await executions(c, 'revised')).find(({ pipelineExecutionId }) => pipelineExecutionId === s.execution);
          assert.equal(row?.trigger?.triggerType, 'PutActionRevision');
          assert.equal((await execution(c, 'revised', s.execution)).pipelineExecutionId, s.execution);
        },
        'the action has it': async () => {
          const at = (await stage(c, 'revised', 'Source')).actionStates?.find(({ actionName }) => actionName === 'Clone');
          assert.partialDeepStrictEqual(at?.currentRevision, { revisionId: 'rev-0001', revisionChangeId: 'rev-0001' });
        },
        'another, for another execution': async () => {
          const made = await c.putActionRevision({ ...asked, actionRevision: revision('rev-0002') });
          assert.equal(made.newRevision, true);
          assert.notEqual(given(made.pipelineExecutionId, 'pipelineExecutionId'), s.execution);
        },
        'no action, stage or pipeline that is not there': async () => {
          const actionRevision = revision('rev-0003');
          await denied(c.putActionRevision({ ...asked, actionName: 'Copy', actionRevision }), 482);
          await denied(c.putActionRevision({ ...asked, stageName: 'Ship', actionRevision }), 481);
          await denied(c.putActionRevision({ ...asked, pipelineName: 'no-such-pipeline', actionRevision }), 480);
        },
      };
    },

    'custom action types': (c) => {
      const own = {
        category: 'Build' as const,
        provider: 'MyJenkins',
        version: '1',
        settings: {
          entityUrlTemplate: 'https://jenkins.example.com/job/{Config:ProjectName}',
          executionUrlTemplate: 'https://jenkins.example.com/job/{Config:ProjectName}/{ExternalExecutionId}',
        },
        configurationProperties: [
          {
            name: 'ProjectName',
            required: true,
            key: true,
            secret: false,
            queryable: true,
            description: 'the job',
            type: 'String' as const,
          },
        ],
        inputArtifactDetails: { minimumCount: 1, maximumCount: 5 },
        outputArtifactDetails: { minimumCount: 0, maximumCount: 1 },
      };
      const id: ActionTypeId = { category: 'Build', owner: 'Custom', provider: 'MyJenkins', version: '1' };
      return {
        made: async () => {
          const made = await c.createCustomActionType({ ...own, tags: [{ key: 'team', value: 'build' }] });
          assert.deepEqual(made.actionType?.id, id);
          assert.deepEqual(made.actionType.inputArtifactDetails, own.inputArtifactDetails);
          assert.partialDeepStrictEqual(made.actionType.settings, own.settings);
          assert.deepEqual(made.tags, [{ key: 'team', value: 'build' }]);
        },
        'is in the list, as it was made': async () => {
          once(await types(c, 'Custom'), ['Build MyJenkins 1'], 'types');
          const pages = paginateListActionTypes({ client: c }, { actionOwnerFilter: 'Custom' });
          const row = (await gather(pages, (page) => page.actionTypes ?? [])).find((one) => one.id?.provider === 'MyJenkins');
          assert.partialDeepStrictEqual(row?.actionConfigurationProperties, own.configurationProperties);
          assert.deepEqual(row?.outputArtifactDetails, own.outputArtifactDetails);
        },
        'not among those of AWS': async () => without(await types(c, 'AWS'), 'Build MyJenkins 1'),
        'it is there already': () => denied(c.createCustomActionType(own), 480, 484),
        'in another version it is another': async () => {
          await c.createCustomActionType({ ...own, version: '2' });
          once(await types(c, 'Custom'), ['Build MyJenkins 1', 'Build MyJenkins 2'], 'types');
        },
        'its worker has nothing to do': async () => assert.deepEqual((await c.pollForJobs({ actionTypeId: id })).jobs ?? [], []),
        'one is deleted': async () => {
          await c.deleteCustomActionType({ category: 'Build', provider: 'MyJenkins', version: '1' });
          const rows = await types(c, 'Custom');
          without(rows, 'Build MyJenkins 1');
          once(rows, ['Build MyJenkins 2'], 'types');
        },
        'its worker is sent away': () => denied(c.pollForJobs({ actionTypeId: id }), 480, 481),
        'with less than none, or more than five artifacts, there is none': async () => {
          const wrong = { minimumCount: 0, maximumCount: 6 };
          await denied(c.createCustomActionType({ ...own, version: '3', outputArtifactDetails: wrong }), 480);
          without(await types(c, 'Custom'), 'Build MyJenkins 3');
        },
      };
    },

    webhooks: (c, s) => ({
      'one is made': async () => {
        await make(c, 'hooked', [pulled, built()]);
        const { webhook } = await c.putWebhook({ webhook: hook('push', 'hooked'), tags: [{ key: 'team', value: 'web' }] });
        assert.partialDeepStrictEqual(webhook?.definition, { name: 'push', targetPipeline: 'hooked', targetAction: 'Pull' });
        assert.deepEqual(webhook?.definition?.filters, [{ jsonPath: '$.ref', matchEquals: 'refs/heads/{Branch}' }]);
        s.url = given(webhook?.url, 'url');
        s.arn = given(webhook?.arn, 'arn');
        assert.match(s.url, /^https:\/\//);
        assert.match(s.arn, /^arn:aws:codepipeline:[^:]+:\d{12}:webhook:push$/);
      },
      'put again, it is changed, and keeps its address': async () => {
        const filters = [{ jsonPath: '$.action', matchEquals: 'published' }];
        const { webhook } = await c.putWebhook({ webhook: hook('push', 'hooked', { filters }) });
        assert.deepEqual([webhook?.url, webhook?.arn, webhook?.definition?.filters], [s.url, s.arn, filters]);
        once(await hooks(c), ['push'], 'webhooks');
      },
      'four, through all pages': async () => {
        for (const at of ['c', 'a', 'b']) {
          const how = { authentication: 'IP' as const, authenticationConfiguration: { AllowedIPRange: '192.0.2.0/24' } };
          await c.putWebhook({ webhook: hook(`push-${at}`, 'hooked', how) });
        }
        once(await hooks(c, 1), ['push', 'push-a', 'push-b', 'push-c'], 'webhooks');
      },
      'each with its own address': async () => {
        const rows = await gather(paginateListWebhooks({ client: c }, {}), (page) => page.webhooks ?? []);
        assert.equal(rows.find(({ definition }) => definition?.name === 'push')?.url, s.url);
        const ip = rows.find(({ definition }) => definition?.name === 'push-b');
        assert.notEqual(ip?.url, s.url);
        assert.deepEqual(
          [ip?.definition?.authentication, ip?.definition?.authenticationConfiguration?.AllowedIPRange],
          ['IP', '192.0.2.0/24'],
        );
      },
      'it is no longer told of by GitHub': async () => {
        await c.deregisterWebhookWithThirdParty({ webhookName: 'push' });
        once(await hooks(c), ['push'], 'webhooks');
      },
      'deleted, and gone; and once more': async () => {
        await c.deleteWebhook({ name: 'push' });
        without(await hooks(c), 'push');
        await c.deleteWebhook({ name: 'push' });
        once(await hooks(c), ['push-a', 'push-b', 'push-c'], 'webhooks');
      },
      'made again, it has another address': async () => {
        const { webhook } = await c.putWebhook({ webhook: hook('push', 'hooked') });
        assert.notEqual(given(webhook?.url, 'url'), s.url);
      },
      'none for a pipeline that is not there': async () => {
        await denied(c.putWebhook({ webhook: hook('lost', 'no-such-pipeline') }), 484);
        without(await hooks(c), 'lost');
        await denied(c.registerWebhookWithThirdParty({ webhookName: 'no-such-hook' }), 481);
      },
      'none with an address for a secret, or six filters': async () => {
        const authenticationConfiguration = { AllowedIPRange: '192.0.2.0/24' };
        await denied(c.putWebhook({ webhook: hook('wrong', 'hooked', { authenticationConfiguration }) }), 480, 483);
        const filters = Array.from({ length: 6 }, (_, at) => ({ jsonPath: `$.f${at}`, matchEquals: 'x' }));
        await denied(c.putWebhook({ webhook: hook('wrong', 'hooked', { filters }) }), 480, 482);
        without(await hooks(c), 'wrong');
      },
    }),

    tags: (c, s) => ({
      'a pipeline with two': async () => {
        const tags = [
          { key: 'stage', value: 'test' },
          { key: 'team', value: 'shop' },
        ];
        const made = await c.createPipeline({ pipeline: pipelineOf('tagged'), tags });
        assert.deepEqual(made.tags?.map(({ key, value }) => `${key}=${value}`).toSorted(), ['stage=test', 'team=shop']);
        s.arn = await arnOf(c, 'tagged');
        assert.deepEqual(await tagsOf(c, s.arn), ['stage=test', 'team=shop']);
      },
      'one more, and one of another value': async () => {
        const tags = [
          { key: 'cost', value: '42' },
          { key: 'stage', value: 'live' },
        ];
        await c.tagResource({ resourceArn: s.arn, tags });
        assert.deepEqual(await tagsOf(c, s.arn), ['cost=42', 'stage=live', 'team=shop']);
      },
      'two are taken away': async () => {
        await c.untagResource({ resourceArn: s.arn, tagKeys: ['cost', 'team'] });
        assert.deepEqual(await tagsOf(c, s.arn), ['stage=live']);
      },
      'what was never there, too': async () => {
        await c.untagResource({ resourceArn: s.arn, tagKeys: ['colour'] });
        assert.deepEqual(await tagsOf(c, s.arn), ['stage=live']);
      },
      'another pipeline has its own': async () => {
        await make(c, 'untagged');
        assert.deepEqual(await tagsOf(c, await arnOf(c, 'untagged')), []);
      },
      'what is not there has none': async () => {
        await denied(c.listTagsForResource({ resourceArn: `${s.arn}-not-there` }), 481);
        await denied(c.tagResource({ resourceArn: `${s.arn}-not-there`, tags: [{ key: 'a', value: 'b' }] }), 481);
      },
      'nor what is no ARN': () => denied(c.listTagsForResource({ resourceArn: 'not-an-arn' }), 480, 483),
    }),

    'a pipeline of two regions': (c) => {
      const key = 'arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';
      const artifactStores = {
        'us-east-1': artifactStore,
        'us-west-2': {
          type: 'S3' as const,
          location: 'codepipeline-us-west-2-11EXAMPLE11',
          encryptionKey: { id: key, type: 'KMS' as const },
        },
      };
      const far = (region: string): StageDeclaration => {
        const [action] = built().actions ?? [];
        return { name: 'Build', actions: [{ ...given(action, 'action'), region, namespace: 'BuildVariables' }] };
      };
      const two = (name: string): PipelineDeclaration => ({
        name,
        roleArn,
        artifactStores,
        stages: [bucket(), far('us-west-2')],
      });
      return {
        made: async () => {
          const { pipeline } = await c.createPipeline({ pipeline: two('regions') });
          assert.partialDeepStrictEqual(pipeline, two('regions'));
        },
        read: async () => {
          const { pipeline } = await c.getPipeline({ name: 'regions' });
          assert.deepEqual(pipeline?.artifactStores, artifactStores);
          assert.equal(pipeline.artifactStore ?? undefined, undefined);
          const action = pipeline.stages?.[1]?.actions?.[0];
          assert.deepEqual([action?.region, action?.namespace], ['us-west-2', 'BuildVariables']);
        },
        'not with one store and several': async () => {
          await denied(c.createPipeline({ pipeline: { ...two('both'), artifactStore } }), 480, 485);
          without(await pipelines(c), 'both');
        },
        'not with none': async () => {
          const { artifactStores: _, ...none } = two('none');
          await denied(c.createPipeline({ pipeline: none }), 480, 485);
          without(await pipelines(c), 'none');
        },
        'not in a region without a store': async () => {
          const pipeline = { ...two('afar'), stages: [bucket(), far('eu-west-1')] };
          await denied(c.createPipeline({ pipeline }), 480, 483, 485);
          without(await pipelines(c), 'afar');
        },
        'back to one region': async () => {
          const made = await c.updatePipeline({ pipeline: pipelineOf('regions') });
          assert.deepEqual([made.pipeline?.version, made.pipeline?.artifactStores ?? undefined], [2, undefined]);
          assert.deepEqual((await c.getPipeline({ name: 'regions' })).pipeline?.artifactStore, artifactStore);
        },
      };
    },

    'a credential that is refused': (c, s, another) => {
      const nobody = another('AKIANOBODYATALL00000');
      return {
        'a pipeline': async () => {
          await make(c, 'private');
          s.arn = await arnOf(c, 'private');
        },
        'not read by another': () => stranger(nobody.getPipeline({ name: 'private' })),
        'not listed by another': () => stranger(nobody.listPipelines({})),
        'nothing made by another': () => stranger(nobody.createPipeline({ pipeline: pipelineOf('intruder') })),
        'not started by another': () => stranger(nobody.startPipelineExecution({ name: 'private' })),
        'not deleted by another': () => stranger(nobody.deletePipeline({ name: 'private' })),
        'it is still there, as it was, and alone': async () => {
          assert.equal(await arnOf(c, 'private'), s.arn);
          assert.equal((await c.getPipeline({ name: 'private' })).pipeline?.version, 1);
          without(await pipelines(c), 'intruder');
        },
      };
    },

    'wrong requests, and what is not there': (c) => ({
      'names that are none': async () => {
        for (const name of ['no spaces here', 'x'.repeat(101)]) {
          await denied(c.createPipeline({ pipeline: pipelineOf(name) }), 480);
          without(await pipelines(c), name);
        }
      },
      'a pipeline of one stage, or that begins with no source': async () => {
        await denied(c.createPipeline({ pipeline: pipelineOf('wrong', [bucket()]) }), 480, 482, 485);
        await denied(c.createPipeline({ pipeline: pipelineOf('wrong', [built(), signed]) }), 480, 482, 483, 485);
      },
      'of two stages of one name, and of an artifact nobody makes': async () => {
        await denied(c.createPipeline({ pipeline: pipelineOf('wrong', [bucket(), built(), built()]) }), 480, 482, 483, 485);
        const [action] = built().actions ?? [];
        const inputArtifacts = [{ name: 'FromNowhere' }];
        const lost = { name: 'Build', actions: [{ ...given(action, 'action'), inputArtifacts }] };
        await denied(c.createPipeline({ pipeline: pipelineOf('wrong', [bucket(), lost]) }), 480, 483, 485);
        without(await pipelines(c), 'wrong');
      },
      'of an action nobody knows': async () => {
        await denied(c.createPipeline({ pipeline: pipelineOf('wrong', [cloned('repo'), signed]) }), 480, 483);
        without(await pipelines(c), 'wrong');
      },
      'a change that is wrong changes nothing': async () => {
        await make(c, 'right');
        await denied(c.updatePipeline({ pipeline: pipelineOf('right', [bucket()]) }), 480, 481, 484);
        const { pipeline } = await c.getPipeline({ name: 'right' });
        assert.deepEqual([pipeline?.version, pipeline?.stages?.length], [1, 2]);
      },
      'no approval of what nobody asked for': async () => {
        await make(c, 'signed', [bucket(), signed]);
        const asked = { pipelineName: 'signed', stageName: 'Approve', actionName: 'Sign', token: nowhere };
        const result = { status: 'Approved' as const, summary: 'yes' };
        await denied(c.putApprovalResult({ ...asked, result }), 480, 485);
        await denied(c.putApprovalResult({ ...asked, result, actionName: 'Seal' }), 480, 484);
        await denied(c.putApprovalResult({ ...asked, result, pipelineName: 'no-such-pipeline' }), 482);
      },
      'jobs that are not there': async () => {
        await denied(c.getJobDetails({ jobId: nowhere }), 481);
        await denied(c.acknowledgeJob({ jobId: nowhere, nonce: '1' }), 482);
        await denied(c.putJobSuccessResult({ jobId: nowhere }), 481);
        await denied(c.putJobFailureResult({ jobId: nowhere, failureDetails: { type: 'JobFailed', message: 'no' } }), 481);
      },
      'types that are not there': async () => {
        await denied(c.getActionType({ category: 'Build', owner: 'ThirdParty', provider: 'Nobody', version: '1' }), 480);
        await denied(c.pollForJobs({ actionTypeId: { ...gitType, provider: 'Nobody' } }), 481);
        const actionTypeId = { ...gitType, owner: 'ThirdParty' as const, provider: 'Nobody' };
        await denied(c.pollForThirdPartyJobs({ actionTypeId }), 480);
      },
      'deleting what is not there is no harm': () => c.deletePipeline({ name: 'no-such-pipeline' }),
    }),
  },
};
