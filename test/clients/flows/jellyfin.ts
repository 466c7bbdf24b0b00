import assert from 'node:assert/strict';
import { type Api, Jellyfin } from '@jellyfin/sdk';
import { getActivityLogApi } from '@jellyfin/sdk/lib/utils/api/activity-log-api.js';
import { getApiKeyApi } from '@jellyfin/sdk/lib/utils/api/api-key-api.js';
import { getCollectionApi } from '@jellyfin/sdk/lib/utils/api/collection-api.js';
import { getConfigurationApi } from '@jellyfin/sdk/lib/utils/api/configuration-api.js';
import { getDevicesApi } from '@jellyfin/sdk/lib/utils/api/devices-api.js';
import { getDisplayPreferencesApi } from '@jellyfin/sdk/lib/utils/api/display-preferences-api.js';
import { getLibraryStructureApi } from '@jellyfin/sdk/lib/utils/api/library-structure-api.js';
import { getLiveTvApi } from '@jellyfin/sdk/lib/utils/api/live-tv-api.js';
import { getPackageApi } from '@jellyfin/sdk/lib/utils/api/package-api.js';
import { getPlaylistsApi } from '@jellyfin/sdk/lib/utils/api/playlists-api.js';
import { getPluginsApi } from '@jellyfin/sdk/lib/utils/api/plugins-api.js';
import { getScheduledTasksApi } from '@jellyfin/sdk/lib/utils/api/scheduled-tasks-api.js';
import { getStartupApi } from '@jellyfin/sdk/lib/utils/api/startup-api.js';
import { getSystemApi } from '@jellyfin/sdk/lib/utils/api/system-api.js';
import { getUserApi } from '@jellyfin/sdk/lib/utils/api/user-api.js';
import { getUserLibraryApi } from '@jellyfin/sdk/lib/utils/api/user-library-api.js';
import axios from 'axios';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The client sends its token in Authorization; the release that the description is of names X-Emby-Authorization, which the
 * requests carry that the client is given.
 */
const connect = (place: Place, token: string): Api => {
  const jellyfin = new Jellyfin({
    clientInfo: { name: 'Flows', version: '1.0.0' },
    deviceInfo: { name: 'Desk', id: 'desk-1' },
  });
  return jellyfin.createApi(place.base, token, axios.create({ headers: { 'X-Emby-Authorization': token } }));
};

const gone = (call: Promise<unknown>): Promise<unknown> => refused(call, 404);
const nobody = '6eec632a-ff0d-4d09-aad0-bf9e90b14bc6';

const user = async (api: Api, Name: string): Promise<string> => {
  const { data } = await getUserApi(api).createUserByName({ createUserByName: { Name, Password: 'correct horse' } });
  return given(data.Id, 'user id');
};
const userIds = async (api: Api): Promise<string[]> => (await getUserApi(api).getUsers()).data.map(({ Id }) => String(Id));
const folders = async (api: Api): Promise<string[]> =>
  (await getLibraryStructureApi(api).getVirtualFolders()).data.map(({ Name }) => String(Name));

