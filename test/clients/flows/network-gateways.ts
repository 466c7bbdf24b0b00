import assert from 'node:assert/strict';
import {
  type IpsecPolicy,
  type LocalNetworkGateway,
  NetworkManagementClient,
  type VirtualNetworkGateway,
  type VirtualNetworkGatewayConnection,
  type VpnClientIPsecParameters,
} from '@azure/arm-network';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

const subscription = '11112222-3333-4444-5555-666677778888';
const otherSubscription = '99990000-3333-4444-5555-666677778888';
const version = '2019-07-01';

/** A client knows one subscription: `other` has the same credential and another one. */
interface Gateways {
  readonly vpn: NetworkManagementClient['virtualNetworkGateways'];
  readonly local: NetworkManagementClient['localNetworkGateways'];
  readonly links: NetworkManagementClient['virtualNetworkGatewayConnections'];
  readonly other: NetworkManagementClient['localNetworkGateways'];
}

/**
 * The client gives its credential away over https alone: it is pointed at the place with https, and what comes after its
 * signing sends it on with http; a link that the place gave comes back the same way. The client has no option for the
 * version: that of the description is written into each call.
 */
const manage = (place: Place, token: string, of: string): NetworkManagementClient => {
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const client = new NetworkManagementClient(credential, of, {
    endpoint: place.url.replace(/^http:/, 'https:'),
    retryOptions: { maxRetries: 0 },
  });
  client.pipeline.addPolicy(
    {
      name: 'links of the place',
      sendRequest: (request, next) => {
        request.url = request.url.replace(/^http:/, 'https:').replace(/([?&]api-version=)[^&]*/, `$1${version}`);
        return next(request);
      },
    },
    { phase: 'Serialize' },
  );
  client.pipeline.addPolicy(
    {
      name: 'to the place',
      sendRequest: (request, next) => {
        request.url = request.url.replace(/^https:/, 'http:');
        request.allowInsecureConnection = true;
        return next(request);
      },
    },
    { afterPhase: 'Sign' },
  );
  return client;
};

const connect = (place: Place, token: string): Gateways => {
  const own = manage(place, token, subscription);
  return {
    vpn: own.virtualNetworkGateways,
    local: own.localNetworkGateways,
    links: own.virtualNetworkGatewayConnections,
    other: manage(place, token, otherSubscription).localNetworkGateways,
  };
};

interface Begun<T> {
  isDone(): boolean;
  poll(): Promise<unknown>;
  getResult(): T | undefined;
}
/** What takes long is asked for until it is done, ten times at the most. */
const ended = async <T>(begun: Promise<Begun<T>>): Promise<T> => {
  const poller = await begun;
  for (let turn = 0; turn < 10 && !poller.isDone(); turn += 1) {
    await new Promise((done) => setTimeout(done, 150));
    await poller.poll();
  }
  assert.ok(poller.isDone(), 'it is not done after ten looks');
  return poller.getResult() as T;
};

const group = 'vpn-rg';
const branch = 'branch-rg';
const location = 'eastus';
const under = (kind: string, name: string, of = group): string =>
  `/subscriptions/${subscription}/resourceGroups/${of}/providers/Microsoft.Network/${kind}/${name}`;
const vpnId = (name: string): string => under('virtualNetworkGateways', name);
const localId = (name: string): string => under('localNetworkGateways', name);
/** Azure's ids are the same in upper and lower case. */
const same = (seen: string | undefined, wanted: string): void =>
  assert.equal(given(seen, 'id').toLowerCase(), wanted.toLowerCase());
const names = (rows: readonly { readonly name?: string | undefined }[]): string[] => rows.map((row) => given(row.name, 'name'));
const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const status = (value: string | undefined): void =>
  assert.ok(['Unknown', 'Connecting', 'Connected', 'NotConnected'].includes(value ?? ''), `${value} is no connection's status`);
const filled = (answer: { readonly body: string }, what: string): void => {
  assert.equal(typeof answer.body, 'string', `${what} is no text`);
  assert.ok(answer.body.length > 0, `${what} is empty`);
};

const siteOf = (gatewayIpAddress: string, ...addressPrefixes: readonly string[]): LocalNetworkGateway => ({
  location,
  gatewayIpAddress,
  localNetworkAddressSpace: { addressPrefixes: [...addressPrefixes] },
});
const site = (g: Gateways, name: string, gatewayIpAddress = '203.0.113.10', prefix = '10.101.0.0/24', of = group) =>
  ended(g.local.beginCreateOrUpdate(of, name, siteOf(gatewayIpAddress, prefix)));
const sites = async (g: Gateways, of = group): Promise<string[]> =>
  names(await gather(g.local.list(of).byPage(), (page) => page));

