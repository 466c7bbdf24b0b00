import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Call<Args extends readonly unknown[]> = (...args: Args) => Promise<unknown>;

/** The part of the client that is used here: it has no types of its own. */
interface VictorOps {
  readonly users: {
    readonly getUsers: Call<[]>;
    readonly addUser: Call<[object]>;
    readonly getUser: Call<[string]>;
    readonly updateUser: Call<[string, object]>;
    readonly deleteUser: Call<[string, object]>;
    readonly getTeams: Call<[string]>;
  };
  readonly teams: {
    readonly getTeams: Call<[]>;
    readonly addTeam: Call<[object]>;
    readonly getTeam: Call<[string]>;
    readonly updateTeam: Call<[string, object]>;
    readonly removeTeam: Call<[string]>;
    readonly getMembers: Call<[string]>;
    readonly addMember: Call<[string, object]>;
    readonly removeMember: Call<[string, string, object]>;
    readonly getAdmins: Call<[string]>;
  };
  readonly contactMethods: {
    readonly getContactMethods: Call<[string]>;
    readonly getContactEmails: Call<[string]>;
    readonly createContactEmail: Call<[string, object]>;
    readonly getContactEmail: Call<[string, string]>;
    readonly deleteContactEmail: Call<[string, string]>;
    readonly createContactPhone: Call<[string, object]>;
    readonly getContactPhones: Call<[string]>;
    readonly deleteContactPhone: Call<[string, string]>;
  };
  readonly incidents: {
    readonly getIncidents: Call<[]>;
    readonly createIncident: Call<[object]>;
    readonly ackIncidents: Call<[object]>;
    readonly resolveIncidents: Call<[object]>;
    readonly rerouteIncidents: Call<[object]>;
  };
  readonly reporting: { readonly getIncidentHistory: Call<[object]> };
  readonly scheduledOverrides: {
    readonly getOverrides: Call<[]>;
    readonly createOverride: Call<[object]>;
    readonly getOverride: Call<[string]>;
    readonly getAssignments: Call<[string]>;
    readonly deleteOverride: Call<[string]>;
  };
  readonly personalPagingPolicies: {
    readonly getPagingPolicy: Call<[string]>;
    readonly createPolicyStep: Call<[string, object]>;
    readonly getPolicyStep: Call<[string, number]>;
    readonly updatePolicyStep: Call<[string, number, object]>;
    readonly createPolicyStepRule: Call<[string, number, object]>;
    readonly getPolicyStepRule: Call<[string, number, number]>;
    readonly updatePolicyStepRule: Call<[string, number, number, object]>;
    readonly deletePolicyStepRule: Call<[string, number, number]>;
  };
  readonly pagingPolicyValues: {
    readonly getNotificationTypes: Call<[]>;
    readonly getContactTypes: Call<[]>;
    readonly getTimeoutValues: Call<[]>;
  };
  readonly maintenanceMode: {
    readonly getModeState: Call<[]>;
    readonly startMode: Call<[object]>;
    readonly endMode: Call<[string]>;
  };
  readonly escalationPolicies: { readonly getPolicies: Call<[]> };
  readonly routingKeys: { readonly getRoutingKeys: Call<[]> };
  readonly oncall: { readonly getOncallUsers: Call<[]>; readonly getUserSchedule: Call<[string, object]> };
}
const Client = createRequire(import.meta.url)('victorops-api-client') as new (options: object) => VictorOps;

const connect = (place: Place, apiKey: string): VictorOps =>
  new Client({
    apiId: place.printed.find(({ name }) => name === 'x-vo-api-id')?.value ?? 'f53a8c10',
    apiKey,
    baseUrl: place.url,
    maxContentLength: 10_000_000,
  });

const row = async (answer: Promise<unknown>): Promise<Row> => {
  const one = await answer;
  assert.ok(typeof one === 'object' && one !== null && !Array.isArray(one), 'the answer is not an object');
  return one as Row;
};
const listed = (one: unknown, what: string): Row[] => {
  assert.ok(Array.isArray(one), `${what} is not a list`);
  return one as Row[];
};
const text = (one: Row, name: string): string => String(given(one[name], name));

const person = (username: string, more: object = {}): object => ({
  firstName: 'Petra',
  lastName: 'Doe',
  username,
  email: `${username}@example.com`,
  admin: false,
  ...more,
});
const join = (api: VictorOps, username: string): Promise<Row> => row(api.users.addUser(person(username)));
const team = async (api: VictorOps, name: string): Promise<string> => text(await row(api.teams.addTeam({ name })), 'slug');
const members = async (api: VictorOps, slug: string): Promise<string[]> =>
  listed((await row(api.teams.getMembers(slug))).members, 'members').map((one) => text(one, 'username'));

