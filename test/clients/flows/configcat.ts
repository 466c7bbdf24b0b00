import '@angular/compiler';
import assert from 'node:assert/strict';
import { FetchBackend, HttpClient } from '@angular/common/http';
import { createEnvironmentInjector, type EnvironmentInjector, Injector, provideZonelessChangeDetection } from '@angular/core';
import {
  AuditLogsService,
  ConfigsService,
  Configuration,
  EnvironmentsService,
  FeatureFlagSettingValuesService,
  FeatureFlagSettingValuesUsingSDKKeyService,
  FeatureFlagsSettingsService,
  IntegrationLinksService,
  MembersService,
  MeService,
  OrganizationsService,
  PermissionGroupsService,
  ProductsService,
  SDKKeysService,
  SegmentsService,
  TagsService,
} from 'ng-configcat-publicapi';
import { firstValueFrom, type Observable } from 'rxjs';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client is a set of Angular's services, made here without an application: each has the HTTP client and the configuration it is given. */
const connect = (place: Place, token: string) => {
  const parent = Injector.create({ providers: [] }) as EnvironmentInjector;
  const http = new HttpClient(
    createEnvironmentInjector([provideZonelessChangeDetection(), FetchBackend], parent).get(FetchBackend),
  );
  const how = new Configuration({ basePath: place.base, credentials: { Basic: token } });
  return {
    audit: new AuditLogsService(http, place.base, how),
    configs: new ConfigsService(http, place.base, how),
    environments: new EnvironmentsService(http, place.base, how),
    flags: new FeatureFlagsSettingsService(http, place.base, how),
    groups: new PermissionGroupsService(http, place.base, how),
    keys: new SDKKeysService(http, place.base, how),
    links: new IntegrationLinksService(http, place.base, how),
    me: new MeService(http, place.base, how),
    members: new MembersService(http, place.base, how),
    organizations: new OrganizationsService(http, place.base, how),
    products: new ProductsService(http, place.base, how),
    segments: new SegmentsService(http, place.base, how),
    tags: new TagsService(http, place.base, how),
    values: new FeatureFlagSettingValuesService(http, place.base, how),
    valuesByKey: new FeatureFlagSettingValuesUsingSDKKeyService(http, place.base, how),
  };
};
type Client = ReturnType<typeof connect>;

/** The one answer of a call. */
const get = <T>(answer: Observable<T>): Promise<T> => firstValueFrom(answer);

const organization = async (c: Client): Promise<string> =>
  given((await get(c.organizations.getOrganizations()))[0], 'organization').organizationId;
const product = async (c: Client, name: string): Promise<string> =>
  given((await get(c.products.createProduct(await organization(c), { name }))).productId, 'productId');
const config = async (c: Client, productId: string, name: string): Promise<string> =>
  given((await get(c.configs.createConfig(productId, { name }))).configId, 'configId');
const environment = async (c: Client, productId: string, name: string): Promise<string> =>
  given((await get(c.environments.createEnvironment(productId, { name }))).environmentId, 'environmentId');
const flag = async (c: Client, configId: string, key: string): Promise<string> =>
  String(given((await get(c.flags.createSetting(configId, { key, name: key, settingType: 'boolean' }))).settingId, 'settingId'));

/** A product with one environment, one config and one flag in it. */
const ready = async (c: Client, s: State): Promise<void> => {
  s.product = await product(c, 'Shop');
  s.environment = await environment(c, s.product, 'Production');
  s.config = await config(c, s.product, 'Main config');
  s.flag = await flag(c, s.config, 'isItCold');
};
const valueOfFlag = (c: Client, s: State) => get(c.values.getSettingValue(s.environment, Number(s.flag)));
const missing = '08d5a03c-feb7-af1e-a1fa-40b3329f8bed';

