import assert from 'node:assert/strict';
import {
  Backup,
  type BackupPlanInput,
  type BackupVaultEvent,
  type FrameworkControl,
  paginateListBackupJobs,
  paginateListBackupPlans,
  paginateListBackupPlanVersions,
  paginateListBackupSelections,
  paginateListBackupVaults,
  paginateListFrameworks,
  paginateListLegalHolds,
  paginateListReportJobs,
  paginateListReportPlans,
} from '@aws-sdk/client-backup';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Backup => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new Backup({
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
const denied = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 400, described);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
/** What deploys is asked for until it has, for a few seconds. */
const settled = async (status: () => Promise<string | undefined>): Promise<void> => {
  for (let turn = 0; turn < 15 && /PROGRESS/.test((await status()) ?? ''); turn += 1) {
    await new Promise((done) => setTimeout(done, 400));
  }
};

const nowhere = '00000000-dead-4000-8000-00000000beef';
/** Keys, roles, topics, buckets and what is backed up belong to other services: these are there before. */
const keyArn = 'arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const IamRoleArn = 'arn:aws:iam::123456789012:role/service-role/AWSBackupDefaultServiceRole';
const topicArn = 'arn:aws:sns:us-east-1:123456789012:backup-events';
const fileSystem = (id = 'fs-0123456789abcdef0'): string => `arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/${id}`;

const vault = async (b: Backup, BackupVaultName: string, BackupVaultTags?: Record<string, string>): Promise<string> => {
  const made = await b.createBackupVault({ BackupVaultName, ...(BackupVaultTags && { BackupVaultTags }) });
  return given(made.BackupVaultArn, 'BackupVaultArn');
};
const vaults = async (b: Backup, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListBackupVaults({ client: b, pageSize }, {}), (page) => page.BackupVaultList ?? []);
  return rows.map((row) => given(row.BackupVaultName, 'BackupVaultName'));
};
const planOf = (BackupPlanName: string, vaultName: string, days = 35): BackupPlanInput => ({
  BackupPlanName,
  Rules: [
    {
      RuleName: 'DailyBackups',
      TargetBackupVaultName: vaultName,
      ScheduleExpression: 'cron(0 5 ? * * *)',
      StartWindowMinutes: 480,
      CompletionWindowMinutes: 10080,
      Lifecycle: { DeleteAfterDays: days },
    },
  ],
});
const plan = async (b: Backup, name: string, vaultName: string): Promise<string> => {
  const made = await b.createBackupPlan({ BackupPlan: planOf(name, vaultName) });
  return given(made.BackupPlanId, 'BackupPlanId');
};
const plans = async (b: Backup, IncludeDeleted = false, pageSize = 100): Promise<string[]> => {
  const rows = await gather(
    paginateListBackupPlans({ client: b, pageSize }, { IncludeDeleted }),
    (page) => page.BackupPlansList ?? [],
  );
  return rows.map((row) => given(row.BackupPlanId, 'BackupPlanId'));
};
const job = async (b: Backup, BackupVaultName: string, ResourceArn = fileSystem()): Promise<string> => {
  const made = await b.startBackupJob({ BackupVaultName, ResourceArn, IamRoleArn, Lifecycle: { DeleteAfterDays: 30 } });
  return given(made.BackupJobId, 'BackupJobId');
};
type Asked = NonNullable<Parameters<Backup['listBackupJobs']>[0]>;
const jobs = async (b: Backup, asked: Asked, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListBackupJobs({ client: b, pageSize }, asked), (page) => page.BackupJobs ?? []);
  return rows.map((row) => given(row.BackupJobId, 'BackupJobId'));
};
const minimum = (unit: string, value: string): FrameworkControl => ({
  ControlName: 'BACKUP_PLAN_MIN_FREQUENCY_AND_MIN_RETENTION_CHECK',
  ControlInputParameters: [
    { ParameterName: 'requiredFrequencyUnit', ParameterValue: unit },
    { ParameterName: 'requiredFrequencyValue', ParameterValue: value },
    { ParameterName: 'requiredRetentionDays', ParameterValue: '35' },
  ],
});
const encrypted: FrameworkControl = { ControlName: 'BACKUP_RECOVERY_POINT_ENCRYPTED' };
const policyOf = (Action: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Deny', Principal: '*', Action, Resource: '*' }],
  });
const events: BackupVaultEvent[] = ['BACKUP_JOB_STARTED', 'BACKUP_JOB_COMPLETED', 'RESTORE_JOB_COMPLETED'];

