import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { once, type Place, refused, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Call = (input?: unknown) => Promise<unknown>;

/** The parts of the client that are used here: it has no types of its own. */
interface Library {
  readonly Configuration: { BASEURI: string; xCiscoMerakiAPIKey: string };
  readonly [controller: string]: unknown;
}
const library = createRequire(import.meta.url)('meraki') as Library;

/** What the client throws of an answer that is no success: the status is its code. */
interface Thrown {
  readonly errorMessage: string;
  readonly errorCode: number | string;
  readonly errorResponse?: unknown;
}

interface Meraki {
  /** The answer to a call of a controller, which has no body where something was deleted. */
  readonly ask: <Answer = Row>(controller: string, method: string, input?: unknown) => Promise<Answer>;
}

/** The client has one key and one address for all of its controllers, which each call reads when it is made. */
const connect = (place: Place, token: string): Meraki => ({
  ask: async <Answer>(controller: string, method: string, input?: unknown): Promise<Answer> => {
    library.Configuration.BASEURI = place.base;
    library.Configuration.xCiscoMerakiAPIKey = token;
    const calls = library[`${controller}Controller`] as Readonly<Record<string, Call>>;
    try {
      return (await calls[method](input)) as Answer;
    } catch (thrown) {
      const { errorMessage, errorCode, errorResponse } = thrown as Thrown;
      const words = `${method}: ${errorMessage} ${errorCode} ${String(errorResponse)}`;
      throw Object.assign(new Error(words), { status: errorCode });
    }
  },
});

const gone = (call: Promise<unknown>): Promise<unknown> => refused(call, 404);
/** The reference says that a wrong key is answered 404, so that nobody learns what is there; its later releases say 401. */
const unknown = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 404);
const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(id));

/** The organization of the key; where the list has none, the one which the reference has in its examples. */
const organization = async (meraki: Meraki): Promise<string> => {
  const all = await meraki.ask<Row[]>('Organizations', 'getOrganizations');
  return String(all[0]?.id ?? '2930418');
};

const network = async (meraki: Meraki, name: string, type = 'wireless', organizationId?: string): Promise<string> => {
  const input = {
    organizationId: organizationId ?? (await organization(meraki)),
    createOrganizationNetwork: { name, type, timeZone: 'America/Los_Angeles' },
  };
  return String((await meraki.ask('Networks', 'createOrganizationNetwork', input)).id);
};