/** Guide: configcat.com/docs/advanced/public-api, api.configcat.com/docs (what each endpoint answers, the whole replacing of values). */
export const vendor: Vendor<Client> = {
  document: 'configcat/configcat.com.json',
  header: 'authorization',
  word: 'Basic',
  made: btoa('08d5a03c-user:made-up'),
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a product, from the first to the last day': (c, s) => ({
      made: async () => {
        s.organization = await organization(c);
        const made = await get(c.products.createProduct(s.organization, { name: 'Shop', description: 'All of the shop' }));
        assert.deepEqual([made.name, made.description], ['Shop', 'All of the shop']);
        s.id = made.productId;
      },
      read: async () => {
        const read = await get(c.products.getProduct(s.id));
        assert.deepEqual([read.productId, read.name, read.description], [s.id, 'Shop', 'All of the shop']);
      },
      'is in the list': async () =>
        once(
          (await get(c.products.getProducts())).map(({ productId }) => productId),
          [s.id],
          'products',
        ),
      'called something else': async () => {
        const changed = await get(c.products.updateProduct(s.id, { name: 'Big shop', description: 'Bigger' }));
        assert.deepEqual([changed.productId, changed.name, changed.description], [s.id, 'Big shop', 'Bigger']);
      },
      'deleted without a word': async () => assert.equal((await get(c.products.deleteProduct(s.id))) ?? null, null),
      'gone afterwards': () => refused(get(c.products.getProduct(s.id)), 404),
      'no longer in the list': async () =>
        assert.ok(!(await get(c.products.getProducts())).some(({ productId }) => productId === s.id), 'it is'),
    }),

    'configs of two products': (c, s) => ({
      'two products': async () => {
        s.one = await product(c, 'One');
        s.two = await product(c, 'Two');
        assert.notEqual(s.one, s.two);
      },
      'a config in the one': async () => {
        const made = await get(c.configs.createConfig(s.one, { name: 'Main config', description: 'What all use' }));
        assert.deepEqual([made.name, made.description], ['Main config', 'What all use']);
        s.id = made.configId;
      },
      'which says whose it is': async () => {
        const read = await get(c.configs.getConfig(s.id));
        assert.deepEqual([read.configId, read.name, read.product?.productId], [s.id, 'Main config', s.one]);
      },
      'among those of the one': async () =>
        once(
          (await get(c.configs.getConfigs(s.one))).map(({ configId }) => configId),
          [s.id],
          'configs',
        ),
      'not among those of the other': async () =>
        assert.ok(!(await get(c.configs.getConfigs(s.two))).some(({ configId }) => configId === s.id), 'it is'),
      'called something else': async () => {
        await get(c.configs.updateConfig(s.id, { name: 'First config', description: 'What all use' }));
        assert.equal((await get(c.configs.getConfig(s.id))).name, 'First config');
      },
      'deleted, and gone': async () => {
        await get(c.configs.deleteConfig(s.id));
        await refused(get(c.configs.getConfig(s.id)), 404);
      },
    }),

    'environments of a product': (c, s) => ({
      made: async () => {
        s.product = await product(c, 'Shop');
        const asked = { name: 'Staging', color: 'blue', description: 'Before it is real' };
        const made = await get(c.environments.createEnvironment(s.product, asked));
        assert.deepEqual([made.name, made.color, made.description], ['Staging', 'blue', 'Before it is real']);
        s.id = made.environmentId;
      },
      'another one': async () => {
        s.other = await environment(c, s.product, 'Production');
      },
      'both in the list': async () =>
        once(
          (await get(c.environments.getEnvironments(s.product))).map(({ environmentId }) => environmentId),
          [s.id, s.other],
          'environments',
        ),
      'of another colour': async () => {
        const asked = { name: 'Staging', color: 'green', description: 'Before it is real' };
        const changed = await get(c.environments.updateEnvironment(s.id, asked));
        assert.deepEqual([changed.environmentId, changed.color], [s.id, 'green']);
      },
      'kept so': async () => assert.equal((await get(c.environments.getEnvironment(s.id))).color, 'green'),
      'deleted, and gone': async () => {
        await get(c.environments.deleteEnvironment(s.id));
        await refused(get(c.environments.getEnvironment(s.id)), 404);
      },
      'the other stays': async () => assert.equal((await get(c.environments.getEnvironment(s.other))).name, 'Production'),
    }),

    'a feature flag': (c, s) => ({
      'a config for it': async () => {
        s.config = await config(c, await product(c, 'Shop'), 'Main config');
      },
      made: async () => {
        const asked = { key: 'isItCold', name: 'Is it cold', hint: 'Below 10 °C', settingType: 'boolean' } as const;
        const made = await get(c.flags.createSetting(s.config, asked));
        assert.deepEqual(
          [made.key, made.name, made.hint, made.settingType],
          ['isItCold', 'Is it cold', 'Below 10 °C', 'boolean'],
        );
        assert.ok(Number.isInteger(made.settingId), String(made.settingId));
        s.id = String(made.settingId);
      },
      'read, with its config': async () => {
        const read = await get(c.flags.getSetting(Number(s.id)));
        assert.deepEqual([read.settingId, read.key, read.configId], [Number(s.id), 'isItCold', s.config]);
      },
      'is in the list': async () =>
        once(
          (await get(c.flags.getSettings(s.config))).map(({ settingId }) => String(settingId)),
          [s.id],
          'flags',
        ),
      'a key is there once': () =>
        refused(get(c.flags.createSetting(s.config, { key: 'isItCold', name: 'Again', settingType: 'boolean' })), 400, 409),
      'deleted, and gone': async () => {
        await get(c.flags.deleteSetting(Number(s.id)));
        await refused(get(c.flags.getSetting(Number(s.id))), 404);
      },
      'no longer in the list': async () =>
        assert.ok(!(await get(c.flags.getSettings(s.config))).some(({ settingId }) => String(settingId) === s.id), 'it is'),
    }),

    'a tag, and the flags with it': (c, s) => ({
      made: async () => {
        s.product = await product(c, 'Shop');
        const made = await get(c.tags.createTag(s.product, { name: 'temporary', color: 'panther' }));
        assert.deepEqual([made.name, made.color, made.product?.productId], ['temporary', 'panther', s.product]);
        s.id = String(made.tagId);
      },
      'is in the list': async () =>
        once(
          (await get(c.tags.getTags(s.product))).map(({ tagId }) => String(tagId)),
          [s.id],
          'tags',
        ),
      'a flag with it, and one without': async () => {
        s.config = await config(c, s.product, 'Main config');
        const asked = { key: 'tagged', name: 'Tagged', settingType: 'boolean' as const, tags: [Number(s.id)] };
        const made = await get(c.flags.createSetting(s.config, asked));
        assert.deepEqual(
          made.tags?.map(({ tagId }) => String(tagId)),
          [s.id],
        );
        s.flag = String(made.settingId);
        await flag(c, s.config, 'untagged');
      },
      'only the one is found by it': async () =>
        assert.deepEqual(
          (await get(c.tags.getSettingsByTag(Number(s.id)))).map(({ settingId }) => String(settingId)),
          [s.flag],
        ),
      'called something else': async () => {
        await get(c.tags.updateTag(Number(s.id), { name: 'for a while', color: 'whale' }));
        const read = await get(c.tags.getTag(Number(s.id)));
        assert.deepEqual([read.name, read.color], ['for a while', 'whale']);
      },
      'deleted, and gone': async () => {
        await get(c.tags.deleteTag(Number(s.id)));
        await refused(get(c.tags.getTag(Number(s.id))), 404);
      },
    }),

    'the value of a flag in an environment': (c, s) => ({
      'a flag, and an environment': () => ready(c, s),
      'its value says where it is': async () => {
        const { setting, environment: where, config: whose } = await valueOfFlag(c, s);
        assert.deepEqual(
          [String(setting?.settingId), setting?.key, where?.environmentId, whose?.configId],
          [s.flag, 'isItCold', s.environment, s.config],
        );
      },
      'turned on': async () =>
        assert.equal(
          (await get(c.values.replaceSettingValue(s.environment, Number(s.flag), { value: true }, 'It is cold'))).value,
          true,
        ),
      'it is on': async () => assert.equal((await valueOfFlag(c, s)).value, true),
      'turned off': async () => {
        await get(c.values.replaceSettingValue(s.environment, Number(s.flag), { value: false }));
        assert.equal((await valueOfFlag(c, s)).value, false);
      },
      'no value of a flag that is not there': () => refused(get(c.values.getSettingValue(s.environment, 2_000_000_000)), 404),
    }),

    'a value from the beginning': (c, s) => ({
      'two environments': async () => {
        s.product = await product(c, 'Shop');
        s.environment = await environment(c, s.product, 'Production');
        s.other = await environment(c, s.product, 'Staging');
        s.config = await config(c, s.product, 'Main config');
      },
      'a text with a value in each': async () => {
        const initialValues = [
          { environmentId: s.environment, value: 'warm' },
          { environmentId: s.other, value: 'hot' },
        ];
        const asked = { key: 'greeting', name: 'Greeting', settingType: 'string' as const, initialValues };
        s.flag = String((await get(c.flags.createSetting(s.config, asked))).settingId);
      },
      'the one': async () => assert.equal((await valueOfFlag(c, s)).value, 'warm'),
      'the other': async () => assert.equal((await get(c.values.getSettingValue(s.other, Number(s.flag)))).value, 'hot'),
      'one of them changes alone': async () => {
        await get(c.values.replaceSettingValue(s.other, Number(s.flag), { value: 'cool' }));
        assert.equal((await get(c.values.getSettingValue(s.other, Number(s.flag)))).value, 'cool');
        assert.equal((await valueOfFlag(c, s)).value, 'warm');
      },
    }),

    'rules of a value': (c, s) => ({
      'a flag, and an environment': () => ready(c, s),
      'on for some, by two rules': async () => {
        const rolloutRules = [
          { comparisonAttribute: 'Email', comparator: 'contains', comparisonValue: '@example.com', value: true },
          { comparisonAttribute: 'Country', comparator: 'isOneOf', comparisonValue: 'FI, SE', value: true },
        ] as const;
        const asked = { value: false, rolloutRules: [...rolloutRules] };
        const changed = await get(c.values.replaceSettingValue(s.environment, Number(s.flag), asked));
        assert.equal(changed.rolloutRules?.length, 2);
      },
      'in their order': async () => {
        const { rolloutRules } = await valueOfFlag(c, s);
        assert.deepEqual(
          rolloutRules?.map(({ comparisonAttribute, comparator }) => [comparisonAttribute, comparator]),
          [
            ['Email', 'contains'],
            ['Country', 'isOneOf'],
          ],
        );
      },
      'for a share instead': async () => {
        const rolloutPercentageItems = [
          { percentage: 30, value: true },
          { percentage: 70, value: false },
        ];
        await get(c.values.replaceSettingValue(s.environment, Number(s.flag), { value: false, rolloutPercentageItems }));
        const read = await valueOfFlag(c, s);
        assert.deepEqual(
          read.rolloutPercentageItems?.map(({ percentage, value }) => [percentage, value]),
          [
            [30, true],
            [70, false],
          ],
        );
      },
      'what is not named is reset': async () => {
        await get(c.values.replaceSettingValue(s.environment, Number(s.flag), { value: true }));
        const { value, rolloutRules, rolloutPercentageItems } = await valueOfFlag(c, s);
        assert.deepEqual([value, rolloutRules ?? [], rolloutPercentageItems ?? []], [true, [], []]);
      },
    }),

    'values of all flags at once': (c, s) => ({
      'two flags, and an environment': async () => {
        await ready(c, s);
        s.second = await flag(c, s.config, 'isItWindy');
      },
      'both set': async () => {
        const settingValues = [
          { settingId: Number(s.flag), value: true },
          { settingId: Number(s.second), value: false },
        ];
        const answer = await get(c.values.postSettingValues(s.config, s.environment, { settingValues }));
        assert.deepEqual([answer.config?.configId, answer.environment?.environmentId], [s.config, s.environment]);
      },
      'both read': async () => {
        const { settingValues } = await get(c.values.getSettingValues(s.config, s.environment));
        const rows = given(settingValues, 'values').map(({ setting, value }) => `${setting?.settingId} ${value}`);
        once(rows, [`${s.flag} true`, `${s.second} false`], 'values');
      },
      'each by itself too': async () => {
        assert.equal((await valueOfFlag(c, s)).value, true);
        assert.equal((await get(c.values.getSettingValue(s.environment, Number(s.second)))).value, false);
      },
      'of a config that is not there': () => refused(get(c.values.getSettingValues(missing, s.environment)), 404),
    }),

    'a value by its SDK key': (c, s) => ({
      'a flag, and an environment': () => ready(c, s),
      'the key of that config there': async () => {
        s.key = (await get(c.keys.getSdkKeys(s.config, s.environment))).primary;
        assert.equal(typeof s.key, 'string');
      },
      'the same each time': async () => assert.equal((await get(c.keys.getSdkKeys(s.config, s.environment))).primary, s.key),
      'turned on by the name of the flag': async () =>
        assert.equal(
          (await get(c.valuesByKey.replaceSettingValueBySdkkey('isItCold', { value: true }, undefined, s.key))).value,
          true,
        ),
      'read by it': async () => assert.equal((await get(c.valuesByKey.getSettingValueBySdkkey('isItCold', s.key))).value, true),
      'not of a config that is not there': () => refused(get(c.keys.getSdkKeys(missing, s.environment)), 404),
    }),

    'a segment of those who use it': (c, s) => ({
      made: async () => {
        s.product = await product(c, 'Shop');
        const asked = {
          name: 'Testers',
          description: 'All who test',
          comparisonAttribute: 'Email',
          comparator: 'contains',
          comparisonValue: '@example.com',
        } as const;
        const made = await get(c.segments.createSegment(s.product, asked));
        assert.partialDeepStrictEqual(made, asked);
        s.id = made.segmentId;
      },
      read: async () => {
        const read = await get(c.segments.getSegment(s.id));
        assert.deepEqual([read.segmentId, read.name, read.comparator], [s.id, 'Testers', 'contains']);
      },
      'is in the list': async () =>
        once(
          (await get(c.segments.getSegments(s.product))).map(({ segmentId, name }) => `${segmentId} ${name}`),
          [`${s.id} Testers`],
          'segments',
        ),
      'by another rule': async () => {
        const changed = await get(c.segments.updateSegment(s.id, { comparator: 'isOneOf', comparisonValue: 'jo@example.com' }));
        assert.deepEqual([changed.comparator, changed.comparisonValue], ['isOneOf', 'jo@example.com']);
      },
      'kept so': async () => {
        const read = await get(c.segments.getSegment(s.id));
        assert.deepEqual([read.comparator, read.comparisonValue], ['isOneOf', 'jo@example.com']);
      },
      'deleted, and gone': async () => {
        await get(c.segments.deleteSegment(s.id));
        await refused(get(c.segments.getSegment(s.id)), 404);
      },
    }),

    'a group, and who may come in': (c, s) => ({
      'who one is': async () => {
        const { email, fullName } = await get(c.me.getMe());
        assert.deepEqual([typeof email, typeof fullName], ['string', 'string']);
      },
      'a group': async () => {
        s.product = await product(c, 'Shop');
        const asked = { name: 'Helpers', canManageMembers: true, accessType: 'full' } as const;
        const made = await get(c.groups.createPermissionGroup(s.product, asked));
        assert.partialDeepStrictEqual(made, asked);
        s.id = String(made.permissionGroupId);
      },
      'is in the list': async () =>
        once(
          (await get(c.groups.getPermissionGroups(s.product))).map(({ permissionGroupId }) => String(permissionGroupId)),
          [s.id],
          'groups',
        ),
      'may do less': async () => {
        const asked = { name: 'Readers', canManageMembers: false, accessType: 'readOnly' } as const;
        await get(c.groups.updatePermissionGroup(Number(s.id), asked));
        assert.partialDeepStrictEqual(await get(c.groups.getPermissionGroup(Number(s.id))), asked);
      },
      'somebody is asked in': () =>
        get(c.members.inviteMember(s.product, { emails: ['jo@example.com'], permissionGroupId: Number(s.id) })),
      'those who are in': async () => {
        for (const member of await get(c.members.getProductMembers(s.product))) assert.equal(member.productId, s.product);
      },
      'the group goes': async () => {
        await get(c.groups.deletePermissionGroup(Number(s.id)));
        await refused(get(c.groups.getPermissionGroup(Number(s.id))), 404);
      },
    }),

    'a flag that is linked to a card': (c, s) => ({
      'a flag, and an environment': () => ready(c, s),
      linked: async () => {
        const asked = { description: 'Turn it on', url: 'https://trello.example.com/c/1' };
        const made = await get(c.links.addOrUpdateIntegrationLink(s.environment, Number(s.flag), 'trello', 'card-1', asked));
        assert.partialDeepStrictEqual(made, { ...asked, integrationLinkType: 'trello', key: 'card-1' });
      },
      'told with its value': async () =>
        once(
          given((await valueOfFlag(c, s)).integrationLinks, 'links').map(({ key }) => String(key)),
          ['card-1'],
          'links',
        ),
      'told of the card': async () => {
        const { details } = await get(c.links.getIntegrationLinkDetails('trello', 'card-1'));
        once(
          given(details, 'details').map(({ setting }) => String(setting?.settingId)),
          [s.flag],
          'flags',
        );
      },
      'no longer linked': async () => {
        const answer = await get(c.links.deleteIntegrationLink(s.environment, Number(s.flag), 'trello', 'card-1'));
        assert.equal(answer.hasRemainingIntegrationLink, false);
      },
    }),

    'what was done': (c, s) => ({
      'a product, and something in it': () => ready(c, s),
      'all of it': async () => {
        for (const { auditLogId, auditLogDateTime } of await get(c.audit.getAuditlogs(s.product))) {
          assert.ok(Number.isInteger(auditLogId), String(auditLogId));
          assert.ok(!Number.isNaN(Date.parse(String(auditLogDateTime))), String(auditLogDateTime));
        }
      },
      'of one kind': async () => {
        const rows = await get(c.audit.getAuditlogs(s.product, undefined, undefined, 'settingCreated'));
        for (const { auditLogTypeEnum } of rows) assert.equal(auditLogTypeEnum, 'settingCreated');
      },
      'since a time': async () => {
        const since = '2023-01-01T00:00:00Z';
        for (const { auditLogDateTime } of await get(c.audit.getAuditlogs(s.product, s.config, undefined, undefined, since)))
          assert.ok(Date.parse(String(auditLogDateTime)) >= Date.parse(since), String(auditLogDateTime));
      },
      'flags that are no more': async () => assert.ok(Array.isArray(await get(c.audit.getDeletedSettings(s.config))), 'no list'),
      'not of a kind that there is not': () =>
        refused(get(c.audit.getAuditlogs(s.product, undefined, undefined, 'nothing' as never)), 400),
    }),

    'a credential that is refused': (c, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(await get(c.products.getProducts())), 'no list'),
      'a wrong one is not': () => refused(get(another(btoa('nobody:wrong')).products.getProducts()), 401),
      'nor when one asks who one is': () => refused(get(another(btoa('nobody:wrong')).me.getMe()), 401),
      'nor for something new': () =>
        refused(get(another(btoa('nobody:wrong')).products.createProduct(missing, { name: 'Stolen' })), 401),
    }),

    'what is not there, and what is not right': (c, s) => ({
      'a product without its name': async () => {
        s.organization = await organization(c);
        await refused(get(c.products.createProduct(s.organization, {} as never)), 400);
      },
      'a name that is too long': async () => {
        s.product = await product(c, 'Shop');
        await refused(get(c.configs.createConfig(s.product, { name: 'x'.repeat(256) })), 400);
      },
      'a flag of no type that there is': async () => {
        s.config = await config(c, s.product, 'Main config');
        await refused(get(c.flags.createSetting(s.config, { key: 'odd', name: 'Odd', settingType: 'colour' as never })), 400);
      },
      'a segment without its rule': () => refused(get(c.segments.createSegment(s.product, { name: 'Nobody' } as never)), 400),
      'no such config': () => refused(get(c.configs.getConfig(missing)), 404),
      'none to change, either': () => refused(get(c.environments.updateEnvironment(missing, { name: 'Nowhere' })), 404),
      'nor to delete': () => refused(get(c.segments.deleteSegment(missing)), 404),
    }),
  },
};