const incident = async (api: VictorOps, userName: string, summary: string): Promise<string> => {
  const targets = [{ type: 'User', slug: userName }];
  return text(await row(api.incidents.createIncident({ summary, details: 'Since today', userName, targets })), 'incidentNumber');
};
const known = async (api: VictorOps, number: string): Promise<Row> => {
  const all = listed((await row(api.incidents.getIncidents())).incidents, 'incidents');
  return given(
    all.find((one) => String(one.incidentNumber) === number),
    `incident ${number}`,
  );
};
/** One result for the one incident that was asked about. */
const accepted = (answer: Row, number: string): void => {
  const results = listed(answer.results, 'results');
  assert.deepEqual(
    results.map(({ incidentNumber, cmdAccepted }) => [String(incidentNumber), cmdAccepted]),
    [[number, true]],
  );
};
const modes = (state: Row): string[] => listed(state.activeInstances, 'activeInstances').map((one) => text(one, 'instanceId'));
const step = (answer: Row): Row => given(answer.step as Row | undefined, 'step');
const rule = (answer: Row): Row => given(answer.stepRule as Row | undefined, 'stepRule');
const index = (one: Row): number => Number(given(one.index, 'index'));
/** A step of a policy of its own. */
const began = async (api: VictorOps, s: State, username: string): Promise<void> => {
  await join(api, username);
  s.user = username;
  const made = step(await row(api.personalPagingPolicies.createPolicyStep(username, { timeout: 5, rules: [{ type: 'push' }] })));
  s.step = String(index(made));
};

