import assert from 'node:assert/strict';
import * as provider from '@clevercloud/client/esm/api/v2/addon-provider.js';
import * as application from '@clevercloud/client/esm/api/v2/application.js';
import * as organisation from '@clevercloud/client/esm/api/v2/organisation.js';
import * as user from '@clevercloud/client/esm/api/v2/user.js';
import { addOauthHeader } from '@clevercloud/client/esm/oauth.js';
import { prefixUrl } from '@clevercloud/client/esm/prefix-url.js';
import { request } from '@clevercloud/client/esm/request.fetch.js';
import type { RequestParams } from '@clevercloud/client/esm/request.types.js';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** Sends what a function of the client prepared, as its README has it. */
type Send = (prepared: Promise<RequestParams>) => Promise<unknown>;

/** The client's paths begin with `/v2`, which is in the description's server. */
const connect =
  (place: Place, token: string): Send =>
  (prepared) =>
    prepared
      .then(prefixUrl(place.url))
      .then(
        addOauthHeader({
          OAUTH_CONSUMER_KEY: 'T5nFjKeHH4AIlEveuGhB5S3xg8T19e',
          OAUTH_CONSUMER_SECRET: 'MgVMqTr6fWlf2M0tkC2MXOnhfqBWDT',
          API_OAUTH_TOKEN: token,
          API_OAUTH_TOKEN_SECRET: '9fWlf2M0tkC2MXOnhfqBWDTMgVMqTr',
        }),
      )
      .then(request);

type Organisation = { readonly id: string; readonly name: string; readonly description: string; readonly city?: string };
type Application = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly zone: string;
  readonly ownerId: string;
  readonly instance: { readonly type: string; readonly minInstances: number; readonly maxInstances: number };
};
type Named = { readonly id: string; readonly name: string };
type Plan = Named & { readonly slug: string; readonly price: number };
type Key = { readonly name: string; readonly key: string; readonly fingerprint: string };

const found = { description: 'Where the shop is kept', name: 'Shop' };
const make = async (api: Send, more: object = {}): Promise<string> =>
  given(((await api(organisation.create({}, { ...found, ...more }))) as Organisation).id, 'id');
const read = async (api: Send, id: string): Promise<Organisation> => (await api(organisation.get({ id }))) as Organisation;
const organisations = async (api: Send): Promise<string[]> =>
  ((await api(organisation.getAll())) as Organisation[]).map(({ id }) => id);

const wanted = (name: string): object => ({
  name,
  description: `What ${name} does`,
  deploy: 'git',
  enabled: true,
  zone: 'par',
  instanceType: 'node',
  instanceVersion: '20220330',
  minInstances: 1,
  maxInstances: 2,
  minFlavor: 'nano',
  maxFlavor: 'S',
  shutdownable: false,
});
type At = { readonly id?: string; readonly appId: string };
const launch = async (api: Send, name: string, id?: string): Promise<string> =>
  given(((await api(application.create({ id }, wanted(name)))) as Application).id, 'id');
const look = async (api: Send, at: At): Promise<Application> => (await api(application.get(at))) as Application;
/** All of them: the client's types alone ask for an instance. */
const applications = async (api: Send, id?: string): Promise<string[]> => {
  const asked = { id } as Parameters<typeof application.getAll>[0];
  return ((await api(application.getAll(asked))) as Application[]).map(({ id: one }) => one);
};

