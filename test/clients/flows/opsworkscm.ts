import assert from 'node:assert/strict';
import {
  type Backup,
  type CreateServerRequest,
  OpsWorksCM,
  paginateDescribeBackups,
  paginateDescribeEvents,
  paginateDescribeServers,
  paginateListTagsForResource,
  type Server,
  type Tag,
  waitUntilNodeAssociated,
} from '@aws-sdk/client-opsworkscm';
import { gather, given, once, type Place, refused, statusOf, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): OpsWorksCM => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new OpsWorksCM({
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
/** The guide's common errors have 403 for a key that is not known; services of this protocol also say it with a 400 and a name. */
const stranger = async (call: Promise<unknown>): Promise<void> => {
  const thrown = (await refused(call, 400, 401, 403)) as Error;
  if (statusOf(thrown) === 400)
    assert.match(thrown.name, /UnrecognizedClient|InvalidClientTokenId|Signature|AccessDenied|NotAuthorized/);
};

const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 200));
const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
/** Asked for until it is no longer there, for a few seconds; then it has to be gone. */
const gone = async (ask: () => Promise<unknown>, ...described: readonly number[]): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) {
    const there = await ask().then(
      () => true,
      () => false,
    );
    if (!there) break;
    await pause();
  }
  await denied(ask(), ...described);
};

/** Roles, profiles, keys, subnets and security groups belong to other services: these are there before. */
const InstanceProfileArn = 'arn:aws:iam::123456789012:instance-profile/aws-opsworks-cm-ec2-role';
const ServiceRoleArn = 'arn:aws:iam::123456789012:role/service-role/aws-opsworks-cm-service-role';
const password = 'Zz9!example-Pw_1';
const publicKey = [
  '-----BEGIN PUBLIC KEY-----',
  'MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf',
  '9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQ==',
  '-----END PUBLIC KEY-----',
].join('\n');

const chef = (ServerName: string, more: Partial<CreateServerRequest> = {}): CreateServerRequest => ({
  ServerName,
  Engine: 'ChefAutomate',
  EngineModel: 'Single',
  EngineVersion: '2',
  InstanceProfileArn,
  InstanceType: 'm5.large',
  ServiceRoleArn,
  ...more,
});
const serverOf = async (c: OpsWorksCM, ServerName: string): Promise<Server> => {
  const { Servers } = await c.describeServers({ ServerName });
  assert.deepEqual(
    (Servers ?? []).map((row) => row.ServerName),
    [ServerName],
  );
  return given(Servers?.[0], 'server');
};
/** What is in progress is waited for, for a few seconds. */
const ready = async (c: OpsWorksCM, ServerName: string): Promise<Server> => {
  let server = await serverOf(c, ServerName);
  for (let turn = 0; turn < 10 && server.Status !== 'HEALTHY'; turn += 1) {
    await pause();
    server = await serverOf(c, ServerName);
  }
  return server;
};
/** A server that can be worked with; its ARN. */
const launched = async (c: OpsWorksCM, name: string, more: Partial<CreateServerRequest> = {}): Promise<string> => {
  const { Server } = await c.createServer(chef(name, more));
  await ready(c, name);
  return given(Server?.ServerArn, 'ServerArn');
};
const servers = async (c: OpsWorksCM, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateDescribeServers({ client: c, pageSize }, {}), (page) => page.Servers ?? []);
  return rows.map((row) => given(row.ServerName, 'ServerName'));
};

const backupOf = async (c: OpsWorksCM, BackupId: string): Promise<Backup> => {
  const { Backups } = await c.describeBackups({ BackupId });
  assert.deepEqual(
    (Backups ?? []).map((row) => row.BackupId),
    [BackupId],
  );
  return given(Backups?.[0], 'backup');
};
const saved = async (c: OpsWorksCM, BackupId: string): Promise<Backup> => {
  let backup = await backupOf(c, BackupId);
  for (let turn = 0; turn < 10 && backup.Status === 'IN_PROGRESS'; turn += 1) {
    await pause();
    backup = await backupOf(c, BackupId);
  }
  return backup;
};
/** A backup that is done, of a server that can be worked with again; its id. */
const backup = async (c: OpsWorksCM, ServerName: string, Description?: string): Promise<string> => {
  const made = await c.createBackup({ ServerName, ...(Description !== undefined && { Description }) });
  const id = given(made.Backup?.BackupId, 'BackupId');
  await saved(c, id);
  await ready(c, ServerName);
  return id;
};
const backups = async (c: OpsWorksCM, ServerName?: string, pageSize = 100): Promise<string[]> => {
  const asked = ServerName === undefined ? {} : { ServerName };
  const rows = await gather(paginateDescribeBackups({ client: c, pageSize }, asked), (page) => page.Backups ?? []);
  return rows.map((row) => given(row.BackupId, 'BackupId'));
};