/** Guide: docs.aws.amazon.com/aws-backup/latest/devguide (vaults, plans, assignments, vault lock, Audit Manager, legal holds) and its API reference. */
export const vendor: Vendor<Backup> = {
  document: 'backup/backup.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a vault, from the first to the last day': (b, s) => ({
      made: async () => {
        const made = await b.createBackupVault({
          BackupVaultName: 'life-vault',
          EncryptionKeyArn: keyArn,
          CreatorRequestId: 'first-1',
        });
        assert.equal(made.BackupVaultName, 'life-vault');
        assert.ok(made.CreationDate instanceof Date, 'it was made at no time');
        s.arn = given(made.BackupVaultArn, 'BackupVaultArn');
      },
      read: async () => {
        const read = await b.describeBackupVault({ BackupVaultName: 'life-vault' });
        assert.deepEqual(
          [read.BackupVaultName, read.BackupVaultArn, read.EncryptionKeyArn, read.CreatorRequestId],
          ['life-vault', s.arn, keyArn, 'first-1'],
        );
      },
      'it is empty, and not locked': async () => {
        const read = await b.describeBackupVault({ BackupVaultName: 'life-vault' });
        assert.deepEqual([read.NumberOfRecoveryPoints, read.Locked ?? false], [0, false]);
        const { RecoveryPoints } = await b.listRecoveryPointsByBackupVault({ BackupVaultName: 'life-vault' });
        assert.deepEqual(RecoveryPoints ?? [], []);
      },
      'its name is taken': () => denied(b.createBackupVault({ BackupVaultName: 'life-vault' }), 484),
      'is in the list': async () => once(await vaults(b), ['life-vault'], 'vaults'),
      deleted: () => b.deleteBackupVault({ BackupVaultName: 'life-vault' }),
      gone: () => denied(b.describeBackupVault({ BackupVaultName: 'life-vault' }), 480),
      'no longer in the list': async () => without(await vaults(b), 'life-vault'),
    }),

    'vaults through all pages': (b, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await vault(b, `page-${letter}`);
      },
      'no more on a page than asked for': async () => {
        const page = await b.listBackupVaults({ MaxResults: 2 });
        assert.ok(given(page.BackupVaultList, 'BackupVaultList').length <= 2, 'more than two');
        given(page.NextToken, 'NextToken');
      },
      'all of them, each once': async () => {
        const rows = await vaults(b, 2);
        once(rows, [...new Set(rows), 'page-a', 'page-b', 'page-c', 'page-d', 'page-e'], 'vaults');
      },
      'each with its own ARN': async () => {
        const rows = await gather(paginateListBackupVaults({ client: b }, {}), (page) => page.BackupVaultList ?? []);
        const row = rows.find(({ BackupVaultName }) => BackupVaultName === 'page-c');
        assert.deepEqual([row?.BackupVaultArn, row?.NumberOfRecoveryPoints], [s.c, 0]);
      },
      'one less': async () => {
        await b.deleteBackupVault({ BackupVaultName: 'page-b' });
        const rows = await vaults(b, 2);
        once(rows, ['page-a', 'page-c', 'page-d', 'page-e'], 'vaults');
        without(rows, 'page-b');
      },
    }),

    'who may use a vault, and who is told': (b, s) => ({
      'nobody in particular, at first': async () => {
        s.arn = await vault(b, 'policy-vault');
        await denied(b.getBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault' }), 480);
        await denied(b.getBackupVaultNotifications({ BackupVaultName: 'policy-vault' }), 480);
      },
      'it is given a policy': async () => {
        await b.putBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault', Policy: policyOf('backup:DeleteRecoveryPoint') });
        const read = await b.getBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault' });
        assert.deepEqual([read.BackupVaultName, read.BackupVaultArn], ['policy-vault', s.arn]);
        assert.deepEqual(JSON.parse(given(read.Policy, 'Policy')), JSON.parse(policyOf('backup:DeleteRecoveryPoint')));
      },
      'another in its place': async () => {
        await b.putBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault', Policy: policyOf('backup:StartCopyJob') });
        const { Policy } = await b.getBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault' });
        assert.deepEqual(JSON.parse(given(Policy, 'Policy')), JSON.parse(policyOf('backup:StartCopyJob')));
      },
      'taken away': async () => {
        await b.deleteBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault' });
        await denied(b.getBackupVaultAccessPolicy({ BackupVaultName: 'policy-vault' }), 480);
      },
      'a topic is told': async () => {
        await b.putBackupVaultNotifications({
          BackupVaultName: 'policy-vault',
          SNSTopicArn: topicArn,
          BackupVaultEvents: events,
        });
        const read = await b.getBackupVaultNotifications({ BackupVaultName: 'policy-vault' });
        assert.deepEqual([read.BackupVaultName, read.BackupVaultArn, read.SNSTopicArn], ['policy-vault', s.arn, topicArn]);
        assert.deepEqual(given(read.BackupVaultEvents, 'BackupVaultEvents').toSorted(), events.toSorted());
      },
      'of less': async () => {
        const BackupVaultEvents: BackupVaultEvent[] = ['BACKUP_JOB_COMPLETED'];
        await b.putBackupVaultNotifications({ BackupVaultName: 'policy-vault', SNSTopicArn: topicArn, BackupVaultEvents });
        const read = await b.getBackupVaultNotifications({ BackupVaultName: 'policy-vault' });
        assert.deepEqual(read.BackupVaultEvents, BackupVaultEvents);
      },
      'not of what never happens': () => {
        const BackupVaultEvents = ['BACKUP_JOB_SNEEZED' as BackupVaultEvent];
        return denied(
          b.putBackupVaultNotifications({ BackupVaultName: 'policy-vault', SNSTopicArn: topicArn, BackupVaultEvents }),
          481,
        );
      },
      'nobody again, and the vault is still there': async () => {
        await b.deleteBackupVaultNotifications({ BackupVaultName: 'policy-vault' });
        await denied(b.getBackupVaultNotifications({ BackupVaultName: 'policy-vault' }), 480);
        assert.equal((await b.describeBackupVault({ BackupVaultName: 'policy-vault' })).BackupVaultArn, s.arn);
      },
      'neither for a vault that is not there': async () => {
        const BackupVaultName = 'no-such-vault';
        await denied(b.putBackupVaultAccessPolicy({ BackupVaultName, Policy: policyOf('backup:StartCopyJob') }), 480);
        await denied(b.putBackupVaultNotifications({ BackupVaultName, SNSTopicArn: topicArn, BackupVaultEvents: events }), 480);
      },
    }),

    'a vault is locked': (b) => ({
      'a vault': () => vault(b, 'locked-vault'),
      locked: () =>
        b.putBackupVaultLockConfiguration({ BackupVaultName: 'locked-vault', MinRetentionDays: 7, MaxRetentionDays: 365 }),
      'it says so': async () => {
        const read = await b.describeBackupVault({ BackupVaultName: 'locked-vault' });
        assert.deepEqual([read.Locked, read.MinRetentionDays, read.MaxRetentionDays, read.LockDate], [true, 7, 365, undefined]);
      },
      'for good, after some days': async () => {
        const how = { BackupVaultName: 'locked-vault', MinRetentionDays: 30, MaxRetentionDays: 365, ChangeableForDays: 4 };
        await b.putBackupVaultLockConfiguration(how);
        const read = await b.describeBackupVault({ BackupVaultName: 'locked-vault' });
        assert.deepEqual([read.Locked, read.MinRetentionDays], [true, 30]);
        const days = (given(read.LockDate, 'LockDate').getTime() - Date.now()) / 86_400_000;
        assert.ok(days > 3.9 && days < 4.1, `in ${days} days, not in 4`);
      },
      'not after fewer than three': () =>
        denied(
          b.putBackupVaultLockConfiguration({ BackupVaultName: 'locked-vault', MinRetentionDays: 30, ChangeableForDays: 1 }),
          481,
        ),
      'unlocked before that day': async () => {
        await b.deleteBackupVaultLockConfiguration({ BackupVaultName: 'locked-vault' });
        const read = await b.describeBackupVault({ BackupVaultName: 'locked-vault' });
        assert.deepEqual([read.Locked ?? false, read.MinRetentionDays, read.LockDate], [false, undefined, undefined]);
      },
      'no lock for a vault that is not there': () =>
        denied(b.putBackupVaultLockConfiguration({ BackupVaultName: 'no-such-vault', MinRetentionDays: 7 }), 480),
    }),

    'a plan and its versions': (b, s) => ({
      made: async () => {
        await vault(b, 'plan-vault');
        const made = await b.createBackupPlan({ BackupPlan: planOf('daily-35-days', 'plan-vault'), CreatorRequestId: 'plan-1' });
        s.plan = given(made.BackupPlanId, 'BackupPlanId');
        s.arn = given(made.BackupPlanArn, 'BackupPlanArn');
        s.first = given(made.VersionId, 'VersionId');
      },
      read: async () => {
        const read = await b.getBackupPlan({ BackupPlanId: s.plan });
        assert.deepEqual(
          [read.BackupPlanId, read.BackupPlanArn, read.VersionId, read.CreatorRequestId],
          [s.plan, s.arn, s.first, 'plan-1'],
        );
        assert.partialDeepStrictEqual(read.BackupPlan, planOf('daily-35-days', 'plan-vault'));
        given(read.BackupPlan?.Rules?.[0]?.RuleId, 'RuleId');
      },
      'changed, it has another version': async () => {
        const made = await b.updateBackupPlan({ BackupPlanId: s.plan, BackupPlan: planOf('daily-90-days', 'plan-vault', 90) });
        assert.deepEqual([made.BackupPlanId, made.BackupPlanArn], [s.plan, s.arn]);
        s.second = given(made.VersionId, 'VersionId');
        assert.notEqual(s.second, s.first);
      },
      'that is the one it has now': async () => {
        const read = await b.getBackupPlan({ BackupPlanId: s.plan });
        assert.equal(read.VersionId, s.second);
        assert.partialDeepStrictEqual(read.BackupPlan, planOf('daily-90-days', 'plan-vault', 90));
      },
      'the first can still be read': async () => {
        const read = await b.getBackupPlan({ BackupPlanId: s.plan, VersionId: s.first });
        assert.equal(read.VersionId, s.first);
        assert.partialDeepStrictEqual(read.BackupPlan, planOf('daily-35-days', 'plan-vault'));
      },
      'both are listed': async () => {
        const pages = paginateListBackupPlanVersions({ client: b, pageSize: 1 }, { BackupPlanId: s.plan });
        const rows = await gather(pages, (page) => page.BackupPlanVersionsList ?? []);
        once(
          rows.map((row) => `${row.BackupPlanId} ${row.VersionId} ${row.BackupPlanName}`),
          [`${s.plan} ${s.first} daily-35-days`, `${s.plan} ${s.second} daily-90-days`],
          'versions',
        );
      },
      'as a template, and a plan again': async () => {
        const { BackupPlanTemplateJson } = await b.exportBackupPlanTemplate({ BackupPlanId: s.plan });
        const { BackupPlan } = await b.getBackupPlanFromJSON({
          BackupPlanTemplateJson: given(BackupPlanTemplateJson, 'template'),
        });
        assert.partialDeepStrictEqual(BackupPlan, planOf('daily-90-days', 'plan-vault', 90));
      },
      'no template is made of what is no plan': () =>
        denied(b.getBackupPlanFromJSON({ BackupPlanTemplateJson: '{ "BackupPlanName": ' }), 481),
    }),

    'plans through all pages, and one that is deleted': (b, s) => ({
      'three are made': async () => {
        await vault(b, 'plans-vault');
        for (const at of ['1', '2', '3']) s[`p${at}`] = await plan(b, `plan-${at}`, 'plans-vault');
      },
      'all of them, each once': async () => once(await plans(b, false, 1), [s.p1, s.p2, s.p3], 'plans'),
      'each with its name and version': async () => {
        const rows = (await b.listBackupPlans({})).BackupPlansList ?? [];
        const read = await b.getBackupPlan({ BackupPlanId: s.p2 });
        const row = rows.find(({ BackupPlanId }) => BackupPlanId === s.p2);
        assert.deepEqual(
          [row?.BackupPlanName, row?.VersionId, row?.BackupPlanArn],
          ['plan-2', read.VersionId, read.BackupPlanArn],
        );
      },
      'one is deleted': async () => {
        const gone = await b.deleteBackupPlan({ BackupPlanId: s.p2 });
        assert.equal(gone.BackupPlanId, s.p2);
        assert.ok(gone.DeletionDate instanceof Date, 'it was deleted at no time');
      },
      'it is no longer listed': async () => {
        const rows = await plans(b, false, 1);
        once(rows, [s.p1, s.p3], 'plans');
        without(rows, s.p2);
      },
      'but among those deleted': async () => {
        const rows = (await b.listBackupPlans({ IncludeDeleted: true })).BackupPlansList ?? [];
        assert.ok(rows.find(({ BackupPlanId }) => BackupPlanId === s.p2)?.DeletionDate instanceof Date, 'it is not');
        assert.equal(rows.find(({ BackupPlanId }) => BackupPlanId === s.p1)?.DeletionDate, undefined);
      },
      'it is not changed any more': () =>
        denied(b.updateBackupPlan({ BackupPlanId: s.p2, BackupPlan: planOf('late', 'plans-vault') }), 480),
    }),

    'what a plan backs up': (b, s) => ({
      'a plan': async () => {
        await vault(b, 'selection-vault');
        s.plan = await plan(b, 'selecting', 'selection-vault');
      },
      'two selections are made': async () => {
        const byTag = { ConditionType: 'STRINGEQUALS' as const, ConditionKey: 'backup', ConditionValue: 'daily' };
        const one = await b.createBackupSelection({
          BackupPlanId: s.plan,
          BackupSelection: { SelectionName: 'by-tag', IamRoleArn, ListOfTags: [byTag] },
          CreatorRequestId: 'selection-1',
        });
        assert.equal(one.BackupPlanId, s.plan);
        s.one = given(one.SelectionId, 'SelectionId');
        const Conditions = { StringEquals: [{ ConditionKey: 'aws:ResourceTag/stage', ConditionValue: 'live' }] };
        const BackupSelection = {
          SelectionName: 'all-but-one',
          IamRoleArn,
          Resources: ['*'],
          NotResources: [fileSystem()],
          Conditions,
        };
        const two = await b.createBackupSelection({ BackupPlanId: s.plan, BackupSelection });
        s.two = given(two.SelectionId, 'SelectionId');
      },
      'the first is read': async () => {
        const read = await b.getBackupSelection({ BackupPlanId: s.plan, SelectionId: s.one });
        assert.deepEqual([read.SelectionId, read.BackupPlanId, read.CreatorRequestId], [s.one, s.plan, 'selection-1']);
        assert.partialDeepStrictEqual(read.BackupSelection, {
          SelectionName: 'by-tag',
          IamRoleArn,
          ListOfTags: [{ ConditionType: 'STRINGEQUALS', ConditionKey: 'backup', ConditionValue: 'daily' }],
        });
      },
      'the second is read': async () => {
        const { BackupSelection } = await b.getBackupSelection({ BackupPlanId: s.plan, SelectionId: s.two });
        assert.partialDeepStrictEqual(BackupSelection, {
          SelectionName: 'all-but-one',
          Resources: ['*'],
          NotResources: [fileSystem()],
          Conditions: { StringEquals: [{ ConditionKey: 'aws:ResourceTag/stage', ConditionValue: 'live' }] },
        });
      },
      'both are listed': async () => {
        const pages = paginateListBackupSelections({ client: b, pageSize: 1 }, { BackupPlanId: s.plan });
        const rows = await gather(pages, (page) => page.BackupSelectionsList ?? []);
        once(
          rows.map((row) => `${row.SelectionId} ${row.SelectionName} ${row.BackupPlanId} ${row.IamRoleArn}`),
          [`${s.one} by-tag ${s.plan} ${IamRoleArn}`, `${s.two} all-but-one ${s.plan} ${IamRoleArn}`],
          'selections',
        );
      },
      'the plan is not deleted before them': () => denied(b.deleteBackupPlan({ BackupPlanId: s.plan }), 484),
      'one is deleted, and gone': async () => {
        await b.deleteBackupSelection({ BackupPlanId: s.plan, SelectionId: s.one });
        await denied(b.getBackupSelection({ BackupPlanId: s.plan, SelectionId: s.one }), 480);
      },
      'the other too, and then the plan': async () => {
        await b.deleteBackupSelection({ BackupPlanId: s.plan, SelectionId: s.two });
        assert.equal((await b.deleteBackupPlan({ BackupPlanId: s.plan })).BackupPlanId, s.plan);
      },
    }),

    'tags of a vault and a plan': (b, s) => ({
      'a vault with one': async () => {
        s.vault = await vault(b, 'tagged-vault', { stage: 'test' });
        assert.deepEqual((await b.listTags({ ResourceArn: s.vault })).Tags, { stage: 'test' });
      },
      'two more': async () => {
        await b.tagResource({ ResourceArn: s.vault, Tags: { team: 'storage', cost: '42' } });
        assert.deepEqual((await b.listTags({ ResourceArn: s.vault })).Tags, { stage: 'test', team: 'storage', cost: '42' });
      },
      'one has another value': async () => {
        await b.tagResource({ ResourceArn: s.vault, Tags: { stage: 'live' } });
        assert.equal((await b.listTags({ ResourceArn: s.vault })).Tags?.stage, 'live');
      },
      'two are taken away': async () => {
        await b.untagResource({ ResourceArn: s.vault, TagKeyList: ['team', 'cost'] });
        assert.deepEqual((await b.listTags({ ResourceArn: s.vault })).Tags, { stage: 'live' });
      },
      'a plan has its own': async () => {
        const BackupPlanTags = { owner: 'ops' };
        const made = await b.createBackupPlan({ BackupPlan: planOf('tagged-plan', 'tagged-vault'), BackupPlanTags });
        assert.deepEqual((await b.listTags({ ResourceArn: given(made.BackupPlanArn, 'BackupPlanArn') })).Tags, BackupPlanTags);
      },
      'what is not there has none': () => denied(b.listTags({ ResourceArn: `${s.vault}-not-there` }), 480),
    }),

    'a framework, from the first to the last day': (b, s) => ({
      made: async () => {
        const made = await b.createFramework({
          FrameworkName: 'Audit_daily',
          FrameworkDescription: 'daily backups, kept 35 days',
          FrameworkControls: [minimum('days', '1'), encrypted],
        });
        assert.equal(made.FrameworkName, 'Audit_daily');
        s.arn = given(made.FrameworkArn, 'FrameworkArn');
      },
      read: async () => {
        const read = await b.describeFramework({ FrameworkName: 'Audit_daily' });
        assert.deepEqual(
          [read.FrameworkName, read.FrameworkArn, read.FrameworkDescription],
          ['Audit_daily', s.arn, 'daily backups, kept 35 days'],
        );
        assert.partialDeepStrictEqual(read.FrameworkControls, [minimum('days', '1'), encrypted]);
        oneOf(read.DeploymentStatus, 'CREATE_IN_PROGRESS', 'COMPLETED');
      },
      'its name is taken': () => denied(b.createFramework({ FrameworkName: 'Audit_daily', FrameworkControls: [encrypted] }), 480),
      'is in the list, with the number of its controls': async () => {
        const rows = await gather(paginateListFrameworks({ client: b, pageSize: 1 }, {}), ({ Frameworks }) => Frameworks ?? []);
        once(
          rows.map((row) => `${row.FrameworkName} ${row.FrameworkArn} ${row.NumberOfControls}`),
          [`Audit_daily ${s.arn} 2`],
          'frameworks',
        );
      },
      'changed, when it is deployed': async () => {
        await settled(async () => (await b.describeFramework({ FrameworkName: 'Audit_daily' })).DeploymentStatus);
        const how = { FrameworkDescription: 'half-daily', FrameworkControls: [minimum('hours', '12')] };
        const made = await b.updateFramework({ FrameworkName: 'Audit_daily', ...how });
        assert.deepEqual([made.FrameworkName, made.FrameworkArn], ['Audit_daily', s.arn]);
      },
      'it has one control': async () => {
        const read = await b.describeFramework({ FrameworkName: 'Audit_daily' });
        assert.deepEqual([read.FrameworkDescription, read.FrameworkControls?.length], ['half-daily', 1]);
        assert.partialDeepStrictEqual(read.FrameworkControls, [minimum('hours', '12')]);
      },
      'deleted, and gone after a while': async () => {
        const status = async () => (await b.describeFramework({ FrameworkName: 'Audit_daily' })).DeploymentStatus;
        await settled(status);
        await b.deleteFramework({ FrameworkName: 'Audit_daily' });
        await denied(settled(status).then(status), 480);
      },
    }),

    'reports: a plan and its jobs': (b, s) => ({
      made: async () => {
        const made = await b.createReportPlan({
          ReportPlanName: 'jobs_report',
          ReportPlanDescription: 'all backup jobs',
          ReportDeliveryChannel: { S3BucketName: 'my-reports', S3KeyPrefix: 'backup', Formats: ['CSV', 'JSON'] },
          ReportSetting: { ReportTemplate: 'BACKUP_JOB_REPORT' },
        });
        assert.equal(made.ReportPlanName, 'jobs_report');
        s.arn = given(made.ReportPlanArn, 'ReportPlanArn');
      },
      read: async () => {
        const { ReportPlan } = await b.describeReportPlan({ ReportPlanName: 'jobs_report' });
        assert.partialDeepStrictEqual(ReportPlan, {
          ReportPlanName: 'jobs_report',
          ReportPlanArn: s.arn,
          ReportPlanDescription: 'all backup jobs',
          ReportDeliveryChannel: { S3BucketName: 'my-reports', S3KeyPrefix: 'backup', Formats: ['CSV', 'JSON'] },
          ReportSetting: { ReportTemplate: 'BACKUP_JOB_REPORT' },
        });
      },
      'is in the list': async () => {
        const rows = await gather(
          paginateListReportPlans({ client: b, pageSize: 1 }, {}),
          ({ ReportPlans }) => ReportPlans ?? [],
        );
        once(
          rows.map(({ ReportPlanName }) => given(ReportPlanName, 'ReportPlanName')),
          ['jobs_report'],
          'report plans',
        );
      },
      'changed, when it is deployed': async () => {
        await settled(async () => (await b.describeReportPlan({ ReportPlanName: 'jobs_report' })).ReportPlan?.DeploymentStatus);
        await b.updateReportPlan({ ReportPlanName: 'jobs_report', ReportPlanDescription: 'every backup job' });
        const { ReportPlan } = await b.describeReportPlan({ ReportPlanName: 'jobs_report' });
        assert.deepEqual([ReportPlan?.ReportPlanDescription, ReportPlan?.ReportPlanArn], ['every backup job', s.arn]);
        assert.equal(ReportPlan?.ReportDeliveryChannel?.S3BucketName, 'my-reports');
      },
      'a report is asked for': async () => {
        s.job = given((await b.startReportJob({ ReportPlanName: 'jobs_report' })).ReportJobId, 'ReportJobId');
        const { ReportJob } = await b.describeReportJob({ ReportJobId: s.job });
        assert.deepEqual([ReportJob?.ReportJobId, ReportJob?.ReportPlanArn], [s.job, s.arn]);
        oneOf(ReportJob?.Status, 'CREATED', 'RUNNING', 'COMPLETED', 'FAILED');
      },
      'it is among the jobs of that plan': async () => {
        const pages = paginateListReportJobs({ client: b, pageSize: 1 }, { ByReportPlanName: 'jobs_report' });
        const rows = await gather(pages, ({ ReportJobs }) => ReportJobs ?? []);
        once(
          rows.map(({ ReportJobId }) => given(ReportJobId, 'ReportJobId')),
          [s.job],
          'jobs',
        );
        for (const row of rows) assert.equal(row.ReportPlanArn, s.arn);
      },
      'no report of a plan that is not there': () => denied(b.startReportJob({ ReportPlanName: 'no_such_plan' }), 483),
      'deleted, and gone after a while': async () => {
        const status = async () => (await b.describeReportPlan({ ReportPlanName: 'jobs_report' })).ReportPlan?.DeploymentStatus;
        await settled(status);
        await b.deleteReportPlan({ ReportPlanName: 'jobs_report' });
        await denied(settled(status).then(status), 482);
      },
    }),

    'a legal hold is made and cancelled': (b, s) => ({
      made: async () => {
        await vault(b, 'held-vault');
        const DateRange = { FromDate: new Date('2026-01-01T00:00:00Z'), ToDate: new Date('2026-03-31T00:00:00Z') };
        const made = await b.createLegalHold({
          Title: 'Case 17',
          Description: 'kept for the court',
          RecoveryPointSelection: { VaultNames: ['held-vault'], DateRange },
        });
        assert.deepEqual([made.Title, made.Description], ['Case 17', 'kept for the court']);
        oneOf(made.Status, 'CREATING', 'ACTIVE');
        s.hold = given(made.LegalHoldId, 'LegalHoldId');
        s.arn = given(made.LegalHoldArn, 'LegalHoldArn');
      },
      read: async () => {
        const read = await b.getLegalHold({ LegalHoldId: s.hold });
        assert.deepEqual([read.Title, read.Description, read.LegalHoldArn], ['Case 17', 'kept for the court', s.arn]);
        assert.deepEqual(read.RecoveryPointSelection?.VaultNames, ['held-vault']);
        assert.deepEqual(read.RecoveryPointSelection?.DateRange?.FromDate, new Date('2026-01-01T00:00:00Z'));
      },
      'is in the list': async () => {
        const rows = await gather(paginateListLegalHolds({ client: b, pageSize: 1 }, {}), ({ LegalHolds }) => LegalHolds ?? []);
        once(
          rows.map((row) => `${row.LegalHoldId} ${row.Title}`),
          [`${s.hold} Case 17`],
          'holds',
        );
      },
      'it holds nothing yet': async () =>
        assert.deepEqual((await b.listRecoveryPointsByLegalHold({ LegalHoldId: s.hold })).RecoveryPoints ?? [], []),
      cancelled: async () => {
        await settled(async () =>
          (await b.getLegalHold({ LegalHoldId: s.hold })).Status === 'CREATING' ? 'IN_PROGRESS' : 'DONE',
        );
        await b.cancelLegalHold({ LegalHoldId: s.hold, CancelDescription: 'the case is closed' });
      },
      'it says so, and why': async () => {
        const read = await b.getLegalHold({ LegalHoldId: s.hold });
        oneOf(read.Status, 'CANCELING', 'CANCELED');
        assert.equal(read.CancelDescription, 'the case is closed');
      },
      'what is not there is not cancelled': () =>
        denied(b.cancelLegalHold({ LegalHoldId: nowhere, CancelDescription: 'never was' }), 484),
    }),

    'backups on demand': (b, s) => ({
      'two in one vault, one in another': async () => {
        await vault(b, 'jobs-vault');
        await vault(b, 'other-vault');
        s.one = await job(b, 'jobs-vault');
        s.two = await job(b, 'jobs-vault', fileSystem('fs-0fedcba9876543210'));
        s.three = await job(b, 'other-vault');
      },
      'one is read': async () => {
        const read = await b.describeBackupJob({ BackupJobId: s.one });
        assert.deepEqual(
          [read.BackupJobId, read.BackupVaultName, read.ResourceArn, read.IamRoleArn],
          [s.one, 'jobs-vault', fileSystem(), IamRoleArn],
        );
        oneOf(read.State, 'CREATED', 'PENDING', 'RUNNING', 'COMPLETED');
        assert.ok(read.CreationDate instanceof Date, 'it was made at no time');
      },
      'those of the vault, through all pages': async () => {
        const rows = await jobs(b, { ByBackupVaultName: 'jobs-vault' }, 1);
        once(rows, [s.one, s.two], 'jobs');
        without(rows, s.three);
      },
      'those of the file system': async () => {
        const rows = await jobs(b, { ByResourceArn: fileSystem() });
        once(rows, [s.one, s.three], 'jobs');
        without(rows, s.two);
      },
      'those of file systems, and of volumes': async () => {
        assert.equal((await b.describeBackupJob({ BackupJobId: s.one })).ResourceType, 'EFS');
        once(await jobs(b, { ByResourceType: 'EFS' }), [s.one, s.two, s.three], 'jobs');
        without(await jobs(b, { ByResourceType: 'EBS' }), s.one);
      },
      'those of the last hour, and of the one before': async () => {
        const ByCreatedAfter = new Date(Date.now() - 3_600_000);
        once(await jobs(b, { ByCreatedAfter }), [s.one, s.two, s.three], 'jobs');
        without(await jobs(b, { ByCreatedBefore: ByCreatedAfter }), s.one);
      },
      'one is stopped': async () => {
        await b.stopBackupJob({ BackupJobId: s.one });
        oneOf((await b.describeBackupJob({ BackupJobId: s.one })).State, 'ABORTING', 'ABORTED');
      },
      'it is not among those that fail': async () => without(await jobs(b, { ByState: 'FAILED' }), s.one),
      'none into a vault that is not there': () =>
        denied(b.startBackupJob({ BackupVaultName: 'no-such-vault', ResourceArn: fileSystem(), IamRoleArn }), 480),
    }),

    'a credential that is refused': (b, s, another) => ({
      'a vault': async () => {
        s.arn = await vault(b, 'guarded-vault');
      },
      'not read by another': () =>
        stranger(another('AKIANOBODYATALL00000').describeBackupVault({ BackupVaultName: 'guarded-vault' })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listBackupVaults({})),
      'nothing made by another': () =>
        stranger(another('AKIANOBODYATALL00000').createBackupVault({ BackupVaultName: 'intruder-vault' })),
      'not deleted by another': () =>
        stranger(another('AKIANOBODYATALL00000').deleteBackupVault({ BackupVaultName: 'guarded-vault' })),
      'it is still there, and alone': async () => {
        assert.equal((await b.describeBackupVault({ BackupVaultName: 'guarded-vault' })).BackupVaultArn, s.arn);
        without(await vaults(b), 'intruder-vault');
      },
    }),

    'wrong requests, and what is not there': (b) => ({
      'a vault of forbidden letters': async () => {
        await denied(b.createBackupVault({ BackupVaultName: 'no spaces here' }), 480);
        without(await vaults(b), 'no spaces here');
      },
      'a plan without a rule for a vault': async () => {
        const Rules = [{ RuleName: 'nowhere', TargetBackupVaultName: undefined }];
        await refused(b.createBackupPlan({ BackupPlan: { BackupPlanName: 'wrong', Rules } }), 400, 482, 483);
      },
      'cold for less than ninety days': async () => {
        await vault(b, 'wrong-vault');
        const [rule] = planOf('wrong', 'wrong-vault').Rules ?? [];
        const Rules = [{ ...given(rule, 'rule'), Lifecycle: { MoveToColdStorageAfterDays: 30, DeleteAfterDays: 60 } }];
        await denied(b.createBackupPlan({ BackupPlan: { BackupPlanName: 'wrong', Rules } }), 482);
        const rows = (await b.listBackupPlans({})).BackupPlansList ?? [];
        assert.ok(!rows.some(({ BackupPlanName }) => BackupPlanName === 'wrong'), 'it was made');
      },
      'a framework whose name begins with a digit': () =>
        denied(b.createFramework({ FrameworkName: '1st', FrameworkControls: [encrypted] }), 482),
      'a page of no rows': () => denied(b.listBackupVaults({ MaxResults: 0 }), 481),
      'what is not there is not read': async () => {
        await denied(b.getBackupPlan({ BackupPlanId: nowhere }), 480);
        await denied(b.describeBackupJob({ BackupJobId: nowhere }), 480);
        await denied(b.getLegalHold({ LegalHoldId: nowhere }), 483);
        await denied(b.describeFramework({ FrameworkName: 'no_such_framework' }), 480);
      },
      'nor changed, nor deleted': async () => {
        await denied(b.updateBackupPlan({ BackupPlanId: nowhere, BackupPlan: planOf('late', 'wrong-vault') }), 480);
        await denied(b.deleteBackupVault({ BackupVaultName: 'no-such-vault' }), 480);
        await denied(b.deleteReportPlan({ ReportPlanName: 'no_such_plan' }), 484);
      },
    }),
  },
};
