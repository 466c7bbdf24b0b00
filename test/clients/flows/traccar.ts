import assert from 'node:assert/strict';
import * as traccar from 'traccar-api';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client has a class for each part of the service, and no credential of its own accord: that goes with the options of each request. */
const connect = (place: Place, token: string) => {
  const configuration = new traccar.Configuration({
    basePath: place.base,
    baseOptions: { headers: { Authorization: `Basic ${token}` } },
  });
  return {
    attributes: new traccar.AttributesApi(configuration),
    calendars: new traccar.CalendarsApi(configuration),
    commands: new traccar.CommandsApi(configuration),
    devices: new traccar.DevicesApi(configuration),
    drivers: new traccar.DriversApi(configuration),
    geofences: new traccar.GeofencesApi(configuration),
    groups: new traccar.GroupsApi(configuration),
    maintenance: new traccar.MaintenanceApi(configuration),
    notifications: new traccar.NotificationsApi(configuration),
    permissions: new traccar.PermissionsApi(configuration),
    positions: new traccar.PositionsApi(configuration),
    reports: new traccar.ReportsApi(configuration),
    server: new traccar.ServerApi(configuration),
    session: new traccar.SessionApi(configuration),
    users: new traccar.UsersApi(configuration),
  };
};
type Client = ReturnType<typeof connect>;

const ids = (rows: readonly { readonly id?: unknown }[]): string[] => rows.map(({ id }) => String(given(id, 'id')));
const has = (rows: readonly { readonly id?: unknown }[], id: string): boolean => ids(rows).includes(id);
/** A device, as most flows need one. */
const device = async (api: Client, name: string, uniqueId: string): Promise<string> =>
  String(given((await api.devices.devicesPost({ name, uniqueId })).data.id, 'id'));
const found = async (api: Client, id: string) => (await api.devices.devicesGet(undefined, undefined, Number(id))).data;
const from = new Date('2026-01-01T00:00:00Z');
const to = new Date('2026-01-08T00:00:00Z');
const circle = 'CIRCLE (52.5163 13.3777, 500)';
const group = async (api: Client, s: State, name: string): Promise<void> => {
  s.group = String(given((await api.groups.groupsPost({ name })).data.id, 'id'));
};

