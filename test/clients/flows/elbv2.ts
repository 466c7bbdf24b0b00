import assert from 'node:assert/strict';
import {
  type Action,
  ElasticLoadBalancingV2,
  type LoadBalancer,
  type LoadBalancerAttribute,
  paginateDescribeListenerCertificates,
  paginateDescribeListeners,
  paginateDescribeLoadBalancers,
  paginateDescribeRules,
  paginateDescribeTargetGroups,
  type Rule,
  type RuleCondition,
  type TargetGroup,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { gather, given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Client = ElasticLoadBalancingV2;

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Client => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new ElasticLoadBalancingV2({
    endpoint: place.base,
    region: 'us-west-2',
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

/** The guide has a 400 for each of these exceptions; the description has a number of its own for each, by operation. */
const denied = (call: Promise<unknown>, ...described: number[]): Promise<unknown> => refused(call, 400, ...described);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);

/** Networks, certificates, buckets and instances belong to other services: these are there before. */
const subnets = ['subnet-8360a9e7', 'subnet-b7d581c0'];
const groups = ['sg-5943793c'];
const VpcId = 'vpc-3ac0fb5f';
const certificate = (id: string): string => `arn:aws:acm:us-west-2:123456789012:certificate/${id}`;
const [first, second, third] = [
  '3dcb0a41-bd72-4774-9ad9-756919c40557',
  '11111111-2222-4333-8444-555555555555',
  'aaaaaaaa-2222-4333-8444-bbbbbbbbbbbb',
].map(certificate) as [string, string, string];
const missing = (what: string): string => `arn:aws:elasticloadbalancing:us-west-2:123456789012:${what}`;
const noBalancer = missing('loadbalancer/app/no-such-balancer/50dc6c495c0c9188');
const noGroup = missing('targetgroup/no-such-group/73e2d6bc24d8a067');
const noListener = missing('listener/app/no-such-balancer/50dc6c495c0c9188/f2f7dc8efc522ab2');
const noRule = missing('listener-rule/app/no-such-balancer/50dc6c495c0c9188/f2f7dc8efc522ab2/9683b2d02a6cabee');

type Balancing = Omit<NonNullable<Parameters<Client['createLoadBalancer']>[0]>, 'Name'>;
const balancer = async (c: Client, Name: string, more: Balancing = {}): Promise<string> => {
  const made = await c.createLoadBalancer({ Name, Subnets: subnets, SecurityGroups: groups, ...more });
  return given(made.LoadBalancers?.[0]?.LoadBalancerArn, 'LoadBalancerArn');
};
const oneBalancer = async (c: Client, arn: string): Promise<LoadBalancer> => {
  const { LoadBalancers } = await c.describeLoadBalancers({ LoadBalancerArns: [arn] });
  assert.equal(LoadBalancers?.length, 1);
  return given(LoadBalancers?.[0], 'load balancer');
};
const balancers = async (c: Client, PageSize = 400): Promise<string[]> => {
  const rows = await gather(paginateDescribeLoadBalancers({ client: c }, { PageSize }), (page) => page.LoadBalancers ?? []);
  return rows.map((row) => given(row.LoadBalancerArn, 'LoadBalancerArn'));
};
type Grouping = Omit<NonNullable<Parameters<Client['createTargetGroup']>[0]>, 'Name'>;
const group = async (c: Client, Name: string, more: Grouping = {}): Promise<string> => {
  const made = await c.createTargetGroup({ Name, Protocol: 'HTTP', Port: 80, VpcId, ...more });
  return given(made.TargetGroups?.[0]?.TargetGroupArn, 'TargetGroupArn');
};
const oneGroup = async (c: Client, arn: string): Promise<TargetGroup> => {
  const { TargetGroups } = await c.describeTargetGroups({ TargetGroupArns: [arn] });
  assert.equal(TargetGroups?.length, 1);
  return given(TargetGroups?.[0], 'target group');
};
const forward = (TargetGroupArn: string): Action => ({ Type: 'forward', TargetGroupArn });
const fixed = (StatusCode: string, MessageBody = 'nothing here'): Action => ({
  Type: 'fixed-response',
  FixedResponseConfig: { StatusCode, MessageBody, ContentType: 'text/plain' },
});
const listener = async (c: Client, LoadBalancerArn: string, Port = 80, action = fixed('404')): Promise<string> => {
  const made = await c.createListener({ LoadBalancerArn, Protocol: 'HTTP', Port, DefaultActions: [action] });
  return given(made.Listeners?.[0]?.ListenerArn, 'ListenerArn');
};
const listeners = async (c: Client, LoadBalancerArn: string, PageSize = 400): Promise<string[]> => {
  const walk = paginateDescribeListeners({ client: c }, { LoadBalancerArn, PageSize });
  return (await gather(walk, (page) => page.Listeners ?? [])).map((row) => given(row.ListenerArn, 'ListenerArn'));
};
const path = (...Values: string[]): RuleCondition => ({ Field: 'path-pattern', Values });
const rule = async (c: Client, ListenerArn: string, Priority: number, at: string, action = fixed('200')): Promise<string> => {
  const made = await c.createRule({ ListenerArn, Priority, Conditions: [path(at)], Actions: [action] });
  return given(made.Rules?.[0]?.RuleArn, 'RuleArn');
};
const rules = async (c: Client, ListenerArn: string, PageSize = 400): Promise<Rule[]> =>
  gather(paginateDescribeRules({ client: c }, { ListenerArn, PageSize }), ({ Rules }) => Rules ?? []);
const oneRule = async (c: Client, arn: string): Promise<Rule> =>
  given((await c.describeRules({ RuleArns: [arn] })).Rules?.[0], 'rule');
const arns = (all: readonly Rule[]): string[] => all.map(({ RuleArn }) => given(RuleArn, 'RuleArn'));
const served = async (c: Client, s: State, name: string): Promise<void> => {
  s.balancer = await balancer(c, name);
  s.listener = await listener(c, s.balancer);
};
const attribute = (all: readonly LoadBalancerAttribute[] | undefined, key: string): string | undefined =>
  all?.find(({ Key }) => Key === key)?.Value;
const tags = async (c: Client, arn: string): Promise<Record<string, string | undefined>> => {
  const { TagDescriptions } = await c.describeTags({ ResourceArns: [arn] });
  const found = given(
    TagDescriptions?.find(({ ResourceArn }) => ResourceArn === arn),
    'tags of the resource',
  );
  return Object.fromEntries((found.Tags ?? []).map(({ Key, Value }) => [Key, Value]));
};

/** Guide: docs.aws.amazon.com/elasticloadbalancing/latest/application (load balancers, target groups, listeners, rules), …/network and …/APIReference. */
export const vendor: Vendor<Client> = {
  document: 'elbv2/elbv2.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a load balancer, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await c.createLoadBalancer({ Name: 'my-load-balancer', Subnets: subnets, SecurityGroups: groups });
        assert.equal(made.LoadBalancers?.length, 1);
        const row = given(made.LoadBalancers?.[0], 'load balancer');
        assert.deepEqual([row.LoadBalancerName, row.Type, row.Scheme], ['my-load-balancer', 'application', 'internet-facing']);
        oneOf(row.State?.Code, 'provisioning', 'active');
        s.arn = given(row.LoadBalancerArn, 'LoadBalancerArn');
      },
      read: async () => {
        const row = await oneBalancer(c, s.arn);
        assert.deepEqual(
          [row.LoadBalancerArn, row.LoadBalancerName, row.SecurityGroups, row.IpAddressType],
          [s.arn, 'my-load-balancer', groups, 'ipv4'],
        );
        assert.deepEqual(
          given(row.AvailabilityZones, 'zones')
            .map(({ SubnetId }) => SubnetId)
            .toSorted(),
          subnets,
        );
        given(row.DNSName, 'DNSName');
        assert.ok(row.CreatedTime instanceof Date, 'it was made at no time');
      },
      'made again as it was, it is the same': async () => {
        assert.equal(await balancer(c, 'my-load-balancer'), s.arn);
        once(await balancers(c), [s.arn], 'load balancers');
      },
      'another may not have its name': () => denied(balancer(c, 'my-load-balancer', { Scheme: 'internal' }), 480),
      deleted: () => c.deleteLoadBalancer({ LoadBalancerArn: s.arn }),
      gone: async () => {
        await denied(c.describeLoadBalancers({ LoadBalancerArns: [s.arn] }), 480);
        await denied(c.describeLoadBalancers({ Names: ['my-load-balancer'] }), 480);
        without(await balancers(c), s.arn);
      },
      'deleted once more, it is as well': () => c.deleteLoadBalancer({ LoadBalancerArn: s.arn }),
    }),

    'load balancers through all pages, and some of them': (c, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b']) s[letter] = await balancer(c, `page-${letter}`);
        s.d = await balancer(c, 'page-d', { Type: 'network', Scheme: 'internal', SecurityGroups: undefined });
      },
      'no more on a page than asked for': async () => {
        const page = await c.describeLoadBalancers({ PageSize: 2 });
        assert.ok(given(page.LoadBalancers, 'LoadBalancers').length <= 2, 'more than two');
        given(page.NextMarker || undefined, 'NextMarker');
      },
      'all of them, each once': async () => {
        const rows = await balancers(c, 2);
        once(rows, [...new Set([...rows, s.a, s.b, s.c, s.d, s.e])], 'load balancers');
      },
      'two by their names': async () => {
        const { LoadBalancers } = await c.describeLoadBalancers({ Names: ['page-b', 'page-d'] });
        const rows = (LoadBalancers ?? []).map((row) => `${row.LoadBalancerArn} ${row.Type} ${row.Scheme}`);
        assert.deepEqual(rows.toSorted(), [`${s.b} application internet-facing`, `${s.d} network internal`].toSorted());
      },
      'two by their ARNs': async () => {
        const { LoadBalancers } = await c.describeLoadBalancers({ LoadBalancerArns: [s.a, s.e] });
        assert.deepEqual((LoadBalancers ?? []).map(({ LoadBalancerName }) => LoadBalancerName).toSorted(), ['page-a', 'page-e']);
      },
      'one that is not there spoils it': () => denied(c.describeLoadBalancers({ Names: ['page-a', 'page-z'] }), 480),
    }),

    'where a load balancer stands': (c, s) => ({
      'a load balancer': async () => {
        s.arn = await balancer(c, 'moving');
      },
      'other security groups': async () => {
        const SecurityGroups = ['sg-1a2b3c4d', 'sg-5e6f7a8b'];
        const set = await c.setSecurityGroups({ LoadBalancerArn: s.arn, SecurityGroups });
        assert.deepEqual(given(set.SecurityGroupIds, 'SecurityGroupIds').toSorted(), SecurityGroups);
        assert.deepEqual(given((await oneBalancer(c, s.arn)).SecurityGroups, 'SecurityGroups').toSorted(), SecurityGroups);
      },
      'other subnets': async () => {
        const Subnets = ['subnet-0a1b2c3d', 'subnet-8360a9e7'];
        const set = await c.setSubnets({ LoadBalancerArn: s.arn, Subnets });
        assert.deepEqual(
          given(set.AvailabilityZones, 'zones')
            .map(({ SubnetId }) => SubnetId)
            .toSorted(),
          Subnets,
        );
        const { AvailabilityZones } = await oneBalancer(c, s.arn);
        assert.deepEqual(
          given(AvailabilityZones, 'zones')
            .map(({ SubnetId }) => SubnetId)
            .toSorted(),
          Subnets,
        );
      },
      'addresses of both kinds': async () => {
        assert.equal(
          (await c.setIpAddressType({ LoadBalancerArn: s.arn, IpAddressType: 'dualstack' })).IpAddressType,
          'dualstack',
        );
        assert.equal((await oneBalancer(c, s.arn)).IpAddressType, 'dualstack');
      },
      'a network load balancer with an address of its own': async () => {
        const SubnetMappings = [{ SubnetId: 'subnet-8360a9e7', AllocationId: 'eipalloc-64d5890a' }];
        const made = await c.createLoadBalancer({ Name: 'fixed-address', Type: 'network', SubnetMappings });
        const row = await oneBalancer(c, given(made.LoadBalancers?.[0]?.LoadBalancerArn, 'LoadBalancerArn'));
        assert.equal(row.Type, 'network');
        assert.equal(row.AvailabilityZones?.[0]?.SubnetId, 'subnet-8360a9e7');
        assert.equal(row.AvailabilityZones?.[0]?.LoadBalancerAddresses?.[0]?.AllocationId, 'eipalloc-64d5890a');
      },
      'not what is not there': async () => {
        await denied(c.setSecurityGroups({ LoadBalancerArn: noBalancer, SecurityGroups: groups }), 480);
        await denied(c.setSubnets({ LoadBalancerArn: noBalancer, Subnets: subnets }), 480);
        await denied(c.setIpAddressType({ LoadBalancerArn: noBalancer, IpAddressType: 'ipv4' }), 480);
      },
    }),

    'attributes of a load balancer and of a target group': (c, s) => ({
      'a load balancer can be deleted, at first': async () => {
        s.arn = await balancer(c, 'protected');
        const { Attributes } = await c.describeLoadBalancerAttributes({ LoadBalancerArn: s.arn });
        assert.equal(attribute(Attributes, 'deletion_protection.enabled'), 'false');
        assert.equal(attribute(Attributes, 'idle_timeout.timeout_seconds'), '60');
      },
      'it is protected, and waits less': async () => {
        const Attributes = [
          { Key: 'deletion_protection.enabled', Value: 'true' },
          { Key: 'idle_timeout.timeout_seconds', Value: '30' },
        ];
        const set = await c.modifyLoadBalancerAttributes({ LoadBalancerArn: s.arn, Attributes });
        for (const { Key, Value } of Attributes) assert.equal(attribute(set.Attributes, Key), Value);
      },
      'it says so, and the rest stays': async () => {
        const { Attributes } = await c.describeLoadBalancerAttributes({ LoadBalancerArn: s.arn });
        assert.equal(attribute(Attributes, 'deletion_protection.enabled'), 'true');
        assert.equal(attribute(Attributes, 'idle_timeout.timeout_seconds'), '30');
        assert.equal(attribute(Attributes, 'access_logs.s3.enabled'), 'false');
      },
      'it cannot be deleted': async () => {
        await denied(c.deleteLoadBalancer({ LoadBalancerArn: s.arn }), 481);
        assert.equal((await oneBalancer(c, s.arn)).LoadBalancerName, 'protected');
      },
      'not protected any more, it can': async () => {
        const Attributes = [{ Key: 'deletion_protection.enabled', Value: 'false' }];
        await c.modifyLoadBalancerAttributes({ LoadBalancerArn: s.arn, Attributes });
        await c.deleteLoadBalancer({ LoadBalancerArn: s.arn });
        await denied(c.describeLoadBalancerAttributes({ LoadBalancerArn: s.arn }), 480);
      },
      'a target group drains for five minutes, at first': async () => {
        s.group = await group(c, 'draining');
        const { Attributes } = await c.describeTargetGroupAttributes({ TargetGroupArn: s.group });
        assert.equal(attribute(Attributes, 'deregistration_delay.timeout_seconds'), '300');
        assert.equal(attribute(Attributes, 'stickiness.enabled'), 'false');
      },
      'for ten': async () => {
        const Attributes = [{ Key: 'deregistration_delay.timeout_seconds', Value: '600' }];
        const set = await c.modifyTargetGroupAttributes({ TargetGroupArn: s.group, Attributes });
        assert.equal(attribute(set.Attributes, 'deregistration_delay.timeout_seconds'), '600');
        const read = await c.describeTargetGroupAttributes({ TargetGroupArn: s.group });
        assert.equal(attribute(read.Attributes, 'deregistration_delay.timeout_seconds'), '600');
        assert.equal(attribute(read.Attributes, 'stickiness.enabled'), 'false');
      },
      'not of a group that is not there': () => denied(c.describeTargetGroupAttributes({ TargetGroupArn: noGroup }), 480),
    }),

    'a target group, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await c.createTargetGroup({
          Name: 'my-targets',
          Protocol: 'HTTP',
          Port: 8080,
          VpcId,
          HealthCheckPath: '/healthy',
        });
        const row = given(made.TargetGroups?.[0], 'target group');
        assert.deepEqual([row.TargetGroupName, row.Protocol, row.Port, row.VpcId], ['my-targets', 'HTTP', 8080, VpcId]);
        s.arn = given(row.TargetGroupArn, 'TargetGroupArn');
      },
      'read, with what it was not told': async () =>
        assert.partialDeepStrictEqual(await oneGroup(c, s.arn), {
          TargetGroupArn: s.arn,
          TargetGroupName: 'my-targets',
          HealthCheckPath: '/healthy',
          HealthCheckProtocol: 'HTTP',
          HealthCheckPort: 'traffic-port',
          HealthCheckEnabled: true,
          HealthCheckIntervalSeconds: 30,
          HealthyThresholdCount: 5,
          UnhealthyThresholdCount: 2,
          TargetType: 'instance',
          ProtocolVersion: 'HTTP1',
          IpAddressType: 'ipv4',
        }),
      'made again as it was, it is the same': async () =>
        assert.equal(await group(c, 'my-targets', { Port: 8080, HealthCheckPath: '/healthy' }), s.arn),
      'another may not have its name': () => denied(group(c, 'my-targets', { Port: 9090 }), 480),
      'other health checks': async () => {
        const how = { HealthCheckIntervalSeconds: 15, HealthCheckPath: '/ping', Matcher: { HttpCode: '200-299' } };
        const set = await c.modifyTargetGroup({ TargetGroupArn: s.arn, ...how });
        assert.partialDeepStrictEqual(set.TargetGroups?.[0], { TargetGroupArn: s.arn, ...how });
        assert.partialDeepStrictEqual(await oneGroup(c, s.arn), { ...how, Port: 8080, UnhealthyThresholdCount: 2 });
      },
      deleted: () => c.deleteTargetGroup({ TargetGroupArn: s.arn }),
      gone: async () => {
        await denied(c.describeTargetGroups({ TargetGroupArns: [s.arn] }), 481);
        await denied(c.modifyTargetGroup({ TargetGroupArn: s.arn, HealthCheckPath: '/' }), 480);
      },
    }),

    'target groups through all pages, and some of them': (c, s) => ({
      'three are made': async () => {
        for (const at of ['1', '2', '3']) s[`g${at}`] = await group(c, `group-${at}`);
      },
      'all of them, each once': async () => {
        const walk = paginateDescribeTargetGroups({ client: c }, { PageSize: 1 });
        const rows = await gather(walk, ({ TargetGroups }) => TargetGroups ?? []);
        once(
          rows.map(({ TargetGroupArn }) => given(TargetGroupArn, 'TargetGroupArn')),
          [s.g1, s.g2, s.g3],
          'groups',
        );
      },
      'one by its name': async () => {
        const { TargetGroups } = await c.describeTargetGroups({ Names: ['group-2'] });
        assert.deepEqual(
          TargetGroups?.map(({ TargetGroupArn }) => TargetGroupArn),
          [s.g2],
        );
      },
      'two are used by a load balancer': async () => {
        s.balancer = await balancer(c, 'grouped');
        await listener(c, s.balancer, 80, forward(s.g1));
        await listener(c, s.balancer, 81, forward(s.g3));
        const { TargetGroups } = await c.describeTargetGroups({ LoadBalancerArn: s.balancer });
        assert.deepEqual(TargetGroups?.map(({ TargetGroupName }) => TargetGroupName).toSorted(), ['group-1', 'group-3']);
      },
      'they say so': async () => {
        assert.deepEqual((await oneGroup(c, s.g1)).LoadBalancerArns, [s.balancer]);
        assert.deepEqual((await oneGroup(c, s.g2)).LoadBalancerArns ?? [], []);
      },
      'those in use cannot be deleted, the other can': async () => {
        await denied(c.deleteTargetGroup({ TargetGroupArn: s.g1 }), 480);
        await c.deleteTargetGroup({ TargetGroupArn: s.g2 });
        await denied(c.describeTargetGroups({ Names: ['group-2'] }), 481);
        assert.equal((await oneGroup(c, s.g1)).TargetGroupName, 'group-1');
      },
      'none of a load balancer that is not there': () => denied(c.describeTargetGroups({ LoadBalancerArn: noBalancer }), 480),
    }),

    'targets come and go': (c, s) => ({
      'a group has none': async () => {
        s.arn = await group(c, 'addresses', { TargetType: 'ip' });
        assert.deepEqual((await c.describeTargetHealth({ TargetGroupArn: s.arn })).TargetHealthDescriptions ?? [], []);
      },
      'three are registered, one at a port of its own': () =>
        c.registerTargets({
          TargetGroupArn: s.arn,
          Targets: [{ Id: '10.0.1.15' }, { Id: '10.0.1.16' }, { Id: '10.0.1.17', Port: 8080 }],
        }),
      'all are there, and not used': async () => {
        const rows = (await c.describeTargetHealth({ TargetGroupArn: s.arn })).TargetHealthDescriptions ?? [];
        assert.deepEqual(
          rows.map(({ Target, TargetHealth }) => `${Target?.Id}:${Target?.Port} ${TargetHealth?.State}`).toSorted(),
          ['10.0.1.15:80 unused', '10.0.1.16:80 unused', '10.0.1.17:8080 unused'],
        );
        for (const { TargetHealth } of rows) assert.equal(TargetHealth?.Reason, 'Target.NotInUse');
      },
      'one of them': async () => {
        const asked = { TargetGroupArn: s.arn, Targets: [{ Id: '10.0.1.17', Port: 8080 }] };
        const rows = (await c.describeTargetHealth(asked)).TargetHealthDescriptions ?? [];
        assert.deepEqual(
          rows.map(({ Target }) => `${Target?.Id}:${Target?.Port}`),
          ['10.0.1.17:8080'],
        );
      },
      'one goes': async () => {
        await c.deregisterTargets({ TargetGroupArn: s.arn, Targets: [{ Id: '10.0.1.17', Port: 8080 }] });
        const rows = (await c.describeTargetHealth({ TargetGroupArn: s.arn })).TargetHealthDescriptions ?? [];
        const there = rows.filter(({ TargetHealth }) => TargetHealth?.State !== 'draining').map(({ Target }) => Target?.Id);
        assert.deepEqual(there.toSorted(), ['10.0.1.15', '10.0.1.16']);
      },
      'registered twice, it is there once': async () => {
        await c.registerTargets({ TargetGroupArn: s.arn, Targets: [{ Id: '10.0.1.15' }] });
        const rows = (await c.describeTargetHealth({ TargetGroupArn: s.arn })).TargetHealthDescriptions ?? [];
        assert.equal(rows.filter(({ Target }) => Target?.Id === '10.0.1.15').length, 1);
      },
      'what is no address is no target': () =>
        denied(c.registerTargets({ TargetGroupArn: s.arn, Targets: [{ Id: 'not-an-address' }] }), 482),
      'not in a group that is not there': async () => {
        await denied(c.registerTargets({ TargetGroupArn: noGroup, Targets: [{ Id: '10.0.1.15' }] }), 480);
        await denied(c.describeTargetHealth({ TargetGroupArn: noGroup }), 481);
      },
    }),

    'listeners of a load balancer': (c, s) => ({
      'one is made': async () => {
        s.balancer = await balancer(c, 'listening');
        s.group = await group(c, 'listened-to');
        const DefaultActions = [forward(s.group)];
        const made = await c.createListener({ LoadBalancerArn: s.balancer, Protocol: 'HTTP', Port: 80, DefaultActions });
        const row = given(made.Listeners?.[0], 'listener');
        assert.deepEqual([row.LoadBalancerArn, row.Protocol, row.Port], [s.balancer, 'HTTP', 80]);
        s.one = given(row.ListenerArn, 'ListenerArn');
      },
      read: async () => {
        const { Listeners } = await c.describeListeners({ ListenerArns: [s.one] });
        assert.equal(Listeners?.length, 1);
        assert.partialDeepStrictEqual(Listeners?.[0], { ListenerArn: s.one, LoadBalancerArn: s.balancer, Port: 80 });
        assert.partialDeepStrictEqual(Listeners?.[0]?.DefaultActions, [forward(s.group)]);
      },
      'two more, through all pages': async () => {
        s.two = await listener(c, s.balancer, 8080);
        s.three = await listener(c, s.balancer, 8081);
        assert.deepEqual((await listeners(c, s.balancer, 1)).toSorted(), [s.one, s.two, s.three].toSorted());
      },
      'a port is taken': () => denied(listener(c, s.balancer, 8080, fixed('503')), 480),
      'changed: it has another port, and redirects': async () => {
        const RedirectConfig = { Protocol: 'HTTPS', Port: '443', StatusCode: 'HTTP_301' as const };
        const DefaultActions: Action[] = [{ Type: 'redirect', RedirectConfig }];
        await c.modifyListener({ ListenerArn: s.one, Port: 8000, DefaultActions });
        const { Listeners } = await c.describeListeners({ ListenerArns: [s.one] });
        assert.partialDeepStrictEqual(Listeners?.[0], { Port: 8000, Protocol: 'HTTP', LoadBalancerArn: s.balancer });
        assert.equal(Listeners?.[0]?.DefaultActions?.length, 1);
        assert.partialDeepStrictEqual(Listeners?.[0]?.DefaultActions?.[0], { Type: 'redirect', RedirectConfig });
      },
      'one is deleted, and gone': async () => {
        await c.deleteListener({ ListenerArn: s.two });
        await denied(c.describeListeners({ ListenerArns: [s.two] }), 480);
        assert.deepEqual((await listeners(c, s.balancer)).toSorted(), [s.one, s.three].toSorted());
      },
      'the others go with the load balancer': async () => {
        await c.deleteLoadBalancer({ LoadBalancerArn: s.balancer });
        await denied(c.describeListeners({ ListenerArns: [s.one] }), 480);
        await denied(c.describeListeners({ LoadBalancerArn: s.balancer }), 481);
      },
      'the target group does not': async () => assert.equal((await oneGroup(c, s.group)).TargetGroupName, 'listened-to'),
    }),

    'a rule, from the first to the last day': (c, s) => ({
      'a listener has the rule of its own action': async () => {
        await served(c, s, 'ruled');
        const all = await rules(c, s.listener);
        assert.equal(all.length, 1);
        assert.equal(all[0]?.IsDefault, true);
        assert.partialDeepStrictEqual(all[0]?.Actions, [fixed('404')]);
        s.default = given(all[0]?.RuleArn, 'RuleArn');
      },
      'one is made': async () => {
        s.group = await group(c, 'images');
        const Conditions = [
          path('/img/*'),
          { Field: 'http-header', HttpHeaderConfig: { HttpHeaderName: 'User-Agent', Values: ['*Chrome*'] } },
        ];
        const made = await c.createRule({ ListenerArn: s.listener, Priority: 10, Conditions, Actions: [forward(s.group)] });
        assert.deepEqual([made.Rules?.[0]?.Priority, made.Rules?.[0]?.IsDefault], ['10', false]);
        s.rule = given(made.Rules?.[0]?.RuleArn, 'RuleArn');
      },
      read: async () => {
        const row = await oneRule(c, s.rule);
        assert.deepEqual([row.RuleArn, row.Priority, row.Conditions?.length], [s.rule, '10', 2]);
        const at = row.Conditions?.find(({ Field }) => Field === 'path-pattern');
        assert.deepEqual(at?.Values ?? at?.PathPatternConfig?.Values, ['/img/*']);
        const by = row.Conditions?.find(({ Field }) => Field === 'http-header')?.HttpHeaderConfig;
        assert.deepEqual([by?.HttpHeaderName, by?.Values], ['User-Agent', ['*Chrome*']]);
        assert.partialDeepStrictEqual(row.Actions, [forward(s.group)]);
      },
      'other conditions, the same action': async () => {
        const Conditions = [{ Field: 'host-header', HostHeaderConfig: { Values: ['*.example.com', 'example.org'] } }];
        await c.modifyRule({ RuleArn: s.rule, Conditions });
        const row = await oneRule(c, s.rule);
        assert.deepEqual([row.Conditions?.length, row.Conditions?.[0]?.Field], [1, 'host-header']);
        assert.deepEqual(row.Conditions?.[0]?.HostHeaderConfig?.Values, ['*.example.com', 'example.org']);
        assert.partialDeepStrictEqual(row.Actions, [forward(s.group)]);
      },
      'two groups by weight': async () => {
        const other = await group(c, 'images-next');
        const TargetGroups = [
          { TargetGroupArn: s.group, Weight: 9 },
          { TargetGroupArn: other, Weight: 1 },
        ];
        await c.modifyRule({ RuleArn: s.rule, Actions: [{ Type: 'forward', ForwardConfig: { TargetGroups } }] });
        const found = (await oneRule(c, s.rule)).Actions?.[0]?.ForwardConfig?.TargetGroups ?? [];
        const weights = (all: typeof TargetGroups | typeof found) =>
          all.map((one) => `${one.TargetGroupArn} ${one.Weight}`).toSorted();
        assert.deepEqual(weights(found), weights(TargetGroups));
      },
      'deleted, and gone': async () => {
        await c.deleteRule({ RuleArn: s.rule });
        await denied(c.describeRules({ RuleArns: [s.rule] }), 481);
        assert.deepEqual(arns(await rules(c, s.listener)), [s.default]);
      },
      'that of the listener stays': () => denied(c.deleteRule({ RuleArn: s.default }), 481),
      'none to a group that is not there': () => denied(rule(c, s.listener, 20, '/lost/*', forward(noGroup)), 486),
    }),

    'the order of rules': (c, s) => ({
      'three are made': async () => {
        await served(c, s, 'ordered');
        for (const at of [1, 2, 3]) s[`r${at}`] = await rule(c, s.listener, at * 10, `/${at}/*`);
      },
      'all of them, through all pages': async () => {
        const all = await rules(c, s.listener, 1);
        once(arns(all), [s.r1, s.r2, s.r3], 'rules');
        assert.equal(all.length, 4);
        once(
          all.filter(({ IsDefault }) => !IsDefault).map(({ Priority }) => Priority ?? ''),
          ['10', '20', '30'],
          'priorities',
        );
      },
      'a priority is taken': () => denied(rule(c, s.listener, 20, '/again/*'), 480),
      'two change places': async () => {
        const RulePriorities = [
          { RuleArn: s.r1, Priority: 30 },
          { RuleArn: s.r3, Priority: 10 },
        ];
        const { Rules } = await c.setRulePriorities({ RulePriorities });
        assert.equal(Rules?.find(({ RuleArn }) => RuleArn === s.r1)?.Priority, '30');
        const now = await Promise.all([s.r1, s.r2, s.r3].map(async (one) => (await oneRule(c, one)).Priority));
        assert.deepEqual(now, ['30', '20', '10']);
      },
      'one does not take the place of another': async () => {
        await denied(c.setRulePriorities({ RulePriorities: [{ RuleArn: s.r1, Priority: 20 }] }), 481);
        assert.equal((await oneRule(c, s.r1)).Priority, '30');
      },
      'nor what is not there': () => denied(c.setRulePriorities({ RulePriorities: [{ RuleArn: noRule, Priority: 50 }] }), 480),
      'the place of one that is deleted is free': async () => {
        await c.deleteRule({ RuleArn: s.r2 });
        await c.setRulePriorities({ RulePriorities: [{ RuleArn: s.r1, Priority: 20 }] });
        assert.equal((await oneRule(c, s.r1)).Priority, '20');
      },
    }),

    'certificates and policies of a secure listener': (c, s) => ({
      'a policy is there': async () => {
        const { SslPolicies } = await c.describeSSLPolicies({ Names: ['ELBSecurityPolicy-2016-08'] });
        assert.deepEqual(
          SslPolicies?.map(({ Name }) => Name),
          ['ELBSecurityPolicy-2016-08'],
        );
        assert.ok(given(SslPolicies?.[0]?.SslProtocols, 'SslProtocols').includes('TLSv1.2'), 'not for TLS 1.2');
      },
      'among all of them': async () => {
        const rows = await pages(
          (Marker) => c.describeSSLPolicies({ PageSize: 5, ...(Marker === undefined ? {} : { Marker }) }),
          ({ SslPolicies }) => SslPolicies ?? [],
          ({ NextMarker }) => NextMarker || undefined,
        );
        once(
          rows.map(({ Name }) => given(Name, 'Name')),
          ['ELBSecurityPolicy-2016-08'],
          'policies',
        );
      },
      'but not any other': () => denied(c.describeSSLPolicies({ Names: ['ELBSecurityPolicy-Never'] }), 480),
      'a secure listener': async () => {
        s.balancer = await balancer(c, 'secure');
        const secure = { Protocol: 'HTTPS' as const, Port: 443, SslPolicy: 'ELBSecurityPolicy-2016-08' };
        const Certificates = [{ CertificateArn: first }];
        const made = await c.createListener({
          LoadBalancerArn: s.balancer,
          ...secure,
          Certificates,
          DefaultActions: [fixed('200')],
        });
        assert.partialDeepStrictEqual(made.Listeners?.[0], { ...secure, Certificates });
        s.arn = given(made.Listeners?.[0]?.ListenerArn, 'ListenerArn');
      },
      'two more certificates': async () => {
        const Certificates = [{ CertificateArn: second }, { CertificateArn: third }];
        const added = (await c.addListenerCertificates({ ListenerArn: s.arn, Certificates })).Certificates ?? [];
        once(
          added.map(({ CertificateArn }) => CertificateArn ?? ''),
          [second, third],
          'certificates',
        );
      },
      'all of them, and which is the first': async () => {
        const walk = paginateDescribeListenerCertificates({ client: c }, { ListenerArn: s.arn, PageSize: 1 });
        const rows = await gather(walk, ({ Certificates }) => Certificates ?? []);
        once(
          rows.map((row) => `${row.CertificateArn} ${row.IsDefault}`),
          [`${first} true`, `${second} false`, `${third} false`],
          'certificates',
        );
      },
      'one is taken away': async () => {
        await c.removeListenerCertificates({ ListenerArn: s.arn, Certificates: [{ CertificateArn: second }] });
        const rows = (await c.describeListenerCertificates({ ListenerArn: s.arn })).Certificates ?? [];
        const found = rows.map(({ CertificateArn }) => given(CertificateArn, 'CertificateArn'));
        once(found, [third], 'certificates');
        without(found, second);
      },
      'none of a listener that is not there': () => denied(c.describeListenerCertificates({ ListenerArn: noListener }), 480),
    }),

    'tags of all kinds of things': (c, s) => ({
      'a load balancer with one': async () => {
        s.balancer = await balancer(c, 'tagged', { Tags: [{ Key: 'stage', Value: 'test' }] });
        assert.deepEqual(await tags(c, s.balancer), { stage: 'test' });
      },
      'two more, for a target group too': async () => {
        s.group = await group(c, 'tagged');
        const Tags = [
          { Key: 'project', Value: 'lima' },
          { Key: 'department', Value: 'digital-media' },
        ];
        await c.addTags({ ResourceArns: [s.balancer, s.group], Tags });
        assert.deepEqual(await tags(c, s.balancer), { stage: 'test', project: 'lima', department: 'digital-media' });
      },
      'both at once': async () => {
        const { TagDescriptions } = await c.describeTags({ ResourceArns: [s.balancer, s.group] });
        const counts = (TagDescriptions ?? []).map((one) => `${one.ResourceArn} ${one.Tags?.length}`);
        assert.deepEqual(counts.toSorted(), [`${s.balancer} 3`, `${s.group} 2`].toSorted());
      },
      'one has another value': async () => {
        await c.addTags({ ResourceArns: [s.group], Tags: [{ Key: 'project', Value: 'quito' }] });
        assert.deepEqual(await tags(c, s.group), { project: 'quito', department: 'digital-media' });
      },
      'two are taken away': async () => {
        await c.removeTags({ ResourceArns: [s.balancer], TagKeys: ['project', 'stage'] });
        assert.deepEqual(await tags(c, s.balancer), { department: 'digital-media' });
      },
      'the group keeps its own': async () => assert.equal((await tags(c, s.group)).project, 'quito'),
      'what is not there has none': async () => {
        await denied(c.describeTags({ ResourceArns: [noBalancer] }), 480);
        await denied(c.addTags({ ResourceArns: [noGroup], Tags: [{ Key: 'a', Value: 'b' }] }), 483);
      },
    }),

    'a credential that is refused': (c, s, another) => ({
      'a load balancer': async () => {
        s.arn = await balancer(c, 'guarded');
      },
      'not read by another': () => stranger(oneBalancer(another('AKIANOBODYATALL00000'), s.arn)),
      'not listed by another': () => stranger(balancers(another('AKIANOBODYATALL00000'))),
      'nothing made by another': () => stranger(balancer(another('AKIANOBODYATALL00000'), 'intruder')),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteLoadBalancer({ LoadBalancerArn: s.arn })),
      'it is still there, and no other': async () => {
        assert.equal((await oneBalancer(c, s.arn)).LoadBalancerName, 'guarded');
        await denied(c.describeLoadBalancers({ Names: ['intruder'] }), 480);
      },
    }),

    'wrong requests, and what is not there': (c, s) => ({
      'a load balancer without a name, and of no known kind': async () => {
        await denied(c.createLoadBalancer({ Name: undefined, Subnets: subnets }), 482);
        await denied(balancer(c, 'sideways', { Type: 'sideways' as 'network' }), 482);
        await denied(c.describeLoadBalancers({ Names: ['sideways'] }), 480);
      },
      'a listener at no port': async () => {
        s.balancer = await balancer(c, 'wronged');
        await denied(listener(c, s.balancer, 70_000), 486);
        assert.deepEqual(await listeners(c, s.balancer), []);
      },
      'health checks all the time': async () => {
        await denied(group(c, 'hasty', { HealthCheckIntervalSeconds: 1 }), 482);
        await denied(c.describeTargetGroups({ Names: ['hasty'] }), 481);
      },
      'a rule of no priority': async () => {
        s.listener = await listener(c, s.balancer);
        await denied(rule(c, s.listener, 0, '/zero/*'), 487);
        assert.equal((await rules(c, s.listener)).length, 1);
      },
      'pages of no rows, and of too many': async () => {
        await denied(c.describeLoadBalancers({ PageSize: 0 }));
        await denied(c.describeTargetGroups({ PageSize: 401 }));
      },
      'nothing at what is not there': async () => {
        await denied(listener(c, noBalancer), 483);
        await denied(rule(c, noListener, 10, '/lost/*'), 485);
        await denied(listener(c, s.balancer, 8080, forward(noGroup)), 484);
      },
      'nor is it changed, nor deleted': async () => {
        await denied(c.modifyListener({ ListenerArn: noListener, Port: 81 }), 483);
        await denied(c.modifyRule({ RuleArn: noRule, Conditions: [path('/lost/*')] }), 482);
        await denied(c.deleteListener({ ListenerArn: noListener }), 480);
        await denied(c.deleteRule({ RuleArn: noRule }), 480);
      },
    }),
  },
};