/** The Dashboard API's reference, v0, and its guide on getting started. */
export const vendor: Vendor<Meraki> = {
  document: 'meraki/meraki.com.json',
  header: 'x-cisco-meraki-api-key',
  made: '6bec40cf957de430a6f1f2baa056b99a4fac9ea0',
  client: connect,
  strict: ['a wrong key learns nothing'],
  flows: {
    'the organization of the key': (meraki, s) => ({
      'there is one': async () => {
        const [first] = await meraki.ask<Row[]>('Organizations', 'getOrganizations');
        assert.ok(first !== undefined, 'the key belongs to an organization');
        assert.equal(typeof first.id, 'string');
        s.id = String(first.id);
        s.name = String(first.name);
      },
      'read as it was listed': async () => {
        const read = await meraki.ask('Organizations', 'getOrganization', s.id);
        assert.deepEqual([read.id, read.name], [s.id, s.name]);
      },
      'its networks are a list': async () => {
        const networks = await meraki.ask<Row[]>('Networks', 'getOrganizationNetworks', { organizationId: s.id });
        assert.ok(Array.isArray(networks));
      },
    }),

    'a network made, read, changed, deleted': (meraki, s) => ({
      'made in the organization': async () => {
        s.organization = await organization(meraki);
        const made = await meraki.ask('Networks', 'createOrganizationNetwork', {
          organizationId: s.organization,
          createOrganizationNetwork: { name: 'Long Island Office', type: 'wireless', timeZone: 'America/New_York' },
        });
        assert.deepEqual([made.name, made.timeZone], ['Long Island Office', 'America/New_York']);
        assert.equal(made.organizationId, s.organization);
        s.id = String(made.id);
      },
      'read as it was made': async () => {
        const read = await meraki.ask('Networks', 'getNetwork', s.id);
        assert.deepEqual([read.id, read.name, read.type], [s.id, 'Long Island Office', 'wireless']);
      },
      'in the list of its organization': async () => {
        const rows = await meraki.ask<Row[]>('Networks', 'getOrganizationNetworks', { organizationId: s.organization });
        once(ids(rows), [s.id], 'networks');
      },
      renamed: async () => {
        const changed = await meraki.ask('Networks', 'updateNetwork', {
          networkId: s.id,
          updateNetwork: { name: 'Brooklyn Office' },
        });
        assert.deepEqual([changed.id, changed.name], [s.id, 'Brooklyn Office']);
      },
      'read with its new name, in its old time': async () => {
        const read = await meraki.ask('Networks', 'getNetwork', s.id);
        assert.deepEqual([read.name, read.timeZone], ['Brooklyn Office', 'America/New_York']);
      },
      deleted: () => meraki.ask('Networks', 'deleteNetwork', s.id),
      'no more there': () => gone(meraki.ask('Networks', 'getNetwork', s.id)),
      'nor in the list': async () => {
        const rows = await meraki.ask<Row[]>('Networks', 'getOrganizationNetworks', { organizationId: s.organization });
        assert.ok(!ids(rows).includes(s.id));
      },
    }),

    'VLANs of a network': (meraki, s) => ({
      'a network with an appliance, its VLANs enabled': async () => {
        s.network = await network(meraki, 'Branch', 'appliance');
        const state = await meraki.ask('Vlans', 'updateNetwork_vlans_EnabledState', {
          networkId: s.network,
          updateNetwork_vlans_EnabledState: { enabled: true },
        });
        assert.equal(state.enabled, true);
      },
      'made with the number that was given': async () => {
        const made = await meraki.ask('Vlans', 'createNetworkVlan', {
          networkId: s.network,
          createNetworkVlan: { id: '1234', name: 'My VLAN', subnet: '192.168.1.0/24', applianceIp: '192.168.1.2' },
        });
        assert.deepEqual([String(made.id), made.name, made.applianceIp], ['1234', 'My VLAN', '192.168.1.2']);
      },
      'read by it': async () => {
        const read = await meraki.ask('Vlans', 'getNetworkVlan', { networkId: s.network, vlanId: '1234' });
        assert.deepEqual([String(read.id), read.name, read.subnet], ['1234', 'My VLAN', '192.168.1.0/24']);
      },
      'renamed, and another lease': async () => {
        const changed = await meraki.ask('Vlans', 'updateNetworkVlan', {
          networkId: s.network,
          vlanId: '1234',
          updateNetworkVlan: { name: 'Guests', dhcpLeaseTime: '12 hours' },
        });
        assert.deepEqual([changed.name, changed.dhcpLeaseTime], ['Guests', '12 hours']);
      },
      'in the list with its new name': async () => {
        const rows = await meraki.ask<Row[]>('Vlans', 'getNetwork_vlans', s.network);
        once(ids(rows), ['1234'], 'VLANs');
        assert.equal(rows.find(({ id }) => String(id) === '1234')?.name, 'Guests');
      },
      deleted: () => meraki.ask('Vlans', 'deleteNetworkVlan', { networkId: s.network, vlanId: '1234' }),
      'no more there': () => gone(meraki.ask('Vlans', 'getNetworkVlan', { networkId: s.network, vlanId: '1234' })),
    }),

    'static routes of a network': (meraki, s) => ({
      made: async () => {
        s.network = await network(meraki, 'Routed', 'appliance');
        const made = await meraki.ask('MXStaticRoutes', 'createNetworkStaticRoute', {
          networkId: s.network,
          createNetworkStaticRoute: { name: 'My route', subnet: '192.168.10.0/24', gatewayIp: '1.2.3.5' },
        });
        assert.deepEqual([made.name, made.gatewayIp], ['My route', '1.2.3.5']);
        assert.equal(made.networkId, s.network);
        s.id = String(made.id);
      },
      read: async () => {
        const read = await meraki.ask('MXStaticRoutes', 'getNetworkStaticRoute', { networkId: s.network, srId: s.id });
        assert.deepEqual([read.id, read.subnet], [s.id, '192.168.10.0/24']);
      },
      'switched off': async () => {
        const changed = await meraki.ask('MXStaticRoutes', 'updateNetworkStaticRoute', {
          networkId: s.network,
          srId: s.id,
          updateNetworkStaticRoute: { enabled: false },
        });
        assert.equal(changed.enabled, false);
      },
      'in the list': async () => {
        const rows = await meraki.ask<Row[]>('MXStaticRoutes', 'getNetworkStaticRoutes', s.network);
        once(ids(rows), [s.id], 'routes');
        assert.equal(rows.find(({ id }) => id === s.id)?.enabled, false);
      },
      deleted: () => meraki.ask('MXStaticRoutes', 'deleteNetworkStaticRoute', { networkId: s.network, srId: s.id }),
      'no more there': () => gone(meraki.ask('MXStaticRoutes', 'getNetworkStaticRoute', { networkId: s.network, srId: s.id })),
    }),

    'administrators of the organization': (meraki, s) => ({
      made: async () => {
        s.organization = await organization(meraki);
        const made = await meraki.ask('Admins', 'createOrganizationAdmin', {
          organizationId: s.organization,
          createOrganizationAdmin: {
            email: 'miles@example.com',
            name: 'Miles Meraki',
            orgAccess: 'none',
            tags: [{ tag: 'west', access: 'read-only' }],
          },
        });
        assert.deepEqual([made.email, made.name, made.orgAccess], ['miles@example.com', 'Miles Meraki', 'none']);
        assert.deepEqual(made.tags, [{ tag: 'west', access: 'read-only' }]);
        s.id = String(made.id);
      },
      'listed once': async () => {
        once(ids(await meraki.ask<Row[]>('Admins', 'getOrganizationAdmins', s.organization)), [s.id], 'admins');
      },
      'given more': async () => {
        const changed = await meraki.ask('Admins', 'updateOrganizationAdmin', {
          organizationId: s.organization,
          id: s.id,
          updateOrganizationAdmin: { orgAccess: 'read-only' },
        });
        assert.deepEqual([changed.orgAccess, changed.email], ['read-only', 'miles@example.com']);
      },
      revoked: () => meraki.ask('Admins', 'deleteOrganizationAdmin', { organizationId: s.organization, id: s.id }),
      'no more listed': async () => {
        assert.ok(!ids(await meraki.ask<Row[]>('Admins', 'getOrganizationAdmins', s.organization)).includes(s.id));
      },
    }),

    'a floor plan, and its corners': (meraki, s) => ({
      made: async () => {
        s.network = await network(meraki, 'Headquarters');
        const made = await meraki.ask('Floorplans', 'createNetworkFloorPlan', {
          networkId: s.network,
          createNetworkFloorPlan: {
            name: 'HQ Floor Plan',
            imageContents: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
            center: { lat: 37.770040510499996, lng: -122.38714009525 },
          },
        });
        assert.equal(made.name, 'HQ Floor Plan');
        s.id = String(made.floorPlanId);
        assert.notEqual(made.floorPlanId, undefined);
      },
      'read with its centre': async () => {
        const read = await meraki.ask('Floorplans', 'getNetworkFloorPlan', { networkId: s.network, floorPlanId: s.id });
        assert.equal(read.floorPlanId, s.id);
        assert.deepEqual(read.center, { lat: 37.770040510499996, lng: -122.38714009525 });
      },
      renamed: async () => {
        const changed = await meraki.ask('Floorplans', 'updateNetworkFloorPlan', {
          networkId: s.network,
          floorPlanId: s.id,
          updateNetworkFloorPlan: { name: 'Second floor' },
        });
        assert.equal(changed.name, 'Second floor');
      },
      'in the list': async () => {
        const rows = await meraki.ask<Row[]>('Floorplans', 'getNetworkFloorPlans', s.network);
        once(
          rows.map(({ floorPlanId }) => String(floorPlanId)),
          [s.id],
          'floor plans',
        );
      },
      deleted: () => meraki.ask('Floorplans', 'deleteNetworkFloorPlan', { networkId: s.network, floorPlanId: s.id }),
      'no more there': () => gone(meraki.ask('Floorplans', 'getNetworkFloorPlan', { networkId: s.network, floorPlanId: s.id })),
    }),

    'roles of SAML': (meraki, s) => ({
      made: async () => {
        s.organization = await organization(meraki);
        const made = await meraki.ask('SAMLRoles', 'createOrganizationSamlRole', {
          organizationId: s.organization,
          createOrganizationSamlRole: { role: 'myrole', orgAccess: 'none', tags: [{ tag: 'west', access: 'read-only' }] },
        });
        assert.deepEqual([made.role, made.orgAccess], ['myrole', 'none']);
        s.id = String(made.id);
      },
      read: async () => {
        const read = await meraki.ask('SAMLRoles', 'getOrganizationSamlRole', { organizationId: s.organization, id: s.id });
        assert.deepEqual([read.id, read.role], [s.id, 'myrole']);
        assert.deepEqual(read.tags, [{ tag: 'west', access: 'read-only' }]);
      },
      'given more': async () => {
        const changed = await meraki.ask('SAMLRoles', 'updateOrganizationSamlRole', {
          organizationId: s.organization,
          id: s.id,
          updateOrganizationSamlRole: { orgAccess: 'read-only' },
        });
        assert.equal(changed.orgAccess, 'read-only');
      },
      'in the list': async () => {
        const rows = await meraki.ask<Row[]>('SAMLRoles', 'getOrganizationSamlRoles', s.organization);
        once(ids(rows), [s.id], 'roles');
      },
    }),

    'a batch of actions waits, is confirmed': (meraki, s) => ({
      'made without being confirmed': async () => {
        s.organization = await organization(meraki);
        s.network = await network(meraki, 'Batched', 'appliance', s.organization);
        const made = await meraki.ask('ActionBatches', 'createOrganizationActionBatch', {
          organizationId: s.organization,
          createOrganizationActionBatch: {
            confirmed: false,
            synchronous: false,
            actions: [{ resource: `/networks/${s.network}/staticRoutes`, operation: 'create', body: { name: 'Batched route' } }],
          },
        });
        assert.deepEqual([made.confirmed, made.synchronous], [false, false]);
        assert.equal(made.organizationId, s.organization);
        s.id = String(made.id);
      },
      'in the list of its organization': async () => {
        const rows = await meraki.ask<Row[]>('ActionBatches', 'getOrganizationActionBatches', s.organization);
        once(ids(rows), [s.id], 'batches');
      },
      confirmed: async () => {
        const changed = await meraki.ask('ActionBatches', 'updateOrganizationActionBatch', {
          organizationId: s.organization,
          actionBatchId: s.id,
          updateOrganizationActionBatch: { confirmed: true, synchronous: false },
        });
        assert.deepEqual([changed.id, changed.confirmed], [s.id, true]);
      },
    }),

    'a batch of actions deleted': (meraki, s) => ({
      made: async () => {
        s.organization = await organization(meraki);
        const made = await meraki.ask('ActionBatches', 'createOrganizationActionBatch', {
          organizationId: s.organization,
          createOrganizationActionBatch: {
            confirmed: false,
            actions: [{ resource: '/networks/L_1/groupPolicies', operation: 'create', body: { name: 'Group 1' } }],
          },
        });
        s.id = String(made.id);
        assert.deepEqual(made.actions, [
          { resource: '/networks/L_1/groupPolicies', operation: 'create', body: { name: 'Group 1' } },
        ]);
      },
      deleted: () =>
        meraki.ask('ActionBatches', 'deleteOrganizationActionBatch', {
          organizationId: s.organization,
          actionBatchId: s.id,
        }),
      'no more in the list': async () => {
        const rows = await meraki.ask<Row[]>('ActionBatches', 'getOrganizationActionBatches', s.organization);
        assert.ok(!ids(rows).includes(s.id));
      },
    }),

    'rules for what comes first in a switch': (meraki, s) => ({
      'two rules': async () => {
        s.network = await network(meraki, 'Switched', 'switch');
        for (const [name, vlan] of [
          ['one', 100],
          ['two', 200],
        ] as const) {
          const made = await meraki.ask('SwitchSettings', 'createNetworkSwitchSettingsQosRule', {
            networkId: s.network,
            createNetworkSwitchSettingsQosRule: { vlan, protocol: 'TCP', srcPort: 2000, dscp: 0 },
          });
          assert.deepEqual([made.vlan, made.protocol, made.srcPort], [vlan, 'TCP', 2000]);
          s[name] = String(made.id);
        }
        assert.notEqual(s.one, s.two);
      },
      'each read as its own': async () => {
        const read = async (qosRuleId: string) =>
          meraki.ask('SwitchSettings', 'getNetworkSwitchSettingsQosRule', { networkId: s.network, qosRuleId });
        assert.deepEqual([(await read(s.one)).vlan, (await read(s.two)).vlan], [100, 200]);
      },
      'both in the list': async () => {
        const rows = await meraki.ask<Row[]>('SwitchSettings', 'getNetworkSwitchSettingsQosRules', s.network);
        once(ids(rows), [s.one, s.two], 'rules');
      },
      'one changed': async () => {
        const changed = await meraki.ask('SwitchSettings', 'updateNetworkSwitchSettingsQosRule', {
          networkId: s.network,
          qosRuleId: s.one,
          updateNetworkSwitchSettingsQosRule: { dscp: 46 },
        });
        assert.deepEqual([changed.dscp, changed.vlan], [46, 100]);
      },
      'the other deleted': () =>
        meraki.ask('SwitchSettings', 'deleteNetworkSwitchSettingsQosRule', { networkId: s.network, qosRuleId: s.two }),
      'one is left': async () => {
        const rows = ids(await meraki.ask<Row[]>('SwitchSettings', 'getNetworkSwitchSettingsQosRules', s.network));
        assert.ok(rows.includes(s.one) && !rows.includes(s.two));
      },
    }),

    'schedules of ports': (meraki, s) => ({
      made: async () => {
        s.network = await network(meraki, 'Scheduled', 'switch');
        const made = await meraki.ask('SwitchPortSchedules', 'createNetworkSwitchPortSchedule', {
          networkId: s.network,
          createNetworkSwitchPortSchedule: {
            name: 'Weekdays schedule',
            portSchedule: { monday: { active: true, from: '9:00', to: '17:00' } },
          },
        });
        assert.deepEqual([made.name, made.networkId], ['Weekdays schedule', s.network]);
        s.id = String(made.id);
      },
      renamed: async () => {
        const changed = await meraki.ask('SwitchPortSchedules', 'updateNetworkSwitchPortSchedule', {
          networkId: s.network,
          portScheduleId: s.id,
          updateNetworkSwitchPortSchedule: { name: 'Mondays' },
        });
        assert.equal(changed.name, 'Mondays');
      },
      'in the list with its new name': async () => {
        const rows = await meraki.ask<Row[]>('SwitchPortSchedules', 'getNetworkSwitchPortSchedules', s.network);
        once(ids(rows), [s.id], 'schedules');
        assert.equal(rows.find(({ id }) => id === s.id)?.name, 'Mondays');
      },
      deleted: () =>
        meraki.ask('SwitchPortSchedules', 'deleteNetworkSwitchPortSchedule', {
          networkId: s.network,
          portScheduleId: s.id,
        }),
      'no more in the list': async () => {
        const rows = await meraki.ask<Row[]>('SwitchPortSchedules', 'getNetworkSwitchPortSchedules', s.network);
        assert.ok(!ids(rows).includes(s.id));
      },
    }),

    'the SSIDs that each network has': (meraki, s) => ({
      'one is named and switched on': async () => {
        s.network = await network(meraki, 'Airy');
        const changed = await meraki.ask('Ssids', 'updateNetworkSsid', {
          networkId: s.network,
          number: '0',
          updateNetworkSsid: { name: 'Visitors', enabled: true, authMode: 'open' },
        });
        assert.deepEqual([changed.number, changed.name, changed.enabled], [0, 'Visitors', true]);
      },
      'read as it was changed': async () => {
        const read = await meraki.ask('Ssids', 'getNetworkSsid', { networkId: s.network, number: '0' });
        assert.deepEqual([read.number, read.name, read.authMode], [0, 'Visitors', 'open']);
      },
      'in the list as it was changed': async () => {
        const rows = await meraki.ask<Row[]>('Ssids', 'getNetwork_ssids', s.network);
        assert.equal(rows.find(({ number }) => number === 0)?.name, 'Visitors');
      },
    }),

    'settings of a network are kept': (meraki, s) => ({
      'who hears its log': async () => {
        s.network = await network(meraki, 'Logged', 'appliance');
        const servers = [{ host: '1.2.3.4', port: 443, roles: ['Wireless event log', 'URLs'] }];
        const input = { networkId: s.network, updateNetworkSyslogServers: { servers } };
        assert.deepEqual(await meraki.ask('SyslogServers', 'updateNetworkSyslogServers', input), servers);
      },
      'read as it was set': async () => {
        const [first] = await meraki.ask<Row[]>('SyslogServers', 'getNetworkSyslogServers', s.network);
        assert.deepEqual([first?.host, first?.port], ['1.2.3.4', 443]);
      },
      'what passes its firewall': async () => {
        const rule = {
          comment: 'Allow TCP traffic to subnet with HTTP servers.',
          policy: 'allow',
          protocol: 'tcp',
          destPort: '443',
          destCidr: '192.168.1.0/24',
          srcPort: 'Any',
          srcCidr: 'Any',
          syslogEnabled: false,
        };
        const input = { networkId: s.network, updateNetworkL3FirewallRules: { rules: [rule] } };
        const rules = await meraki.ask<Row[]>('MXL3Firewall', 'updateNetworkL3FirewallRules', input);
        assert.deepEqual(rules[0], rule);
      },
      'read as it was set too': async () => {
        const [first] = await meraki.ask<Row[]>('MXL3Firewall', 'getNetworkL3FirewallRules', s.network);
        assert.deepEqual([first?.policy, first?.destCidr], ['allow', '192.168.1.0/24']);
      },
    }),

    'requests of people about their data': (meraki, s) => ({
      made: async () => {
        s.network = await network(meraki, 'Private');
        const made = await meraki.ask('PII', 'createNetworkPiiRequest', {
          networkId: s.network,
          createNetworkPiiRequest: { type: 'delete', datasets: ['usage', 'events'], mac: '00:77:00:77:00:77' },
        });
        assert.deepEqual([made.type, made.mac], ['delete', '00:77:00:77:00:77']);
        s.id = String(made.id);
      },
      read: async () => {
        const read = await meraki.ask('PII', 'getNetworkPiiRequest', { networkId: s.network, requestId: s.id });
        assert.deepEqual([read.id, read.type], [s.id, 'delete']);
      },
      'in the list': async () => {
        once(ids(await meraki.ask<Row[]>('PII', 'getNetworkPiiRequests', s.network)), [s.id], 'requests');
      },
      withdrawn: () => meraki.ask('PII', 'deleteNetworkPiiRequest', { networkId: s.network, requestId: s.id }),
      'no more there': () => gone(meraki.ask('PII', 'getNetworkPiiRequest', { networkId: s.network, requestId: s.id })),
    }),

    'networks of one organization, one by one': (meraki, s) => ({
      'three are made': async () => {
        s.organization = await organization(meraki);
        for (const name of ['one', 'two', 'three']) s[name] = await network(meraki, name, 'wireless', s.organization);
        assert.equal(new Set([s.one, s.two, s.three]).size, 3);
      },
      'each is listed once': async () => {
        const rows = await meraki.ask<Row[]>('Networks', 'getOrganizationNetworks', { organizationId: s.organization });
        once(ids(rows), [s.one, s.two, s.three], 'networks');
      },
      'what belongs to one is not listed of another': async () => {
        const made = await meraki.ask('MXStaticRoutes', 'createNetworkStaticRoute', {
          networkId: s.one,
          createNetworkStaticRoute: { name: 'Only here', subnet: '10.0.0.0/24', gatewayIp: '1.2.3.5' },
        });
        const rows = await meraki.ask<Row[]>('MXStaticRoutes', 'getNetworkStaticRoutes', s.two);
        assert.ok(!ids(rows).includes(String(made.id)));
      },
      'one goes, the others stay': async () => {
        await meraki.ask('Networks', 'deleteNetwork', s.two);
        const rows = await meraki.ask<Row[]>('Networks', 'getOrganizationNetworks', { organizationId: s.organization });
        once(ids(rows), [s.one, s.three], 'networks');
        assert.ok(!ids(rows).includes(s.two));
      },
    }),

    'a wrong key learns nothing': (_meraki, _s, another) => ({
      'no organization': () => unknown(another('0000').ask('Organizations', 'getOrganizations')),
      'no network': () => unknown(another('0000').ask('Networks', 'getNetwork', 'N_24329156')),
      'nor makes one': () => unknown(network(another('0000'), 'Stolen', 'wireless', '2930418')),
    }),

    'what is not there, and what is not right': (meraki, s) => ({
      'no such network': () => gone(meraki.ask('Networks', 'getNetwork', 'N_0')),
      'nor one to change': () =>
        gone(meraki.ask('Networks', 'updateNetwork', { networkId: 'N_0', updateNetwork: { name: 'Ghost' } })),
      'nor one to delete': () => gone(meraki.ask('Networks', 'deleteNetwork', 'N_0')),
      'a network has a name': async () => {
        s.organization = await organization(meraki);
        const input = { organizationId: s.organization, createOrganizationNetwork: { type: 'wireless' } };
        await refused(meraki.ask('Networks', 'createOrganizationNetwork', input), 400);
      },
      'an admin is given what there is to give': async () => {
        const admin = { email: 'eve@example.com', name: 'Eve', orgAccess: 'everything' };
        const input = { organizationId: s.organization, createOrganizationAdmin: admin };
        await refused(meraki.ask('Admins', 'createOrganizationAdmin', input), 400);
      },
    }),
  },
};
