import assert from 'node:assert/strict';
import {
  Configuration,
  CoreApi,
  CryptoApi,
  EventsApi,
  FlowsApi,
  PoliciesApi,
  PropertymappingsApi,
  RbacApi,
  StagesApi,
} from '@goauthentik/api';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

interface Authentik {
  readonly core: CoreApi;
  readonly crypto: CryptoApi;
  readonly events: EventsApi;
  readonly flows: FlowsApi;
  readonly mappings: PropertymappingsApi;
  readonly policies: PoliciesApi;
  readonly rbac: RbacApi;
  readonly stages: StagesApi;
}

const connect = (place: Place, token: string): Authentik => {
  const configuration = new Configuration({ basePath: place.base, accessToken: token });
  return {
    core: new CoreApi(configuration),
    crypto: new CryptoApi(configuration),
    events: new EventsApi(configuration),
    flows: new FlowsApi(configuration),
    mappings: new PropertymappingsApi(configuration),
    policies: new PoliciesApi(configuration),
    rbac: new RbacApi(configuration),
    stages: new StagesApi(configuration),
  };
};

const gone = (call: Promise<unknown>): Promise<unknown> => refused(call, 404);
const nothing = 'f0e1d2c3-0000-4000-8000-000000000000';

const user = async ({ core }: Authentik, username: string): Promise<string> =>
  String((await core.coreUsersCreate({ userRequest: { username, name: username.toUpperCase() } })).pk);
const group = async ({ core }: Authentik, name: string): Promise<string> =>
  (await core.coreGroupsCreate({ groupRequest: { name } })).pk;
const flow = async ({ flows }: Authentik, slug: string): Promise<string> => {
  const flowRequest = { name: slug, slug, title: `Welcome to ${slug}`, designation: 'authentication' as const };
  return (await flows.flowsInstancesCreate({ flowRequest })).pk;
};