/** A subnet and an address belong to other services, and each gateway has its own. */
const gatewayOf = (name: string, more: Partial<VirtualNetworkGateway> = {}): VirtualNetworkGateway => ({
  location,
  gatewayType: 'Vpn',
  vpnType: 'RouteBased',
  enableBgp: false,
  active: false,
  sku: { name: 'VpnGw1', tier: 'VpnGw1' },
  ipConfigurations: [
    {
      name: 'default',
      privateIPAllocationMethod: 'Dynamic',
      subnet: { id: `${under('virtualNetworks', `${name}-vnet`)}/subnets/GatewaySubnet` },
      publicIPAddress: { id: under('publicIPAddresses', `${name}-ip`) },
    },
  ],
  ...more,
});
const gateway = (g: Gateways, name: string, more: Partial<VirtualNetworkGateway> = {}, of = group) =>
  ended(g.vpn.beginCreateOrUpdate(of, name, gatewayOf(name, more)));
const gateways = async (g: Gateways, of = group): Promise<string[]> =>
  names(await gather(g.vpn.list(of).byPage(), (page) => page));

const linkOf = (
  from: string,
  to: string,
  more: Partial<VirtualNetworkGatewayConnection> = {},
): VirtualNetworkGatewayConnection => ({
  location,
  connectionType: 'IPsec',
  virtualNetworkGateway1: { id: vpnId(from) },
  localNetworkGateway2: { id: localId(to) },
  routingWeight: 10,
  sharedKey: 'Azure-A1b2C3D4',
  ...more,
});
const link = (g: Gateways, name: string, from: string, to: string, more: Partial<VirtualNetworkGatewayConnection> = {}) =>
  ended(g.links.beginCreateOrUpdate(group, name, linkOf(from, to, more)));
const links = async (g: Gateways, of = group): Promise<string[]> =>
  names(await gather(g.links.list(of).byPage(), (page) => page));
/** A gateway, a site, and a connection between the two. */
const tunnel = async (g: Gateways, name: string, more: Partial<VirtualNetworkGatewayConnection> = {}) => {
  await gateway(g, `${name}-gw`);
  await site(g, `${name}-site`);
  return link(g, `${name}-link`, `${name}-gw`, `${name}-site`, more);
};

const strong: IpsecPolicy = {
  saLifeTimeSeconds: 14_400,
  saDataSizeKilobytes: 102_400_000,
  ipsecEncryption: 'AES256',
  ipsecIntegrity: 'SHA256',
  ikeEncryption: 'AES256',
  ikeIntegrity: 'SHA384',
  dhGroup: 'DHGroup24',
  pfsGroup: 'PFS24',
};
/** Two root certificates, as they are exported: base64 of DER. */
const certificate =
  'MIIBgjCCASmgAwIBAgIUcsVtKmp8ZU4lPfRjT5j4KrZ4Si4wCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMUDJTUm9vdENlcnQxMB4XDTI2MTEyODEzMzg1MFoXDTM2MTEyNTEzMzg1MFowFzEVMBMGA1UEAwwMUDJTUm9vdENlcnQxMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAErRcRv5lDWXAMSndhmejJdBK1PsISFE7DS9028Z407YrjX6QTYfMkydVjzmuW6lBvjV0UljKQcxRHB+MC7w7d0qNTMFEwHQYDVR0OBBYEFIataPWIxnRJd7OmRs/Emk3Oq6XXMB8GA1UdIwQYMBaAFIataPWIxnRJd7OmRs/Emk3Oq6XXMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIga4mYV59Zs58WPNZXkq0vBnnJ3ZEKf5VGsoF+1Mr58PsCIAmdgkC2YpvHhHHXvIyuNZ5Kp3yyD+dlN7W/MTt9iBi7';
const nextCertificate =
  'MIIBgjCCASmgAwIBAgIUGDq0E4iDWF3mMNjr67JPJA2p7g4wCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMUDJTUm9vdENlcnQyMB4XDTI2MTEyODEzMzg1MFoXDTM2MTEyNTEzMzg1MFowFzEVMBMGA1UEAwwMUDJTUm9vdENlcnQyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEuguEBDC47SaqsJHp8+wpBjuwdKjESXC0Qhk7biuWaPJUKK+RIphmIO1rSYhSLxLbQwqdYyQ9l55e2eO9ekEuIKNTMFEwHQYDVR0OBBYEFC6FwalVYxFWgk6Yy/N+unzb3LxSMB8GA1UdIwQYMBaAFC6FwalVYxFWgk6Yy/N+unzb3LxSMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgBnkQktaffLD28n3/df8CrCAQcMQqGoJXyUYoljyQbwgCIHASi69ruGPo++WTH96i0Im9658I/y1/3GV/IH64vebq';