const variables = async (api: Send, at: At): Promise<Record<string, string>> => {
  const rows = (await api(application.getAllEnvVars(at))) as { readonly name: string; readonly value: string }[];
  once(
    rows.map(({ name }) => name),
    rows.map(({ name }) => name),
    'variables',
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
};
const assign = (api: Send, at: At, name: string, value: string): Promise<unknown> =>
  api(application.updateEnvVar({ ...at, envName: name }, { name, value }));

const domains = async (api: Send, at: At): Promise<string[]> =>
  ((await api(application.getAllDomains(at))) as { readonly fqdn: string }[]).map(({ fqdn }) => fqdn.replace(/\/$/, ''));
const tags = async (api: Send, at: At): Promise<string[]> => (await api(application.getAllTags(at))) as string[];
const needs = async (api: Send, at: At): Promise<string[]> =>
  ((await api(application.getAllDependencies(at))) as Application[]).map(({ id }) => id);

const offer = (id: string, name: string): object => ({
  id,
  name,
  api: {
    config_vars: ['ADDON_MAIL_URL'],
    password: '44ca1f0d5d9e4f0e8b0a7f6c2d3e4f50',
    sso_salt: 'f9e0d1c2b3a4958677685a4b3c2d1e0f',
    regions: ['EU'],
    production: { base_url: 'https://mail.example.com/clever/resources', sso_url: 'https://mail.example.com/clever/sso' },
    test: { base_url: 'https://test.mail.example.com/clever/resources', sso_url: 'https://test.mail.example.com/clever/sso' },
  },
});
const tariff = (name: string, price: number): object => ({ name, slug: name.toLowerCase(), price, features: [] });
const providers = async (api: Send, id: string): Promise<string[]> =>
  ((await api(provider.getAll({ id }))) as Named[]).map(({ id: one }) => one);

/** Guide: clever.cloud/developers, "API", "Using the API", "Add-on provider API"; the client's README. */
export const vendor: Vendor<Send> = {
  document: 'clever-cloud/clever-cloud.com.json',
  header: 'Authorization',
  word: 'OAuth',
  made: '8d1b0b6f2a7c4e3f9a5d6c7b8e9f0a1b',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'an organisation from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await make(api, { city: 'Nantes' });
      },
      read: async () => {
        const { id, name, description, city } = await read(api, s.id);
        assert.deepEqual([id, name, description, city], [s.id, found.name, found.description, 'Nantes']);
      },
      'it is listed': async () => once(await organisations(api), [s.id], 'organisations'),
      change: async () => {
        await api(organisation.update({ id: s.id }, { name: 'Store', description: 'Where the store is kept', city: 'Rennes' }));
        const { name, description, city } = await read(api, s.id);
        assert.deepEqual([name, description, city], ['Store', 'Where the store is kept', 'Rennes']);
      },
      delete: async () => api(organisation.remove({ id: s.id })),
      'it is gone': async () => {
        await refused(read(api, s.id), 404);
        assert.ok(!(await organisations(api)).includes(s.id));
      },
    }),
    'several organisations': (api, s) => ({
      'make three': async () => {
        const made = [await make(api, { name: 'One' }), await make(api, { name: 'Two' }), await make(api, { name: 'Three' })];
        once(made, made, 'made ids');
        s.all = made.join(' ');
        s.second = given(made[1], 'second id');
      },
      'each is listed once': async () => once(await organisations(api), s.all.split(' '), 'organisations'),
      'delete one': async () => api(organisation.remove({ id: s.second })),
      'the others stay': async () => {
        const left = await organisations(api);
        once(
          left,
          s.all.split(' ').filter((id) => id !== s.second),
          'organisations',
        );
        assert.ok(!left.includes(s.second));
      },
    }),
    'organisations that cannot be': (api) => ({
      'without a name': async () => refused(api(organisation.create({}, { description: found.description })), 400, 422),
      'without a description': async () => refused(api(organisation.create({}, { name: found.name })), 400, 422),
      'reading one that is not there': async () => refused(read(api, 'orga_not_there'), 404),
      'changing it': async () => refused(api(organisation.update({ id: 'orga_not_there' }, found)), 404),
      'deleting it': async () => refused(api(organisation.remove({ id: 'orga_not_there' })), 404),
    }),
    'an application from its making to its end': (api, s) => ({
      'make an organisation': async () => {
        s.id = await make(api);
      },
      create: async () => {
        s.appId = await launch(api, 'front', s.id);
      },
      read: async () => {
        const { id, name, description, zone, ownerId, instance } = await look(api, { id: s.id, appId: s.appId });
        assert.deepEqual([id, name, description, zone, ownerId], [s.appId, 'front', 'What front does', 'par', s.id]);
        assert.deepEqual([instance.type, instance.minInstances, instance.maxInstances], ['node', 1, 2]);
      },
      'it is listed': async () => once(await applications(api, s.id), [s.appId], 'applications'),
      delete: async () => api(application.remove({ id: s.id, appId: s.appId })),
      'it is gone': async () => {
        await refused(look(api, { id: s.id, appId: s.appId }), 404);
        assert.ok(!(await applications(api, s.id)).includes(s.appId));
      },
    }),
    'an application is changed': (api, s) => ({
      'make one': async () => {
        s.id = await make(api);
        s.appId = await launch(api, 'api', s.id);
      },
      'another name': async () => {
        const more = { name: 'gateway', maxInstances: 4, stickySessions: true };
        await api(application.update({ id: s.id, appId: s.appId }, { ...wanted('api'), ...more }));
      },
      'it stays': async () => {
        const { name, instance, zone } = await look(api, { id: s.id, appId: s.appId });
        assert.deepEqual([name, instance.maxInstances, zone], ['gateway', 4, 'par']);
      },
      'it is the same one': async () => {
        const { id, ownerId, description } = await look(api, { id: s.id, appId: s.appId });
        assert.deepEqual([id, ownerId, description], [s.appId, s.id, 'What api does']);
      },
      'it is listed once': async () => once(await applications(api, s.id), [s.appId], 'applications'),
    }),
    'applications of two organisations': (api, s) => ({
      'make two': async () => {
        s.one = await make(api, { name: 'One' });
        s.two = await make(api, { name: 'Two' });
      },
      'two here, one there': async () => {
        s.first = await launch(api, 'first', s.one);
        s.second = await launch(api, 'second', s.one);
        s.third = await launch(api, 'third', s.two);
      },
      'here are two': async () => {
        const here = await applications(api, s.one);
        once(here, [s.first, s.second], 'applications');
        assert.equal(here.length, 2);
      },
      'there is one': async () => assert.deepEqual(await applications(api, s.two), [s.third]),
      'it is not of the other': async () => refused(look(api, { id: s.two, appId: s.first }), 403, 404),
      'delete one here': async () => {
        await api(application.remove({ id: s.one, appId: s.first }));
        assert.deepEqual(await applications(api, s.one), [s.second]);
        assert.deepEqual(await applications(api, s.two), [s.third]);
      },
    }),
    'applications that cannot be': (api, s) => ({
      'make an organisation': async () => {
        s.id = await make(api);
      },
      'without a name': async () => {
        const { name: _, ...rest } = wanted('none') as { readonly name: string };
        await refused(api(application.create({ id: s.id }, rest)), 400, 422);
      },
      'instances that are no number': async () =>
        refused(api(application.create({ id: s.id }, { ...wanted('odd'), minInstances: 'many' })), 400, 422),
      'none of them was made': async () => assert.deepEqual(await applications(api, s.id), []),
      'reading one that is not there': async () => refused(look(api, { id: s.id, appId: 'app_not_there' }), 404),
      'deleting it': async () => refused(api(application.remove({ id: s.id, appId: 'app_not_there' })), 404),
    }),
    'variables of an application': (api, s) => ({
      'make one': async () => {
        s.id = await make(api);
        s.appId = await launch(api, 'worker', s.id);
      },
      'set two': async () => {
        await assign(api, { id: s.id, appId: s.appId }, 'MODE', 'test');
        await assign(api, { id: s.id, appId: s.appId }, 'REGION', 'west');
      },
      'they are there': async () => {
        const set = await variables(api, { id: s.id, appId: s.appId });
        assert.deepEqual([set.MODE, set.REGION], ['test', 'west']);
      },
      'set one again': async () => {
        await assign(api, { id: s.id, appId: s.appId }, 'MODE', 'production');
        const set = await variables(api, { id: s.id, appId: s.appId });
        assert.deepEqual([set.MODE, set.REGION], ['production', 'west']);
      },
      'remove the other': async () => api(application.removeEnvVar({ id: s.id, appId: s.appId, envName: 'REGION' })),
      'it is gone': async () => {
        const set = await variables(api, { id: s.id, appId: s.appId });
        assert.deepEqual([set.MODE, set.REGION], ['production', undefined]);
      },
    }),
    'variables stay with their application': (api, s) => ({
      'make two': async () => {
        s.id = await make(api);
        s.one = await launch(api, 'one', s.id);
        s.two = await launch(api, 'two', s.id);
      },
      'set one in each': async () => {
        await assign(api, { id: s.id, appId: s.one }, 'WHO', 'one');
        await assign(api, { id: s.id, appId: s.two }, 'WHO', 'two');
      },
      'each has its own': async () => {
        assert.equal((await variables(api, { id: s.id, appId: s.one })).WHO, 'one');
        assert.equal((await variables(api, { id: s.id, appId: s.two })).WHO, 'two');
      },
      'remove one': async () => api(application.removeEnvVar({ id: s.id, appId: s.one, envName: 'WHO' })),
      'the other stays': async () => {
        assert.equal((await variables(api, { id: s.id, appId: s.one })).WHO, undefined);
        assert.equal((await variables(api, { id: s.id, appId: s.two })).WHO, 'two');
      },
    }),
    'domains of an application': (api, s) => ({
      'make one': async () => {
        s.id = await make(api);
        s.appId = await launch(api, 'site', s.id);
      },
      'two domains': async () => {
        await api(application.addDomain({ id: s.id, appId: s.appId, domain: 'www.example.com' }));
        await api(application.addDomain({ id: s.id, appId: s.appId, domain: 'shop.example.com' }));
      },
      'they are listed': async () =>
        once(await domains(api, { id: s.id, appId: s.appId }), ['www.example.com', 'shop.example.com'], 'domains'),
      'one is the favourite': async () => {
        await api(application.markFavouriteDomain({ id: s.id, appId: s.appId }, { fqdn: 'www.example.com' }));
        const { fqdn } = (await api(application.getFavouriteDomain({ id: s.id, appId: s.appId }))) as { fqdn: string };
        assert.equal(fqdn.replace(/\/$/, ''), 'www.example.com');
      },
      'remove the other': async () => api(application.removeDomain({ id: s.id, appId: s.appId, domain: 'shop.example.com' })),
      'one is left': async () => {
        const left = await domains(api, { id: s.id, appId: s.appId });
        once(left, ['www.example.com'], 'domains');
        assert.ok(!left.includes('shop.example.com'));
      },
    }),
    'tags of an application': (api, s) => ({
      'make one': async () => {
        s.id = await make(api);
        s.appId = await launch(api, 'tagged', s.id);
      },
      'two tags': async () => {
        await api(application.updateTag({ id: s.id, appId: s.appId, tag: 'backend' }));
        await api(application.updateTag({ id: s.id, appId: s.appId, tag: 'payments' }));
      },
      'they are listed': async () => once(await tags(api, { id: s.id, appId: s.appId }), ['backend', 'payments'], 'tags'),
      'one again': async () => {
        await api(application.updateTag({ id: s.id, appId: s.appId, tag: 'backend' }));
        once(await tags(api, { id: s.id, appId: s.appId }), ['backend', 'payments'], 'tags');
      },
      'remove it': async () => api(application.removeTag({ id: s.id, appId: s.appId, tag: 'backend' })),
      'the other stays': async () => assert.deepEqual(await tags(api, { id: s.id, appId: s.appId }), ['payments']),
    }),
    'one application needs another': (api, s) => ({
      'make two': async () => {
        s.id = await make(api);
        s.front = await launch(api, 'front', s.id);
        s.back = await launch(api, 'back', s.id);
      },
      'tie them': async () => api(application.addDependency({ id: s.id, appId: s.front, dependencyId: s.back })),
      'one needs the other': async () => assert.deepEqual(await needs(api, { id: s.id, appId: s.front }), [s.back]),
      'not the other way around': async () => assert.deepEqual(await needs(api, { id: s.id, appId: s.back }), []),
      'the other knows': async () => {
        const asking = (await api(
          application.todo_getApplicationDependentsByOrgaAndAppId({ id: s.id, appId: s.back }),
        )) as Application[];
        assert.deepEqual(
          asking.map(({ id }) => id),
          [s.front],
        );
      },
      'untie them': async () => {
        await api(application.removeDependency({ id: s.id, appId: s.front, dependencyId: s.back }));
        assert.deepEqual(await needs(api, { id: s.id, appId: s.front }), []);
      },
    }),
    'an application of one’s own': (api, s) => ({
      create: async () => {
        s.appId = await launch(api, 'blog');
      },
      read: async () => {
        const { id, name, zone } = await look(api, { appId: s.appId });
        assert.deepEqual([id, name, zone], [s.appId, 'blog', 'par']);
      },
      'it is listed': async () => once(await applications(api), [s.appId], 'applications'),
      'a variable': async () => {
        await assign(api, { appId: s.appId }, 'THEME', 'dark');
        assert.equal((await variables(api, { appId: s.appId })).THEME, 'dark');
      },
      delete: async () => api(application.remove({ appId: s.appId })),
      'it is gone': async () => {
        await refused(look(api, { appId: s.appId }), 404);
        assert.ok(!(await applications(api)).includes(s.appId));
      },
    }),
    'keys of one’s own': (api) => ({
      add: async () => {
        const text = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHVuZGVyIHRoZSBib2FyZHdhbGssIGRvd24gYnkg me@example.com';
        await api(user.todo_addSshKey({ key: 'laptop' }, JSON.stringify(text)));
      },
      'it is listed': async () => {
        const keys = (await api(user.todo_getSshKeys())) as Key[];
        once(
          keys.map(({ name }) => name),
          ['laptop'],
          'keys',
        );
        assert.equal(typeof keys.find(({ name }) => name === 'laptop')?.fingerprint, 'string');
      },
      remove: async () => api(user.todo_removeSshKey({ key: 'laptop' })),
      'it is gone': async () => {
        const keys = (await api(user.todo_getSshKeys())) as Key[];
        assert.ok(!keys.some(({ name }) => name === 'laptop'));
      },
    }),
    'an add-on to sell': (api, s) => ({
      'make an organisation': async () => {
        s.id = await make(api);
      },
      create: async () => {
        await api(provider.create({ id: s.id }, offer('mail-example', 'Mail')));
        once(await providers(api, s.id), ['mail-example'], 'providers');
      },
      read: async () => {
        const { id, name } = (await api(provider.get({ id: s.id, providerId: 'mail-example' }))) as Named;
        assert.deepEqual([id, name], ['mail-example', 'Mail']);
      },
      'a plan': async () => {
        const at = { id: s.id, providerId: 'mail-example' };
        const made = (await api(provider.addPlan(at, tariff('Small', 10)))) as Plan;
        s.plan = given(made.id, 'id');
        assert.deepEqual([made.name, made.slug, made.price], ['Small', 'small', 10]);
      },
      'the plan is listed': async () => {
        const plans = (await api(provider.getAllPlans({ id: s.id, providerId: 'mail-example' }))) as Plan[];
        once(
          plans.map(({ id }) => id),
          [s.plan],
          'plans',
        );
      },
      delete: async () => {
        await api(provider.removePlan({ id: s.id, providerId: 'mail-example', planId: s.plan }));
        await api(provider.remove({ id: s.id, providerId: 'mail-example' }));
        assert.ok(!(await providers(api, s.id)).includes('mail-example'));
      },
    }),
    'a token that is refused': (api, s, another) => ({
      'the right token': async () => {
        s.id = await make(api);
      },
      'a wrong one reads nothing': async () => refused(read(another('wrong'), s.id), 401),
      'nor lists anything': async () => refused(organisations(another('wrong')), 401),
      'nor deletes anything': async () => refused(another('wrong')(organisation.remove({ id: s.id })), 401),
      'all is as it was': async () => assert.equal((await read(api, s.id)).name, found.name),
    }),
  },
};
