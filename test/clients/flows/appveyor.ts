import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Answer = { readonly body: unknown; readonly text: string };
/** swagger-client's README: the operations of a document, by their tags. */
type Operation = (parameters?: object) => Promise<Answer>;
type Swagger = { readonly apis: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
type Options = { readonly spec: object; readonly authorizations: Readonly<Record<string, string>> };
const require = createRequire(import.meta.url);
const swaggerClient = require('swagger-client-3') as (options: Options) => Promise<Swagger>;
const document = require('appveyor-swagger') as object;

/** A client of appveyor-swagger's document, whose host it takes from there. */
class AppVeyor {
  readonly #swagger: Promise<Swagger>;
  constructor(place: Place, token: string) {
    const { host, pathname } = new URL(place.base);
    const spec = { ...structuredClone(document), schemes: ['http'], host, basePath: pathname };
    this.#swagger = swaggerClient({ spec, authorizations: { apiToken: `Bearer ${token}` } });
  }
  async #call(name: string, parameters: object): Promise<Answer> {
    const [tag = '', operation = ''] = name.split('.');
    return given((await this.#swagger).apis[tag]?.[operation], name)(parameters);
  }
  async ask<T = void>(name: string, parameters: object = {}): Promise<T> {
    return (await this.#call(name, parameters)).body as T;
  }
  async text(name: string, parameters: object): Promise<string> {
    return (await this.#call(name, parameters)).text;
  }
}

interface Project {
  readonly projectId: number;
  readonly accountName: string;
  readonly slug: string;
  readonly repositoryName: string;
  readonly repositoryType: string;
  readonly nextBuildNumber?: number;
  readonly versionFormat?: string;
}
interface Build {
  readonly buildId: number;
  readonly buildNumber: number;
  readonly version: string;
  readonly branch: string;
  readonly status: string;
}
type Built = { readonly project: Project; readonly build: Build };
interface Variable {
  readonly name: string;
  readonly value: { readonly isEncrypted: boolean; readonly value?: string };
}
interface Environment {
  readonly deploymentEnvironmentId: number;
  readonly name: string;
  readonly provider: string;
  readonly settings: { readonly providerSettings: readonly Variable[]; readonly environmentVariables: readonly Variable[] };
}
type Deployment = { readonly deploymentId: number; readonly build?: Build; readonly environment: Environment };
type Role = { readonly roleId: number; readonly name: string; readonly isSystem: boolean };

const all = <Row extends object>(rows: readonly Row[], name: keyof Row): string[] => rows.map((row) => String(row[name]));
const at = (s: State): { accountName: string; projectSlug: string } => ({ accountName: s.account, projectSlug: s.slug });
const added = (av: AppVeyor, repositoryName: string): Promise<Project> =>
  av.ask('Project.addProject', { body: { repositoryProvider: 'gitHub', repositoryName } });
const project = async (av: AppVeyor, s: State): Promise<void> => {
  const made = await added(av, 'FeodorFitsner/demo-app');
  assert.deepEqual([made.repositoryName, made.repositoryType], ['FeodorFitsner/demo-app', 'gitHub']);
  s.id = String(made.projectId);
  s.account = given(made.accountName, 'accountName');
  s.slug = given(made.slug, 'slug');
};
const settings = async (av: AppVeyor, s: State): Promise<Project> =>
  (await av.ask<{ settings: Project }>('Project.getProjectSettings', at(s))).settings;
const build = (av: AppVeyor, s: State, more: object = { branch: 'master' }): Promise<Build> =>
  av.ask('Build.startBuild', { body: { ...at(s), ...more } });
const variable = (name: string, value: string, isEncrypted = false): Variable => ({ name, value: { isEncrypted, value } });
const environment = async (av: AppVeyor, s: State, name: string): Promise<void> => {
  const providerSettings = [variable('server', 'ftp.example.com'), variable('username', 'jo')];
  const body = { name, provider: 'FTP', settings: { providerSettings, environmentVariables: [variable('my-var', '123')] } };
  const made = await av.ask<Environment>('Environment.addEnvironment', { body });
  assert.deepEqual([made.name, made.provider], [name, 'FTP']);
  s.environment = String(made.deploymentEnvironmentId);
};
const which = (s: State): object => ({ deploymentEnvironmentId: Number(s.environment) });
const read = async (av: AppVeyor, s: State): Promise<Environment> =>
  (await av.ask<{ environment: Environment }>('Environment.getEnvironmentSettings', which(s))).environment;

/** Guide: appveyor.com/docs/api: "REST API", "Projects and builds", "Environments and deployments", "Team"; appveyor-swagger's and swagger-client's READMEs. */
export const vendor: Vendor<AppVeyor> = {
  document: 'appveyor/appveyor.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'bqo2u98vmk0na9sdk2l4',
  client: (place, token) => new AppVeyor(place, token),
  strict: ['a token that is refused'],
  flows: {
    'a project, from its making to its end': (av, s) => ({
      'it is added': () => project(av, s),
      'it is listed': async () => {
        const rows = await av.ask<Project[]>('Project.getProjects');
        once(all(rows, 'slug'), [s.slug]);
      },
      'its settings': async () => {
        const told = await settings(av, s);
        assert.deepEqual([told.projectId, told.slug, told.repositoryName], [Number(s.id), s.slug, 'FeodorFitsner/demo-app']);
      },
      'they are changed': async () => {
        const body = { ...(await settings(av, s)), versionFormat: '2.0.{build}' };
        await av.ask('Project.updateProject', { body });
      },
      'they stay so': async () => {
        const told = await settings(av, s);
        assert.deepEqual([told.versionFormat, told.slug], ['2.0.{build}', s.slug]);
      },
      'it is deleted': () => av.ask('Project.deleteProject', at(s)),
      'it is gone': () => refused(av.ask('Project.getProjectSettings', at(s)), 404),
    }),
    'two projects, one of which goes': (av, s) => ({
      'both are added': async () => {
        await project(av, s);
        s.other = (await added(av, 'FeodorFitsner/other-app')).slug;
      },
      'both are listed': async () => once(all(await av.ask<Project[]>('Project.getProjects'), 'slug'), [s.slug, s.other]),
      'one is deleted': () => av.ask('Project.deleteProject', at(s)),
      'it is listed no more': async () =>
        assert.ok(!all(await av.ask<Project[]>('Project.getProjects'), 'slug').includes(s.slug)),
      'the other stays': async () => once(all(await av.ask<Project[]>('Project.getProjects'), 'slug'), [s.other]),
    }),
    'the number of the next build': (av, s) => ({
      'a project': () => project(av, s),
      'a number': () => av.ask('Project.updateProjectBuildNumber', { ...at(s), body: { nextBuildNumber: 40 } }),
      'it is in the settings': async () => assert.equal((await settings(av, s)).nextBuildNumber, 40),
      'a build has it': async () => assert.equal((await build(av, s)).buildNumber, 40),
      'the next one is one more': async () => assert.equal((await settings(av, s)).nextBuildNumber, 41),
    }),
    "a project's variables": (av, s) => ({
      'a project': () => project(av, s),
      'it has none': async () => assert.deepEqual(await av.ask('Project.getProjectEnvironmentVariables', at(s)), []),
      'a secret is encrypted': async () => {
        s.secret = await av.text('Project.encryptValue', { body: { plainValue: 'my-secret' } });
        assert.ok(s.secret.length > 0 && s.secret !== 'my-secret', s.secret);
      },
      'it gets two': () => {
        const body = [variable('api_key', s.secret, true), variable('var1', 'current-value')];
        return av.ask('Project.updateProjectEnvironmentVariables', { ...at(s), body });
      },
      'they are there': async () => {
        const rows = await av.ask<Variable[]>('Project.getProjectEnvironmentVariables', at(s));
        assert.deepEqual(all(rows, 'name'), ['api_key', 'var1']);
        assert.deepEqual([rows[0]?.value.isEncrypted, rows[1]?.value], [true, variable('var1', 'current-value').value]);
      },
      'others take their place': async () => {
        await av.ask('Project.updateProjectEnvironmentVariables', { ...at(s), body: [variable('var2', 'new')] });
        const rows = await av.ask<Variable[]>('Project.getProjectEnvironmentVariables', at(s));
        assert.deepEqual(rows, [variable('var2', 'new')]);
      },
    }),
    'settings as YAML': (av, s) => ({
      'a project': () => project(av, s),
      'they are text': async () => assert.equal(typeof (await av.text('Project.getProjectSettingsYaml', at(s))), 'string'),
      'others are put': () => av.ask('Project.updateProjectSettingsYaml', { ...at(s), body: 'version: 3.0.{build}\n' }),
      'they are there': async () =>
        assert.match(await av.text('Project.getProjectSettingsYaml', at(s)), /^version: 3\.0\.\{build\}$/m),
      'a project that is none has none': () =>
        refused(av.ask('Project.getProjectSettingsYaml', { ...at(s), projectSlug: 'no-such-project' }), 404),
    }),
    'a build is started and cancelled': (av, s) => ({
      'a project': () => project(av, s),
      start: async () => {
        const made = await build(av, s);
        assert.deepEqual([made.branch, made.status], ['master', 'queued']);
        s.build = String(made.buildId);
        s.version = made.version;
      },
      'it is the last': async () => {
        const last = await av.ask<Built>('Project.getProjectLastBuild', at(s));
        assert.deepEqual([last.build.buildId, last.build.version, last.project.slug], [Number(s.build), s.version, s.slug]);
      },
      cancel: () => av.ask('Build.cancelBuild', { ...at(s), buildVersion: s.version }),
      'it is cancelled, or about to be': async () =>
        assert.match((await av.ask<Built>('Project.getProjectLastBuild', at(s))).build.status, /^cancell(ed|ing)$/),
      'again, as another build': async () =>
        assert.notEqual((await av.ask<Build>('Build.reRunBuild', { body: { buildId: Number(s.build) } })).version, s.version),
    }),
    'the history of builds, page after page': (av, s) => ({
      'five builds of two branches': async () => {
        await project(av, s);
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) {
          made.push(String((await build(av, s, { branch: n > 3 ? 'develop' : 'master' })).buildId));
        }
        s.made = made.join();
      },
      'all, from the last build of a page': async () => {
        const rows = await pages(
          (startBuildId) =>
            av.ask<{ builds: Build[] }>('Project.getProjectHistory', { ...at(s), recordsNumber: 2, startBuildId }),
          ({ builds }) => builds,
          ({ builds }) => builds.at(-1)?.buildId.toString(),
        );
        once(all(rows, 'buildId'), s.made.split(','), 'pages');
      },
      'those of a branch': async () => {
        const asked = { ...at(s), recordsNumber: 10, branch: 'develop' };
        const { builds } = await av.ask<{ builds: Build[] }>('Project.getProjectHistory', asked);
        assert.deepEqual(all(builds, 'branch'), ['develop', 'develop']);
      },
      'the last of a branch': async () => {
        const { build: last } = await av.ask<Built>('Project.getProjectLastBuildBranch', { ...at(s), buildBranch: 'master' });
        assert.equal(String(last.buildId), s.made.split(',')[2]);
      },
    }),
    'an environment, from its making to its end': (av, s) => ({
      'it is added': () => environment(av, s, 'production'),
      'it is listed': async () => {
        const rows = await av.ask<Environment[]>('Environment.getEnvironments');
        once(all(rows, 'deploymentEnvironmentId'), [s.environment]);
      },
      'its settings': async () => {
        const { name, provider, settings: told } = await read(av, s);
        assert.deepEqual([name, provider, told.environmentVariables], ['production', 'FTP', [variable('my-var', '123')]]);
      },
      'it is called something else': async () => {
        const body = { ...(await read(av, s)), name: 'staging' };
        assert.equal((await av.ask<Environment>('Environment.updateEnvironment', { body })).name, 'staging');
      },
      'it keeps the rest': async () => {
        const { name, settings: told } = await read(av, s);
        assert.deepEqual([name, all(told.providerSettings, 'name')], ['staging', ['server', 'username']]);
      },
      'it is deleted': () => av.ask('Environment.deleteEnvironment', which(s)),
      'it is gone': () => refused(read(av, s), 404),
    }),
    'a deployment': (av, s) => ({
      'a build and an environment': async () => {
        await project(av, s);
        s.version = (await build(av, s)).version;
        await environment(av, s, 'production');
      },
      start: async () => {
        const body = { ...at(s), environmentName: 'production', buildVersion: s.version };
        const made = await av.ask<Deployment>('Deployment.startDeployment', { body });
        assert.equal(made.environment.name, 'production');
        s.deployment = String(made.deploymentId);
      },
      read: async () => {
        const asked = { deploymentId: Number(s.deployment) };
        const told = await av.ask<{ project: Project; deployment: Deployment }>('Deployment.getDeployment', asked);
        assert.deepEqual([told.project.slug, told.deployment.build?.version], [s.slug, s.version]);
      },
      "it is one of the project's": async () => {
        const asked = { ...at(s), recordsNumber: 10 };
        const { deployments } = await av.ask<{ deployments: Deployment[] }>('Project.getProjectDeployments', asked);
        once(all(deployments, 'deploymentId'), [s.deployment]);
      },
      'and of the environment': async () => {
        const told = await av.ask<{ deployments: Deployment[] }>('Environment.getEnvironmentDeployments', which(s));
        once(all(told.deployments, 'deploymentId'), [s.deployment]);
      },
    }),
    'a role, from its making to its end': (av, s) => ({
      'it is added': async () => {
        const made = await av.ask<Role>('Role.addRole', { body: { name: 'My Role' } });
        assert.deepEqual([made.name, made.isSystem], ['My Role', false]);
        s.role = String(made.roleId);
      },
      'it is listed': async () => once(all(await av.ask<Role[]>('Role.getRoles'), 'roleId'), [s.role]),
      'it is called something else': async () => {
        const body = { ...(await av.ask<Role>('Role.getRole', { roleId: Number(s.role) })), name: 'Their Role' };
        assert.equal((await av.ask<Role>('Role.updateRole', { body })).name, 'Their Role');
      },
      'it stays so': async () => {
        const { roleId, name } = await av.ask<Role>('Role.getRole', { roleId: Number(s.role) });
        assert.deepEqual([String(roleId), name], [s.role, 'Their Role']);
      },
      'it is deleted': () => av.ask('Role.deleteRole', { roleId: Number(s.role) }),
      'it is gone': () => refused(av.ask('Role.getRole', { roleId: Number(s.role) }), 404),
    }),
    'what is refused': (av, s) => ({
      'a project': () => project(av, s),
      'one of no repository': () => refused(av.ask('Project.addProject', { body: { repositoryProvider: 'gitHub' } }), 400),
      'a build of no project': () => refused(build(av, { account: s.account, slug: 'no-such-project' }), 404),
      'a role without a name': () => refused(av.ask('Role.addRole', { body: {} }), 400),
      'an unknown deployment': () => refused(av.ask('Deployment.getDeployment', { deploymentId: 999999999 }), 404),
    }),
    'a token that is refused': (av, _s, another) => ({
      'the right one': async () => assert.ok(Array.isArray(await av.ask('Project.getProjects'))),
      'a wrong one sees no projects': () => refused(another('wrong').ask('Project.getProjects'), 401),
      'nor does it add any': () => refused(added(another('wrong'), 'FeodorFitsner/demo-app'), 401),
    }),
  },
};