/** docs.goauthentik.io, its API's pages, and the description in the client's own package. */
export const vendor: Vendor<Authentik> = {
  document: 'authentik/schema.yml',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ak-madeup',
  client: connect,
  strict: ['a wrong token is refused'],
  flows: {
    'a user made, read, changed, deleted': ({ core }, s) => ({
      made: async () => {
        const made = await core.coreUsersCreate({
          userRequest: { username: 'ada', name: 'Ada', email: 'ada@example.com', attributes: { floor: 3 } },
        });
        assert.deepEqual([made.username, made.name, made.email], ['ada', 'Ada', 'ada@example.com']);
        assert.deepEqual(made.attributes, { floor: 3 });
        s.id = String(made.pk);
      },
      'read as it was made': async () => {
        const read = await core.coreUsersRetrieve({ id: Number(s.id) });
        assert.deepEqual([String(read.pk), read.username, read.name], [s.id, 'ada', 'Ada']);
      },
      'its name changed alone': async () => {
        const changed = await core.coreUsersPartialUpdate({ id: Number(s.id), patchedUserRequest: { name: 'Ada L.' } });
        assert.deepEqual([changed.name, changed.email], ['Ada L.', 'ada@example.com']);
      },
      'all of it changed': async () => {
        const userRequest = { username: 'lovelace', name: 'Ada Lovelace', isActive: false };
        const changed = await core.coreUsersUpdate({ id: Number(s.id), userRequest });
        assert.deepEqual([changed.username, changed.name, changed.isActive], ['lovelace', 'Ada Lovelace', false]);
      },
      deleted: () => core.coreUsersDestroy({ id: Number(s.id) }),
      'no more there': () => gone(core.coreUsersRetrieve({ id: Number(s.id) })),
    }),

    'users through all pages': (authentik, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const name of ['ann', 'bob', 'cem', 'dag', 'eva']) made.push(await user(authentik, name));
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'page after page, as each says what is next': async () => {
        const rows = await pages(
          (from) => authentik.core.coreUsersList({ page: Number(from ?? 1), pageSize: 2 }),
          (page) => page.results,
          ({ pagination }) => (pagination.next > pagination.current ? String(pagination.next) : undefined),
        );
        once(
          rows.map(({ pk }) => String(pk)),
          s.ids.split(','),
          'users',
        );
      },
      'a page tells how many there are': async () => {
        const { pagination, results } = await authentik.core.coreUsersList({ page: 1, pageSize: 2 });
        assert.equal(results.length, 2);
        assert.equal(pagination.current, 1);
        assert.ok(pagination.count >= 5, `five were made, and the count is ${pagination.count}`);
        assert.ok(pagination.totalPages >= 3);
      },
    }),

    'users looked for': (authentik, s) => ({
      'two are made': async () => {
        s.one = await user(authentik, 'zelda');
        s.two = await user(authentik, 'otto');
      },
      'one by its name': async () => {
        const { results } = await authentik.core.coreUsersList({ username: 'zelda' });
        assert.deepEqual(
          results.map(({ pk }) => String(pk)),
          [s.one],
        );
      },
      'the inactive ones': async () => {
        await authentik.core.coreUsersPartialUpdate({ id: Number(s.two), patchedUserRequest: { isActive: false } });
        const { results } = await authentik.core.coreUsersList({ isActive: false });
        const ids = results.map(({ pk }) => String(pk));
        assert.ok(ids.includes(s.two) && !ids.includes(s.one));
      },
      'nobody is none': async () => {
        assert.deepEqual((await authentik.core.coreUsersList({ username: 'nobody-at-all' })).results, []);
      },
    }),

    'a password, and an account for a service': (authentik, s) => ({
      'a user is given a password': async () => {
        s.id = await user(authentik, 'pia');
        await authentik.core.coreUsersSetPasswordCreate({
          id: Number(s.id),
          userPasswordSetRequest: { password: 'correct horse battery' },
        });
      },
      'which is not shown': async () => {
        const read = await authentik.core.coreUsersRetrieve({ id: Number(s.id) });
        assert.equal((read as unknown as Record<string, unknown>).password, undefined);
      },
      'a service is given an account and a token': async () => {
        const made = await authentik.core.coreUsersServiceAccountCreate({
          userServiceAccountRequest: { name: 'backup', createGroup: false },
        });
        assert.ok(made.token.length > 0);
        assert.equal(typeof made.userPk, 'number');
      },
      'those who ask are told who they are': async () => {
        const { user: me } = await authentik.core.coreUsersMeRetrieve();
        assert.equal(typeof me.username, 'string');
      },
    }),

    'a group, and who is in it': (authentik, s) => ({
      'a group and a user': async () => {
        const made = await authentik.core.coreGroupsCreate({ groupRequest: { name: 'editors', isSuperuser: false } });
        assert.deepEqual([made.name, made.isSuperuser], ['editors', false]);
        s.group = made.pk;
        s.user = await user(authentik, 'grace');
      },
      'joined to it': () =>
        authentik.core.coreGroupsAddUserCreate({ groupUuid: s.group, userAccountRequest: { pk: Number(s.user) } }),
      'in it': async () => {
        const read = await authentik.core.coreGroupsRetrieve({ groupUuid: s.group });
        assert.ok(given(read.users, 'users').map(String).includes(s.user));
      },
      'taken out of it': () =>
        authentik.core.coreGroupsRemoveUserCreate({ groupUuid: s.group, userAccountRequest: { pk: Number(s.user) } }),
      'in it no more': async () => {
        const read = await authentik.core.coreGroupsRetrieve({ groupUuid: s.group });
        assert.ok(!given(read.users, 'users').map(String).includes(s.user));
      },
    }),

    'a group made, renamed, deleted': (authentik, s) => ({
      made: async () => {
        s.id = await group(authentik, 'authors');
      },
      renamed: async () => {
        const patchedGroupRequest = { name: 'writers', attributes: { room: 'north' } };
        const changed = await authentik.core.coreGroupsPartialUpdate({ groupUuid: s.id, patchedGroupRequest });
        assert.deepEqual([changed.pk, changed.name, changed.attributes], [s.id, 'writers', { room: 'north' }]);
      },
      'found by its new name': async () => {
        const { results } = await authentik.core.coreGroupsList({ name: 'writers' });
        assert.deepEqual(
          results.map(({ pk }) => pk),
          [s.id],
        );
      },
      'what uses it is a list': async () => {
        assert.ok(Array.isArray(await authentik.core.coreGroupsUsedByList({ groupUuid: s.id })));
      },
      deleted: () => authentik.core.coreGroupsDestroy({ groupUuid: s.id }),
      'no more there': () => gone(authentik.core.coreGroupsRetrieve({ groupUuid: s.id })),
    }),

    'a group within another': (authentik, s) => ({
      'the outer, and the inner': async () => {
        s.outer = await group(authentik, 'company');
        const made = await authentik.core.coreGroupsCreate({ groupRequest: { name: 'team', parents: [s.outer] } });
        assert.deepEqual(made.parents, [s.outer]);
        s.inner = made.pk;
      },
      'the inner knows the outer': async () => {
        const read = await authentik.core.coreGroupsRetrieve({ groupUuid: s.inner });
        assert.deepEqual(read.parents, [s.outer]);
      },
      'made with somebody in it': async () => {
        s.user = await user(authentik, 'lin');
        const groupRequest = { name: 'pair', users: [Number(s.user)] };
        assert.deepEqual((await authentik.core.coreGroupsCreate({ groupRequest })).users?.map(String), [s.user]);
      },
    }),

    'an application, known by its slug': ({ core }, s) => ({
      made: async () => {
        const made = await core.coreApplicationsCreate({
          applicationRequest: { name: 'Wiki', slug: 'wiki', group: 'Docs', openInNewTab: true, policyEngineMode: 'all' },
        });
        assert.deepEqual([made.name, made.slug, made.group, made.openInNewTab], ['Wiki', 'wiki', 'Docs', true]);
        s.id = made.pk;
      },
      'read by its slug': async () => {
        const read = await core.coreApplicationsRetrieve({ slug: 'wiki' });
        assert.deepEqual([read.pk, read.name, read.policyEngineMode], [s.id, 'Wiki', 'all']);
      },
      changed: async () => {
        const patchedApplicationRequest = { name: 'Handbook', metaPublisher: 'Us' };
        const changed = await core.coreApplicationsPartialUpdate({ slug: 'wiki', patchedApplicationRequest });
        assert.deepEqual([changed.name, changed.metaPublisher, changed.slug], ['Handbook', 'Us', 'wiki']);
      },
      'in the list with its new name': async () => {
        const { results } = await core.coreApplicationsList({});
        once(
          results.map(({ slug }) => slug),
          ['wiki'],
          'applications',
        );
        assert.equal(results.find(({ slug }) => slug === 'wiki')?.name, 'Handbook');
      },
      deleted: () => core.coreApplicationsDestroy({ slug: 'wiki' }),
      'no more there': () => gone(core.coreApplicationsRetrieve({ slug: 'wiki' })),
    }),

    'a token, and its key': ({ core }) => ({
      made: async () => {
        const tokenRequest = { identifier: 'deploy', intent: 'api' as const, description: 'For deploys', expiring: false };
        const made = await core.coreTokensCreate({ tokenRequest });
        assert.deepEqual([made.identifier, made.intent, made.description], ['deploy', 'api', 'For deploys']);
        assert.equal(made.expiring, false);
      },
      'read by what it is called': async () => {
        const read = await core.coreTokensRetrieve({ identifier: 'deploy' });
        assert.deepEqual([read.identifier, read.description], ['deploy', 'For deploys']);
      },
      'its key is shown where it is asked for': async () => {
        assert.equal(typeof (await core.coreTokensViewKeyRetrieve({ identifier: 'deploy' })).key, 'string');
      },
      'given another key': () =>
        core.coreTokensSetKeyCreate({ identifier: 'deploy', tokenSetKeyRequest: { key: 'not-a-secret' } }),
      deleted: () => core.coreTokensDestroy({ identifier: 'deploy' }),
      'no more there': () => gone(core.coreTokensRetrieve({ identifier: 'deploy' })),
    }),

    'a role, and who has it': (authentik, s) => ({
      made: async () => {
        const made = await authentik.rbac.rbacRolesCreate({ roleRequest: { name: 'auditor' } });
        assert.equal(made.name, 'auditor');
        s.id = made.pk;
      },
      'given to somebody': async () => {
        s.user = await user(authentik, 'joan');
        await authentik.rbac.rbacRolesAddUserCreate({
          uuid: s.id,
          userAccountSerializerForRoleRequest: { pk: Number(s.user) },
        });
      },
      renamed: async () => {
        const changed = await authentik.rbac.rbacRolesUpdate({ uuid: s.id, roleRequest: { name: 'reviewer' } });
        assert.deepEqual([changed.pk, changed.name], [s.id, 'reviewer']);
      },
      'in the list': async () => {
        const { results } = await authentik.rbac.rbacRolesList({});
        once(
          results.map(({ pk }) => pk),
          [s.id],
          'roles',
        );
      },
      deleted: () => authentik.rbac.rbacRolesDestroy({ uuid: s.id }),
      'no more there': () => gone(authentik.rbac.rbacRolesRetrieve({ uuid: s.id })),
    }),

    'who hears of what happens': (authentik, s) => ({
      'a way to tell': async () => {
        const made = await authentik.events.eventsTransportsCreate({
          notificationTransportRequest: { name: 'hook', mode: 'webhook', webhookUrl: 'https://example.com/hook', sendOnce: true },
        });
        assert.deepEqual([made.name, made.mode, made.sendOnce], ['hook', 'webhook', true]);
        s.transport = made.pk;
      },
      'a rule that tells by it': async () => {
        s.group = await group(authentik, 'watchers');
        const made = await authentik.events.eventsRulesCreate({
          notificationRuleRequest: {
            name: 'alarm',
            severity: 'alert',
            transports: [s.transport],
            destinationGroup: s.group,
          },
        });
        assert.deepEqual([made.severity, made.transports, made.destinationGroup], ['alert', [s.transport], s.group]);
        s.rule = made.pk;
      },
      'less loudly': async () => {
        const patchedNotificationRuleRequest = { severity: 'notice' as const };
        const changed = await authentik.events.eventsRulesPartialUpdate({ pbmUuid: s.rule, patchedNotificationRuleRequest });
        assert.deepEqual([changed.severity, changed.name], ['notice', 'alarm']);
      },
      'read so': async () => {
        const read = await authentik.events.eventsRulesRetrieve({ pbmUuid: s.rule });
        assert.deepEqual([read.pk, read.severity, read.transports], [s.rule, 'notice', [s.transport]]);
      },
      'no longer': () => authentik.events.eventsRulesDestroy({ pbmUuid: s.rule }),
      'no more there': () => gone(authentik.events.eventsRulesRetrieve({ pbmUuid: s.rule })),
    }),

    'a policy, and where it holds': (authentik, s) => ({
      'a policy': async () => {
        const made = await authentik.policies.policiesExpressionCreate({
          expressionPolicyRequest: { name: 'weekdays', expression: 'return True', executionLogging: true },
        });
        assert.deepEqual([made.name, made.expression, made.executionLogging], ['weekdays', 'return True', true]);
        s.policy = made.pk;
      },
      'bound to an application': async () => {
        const applicationRequest = { name: 'Shop', slug: 'shop' };
        s.target = (await authentik.core.coreApplicationsCreate({ applicationRequest })).pbmUuid;
        const made = await authentik.policies.policiesBindingsCreate({
          policyBindingRequest: { policy: s.policy, target: s.target, order: 10, enabled: true },
        });
        assert.deepEqual([made.policy, made.target, made.order], [s.policy, s.target, 10]);
        s.binding = made.pk;
      },
      'listed of its target': async () => {
        const { results } = await authentik.policies.policiesBindingsList({ target: s.target });
        assert.deepEqual(
          results.map(({ pk }) => pk),
          [s.binding],
        );
      },
      'made later, and switched off': async () => {
        const changed = await authentik.policies.policiesBindingsPartialUpdate({
          policyBindingUuid: s.binding,
          patchedPolicyBindingRequest: { order: 20, enabled: false },
        });
        assert.deepEqual([changed.order, changed.enabled, changed.policy], [20, false, s.policy]);
      },
      unbound: () => authentik.policies.policiesBindingsDestroy({ policyBindingUuid: s.binding }),
      'no more there': () => gone(authentik.policies.policiesBindingsRetrieve({ policyBindingUuid: s.binding })),
    }),

    'a flow and its stages': (authentik, s) => ({
      'a flow': async () => {
        s.flow = await flow(authentik, 'sign-in');
        const read = await authentik.flows.flowsInstancesRetrieve({ slug: 'sign-in' });
        assert.deepEqual([read.pk, read.designation], [s.flow, 'authentication']);
      },
      'a stage in it': async () => {
        const stage = await authentik.stages.stagesDummyCreate({ dummyStageRequest: { name: 'nothing', throwError: false } });
        assert.deepEqual([stage.name, stage.throwError], ['nothing', false]);
        const made = await authentik.flows.flowsBindingsCreate({
          flowStageBindingRequest: { target: s.flow, stage: stage.pk, order: 1, invalidResponseAction: 'retry' },
        });
        assert.deepEqual([made.target, made.stage, made.order], [s.flow, stage.pk, 1]);
        s.binding = made.pk;
      },
      'listed of it': async () => {
        const { results } = await authentik.flows.flowsBindingsList({ target: s.flow });
        assert.deepEqual(
          results.map(({ pk }) => pk),
          [s.binding],
        );
      },
      'given another title': async () => {
        const patchedFlowRequest = { title: 'Come in', layout: 'stacked' as const };
        const changed = await authentik.flows.flowsInstancesPartialUpdate({ slug: 'sign-in', patchedFlowRequest });
        assert.deepEqual([changed.title, changed.layout, changed.name], ['Come in', 'stacked', 'sign-in']);
      },
      deleted: () => authentik.flows.flowsInstancesDestroy({ slug: 'sign-in' }),
      'no more there': () => gone(authentik.flows.flowsInstancesRetrieve({ slug: 'sign-in' })),
    }),

    'a question to those who enrol': ({ stages }, s) => ({
      made: async () => {
        const made = await stages.stagesPromptPromptsCreate({
          promptRequest: { name: 'nick', fieldKey: 'nick', label: 'Nickname', type: 'text', required: true, order: 5 },
        });
        assert.deepEqual([made.fieldKey, made.label, made.type], ['nick', 'Nickname', 'text']);
        assert.deepEqual([made.required, made.order], [true, 5]);
        s.id = made.pk;
      },
      changed: async () => {
        const patchedPromptRequest = { label: 'What are you called?', required: false };
        const changed = await stages.stagesPromptPromptsPartialUpdate({ promptUuid: s.id, patchedPromptRequest });
        assert.deepEqual([changed.label, changed.required, changed.fieldKey], ['What are you called?', false, 'nick']);
      },
      'found by its key': async () => {
        const { results } = await stages.stagesPromptPromptsList({ fieldKey: 'nick' });
        assert.deepEqual(
          results.map(({ pk }) => pk),
          [s.id],
        );
      },
      deleted: () => stages.stagesPromptPromptsDestroy({ promptUuid: s.id }),
      'no more there': () => gone(stages.stagesPromptPromptsRetrieve({ promptUuid: s.id })),
    }),

    'a certificate': ({ crypto }, s) => ({
      made: async () => {
        const made = await crypto.cryptoCertificatekeypairsGenerateCreate({
          certificateGenerationRequest: { commonName: 'id.example.com', validityDays: 30, alg: 'ecdsa' },
        });
        s.id = made.pk;
        assert.equal(typeof made.name, 'string');
      },
      read: async () => assert.equal((await crypto.cryptoCertificatekeypairsRetrieve({ kpUuid: s.id })).pk, s.id),
      renamed: async () => {
        const patchedCertificateKeyPairRequest = { name: 'Front door' };
        const changed = await crypto.cryptoCertificatekeypairsPartialUpdate({ kpUuid: s.id, patchedCertificateKeyPairRequest });
        assert.deepEqual([changed.pk, changed.name], [s.id, 'Front door']);
      },
      deleted: () => crypto.cryptoCertificatekeypairsDestroy({ kpUuid: s.id }),
      'no more there': () => gone(crypto.cryptoCertificatekeypairsRetrieve({ kpUuid: s.id })),
    }),

    'what a scope tells of somebody': ({ mappings }, s) => ({
      made: async () => {
        const made = await mappings.propertymappingsProviderScopeCreate({
          scopeMappingRequest: { name: 'Shoe size', scopeName: 'shoe', expression: 'return {"shoe": 42}' },
        });
        assert.deepEqual([made.name, made.scopeName, made.expression], ['Shoe size', 'shoe', 'return {"shoe": 42}']);
        s.id = made.pk;
      },
      described: async () => {
        const patchedScopeMappingRequest = { description: 'Your shoe size' };
        const changed = await mappings.propertymappingsProviderScopePartialUpdate({ pmUuid: s.id, patchedScopeMappingRequest });
        assert.deepEqual([changed.description, changed.scopeName], ['Your shoe size', 'shoe']);
      },
      'found by its scope': async () => {
        const { results } = await mappings.propertymappingsProviderScopeList({ scopeName: 'shoe' });
        assert.deepEqual(
          results.map(({ pk }) => pk),
          [s.id],
        );
      },
      deleted: () => mappings.propertymappingsProviderScopeDestroy({ pmUuid: s.id }),
      'no more there': () => gone(mappings.propertymappingsProviderScopeRetrieve({ pmUuid: s.id })),
    }),

    'a wrong token is refused': (_authentik, _s, another) => ({
      'the users': () => refused(another('wrong').core.coreUsersList({}), 401, 403),
      'a user to be made': () => refused(user(another('wrong'), 'thief'), 401, 403),
      'the tokens': () => refused(another('wrong').core.coreTokensList({}), 401, 403),
    }),

    'what is not there': ({ core, rbac, flows, policies }) => ({
      'no such user': () => gone(core.coreUsersRetrieve({ id: 999999 })),
      'no such group to delete': () => gone(core.coreGroupsDestroy({ groupUuid: nothing })),
      'no such role to rename': () => gone(rbac.rbacRolesUpdate({ uuid: nothing, roleRequest: { name: 'ghost' } })),
      'no such flow': () => gone(flows.flowsInstancesRetrieve({ slug: 'no-such-flow' })),
      'no such policy': () => gone(policies.policiesExpressionRetrieve({ policyUuid: nothing })),
      'no key of a token that is not there': () => gone(core.coreTokensViewKeyRetrieve({ identifier: 'no-such-token' })),
    }),

    'what is not right': (authentik, s) => ({
      'a user has a name to sign in by': () =>
        refused(authentik.core.coreUsersCreate({ userRequest: { name: 'Nobody' } as never }), 400),
      'an address is one': () =>
        refused(authentik.core.coreUsersCreate({ userRequest: { username: 'eve', name: 'Eve', email: 'not an address' } }), 400),
      'a flow is for something there is': () =>
        refused(
          authentik.flows.flowsInstancesCreate({
            flowRequest: { name: 'x', slug: 'x', title: 'x', designation: 'dancing' as never },
          }),
          400,
        ),
      'a token is for something there is': () =>
        refused(authentik.core.coreTokensCreate({ tokenRequest: { identifier: 'odd', intent: 'mischief' as never } }), 400),
      'nothing of it was made': async () => {
        const { results } = await authentik.core.coreUsersList({});
        s.names = results.map(({ username }) => username).join();
        assert.ok(!s.names.split(',').includes('eve'));
      },
    }),
  },
};