/** Guide: learn.microsoft.com/azure/vpn-gateway (site-to-site, VNet-to-VNet, point-to-site, IPsec policies, device scripts, resets) and its REST reference. */
export const vendor: Vendor<Gateways> = {
  document: 'network-gateways/network-gateways.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.network-operator.signature',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a local network gateway, from the first to the last day': (g) => ({
      made: async () => {
        const made = await site(g, 'life-site', '203.0.113.20', '10.20.0.0/16');
        assert.deepEqual(
          [made.name, made.type, made.location],
          ['life-site', 'Microsoft.Network/localNetworkGateways', location],
        );
        same(made.id, localId('life-site'));
      },
      read: async () => {
        const read = await g.local.get(group, 'life-site');
        assert.deepEqual(
          [read.gatewayIpAddress, read.localNetworkAddressSpace?.addressPrefixes, read.provisioningState],
          ['203.0.113.20', ['10.20.0.0/16'], 'Succeeded'],
        );
      },
      'the site grows, and moves': async () => {
        await ended(g.local.beginCreateOrUpdate(group, 'life-site', siteOf('203.0.113.21', '10.20.0.0/16', '10.21.0.0/16')));
        const read = await g.local.get(group, 'life-site');
        assert.deepEqual(
          [read.gatewayIpAddress, read.localNetworkAddressSpace?.addressPrefixes],
          ['203.0.113.21', ['10.20.0.0/16', '10.21.0.0/16']],
        );
      },
      'it speaks BGP': async () => {
        const bgpSettings = { asn: 65_050, bgpPeeringAddress: '10.51.255.254', peerWeight: 0 };
        await ended(
          g.local.beginCreateOrUpdate(group, 'life-site', { ...siteOf('203.0.113.21', '10.51.255.254/32'), bgpSettings }),
        );
        const read = await g.local.get(group, 'life-site');
        assert.deepEqual([read.bgpSettings?.asn, read.bgpSettings?.bgpPeeringAddress], [65_050, '10.51.255.254']);
      },
      'is in the list, once': async () => once(await sites(g), ['life-site'], 'sites'),
      deleted: () => ended(g.local.beginDelete(group, 'life-site')),
      gone: () => refused(g.local.get(group, 'life-site'), 404),
      'no longer in the list': async () => without(await sites(g), 'life-site'),
    }),

    'lists through all pages, each group for itself': (g) => ({
      'six sites are made, in no order': async () => {
        for (const letter of ['d', 'a', 'f', 'c', 'b', 'e'])
          await site(g, `page-${letter}`, '203.0.113.30', `10.3${letter.charCodeAt(0) - 97}.0.0/16`);
      },
      'all of them, each once': async () => {
        const rows = await sites(g);
        once(rows, [...new Set(rows), 'page-a', 'page-b', 'page-c', 'page-d', 'page-e', 'page-f'], 'sites');
      },
      'row after row is the same as page after page': async () => {
        const rows: string[] = [];
        for await (const row of g.local.list(group)) rows.push(given(row.name, 'name'));
        assert.deepEqual(rows.sort(), (await sites(g)).sort());
      },
      'each row has what it was made with': async () => {
        const rows = await gather(g.local.list(group).byPage(), (page) => page);
        const row = rows.find(({ name }) => name === 'page-c');
        assert.deepEqual(
          [row?.gatewayIpAddress, row?.localNetworkAddressSpace?.addressPrefixes],
          ['203.0.113.30', ['10.32.0.0/16']],
        );
      },
      'another group has its own, even of the same name': async () => {
        await site(g, 'page-a', '198.51.100.7', '10.99.0.0/16', branch);
        once(await sites(g, branch), ['page-a'], 'sites');
        without(await sites(g, branch), 'page-b');
        assert.equal((await g.local.get(group, 'page-a')).gatewayIpAddress, '203.0.113.30');
      },
      'another subscription does not know them': () => refused(g.other.get(group, 'page-b'), 404),
      'one less': async () => {
        await ended(g.local.beginDelete(group, 'page-d'));
        const rows = await sites(g);
        without(rows, 'page-d');
        once(rows, ['page-a', 'page-b', 'page-c', 'page-e', 'page-f'], 'sites');
      },
    }),

    'a VPN gateway, from the first to the last day': (g) => ({
      made: async () => {
        const made = await gateway(g, 'life-gw');
        assert.deepEqual(
          [made.name, made.type, made.location],
          ['life-gw', 'Microsoft.Network/virtualNetworkGateways', location],
        );
        same(made.id, vpnId('life-gw'));
      },
      read: async () => {
        const read = await g.vpn.get(group, 'life-gw');
        assert.deepEqual(
          [read.gatewayType, read.vpnType, read.sku?.name, read.enableBgp, read.active, read.provisioningState],
          ['Vpn', 'RouteBased', 'VpnGw1', false, false, 'Succeeded'],
        );
      },
      'its address and its subnet': async () => {
        const [ip] = given((await g.vpn.get(group, 'life-gw')).ipConfigurations, 'ipConfigurations');
        assert.deepEqual([ip?.name, ip?.privateIPAllocationMethod], ['default', 'Dynamic']);
        same(ip?.publicIPAddress?.id, under('publicIPAddresses', 'life-gw-ip'));
        same(ip?.subnet?.id, `${under('virtualNetworks', 'life-gw-vnet')}/subnets/GatewaySubnet`);
      },
      'its address configuration has an id below its own': async () => {
        const [ip] = given((await g.vpn.get(group, 'life-gw')).ipConfigurations, 'ipConfigurations');
        same(ip?.id, `${vpnId('life-gw')}/ipConfigurations/default`);
      },
      'a bigger one': async () => {
        await gateway(g, 'life-gw', { sku: { name: 'VpnGw2', tier: 'VpnGw2' } });
        assert.deepEqual((await g.vpn.get(group, 'life-gw')).sku?.name, 'VpnGw2');
      },
      'is in the list, once': async () => once(await gateways(g), ['life-gw'], 'gateways'),
      deleted: () => ended(g.vpn.beginDelete(group, 'life-gw')),
      gone: () => refused(g.vpn.get(group, 'life-gw'), 404),
      'no longer in the list': async () => without(await gateways(g), 'life-gw'),
    }),

    'tags, and what a PUT replaces': (g, s) => ({
      'made with tags': async () => {
        const made = await gateway(g, 'tag-gw', { tags: { env: 'test' } });
        assert.deepEqual(made.tags, { env: 'test' });
      },
      'it has a tag of its state': async () => {
        s.etag = given((await g.vpn.get(group, 'tag-gw')).etag, 'etag');
      },
      'tags changed alone': async () => {
        const changed = await ended(g.vpn.beginUpdateTags(group, 'tag-gw', { tags: { env: 'prod', team: 'network' } }));
        assert.deepEqual(changed.tags, { env: 'prod', team: 'network' });
      },
      'all else stayed': async () => {
        const read = await g.vpn.get(group, 'tag-gw');
        assert.deepEqual([read.tags, read.sku?.name, read.vpnType], [{ env: 'prod', team: 'network' }, 'VpnGw1', 'RouteBased']);
        assert.equal(read.ipConfigurations?.length, 1);
      },
      'its state has another tag': async () => assert.notEqual((await g.vpn.get(group, 'tag-gw')).etag, s.etag),
      'a PUT without tags takes them away': async () => {
        await gateway(g, 'tag-gw');
        assert.deepEqual((await g.vpn.get(group, 'tag-gw')).tags ?? {}, {});
      },
      'a site has tags too': async () => {
        await site(g, 'tag-site');
        const changed = await g.local.updateTags(group, 'tag-site', { tags: { city: 'Lyon' } });
        assert.deepEqual([changed.tags, changed.gatewayIpAddress], [{ city: 'Lyon' }, '203.0.113.10']);
      },
      'a name is the same in upper case': async () => same((await g.local.get(group, 'TAG-SITE')).id, localId('tag-site')),
    }),

    'a site-to-site connection, from the first to the last day': (g) => ({
      made: async () => {
        const made = await tunnel(g, 's2s');
        assert.deepEqual([made.name, made.type, made.connectionType], ['s2s-link', 'Microsoft.Network/connections', 'IPsec']);
        same(made.id, under('connections', 's2s-link'));
      },
      'read, with both ends': async () => {
        const read = await g.links.get(group, 's2s-link');
        same(read.virtualNetworkGateway1.id, vpnId('s2s-gw'));
        same(read.localNetworkGateway2?.id, localId('s2s-site'));
        assert.deepEqual([read.routingWeight, read.provisioningState], [10, 'Succeeded']);
      },
      'it has a status': async () => status((await g.links.get(group, 's2s-link')).connectionStatus),
      'another weight': async () => {
        await link(g, 's2s-link', 's2s-gw', 's2s-site', { routingWeight: 20 });
        assert.equal((await g.links.get(group, 's2s-link')).routingWeight, 20);
      },
      'tags changed alone': async () => {
        await ended(g.links.beginUpdateTags(group, 's2s-link', { tags: { circuit: 'blue' } }));
        const read = await g.links.get(group, 's2s-link');
        assert.deepEqual([read.tags, read.routingWeight, read.connectionType], [{ circuit: 'blue' }, 20, 'IPsec']);
      },
      'is in the list, once': async () => once(await links(g), ['s2s-link'], 'connections'),
      deleted: async () => {
        await ended(g.links.beginDelete(group, 's2s-link'));
        await refused(g.links.get(group, 's2s-link'), 404);
        without(await links(g), 's2s-link');
      },
      'both ends are still there': async () => {
        assert.equal((await g.vpn.get(group, 's2s-gw')).name, 's2s-gw');
        assert.equal((await g.local.get(group, 's2s-site')).name, 's2s-site');
      },
    }),

    'the connections of one gateway': (g) => ({
      'two gateways, three sites, three connections': async () => {
        await gateway(g, 'hub-gw');
        await gateway(g, 'edge-gw');
        for (const [index, city] of ['oslo', 'rome', 'bern'].entries()) {
          await site(g, city, `203.0.113.4${index}`, `10.4${index}.0.0/16`);
          await link(g, `to-${city}`, city === 'bern' ? 'edge-gw' : 'hub-gw', city);
        }
      },
      'the hub has two': async () => {
        const rows = names(await gather(g.vpn.listConnections(group, 'hub-gw').byPage(), (page) => page));
        once(rows, ['to-oslo', 'to-rome'], 'connections');
        without(rows, 'to-bern');
      },
      'the edge has the third': async () => {
        const rows = names(await gather(g.vpn.listConnections(group, 'edge-gw').byPage(), (page) => page));
        once(rows, ['to-bern'], 'connections');
        without(rows, 'to-oslo');
      },
      'a row refers to both ends': async () => {
        const rows = await gather(g.vpn.listConnections(group, 'hub-gw').byPage(), (page) => page);
        const row = given(
          rows.find(({ name }) => name === 'to-rome'),
          'row of Rome',
        );
        assert.equal(row.connectionType, 'IPsec');
        same(row.virtualNetworkGateway1.id, vpnId('hub-gw'));
        same(row.localNetworkGateway2?.id, localId('rome'));
      },
      'the group has all three': async () => once(await links(g), ['to-oslo', 'to-rome', 'to-bern'], 'connections'),
      'one less': async () => {
        await ended(g.links.beginDelete(group, 'to-oslo'));
        const rows = names(await gather(g.vpn.listConnections(group, 'hub-gw').byPage(), (page) => page));
        without(rows, 'to-oslo');
        once(rows, ['to-rome'], 'connections');
      },
    }),

    'two networks connected, one way and the other': (g) => ({
      'two gateways': async () => {
        await gateway(g, 'east-gw');
        await gateway(g, 'west-gw', { location: 'westus' });
        assert.equal((await g.vpn.get(group, 'west-gw')).location, 'westus');
      },
      'from east to west': async () => {
        const made = await link(g, 'east-to-west', 'east-gw', '', {
          connectionType: 'Vnet2Vnet',
          localNetworkGateway2: undefined,
          virtualNetworkGateway2: { id: vpnId('west-gw') },
        });
        assert.equal(made.connectionType, 'Vnet2Vnet');
        same(made.virtualNetworkGateway2?.id, vpnId('west-gw'));
      },
      'and back': async () => {
        const made = await link(g, 'west-to-east', 'west-gw', '', {
          location: 'westus',
          connectionType: 'Vnet2Vnet',
          localNetworkGateway2: undefined,
          virtualNetworkGateway2: { id: vpnId('east-gw') },
        });
        same(made.virtualNetworkGateway1.id, vpnId('west-gw'));
      },
      'no site is in it': async () =>
        assert.equal((await g.links.get(group, 'east-to-west')).localNetworkGateway2?.id, undefined),
      'each has a status': async () => {
        status((await g.links.get(group, 'east-to-west')).connectionStatus);
        status((await g.links.get(group, 'west-to-east')).connectionStatus);
      },
      'both are in the list': async () => once(await links(g), ['east-to-west', 'west-to-east'], 'connections'),
    }),

    'the shared key of a connection': (g, s) => ({
      'a connection is made with a key': () => tunnel(g, 'key', { sharedKey: 'First-Key-0001' }),
      'the key is read': async () => assert.equal((await g.links.getSharedKey(group, 'key-link')).value, 'First-Key-0001'),
      'another is set': async () => {
        const set = await ended(g.links.beginSetSharedKey(group, 'key-link', { value: 'Second-Key-0002' }));
        assert.equal(set.value, 'Second-Key-0002');
      },
      'it is the one read now': async () =>
        assert.equal((await g.links.getSharedKey(group, 'key-link')).value, 'Second-Key-0002'),
      'made anew by the service': async () => {
        await ended(g.links.beginResetSharedKey(group, 'key-link', { keyLength: 64 }));
        s.key = (await g.links.getSharedKey(group, 'key-link')).value;
        assert.notEqual(s.key, 'Second-Key-0002');
      },
      'as long as asked for': async () => assert.equal((await g.links.getSharedKey(group, 'key-link')).value.length, 64),
      'the connection is as before': async () => {
        const read = await g.links.get(group, 'key-link');
        assert.deepEqual([read.connectionType, read.routingWeight], ['IPsec', 10]);
      },
      'no key of what is not there': async () => {
        await refused(g.links.getSharedKey(group, 'no-link'), 404);
        await refused(ended(g.links.beginSetSharedKey(group, 'no-link', { value: 'Nobody-Reads-Me' })), 404);
      },
    }),

    'a policy for IPsec and IKE': (g) => ({
      'made without one': async () => {
        await tunnel(g, 'ike');
        assert.deepEqual((await g.links.get(group, 'ike-link')).ipsecPolicies ?? [], []);
      },
      'a policy is given to it': async () => {
        await link(g, 'ike-link', 'ike-gw', 'ike-site', { ipsecPolicies: [strong] });
        assert.deepEqual((await g.links.get(group, 'ike-link')).ipsecPolicies, [strong]);
      },
      'with selectors by policy': async () => {
        await link(g, 'ike-link', 'ike-gw', 'ike-site', { ipsecPolicies: [strong], usePolicyBasedTrafficSelectors: true });
        assert.equal((await g.links.get(group, 'ike-link')).usePolicyBasedTrafficSelectors, true);
      },
      'another policy in its place': async () => {
        const weaker: IpsecPolicy = { ...strong, dhGroup: 'DHGroup14', pfsGroup: 'None', saLifeTimeSeconds: 27_000 };
        await link(g, 'ike-link', 'ike-gw', 'ike-site', { ipsecPolicies: [weaker] });
        assert.deepEqual((await g.links.get(group, 'ike-link')).ipsecPolicies, [weaker]);
      },
      'an algorithm that nobody knows': () =>
        refused(link(g, 'ike-link', 'ike-gw', 'ike-site', { ipsecPolicies: [{ ...strong, ipsecEncryption: 'ROT13' }] }), 400),
      'a lifetime of less than five minutes': () =>
        refused(link(g, 'ike-link', 'ike-gw', 'ike-site', { ipsecPolicies: [{ ...strong, saLifeTimeSeconds: 60 }] }), 400),
      'the default again': async () => {
        await link(g, 'ike-link', 'ike-gw', 'ike-site', { ipsecPolicies: [] });
        assert.deepEqual((await g.links.get(group, 'ike-link')).ipsecPolicies ?? [], []);
      },
    }),

    'people who dial in': (g) => {
      const clients = {
        vpnClientAddressPool: { addressPrefixes: ['172.16.201.0/24'] },
        vpnClientProtocols: ['IkeV2', 'OpenVPN'],
        vpnClientRootCertificates: [{ name: 'P2SRootCert1', publicCertData: certificate }],
      };
      const parameters: VpnClientIPsecParameters = { ...strong, dhGroup: 'DHGroup24', ikeIntegrity: 'SHA384' };
      return {
        'a gateway with addresses and a root certificate': async () => {
          await gateway(g, 'p2s-gw', { vpnClientConfiguration: clients });
          const read = given((await g.vpn.get(group, 'p2s-gw')).vpnClientConfiguration, 'vpnClientConfiguration');
          assert.deepEqual(read.vpnClientAddressPool?.addressPrefixes, ['172.16.201.0/24']);
          assert.deepEqual([...(read.vpnClientProtocols ?? [])].sort(), ['IkeV2', 'OpenVPN']);
          assert.equal(read.vpnClientRootCertificates?.[0]?.publicCertData, certificate);
        },
        'a second root certificate': async () => {
          const vpnClientRootCertificates = [
            ...clients.vpnClientRootCertificates,
            { name: 'P2SRootCert2', publicCertData: nextCertificate },
          ];
          await gateway(g, 'p2s-gw', { vpnClientConfiguration: { ...clients, vpnClientRootCertificates } });
          const read = (await g.vpn.get(group, 'p2s-gw')).vpnClientConfiguration;
          once(names(read?.vpnClientRootCertificates ?? []), ['P2SRootCert1', 'P2SRootCert2'], 'certificates');
        },
        "one client's certificate is revoked": async () => {
          const thumbprint = '51AB1EDD8DA4CDED9EDD28BC2B5FF5A1A3FBE1C2';
          const vpnClientRevokedCertificates = [{ name: 'lost-laptop', thumbprint }];
          await gateway(g, 'p2s-gw', { vpnClientConfiguration: { ...clients, vpnClientRevokedCertificates } });
          const [row] = given(
            (await g.vpn.get(group, 'p2s-gw')).vpnClientConfiguration?.vpnClientRevokedCertificates,
            'revoked ones',
          );
          assert.deepEqual([row?.name, row?.thumbprint], ['lost-laptop', thumbprint]);
        },
        'a package for a client': async () => {
          const answer = await ended(g.vpn.beginGeneratevpnclientpackage(group, 'p2s-gw', { processorArchitecture: 'Amd64' }));
          filled(answer, 'the address of the package');
        },
        'a profile, and where it lies': async () => {
          const asked = { processorArchitecture: 'Amd64', authenticationMethod: 'EAPTLS' };
          filled(await ended(g.vpn.beginGenerateVpnProfile(group, 'p2s-gw', asked)), 'the address of the profile');
          filled(await ended(g.vpn.beginGetVpnProfilePackageUrl(group, 'p2s-gw')), 'the address of the last profile');
        },
        'parameters of their IPsec': async () => {
          const set = await ended(g.vpn.beginSetVpnclientIpsecParameters(group, 'p2s-gw', parameters));
          assert.equal(set.saLifeTimeSeconds, parameters.saLifeTimeSeconds);
          const read = await ended(g.vpn.beginGetVpnclientIpsecParameters(group, 'p2s-gw'));
          assert.deepEqual([read.ikeEncryption, read.ikeIntegrity, read.pfsGroup], ['AES256', 'SHA384', 'PFS24']);
        },
        'who is connected': async () => {
          const health = await ended(g.vpn.beginGetVpnclientConnectionHealth(group, 'p2s-gw'));
          assert.ok(Array.isArray(health.value ?? []), 'it is no list');
        },
        'their shared key is made anew': () => ended(g.vpn.beginResetVpnClientSharedKey(group, 'p2s-gw')),
      };
    },

    'routes, peers and a reset': (g) => ({
      'a gateway that speaks BGP': async () => {
        await gateway(g, 'bgp-gw', { enableBgp: true, bgpSettings: { asn: 65_010 } });
        const read = await g.vpn.get(group, 'bgp-gw');
        assert.deepEqual([read.enableBgp, read.bgpSettings?.asn], [true, 65_010]);
      },
      'its peers': async () => {
        const { value } = await ended(g.vpn.beginGetBgpPeerStatus(group, 'bgp-gw'));
        assert.ok(Array.isArray(value), 'it is no list');
      },
      'what it learned': async () => {
        const { value } = await ended(g.vpn.beginGetLearnedRoutes(group, 'bgp-gw'));
        assert.ok(Array.isArray(value), 'it is no list');
      },
      'what it tells one peer': async () => {
        const { value } = await ended(g.vpn.beginGetAdvertisedRoutes(group, 'bgp-gw', '10.51.255.254'));
        assert.ok(Array.isArray(value), 'it is no list');
      },
      'reset, and the same as before': async () => {
        await ended(g.vpn.beginReset(group, 'bgp-gw'));
        const read = await g.vpn.get(group, 'bgp-gw');
        assert.deepEqual([read.enableBgp, read.bgpSettings?.asn, read.provisioningState], [true, 65_010, 'Succeeded']);
      },
      'routes of its own for clients': async () => {
        await gateway(g, 'bgp-gw', {
          enableBgp: true,
          bgpSettings: { asn: 65_010 },
          customRoutes: { addressPrefixes: ['10.77.0.0/16'] },
        });
        assert.deepEqual((await g.vpn.get(group, 'bgp-gw')).customRoutes?.addressPrefixes, ['10.77.0.0/16']);
      },
      'packets are captured, and no more': async () => {
        await ended(g.vpn.beginStartPacketCapture(group, 'bgp-gw', { parameters: { filterData: '{"TracingFlags":11}' } }));
        const sasUrl =
          'https://captures.blob.core.windows.net/vpn?sv=2018-03-28&sr=c&sig=c2lnbmF0dXJl&se=2030-01-01T00%3A00%3A00Z&sp=rcw';
        await ended(g.vpn.beginStopPacketCapture(group, 'bgp-gw', { sasUrl }));
      },
    }),

    'a script for the device at the other end': (g) => ({
      'a connection': () => tunnel(g, 'device'),
      'devices that are supported': async () =>
        filled(await g.vpn.supportedVpnDevices(group, 'device-gw'), 'the list of devices'),
      'a script for one of them': async () => {
        const asked = { vendor: 'Cisco', deviceFamily: 'ISR', firmwareVersion: 'IOS 15.1 (Preview)' };
        filled(await g.vpn.vpnDeviceConfigurationScript(group, 'device-link', asked), 'the script');
      },
      'packets of the connection alone are captured, and no more': async () => {
        await ended(g.links.beginStartPacketCapture(group, 'device-link', { parameters: { filterData: '{"TracingFlags":11}' } }));
        const sasUrl =
          'https://captures.blob.core.windows.net/vpn?sv=2018-03-28&sr=c&sig=c2lnbmF0dXJl&se=2030-01-01T00%3A00%3A00Z&sp=rcw';
        await ended(g.links.beginStopPacketCapture(group, 'device-link', { sasUrl }));
      },
      'no devices of a gateway that is not there': () => refused(g.vpn.supportedVpnDevices(group, 'no-gw'), 404),
      'no script for a connection that is not there': () =>
        refused(
          g.vpn.vpnDeviceConfigurationScript(group, 'no-link', {
            vendor: 'Cisco',
            deviceFamily: 'ISR',
            firmwareVersion: 'IOS 15.1 (Preview)',
          }),
          404,
        ),
    }),

    'conflicts: what is in use, what cannot move': (g) => ({
      'a connection': () => tunnel(g, 'busy'),
      'its gateway is not deleted': async () => {
        await refused(ended(g.vpn.beginDelete(group, 'busy-gw')), 400, 409);
        assert.equal((await g.vpn.get(group, 'busy-gw')).name, 'busy-gw');
      },
      'nor its site': async () => {
        await refused(ended(g.local.beginDelete(group, 'busy-site')), 400, 409);
        assert.equal((await g.local.get(group, 'busy-site')).name, 'busy-site');
      },
      'a site does not move to another region': async () => {
        const elsewhere = { ...siteOf('203.0.113.10', '10.101.0.0/24'), location: 'westeurope' };
        await refused(ended(g.local.beginCreateOrUpdate(group, 'busy-site', elsewhere)), 400, 409);
        assert.equal((await g.local.get(group, 'busy-site')).location, location);
      },
      'a VPN gateway does not become one of ExpressRoute': async () => {
        await refused(
          gateway(g, 'busy-gw', { gatewayType: 'ExpressRoute', sku: { name: 'Standard', tier: 'Standard' } }),
          400,
          409,
        );
        assert.equal((await g.vpn.get(group, 'busy-gw')).gatewayType, 'Vpn');
      },
      'without the connection, all of it goes': async () => {
        await ended(g.links.beginDelete(group, 'busy-link'));
        await ended(g.vpn.beginDelete(group, 'busy-gw'));
        await ended(g.local.beginDelete(group, 'busy-site'));
        await refused(g.vpn.get(group, 'busy-gw'), 404);
        await refused(g.local.get(group, 'busy-site'), 404);
      },
    }),

    'a credential that is refused': (g, _s, another) => ({
      'a site is made': () => site(g, 'guarded-site'),
      'not read by another': () => refused(another('a-wrong-token').local.get(group, 'guarded-site'), 401, 403),
      'nor listed': () => refused(sites(another('a-wrong-token')), 401, 403),
      'nothing is made by another': async () => {
        await refused(site(another('a-wrong-token'), 'intruder-site'), 401, 403);
        await refused(gateway(another('a-wrong-token'), 'intruder-gw'), 401, 403);
      },
      'nor deleted': () => refused(ended(another('a-wrong-token').local.beginDelete(group, 'guarded-site')), 401, 403),
      'it is still there, and alone': async () => {
        const rows = await sites(g);
        once(rows, ['guarded-site'], 'sites');
        without(rows, 'intruder-site');
      },
    }),

    'wrong requests': (g) => ({
      'a site with nothing but a region': () =>
        refused(ended(g.local.beginCreateOrUpdate(group, 'wrong-site', { location })), 400),
      'a site at an address that is none': () => refused(site(g, 'wrong-site', '203.0.113.999'), 400),
      'a site of a network that is none': () => refused(site(g, 'wrong-site', '203.0.113.10', '10.0.0.0/48'), 400),
      'a gateway without a subnet': () => refused(gateway(g, 'wrong-gw', { ipConfigurations: [] }), 400),
      'a gateway of a size that nobody sells': () =>
        refused(gateway(g, 'wrong-gw', { sku: { name: 'VpnGw99', tier: 'VpnGw99' } }), 400),
      'a connection of no known kind': async () => {
        await gateway(g, 'right-gw');
        await site(g, 'right-site');
        await refused(link(g, 'wrong-link', 'right-gw', 'right-site', { connectionType: 'Carrier' }), 400);
      },
      'a connection to a site that is not there': () => refused(link(g, 'wrong-link', 'right-gw', 'no-site'), 400, 404),
      'a connection from a gateway that is not there': () => refused(link(g, 'wrong-link', 'no-gw', 'right-site'), 400, 404),
      'nothing of it was made': async () => {
        without(await sites(g), 'wrong-site');
        without(await gateways(g), 'wrong-gw');
        without(await links(g), 'wrong-link');
      },
    }),

    'what is not there': (g) => ({
      'is not read': async () => {
        await refused(g.vpn.get(group, 'no-gw'), 404);
        await refused(g.local.get(group, 'no-site'), 404);
        await refused(g.links.get(group, 'no-link'), 404);
      },
      'gets no tags': async () => {
        await refused(ended(g.vpn.beginUpdateTags(group, 'no-gw', { tags: { a: 'b' } })), 404);
        await refused(g.local.updateTags(group, 'no-site', { tags: { a: 'b' } }), 404);
        await refused(ended(g.links.beginUpdateTags(group, 'no-link', { tags: { a: 'b' } })), 404);
      },
      'has no connections': () =>
        refused(
          gather(g.vpn.listConnections(group, 'no-gw').byPage(), (page) => page),
          404,
        ),
      'is not reset': () => refused(ended(g.vpn.beginReset(group, 'no-gw')), 404),
      'has neither peers nor routes': async () => {
        await refused(ended(g.vpn.beginGetBgpPeerStatus(group, 'no-gw')), 404);
        await refused(ended(g.vpn.beginGetLearnedRoutes(group, 'no-gw')), 404);
      },
      'may be deleted, though: there is nothing to do': async () => {
        await ended(g.vpn.beginDelete(group, 'no-gw'));
        await ended(g.local.beginDelete(group, 'no-site'));
        await ended(g.links.beginDelete(group, 'no-link'));
      },
    }),
  },
};
