import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type * as Sdk from '@rhoas/registry-instance-sdk';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const sdk = createRequire(import.meta.url)('@rhoas/registry-instance-sdk') as typeof Sdk;

interface Registry {
  readonly artifacts: Sdk.ArtifactsApi;
  readonly versions: Sdk.VersionsApi;
  readonly metadata: Sdk.MetadataApi;
  readonly rules: Sdk.ArtifactRulesApi;
  readonly admin: Sdk.AdminApi;
  readonly system: Sdk.SystemApi;
  readonly users: Sdk.UsersApi;
}

/** The client sends no credential by itself (its description has none): a registry with authentication is told it in a header. */
const connect = (place: Place, token: string): Registry => {
  const configuration = new sdk.Configuration({
    basePath: place.base,
    accessToken: token,
    baseOptions: { headers: { Authorization: `Bearer ${token}` } },
  });
  return {
    artifacts: new sdk.ArtifactsApi(configuration),
    versions: new sdk.VersionsApi(configuration),
    metadata: new sdk.MetadataApi(configuration),
    rules: new sdk.ArtifactRulesApi(configuration),
    admin: new sdk.AdminApi(configuration),
    system: new sdk.SystemApi(configuration),
    users: new sdk.UsersApi(configuration),
  };
};

const group = 'my-group';
const { ArtifactState, ArtifactType, IfExists, RoleType, RuleType, SortBy, SortOrder } = sdk;

type Field = { readonly name: string; readonly type: string; readonly default?: string };
const price = (...more: readonly Field[]): object => ({
  type: 'record',
  name: 'price',
  namespace: 'com.example',
  fields: [{ name: 'symbol', type: 'string' }, { name: 'price', type: 'string' }, ...more],
});
const first = price();
const second = price({ name: 'currency', type: 'string', default: 'EUR' });
const person = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Person',
  type: 'object',
  properties: { firstName: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
};

/** The kind of an artifact goes in a header. (The client's own argument would put it there with its quotes.) */
const kind = (type: string): { headers: Record<string, string> } => ({ headers: { 'X-Registry-ArtifactType': type } });

/** As JSON, nothing would be sent as an empty text within quotes. */
const empty = { headers: { 'Content-Type': 'text/plain' } };

const create = async (
  r: Registry,
  id: string,
  body: object = first,
  at = group,
  type: string = ArtifactType.Avro,
  ifExists?: Sdk.IfExists,
): Promise<Sdk.ArtifactMetaData> =>
  (
    await r.artifacts.createArtifact(
      at,
      body,
      undefined,
      id,
      undefined,
      ifExists,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      kind(type),
    )
  ).data;

const listed = async (r: Registry, at: string): Promise<string[]> => {
  const rows = await numbered(async (page) => (await r.artifacts.listArtifactsInGroup(at, 2, page * 2)).data.artifacts, 0, 100);
  return rows.map(({ id }) => id);
};
const versions = async (r: Registry, id: string, limit = 20): Promise<string[]> => {
  const rows = await numbered(
    async (page) => (await r.versions.listArtifactVersions(group, id, page * limit, limit)).data.versions,
    0,
  );
  return rows.map(({ version }) => String(version));
};
const latest = async (r: Registry, id: string): Promise<unknown> => (await r.artifacts.getLatestArtifact(group, id)).data;
const about = async (r: Registry, id: string): Promise<Sdk.ArtifactMetaData> =>
  (await r.metadata.getArtifactMetaData(group, id)).data;
/** A version that nothing follows. */
const two = async (r: Registry, s: State, id: string): Promise<void> => {
  s.first = String((await create(r, id)).version);
  s.second = String((await r.versions.createArtifactVersion(group, id, second)).data.version);
};

