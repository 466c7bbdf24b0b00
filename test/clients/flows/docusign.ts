import assert from 'node:assert/strict';
import docusign from 'docusign-esign';
import { given, once, pages, refused, type Vendor } from '../kit.ts';

const account = '624e3e00-2b9e-4a6e-8f5a-0a5a3b3ec1f1';
const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');

interface Client {
  readonly accounts: docusign.AccountsApi;
  readonly connect: docusign.ConnectApi;
  readonly envelopes: docusign.EnvelopesApi;
  readonly powerForms: docusign.PowerFormsApi;
  readonly tabs: docusign.CustomTabsApi;
  readonly templates: docusign.TemplatesApi;
  readonly workspaces: docusign.WorkspacesApi;
}

const draft = (emailSubject: string): docusign.EnvelopeDefinition => ({
  emailSubject,
  status: 'created',
  documents: [{ documentId: '1', name: 'Lease.pdf', fileExtension: 'pdf', documentBase64: pdf }],
  recipients: { signers: [{ recipientId: '1', routingOrder: '1', name: 'Ann Ames', email: 'ann@example.com' }] },
});

const idOf = (made: { envelopeId?: string }): string => given(made.envelopeId, 'envelopeId');

// https://developers.docusign.com/docs/esign-rest-api/
export const vendor: Vendor<Client> = {
  document: 'docusign/docusign.net.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJNVCJ9.made.up',
  client: (place, token) => {
    const client = new docusign.ApiClient({ basePath: place.base, oAuthBasePath: 'account-d.docusign.com' });
    client.addDefaultHeader('Authorization', `Bearer ${token}`);
    return {
      accounts: new docusign.AccountsApi(client),
      connect: new docusign.ConnectApi(client),
      envelopes: new docusign.EnvelopesApi(client),
      powerForms: new docusign.PowerFormsApi(client),
      tabs: new docusign.CustomTabsApi(client),
      templates: new docusign.TemplatesApi(client),
      workspaces: new docusign.WorkspacesApi(client),
    };
  },
  strict: ['a wrong token is refused'],
  flows: {
    'an envelope drafted and read': ({ envelopes }, s) => ({
      drafted: async () => {
        const made = await envelopes.createEnvelope(account, { envelopeDefinition: draft('Please sign the lease') });
        assert.equal(made.status, 'created');
        s.id = idOf(made);
      },
      'read as it was drafted': async () => {
        const read = await envelopes.getEnvelope(account, s.id);
        assert.equal(read.envelopeId, s.id);
        assert.equal(read.emailSubject, 'Please sign the lease');
        assert.equal(read.status, 'created');
      },
      'its subject changed': () => envelopes.update(account, s.id, { envelope: { emailSubject: 'Please sign the new lease' } }),
      'read with it': async () => {
        assert.equal((await envelopes.getEnvelope(account, s.id)).emailSubject, 'Please sign the new lease');
      },
    }),

    'an envelope sent, then voided': ({ envelopes }, s) => ({
      drafted: async () => {
        s.id = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft('A contract') }));
      },
      sent: () => envelopes.update(account, s.id, { envelope: { status: 'sent' } }),
      'is sent': async () => assert.equal((await envelopes.getEnvelope(account, s.id)).status, 'sent'),
      voided: () => envelopes.update(account, s.id, { envelope: { status: 'voided', voidedReason: 'A mistake in it' } }),
      'is voided, and says why': async () => {
        const read = await envelopes.getEnvelope(account, s.id);
        assert.equal(read.status, 'voided');
        assert.equal(read.voidedReason, 'A mistake in it');
      },
    }),

    'envelopes through all pages': ({ envelopes }, s) => ({
      'five are drafted': async () => {
        const made: string[] = [];
        for (const n of [1, 2, 3, 4, 5])
          made.push(idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft(`Number ${n}`) })));
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () => {
        const page = await envelopes.listStatusChanges(account, { fromDate: '2020-01-01', count: '2' });
        assert.equal(given(page.envelopes, 'envelopes').length, 2);
        assert.equal(page.resultSetSize, '2');
      },
      'all pages together hold each once': async () => {
        const all = await pages(
          (startPosition) =>
            envelopes.listStatusChanges(account, {
              fromDate: '2020-01-01',
              count: '2',
              ...(startPosition === undefined ? {} : { startPosition }),
            }),
          (page) => page.envelopes ?? [],
          (page) => {
            const end = Number(given(page.endPosition, 'endPosition')) + 1;
            return end >= Number(given(page.totalSetSize, 'totalSetSize')) || !page.envelopes?.length ? undefined : String(end);
          },
        );
        once(
          all.map(({ envelopeId }) => String(envelopeId)),
          s.ids.split(','),
          'envelopes',
        );
      },
    }),

    'envelopes of one state': ({ envelopes }, s) => ({
      'one drafted, one sent': async () => {
        s.draft = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft('Not yet') }));
        s.sent = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: { ...draft('Now'), status: 'sent' } }));
      },
      'those sent': async () => {
        const page = await envelopes.listStatusChanges(account, { fromDate: '2020-01-01', status: 'sent' });
        const found = (page.envelopes ?? []).map(({ envelopeId }) => envelopeId);
        assert.ok(found.includes(s.sent));
        assert.ok(!found.includes(s.draft));
      },
    }),

    'recipients of an envelope': ({ envelopes }, s) => ({
      'an envelope with one': async () => {
        s.id = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft('For two') }));
      },
      'is there': async () => {
        const { signers } = await envelopes.listRecipients(account, s.id);
        assert.deepEqual(
          signers?.map(({ email }) => email),
          ['ann@example.com'],
        );
      },
      'a second is added': async () => {
        await envelopes.createRecipient(account, s.id, {
          recipients: { signers: [{ recipientId: '2', routingOrder: '2', name: 'Bob Bell', email: 'bob@example.com' }] },
        });
      },
      'both are there': async () => {
        const { signers } = await envelopes.listRecipients(account, s.id);
        once(
          (signers ?? []).map(({ email }) => String(email)),
          ['ann@example.com', 'bob@example.com'],
          'signers',
        );
      },
      'the first is taken out': () => envelopes.deleteRecipient(account, s.id, '1'),
      'the second is left': async () => {
        const { signers } = await envelopes.listRecipients(account, s.id);
        assert.deepEqual(
          signers?.map(({ email }) => email),
          ['bob@example.com'],
        );
      },
    }),

    'documents and fields of an envelope': ({ envelopes }, s) => ({
      'an envelope with one': async () => {
        s.id = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft('With a document') }));
      },
      'is listed': async () => {
        const { envelopeDocuments } = await envelopes.listDocuments(account, s.id);
        assert.ok((envelopeDocuments ?? []).some(({ name }) => name === 'Lease.pdf'));
      },
      'a field of its own': async () => {
        const made = await envelopes.createCustomFields(account, s.id, {
          customFields: { textCustomFields: [{ name: 'Region', value: 'North', show: 'true' }] },
        });
        assert.equal(made.textCustomFields?.[0]?.name, 'Region');
      },
      'is kept': async () => {
        const { textCustomFields } = await envelopes.listCustomFields(account, s.id);
        assert.equal(textCustomFields?.find(({ name }) => name === 'Region')?.value, 'North');
      },
    }),

    'an envelope locked for its editor': ({ envelopes }, s) => ({
      'an envelope': async () => {
        s.id = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft('Being edited') }));
      },
      'is locked': async () => {
        const lock = await envelopes.createLock(account, s.id, {
          lockRequest: { lockDurationInSeconds: '300', lockedByApp: 'Editor', lockType: 'edit' },
        });
        given(lock.lockToken, 'lockToken');
        assert.equal(lock.lockedByApp, 'Editor');
      },
      'the lock is shown': async () => {
        assert.equal((await envelopes.getLock(account, s.id)).lockedByApp, 'Editor');
      },
    }),

    'a page for the sender': ({ envelopes }, s) => ({
      'an envelope': async () => {
        s.id = idOf(await envelopes.createEnvelope(account, { envelopeDefinition: draft('To be sent by hand') }));
      },
      'has an address': async () => {
        const view = await envelopes.createSenderView(account, s.id, {
          returnUrlRequest: { returnUrl: 'https://example.com/back' },
        } as never);
        assert.equal(typeof view.url, 'string');
      },
    }),

    'a template made, found, changed': ({ templates }, s) => ({
      made: async () => {
        const made = await templates.createTemplate(account, {
          envelopeTemplate: { name: 'House lease', emailSubject: 'Your lease', shared: 'false' } as never,
        });
        s.id = given(made.templateId, 'templateId');
      },
      'read as it was made': async () => {
        const read = await templates.get(account, s.id);
        assert.equal(read.templateId, s.id);
        assert.equal(read.name, 'House lease');
      },
      'in the list': async () => {
        const { envelopeTemplates } = await templates.listTemplates(account, { count: '100' } as never);
        once(
          (envelopeTemplates ?? []).map(({ templateId }) => String(templateId)),
          [s.id],
          'templates',
        );
      },
      'its name changed': () => templates.update(account, s.id, { envelopeTemplate: { name: 'Flat lease' } as never }),
      'read with it': async () => assert.equal((await templates.get(account, s.id)).name, 'Flat lease'),
    }),

    'a permission profile made, changed, deleted': ({ accounts }, s) => ({
      made: async () => {
        const made = await accounts.createPermissionProfile(account, { permissionProfile: { permissionProfileName: 'Sender' } });
        assert.equal(made.permissionProfileName, 'Sender');
        s.id = given(made.permissionProfileId, 'permissionProfileId');
      },
      renamed: async () => {
        const changed = await accounts.updatePermissionProfile(account, s.id, {
          permissionProfile: { permissionProfileName: 'Chief sender' },
        });
        assert.equal(changed.permissionProfileName, 'Chief sender');
      },
      'in the list with its new name': async () => {
        const { permissionProfiles } = await accounts.listPermissions(account);
        const found = permissionProfiles?.find(({ permissionProfileId }) => permissionProfileId === s.id);
        assert.equal(found?.permissionProfileName, 'Chief sender');
      },
      deleted: () => accounts.deletePermissionProfile(account, s.id),
      'no more there': () => refused(accounts.getPermissionProfile(account, s.id), 400, 404),
    }),

    'a brand made, read, deleted': ({ accounts }, s) => ({
      made: async () => {
        const made = await accounts.createBrand(account, { brand: { brandName: 'Harbour', defaultBrandLanguage: 'en' } });
        const brand = given(
          made.brands?.find(({ brandName }) => brandName === 'Harbour'),
          'brand',
        );
        s.id = given(brand.brandId, 'brandId');
      },
      read: async () => assert.equal((await accounts.getBrand(account, s.id)).brandName, 'Harbour'),
      deleted: () => accounts.deleteBrand(account, s.id),
      'no more there': () => refused(accounts.getBrand(account, s.id), 400, 404),
    }),

    'a tab of the account': ({ tabs }, s) => ({
      made: async () => {
        const made = await tabs.create(account, {
          tabMetadata: { type: 'text', name: 'Plate', tabLabel: 'plate', shared: 'true' },
        });
        assert.equal(made.name, 'Plate');
        s.id = given(made.customTabId, 'customTabId');
      },
      changed: () => tabs.update(account, s.id, { tabMetadata: { name: 'Number plate' } }),
      'read with it, its label kept': async () => {
        const read = await tabs.get(account, s.id);
        assert.equal(read.name, 'Number plate');
        assert.equal(read.tabLabel, 'plate');
      },
      deleted: () => tabs._delete(account, s.id),
      'no more there': () => refused(tabs.get(account, s.id), 400, 404),
    }),

    'a PowerForm of a template': ({ templates, powerForms }, s) => ({
      'a template': async () => {
        const made = await templates.createTemplate(account, { envelopeTemplate: { name: 'Waiver' } as never });
        s.template = given(made.templateId, 'templateId');
      },
      'its form': async () => {
        const made = await powerForms.createPowerForm(account, {
          powerForm: { name: 'Waiver form', templateId: s.template, isActive: 'true' },
        });
        assert.equal(made.name, 'Waiver form');
        s.id = given(made.powerFormId, 'powerFormId');
      },
      'is closed': () => powerForms.updatePowerForm(account, s.id, { powerForm: { isActive: 'false' } }),
      'read so': async () => {
        const read = await powerForms.getPowerForm(account, s.id);
        assert.equal(read.isActive, 'false');
        assert.equal(read.templateId, s.template);
      },
      deleted: () => powerForms.deletePowerForm(account, s.id),
      'no more there': () => refused(powerForms.getPowerForm(account, s.id), 400, 404),
    }),

    'a workspace renamed, and gone': ({ workspaces }, s) => ({
      made: async () => {
        const made = await workspaces.createWorkspace(account, { workspace: { workspaceName: 'Sale of the mill' } });
        assert.equal(made.workspaceName, 'Sale of the mill');
        s.id = given(made.workspaceId, 'workspaceId');
      },
      renamed: () => workspaces.updateWorkspace(account, s.id, { workspace: { workspaceName: 'Sale of the farm' } }),
      'read with it': async () => {
        assert.equal((await workspaces.getWorkspace(account, s.id)).workspaceName, 'Sale of the farm');
      },
      'in the list': async () => {
        const listed = (await workspaces.listWorkspaces(account)).workspaces ?? [];
        once(
          listed.map(({ workspaceId }) => String(workspaceId)),
          [s.id],
          'workspaces',
        );
      },
      deleted: () => workspaces.deleteWorkspace(account, s.id),
      'no more there': () => refused(workspaces.getWorkspace(account, s.id), 400, 404),
    }),

    'where events are sent': ({ connect }, s) => ({
      set: async () => {
        const made = await connect.createConfiguration(account, {
          connectCustomConfiguration: {
            name: 'To our office',
            urlToPublishTo: 'https://example.com/hook',
            configurationType: 'custom',
            allUsers: 'true',
          },
        });
        assert.equal(made.urlToPublishTo, 'https://example.com/hook');
        s.id = given(made.connectId, 'connectId');
      },
      'is among the configurations': async () => {
        const { configurations } = await connect.listConfigurations(account);
        assert.ok((configurations ?? []).some(({ connectId }) => connectId === s.id));
      },
      deleted: () => connect.deleteConfiguration(account, s.id),
      'is among them no more': async () => {
        const { configurations } = await connect.listConfigurations(account);
        assert.ok(!(configurations ?? []).some(({ connectId }) => connectId === s.id));
      },
    }),

    'a wrong token is refused': (_client, _s, another) => ({
      'a list': () => refused(another('expired').envelopes.listStatusChanges(account, { fromDate: '2020-01-01' }), 401),
      'an envelope': () =>
        refused(another('expired').envelopes.createEnvelope(account, { envelopeDefinition: draft('Forged') }), 401),
    }),

    'what is not there': ({ envelopes, templates }) => ({
      'no such envelope': () => refused(envelopes.getEnvelope(account, '00000000-0000-4000-8000-000000000000'), 400, 404),
      'no such template': () => refused(templates.get(account, '00000000-0000-4000-8000-000000000000'), 400, 404),
    }),
  },
};