/** Guide: portal.victorops.com/public/api-docs.html, its introduction ("Authentication", "Rate limiting") and each call. */
export const vendor: Vendor<VictorOps> = {
  document: 'victorops/victorops.com.json',
  header: 'X-VO-Api-Key',
  also: ['x-vo-api-id'],
  made: '8f2c7c3e1d5b4a6f9e0d1c2b3a4f5e6d',
  client: connect,
  flows: {
    'a user from their joining to their end': (api) => ({
      join: async () => {
        const made = await join(api, 'petra');
        assert.deepEqual(
          [made.username, made.firstName, made.lastName, made.email],
          ['petra', 'Petra', 'Doe', 'petra@example.com'],
        );
      },
      read: async () => {
        const read = await row(api.users.getUser('petra'));
        assert.deepEqual([read.username, read.email], ['petra', 'petra@example.com']);
      },
      change: async () => {
        const changed = await row(api.users.updateUser('petra', person('petra', { lastName: 'Dove' })));
        assert.deepEqual([changed.username, changed.lastName], ['petra', 'Dove']);
      },
      'they stay changed': async () => {
        const read = await row(api.users.getUser('petra'));
        assert.deepEqual([read.firstName, read.lastName], ['Petra', 'Dove']);
      },
      'they leave': async () => api.users.deleteUser('petra', {}),
      'they are gone': async () => refused(api.users.getUser('petra'), 404),
    }),
    'all users': (api) => {
      const names = async (): Promise<string[]> =>
        listed((await row(api.users.getUsers())).users, 'users').map((one) => text(one, 'username'));
      return {
        'three join': async () => {
          for (const name of ['anna', 'bert', 'carl']) assert.equal((await join(api, name)).username, name);
        },
        'they are listed': async () => once(await names(), ['anna', 'bert', 'carl'], 'users'),
        'one leaves': async () => {
          await api.users.deleteUser('bert', { replacement: 'anna' });
          const left = await names();
          assert.deepEqual([left.includes('anna'), left.includes('bert'), left.includes('carl')], [true, false, true]);
        },
      };
    },
    'a team from its making to its end': (api, s) => ({
      create: async () => {
        const made = await row(api.teams.addTeam({ name: 'Gardeners' }));
        s.id = text(made, 'slug');
        assert.equal(made.name, 'Gardeners');
      },
      read: async () => {
        const read = await row(api.teams.getTeam(s.id));
        assert.deepEqual([read.slug, read.name], [s.id, 'Gardeners']);
      },
      rename: async () => {
        const changed = await row(api.teams.updateTeam(s.id, { name: 'Planters' }));
        assert.deepEqual([changed.slug, changed.name], [s.id, 'Planters']);
      },
      'it is listed renamed': async () => {
        const all = listed(await api.teams.getTeams(), 'the answer');
        const found = all.filter(({ slug }) => slug === s.id).map(({ name }) => name);
        assert.deepEqual(found, ['Planters']);
      },
      delete: async () => api.teams.removeTeam(s.id),
      'it is gone': async () => refused(api.teams.getTeam(s.id), 404),
    }),
    'who is in a team': (api, s) => ({
      'a team and two users': async () => {
        s.id = await team(api, 'Watch');
        await join(api, 'dora');
        await join(api, 'emil');
      },
      'they come in': async () => {
        await api.teams.addMember(s.id, { username: 'dora' });
        await api.teams.addMember(s.id, { username: 'emil' });
      },
      'they are in it': async () => assert.deepEqual((await members(api, s.id)).sort(), ['dora', 'emil']),
      'the user knows it': async () => {
        const all = listed((await row(api.users.getTeams('dora'))).teams, 'teams');
        assert.deepEqual(
          all.map(({ slug }) => slug),
          [s.id],
        );
      },
      'one goes': async () => {
        await api.teams.removeMember(s.id, 'emil', { replacement: 'dora' });
        assert.deepEqual(await members(api, s.id), ['dora']);
      },
      'who may change it': async () => {
        for (const one of listed((await row(api.teams.getAdmins(s.id))).teamAdmins, 'teamAdmins'))
          assert.match(text(one, 'username'), /./);
      },
    }),
    'a mail address of a user': (api, s) => ({
      add: async () => {
        await join(api, 'fred');
        const made = await row(api.contactMethods.createContactEmail('fred', { email: 'fred@home.example.com', label: 'Home' }));
        s.id = text(made, 'extId');
        assert.equal(made.label, 'Home');
      },
      'it is listed': async () => {
        // The description says of this answer that it is a list, the guide's example that it is within `contactMethods`.
        const answer = await api.contactMethods.getContactEmails('fred');
        const all = listed(Array.isArray(answer) ? answer : (answer as Row).contactMethods, 'the answer');
        assert.ok(
          all.some(({ extId, label }) => extId === s.id && label === 'Home'),
          'the new address is not listed',
        );
      },
      'it is among all ways': async () => {
        const all = await row(api.contactMethods.getContactMethods('fred'));
        assert.deepEqual(
          ['devices', 'emails', 'phones'].filter((name) => !(name in all)),
          [],
        );
      },
      delete: async () => api.contactMethods.deleteContactEmail('fred', s.id),
      'it is gone': async () => refused(api.contactMethods.getContactEmail('fred', s.id), 404),
    }),
    'a phone of a user': (api, s) => ({
      add: async () => {
        await join(api, 'gina');
        const made = await row(
          api.contactMethods.createContactPhone('gina', { phone: '+1 303-555-0123', label: 'Mobile', rank: 500 }),
        );
        s.id = text(made, 'extId');
        assert.equal(made.label, 'Mobile');
      },
      'it is listed': async () => {
        const answer = await api.contactMethods.getContactPhones('gina');
        const all = listed(Array.isArray(answer) ? answer : (answer as Row).contactMethods, 'the answer');
        assert.ok(
          all.some(({ extId }) => extId === s.id),
          'the new phone is not listed',
        );
      },
      delete: async () => {
        await api.contactMethods.deleteContactPhone('gina', s.id);
        const answer = await api.contactMethods.getContactPhones('gina');
        const all = listed(Array.isArray(answer) ? answer : (answer as Row).contactMethods, 'the answer');
        assert.ok(!all.some(({ extId }) => extId === s.id), 'the deleted phone is still listed');
      },
    }),
    'an incident from its report to its end': (api, s) => ({
      report: async () => {
        await join(api, 'hugo');
        s.id = await incident(api, 'hugo', 'It is burning');
      },
      'it is known': async () => assert.equal(String((await known(api, s.id)).incidentNumber), s.id),
      acknowledge: async () =>
        accepted(await row(api.incidents.ackIncidents({ userName: 'hugo', incidentNames: [s.id], message: 'I see it' })), s.id),
      'it is acknowledged': async () => assert.equal((await known(api, s.id)).currentPhase, 'ACKED'),
      resolve: async () =>
        accepted(
          await row(api.incidents.resolveIncidents({ userName: 'hugo', incidentNames: [s.id], message: 'It is out' })),
          s.id,
        ),
      'it is resolved': async () => assert.equal((await known(api, s.id)).currentPhase, 'RESOLVED'),
    }),
    'an incident goes to someone else': (api, s) => ({
      report: async () => {
        await join(api, 'ida');
        await join(api, 'jan');
        s.id = await incident(api, 'ida', 'It is wet');
      },
      reroute: async () => {
        const reroutes = [{ incidentNumber: s.id, targets: [{ type: 'User', slug: 'jan' }] }];
        const statuses = listed((await row(api.incidents.rerouteIncidents({ userName: 'ida', reroutes }))).statuses, 'statuses');
        assert.deepEqual(
          statuses.map(({ incidentNumber, success }) => [String(incidentNumber), success]),
          [[s.id, true]],
        );
      },
    }),
    'incidents are looked for': (api, s) => ({
      'report three': async () => {
        await join(api, 'karl');
        const made = [];
        for (const summary of ['It is slow', 'It is slower', 'It stands']) made.push(await incident(api, 'karl', summary));
        once(made, made, 'incident numbers');
        s.id = given(made[1], 'incident number');
      },
      'by its number': async () => {
        const all = listed((await row(api.reporting.getIncidentHistory({ incidentNumber: s.id }))).incidents, 'incidents');
        for (const one of all) assert.equal(String(one.incidentNumber), s.id);
      },
      'two at a time': async () => {
        const first = listed((await row(api.reporting.getIncidentHistory({ offset: 0, limit: 2 }))).incidents, 'incidents');
        const second = listed((await row(api.reporting.getIncidentHistory({ offset: 2, limit: 2 }))).incidents, 'incidents');
        assert.ok(first.length <= 2 && second.length <= 2, `${first.length} and ${second.length} incidents, two asked for`);
        const seen = [...first, ...second].map((one) => text(one, 'incidentNumber'));
        once(seen, seen, 'incidents');
      },
    }),
    'someone stands in': (api, s) => ({
      plan: async () => {
        await join(api, 'lena');
        const wanted = {
          username: 'lena',
          timezone: 'America/Denver',
          start: '2030-07-06T05:00:00Z',
          end: '2030-07-07T05:00:00Z',
        };
        const made = given((await row(api.scheduledOverrides.createOverride(wanted))).schedule as Row | undefined, 'schedule');
        s.id = text(made, 'publicId');
        assert.deepEqual([made.timezone, (made.user as Row | undefined)?.username], ['America/Denver', 'lena']);
      },
      read: async () => {
        const read = given((await row(api.scheduledOverrides.getOverride(s.id))).override as Row | undefined, 'override');
        assert.deepEqual([read.publicId, (read.user as Row | undefined)?.username], [s.id, 'lena']);
      },
      'it is listed': async () => {
        const all = listed((await row(api.scheduledOverrides.getOverrides())).overrides, 'overrides');
        once(
          all.map((one) => text(one, 'publicId')),
          [s.id],
          'overrides',
        );
      },
      'who does what': async () => {
        const answer = await api.scheduledOverrides.getAssignments(s.id);
        listed(Array.isArray(answer) ? answer : (answer as Row).assignments, 'the answer');
      },
      delete: async () => api.scheduledOverrides.deleteOverride(s.id),
      'it is gone': async () => refused(api.scheduledOverrides.getOverride(s.id), 404),
    }),
    'how a user is paged': (api, s) => ({
      'a step': async () => {
        await began(api, s, 'mona');
        const read = step(await row(api.personalPagingPolicies.getPolicyStep('mona', Number(s.step))));
        assert.deepEqual([String(read.index), read.timeout], [s.step, 5]);
      },
      'it waits longer': async () => {
        const wanted = { timeout: 15, rules: [{ type: 'push' }] };
        const changed = step(await row(api.personalPagingPolicies.updatePolicyStep('mona', Number(s.step), wanted)));
        assert.equal(changed.timeout, 15);
      },
      'it stays so': async () =>
        assert.equal(step(await row(api.personalPagingPolicies.getPolicyStep('mona', Number(s.step)))).timeout, 15),
      'it is among all steps': async () => {
        const all = listed((await row(api.personalPagingPolicies.getPagingPolicy('mona'))).steps, 'steps');
        assert.deepEqual(
          all.filter((one) => String(one.index) === s.step).map(({ timeout }) => timeout),
          [15],
        );
      },
    }),
    'a rule of a step': (api, s) => ({
      'a step': async () => began(api, s, 'nora'),
      add: async () => {
        const contact = { id: 1, type: 'phone' };
        const made = rule(
          await row(api.personalPagingPolicies.createPolicyStepRule('nora', Number(s.step), { contact, type: 'sms' })),
        );
        s.rule = String(index(made));
        assert.equal(made.type, 'sms');
      },
      read: async () => {
        const read = rule(await row(api.personalPagingPolicies.getPolicyStepRule('nora', Number(s.step), Number(s.rule))));
        assert.deepEqual([String(read.index), read.type], [s.rule, 'sms']);
      },
      'a call instead': async () => {
        const wanted = { contact: { id: 1, type: 'phone' }, type: 'phone' };
        await api.personalPagingPolicies.updatePolicyStepRule('nora', Number(s.step), Number(s.rule), wanted);
        const read = rule(await row(api.personalPagingPolicies.getPolicyStepRule('nora', Number(s.step), Number(s.rule))));
        assert.equal(read.type, 'phone');
      },
      delete: async () => {
        const gone = rule(await row(api.personalPagingPolicies.deletePolicyStepRule('nora', Number(s.step), Number(s.rule))));
        assert.equal(gone.type, 'phone');
      },
    }),
    'a time of maintenance': (api, s) => ({
      start: async () => {
        const state = await row(
          api.maintenanceMode.startMode({ type: 'RoutingKeys', names: ['database'], purpose: 'A new disk' }),
        );
        s.id = given(modes(state).at(-1), 'instanceId');
      },
      'it is on': async () => assert.ok(modes(await row(api.maintenanceMode.getModeState())).includes(s.id), 'it is not on'),
      end: async () => assert.ok(!modes(await row(api.maintenanceMode.endMode(s.id))).includes(s.id), 'it is still on'),
      'it is off': async () => assert.ok(!modes(await row(api.maintenanceMode.getModeState())).includes(s.id), 'it is still on'),
    }),
    'what can be chosen': (api) => {
      const types = (answer: Row, name: string): unknown[] => listed(answer[name], name).map(({ type }) => type);
      return {
        'ways to be told': async () => {
          const all = types(await row(api.pagingPolicyValues.getNotificationTypes()), 'notificationTypes');
          assert.deepEqual(
            all.filter((one) => !['push', 'email', 'sms', 'phone'].includes(String(one))),
            [],
          );
        },
        'kinds of contacts': async () => {
          const all = types(await row(api.pagingPolicyValues.getContactTypes()), 'contactTypes');
          assert.deepEqual(
            all.filter((one) => !['email', 'phone'].includes(String(one))),
            [],
          );
        },
        'times to wait': async () => {
          const all = types(await row(api.pagingPolicyValues.getTimeoutValues()), 'timeoutTypes');
          assert.deepEqual(
            all.filter((one) => ![1, 5, 10, 15, 20, 25, 30, 45, 60].includes(Number(one))),
            [],
          );
        },
        'escalation policies': async () => {
          for (const one of listed((await row(api.escalationPolicies.getPolicies())).policies, 'policies')) {
            assert.deepEqual([typeof (one.policy as Row).name, typeof (one.policy as Row).slug], ['string', 'string']);
          }
        },
        'routing keys': async () => listed((await row(api.routingKeys.getRoutingKeys())).routingKeys, 'routingKeys'),
        'who is on call': async () => listed((await row(api.oncall.getOncallUsers())).teamsOnCall, 'teamsOnCall'),
      };
    },
    'what is wrong': (api) => ({
      'a user who is not there': async () => refused(api.users.getUser('nobody-of-this-name'), 404),
      'a team that is not there': async () => refused(api.teams.getTeam('team-of-nobody'), 404),
      'a user without a mail address': async () => refused(api.users.addUser(person('otto', { email: undefined })), 400, 422),
      'a team without a name': async () => refused(api.teams.addTeam({ description: 'nothing' }), 400, 422),
      'an incident for nobody': async () =>
        refused(api.incidents.createIncident({ summary: 'It is quiet', details: 'Nothing', userName: 'hugo' }), 400, 422),
      'a name is there once': async () => {
        await join(api, 'paul');
        await refused(join(api, 'paul'), 422);
      },
    }),
    'a key that is refused': (api, _, another) => ({
      'the right one': async () => listed((await row(api.users.getUsers())).users, 'users'),
      'a wrong one': async () => refused(another('nobodyhasthiskey').users.getUsers(), 401, 403),
      'it cannot make anything': async () => refused(join(another('nobodyhasthiskey'), 'quentin'), 401, 403),
    }),
  },
};