/** How an association goes, or how it went, a few seconds later. */
const associated = async (
  c: OpsWorksCM,
  ServerName: string,
  NodeAssociationStatusToken: string | undefined,
): Promise<string | undefined> => {
  const asked = { ServerName, NodeAssociationStatusToken };
  let status = (await c.describeNodeAssociationStatus(asked)).NodeAssociationStatus;
  for (let turn = 0; turn < 10 && status === 'IN_PROGRESS'; turn += 1) {
    await pause();
    status = (await c.describeNodeAssociationStatus(asked)).NodeAssociationStatus;
  }
  return status;
};

const tagsOf = async (c: OpsWorksCM, ResourceArn: string, pageSize = 50): Promise<Record<string, string>> => {
  const rows = await gather(paginateListTagsForResource({ client: c, pageSize }, { ResourceArn }), (page) => page.Tags ?? []);
  const keys = rows.map(({ Key }) => given(Key, 'Key'));
  once(keys, keys, 'tags');
  return Object.fromEntries(rows.map(({ Key, Value }) => [Key, Value]));
};
const tags = (all: Record<string, string>): Tag[] => Object.entries(all).map(([Key, Value]) => ({ Key, Value }));

const attribute = async (c: OpsWorksCM, name: string): Promise<{ used: number; most: number }> => {
  const rows = ((await c.describeAccountAttributes({})).Attributes ?? []).filter(({ Name }) => Name === name);
  assert.equal(rows.length, 1, `${rows.length} attributes are called ${name}`);
  return { used: given(rows[0]?.Used, 'Used'), most: given(rows[0]?.Maximum, 'Maximum') };
};

