import assert from 'node:assert/strict';
import { type ChangeResourceRecordSetsCommandOutput, type ResourceRecordSet, Route53 } from '@aws-sdk/client-route-53';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** The credential is the number of an access key and its secret. */
const connect = (place: Place, token: string): Route53 => {
  const [accessKeyId, secretAccessKey = 'none'] = token.split(':');
  return new Route53({
    endpoint: place.url,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });
};

interface Told {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The call fails with this status and under this name, both of which the reference of the action gives. */
async function fails(call: Promise<unknown>, status: number, name: string): Promise<void> {
  const thrown = await refused(
    call.catch((error: Told) => {
      throw Object.assign(error, { status: error.$metadata?.httpStatusCode });
    }),
    status,
  );
  assert.equal((thrown as Told).name, name);
}

let times = 0;
/** A reference that tells one request to create from another. */
const reference = (): string => `2014-04-01-${++times}`;

/** Ids come as `/hostedzone/Z1PA6795UKMFR9`, and are asked for with or without what stands before them. */
const bare = (id: string | undefined): string => given(id, 'Id').split('/').at(-1) as string;

const zone = async (route53: Route53, s: State, Name = 'example.com.'): Promise<string> => {
  const made = await route53.createHostedZone({ Name, CallerReference: reference() });
  s.zone = bare(made.HostedZone?.Id);
  return s.zone;
};
const record = (Value: string, Name = 'www.example.com.'): ResourceRecordSet => ({
  Name,
  Type: 'A',
  TTL: 300,
  ResourceRecords: [{ Value }],
});
const change = (
  route53: Route53,
  s: State,
  Action: 'CREATE' | 'UPSERT' | 'DELETE',
  set: ResourceRecordSet,
): Promise<ChangeResourceRecordSetsCommandOutput> =>
  route53.changeResourceRecordSets({ HostedZoneId: s.zone, ChangeBatch: { Changes: [{ Action, ResourceRecordSet: set }] } });
const records = async (route53: Route53, s: State, type: string): Promise<(string | undefined)[]> => {
  const { ResourceRecordSets } = await route53.listResourceRecordSets({ HostedZoneId: s.zone });
  return (ResourceRecordSets ?? [])
    .filter(({ Type }) => Type === type)
    .flatMap(({ Name, ResourceRecords }) => (ResourceRecords ?? []).map(({ Value }) => `${Name} ${Value}`));
};
const check = async (route53: Route53, FullyQualifiedDomainName = 'www.example.com'): Promise<string> => {
  const made = await route53.createHealthCheck({
    CallerReference: reference(),
    HealthCheckConfig: { Type: 'HTTPS', FullyQualifiedDomainName, Port: 443, ResourcePath: '/health', FailureThreshold: 3 },
  });
  return given(made.HealthCheck?.Id, 'Id');
};
const policy = (address: string): string =>
  JSON.stringify({
    AWSPolicyFormatVersion: '2015-10-01',
    RecordType: 'A',
    StartEndpoint: 'one',
    Endpoints: { one: { Type: 'value', Value: address } },
  });
const london = { VPCRegion: 'eu-west-2', VPCId: 'vpc-1a2b3c4d' } as const;
const dublin = { VPCRegion: 'eu-west-1', VPCId: 'vpc-5e6f7a8b' } as const;

/** Guide: docs.aws.amazon.com/Route53/latest, the developer guide and, for errors and their statuses, the API's reference. */
export const vendor: Vendor<Route53> = {
  document: 'route53/route53.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  hides: true,
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a zone is created, read, commented on and deleted': (route53, s) => ({
      create: async () => {
        const CallerReference = reference();
        const made = await route53.createHostedZone({
          Name: 'example.com.',
          CallerReference,
          HostedZoneConfig: { Comment: 'My zone' },
        });
        s.zone = bare(made.HostedZone?.Id);
        assert.deepEqual(
          [made.HostedZone?.Name, made.HostedZone?.CallerReference, made.HostedZone?.Config?.Comment],
          ['example.com.', CallerReference, 'My zone'],
        );
        assert.equal(made.ChangeInfo?.Status, 'PENDING');
        assert.ok((made.DelegationSet?.NameServers ?? []).length > 0);
      },
      read: async () => {
        const { HostedZone, DelegationSet } = await route53.getHostedZone({ Id: s.zone });
        assert.deepEqual(
          [bare(HostedZone?.Id), HostedZone?.Name, HostedZone?.Config?.PrivateZone],
          [s.zone, 'example.com.', false],
        );
        assert.ok((DelegationSet?.NameServers ?? []).length > 0);
      },
      'another comment': async () => {
        const { HostedZone } = await route53.updateHostedZoneComment({ Id: s.zone, Comment: 'Our zone' });
        assert.deepEqual([HostedZone?.Config?.Comment, HostedZone?.Name], ['Our zone', 'example.com.']);
      },
      'it stays': async () => assert.equal((await route53.getHostedZone({ Id: s.zone })).HostedZone?.Config?.Comment, 'Our zone'),
      delete: async () => assert.ok((await route53.deleteHostedZone({ Id: s.zone })).ChangeInfo?.Id),
      'it is gone': () => fails(route53.getHostedZone({ Id: s.zone }), 404, 'NoSuchHostedZone'),
    }),
    'zones, page by page': (route53, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const name of ['a.com.', 'b.com.', 'c.com.', 'd.com.', 'e.com.']) made.push(await zone(route53, s, name));
        s.zones = made.join(',');
      },
      'a page is no longer than asked for, and says that there is more': async () => {
        const page = await route53.listHostedZones({ MaxItems: 2 });
        assert.deepEqual([page.HostedZones?.length, page.IsTruncated, page.MaxItems], [2, true, 2]);
        assert.ok(page.NextMarker);
      },
      'all pages together hold each once': async () => {
        const rows = await pages(
          (Marker) => route53.listHostedZones({ MaxItems: 2, Marker }),
          (page) => page.HostedZones ?? [],
          (page) => (page.IsTruncated ? page.NextMarker : undefined),
        );
        once(
          rows.map(({ Id }) => bare(Id)),
          s.zones.split(','),
          'zones',
        );
      },
      'there are five': async () => assert.equal((await route53.getHostedZoneCount({})).HostedZoneCount, 5),
    }),
    'zones in the order of their names': (route53, s) => ({
      'create three': async () => {
        for (const name of ['c.example.', 'a.example.', 'b.example.']) await zone(route53, s, name);
      },
      'all of them': async () => {
        const { HostedZones } = await route53.listHostedZonesByName({});
        assert.deepEqual(
          HostedZones?.map(({ Name }) => Name),
          ['a.example.', 'b.example.', 'c.example.'],
        );
      },
      'from one on': async () => {
        const { HostedZones, DNSName } = await route53.listHostedZonesByName({ DNSName: 'b.example.' });
        assert.deepEqual([DNSName, HostedZones?.map(({ Name }) => Name)], ['b.example.', ['b.example.', 'c.example.']]);
      },
    }),
    'a request to create is sent twice': (route53, s) => ({
      create: async () => {
        s.reference = reference();
        await route53.createHostedZone({ Name: 'example.com.', CallerReference: s.reference });
      },
      'the same again': () =>
        fails(route53.createHostedZone({ Name: 'example.com.', CallerReference: s.reference }), 409, 'HostedZoneAlreadyExists'),
      'there is one': async () => assert.equal((await route53.getHostedZoneCount({})).HostedZoneCount, 1),
    }),
    'a record is created, changed and deleted': (route53, s) => ({
      'create the zone': () => zone(route53, s),
      'it has those every zone has': async () => {
        const { ResourceRecordSets } = await route53.listResourceRecordSets({ HostedZoneId: s.zone });
        assert.deepEqual(
          ResourceRecordSets?.map(({ Name, Type }) => `${Name} ${Type}`),
          ['example.com. NS', 'example.com. SOA'],
        );
      },
      create: async () => {
        const { ChangeInfo } = await change(route53, s, 'CREATE', record('192.0.2.1'));
        s.change = bare(ChangeInfo?.Id);
        assert.equal(ChangeInfo?.Status, 'PENDING');
      },
      'how far the change is': async () => {
        const { ChangeInfo } = await route53.getChange({ Id: s.change });
        assert.equal(bare(ChangeInfo?.Id), s.change);
        assert.match(String(ChangeInfo?.Status), /^(PENDING|INSYNC)$/);
      },
      'it is there': async () => assert.deepEqual(await records(route53, s, 'A'), ['www.example.com. 192.0.2.1']),
      'another address': async () => {
        await change(route53, s, 'UPSERT', record('192.0.2.2'));
        assert.deepEqual(await records(route53, s, 'A'), ['www.example.com. 192.0.2.2']);
      },
      delete: async () => {
        await change(route53, s, 'DELETE', record('192.0.2.2'));
        assert.deepEqual(await records(route53, s, 'A'), []);
      },
    }),
    'records, page by page': (route53, s) => ({
      'create the zone and four records in one batch': async () => {
        await zone(route53, s);
        const Changes = ['a', 'b', 'c', 'd'].map((name) => ({
          Action: 'CREATE' as const,
          ResourceRecordSet: record('192.0.2.1', `${name}.example.com.`),
        }));
        await route53.changeResourceRecordSets({ HostedZoneId: s.zone, ChangeBatch: { Comment: 'four', Changes } });
      },
      'the zone counts them': async () =>
        assert.equal((await route53.getHostedZone({ Id: s.zone })).HostedZone?.ResourceRecordSetCount, 6),
      'all pages hold each once': async () => {
        const found: string[] = [];
        let from: { StartRecordName?: string; StartRecordType?: ResourceRecordSet['Type'] } = {};
        for (let number = 0; number < 20; number += 1) {
          const page = await route53.listResourceRecordSets({ HostedZoneId: s.zone, MaxItems: 4, ...from });
          found.push(...(page.ResourceRecordSets ?? []).map(({ Name, Type }) => `${Name} ${Type}`));
          if (!page.IsTruncated) break;
          from = { StartRecordName: page.NextRecordName, StartRecordType: page.NextRecordType };
        }
        const wanted = ['example.com. NS', 'example.com. SOA', ...['a', 'b', 'c', 'd'].map((name) => `${name}.example.com. A`)];
        assert.deepEqual(found, wanted);
      },
      'from one name on': async () => {
        const page = await route53.listResourceRecordSets({
          HostedZoneId: s.zone,
          StartRecordName: 'c.example.com.',
          StartRecordType: 'A',
        });
        assert.deepEqual(
          page.ResourceRecordSets?.map(({ Name }) => Name),
          ['c.example.com.', 'd.example.com.'],
        );
      },
    }),
    'changes of records that are refused': (route53, s) => ({
      'create the zone and a record': async () => {
        await zone(route53, s);
        await change(route53, s, 'CREATE', record('192.0.2.1'));
      },
      'one that is there already': () => fails(change(route53, s, 'CREATE', record('192.0.2.9')), 400, 'InvalidChangeBatch'),
      'to delete one that is not there': () =>
        fails(change(route53, s, 'DELETE', record('192.0.2.9', 'none.example.com.')), 400, 'InvalidChangeBatch'),
      'the zone is not deleted while it has records': () =>
        fails(route53.deleteHostedZone({ Id: s.zone }), 400, 'HostedZoneNotEmpty'),
      'in a zone that never was': () =>
        fails(route53.listResourceRecordSets({ HostedZoneId: 'Z00000000NEVERWAS' }), 404, 'NoSuchHostedZone'),
    }),
    'a health check': (route53, s) => ({
      create: async () => {
        s.check = await check(route53);
      },
      read: async () => {
        const { HealthCheck } = await route53.getHealthCheck({ HealthCheckId: s.check });
        assert.deepEqual([HealthCheck?.Id, HealthCheck?.HealthCheckVersion], [s.check, 1]);
        assert.deepEqual(
          [
            HealthCheck?.HealthCheckConfig?.Type,
            HealthCheck?.HealthCheckConfig?.Port,
            HealthCheck?.HealthCheckConfig?.ResourcePath,
          ],
          ['HTTPS', 443, '/health'],
        );
      },
      'check another port': async () => {
        const { HealthCheck } = await route53.updateHealthCheck({ HealthCheckId: s.check, HealthCheckVersion: 1, Port: 8443 });
        assert.deepEqual([HealthCheck?.HealthCheckConfig?.Port, HealthCheck?.HealthCheckVersion], [8443, 2]);
        assert.equal(HealthCheck?.HealthCheckConfig?.ResourcePath, '/health');
      },
      'not by one who knows an old version': () =>
        fails(
          route53.updateHealthCheck({ HealthCheckId: s.check, HealthCheckVersion: 1, Port: 9443 }),
          409,
          'HealthCheckVersionMismatch',
        ),
      delete: async () => {
        await route53.deleteHealthCheck({ HealthCheckId: s.check });
      },
      'it is gone': () => fails(route53.getHealthCheck({ HealthCheckId: s.check }), 404, 'NoSuchHealthCheck'),
    }),
    'health checks, page by page': (route53, s) => ({
      'create three': async () => {
        const made: string[] = [];
        for (const name of ['a.example.com', 'b.example.com', 'c.example.com']) made.push(await check(route53, name));
        s.checks = made.join(',');
      },
      'there are three': async () => assert.equal((await route53.getHealthCheckCount({})).HealthCheckCount, 3),
      'all pages hold each once': async () => {
        const rows = await pages(
          (Marker) => route53.listHealthChecks({ MaxItems: 2, Marker }),
          (page) => page.HealthChecks ?? [],
          (page) => (page.IsTruncated ? page.NextMarker : undefined),
        );
        once(
          rows.map(({ Id }) => given(Id, 'Id')),
          s.checks.split(','),
          'checks',
        );
      },
    }),
    'tags of a health check and of a zone': (route53, s) => ({
      'create both': async () => {
        s.check = await check(route53);
        await zone(route53, s);
      },
      'tag both': async () => {
        const AddTags = [
          { Key: 'Name', Value: 'shop' },
          { Key: 'Stage', Value: 'test' },
        ];
        await route53.changeTagsForResource({ ResourceType: 'healthcheck', ResourceId: s.check, AddTags });
        await route53.changeTagsForResource({ ResourceType: 'hostedzone', ResourceId: s.zone, AddTags: [AddTags[0]] });
      },
      'the check has two': async () => {
        const { ResourceTagSet } = await route53.listTagsForResource({ ResourceType: 'healthcheck', ResourceId: s.check });
        assert.equal(ResourceTagSet?.ResourceId, s.check);
        once(
          (ResourceTagSet?.Tags ?? []).map(({ Key, Value }) => `${Key}=${Value}`),
          ['Name=shop', 'Stage=test'],
          'tags',
        );
      },
      'take one away, and change the other': async () => {
        await route53.changeTagsForResource({
          ResourceType: 'healthcheck',
          ResourceId: s.check,
          AddTags: [{ Key: 'Name', Value: 'store' }],
          RemoveTagKeys: ['Stage'],
        });
        const { ResourceTagSet } = await route53.listTagsForResource({ ResourceType: 'healthcheck', ResourceId: s.check });
        assert.deepEqual(ResourceTagSet?.Tags, [{ Key: 'Name', Value: 'store' }]);
      },
      'of several at once': async () => {
        const { ResourceTagSets } = await route53.listTagsForResources({ ResourceType: 'hostedzone', ResourceIds: [s.zone] });
        assert.deepEqual(
          ResourceTagSets?.map(({ ResourceId, Tags }) => [ResourceId, Tags?.map(({ Value }) => Value)]),
          [[s.zone, ['shop']]],
        );
      },
    }),
    'name servers that zones share': (route53, s) => ({
      create: async () => {
        const { DelegationSet } = await route53.createReusableDelegationSet({ CallerReference: reference() });
        s.id = bare(DelegationSet?.Id);
        s.servers = given(DelegationSet?.NameServers, 'NameServers').join(',');
        assert.ok(s.servers);
      },
      read: async () => {
        const { DelegationSet } = await route53.getReusableDelegationSet({ Id: s.id });
        assert.deepEqual([bare(DelegationSet?.Id), DelegationSet?.NameServers?.join(',')], [s.id, s.servers]);
      },
      'a zone that has them': async () => {
        const made = await route53.createHostedZone({
          Name: 'example.com.',
          CallerReference: reference(),
          DelegationSetId: s.id,
        });
        s.zone = bare(made.HostedZone?.Id);
        assert.equal(made.DelegationSet?.NameServers?.join(','), s.servers);
      },
      'they are listed': async () => {
        const { DelegationSets } = await route53.listReusableDelegationSets({});
        once(
          (DelegationSets ?? []).map(({ Id }) => bare(Id)),
          [s.id],
          'sets',
        );
      },
      'they are not deleted while a zone has them': () =>
        fails(route53.deleteReusableDelegationSet({ Id: s.id }), 400, 'DelegationSetInUse'),
      'delete both': async () => {
        await route53.deleteHostedZone({ Id: s.zone });
        await route53.deleteReusableDelegationSet({ Id: s.id });
      },
      'they are gone': () => fails(route53.getReusableDelegationSet({ Id: s.id }), 400, 'NoSuchDelegationSet'),
    }),
    'a traffic policy and its versions': (route53, s) => ({
      create: async () => {
        const { TrafficPolicy } = await route53.createTrafficPolicy({
          Name: 'shop',
          Document: policy('192.0.2.1'),
          Comment: 'first',
        });
        s.policy = given(TrafficPolicy?.Id, 'Id');
        assert.deepEqual([TrafficPolicy?.Name, TrafficPolicy?.Version, TrafficPolicy?.Type], ['shop', 1, 'A']);
      },
      'a second version': async () => {
        const made = await route53.createTrafficPolicyVersion({ Id: s.policy, Document: policy('192.0.2.2'), Comment: 'second' });
        assert.deepEqual([made.TrafficPolicy?.Id, made.TrafficPolicy?.Version], [s.policy, 2]);
      },
      'the first is as it was': async () => {
        const { TrafficPolicy } = await route53.getTrafficPolicy({ Id: s.policy, Version: 1 });
        assert.deepEqual([TrafficPolicy?.Document, TrafficPolicy?.Comment], [policy('192.0.2.1'), 'first']);
      },
      'another comment on the second': async () => {
        const changed = await route53.updateTrafficPolicyComment({ Id: s.policy, Version: 2, Comment: 'newest' });
        assert.deepEqual([changed.TrafficPolicy?.Version, changed.TrafficPolicy?.Comment], [2, 'newest']);
      },
      'the versions': async () => {
        const { TrafficPolicies } = await route53.listTrafficPolicyVersions({ Id: s.policy });
        once(
          (TrafficPolicies ?? []).map(({ Version }) => String(Version)),
          ['1', '2'],
          'versions',
        );
      },
      'the list says which is the latest': async () => {
        const { TrafficPolicySummaries } = await route53.listTrafficPolicies({});
        assert.deepEqual(
          TrafficPolicySummaries?.map(({ Id, LatestVersion, TrafficPolicyCount }) => [Id, LatestVersion, TrafficPolicyCount]),
          [[s.policy, 2, 2]],
        );
      },
      'delete the first': async () => {
        await route53.deleteTrafficPolicy({ Id: s.policy, Version: 1 });
        await fails(route53.getTrafficPolicy({ Id: s.policy, Version: 1 }), 404, 'NoSuchTrafficPolicy');
      },
    }),
    'a private zone of two networks': (route53, s) => ({
      create: async () => {
        const made = await route53.createHostedZone({
          Name: 'inside.example.com.',
          CallerReference: reference(),
          VPC: london,
          HostedZoneConfig: { PrivateZone: true },
        });
        s.zone = bare(made.HostedZone?.Id);
        assert.deepEqual([made.HostedZone?.Config?.PrivateZone, made.VPC?.VPCId], [true, london.VPCId]);
      },
      'associate the other': async () => {
        const { ChangeInfo } = await route53.associateVPCWithHostedZone({ HostedZoneId: s.zone, VPC: dublin, Comment: 'both' });
        assert.ok(ChangeInfo?.Id);
      },
      'it has both': async () => {
        const { VPCs } = await route53.getHostedZone({ Id: s.zone });
        once(
          (VPCs ?? []).map(({ VPCId }) => given(VPCId, 'VPCId')),
          [london.VPCId, dublin.VPCId],
          'networks',
        );
      },
      'disassociate the first': async () => {
        await route53.disassociateVPCFromHostedZone({ HostedZoneId: s.zone, VPC: london });
        const { VPCs } = await route53.getHostedZone({ Id: s.zone });
        assert.deepEqual(
          VPCs?.map(({ VPCId }) => VPCId),
          [dublin.VPCId],
        );
      },
      'the last is not taken away': () =>
        fails(route53.disassociateVPCFromHostedZone({ HostedZoneId: s.zone, VPC: dublin }), 400, 'LastVPCAssociation'),
    }),
    'a collection of address blocks': (route53, s) => ({
      create: async () => {
        const { Collection } = await route53.createCidrCollection({ Name: 'offices', CallerReference: reference() });
        s.id = given(Collection?.Id, 'Id');
        assert.deepEqual([Collection?.Name, Number(Collection?.Version)], ['offices', 1]);
      },
      'put blocks into it': async () => {
        const Changes = [{ LocationName: 'leeds', Action: 'PUT' as const, CidrList: ['192.0.2.0/24', '198.51.100.0/24'] }];
        assert.ok((await route53.changeCidrCollection({ Id: s.id, Changes })).Id);
      },
      'they are in it': async () => {
        const { CidrBlocks } = await route53.listCidrBlocks({ CollectionId: s.id, LocationName: 'leeds' });
        once(
          (CidrBlocks ?? []).map(({ CidrBlock }) => given(CidrBlock, 'CidrBlock')),
          ['192.0.2.0/24', '198.51.100.0/24'],
          'blocks',
        );
      },
      'its places': async () => {
        const { CidrLocations } = await route53.listCidrLocations({ CollectionId: s.id });
        assert.deepEqual(
          CidrLocations?.map(({ LocationName }) => LocationName),
          ['leeds'],
        );
      },
      'it is listed': async () => {
        const { CidrCollections } = await route53.listCidrCollections({});
        once(
          (CidrCollections ?? []).map(({ Id }) => given(Id, 'Id')),
          [s.id],
          'collections',
        );
      },
    }),
    'a key that is refused': (route53, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await route53.listHostedZones({})).HostedZones)),
      'another is not': () => fails(another('AKIANOSUCHKEY:wrong').listHostedZones({}), 403, 'InvalidClientTokenId'),
    }),
    'requests that are wrong': (route53) => ({
      'a zone that never was': () => fails(route53.getHostedZone({ Id: 'Z00000000NEVERWAS' }), 404, 'NoSuchHostedZone'),
      'a change that never was': () => fails(route53.getChange({ Id: 'C00000000NEVERWAS' }), 404, 'NoSuchChange'),
      'a health check that never was': () =>
        fails(route53.getHealthCheck({ HealthCheckId: 'abcdef11-2222-3333-4444-555555fedcba' }), 404, 'NoSuchHealthCheck'),
      'a zone whose name is none': () =>
        fails(route53.createHostedZone({ Name: 'not a name..', CallerReference: reference() }), 400, 'InvalidDomainName'),
    }),
  },
};