/** Guide: apicur.io/registry/docs/apicurio-registry/2.4.x, "Managing content using the REST API", "Content rules", "Roles". */
export const vendor: Vendor<Registry> = {
  document: 'apicurio/registry.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.made-up',
  client: connect,
  flows: {
    'an artifact from its making to its end': (r, s) => ({
      create: async () => {
        const made = await create(r, 'share-price');
        s.global = String(made.globalId);
        assert.deepEqual([made.id, made.groupId, made.type, String(made.version)], ['share-price', group, 'AVRO', '1']);
        assert.equal(made.state, 'ENABLED');
      },
      'its content': async () => assert.deepEqual(await latest(r, 'share-price'), first),
      'what is known of it': async () => {
        const { id, groupId, type, globalId } = await about(r, 'share-price');
        assert.deepEqual([id, groupId, type, String(globalId)], ['share-price', group, 'AVRO', s.global]);
      },
      'it is in its group once': async () => once(await listed(r, group), ['share-price'], 'artifacts'),
      'new content': async () => {
        const { data } = await r.artifacts.updateArtifact(group, 'share-price', second);
        assert.deepEqual([data.id, String(data.version)], ['share-price', '2']);
        assert.notEqual(String(data.globalId), s.global);
      },
      'the newest is read': async () => assert.deepEqual(await latest(r, 'share-price'), second),
      delete: async () => r.artifacts.deleteArtifact(group, 'share-price'),
      'it is gone': () => refused(r.artifacts.getLatestArtifact(group, 'share-price'), 404),
      'nor is anything known of it': () => refused(r.metadata.getArtifactMetaData(group, 'share-price'), 404),
      'it is not in its group': async () => assert.ok(!(await listed(r, group)).includes('share-price')),
    }),

    'its versions': (r, s) => ({
      'two of them': async () => {
        await two(r, s, 'versioned');
        assert.deepEqual([s.first, s.second], ['1', '2']);
      },
      'they are listed': async () => once(await versions(r, 'versioned'), ['1', '2'], 'versions'),
      'how many there are': async () => assert.equal((await r.versions.listArtifactVersions(group, 'versioned')).data.count, 2),
      'the content of each': async () => {
        assert.deepEqual((await r.versions.getArtifactVersion(group, 'versioned', '1')).data, first);
        assert.deepEqual((await r.versions.getArtifactVersion(group, 'versioned', '2')).data, second);
      },
      'one with a number of its own': async () => {
        const third = price({ name: 'volume', type: 'string', default: '' });
        const { data } = await r.versions.createArtifactVersion(group, 'versioned', third, '3.1.6', 'Price, with volume');
        assert.deepEqual([String(data.version), data.name, data.id], ['3.1.6', 'Price, with volume', 'versioned']);
        assert.deepEqual((await r.versions.getArtifactVersion(group, 'versioned', '3.1.6')).data, third);
      },
      'it is the newest': async () => assert.equal(String((await about(r, 'versioned')).version), '3.1.6'),
      'none of that number again': () => refused(r.versions.createArtifactVersion(group, 'versioned', second, '3.1.6'), 409),
      'one that is not there': () => refused(r.versions.getArtifactVersion(group, 'versioned', '99'), 404),
    }),

    'versions page by page': (r) => ({
      'five of them': async () => {
        await create(r, 'evolving');
        for (const name of ['a', 'b', 'c', 'd'])
          await r.versions.createArtifactVersion(group, 'evolving', price({ name, type: 'string', default: '' }));
      },
      'two on a page': async () => {
        const { data } = await r.versions.listArtifactVersions(group, 'evolving', 0, 2);
        assert.deepEqual([data.versions.length, data.count], [2, 5]);
      },
      'the last page': async () => {
        const { data } = await r.versions.listArtifactVersions(group, 'evolving', 4, 2);
        assert.deepEqual([data.versions.length, data.count], [1, 5]);
      },
      'all pages': async () => {
        const all = await versions(r, 'evolving', 2);
        once(all, ['1', '2', '3', '4', '5'], 'versions');
        assert.equal(all.length, 5);
      },
      'of nothing': () => refused(r.versions.listArtifactVersions(group, 'no-such-artifact'), 404),
    }),

    'artifacts of a group page by page': (r) => ({
      'an empty group': async () => {
        await r.artifacts.deleteArtifactsInGroup('catalogue');
        assert.equal((await r.artifacts.listArtifactsInGroup('catalogue')).data.count, 0);
      },
      'five in it': async () => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await create(r, `item-${id}`, first, 'catalogue');
      },
      'two on a page': async () => {
        const { data } = await r.artifacts.listArtifactsInGroup('catalogue', 2, 0);
        assert.deepEqual([data.artifacts.length, data.count], [2, 5]);
      },
      'all pages': async () => {
        const all = await listed(r, 'catalogue');
        assert.deepEqual(all.sort(), ['item-a', 'item-b', 'item-c', 'item-d', 'item-e']);
      },
      'the newest first': async () => {
        const { data } = await r.artifacts.listArtifactsInGroup('catalogue', 20, 0, SortOrder.Desc, SortBy.CreatedOn);
        const times = data.artifacts.map(({ createdOn }) => Date.parse(createdOn));
        assert.deepEqual(
          times,
          [...times].sort((one, other) => other - one),
        );
      },
      'not those of another group': async () => {
        await create(r, 'stranger', first, 'another-catalogue');
        assert.ok(!(await listed(r, 'catalogue')).includes('stranger'));
      },
      'all are deleted': async () => {
        await r.artifacts.deleteArtifactsInGroup('catalogue');
        assert.deepEqual(await listed(r, 'catalogue'), []);
        await refused(r.artifacts.getLatestArtifact('catalogue', 'item-a'), 404);
      },
      'the other group has its own': async () => once(await listed(r, 'another-catalogue'), ['stranger'], 'artifacts'),
    }),

    'what if it exists': (r, s) => ({
      create: async () => {
        s.global = String((await create(r, 'twice')).globalId);
      },
      'not again': () => refused(create(r, 'twice'), 409),
      'not if it shall fail': () => refused(create(r, 'twice', first, group, ArtifactType.Avro, IfExists.Fail), 409),
      'given back': async () => {
        const data = await create(r, 'twice', second, group, ArtifactType.Avro, IfExists.Return);
        assert.deepEqual([data.id, String(data.globalId), String(data.version)], ['twice', s.global, '1']);
      },
      'it has its old content': async () => assert.deepEqual(await latest(r, 'twice'), first),
      'given back as it is the same': async () => {
        const data = await create(r, 'twice', first, group, ArtifactType.Avro, IfExists.ReturnOrUpdate);
        assert.deepEqual([String(data.globalId), String(data.version)], [s.global, '1']);
      },
      'or updated': async () => {
        const data = await create(r, 'twice', second, group, ArtifactType.Avro, IfExists.Update);
        assert.deepEqual([data.id, String(data.version)], ['twice', '2']);
        assert.deepEqual(await latest(r, 'twice'), second);
      },
      'the same in another group is another': async () => {
        const data = await create(r, 'twice', first, 'other-group');
        assert.deepEqual([data.id, data.groupId, String(data.version)], ['twice', 'other-group', '1']);
      },
    }),

    'an artifact without an id of mine': (r, s) => ({
      create: async () => {
        const { data } = await r.artifacts.createArtifact(
          group,
          person,
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          'A human being',
          undefined,
          'Person',
          undefined,
          kind(ArtifactType.Json),
        );
        s.id = given(data.id, 'id');
        assert.deepEqual([data.type, data.name, data.description], ['JSON', 'Person', 'A human being']);
      },
      'its content': async () => assert.deepEqual(await latest(r, s.id), person),
      'it is known by that name': async () => {
        const { id, name, description } = await about(r, s.id);
        assert.deepEqual([id, name, description], [s.id, 'Person', 'A human being']);
      },
      'it is in its group': async () => once(await listed(r, group), [s.id], 'artifacts'),
      'another has another id': async () => {
        const { data } = await r.artifacts.createArtifact(group, first);
        assert.notEqual(data.id, s.id);
      },
    }),

    'what is known of an artifact': (r) => ({
      create: () => create(r, 'described'),
      change: async () =>
        r.metadata.updateArtifactMetaData(group, 'described', {
          name: 'Share price',
          description: 'What a share costs',
          labels: ['finance', 'current'],
          properties: { owner: 'traders', stage: 'beta' },
        }),
      read: async () => {
        const { id, name, description, labels, properties, type } = await about(r, 'described');
        assert.deepEqual([id, name, description, type], ['described', 'Share price', 'What a share costs', 'AVRO']);
        assert.deepEqual([...given(labels, 'labels')].sort(), ['current', 'finance']);
        assert.deepEqual(properties, { owner: 'traders', stage: 'beta' });
      },
      'the content is as it was': async () => assert.deepEqual(await latest(r, 'described'), first),
      'of its version': async () => {
        await r.metadata.updateArtifactVersionMetaData(group, 'described', '1', { name: 'The first', labels: ['old'] });
        const { data } = await r.metadata.getArtifactVersionMetaData(group, 'described', '1');
        assert.deepEqual([data.name, data.labels, String(data.version)], ['The first', ['old'], '1']);
      },
      'no longer': async () => {
        await r.metadata.deleteArtifactVersionMetaData(group, 'described', '1');
        const { data } = await r.metadata.getArtifactVersionMetaData(group, 'described', '1');
        assert.ok(!data.name);
        assert.deepEqual([data.id, data.type, String(data.version)], ['described', 'AVRO', '1']);
      },
      'of nothing': () => refused(r.metadata.updateArtifactMetaData(group, 'no-such-artifact', { name: 'None' }), 404),
    }),

    'content by its ids': (r, s) => ({
      create: async () => {
        const made = await create(r, 'identified');
        [s.global, s.content] = [String(made.globalId), String(made.contentId)];
      },
      'by the global id': async () => assert.deepEqual((await r.artifacts.getContentByGlobalId(Number(s.global))).data, first),
      'by the id of the content': async () => assert.deepEqual((await r.artifacts.getContentById(Number(s.content))).data, first),
      'the next has others': async () => {
        const { data } = await r.artifacts.updateArtifact(group, 'identified', second);
        assert.ok(String(data.globalId) !== s.global && String(data.contentId) !== s.content);
        assert.deepEqual((await r.artifacts.getContentByGlobalId(data.globalId)).data, second);
      },
      'the same content has the same id': async () => {
        const made = await create(r, 'identified-too');
        assert.equal(String(made.contentId), s.content);
        assert.notEqual(String(made.globalId), s.global);
      },
      'which version has it': async () => {
        const { data } = await r.metadata.getArtifactVersionMetaDataByContent(group, 'identified', first);
        assert.deepEqual([data.id, String(data.version), String(data.globalId)], ['identified', '1', s.global]);
      },
      'an id that is not there': () => refused(r.artifacts.getContentByGlobalId(987_654_321_987), 404),
      'content that is not there': () => refused(r.artifacts.getContentById(987_654_321_987), 404),
    }),

    'what is searched for': (r, s) => ({
      'three artifacts': async () => {
        for (const [id, name, label] of [
          ['invoice', 'Procurement invoice', 'purchase'],
          ['order', 'Procurement order', 'purchase'],
          ['receipt', 'Cash receipt', 'sale'],
        ] as const) {
          await create(r, id, price({ name: id, type: 'string', default: '' }), 'searched');
          await r.metadata.updateArtifactMetaData('searched', id, {
            name,
            description: `The ${id}`,
            labels: [label],
            properties: { flow: label },
          });
        }
        s.all = 'invoice order receipt';
      },
      'by group': async () => {
        const { data } = await r.artifacts.searchArtifacts(
          undefined,
          0,
          50,
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          'searched',
        );
        assert.deepEqual(data.artifacts.map(({ id }) => id).sort(), s.all.split(' '));
        assert.equal(data.count, 3);
      },
      'by name': async () => {
        const { data } = await r.artifacts.searchArtifacts('Cash receipt', 0, 50);
        once(
          data.artifacts.map(({ id }) => id),
          ['receipt'],
          'artifacts',
        );
        assert.ok(!data.artifacts.some(({ id }) => id === 'order'));
      },
      'by label': async () => {
        const { data } = await r.artifacts.searchArtifacts(
          undefined,
          0,
          50,
          undefined,
          undefined,
          ['purchase'],
          undefined,
          undefined,
          'searched',
        );
        assert.deepEqual(data.artifacts.map(({ id }) => id).sort(), ['invoice', 'order']);
      },
      'by property': async () => {
        const { data } = await r.artifacts.searchArtifacts(
          undefined,
          0,
          50,
          undefined,
          undefined,
          undefined,
          ['flow:sale'],
          undefined,
          'searched',
        );
        assert.deepEqual(
          data.artifacts.map(({ id }) => id),
          ['receipt'],
        );
      },
      'in the order of names': async () => {
        const { data } = await r.artifacts.searchArtifacts(
          undefined,
          0,
          50,
          SortOrder.Asc,
          SortBy.Name,
          undefined,
          undefined,
          undefined,
          'searched',
        );
        assert.deepEqual(
          data.artifacts.map(({ id }) => id),
          ['receipt', 'invoice', 'order'],
        );
      },
      'by content': async () => {
        const { data } = await r.artifacts.searchArtifactsByContent(price({ name: 'order', type: 'string', default: '' }));
        once(
          data.artifacts.map(({ id }) => id),
          ['order'],
          'artifacts',
        );
        assert.ok(!data.artifacts.some(({ id }) => id === 'invoice'));
      },
    }),

    'the state of an artifact': (r, s) => ({
      'two versions': () => two(r, s, 'ageing'),
      'the first is deprecated': async () => {
        await r.versions.updateArtifactVersionState(group, 'ageing', '1', { state: ArtifactState.Deprecated });
        assert.equal((await r.metadata.getArtifactVersionMetaData(group, 'ageing', '1')).data.state, 'DEPRECATED');
      },
      'it can still be read': async () =>
        assert.deepEqual((await r.versions.getArtifactVersion(group, 'ageing', '1')).data, first),
      'the newest is disabled': async () => {
        await r.artifacts.updateArtifactState(group, 'ageing', { state: ArtifactState.Disabled });
        assert.equal((await r.metadata.getArtifactVersionMetaData(group, 'ageing', '2')).data.state, 'DISABLED');
      },
      'the one before it is read instead': async () => assert.deepEqual(await latest(r, 'ageing'), first),
      'and enabled again': async () => {
        await r.versions.updateArtifactVersionState(group, 'ageing', '2', { state: ArtifactState.Enabled });
        assert.deepEqual(await latest(r, 'ageing'), second);
      },
      'no such state': () =>
        refused(r.artifacts.updateArtifactState(group, 'ageing', { state: 'ASLEEP' as Sdk.ArtifactState }), 400),
      'of nothing': () =>
        refused(r.artifacts.updateArtifactState(group, 'no-such-artifact', { state: ArtifactState.Disabled }), 404),
    }),

    'rules of an artifact': (r) => ({
      create: async () => {
        await create(r, 'ruled');
        assert.deepEqual((await r.rules.listArtifactRules(group, 'ruled')).data, []);
      },
      'two rules': async () => {
        await r.rules.createArtifactRule(group, 'ruled', { type: RuleType.Validity, config: 'FULL' });
        await r.rules.createArtifactRule(group, 'ruled', { type: RuleType.Compatibility, config: 'BACKWARD' });
        assert.deepEqual([...(await r.rules.listArtifactRules(group, 'ruled')).data].sort(), ['COMPATIBILITY', 'VALIDITY']);
      },
      'one of them': async () =>
        assert.deepEqual((await r.rules.getArtifactRuleConfig(group, 'ruled', 'COMPATIBILITY')).data, {
          type: 'COMPATIBILITY',
          config: 'BACKWARD',
        }),
      'a change of it': async () => {
        const rule = { type: RuleType.Compatibility, config: 'FULL' };
        assert.equal((await r.rules.updateArtifactRuleConfig(group, 'ruled', 'COMPATIBILITY', rule)).data.config, 'FULL');
        assert.equal((await r.rules.getArtifactRuleConfig(group, 'ruled', 'COMPATIBILITY')).data.config, 'FULL');
      },
      'content that keeps them': async () => r.rules.testUpdateArtifact(group, 'ruled', second),
      'content that breaks them': () =>
        refused(
          r.rules.testUpdateArtifact(group, 'ruled', {
            ...first,
            fields: [
              { name: 'symbol', type: 'int' },
              { name: 'price', type: 'string' },
            ],
          }),
          409,
        ),
      'it was only a test': async () => assert.deepEqual(await versions(r, 'ruled'), ['1']),
      'one less': async () => {
        await r.rules.deleteArtifactRule(group, 'ruled', 'COMPATIBILITY');
        assert.deepEqual((await r.rules.listArtifactRules(group, 'ruled')).data, ['VALIDITY']);
        await refused(r.rules.getArtifactRuleConfig(group, 'ruled', 'COMPATIBILITY'), 404);
      },
      'none at all': async () => {
        await r.rules.deleteArtifactRules(group, 'ruled');
        assert.deepEqual((await r.rules.listArtifactRules(group, 'ruled')).data, []);
      },
      'of nothing': () => refused(r.rules.listArtifactRules(group, 'no-such-artifact'), 404),
    }),

    'rules of the whole registry': (r) => ({
      'none to begin with': async () => {
        await r.admin.deleteAllGlobalRules();
        assert.deepEqual((await r.admin.listGlobalRules()).data, []);
      },
      'one is made': async () => {
        await r.admin.createGlobalRule({ type: RuleType.Validity, config: 'SYNTAX_ONLY' });
        assert.deepEqual((await r.admin.listGlobalRules()).data, ['VALIDITY']);
      },
      read: async () =>
        assert.deepEqual((await r.admin.getGlobalRuleConfig(RuleType.Validity)).data, {
          type: 'VALIDITY',
          config: 'SYNTAX_ONLY',
        }),
      'not twice': () => refused(r.admin.createGlobalRule({ type: RuleType.Validity, config: 'FULL' }), 409),
      change: async () => {
        const rule = { type: RuleType.Validity, config: 'FULL' };
        assert.equal((await r.admin.updateGlobalRuleConfig(RuleType.Validity, rule)).data.config, 'FULL');
        assert.equal((await r.admin.getGlobalRuleConfig(RuleType.Validity)).data.config, 'FULL');
      },
      'one that is not there': () => refused(r.admin.getGlobalRuleConfig(RuleType.Compatibility), 404),
      'no such rule': () => refused(r.admin.createGlobalRule({ type: 'BEAUTY' as Sdk.RuleType, config: 'FULL' }), 400),
      delete: async () => {
        await r.admin.deleteGlobalRule(RuleType.Validity);
        await refused(r.admin.getGlobalRuleConfig(RuleType.Validity), 404);
        assert.deepEqual((await r.admin.listGlobalRules()).data, []);
      },
    }),

    'who has which role': (r) => ({
      grant: async () =>
        r.admin.createRoleMapping({
          principalId: 'svc_account_84874587_123484',
          role: RoleType.ReadOnly,
        }),
      read: async () => {
        const { data } = await r.admin.getRoleMapping('svc_account_84874587_123484');
        assert.deepEqual([data.principalId, data.role], ['svc_account_84874587_123484', 'READ_ONLY']);
      },
      'it is listed': async () => {
        const { data } = await r.admin.listRoleMappings();
        once(
          data.map(({ principalId }) => principalId),
          ['svc_account_84874587_123484'],
          'mappings',
        );
      },
      change: async () => {
        await r.admin.updateRoleMapping('svc_account_84874587_123484', { role: RoleType.Developer });
        const { data } = await r.admin.getRoleMapping('svc_account_84874587_123484');
        assert.deepEqual([data.principalId, data.role], ['svc_account_84874587_123484', 'DEVELOPER']);
      },
      revoke: async () => r.admin.deleteRoleMapping('svc_account_84874587_123484'),
      'it is gone': () => refused(r.admin.getRoleMapping('svc_account_84874587_123484'), 404),
      'it is not listed': async () => {
        const { data } = await r.admin.listRoleMappings();
        assert.ok(!data.some(({ principalId }) => principalId === 'svc_account_84874587_123484'));
      },
      'nobody is changed': () => refused(r.admin.updateRoleMapping('nobody', { role: RoleType.Admin }), 404),
    }),

    'the registry itself': (r) => ({
      'which it is': async () => {
        const { name, version } = (await r.system.getSystemInfo()).data;
        assert.deepEqual([typeof name, typeof version], ['string', 'string']);
      },
      'who I am': async () => {
        const { username, admin, developer, viewer } = (await r.users.getCurrentUserInfo()).data;
        assert.deepEqual(
          [typeof username, typeof admin, typeof developer, typeof viewer],
          ['string', 'boolean', 'boolean', 'boolean'],
        );
      },
      'what it logs': async () => {
        const { data } = await r.admin.setLogConfiguration('io.apicurio.registry.storage', { level: sdk.LogLevel.Debug });
        assert.deepEqual([data.name, data.level], ['io.apicurio.registry.storage', 'DEBUG']);
      },
      'it keeps that': async () =>
        assert.equal((await r.admin.getLogConfiguration('io.apicurio.registry.storage')).data.level, 'DEBUG'),
      'it lists that': async () => {
        const { data } = await r.admin.listLogConfigurations();
        once(
          data.map(({ name }) => name),
          ['io.apicurio.registry.storage'],
          'loggers',
        );
      },
      'no longer': async () => {
        await r.admin.removeLogConfiguration('io.apicurio.registry.storage');
        const { data } = await r.admin.listLogConfigurations();
        assert.ok(!data.some(({ name }) => name === 'io.apicurio.registry.storage'));
      },
    }),

    'what is wrong': (r) => ({
      'an artifact that is not there': async () => {
        const thrown = (await refused(r.artifacts.getLatestArtifact(group, 'no-such-artifact'), 404)) as {
          response: { data: Sdk.ModelError };
        };
        assert.equal(thrown.response.data.error_code, 404);
        assert.equal(typeof thrown.response.data.message, 'string');
      },
      'no new content of it': () => refused(r.artifacts.updateArtifact(group, 'no-such-artifact', second), 404),
      'no version of it': () => refused(r.versions.createArtifactVersion(group, 'no-such-artifact', second), 404),
      'no end of it': () => refused(r.artifacts.deleteArtifact(group, 'no-such-artifact'), 404),
      'no content at all': async () => {
        await create(r, 'never-empty');
        await refused(
          r.artifacts.updateArtifact(group, 'never-empty', '', undefined, undefined, undefined, undefined, undefined, empty),
          400,
        );
        assert.deepEqual(await latest(r, 'never-empty'), first);
      },
      'no version without any': async () => {
        await refused(
          r.versions.createArtifactVersion(
            group,
            'never-empty',
            '',
            undefined,
            undefined,
            undefined,
            undefined,
            undefined,
            empty,
          ),
          400,
        );
        assert.deepEqual(await versions(r, 'never-empty'), ['1']);
      },
    }),
  },
};