/** Guide: docs.aws.amazon.com/opsworks/latest/userguide (OpsWorks for Chef Automate, for Puppet Enterprise) and the API reference of OpsWorks CM. */
export const vendor: Vendor<OpsWorksCM> = {
  document: 'opsworkscm/opsworkscm.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a Chef server, from the first to the last day': (c, s) => ({
      made: async () => {
        const { Server } = await c.createServer(
          chef('life-chef', {
            KeyPair: 'ops-keys',
            PreferredMaintenanceWindow: 'Mon:08:00',
            PreferredBackupWindow: 'Sun:02:00',
            BackupRetentionCount: 3,
            SecurityGroupIds: ['sg-0123456789abcdef0'],
            SubnetIds: ['subnet-0123456789abcdef0'],
          }),
        );
        assert.deepEqual([Server?.ServerName, Server?.Engine, Server?.InstanceType], ['life-chef', 'ChefAutomate', 'm5.large']);
        oneOf(Server?.Status, 'CREATING', 'HEALTHY');
        assert.ok(Server?.CreatedAt instanceof Date, 'it was made at no time');
        s.arn = given(Server.ServerArn, 'ServerArn');
      },
      'its ARN has its name': () =>
        Promise.resolve(assert.match(s.arn, /^arn:aws[^:]*:opsworks-cm:[^:]*:\d{12}:server\/life-chef\/.+$/)),
      read: async () => {
        assert.partialDeepStrictEqual(await serverOf(c, 'life-chef'), {
          ServerName: 'life-chef',
          ServerArn: s.arn,
          EngineModel: 'Single',
          EngineVersion: '2',
          InstanceProfileArn,
          ServiceRoleArn,
          KeyPair: 'ops-keys',
          PreferredMaintenanceWindow: 'Mon:08:00',
          PreferredBackupWindow: 'Sun:02:00',
          BackupRetentionCount: 3,
          SecurityGroupIds: ['sg-0123456789abcdef0'],
          SubnetIds: ['subnet-0123456789abcdef0'],
        });
      },
      'after a while it is ready': async () => assert.equal((await ready(c, 'life-chef')).Status, 'HEALTHY'),
      'its name is taken': () => denied(c.createServer(chef('life-chef', { InstanceType: 'r5.xlarge' })), 481),
      'it is as it was, and once in the list': async () => {
        assert.equal((await serverOf(c, 'life-chef')).InstanceType, 'm5.large');
        once(await servers(c), ['life-chef'], 'servers');
      },
      deleted: () => c.deleteServer({ ServerName: 'life-chef' }),
      'gone after a while': () => gone(() => c.describeServers({ ServerName: 'life-chef' }), 481),
      'no longer in the list, nor deleted again': async () => {
        without(await servers(c), 'life-chef');
        await denied(c.deleteServer({ ServerName: 'life-chef' }), 481);
      },
    }),

    'credentials that are told once': (c, s) => ({
      'a Chef server comes with a starter kit and a key': async () => {
        const { Server } = await c.createServer(chef('kit-chef'));
        const all = new Map((Server?.EngineAttributes ?? []).map(({ Name, Value }) => [Name, Value]));
        assert.match(given(all.get('CHEF_STARTER_KIT'), 'CHEF_STARTER_KIT'), /./);
        s.key = given(all.get('CHEF_AUTOMATE_PIVOTAL_KEY'), 'CHEF_AUTOMATE_PIVOTAL_KEY');
      },
      'not told again': async () => {
        const names = ((await serverOf(c, 'kit-chef')).EngineAttributes ?? []).map(({ Name }) => Name ?? '');
        without(names, 'CHEF_STARTER_KIT');
        without(names, 'CHEF_AUTOMATE_PIVOTAL_KEY');
      },
      'a Puppet server, with a password of ours': async () => {
        const { Server } = await c.createServer({
          ...chef('kit-puppet'),
          Engine: 'Puppet',
          EngineModel: 'Monolithic',
          EngineVersion: '2019',
          EngineAttributes: [
            { Name: 'PUPPET_ADMIN_PASSWORD', Value: password },
            { Name: 'PUPPET_R10K_REMOTE', Value: 'ssh://git@git.example.com:ops/control-repo.git' },
          ],
        });
        assert.deepEqual([Server?.Engine, Server?.EngineModel, Server?.EngineVersion], ['Puppet', 'Monolithic', '2019']);
      },
      'it is read without the password': async () => {
        const read = await serverOf(c, 'kit-puppet');
        assert.deepEqual([read.Engine, read.EngineModel, read.EngineVersion], ['Puppet', 'Monolithic', '2019']);
        without(
          (read.EngineAttributes ?? []).map(({ Value }) => Value ?? ''),
          password,
        );
      },
      'nor is it in the list': async () => {
        const text = JSON.stringify((await c.describeServers({})).Servers ?? []);
        assert.ok(!text.includes(password) && !text.includes(s.key), 'the list tells credentials');
      },
    }),

    'servers through all pages, and one by its name': (c, s) => ({
      'four are made, in no order': async () => {
        for (const letter of ['c', 'a', 'd', 'b']) {
          const { Server } = await c.createServer(chef(`page-${letter}`));
          s[letter] = given(Server?.ServerArn, 'ServerArn');
        }
      },
      'each has its own ARN': () => Promise.resolve(assert.equal(new Set([s.a, s.b, s.c, s.d]).size, 4)),
      'all of them, each once': async () => {
        const rows = await servers(c, 2);
        once(rows, [...new Set(rows), 'page-a', 'page-b', 'page-c', 'page-d'], 'servers');
      },
      'one by its name, and no other': async () => assert.equal((await serverOf(c, 'page-c')).ServerArn, s.c),
      'none whose name only begins so': () => denied(c.describeServers({ ServerName: 'page' }), 481),
      'one less, after a while': async () => {
        await ready(c, 'page-b');
        await c.deleteServer({ ServerName: 'page-b' });
        await gone(() => c.describeServers({ ServerName: 'page-b' }), 481);
        const rows = await servers(c, 2);
        once(rows, ['page-a', 'page-c', 'page-d'], 'servers');
        without(rows, 'page-b');
      },
      'a page of no rows is refused': () => denied(c.describeServers({ MaxResults: 0 }), 480),
    }),

    'the settings of a server': (c, s) => ({
      'a server': async () => {
        s.arn = await launched(c, 'set-chef', {
          PreferredMaintenanceWindow: 'Tue:05:00',
          PreferredBackupWindow: '03:00',
          BackupRetentionCount: 2,
          DisableAutomatedBackup: false,
        });
      },
      'it is backed up by itself, and has a public address': async () => {
        const read = await serverOf(c, 'set-chef');
        assert.deepEqual([read.DisableAutomatedBackup, read.AssociatePublicIpAddress ?? true], [false, true]);
      },
      'two windows and a number are changed': async () => {
        const { Server } = await c.updateServer({
          ServerName: 'set-chef',
          PreferredMaintenanceWindow: 'Sun:08:00',
          PreferredBackupWindow: 'Fri:10:00',
          BackupRetentionCount: 8,
        });
        assert.deepEqual(
          [Server?.ServerName, Server?.PreferredMaintenanceWindow, Server?.PreferredBackupWindow, Server?.BackupRetentionCount],
          ['set-chef', 'Sun:08:00', 'Fri:10:00', 8],
        );
      },
      'only these': async () => {
        assert.partialDeepStrictEqual(await ready(c, 'set-chef'), {
          ServerArn: s.arn,
          PreferredMaintenanceWindow: 'Sun:08:00',
          PreferredBackupWindow: 'Fri:10:00',
          BackupRetentionCount: 8,
          DisableAutomatedBackup: false,
          InstanceType: 'm5.large',
          Engine: 'ChefAutomate',
        });
      },
      'no longer backed up by itself': async () => {
        await c.updateServer({ ServerName: 'set-chef', DisableAutomatedBackup: true });
        const read = await ready(c, 'set-chef');
        assert.deepEqual([read.DisableAutomatedBackup, read.BackupRetentionCount], [true, 8]);
      },
      'and so again': async () => {
        await c.updateServer({ ServerName: 'set-chef', DisableAutomatedBackup: false });
        assert.equal((await ready(c, 'set-chef')).DisableAutomatedBackup, false);
      },
      'not at an hour that no day has': async () => {
        await denied(c.updateServer({ ServerName: 'set-chef', PreferredMaintenanceWindow: 'Sun:25:00' }), 482);
        assert.equal((await serverOf(c, 'set-chef')).PreferredMaintenanceWindow, 'Sun:08:00');
      },
      'not of a server that is not there': () =>
        denied(c.updateServer({ ServerName: 'no-such-server', BackupRetentionCount: 4 }), 481),
    }),

    'a backup, from the first to the last day': (c, s) => ({
      'a server': () => launched(c, 'save-chef', { KeyPair: 'ops-keys', PreferredBackupWindow: '04:00' }),
      'it is backed up': async () => {
        const made = await c.createBackup({ ServerName: 'save-chef', Description: 'before the upgrade' });
        assert.deepEqual(
          [made.Backup?.ServerName, made.Backup?.Description, made.Backup?.BackupType],
          ['save-chef', 'before the upgrade', 'MANUAL'],
        );
        oneOf(made.Backup?.Status, 'IN_PROGRESS', 'OK');
        assert.ok(made.Backup?.CreatedAt instanceof Date, 'it was made at no time');
        s.id = given(made.Backup.BackupId, 'BackupId');
      },
      'its id is the name of the server and a moment': () => Promise.resolve(assert.match(s.id, /^save-chef-\d{17}$/)),
      'done after a while, and the server is ready': async () => {
        assert.equal((await saved(c, s.id)).Status, 'OK');
        assert.equal((await ready(c, 'save-chef')).Status, 'HEALTHY');
      },
      'it knows how the server was': async () => {
        assert.partialDeepStrictEqual(await backupOf(c, s.id), {
          ServerName: 'save-chef',
          Description: 'before the upgrade',
          BackupType: 'MANUAL',
          Engine: 'ChefAutomate',
          EngineModel: 'Single',
          EngineVersion: '2',
          InstanceProfileArn,
          InstanceType: 'm5.large',
          KeyPair: 'ops-keys',
          PreferredBackupWindow: '04:00',
          ServiceRoleArn,
        });
      },
      'once in the list': async () => once(await backups(c), [s.id], 'backups'),
      deleted: () => c.deleteBackup({ BackupId: s.id }),
      'gone after a while': () => gone(() => c.describeBackups({ BackupId: s.id }), 481),
      'no longer in the list, and the server is still there': async () => {
        without(await backups(c), s.id);
        await serverOf(c, 'save-chef');
      },
    }),

    'backups of two servers': (c, s) => ({
      'two servers': async () => {
        await launched(c, 'left-chef');
        await launched(c, 'right-chef');
      },
      'two backups of one, one of the other': async () => {
        s.first = await backup(c, 'left-chef', 'first');
        s.second = await backup(c, 'left-chef', 'second');
        s.other = await backup(c, 'right-chef');
      },
      'all through all pages, each once': async () => {
        const rows = await backups(c, undefined, 1);
        once(rows, [...new Set(rows), s.first, s.second, s.other], 'backups');
      },
      'those of one server, the newest first': async () => assert.deepEqual(await backups(c, 'left-chef'), [s.second, s.first]),
      'those of the other': async () => assert.deepEqual(await backups(c, 'right-chef'), [s.other]),
      'one by its id': async () => {
        const read = await backupOf(c, s.first);
        assert.deepEqual([read.ServerName, read.Description], ['left-chef', 'first']);
      },
      'one less': async () => {
        await c.deleteBackup({ BackupId: s.first });
        await gone(() => c.describeBackups({ BackupId: s.first }), 481);
        assert.deepEqual(await backups(c, 'left-chef'), [s.second]);
      },
      'none of a server that is not there': () => denied(c.createBackup({ ServerName: 'no-such-server' }), 482),
    }),

    'a server is restored': (c, s) => ({
      'a server and its backup': async () => {
        s.arn = await launched(c, 'back-chef');
        s.id = await backup(c, 'back-chef', 'the good one');
      },
      'restored, on a larger instance': async () => {
        s.endpoint = (await serverOf(c, 'back-chef')).Endpoint ?? '';
        await c.restoreServer({ ServerName: 'back-chef', BackupId: s.id, InstanceType: 'r5.xlarge', KeyPair: 'new-keys' });
        oneOf((await serverOf(c, 'back-chef')).Status, 'RESTORING', 'HEALTHY');
      },
      'ready after a while': async () => assert.equal((await ready(c, 'back-chef')).Status, 'HEALTHY'),
      'the same server, of the size asked for': async () => {
        const read = await serverOf(c, 'back-chef');
        assert.deepEqual(
          [read.ServerArn, read.Endpoint ?? '', read.InstanceType, read.KeyPair],
          [s.arn, s.endpoint, 'r5.xlarge', 'new-keys'],
        );
      },
      'the backup is still there': async () => assert.equal((await backupOf(c, s.id)).Description, 'the good one'),
      'not from a backup that is not there': () =>
        denied(c.restoreServer({ ServerName: 'back-chef', BackupId: 'back-chef-20160101000000000' }), 481, 482),
      'nor a server that is not there': () => denied(c.restoreServer({ ServerName: 'no-such-server', BackupId: s.id }), 481),
    }),

    'a backup outlives its server': (c, s) => ({
      'a server and its backup': async () => {
        s.arn = await launched(c, 'old-chef');
        s.id = await backup(c, 'old-chef', 'the last one');
      },
      'the server is deleted': async () => {
        await c.deleteServer({ ServerName: 'old-chef' });
        await gone(() => c.describeServers({ ServerName: 'old-chef' }), 481);
      },
      'the backup is there, of that server': async () => {
        const read = await backupOf(c, s.id);
        assert.deepEqual([read.ServerName, read.Description, read.BackupType], ['old-chef', 'the last one', 'MANUAL']);
      },
      'another server is made from it': async () => {
        const { Server } = await c.createServer(chef('new-chef', { BackupId: s.id }));
        assert.equal(Server?.ServerName, 'new-chef');
        assert.notEqual(given(Server?.ServerArn, 'ServerArn'), s.arn);
        once(await servers(c), ['new-chef'], 'servers');
      },
      'one of the old name, which is free again': async () => {
        const { Server } = await c.createServer(chef('old-chef'));
        assert.notEqual(given(Server?.ServerArn, 'ServerArn'), s.arn);
      },
      'none from a backup that is not there': async () => {
        await denied(c.createServer(chef('lost-chef', { BackupId: 'lost-chef-20160101000000000' })), 482);
        without(await servers(c), 'lost-chef');
      },
    }),

    'tags of a server': (c, s) => ({
      'made with one': async () => {
        s.arn = await launched(c, 'tag-chef', { Tags: tags({ Stage: 'test' }) });
        assert.deepEqual(await tagsOf(c, s.arn), { Stage: 'test' });
      },
      'four more': async () => {
        await c.tagResource({ ResourceArn: s.arn, Tags: tags({ Team: 'ops', Cost: '42', Name: 'tag-chef', Owner: 'a.b+c' }) });
        const all = { Stage: 'test', Team: 'ops', Cost: '42', Name: 'tag-chef', Owner: 'a.b+c' };
        assert.deepEqual(await tagsOf(c, s.arn), all);
      },
      'no more on a page than asked for': async () => {
        const page = await c.listTagsForResource({ ResourceArn: s.arn, MaxResults: 2 });
        assert.ok(given(page.Tags, 'Tags').length <= 2, 'more than two');
        given(page.NextToken, 'NextToken');
      },
      'all of them, through all pages': async () =>
        assert.deepEqual(Object.keys(await tagsOf(c, s.arn, 2)).toSorted(), ['Cost', 'Name', 'Owner', 'Stage', 'Team']),
      'one has another value': async () => {
        await c.tagResource({ ResourceArn: s.arn, Tags: tags({ Stage: 'live' }) });
        assert.equal((await tagsOf(c, s.arn)).Stage, 'live');
      },
      'three are taken away': async () => {
        await c.untagResource({ ResourceArn: s.arn, TagKeys: ['Cost', 'Name', 'Owner'] });
        assert.deepEqual(await tagsOf(c, s.arn), { Stage: 'live', Team: 'ops' });
      },
      'not without a key': async () => {
        await denied(c.tagResource({ ResourceArn: s.arn, Tags: [{ Key: '', Value: 'nothing' }] }), 481);
        assert.deepEqual(await tagsOf(c, s.arn), { Stage: 'live', Team: 'ops' });
      },
      'what is not there has none': async () => {
        const ResourceArn =
          'arn:aws:opsworks-cm:us-east-1:123456789012:server/no-such-server/00000000-dead-4000-8000-00000000beef';
        await denied(c.listTagsForResource({ ResourceArn }), 480);
        await denied(c.tagResource({ ResourceArn, Tags: tags({ Stage: 'test' }) }), 480);
      },
    }),

    'tags of a backup': (c, s) => ({
      'a server with tags, and its backup with others': async () => {
        s.server = await launched(c, 'both-chef', { Tags: tags({ Kind: 'server' }) });
        const made = await c.createBackup({ ServerName: 'both-chef', Tags: tags({ Kind: 'backup', Keep: 'yes' }) });
        s.id = given(made.Backup?.BackupId, 'BackupId');
        s.backup = given(made.Backup?.BackupArn, 'BackupArn');
        await saved(c, s.id);
      },
      'each has its own': async () => {
        assert.deepEqual(await tagsOf(c, s.backup), { Kind: 'backup', Keep: 'yes' });
        assert.deepEqual(await tagsOf(c, s.server), { Kind: 'server' });
      },
      'the backup gets one': async () => {
        await c.tagResource({ ResourceArn: s.backup, Tags: tags({ Until: '2030' }) });
        assert.deepEqual(await tagsOf(c, s.backup), { Kind: 'backup', Keep: 'yes', Until: '2030' });
      },
      'and loses another': async () => {
        await c.untagResource({ ResourceArn: s.backup, TagKeys: ['Keep'] });
        assert.deepEqual(await tagsOf(c, s.backup), { Kind: 'backup', Until: '2030' });
      },
      'those of the server are as they were': async () => assert.deepEqual(await tagsOf(c, s.server), { Kind: 'server' }),
      'with the backup its tags are gone': async () => {
        await c.deleteBackup({ BackupId: s.id });
        await gone(() => c.describeBackups({ BackupId: s.id }), 481);
        await denied(c.listTagsForResource({ ResourceArn: s.backup }), 480);
      },
    }),

    'a node comes and goes': (c, s) => ({
      'a server': () => launched(c, 'node-chef'),
      'a node is associated': async () => {
        const made = await c.associateNode({
          ServerName: 'node-chef',
          NodeName: 'i-0123456789abcdef0',
          EngineAttributes: [
            { Name: 'CHEF_ORGANIZATION', Value: 'default' },
            { Name: 'CHEF_NODE_PUBLIC_KEY', Value: publicKey },
          ],
        });
        s.came = given(made.NodeAssociationStatusToken, 'NodeAssociationStatusToken');
      },
      'it is asked for how that goes': async () => {
        const status = await associated(c, 'node-chef', s.came);
        oneOf(status, 'IN_PROGRESS', 'SUCCESS');
      },
      'well, says the waiter': async () => {
        const how = { client: c, minDelay: 1, maxDelay: 1, maxWaitTime: 2 };
        const asked = { ServerName: 'node-chef', NodeAssociationStatusToken: s.came };
        assert.equal((await waitUntilNodeAssociated(how, asked)).state, 'SUCCESS');
      },
      'the node is let go, under another token': async () => {
        const made = await c.disassociateNode({
          ServerName: 'node-chef',
          NodeName: 'i-0123456789abcdef0',
          EngineAttributes: [{ Name: 'CHEF_ORGANIZATION', Value: 'default' }],
        });
        s.went = given(made.NodeAssociationStatusToken, 'NodeAssociationStatusToken');
        assert.notEqual(s.went, s.came);
      },
      'that goes well too': async () => assert.equal(await associated(c, 'node-chef', s.went), 'SUCCESS'),
      'no status for a token nobody got': () =>
        denied(
          c.describeNodeAssociationStatus({
            ServerName: 'node-chef',
            NodeAssociationStatusToken: '00000000-dead-4000-8000-00000000beef',
          }),
          480,
        ),
      'no node for a server that is not there': async () => {
        const EngineAttributes = [{ Name: 'CHEF_ORGANIZATION', Value: 'default' }];
        await denied(c.associateNode({ ServerName: 'no-such-server', NodeName: 'web-1', EngineAttributes }), 481);
        await denied(c.disassociateNode({ ServerName: 'no-such-server', NodeName: 'web-1', EngineAttributes }), 481);
      },
    }),

    'maintenance, and what the events say': (c) => ({
      'a server': () => launched(c, 'care-chef'),
      'maintenance begins, and only once': async () => {
        const { Server } = await c.startMaintenance({ ServerName: 'care-chef' });
        assert.equal(Server?.ServerName, 'care-chef');
        oneOf(Server?.Status, 'UNDER_MAINTENANCE', 'HEALTHY');
        if (Server?.Status === 'UNDER_MAINTENANCE') await denied(c.startMaintenance({ ServerName: 'care-chef' }), 480);
      },
      'it ends well': async () => {
        const read = await ready(c, 'care-chef');
        assert.deepEqual([read.Status, read.MaintenanceStatus], ['HEALTHY', 'SUCCESS']);
      },
      'there are events, of this server alone': async () => {
        const asked = paginateDescribeEvents({ client: c, pageSize: 1 }, { ServerName: 'care-chef' });
        const rows = await gather(asked, (page) => page.ServerEvents ?? []);
        assert.ok(rows.length > 0, 'nothing happened');
        for (const row of rows) {
          assert.equal(row.ServerName, 'care-chef');
          assert.match(given(row.Message, 'Message'), /./);
        }
      },
      'the newest first': async () => {
        const { ServerEvents } = await c.describeEvents({ ServerName: 'care-chef' });
        const times = (ServerEvents ?? []).map(({ CreatedAt }) => given(CreatedAt, 'CreatedAt').getTime());
        assert.deepEqual(
          times,
          times.toSorted((a, b) => b - a),
        );
      },
      'not from a page nobody told of': () =>
        denied(c.describeEvents({ ServerName: 'care-chef', MaxResults: 1, NextToken: 'not-a-token-of-yours' }), 480, 481),
      'neither for a server that is not there': async () => {
        await denied(c.startMaintenance({ ServerName: 'no-such-server' }), 481);
        await denied(c.describeEvents({ ServerName: 'no-such-server' }), 482);
      },
    }),

    'attributes of the engine, changed and exported': (c, s) => ({
      'a server': async () => {
        s.arn = await launched(c, 'engine-chef');
      },
      'its key is changed': async () => {
        const { Server } = await c.updateServerEngineAttributes({
          ServerName: 'engine-chef',
          AttributeName: 'CHEF_PIVOTAL_KEY',
          AttributeValue: publicKey,
        });
        assert.deepEqual([Server?.ServerName, Server?.ServerArn], ['engine-chef', s.arn]);
        oneOf(Server?.Status, 'MODIFYING', 'HEALTHY');
      },
      'ready again after a while': async () => assert.equal((await ready(c, 'engine-chef')).Status, 'HEALTHY'),
      'user data for new nodes': async () => {
        const { EngineAttribute, ServerName } = await c.exportServerEngineAttribute({
          ServerName: 'engine-chef',
          ExportAttributeName: 'Userdata',
          InputAttributes: [
            { Name: 'RunList', Value: 'recipe[opsworks-webserver]' },
            { Name: 'OrganizationName', Value: 'default' },
            { Name: 'NodeEnvironment', Value: 'staging' },
            { Name: 'NodeClientVersion', Value: '13.8.5' },
          ],
        });
        assert.deepEqual([ServerName, EngineAttribute?.Name], ['engine-chef', 'Userdata']);
        assert.match(given(EngineAttribute?.Value, 'Value'), /^[A-Za-z0-9+/\s]+=*\s*$/);
      },
      'no attribute in small letters': () =>
        denied(
          c.updateServerEngineAttributes({ ServerName: 'engine-chef', AttributeName: 'pivotal key', AttributeValue: publicKey }),
          482,
        ),
      'nothing else is exported': () =>
        denied(c.exportServerEngineAttribute({ ServerName: 'engine-chef', ExportAttributeName: 'Passwords' }), 480),
      'neither of a server that is not there': async () => {
        const ServerName = 'no-such-server';
        await denied(c.exportServerEngineAttribute({ ServerName, ExportAttributeName: 'Userdata' }), 481);
        await denied(
          c.updateServerEngineAttributes({ ServerName, AttributeName: 'CHEF_PIVOTAL_KEY', AttributeValue: publicKey }),
          481,
        );
      },
    }),

    'what the account may have, and states that forbid': (c, s) => ({
      'servers and backups are counted': async () => {
        const [server, manual] = [await attribute(c, 'ServerLimit'), await attribute(c, 'ManualBackupLimit')];
        assert.ok(server.used <= server.most && manual.used <= manual.most, 'more are used than may be');
        [s.servers, s.backups] = [String(server.used), String(manual.used)];
      },
      'one that is being made is not backed up': async () => {
        const { Server } = await c.createServer(chef('limit-1'));
        if (Server?.Status === 'CREATING') await denied(c.createBackup({ ServerName: 'limit-1' }), 480);
        await ready(c, 'limit-1');
      },
      'one server more': async () => assert.equal((await attribute(c, 'ServerLimit')).used, Number(s.servers) + 1),
      'one backup more': async () => {
        await backup(c, 'limit-1');
        assert.equal((await attribute(c, 'ManualBackupLimit')).used, Number(s.backups) + 1);
      },
      'as many servers as may be': async () => {
        const { used, most } = await attribute(c, 'ServerLimit');
        assert.ok(most - used >= 0 && most - used < 20, `${used} of ${most} servers`);
        for (let number = used; number < most; number += 1) await c.createServer(chef(`more-${number}`));
      },
      'and none more': async () => {
        await denied(c.createServer(chef('too-many')), 480);
        without(await servers(c), 'too-many');
      },
    }),

    'a credential that is refused': (c, s, another) => ({
      'a server': async () => {
        s.arn = await launched(c, 'guarded-chef');
      },
      'not read by another': () => stranger(another('a-wrong-token').describeServers({ ServerName: 'guarded-chef' })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').describeServers({})),
      'nothing made by another': () => stranger(another('AKIANOBODYATALL00000').createServer(chef('intruder-chef'))),
      'not backed up by another': () => stranger(another('AKIANOBODYATALL00000').createBackup({ ServerName: 'guarded-chef' })),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteServer({ ServerName: 'guarded-chef' })),
      'it is still there, and alone': async () => {
        assert.equal((await serverOf(c, 'guarded-chef')).ServerArn, s.arn);
        without(await servers(c), 'intruder-chef');
        assert.deepEqual(await backups(c, 'guarded-chef'), []);
      },
    }),

    'wrong requests, and what is not there': (c) => ({
      'a name that begins with a digit, or is too long': async () => {
        await denied(c.createServer(chef('1-chef')), 483);
        await denied(c.createServer(chef('c'.repeat(41))), 483);
        without(await servers(c), '1-chef');
      },
      'a server without a role, or with what is none': async () => {
        await denied(c.createServer({ ...chef('wrong-chef'), ServiceRoleArn: undefined }), 483);
        await denied(c.createServer(chef('wrong-chef', { ServiceRoleArn: InstanceProfileArn })), 483);
      },
      'an engine nobody has': () => denied(c.createServer(chef('wrong-chef', { Engine: 'Ansible' })), 483),
      'no backups kept, or at no hour': async () => {
        await denied(c.createServer(chef('wrong-chef', { BackupRetentionCount: 0 })), 483);
        await denied(c.createServer(chef('wrong-chef', { PreferredBackupWindow: 'every night' })), 483);
      },
      'a domain without its certificate': () =>
        denied(c.createServer(chef('wrong-chef', { CustomDomain: 'chef.example.com' })), 483),
      'none of these was made': async () => {
        without(await servers(c), 'wrong-chef');
        await denied(c.describeServers({ ServerName: 'wrong-chef' }), 481);
      },
      'what is not there is not read, nor deleted': async () => {
        await denied(c.describeBackups({ BackupId: 'wrong-chef-20160101000000000' }), 481);
        await denied(c.deleteBackup({ BackupId: 'wrong-chef-20160101000000000' }), 481);
        await denied(c.deleteServer({ ServerName: 'wrong-chef' }), 481);
      },
      'the client knows each by its name': async () => {
        const missing = (await denied(c.describeServers({ ServerName: 'wrong-chef' }), 481)) as Error;
        const wrong = (await denied(c.createServer(chef('1-chef')), 483)) as Error;
        assert.deepEqual([missing.name, wrong.name], ['ResourceNotFoundException', 'ValidationException']);
      },
    }),
  },
};
