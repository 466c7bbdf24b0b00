import assert from 'node:assert/strict';
import {
  type ConfigCapabilityType,
  type ConfigTypeData,
  type ContactStatus,
  type CreateEphemerisCommandInput,
  type CreateMissionProfileCommandInput,
  type EndpointDetails,
  type EphemerisStatus,
  GroundStation,
  paginateListConfigs,
  paginateListContacts,
  paginateListDataflowEndpointGroups,
  paginateListEphemerides,
  paginateListGroundStations,
  paginateListMissionProfiles,
  paginateListSatellites,
} from '@aws-sdk/client-groundstation';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). The signature of the printed header, where there is
 * one, says whose key it is. What the client throws keeps its status below `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): GroundStation => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new GroundStation({
    endpoint: place.base,
    region: 'us-east-2',
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

/** ResourceNotFoundException is a 434 by the guide, and a 482 by the description. */
const absent = (call: Promise<unknown>): Promise<unknown> => refused(call, 434, 482);
/** InvalidParameterException is a 431 by the guide, and a 480 by the description; the errors common to all have a 400. */
const invalid = (call: Promise<unknown>): Promise<unknown> => refused(call, 400, 431, 480);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const nowhere = '00000000-dead-4000-8000-00000000beef';
/** Roles, buckets, subnets and groups are other services': these are there before. */
const roleArn = 'arn:aws:iam::123456789012:role/groundstation-service-role';
const bucketArn = 'arn:aws:s3:::aws-groundstation-downlinks';
const subnetIds = ['subnet-6782e71e'];
const securityGroupIds = ['sg-903004f8'];

const tracking = (autotrack: 'PREFERRED' | 'REMOVED' | 'REQUIRED' = 'REQUIRED'): ConfigTypeData => ({
  trackingConfig: { autotrack },
});
const downlink = (value = 7812): ConfigTypeData => ({
  antennaDownlinkConfig: {
    spectrumConfig: {
      centerFrequency: { value, units: 'MHz' },
      bandwidth: { value: 30, units: 'MHz' },
      polarization: 'RIGHT_HAND',
    },
  },
});
const uplink: ConfigTypeData = {
  antennaUplinkConfig: {
    spectrumConfig: { centerFrequency: { value: 2072.5, units: 'MHz' }, polarization: 'RIGHT_HAND' },
    targetEirp: { value: 20, units: 'dBW' },
    transmitDisabled: false,
  },
};
const endpointOf = (dataflowEndpointName: string): ConfigTypeData => ({
  dataflowEndpointConfig: { dataflowEndpointName, dataflowEndpointRegion: 'us-east-2' },
});

interface Config {
  readonly id: string;
  readonly arn: string;
}
type Tags = Record<string, string>;
const config = async (g: GroundStation, name: string, configData: ConfigTypeData, tags?: Tags): Promise<Config> => {
  const made = await g.createConfig({ name, configData, ...(tags && { tags }) });
  return { id: given(made.configId, 'configId'), arn: given(made.configArn, 'configArn') };
};
const configs = async (g: GroundStation, pageSize = 50): Promise<string[]> => {
  const rows = await gather(paginateListConfigs({ client: g, pageSize }, {}), ({ configList }) => configList ?? []);
  return rows.map(({ configId }) => given(configId, 'configId'));
};

/** A profile needs what tracks, and an edge from an antenna to where its data goes; the state has their names. */
const parts = async (g: GroundStation, s: State): Promise<void> => {
  s.tracking = (await config(g, 'autotrack when possible', tracking('PREFERRED'))).arn;
  s.antenna = (await config(g, 'x band', downlink())).arn;
  s.endpoint = (await config(g, 'to the receiver', endpointOf('receiver'))).arn;
};
const profileOf = (s: State, name: string): CreateMissionProfileCommandInput => ({
  name,
  minimumViableContactDurationSeconds: 180,
  contactPrePassDurationSeconds: 120,
  contactPostPassDurationSeconds: 60,
  trackingConfigArn: s.tracking,
  dataflowEdges: [[s.antenna, s.endpoint]],
});
const profile = async (g: GroundStation, s: State, name = 'downlink of every pass'): Promise<string> => {
  const made = await g.createMissionProfile(profileOf(s, name));
  return given(made.missionProfileId, 'missionProfileId');
};
const profiles = async (g: GroundStation, pageSize = 50): Promise<string[]> => {
  const pages = paginateListMissionProfiles({ client: g, pageSize }, {});
  const rows = await gather(pages, ({ missionProfileList }) => missionProfileList ?? []);
  return rows.map(({ missionProfileId }) => given(missionProfileId, 'missionProfileId'));
};

const receiver = (name: string, port = 55888): EndpointDetails => ({
  endpoint: { name, address: { name: '10.0.0.20', port }, mtu: 1500 },
  securityDetails: { roleArn, securityGroupIds, subnetIds },
});
const group = async (g: GroundStation, ...endpointDetails: readonly EndpointDetails[]): Promise<string> => {
  const made = await g.createDataflowEndpointGroup({ endpointDetails: [...endpointDetails] });
  return given(made.dataflowEndpointGroupId, 'dataflowEndpointGroupId');
};
const groups = async (g: GroundStation, pageSize = 50): Promise<string[]> => {
  const pages = paginateListDataflowEndpointGroups({ client: g, pageSize }, {});
  const rows = await gather(pages, ({ dataflowEndpointGroupList }) => dataflowEndpointGroupList ?? []);
  return rows.map(({ dataflowEndpointGroupId }) => given(dataflowEndpointGroupId, 'dataflowEndpointGroupId'));
};

/** Times go as whole seconds. */
const day = 86_400_000;
const today = Math.floor(Date.now() / day) * day;
const on = (days: number, minutes = 0): Date => new Date(today + days * day + minutes * 60_000);

/** Satellites and ground stations are brought in by AWS, and no call makes one: one of each is there before. */
const satellite = async (g: GroundStation, s: State): Promise<void> => {
  const found = given((await g.listSatellites({})).satellites?.[0], 'satellite');
  s.satellite = given(found.satelliteId, 'satelliteId');
  s.satelliteArn = given(found.satelliteArn, 'satelliteArn');
};
const station = async (g: GroundStation, s: State): Promise<void> => {
  const found = given((await g.listGroundStations({})).groundStationList?.[0], 'ground station');
  s.station = given(found.groundStationId, 'groundStationId');
};

/** When the satellite is seen comes of its orbit, which no call says: the times asked for are taken as such. */
const contactOf = (s: State, days = 2) => ({
  missionProfileArn: s.profileArn,
  satelliteArn: s.satelliteArn,
  groundStation: s.station,
  startTime: on(days, 600),
  endTime: on(days, 610),
});
const ready = async (g: GroundStation, s: State): Promise<void> => {
  await satellite(g, s);
  await station(g, s);
  await parts(g, s);
  s.profile = await profile(g, s);
  const { missionProfileArn } = await g.getMissionProfile({ missionProfileId: s.profile });
  s.profileArn = given(missionProfileArn, 'missionProfileArn');
};
const contact = async (g: GroundStation, s: State, days = 2): Promise<string> =>
  given((await g.reserveContact(contactOf(s, days))).contactId, 'contactId');
const contacts = async (g: GroundStation, statusList: ContactStatus[], days: readonly [number, number], pageSize = 50) => {
  const asked = { statusList, startTime: on(days[0]), endTime: on(days[1]) };
  const rows = await gather(paginateListContacts({ client: g, pageSize }, asked), ({ contactList }) => contactList ?? []);
  return rows.map(({ contactId }) => given(contactId, 'contactId'));
};
const scheduled: ContactStatus[] = ['SCHEDULING', 'SCHEDULED'];
const cancelled: ContactStatus[] = ['CANCELLING', 'CANCELLED'];

/** The element set of the guide (Terra's). */
const ephemerisOf = (s: State, name: string): CreateEphemerisCommandInput => ({
  name,
  satelliteId: s.satellite,
  enabled: true,
  expirationTime: on(3),
  ephemeris: {
    tle: {
      tleData: [
        {
          tleLine1: '1 25994U 99068A   20318.54719794  .00000075  00000-0  26688-4 0  9997',
          tleLine2: '2 25994  98.2007  30.6589 0001234  89.2782  18.9934 14.57114995111906',
          validTimeRange: { startTime: on(1), endTime: on(2) },
        },
      ],
    },
  },
});
const ephemeris = async (g: GroundStation, s: State, name: string, more: Partial<CreateEphemerisCommandInput> = {}) =>
  given((await g.createEphemeris({ ...ephemerisOf(s, name), ...more })).ephemerisId, 'ephemerisId');
/** An ephemeris is listed where its end is between the two times. */
const ephemerides = async (g: GroundStation, s: State, statusList?: EphemerisStatus[], pageSize = 50): Promise<string[]> => {
  const asked = { satelliteId: s.satellite, startTime: on(-1), endTime: on(10), ...(statusList && { statusList }) };
  const rows = await gather(paginateListEphemerides({ client: g, pageSize }, asked), ({ ephemerides: page }) => page ?? []);
  return rows.map(({ ephemerisId }) => given(ephemerisId, 'ephemerisId'));
};

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);

/** Guide: docs.aws.amazon.com/ground-station/latest/ug (configs, mission profiles, dataflow endpoint groups, contacts' lifecycle, custom ephemerides) and …/APIReference. */
export const vendor: Vendor<GroundStation> = {
  document: 'groundstation/groundstation.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a config, from the first to the last day': (g, s) => ({
      made: async () => {
        const made = await g.createConfig({ name: 'autotrack', configData: tracking(), tags: { mission: 'terra' } });
        s.config = given(made.configId, 'configId');
        s.arn = given(made.configArn, 'configArn');
        assert.equal(made.configType, 'tracking');
      },
      read: async () => {
        const read = await g.getConfig({ configId: s.config, configType: 'tracking' });
        assert.deepEqual([read.configId, read.configArn, read.name], [s.config, s.arn, 'autotrack']);
        assert.deepEqual([read.configData, read.tags], [tracking(), { mission: 'terra' }]);
      },
      'is in the list': async () => {
        const rows = await gather(paginateListConfigs({ client: g }, {}), ({ configList }) => configList ?? []);
        const row = given(
          rows.find(({ configId }) => configId === s.config),
          'row',
        );
        assert.deepEqual([row.configArn, row.configType, row.name], [s.arn, 'tracking', 'autotrack']);
      },
      changed: async () => {
        const how = {
          configId: s.config,
          configType: 'tracking' as const,
          name: 'no autotrack',
          configData: tracking('REMOVED'),
        };
        const changed = await g.updateConfig(how);
        assert.deepEqual([changed.configId, changed.configType], [s.config, 'tracking']);
      },
      'it stays changed': async () => {
        const read = await g.getConfig({ configId: s.config, configType: 'tracking' });
        assert.deepEqual([read.configId, read.name, read.configData], [s.config, 'no autotrack', tracking('REMOVED')]);
      },
      deleted: async () => {
        const gone = await g.deleteConfig({ configId: s.config, configType: 'tracking' });
        assert.equal(gone.configId, s.config);
      },
      gone: () => absent(g.getConfig({ configId: s.config, configType: 'tracking' })),
      'no longer in the list': async () => without(await configs(g), s.config),
    }),

    'a config of each kind': (g, s) => {
      const both = async (name: string, configData: ConfigTypeData, configType: ConfigCapabilityType): Promise<void> => {
        const made = await g.createConfig({ name, configData });
        assert.equal(made.configType, configType);
        s[configType] = given(made.configId, 'configId');
        s[`${configType} arn`] = given(made.configArn, 'configArn');
        const read = await g.getConfig({ configId: s[configType], configType });
        assert.deepEqual([read.name, read.configType], [name, configType]);
        assert.deepEqual(read.configData, configData);
      };
      return {
        'for downlink': () => both('downlink', downlink(), 'antenna-downlink'),
        'for uplink': () => both('uplink', uplink, 'antenna-uplink'),
        'for downlink, demodulated and decoded': () =>
          both(
            'demod-decode',
            {
              antennaDownlinkDemodDecodeConfig: {
                spectrumConfig: { centerFrequency: { value: 8212.5, units: 'MHz' }, bandwidth: { value: 40, units: 'MHz' } },
                demodulationConfig: { unvalidatedJSON: '{"type":"QPSK"}' },
                decodeConfig: { unvalidatedJSON: '{"edges":[]}' },
              },
            },
            'antenna-downlink-demod-decode',
          ),
        'of an endpoint': () => both('endpoint', endpointOf('receiver'), 'dataflow-endpoint'),
        'of a recording': () =>
          both('recording', { s3RecordingConfig: { bucketArn, roleArn, prefix: 'terra/{year}/' } }, 's3-recording'),
        'of an echo of the uplink': () =>
          both('echo', { uplinkEchoConfig: { enabled: true, antennaUplinkConfigArn: s['antenna-uplink arn'] } }, 'uplink-echo'),
        'each is listed with its kind': async () => {
          const rows = await gather(paginateListConfigs({ client: g }, {}), ({ configList }) => configList ?? []);
          const kinds = ['antenna-downlink', 'antenna-uplink', 'dataflow-endpoint', 's3-recording', 'uplink-echo'];
          once(
            rows.map(({ configId, configType }) => `${configId} ${configType}`),
            kinds.map((kind) => `${s[kind]} ${kind}`),
            'configs',
          );
        },
      };
    },

    'configs through all pages': (g, s) => ({
      'five are made': async () => {
        for (const at of [1, 2, 3, 4, 5]) s[`c${at}`] = (await config(g, `config ${at}`, downlink(7800 + at))).id;
      },
      'two on the first page': async () => {
        const { configList, nextToken } = await g.listConfigs({ maxResults: 2 });
        assert.equal(configList?.length, 2);
        s.next = given(nextToken, 'nextToken');
      },
      'others on the next': async () => {
        const first = (await g.listConfigs({ maxResults: 2 })).configList ?? [];
        const { configList } = await g.listConfigs({ maxResults: 2, nextToken: s.next });
        assert.equal(configList?.length, 2);
        for (const { configId } of configList ?? []) assert.ok(!first.some((row) => row.configId === configId), 'it comes again');
      },
      'all of them, each once': async () => once(await configs(g, 2), [s.c1, s.c2, s.c3, s.c4, s.c5], 'configs'),
      'as many on one page': async () => once(await configs(g, 100), [s.c1, s.c2, s.c3, s.c4, s.c5], 'configs'),
    }),

    'a mission profile, from the first to the last day': (g, s) => ({
      'what it names': () => parts(g, s),
      made: async () => {
        s.profile = await profile(g, s);
      },
      read: async () => {
        const read = await g.getMissionProfile({ missionProfileId: s.profile });
        assert.partialDeepStrictEqual(read, profileOf(s, 'downlink of every pass'));
        assert.equal(read.missionProfileId, s.profile);
        s.arn = given(read.missionProfileArn, 'missionProfileArn');
      },
      'is in the list': async () => {
        const pages = paginateListMissionProfiles({ client: g }, {});
        const rows = await gather(pages, ({ missionProfileList }) => missionProfileList ?? []);
        const found = rows.filter(({ missionProfileId }) => missionProfileId === s.profile);
        assert.deepEqual(
          found.map(({ missionProfileArn, name }) => [missionProfileArn, name]),
          [[s.arn, 'downlink of every pass']],
        );
      },
      'longer contacts alone': async () => {
        const how = { missionProfileId: s.profile, name: 'long passes', minimumViableContactDurationSeconds: 300 };
        assert.equal((await g.updateMissionProfile(how)).missionProfileId, s.profile);
      },
      'the rest stays': async () => {
        const read = await g.getMissionProfile({ missionProfileId: s.profile });
        const wanted = { ...profileOf(s, 'long passes'), minimumViableContactDurationSeconds: 300 };
        assert.partialDeepStrictEqual(read, wanted);
      },
      deleted: async () => {
        assert.equal((await g.deleteMissionProfile({ missionProfileId: s.profile })).missionProfileId, s.profile);
      },
      gone: async () => {
        await absent(g.getMissionProfile({ missionProfileId: s.profile }));
        without(await profiles(g), s.profile);
      },
    }),

    'where a profile sends its data': (g, s) => ({
      'a profile': async () => {
        await parts(g, s);
        s.profile = await profile(g, s);
      },
      'a recording to send to as well': async () => {
        s.recording = (await config(g, 'recording', { s3RecordingConfig: { bucketArn, roleArn } })).arn;
      },
      'a second edge': async () => {
        const dataflowEdges = [
          [s.antenna, s.endpoint],
          [s.antenna, s.recording],
        ];
        await g.updateMissionProfile({ missionProfileId: s.profile, dataflowEdges });
        assert.deepEqual((await g.getMissionProfile({ missionProfileId: s.profile })).dataflowEdges, dataflowEdges);
      },
      'the first is taken away': async () => {
        const dataflowEdges = [[s.antenna, s.recording]];
        await g.updateMissionProfile({ missionProfileId: s.profile, dataflowEdges });
        const read = await g.getMissionProfile({ missionProfileId: s.profile });
        assert.deepEqual([read.dataflowEdges, read.trackingConfigArn], [dataflowEdges, s.tracking]);
      },
      'another config to track by': async () => {
        const { arn } = await config(g, 'must track', tracking('REQUIRED'));
        await g.updateMissionProfile({ missionProfileId: s.profile, trackingConfigArn: arn });
        assert.equal((await g.getMissionProfile({ missionProfileId: s.profile })).trackingConfigArn, arn);
      },
      'an edge has two ends': () =>
        invalid(g.updateMissionProfile({ missionProfileId: s.profile, dataflowEdges: [[s.antenna]] })),
    }),

    'mission profiles through all pages': (g, s) => ({
      'three are made': async () => {
        await parts(g, s);
        for (const at of [1, 2, 3]) s[`p${at}`] = await profile(g, s, `profile ${at}`);
      },
      'one on the first page': async () => {
        const { missionProfileList, nextToken } = await g.listMissionProfiles({ maxResults: 1 });
        assert.equal(missionProfileList?.length, 1);
        given(nextToken, 'nextToken');
      },
      'all of them, each once': async () => once(await profiles(g, 1), [s.p1, s.p2, s.p3], 'profiles'),
      'one less': async () => {
        await g.deleteMissionProfile({ missionProfileId: s.p2 });
        const rows = await profiles(g, 1);
        once(rows, [s.p1, s.p3], 'profiles');
        without(rows, s.p2);
      },
    }),

    'a group of dataflow endpoints': (g, s) => ({
      made: async () => {
        const made = await g.createDataflowEndpointGroup({
          endpointDetails: [receiver('receiver'), receiver('recorder', 55889)],
          contactPrePassDurationSeconds: 180,
          contactPostPassDurationSeconds: 240,
          tags: { mission: 'terra' },
        });
        s.group = given(made.dataflowEndpointGroupId, 'dataflowEndpointGroupId');
      },
      read: async () => {
        const read = await g.getDataflowEndpointGroup({ dataflowEndpointGroupId: s.group });
        assert.equal(read.dataflowEndpointGroupId, s.group);
        assert.deepEqual([read.contactPrePassDurationSeconds, read.contactPostPassDurationSeconds], [180, 240]);
        assert.deepEqual(read.tags, { mission: 'terra' });
        s.arn = given(read.dataflowEndpointGroupArn, 'dataflowEndpointGroupArn');
      },
      'with its endpoints': async () => {
        const { endpointsDetails } = await g.getDataflowEndpointGroup({ dataflowEndpointGroupId: s.group });
        const all = given(endpointsDetails, 'endpointsDetails');
        assert.equal(all.length, 2);
        assert.partialDeepStrictEqual(all, [receiver('receiver'), receiver('recorder', 55889)]);
      },
      'is in the list, among others': async () => {
        s.other = await group(g, receiver('another', 55890));
        once(await groups(g, 1), [s.group, s.other], 'groups');
      },
      deleted: async () => {
        const gone = await g.deleteDataflowEndpointGroup({ dataflowEndpointGroupId: s.group });
        assert.equal(gone.dataflowEndpointGroupId, s.group);
      },
      gone: () => absent(g.getDataflowEndpointGroup({ dataflowEndpointGroupId: s.group })),
      'the other is still listed': async () => {
        const rows = await groups(g);
        once(rows, [s.other], 'groups');
        without(rows, s.group);
      },
    }),

    'tags of a config': (g, s) => ({
      'a config with one': async () => {
        const { id, arn } = await config(g, 'tagged', tracking(), { mission: 'terra' });
        s.config = id;
        s.arn = arn;
      },
      'it has that': async () => {
        assert.deepEqual((await g.listTagsForResource({ resourceArn: s.arn })).tags, { mission: 'terra' });
      },
      'two more': async () => {
        await g.tagResource({ resourceArn: s.arn, tags: { team: 'ground', stage: 'test' } });
        const { tags } = await g.listTagsForResource({ resourceArn: s.arn });
        assert.deepEqual(tags, { mission: 'terra', team: 'ground', stage: 'test' });
      },
      'one has another value': async () => {
        await g.tagResource({ resourceArn: s.arn, tags: { stage: 'live' } });
        assert.equal((await g.listTagsForResource({ resourceArn: s.arn })).tags?.stage, 'live');
      },
      'two are taken away': async () => {
        await g.untagResource({ resourceArn: s.arn, tagKeys: ['mission', 'team'] });
        assert.deepEqual((await g.listTagsForResource({ resourceArn: s.arn })).tags, { stage: 'live' });
      },
      'the config says so too': async () => {
        const read = await g.getConfig({ configId: s.config, configType: 'tracking' });
        assert.deepEqual(read.tags, { stage: 'live' });
      },
    }),

    'satellites and ground stations': (g, s) => ({
      'the list has a satellite': () => satellite(g, s),
      'it is there by itself': async () => {
        const read = await g.getSatellite({ satelliteId: s.satellite });
        assert.deepEqual([read.satelliteId, read.satelliteArn], [s.satellite, s.satelliteArn]);
      },
      'all satellites, each once': async () => {
        const rows = await gather(paginateListSatellites({ client: g, pageSize: 1 }, {}), ({ satellites }) => satellites ?? []);
        const ids = rows.map(({ satelliteId }) => given(satelliteId, 'satelliteId'));
        once(ids, [...ids, s.satellite], 'satellites');
      },
      'the list has a ground station': () => station(g, s),
      'all ground stations, each once': async () => {
        const pages = paginateListGroundStations({ client: g, pageSize: 1 }, {});
        const rows = await gather(pages, ({ groundStationList }) => groundStationList ?? []);
        const ids = rows.map(({ groundStationId }) => given(groundStationId, 'groundStationId'));
        once(ids, [...ids, s.station], 'ground stations');
      },
      'those of the satellite are some of them': async () => {
        const all = (await g.listGroundStations({})).groundStationList ?? [];
        const some = (await g.listGroundStations({ satelliteId: s.satellite })).groundStationList ?? [];
        for (const one of some) {
          assert.ok(
            all.some(({ groundStationId }) => groundStationId === one.groundStationId),
            `${one.groundStationId} is none of all`,
          );
        }
      },
    }),

    'a contact is reserved and cancelled': (g, s) => ({
      'a profile, a satellite and a station': () => ready(g, s),
      reserved: async () => {
        const made = await g.reserveContact({ ...contactOf(s), tags: { pass: '1' } });
        s.contact = given(made.contactId, 'contactId');
      },
      'what it is for': async () => {
        const read = await g.describeContact({ contactId: s.contact });
        assert.deepEqual(
          [read.contactId, read.groundStation, read.missionProfileArn, read.satelliteArn, read.tags],
          [s.contact, s.station, s.profileArn, s.satelliteArn, { pass: '1' }],
        );
      },
      'when it is': async () => {
        const { startTime, endTime } = await g.describeContact({ contactId: s.contact });
        assert.deepEqual([startTime, endTime], [contactOf(s).startTime, contactOf(s).endTime]);
      },
      'it is scheduled, or will soon be': async () =>
        oneOf((await g.describeContact({ contactId: s.contact })).contactStatus, ...scheduled),
      cancelled: async () => assert.equal((await g.cancelContact({ contactId: s.contact })).contactId, s.contact),
      'it is there, and says so': async () => {
        const read = await g.describeContact({ contactId: s.contact });
        assert.equal(read.contactId, s.contact);
        oneOf(read.contactStatus, ...cancelled);
      },
    }),

    'contacts by their status and their time': (g, s) => ({
      'three are reserved': async () => {
        await ready(g, s);
        for (const at of [1, 2, 3]) s[`r${at}`] = await contact(g, s, at + 1);
      },
      'all of them, through all pages': async () => once(await contacts(g, scheduled, [1, 6], 1), [s.r1, s.r2, s.r3], 'contacts'),
      'of an earlier week there is none': async () => {
        const rows = await contacts(g, scheduled, [-8, -1]);
        for (const one of [s.r1, s.r2, s.r3]) without(rows, one);
      },
      'one is cancelled': () => g.cancelContact({ contactId: s.r2 }),
      'two are still to come': async () => {
        const rows = await contacts(g, scheduled, [1, 6]);
        once(rows, [s.r1, s.r3], 'contacts');
        without(rows, s.r2);
      },
      'the other is among those cancelled': async () => {
        const rows = await contacts(g, cancelled, [1, 6]);
        once(rows, [s.r2], 'contacts');
        without(rows, s.r1);
      },
      'of that profile alone': async () => {
        const asked = { statusList: scheduled, startTime: on(1), endTime: on(6), missionProfileArn: s.profileArn };
        const { contactList } = await g.listContacts({ ...asked, satelliteArn: s.satelliteArn, groundStation: s.station });
        for (const row of given(contactList, 'contactList')) assert.equal(row.missionProfileArn, s.profileArn);
      },
      'what is available needs to be asked for whole': () =>
        invalid(g.listContacts({ statusList: ['AVAILABLE'], startTime: on(1), endTime: on(6) })),
    }),

    'an ephemeris, from the first to the last day': (g, s) => ({
      'a satellite': () => satellite(g, s),
      made: async () => {
        s.ephemeris = await ephemeris(g, s, 'Example Ephemeris', { tags: { burn: '1' } });
      },
      read: async () => {
        const read = await g.describeEphemeris({ ephemerisId: s.ephemeris });
        assert.deepEqual(
          [read.ephemerisId, read.name, read.satelliteId, read.tags],
          [s.ephemeris, 'Example Ephemeris', s.satellite, { burn: '1' }],
        );
        oneOf(read.status, 'VALIDATING', 'ENABLED');
      },
      'its priority is 1, where none was said': async () =>
        assert.equal((await g.describeEphemeris({ ephemerisId: s.ephemeris })).priority, 1),
      'it goes before others': async () => {
        const how = { ephemerisId: s.ephemeris, enabled: true, name: 'after the burn', priority: 20 };
        assert.equal((await g.updateEphemeris(how)).ephemerisId, s.ephemeris);
        const read = await g.describeEphemeris({ ephemerisId: s.ephemeris });
        assert.deepEqual([read.name, read.priority, read.satelliteId], ['after the burn', 20, s.satellite]);
      },
      deleted: async () => {
        assert.equal((await g.deleteEphemeris({ ephemerisId: s.ephemeris })).ephemerisId, s.ephemeris);
      },
      gone: () => absent(g.describeEphemeris({ ephemerisId: s.ephemeris })),
      'not for one that is no satellite': () => absent(g.createEphemeris({ ...ephemerisOf(s, 'lost'), satelliteId: nowhere })),
    }),

    'ephemerides of a satellite': (g, s) => ({
      'three are made': async () => {
        await satellite(g, s);
        for (const at of [1, 2, 3]) s[`e${at}`] = await ephemeris(g, s, `ephemeris ${at}`, { priority: at });
      },
      'all of them, through all pages': async () =>
        once(await ephemerides(g, s, undefined, 1), [s.e1, s.e2, s.e3], 'ephemerides'),
      'each with its name and its priority': async () => {
        const asked = { satelliteId: s.satellite, startTime: on(-1), endTime: on(10) };
        const { ephemerides: rows } = await g.listEphemerides(asked);
        once(
          given(rows, 'ephemerides').map(({ ephemerisId, name, priority }) => `${ephemerisId} ${name} ${priority}`),
          [1, 2, 3].map((at) => `${s[`e${at}`]} ephemeris ${at} ${at}`),
          'ephemerides',
        );
      },
      'those that are used, or soon will be': async () =>
        once(await ephemerides(g, s, ['VALIDATING', 'ENABLED']), [s.e1, s.e2, s.e3], 'ephemerides'),
      'none of them has expired': async () => {
        const rows = await ephemerides(g, s, ['EXPIRED']);
        for (const one of [s.e1, s.e2, s.e3]) without(rows, one);
      },
      'one less': async () => {
        await g.deleteEphemeris({ ephemerisId: s.e2 });
        const rows = await ephemerides(g, s);
        once(rows, [s.e1, s.e3], 'ephemerides');
        without(rows, s.e2);
      },
    }),

    'minutes, and an agent': (g, s) => ({
      'minutes of a month': async () => {
        const used = await g.getMinuteUsage({ month: 6, year: 2026 });
        const { totalScheduledMinutes: total, isReservedMinutesCustomer: customer } = used;
        assert.ok(total === undefined || total >= 0, 'less than none');
        assert.ok(customer === undefined || typeof customer === 'boolean');
      },
      'a group for an agent': async () => {
        s.group = await group(g, {
          awsGroundStationAgentEndpoint: {
            name: 'agent-endpoint',
            egressAddress: { socketAddress: { name: '10.0.0.20', port: 55888 } },
            ingressAddress: { socketAddress: { name: '198.51.100.7', portRange: { minimum: 42000, maximum: 42010 } }, mtu: 1500 },
          },
        });
        const read = await g.getDataflowEndpointGroup({ dataflowEndpointGroupId: s.group });
        s.arn = given(read.dataflowEndpointGroupArn, 'dataflowEndpointGroupArn');
        assert.equal(read.endpointsDetails?.[0]?.awsGroundStationAgentEndpoint?.name, 'agent-endpoint');
      },
      'the agent registers': async () => {
        const { agentId } = await g.registerAgent({
          discoveryData: { capabilityArns: [s.arn], privateIpAddresses: ['10.0.0.20'], publicIpAddresses: ['198.51.100.7'] },
          agentDetails: {
            agentVersion: '1.0.3',
            instanceId: 'i-0123456789abcdef0',
            instanceType: 'm5.4xlarge',
            agentCpuCores: [1, 2, 3],
            componentVersions: [{ componentType: 'DATAPLANE', versions: ['1.0.3'] }],
          },
        });
        s.agent = given(agentId, 'agentId');
      },
      'what it has to do': async () => {
        const told = await g.getAgentConfiguration({ agentId: s.agent });
        assert.equal(told.agentId, s.agent);
        assert.ok(told.taskingDocument === undefined || typeof told.taskingDocument === 'string');
      },
      // The task is named by a tasking document, whose form nobody tells: it is taken as there.
      'it says how it is': async () => {
        const taskId = '9e1f4c6a-2b3d-4e5f-8a7b-0c1d2e3f4a5b';
        const how = { agentId: s.agent, taskId, aggregateStatus: { status: 'ACTIVE' as const }, componentStatuses: [] };
        assert.equal((await g.updateAgentStatus(how)).agentId, s.agent);
      },
      'what another would have to do': () => absent(g.getAgentConfiguration({ agentId: nowhere })),
    }),

    'a credential that is refused': (g, s, another) => ({
      'a config': async () => {
        s.config = (await config(g, 'guarded', tracking())).id;
      },
      'not read by another': () =>
        stranger(another('AKIANOBODYATALL00000').getConfig({ configId: s.config, configType: 'tracking' })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listConfigs({})),
      'nothing made by another': () =>
        stranger(another('AKIANOBODYATALL00000').createConfig({ name: 'intruder', configData: tracking() })),
      'not deleted by another': () =>
        stranger(another('AKIANOBODYATALL00000').deleteConfig({ configId: s.config, configType: 'tracking' })),
      'it is still there': async () =>
        assert.equal((await g.getConfig({ configId: s.config, configType: 'tracking' })).name, 'guarded'),
    }),

    'wrong requests, and what is not there': (g, s) => ({
      'a config that tracks in no known way': async () => {
        await invalid(g.createConfig({ name: 'wrong', configData: tracking('MAYBE' as 'REMOVED') }));
        const rows = (await g.listConfigs({})).configList ?? [];
        assert.ok(!rows.some(({ name }) => name === 'wrong'), 'it was made');
      },
      'a name of forbidden letters, and none': async () => {
        await invalid(g.createConfig({ name: 'what?!', configData: tracking() }));
        await invalid(g.createConfig({ name: undefined, configData: tracking() }));
      },
      'a contact of no time at all': async () => {
        await parts(g, s);
        await invalid(g.createMissionProfile({ ...profileOf(s, 'short'), minimumViableContactDurationSeconds: 0 }));
      },
      'a group that is ready too late': () =>
        invalid(g.createDataflowEndpointGroup({ endpointDetails: [receiver('late')], contactPrePassDurationSeconds: 30 })),
      'minutes of a thirteenth month': () => invalid(g.getMinuteUsage({ month: 13, year: 2026 })),
      'a config of no known kind': () =>
        invalid(g.getConfig({ configId: nowhere, configType: 'antenna-sideways' as ConfigCapabilityType })),
      'what is not there is not read': async () => {
        await absent(g.getConfig({ configId: nowhere, configType: 'tracking' }));
        await absent(g.describeContact({ contactId: nowhere }));
        await absent(g.getSatellite({ satelliteId: nowhere }));
      },
      'nor changed, nor deleted': async () => {
        await absent(g.updateMissionProfile({ missionProfileId: nowhere, name: 'late' }));
        await absent(g.deleteMissionProfile({ missionProfileId: nowhere }));
        await absent(g.cancelContact({ contactId: nowhere }));
      },
    }),
  },
};