/** Guide: traccar.org/traccar-api and traccar.org/api-reference (devices, groups, permissions, geofences, drivers, notifications, commands, computed attributes, maintenance, reports, users, session). */
export const vendor: Vendor<Client> = {
  document: 'traccar/traccar.org.json',
  header: 'authorization',
  word: 'Basic',
  made: btoa('admin@example.com:admin'),
  client: connect,
  strict: ['somebody who is refused'],
  flows: {
    'a device, from the first to the last day': (api, s) => ({
      made: async () => {
        const { data } = await api.devices.devicesPost({ name: 'Van', uniqueId: '123456789012345', category: 'van' });
        assert.deepEqual([data.name, data.uniqueId, data.category], ['Van', '123456789012345', 'van']);
        assert.ok(Number.isInteger(data.id), String(data.id));
        s.id = String(data.id);
      },
      'read by its number': async () => {
        const rows = await found(api, s.id);
        assert.deepEqual(ids(rows), [s.id]);
        assert.equal(rows[0]?.uniqueId, '123456789012345');
      },
      'called something else': async () => {
        const changed = { id: Number(s.id), name: 'Red van', uniqueId: '123456789012345', phone: '+15555550100' };
        const { data } = await api.devices.devicesIdPut(changed, Number(s.id));
        assert.deepEqual([data.id, data.name, data.phone], [Number(s.id), 'Red van', '+15555550100']);
      },
      'read so': async () => assert.equal((await found(api, s.id))[0]?.name, 'Red van'),
      'is in the list': async () => once(ids((await api.devices.devicesGet()).data), [s.id], 'devices'),
      'deleted without a word': async () => assert.equal((await api.devices.devicesIdDelete(Number(s.id))).status, 204),
      'no longer in the list': async () => assert.ok(!has((await api.devices.devicesGet()).data, s.id), 'it is'),
    }),

    'devices by what is theirs alone': (api, s) => ({
      'two are made': async () => {
        s.one = await device(api, 'One', 'unique-1');
        s.two = await device(api, 'Two', 'unique-2');
        assert.notEqual(s.one, s.two);
      },
      'found by it': async () => {
        const { data } = await api.devices.devicesGet(undefined, undefined, undefined, 'unique-2');
        assert.deepEqual(ids(data), [s.two]);
      },
      'found by a number': async () => assert.deepEqual(ids(await found(api, s.one)), [s.one]),
      'both in the list': async () => once(ids((await api.devices.devicesGet()).data), [s.one, s.two], 'devices'),
      'all that there are': async () => once(ids((await api.devices.devicesGet(true)).data), [s.one, s.two], 'devices'),
    }),

    'a device with more to say of it': (api, s) => ({
      'made with attributes of ours': async () => {
        const { data } = await api.devices.devicesPost({
          name: 'Boat',
          uniqueId: 'boat-1',
          model: 'TK103',
          contact: 'Jo',
          attributes: { speedLimit: 20, colour: 'blue' },
        });
        assert.deepEqual([data.model, data.contact], ['TK103', 'Jo']);
        assert.deepEqual(data.attributes, { speedLimit: 20, colour: 'blue' });
        s.id = String(data.id);
      },
      'read with them': async () => assert.deepEqual((await found(api, s.id))[0]?.attributes, { speedLimit: 20, colour: 'blue' }),
      'how far it went': async () => {
        const answer = await api.devices.devicesIdAccumulatorsPut(
          { deviceId: Number(s.id), totalDistance: 1500, hours: 12 },
          Number(s.id),
        );
        assert.equal(answer.status, 204);
      },
      'out of use': async () => {
        const { data } = await api.devices.devicesIdPut(
          { id: Number(s.id), name: 'Boat', uniqueId: 'boat-1', disabled: true },
          Number(s.id),
        );
        assert.equal(data.disabled, true);
      },
    }),

    'a group, and a group in it': (api, s) => ({
      made: async () => {
        const { data } = await api.groups.groupsPost({ name: 'Vans' });
        assert.equal(data.name, 'Vans');
        s.id = String(data.id);
      },
      'one in it': async () => {
        const { data } = await api.groups.groupsPost({ name: 'Red vans', groupId: Number(s.id) });
        assert.deepEqual([data.name, data.groupId], ['Red vans', Number(s.id)]);
        s.inner = String(data.id);
      },
      'both in the list': async () => once(ids((await api.groups.groupsGet()).data), [s.id, s.inner], 'groups'),
      'a device in the inner one': async () => {
        const { data } = await api.devices.devicesPost({ name: 'Van', uniqueId: 'van-1', groupId: Number(s.inner) });
        assert.equal(data.groupId, Number(s.inner));
      },
      'called something else': async () => {
        const { data } = await api.groups.groupsIdPut({ id: Number(s.id), name: 'All vans' }, Number(s.id));
        assert.deepEqual([data.id, data.name], [Number(s.id), 'All vans']);
      },
      'the inner one goes': async () => {
        assert.equal((await api.groups.groupsIdDelete(Number(s.inner))).status, 204);
        const { data } = await api.groups.groupsGet();
        assert.deepEqual([has(data, s.id), has(data, s.inner)], [true, false]);
      },
    }),

    'a place that is watched': (api, s) => ({
      made: async () => {
        const { data } = await api.geofences.geofencesPost({ name: 'Yard', description: 'Where the vans are', area: circle });
        assert.deepEqual([data.name, data.description, data.area], ['Yard', 'Where the vans are', circle]);
        s.id = String(data.id);
      },
      'is in the list': async () => once(ids((await api.geofences.geofencesGet()).data), [s.id], 'places'),
      'for a device': async () => {
        s.device = await device(api, 'Van', 'van-2');
        const { data } = await api.permissions.permissionsPost({ deviceId: Number(s.device), geofenceId: Number(s.id) });
        assert.deepEqual([data.deviceId, data.geofenceId], [Number(s.device), Number(s.id)]);
      },
      'among those of that device': async () =>
        once(ids((await api.geofences.geofencesGet(undefined, undefined, Number(s.device))).data), [s.id], 'places'),
      'of another size': async () => {
        const area = 'CIRCLE (52.5163 13.3777, 900)';
        const { data } = await api.geofences.geofencesIdPut({ id: Number(s.id), name: 'Yard', area }, Number(s.id));
        assert.equal(data.area, area);
      },
      'deleted, and gone': async () => {
        assert.equal((await api.geofences.geofencesIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.geofences.geofencesGet()).data, s.id), 'it is still there');
      },
    }),

    'a driver of a device': (api, s) => ({
      both: async () => {
        s.device = await device(api, 'Van', 'van-3');
        const { data } = await api.drivers.driversPost({ name: 'Jo', uniqueId: 'badge-7' });
        assert.deepEqual([data.name, data.uniqueId], ['Jo', 'badge-7']);
        s.id = String(data.id);
      },
      linked: async () => {
        const { data } = await api.permissions.permissionsPost({ deviceId: Number(s.device), driverId: Number(s.id) });
        assert.deepEqual([data.deviceId, data.driverId], [Number(s.device), Number(s.id)]);
      },
      'listed with that device': async () =>
        once(ids((await api.drivers.driversGet(undefined, undefined, Number(s.device))).data), [s.id], 'drivers'),
      'no longer linked': async () => {
        const answer = await api.permissions.permissionsDelete({ deviceId: Number(s.device), driverId: Number(s.id) });
        assert.equal(answer.status, 204);
      },
      'still a driver': async () => once(ids((await api.drivers.driversGet()).data), [s.id], 'drivers'),
      'until deleted': async () => {
        assert.equal((await api.drivers.driversIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.drivers.driversGet()).data, s.id), 'still there');
      },
    }),

    'what one is told of': (api, s) => ({
      'kinds of it': async () => {
        const { data } = await api.notifications.notificationsTypesGet();
        s.type = String(given(given(data[0], 'kind').type, 'type'));
      },
      'one of them asked for': async () => {
        const { data } = await api.notifications.notificationsPost({ type: s.type, always: true, web: true, mail: false });
        assert.deepEqual([data.type, data.always, data.web, data.mail], [s.type, true, true, false]);
        s.id = String(data.id);
      },
      'is in the list': async () => once(ids((await api.notifications.notificationsGet()).data), [s.id], 'notifications'),
      'by mail as well': async () => {
        const { data } = await api.notifications.notificationsIdPut(
          { id: Number(s.id), type: s.type, always: true, web: true, mail: true },
          Number(s.id),
        );
        assert.deepEqual([data.id, data.mail], [Number(s.id), true]);
      },
      'one is sent to try': async () => assert.equal((await api.notifications.notificationsTestPost()).status, 204),
      'no more': async () => {
        assert.equal((await api.notifications.notificationsIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.notifications.notificationsGet()).data, s.id), 'still there');
      },
    }),

    'a command to a device': (api, s) => ({
      'a device, and what it is able to do': async () => {
        s.device = await device(api, 'Van', 'van-4');
        const { data } = await api.commands.commandsTypesGet(Number(s.device));
        assert.ok(Array.isArray(data), 'no list');
      },
      'kept for later': async () => {
        const { data } = await api.commands.commandsPost({
          description: 'Stop it',
          type: 'engineStop',
          deviceId: Number(s.device),
        });
        assert.deepEqual([data.description, data.type], ['Stop it', 'engineStop']);
        s.id = String(data.id);
      },
      'is in the list': async () => once(ids((await api.commands.commandsGet()).data), [s.id], 'commands'),
      'sent, or waiting': async () => {
        const { status, data } = await api.commands.commandsSendPost({
          type: 'engineStop',
          deviceId: Number(s.device),
          attributes: {},
        });
        assert.ok([200, 202].includes(status), String(status));
        assert.deepEqual([data.type, data.deviceId], ['engineStop', Number(s.device)]);
      },
      'called something else': async () => {
        const { data } = await api.commands.commandsIdPut(
          { id: Number(s.id), description: 'Stop', type: 'engineStop' },
          Number(s.id),
        );
        assert.equal(data.description, 'Stop');
      },
      'deleted, and gone': async () => {
        assert.equal((await api.commands.commandsIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.commands.commandsGet()).data, s.id), 'still there');
      },
    }),

    'what is worked out of the rest': (api, s) => ({
      made: async () => {
        const { data } = await api.attributes.attributesComputedPost({
          description: 'Speed in km/h',
          attribute: 'speedKmh',
          expression: 'speed * 1.852',
          type: 'number',
        });
        assert.deepEqual([data.attribute, data.expression, data.type], ['speedKmh', 'speed * 1.852', 'number']);
        s.id = String(data.id);
      },
      'is in the list': async () => once(ids((await api.attributes.attributesComputedGet()).data), [s.id], 'attributes'),
      'in another way': async () => {
        const { data } = await api.attributes.attributesComputedIdPut(
          { id: Number(s.id), description: 'Speed', attribute: 'speedKmh', expression: 'speed * 2', type: 'number' },
          Number(s.id),
        );
        assert.deepEqual([data.id, data.expression], [Number(s.id), 'speed * 2']);
      },
      'deleted, and gone': async () => {
        assert.equal((await api.attributes.attributesComputedIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.attributes.attributesComputedGet()).data, s.id), 'still there');
      },
    }),

    'what has to be done every so often': (api, s) => ({
      made: async () => {
        const { data } = await api.maintenance.maintenancePost({
          name: 'Oil',
          type: 'totalDistance',
          start: 10000,
          period: 15000,
        });
        assert.deepEqual([data.name, data.type, data.start, data.period], ['Oil', 'totalDistance', 10000, 15000]);
        s.id = String(data.id);
      },
      'is in the list, as it was made': async () => {
        const one = (await api.maintenance.maintenanceGet()).data.find(({ id }) => String(id) === s.id);
        assert.deepEqual([one?.name, one?.period], ['Oil', 15000]);
      },
      'more often': async () => {
        const changed = { id: Number(s.id), name: 'Oil', type: 'totalDistance', start: 10000, period: 7500 };
        assert.equal((await api.maintenance.maintenanceIdPut(changed, Number(s.id))).data.period, 7500);
      },
      'deleted, and gone': async () => {
        assert.equal((await api.maintenance.maintenanceIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.maintenance.maintenanceGet()).data, s.id), 'still there');
      },
    }),

    'hours in a calendar': (api, s) => ({
      made: async () => {
        s.data = btoa('BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n');
        const { data } = await api.calendars.calendarsPost({ name: 'Working hours', data: s.data });
        assert.deepEqual([data.name, data.data], ['Working hours', s.data]);
        s.id = String(data.id);
      },
      'for a place': async () => {
        const { data } = await api.geofences.geofencesPost({ name: 'Yard', area: circle, calendarId: Number(s.id) });
        assert.equal(data.calendarId, Number(s.id));
      },
      'is in the list': async () => once(ids((await api.calendars.calendarsGet()).data), [s.id], 'calendars'),
      'called something else': async () => {
        const changed = { id: Number(s.id), name: 'Opening hours', data: s.data };
        assert.equal((await api.calendars.calendarsIdPut(changed, Number(s.id))).data.name, 'Opening hours');
      },
      'deleted, and gone': async () => {
        assert.equal((await api.calendars.calendarsIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.calendars.calendarsGet()).data, s.id), 'still there');
      },
    }),

    'somebody who may come in': (api, s) => ({
      made: async () => {
        const { data } = await api.users.usersPost({ name: 'Jo', email: 'jo@example.com', password: 'a secret of mine' });
        assert.deepEqual([data.name, data.email], ['Jo', 'jo@example.com']);
        s.id = String(data.id);
      },
      'is in the list': async () => once(ids((await api.users.usersGet()).data), [s.id], 'users'),
      'may only read': async () => {
        const changed = { id: Number(s.id), name: 'Jo', email: 'jo@example.com', readonly: true };
        const { data } = await api.users.usersIdPut(changed, Number(s.id));
        assert.deepEqual([data.id, data.readonly], [Number(s.id), true]);
      },
      'may see a device': async () => {
        s.device = await device(api, 'Van', 'van-5');
        const { data } = await api.permissions.permissionsPost({ userId: Number(s.id), deviceId: Number(s.device) });
        assert.deepEqual([data.userId, data.deviceId], [Number(s.id), Number(s.device)]);
      },
      'comes in': async () => {
        const { data } = await api.session.sessionPost('jo@example.com', 'a secret of mine');
        assert.equal(data.email, 'jo@example.com');
      },
      'goes for good': async () => {
        assert.equal((await api.users.usersIdDelete(Number(s.id))).status, 204);
        assert.ok(!has((await api.users.usersGet()).data, s.id), 'still there');
      },
    }),

    'the server, and where all are': (api, s) => ({
      'what it is': async () => {
        const { data } = await api.server.serverGet();
        assert.equal(typeof data.registration, 'boolean');
        s.id = String(given(data.id, 'id'));
      },
      'on another map': async () => {
        const { data } = await api.server.serverPut({ id: Number(s.id), map: 'osm', zoom: 9 });
        assert.deepEqual([data.map, data.zoom], ['osm', 9]);
      },
      'where all are': async () => {
        for (const { latitude, longitude } of (await api.positions.positionsGet()).data)
          assert.deepEqual([typeof latitude, typeof longitude], ['number', 'number']);
      },
      'how far they went in a week': async () => {
        await group(api, s, 'Vans');
        const { data } = await api.reports.reportsSummaryGet(from, to, undefined, [Number(s.group)]);
        assert.ok(Array.isArray(data), 'no list');
      },
      'a week of one device alone': async () => {
        s.device = await device(api, 'Van', 'van-6');
        for (const { deviceId } of (await api.reports.reportsTripsGet(from, to, [Number(s.device)])).data)
          assert.equal(String(deviceId), s.device);
      },
    }),

    'somebody who is refused': (_api, _s, another) => ({
      'for the devices': () => refused(another(btoa('no@example.com:body')).devices.devicesGet(), 401),
      'for a new one': () =>
        refused(another(btoa('no@example.com:body')).devices.devicesPost({ name: 'Stolen', uniqueId: 'stolen' }), 401),
      'for the people': () => refused(another(btoa('no@example.com:body')).users.usersGet(), 401),
    }),

    'what is not there, and what is not right': (api) => ({
      'no such device to change': () =>
        refused(api.devices.devicesIdPut({ id: 999_999, name: 'Lost', uniqueId: 'lost' }, 999_999), 400, 403, 404),
      'none by a number that none has': async () => assert.deepEqual(await found(api, '999999'), []),
      'a number is one': () => refused(api.devices.devicesIdDelete('many' as never), 400, 404),
      'a name is a text': () => refused(api.devices.devicesPost({ name: { first: 'Van' }, uniqueId: 'van-7' }), 400),
      'a position has a number': () =>
        refused(api.positions.positionsGet(undefined, undefined, undefined, 'many' as never), 400, 404),
    }),
  },
};