/** jellyfin.org/docs, the API's own pages (api.jellyfin.org) and the README of its TypeScript SDK. */
export const vendor: Vendor<Api> = {
  document: 'jellyfin/jellyfin.local.json',
  header: 'X-Emby-Authorization',
  made: 'a1b2c3d4e5f6',
  client: connect,
  strict: ['a wrong token is refused'],
  flows: {
    'a user made, read, deleted': (api, s) => ({
      'made with its name': async () => {
        const { data } = await getUserApi(api).createUserByName({
          createUserByName: { Name: 'ada', Password: 'correct horse' },
        });
        assert.equal(data.Name, 'ada');
        s.id = given(data.Id, 'user id');
      },
      'read as it was made': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        assert.deepEqual([data.Id, data.Name], [s.id, 'ada']);
      },
      'in the list': async () => once(await userIds(api), [s.id], 'users'),
      deleted: async () => assert.equal((await getUserApi(api).deleteUser({ userId: s.id })).status, 204),
      'no more there': () => gone(getUserApi(api).getUserById({ userId: s.id })),
      'nor in the list': async () => assert.ok(!(await userIds(api)).includes(s.id)),
    }),

    'a user renamed': (api, s) => ({
      made: async () => {
        s.id = await user(api, 'grace');
      },
      'given another name': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        const { status } = await getUserApi(api).updateUser({ userId: s.id, userDto: { ...data, Name: 'hopper' } });
        assert.equal(status, 204);
      },
      'read with it': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        assert.deepEqual([data.Id, data.Name], [s.id, 'hopper']);
      },
      'listed with it': async () => {
        const { data } = await getUserApi(api).getUsers();
        assert.equal(data.find(({ Id }) => Id === s.id)?.Name, 'hopper');
      },
    }),

    'what a user may do': (api, s) => ({
      made: async () => {
        s.id = await user(api, 'joan');
      },
      'made an administrator': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        const userPolicy = { ...data.Policy, IsAdministrator: true, EnableLiveTvManagement: false };
        assert.equal((await getUserApi(api).updateUserPolicy({ userId: s.id, userPolicy })).status, 204);
      },
      'read as one': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        const policy = given(data.Policy, 'policy');
        assert.deepEqual([policy.IsAdministrator, policy.EnableLiveTvManagement], [true, false]);
      },
      'its name is as it was': async () => {
        assert.equal((await getUserApi(api).getUserById({ userId: s.id })).data.Name, 'joan');
      },
    }),

    'how a user likes it': (api, s) => ({
      made: async () => {
        s.id = await user(api, 'lin');
      },
      'in French, with subtitles': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        const userConfiguration = {
          ...data.Configuration,
          AudioLanguagePreference: 'fre',
          SubtitleMode: 'Always' as const,
          HidePlayedInLatest: true,
        };
        const changed = await getUserApi(api).updateUserConfiguration({ userId: s.id, userConfiguration });
        assert.equal(changed.status, 204);
      },
      'read so': async () => {
        const { data } = await getUserApi(api).getUserById({ userId: s.id });
        const { AudioLanguagePreference, SubtitleMode, HidePlayedInLatest } = given(data.Configuration, 'configuration');
        assert.deepEqual([AudioLanguagePreference, SubtitleMode, HidePlayedInLatest], ['fre', 'Always', true]);
      },
    }),

    'several users, each its own': (api, s) => ({
      'three are made': async () => {
        for (const name of ['one', 'two', 'three']) s[name] = await user(api, name);
        assert.equal(new Set([s.one, s.two, s.three]).size, 3);
      },
      'each is listed once': async () => once(await userIds(api), [s.one, s.two, s.three], 'users'),
      'each is read with its own name': async () => {
        for (const name of ['one', 'two', 'three'])
          assert.equal((await getUserApi(api).getUserById({ userId: s[name] })).data.Name, name);
      },
      'one goes, the others stay': async () => {
        await getUserApi(api).deleteUser({ userId: s.two });
        const left = await userIds(api);
        once(left, [s.one, s.three], 'users');
        assert.ok(!left.includes(s.two));
      },
    }),

    'somebody signs in': (api, s) => ({
      'a user': async () => {
        s.id = await user(api, 'pia');
      },
      'by name and password, and is given a token': async () => {
        const { data } = await getUserApi(api).authenticateUserByName({
          authenticateUserByName: { Username: 'pia', Pw: 'correct horse' },
        });
        assert.ok(given(data.AccessToken, 'token').length > 0);
        assert.equal(given(data.User, 'user').Name, 'pia');
      },
      'changes the password': async () => {
        const { status } = await getUserApi(api).updateUserPassword({
          userId: s.id,
          updateUserPassword: { CurrentPw: 'correct horse', NewPw: 'battery staple' },
        });
        assert.equal(status, 204);
      },
    }),

    'a key for another program': (api, s) => ({
      made: async () => assert.equal((await getApiKeyApi(api).createKey({ app: 'Backups' })).status, 204),
      'in the list, with what it is for': async () => {
        const { data } = await getApiKeyApi(api).getKeys();
        const found = given(data.Items, 'items').filter(({ AppName }) => AppName === 'Backups');
        assert.equal(found.length, 1);
        s.key = given(found[0]?.AccessToken, 'token');
      },
      revoked: async () => assert.equal((await getApiKeyApi(api).revokeKey({ key: s.key })).status, 204),
      'no more in the list': async () => {
        const { data } = await getApiKeyApi(api).getKeys();
        assert.ok(!given(data.Items, 'items').some(({ AccessToken }) => AccessToken === s.key));
      },
    }),

    'a library made, renamed, removed': (api) => ({
      made: async () => {
        const made = await getLibraryStructureApi(api).addVirtualFolder({
          name: 'Films',
          collectionType: 'Movies',
          refreshLibrary: false,
          addVirtualFolderDto: { LibraryOptions: { EnablePhotos: false } },
        });
        assert.equal(made.status, 204);
      },
      'in the list, with what it holds': async () => {
        const { data } = await getLibraryStructureApi(api).getVirtualFolders();
        once(
          data.map(({ Name }) => String(Name)),
          ['Films'],
          'libraries',
        );
        const held = data.find(({ Name }) => Name === 'Films')?.CollectionType;
        assert.equal(String(held).toLowerCase(), 'movies');
      },
      renamed: async () => {
        const renamed = await getLibraryStructureApi(api).renameVirtualFolder({ name: 'Films', newName: 'Cinema' });
        assert.equal(renamed.status, 204);
      },
      'in the list with its new name alone': async () => {
        const names = await folders(api);
        once(names, ['Cinema'], 'libraries');
        assert.ok(!names.includes('Films'));
      },
      removed: async () => {
        assert.equal((await getLibraryStructureApi(api).removeVirtualFolder({ name: 'Cinema' })).status, 204);
      },
      'no more in the list': async () => assert.ok(!(await folders(api)).includes('Cinema')),
    }),

    'two libraries cannot have one name': (api) => ({
      'two are made': async () => {
        for (const name of ['Music', 'Sound'])
          await getLibraryStructureApi(api).addVirtualFolder({ name, collectionType: 'Music' });
        once(await folders(api), ['Music', 'Sound'], 'libraries');
      },
      'the one is not renamed to the other': () =>
        refused(getLibraryStructureApi(api).renameVirtualFolder({ name: 'Sound', newName: 'Music' }), 409),
      'what is not there is not renamed': () =>
        gone(getLibraryStructureApi(api).renameVirtualFolder({ name: 'Silence', newName: 'Noise' })),
      'both are as they were': async () => once(await folders(api), ['Music', 'Sound'], 'libraries'),
    }),

    'where plugins come from': (api) => ({
      'two places are set': async () => {
        const repositoryInfo = [
          { Name: 'Stable', Url: 'https://repo.example.org/stable.json', Enabled: true },
          { Name: 'Own', Url: 'https://repo.example.org/own.json', Enabled: false },
        ];
        assert.equal((await getPackageApi(api).setRepositories({ repositoryInfo })).status, 204);
      },
      'read as they were set': async () => {
        const { data } = await getPackageApi(api).getRepositories();
        assert.deepEqual(
          data.map(({ Name, Enabled }) => [Name, Enabled]),
          [
            ['Stable', true],
            ['Own', false],
          ],
        );
      },
      'one is left out': async () => {
        const repositoryInfo = [{ Name: 'Stable', Url: 'https://repo.example.org/stable.json', Enabled: true }];
        assert.equal((await getPackageApi(api).setRepositories({ repositoryInfo })).status, 204);
      },
      'one is left': async () => {
        const { data } = await getPackageApi(api).getRepositories();
        assert.deepEqual(
          data.map(({ Name }) => Name),
          ['Stable'],
        );
      },
    }),

    'how the server is set up': (api) => ({
      'named, and its log kept': async () => {
        const { data } = await getConfigurationApi(api).getConfiguration();
        const serverConfiguration = { ...data, ServerName: 'Attic', ActivityLogRetentionDays: 7 };
        assert.equal((await getConfigurationApi(api).updateConfiguration({ serverConfiguration })).status, 204);
      },
      'read so': async () => {
        const { data } = await getConfigurationApi(api).getConfiguration();
        assert.deepEqual([data.ServerName, data.ActivityLogRetentionDays], ['Attic', 7]);
      },
      'named again': async () => {
        const { data } = await getConfigurationApi(api).getConfiguration();
        await getConfigurationApi(api).updateConfiguration({ serverConfiguration: { ...data, ServerName: 'Cellar' } });
        const again = (await getConfigurationApi(api).getConfiguration()).data;
        assert.deepEqual([again.ServerName, again.ActivityLogRetentionDays], ['Cellar', 7]);
      },
    }),

    'the first steps of a server': (api) => ({
      'its language is set': async () => {
        const startupConfigurationDto = { UICulture: 'de-DE', MetadataCountryCode: 'DE', PreferredMetadataLanguage: 'de' };
        const { status } = await getStartupApi(api).updateInitialConfiguration({ startupConfigurationDto });
        assert.equal(status, 204);
      },
      'read as it was set': async () => {
        const { data } = await getStartupApi(api).getStartupConfiguration();
        assert.deepEqual(data, { UICulture: 'de-DE', MetadataCountryCode: 'DE', PreferredMetadataLanguage: 'de' });
      },
      'its first user is named': async () => {
        const { status } = await getStartupApi(api).updateStartupUser({
          startupUserDto: { Name: 'owner', Password: 'correct horse' },
        });
        assert.equal(status, 204);
      },
      'and finished': async () => assert.equal((await getStartupApi(api).completeWizard()).status, 204),
    }),

    'what a page looks like to somebody': (api, s) => ({
      'a user': async () => {
        s.user = await user(api, 'rex');
      },
      'sorted by year, downwards': async () => {
        const { status } = await getDisplayPreferencesApi(api).updateDisplayPreferences({
          displayPreferencesId: 'usersettings',
          userId: s.user,
          client: 'emby',
          displayPreferencesDto: {
            Id: 'usersettings',
            Client: 'emby',
            SortBy: 'ProductionYear',
            SortOrder: 'Descending',
            ShowSidebar: true,
            CustomPrefs: { chromecastVersion: 'stable' },
          },
        });
        assert.equal(status, 204);
      },
      'read so': async () => {
        const { data } = await getDisplayPreferencesApi(api).getDisplayPreferences({
          displayPreferencesId: 'usersettings',
          userId: s.user,
          client: 'emby',
        });
        assert.deepEqual([data.SortBy, data.SortOrder, data.ShowSidebar], ['ProductionYear', 'Descending', true]);
        assert.equal(data.Client, 'emby');
      },
    }),

    'tasks of the server': (api, s) => ({
      'there are some': async () => {
        const { data } = await getScheduledTasksApi(api).getTasks();
        assert.ok(data.length > 0, 'a server has tasks');
        s.id = given(data[0]?.Id, 'task id');
        s.name = given(data[0]?.Name, 'task name');
      },
      'one is read as it was listed': async () => {
        const { data } = await getScheduledTasksApi(api).getTask({ taskId: s.id });
        assert.deepEqual([data.Id, data.Name], [s.id, s.name]);
      },
      started: async () => assert.equal((await getScheduledTasksApi(api).startTask({ taskId: s.id })).status, 204),
      stopped: async () => assert.equal((await getScheduledTasksApi(api).stopTask({ taskId: s.id })).status, 204),
      'one that is not there is not read': () => gone(getScheduledTasksApi(api).getTask({ taskId: 'no-such-task' })),
    }),

    'a playlist': (api, s) => ({
      'a user': async () => {
        s.user = await user(api, 'otto');
      },
      made: async () => {
        const { data } = await getPlaylistsApi(api).createPlaylist({
          createPlaylistDto: { Name: 'Evening', Ids: [], UserId: s.user, MediaType: 'Audio' },
        });
        s.id = given(data.Id, 'playlist id');
      },
      'its items are a list': async () => {
        const { data } = await getPlaylistsApi(api).getPlaylistItems({ playlistId: s.id, userId: s.user });
        assert.ok(Array.isArray(data.Items));
        assert.equal(typeof data.TotalRecordCount, 'number');
      },
      'another is another': async () => {
        const createPlaylistDto = { Name: 'Morning', Ids: [], UserId: s.user, MediaType: 'Audio' };
        const { data } = await getPlaylistsApi(api).createPlaylist({ createPlaylistDto });
        assert.notEqual(given(data.Id, 'playlist id'), s.id);
      },
      'one that is not there has no items': () =>
        gone(getPlaylistsApi(api).getPlaylistItems({ playlistId: nobody, userId: s.user })),
    }),

    'a collection, liked and not': (api, s) => ({
      'a user, and a collection': async () => {
        s.user = await user(api, 'zoe');
        const { data } = await getCollectionApi(api).createCollection({ name: 'Trilogies', ids: [] });
        s.id = given(data.Id, 'collection id');
      },
      'a favourite': async () => {
        const { data } = await getUserLibraryApi(api).markFavoriteItem({ userId: s.user, itemId: s.id });
        assert.equal(data.IsFavorite, true);
      },
      'one no more': async () => {
        const { data } = await getUserLibraryApi(api).unmarkFavoriteItem({ userId: s.user, itemId: s.id });
        assert.equal(data.IsFavorite, false);
      },
      liked: async () => {
        const { data } = await getUserLibraryApi(api).updateUserItemRating({ userId: s.user, itemId: s.id, likes: true });
        assert.equal(data.Likes, true);
      },
    }),

    'a tuner': (api, s) => ({
      added: async () => {
        const { data } = await getLiveTvApi(api).addTunerHost({
          tunerHostInfo: { Url: 'http://192.168.1.20/', Type: 'hdhomerun', FriendlyName: 'Roof', TunerCount: 2 },
        });
        assert.deepEqual([data.Url, data.Type, data.FriendlyName], ['http://192.168.1.20/', 'hdhomerun', 'Roof']);
        s.id = given(data.Id, 'tuner id');
      },
      'kinds of them are a list': async () => {
        assert.ok(Array.isArray((await getLiveTvApi(api).getTunerHostTypes()).data));
      },
      removed: async () => assert.equal((await getLiveTvApi(api).deleteTunerHost({ id: s.id })).status, 204),
    }),

    'recordings of a series': (api, s) => ({
      asked: async () => {
        const { status } = await getLiveTvApi(api).createSeriesTimer({
          seriesTimerInfoDto: { Name: 'News', ChannelId: nobody, RecordAnyTime: true, Days: ['Monday', 'Friday'] },
        });
        assert.equal(status, 204);
      },
      'in the list': async () => {
        const { data } = await getLiveTvApi(api).getSeriesTimers();
        const found = given(data.Items, 'items').filter(({ Name }) => Name === 'News');
        assert.equal(found.length, 1);
        s.id = given(found[0]?.Id, 'timer id');
      },
      read: async () => {
        const { data } = await getLiveTvApi(api).getSeriesTimer({ timerId: s.id });
        assert.deepEqual([data.Id, data.Name, data.RecordAnyTime], [s.id, 'News', true]);
      },
      cancelled: async () => assert.equal((await getLiveTvApi(api).cancelSeriesTimer({ timerId: s.id })).status, 204),
      'no more there': () => gone(getLiveTvApi(api).getSeriesTimer({ timerId: s.id })),
    }),

    'what the server tells of itself': (api, s) => ({
      'to anybody': async () => {
        const { data } = await getSystemApi(api).getPublicSystemInfo();
        assert.equal(typeof data.Version, 'string');
        s.id = given(data.Id, 'server id');
      },
      'to those who have a token': async () => {
        const { data } = await getSystemApi(api).getSystemInfo();
        assert.equal(data.Id, s.id);
      },
      'what happened, a page of it': async () => {
        const { data } = await getActivityLogApi(api).getLogEntries({ startIndex: 0, limit: 2 });
        assert.ok(given(data.Items, 'items').length <= 2);
        assert.equal(data.StartIndex, 0);
      },
    }),

    'a wrong token is refused': (_api, _s, another) => ({
      'the users': () => refused(getUserApi(another('0000')).getUsers(), 401, 403),
      'a user to be made': () => refused(user(another('0000'), 'thief'), 401, 403),
      'the keys': () => refused(getApiKeyApi(another('0000')).getKeys(), 401, 403),
    }),

    'what is not there': (api) => ({
      'no such user': () => gone(getUserApi(api).getUserById({ userId: nobody })),
      'nor one to delete': () => gone(getUserApi(api).deleteUser({ userId: nobody })),
      'no such device': () => gone(getDevicesApi(api).getDeviceInfo({ id: 'no-such-device' })),
      'no such task to start': () => gone(getScheduledTasksApi(api).startTask({ taskId: 'no-such-task' })),
      'no such plugin to take away': () => gone(getPluginsApi(api).uninstallPlugin({ pluginId: nobody })),
    }),
  },
};
