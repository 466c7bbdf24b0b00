import assert from 'node:assert/strict';
import { Client, HttpClientException, LegalEntityManagementAPI, Types } from 'adyen-api-library-29';
import { EnvironmentEnum } from 'adyen-api-library-29/lib/src/config.js';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const lem = Types.legalEntityManagement;
type Entity = Types.legalEntityManagement.LegalEntity;
type Asked = Types.legalEntityManagement.LegalEntityInfoRequiredType;
type Line = Types.legalEntityManagement.BusinessLineInfo;

/** An own transport, as the client's readme has one: its built-in one speaks https with Adyen's hosts alone. */
const connect = (place: Place, token: string): LegalEntityManagementAPI =>
  new LegalEntityManagementAPI(
    new Client(
      { apiKey: token, environment: EnvironmentEnum.TEST },
      {
        request: async (endpoint, json, config, _required, options = {}) => {
          const url = new URL(endpoint.replace('https://kyc-test.adyen.com/lem/v3', place.base));
          if (options.params !== undefined) url.search = new URLSearchParams(options.params).toString();
          const response = await fetch(url, {
            method: options.method ?? 'POST',
            headers: { 'X-API-Key': config.apiKey ?? '', 'Content-Type': 'application/json' },
            ...(json === '' ? {} : { body: json }),
          });
          const responseBody = await response.text();
          if (response.ok) return responseBody;
          const message = `HTTP Exception: ${response.status}. ${responseBody}`;
          throw new HttpClientException({ message, statusCode: response.status, responseBody });
        },
      },
    ),
  );

/** What the client made of an answer, without its classes and what they leave undefined. */
const plain = (answer: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(answer));
const holds = (answer: unknown, wanted: Record<string, unknown>): void => assert.partialDeepStrictEqual(plain(answer), wanted);

/** The description has no 404: an id that is not known is refused with one of these. */
const unknown = [400, 403, 404, 422];
const wrong = [400, 422];
const missing = 'LE00000000000000000000404';

const address = { street: 'Simon Carmiggeltstraat 6 - 50', city: 'Amsterdam', postalCode: '1011DJ', country: 'NL' };
const shelly = {
  name: { firstName: 'Shelly', lastName: 'Eller' },
  residentialAddress: address,
  birthData: { dateOfBirth: '1990-06-21' },
  email: 's.eller@example.com',
};
const company = { legalName: 'Explorer Company', registeredAddress: address, registrationNumber: '34179503' };

const person = async (a: LegalEntityManagementAPI, firstName = 'Shelly', reference?: string): Promise<Entity> => {
  const individual = { ...shelly, name: { firstName, lastName: 'Eller' } };
  return a.LegalEntitiesApi.createLegalEntity({
    type: lem.LegalEntityInfoRequiredType.TypeEnum.Individual,
    individual,
    reference,
  });
};
const organization = async (a: LegalEntityManagementAPI, more: Partial<Asked> = {}): Promise<Entity> =>
  a.LegalEntitiesApi.createLegalEntity({
    type: lem.LegalEntityInfoRequiredType.TypeEnum.Organization,
    organization: { ...company, type: lem.Organization.TypeEnum.PrivateCompany },
    ...more,
  });
const signatory = (legalEntityId: string, jobTitle: string) => ({
  legalEntityId,
  jobTitle,
  type: lem.LegalEntityAssociation.TypeEnum.Signatory,
});
const associated = (entity: Entity): string[] => (entity.entityAssociations ?? []).map(({ legalEntityId }) => legalEntityId);

const banking = (legalEntityId: string): Line => ({
  legalEntityId,
  service: lem.BusinessLineInfo.ServiceEnum.Banking,
  industryCode: '4531',
  sourceOfFunds: {
    type: lem.SourceOfFunds.TypeEnum.Business,
    adyenProcessedFunds: false,
    description: 'Funds from my flower shop business',
  },
  webData: [{ webAddress: 'https://www.example.com' }],
});
const selling = (legalEntityId: string): Line => ({
  legalEntityId,
  service: lem.BusinessLineInfo.ServiceEnum.PaymentProcessing,
  industryCode: '339E',
  salesChannels: ['eCommerce', 'ecomMoto'],
  webData: [{ webAddress: 'https://shop.example.com' }],
});
const lines = async (a: LegalEntityManagementAPI, id: string): Promise<string[]> =>
  (await a.LegalEntitiesApi.getAllBusinessLinesUnderLegalEntity(id)).businessLines.map((line) => line.id);

const account = (legalEntityId: string, iban: string) => ({
  legalEntityId,
  type: lem.TransferInstrumentInfo.TypeEnum.BankAccount,
  bankAccount: { accountIdentification: { type: lem.IbanAccountIdentification.TypeEnum.Iban, iban } },
});
const instruments = async (a: LegalEntityManagementAPI, id: string): Promise<string[]> =>
  ((await a.LegalEntitiesApi.getLegalEntity(id)).transferInstruments ?? []).map((one) => one.id);

const paper = (owner: string) => ({
  type: lem.Document.TypeEnum.RegistrationDocument,
  description: 'Registration doc for Example Company',
  owner: { id: owner, type: 'legalEntity' },
  attachments: [{ content: 'JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoK' }],
});

const ready = async (a: LegalEntityManagementAPI, s: State): Promise<void> => {
  s.person = (await person(a)).id;
  s.company = (await organization(a, { entityAssociations: [signatory(s.person, 'CEO')] })).id;
};

/** Guide: docs.adyen.com/platforms/onboard-users (API-only and hosted onboarding), docs.adyen.com/api-explorer/legalentity/3. */
export const vendor: Vendor<LegalEntityManagementAPI> = {
  document: 'adyen-legal-entity/LegalEntityService.json',
  header: 'X-API-Key',
  made: 'AQEyhmfxK4nJahRCw0m_n3Q5qf3VaY9UCJ1-made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an individual is onboarded': (a, s) => ({
      made: async () => {
        const made = await person(a, 'Shelly', 'user-1');
        s.id = made.id;
        holds(made, { type: 'individual', individual: shelly, reference: 'user-1' });
      },
      read: async () =>
        holds(await a.LegalEntitiesApi.getLegalEntity(s.id), { id: s.id, type: 'individual', individual: shelly }),
      'another address of mail': async () => {
        const individual = { ...shelly, email: 'shelly@example.com' };
        holds(await a.LegalEntitiesApi.updateLegalEntity(s.id, { individual }), { id: s.id, individual });
      },
      'it stays changed': async () => {
        const individual = { name: shelly.name, email: 'shelly@example.com', residentialAddress: address };
        holds(await a.LegalEntitiesApi.getLegalEntity(s.id), { id: s.id, type: 'individual', individual, reference: 'user-1' });
      },
      'a second is another': async () => {
        s.second = (await person(a, 'Simone')).id;
        assert.notEqual(s.second, s.id);
      },
      'the first keeps its name': async () =>
        holds(await a.LegalEntitiesApi.getLegalEntity(s.id), { individual: { name: { firstName: 'Shelly' } } }),
    }),

    'an organization and those who sign for it': (a, s) => ({
      'two individuals': async () => {
        s.one = (await person(a, 'Shelly')).id;
        s.two = (await person(a, 'Simone')).id;
      },
      'an organization with both': async () => {
        const made = await organization(a, { entityAssociations: [signatory(s.one, 'CEO'), signatory(s.two, 'CFO')] });
        s.id = made.id;
        holds(made, { type: 'organization', organization: { ...company, type: 'privateCompany' } });
        once(associated(made), [s.one, s.two], 'associations');
      },
      'read back': async () => {
        const read = await a.LegalEntitiesApi.getLegalEntity(s.id);
        assert.deepEqual(
          (read.entityAssociations ?? []).map(({ legalEntityId, jobTitle, type }) => [legalEntityId, jobTitle, type]),
          [
            [s.one, 'CEO', 'signatory'],
            [s.two, 'CFO', 'signatory'],
          ],
        );
      },
      'the list is replaced whole': async () => {
        const changed = await a.LegalEntitiesApi.updateLegalEntity(s.id, { entityAssociations: [signatory(s.two, 'CEO')] });
        assert.deepEqual(associated(changed), [s.two]);
      },
      'it stays so, and the rest stays': async () => {
        const read = await a.LegalEntitiesApi.getLegalEntity(s.id);
        assert.deepEqual(associated(read), [s.two]);
        holds(read, { type: 'organization', organization: { legalName: 'Explorer Company', registrationNumber: '34179503' } });
      },
      'the other individual is still there': async () =>
        holds(await a.LegalEntitiesApi.getLegalEntity(s.one), { id: s.one, type: 'individual' }),
    }),

    'a sole proprietorship of its owner': (a, s) => ({
      'the owner': async () => {
        s.owner = (await person(a)).id;
      },
      'the trade': async () => {
        const soleProprietorship = {
          name: 'Shelly Seller Sole Trader',
          countryOfGoverningLaw: 'NL',
          registeredAddress: address,
        };
        const made = await a.LegalEntitiesApi.createLegalEntity({
          type: lem.LegalEntityInfoRequiredType.TypeEnum.SoleProprietorship,
          soleProprietorship,
        });
        s.id = made.id;
        holds(made, { type: 'soleProprietorship', soleProprietorship });
      },
      'is put together with the owner': async () => {
        const type = lem.LegalEntityAssociation.TypeEnum.SoleProprietorship;
        const changed = await a.LegalEntitiesApi.updateLegalEntity(s.owner, {
          entityAssociations: [{ legalEntityId: s.id, type }],
        });
        assert.deepEqual(associated(changed), [s.id]);
      },
      'the owner knows it': async () => {
        const read = await a.LegalEntitiesApi.getLegalEntity(s.owner);
        assert.deepEqual([read.type, associated(read)], ['individual', [s.id]]);
      },
      'the trade is as it was': async () =>
        holds(await a.LegalEntitiesApi.getLegalEntity(s.id), {
          id: s.id,
          soleProprietorship: { name: 'Shelly Seller Sole Trader', countryOfGoverningLaw: 'NL' },
        }),
    }),

    'a trust and its protector': (a, s) => ({
      'the trust': async () => {
        const made = await a.LegalEntitiesApi.createLegalEntity({
          type: lem.LegalEntityInfoRequiredType.TypeEnum.Trust,
          trust: {
            name: 'Example Trust',
            type: lem.Trust.TypeEnum.FixedUnitTrust,
            countryOfGoverningLaw: 'AU',
            registeredAddress: {
              street: 'Winfield Avenue',
              city: 'Sydney',
              stateOrProvince: 'NSW',
              postalCode: '2000',
              country: 'AU',
            },
            taxInformation: [{ country: 'AU', number: '12345678123', type: 'ABN' }],
          },
        });
        s.id = made.id;
        holds(made, { type: 'trust', trust: { name: 'Example Trust', type: 'fixedUnitTrust', countryOfGoverningLaw: 'AU' } });
      },
      'read back': async () =>
        holds(await a.LegalEntitiesApi.getLegalEntity(s.id), {
          id: s.id,
          trust: {
            registeredAddress: { city: 'Sydney', stateOrProvince: 'NSW' },
            taxInformation: [{ country: 'AU', type: 'ABN' }],
          },
        }),
      'an individual': async () => {
        s.person = (await person(a, 'Simone')).id;
      },
      'becomes its protector': async () => {
        const type = lem.LegalEntityAssociation.TypeEnum.Protector;
        await a.LegalEntitiesApi.updateLegalEntity(s.id, { entityAssociations: [{ legalEntityId: s.person, type }] });
      },
      'the trust knows': async () => {
        const read = await a.LegalEntitiesApi.getLegalEntity(s.id);
        assert.deepEqual(
          (read.entityAssociations ?? []).map(({ legalEntityId, type }) => [legalEntityId, type]),
          [[s.person, 'protector']],
        );
      },
    }),

    'a bank account, from the first to the last day': (a, s) => ({
      'its owner': async () => {
        s.owner = (await person(a)).id;
      },
      made: async () => {
        const made = await a.TransferInstrumentsApi.createTransferInstrument(account(s.owner, 'NL62ABNA0000000123'));
        s.id = made.id;
        const accountIdentification = { type: 'iban', iban: 'NL62ABNA0000000123' };
        holds(made, { legalEntityId: s.owner, type: 'bankAccount', bankAccount: { accountIdentification } });
      },
      read: async () => {
        const read = await a.TransferInstrumentsApi.getTransferInstrument(s.id);
        holds(read, { id: s.id, legalEntityId: s.owner, bankAccount: { accountIdentification: { iban: 'NL62ABNA0000000123' } } });
      },
      'another number': async () => {
        const how = account(s.owner, 'NL02ABNA0123456789');
        const changed = await a.TransferInstrumentsApi.updateTransferInstrument(s.id, how);
        holds(changed, { id: s.id, bankAccount: { accountIdentification: { iban: 'NL02ABNA0123456789' } } });
      },
      'it stays changed': async () => {
        const read = await a.TransferInstrumentsApi.getTransferInstrument(s.id);
        holds(read, { legalEntityId: s.owner, bankAccount: { accountIdentification: { iban: 'NL02ABNA0123456789' } } });
      },
      deleted: () => a.TransferInstrumentsApi.deleteTransferInstrument(s.id),
      gone: () => refused(a.TransferInstrumentsApi.getTransferInstrument(s.id), ...unknown),
      'its owner is still there': async () => holds(await a.LegalEntitiesApi.getLegalEntity(s.owner), { id: s.owner }),
    }),

    'bank accounts that a legal entity knows of': (a, s) => ({
      'an owner': async () => {
        s.owner = (await person(a)).id;
      },
      'an account in euros': async () => {
        s.eur = (await a.TransferInstrumentsApi.createTransferInstrument(account(s.owner, 'NL62ABNA0000000123'))).id;
      },
      'one in dollars': async () => {
        const type = lem.USLocalAccountIdentification.TypeEnum.UsLocal;
        const accountIdentification = { type, accountNumber: '0000000123', routingNumber: '121202211' };
        const how = { ...account(s.owner, ''), bankAccount: { accountIdentification } };
        const made = await a.TransferInstrumentsApi.createTransferInstrument(how);
        s.usd = made.id;
        holds(made, {
          bankAccount: { accountIdentification: { type: 'usLocal', accountNumber: '0000000123', routingNumber: '121202211' } },
        });
      },
      'the owner has both': async () => once(await instruments(a, s.owner), [s.eur, s.usd], 'transfer instruments'),
      'one is deleted': () => a.TransferInstrumentsApi.deleteTransferInstrument(s.eur),
      'the owner has the other': async () => assert.deepEqual(await instruments(a, s.owner), [s.usd]),
    }),

    'a business line, from the first to the last day': (a, s) => ({
      'a company': () => ready(a, s),
      made: async () => {
        const made = await a.BusinessLinesApi.createBusinessLine(banking(s.company));
        s.id = made.id;
        holds(made, plain(banking(s.company)));
      },
      read: async () => holds(await a.BusinessLinesApi.getBusinessLine(s.id), { id: s.id, ...plain(banking(s.company)) }),
      'the company has it': async () => assert.deepEqual(await lines(a, s.company), [s.id]),
      'another industry and address': async () => {
        const how = { industryCode: '55', webData: [{ webAddress: 'https://www.example.org' }] };
        holds(await a.BusinessLinesApi.updateBusinessLine(s.id, how), { id: s.id, ...how });
      },
      'it stays changed': async () => {
        const read = await a.BusinessLinesApi.getBusinessLine(s.id);
        holds(read, { industryCode: '55', service: 'banking', legalEntityId: s.company });
        assert.deepEqual(
          (read.webData ?? []).map(({ webAddress }) => webAddress),
          ['https://www.example.org'],
        );
      },
      deleted: () => a.BusinessLinesApi.deleteBusinessLine(s.id),
      gone: () => refused(a.BusinessLinesApi.getBusinessLine(s.id), ...unknown),
    }),

    'business lines of two companies': (a, s) => ({
      'two companies': async () => {
        s.one = (await organization(a)).id;
        s.two = (await organization(a)).id;
      },
      'two lines of the one': async () => {
        s.bank = (await a.BusinessLinesApi.createBusinessLine(banking(s.one))).id;
        s.shop = (await a.BusinessLinesApi.createBusinessLine(selling(s.one))).id;
      },
      'one of the other': async () => {
        s.other = (await a.BusinessLinesApi.createBusinessLine(selling(s.two))).id;
      },
      'the one has its two': async () => assert.deepEqual((await lines(a, s.one)).sort(), [s.bank, s.shop].sort()),
      'each with its service': async () => {
        const { businessLines } = await a.LegalEntitiesApi.getAllBusinessLinesUnderLegalEntity(s.one);
        assert.deepEqual(businessLines.map(({ id, service }) => `${id} ${service}`).sort(), [
          ...[`${s.bank} banking`, `${s.shop} paymentProcessing`].sort(),
        ]);
      },
      'the other has its own': async () => assert.deepEqual(await lines(a, s.two), [s.other]),
      'one is deleted': () => a.BusinessLinesApi.deleteBusinessLine(s.bank),
      'it is in no list any more': async () => assert.deepEqual(await lines(a, s.one), [s.shop]),
    }),

    'a document, from the first to the last day': (a, s) => ({
      'its owner': async () => {
        s.owner = (await organization(a)).id;
      },
      uploaded: async () => {
        const made = await a.DocumentsApi.uploadDocumentForVerificationChecks(paper(s.owner));
        s.id = given(made.id, 'id');
        holds(made, {
          type: 'registrationDocument',
          description: paper('').description,
          owner: { id: s.owner, type: 'legalEntity' },
        });
      },
      read: async () => holds(await a.DocumentsApi.getDocument(s.id), { id: s.id, ...paper(s.owner) }),
      'read without what is in it': async () => {
        const read = await a.DocumentsApi.getDocument(s.id, true);
        holds(read, { id: s.id, type: 'registrationDocument' });
        for (const { content } of read.attachments ?? []) assert.ok(!content, 'there is content');
      },
      'of another kind': async () => {
        const how = { type: lem.Document.TypeEnum.ProofOfIndustry, description: 'Proof of industry for Example Company' };
        holds(await a.DocumentsApi.updateDocument(s.id, how), { id: s.id, ...how });
      },
      'it stays so': async () => {
        const description = 'Proof of industry for Example Company';
        holds(await a.DocumentsApi.getDocument(s.id), { type: 'proofOfIndustry', description, owner: { id: s.owner } });
      },
      deleted: () => a.DocumentsApi.deleteDocument(s.id),
      gone: () => refused(a.DocumentsApi.getDocument(s.id), ...unknown),
    }),

    'documents that a legal entity knows of': (a, s) => ({
      'an owner': async () => {
        s.owner = (await organization(a)).id;
      },
      'two documents': async () => {
        s.one = given((await a.DocumentsApi.uploadDocumentForVerificationChecks(paper(s.owner))).id, 'id');
        s.two = given((await a.DocumentsApi.uploadDocumentForVerificationChecks(paper(s.owner))).id, 'id');
      },
      'the owner has both': async () => {
        const { documentDetails } = await a.LegalEntitiesApi.getLegalEntity(s.owner);
        once(
          given(documentDetails, 'documentDetails').map(({ id }) => given(id, 'id')),
          [s.one, s.two],
          'documents',
        );
      },
      'one is deleted': () => a.DocumentsApi.deleteDocument(s.one),
      'the other is still there': async () =>
        holds(await a.DocumentsApi.getDocument(s.two), { id: s.two, owner: { id: s.owner } }),
    }),

    'hosted onboarding': (a, s) => ({
      themes: async () => {
        const { themes } = await a.HostedOnboardingApi.listHostedOnboardingPageThemes();
        assert.ok(Array.isArray(themes), 'there is no list of themes');
        for (const { id, properties } of themes) assert.deepEqual([typeof id, typeof properties], ['string', 'object']);
      },
      'a company': () => ready(a, s),
      'a link to its page': async () => {
        const how = { locale: 'nl-NL', redirectUrl: 'https://your.redirect-url.com/' };
        const { url } = await a.HostedOnboardingApi.getLinkToAdyenhostedOnboardingPage(s.company, how);
        assert.ok(URL.canParse(given(url, 'url')), url);
      },
      'a link for no one': () =>
        refused(a.HostedOnboardingApi.getLinkToAdyenhostedOnboardingPage(missing, { locale: 'nl-NL' }), ...unknown),
      'a theme that is not there': () =>
        refused(a.HostedOnboardingApi.getOnboardingLinkTheme('ONBT00000000000000000000000404'), ...unknown),
    }),

    'terms of service are accepted': (a, s) => ({
      'a company and who signs for it': () => ready(a, s),
      'which are to be accepted': async () => {
        const { termsOfServiceTypes } = await a.TermsOfServiceApi.getTermsOfServiceStatus(s.company);
        for (const type of termsOfServiceTypes ?? []) assert.equal(typeof type, 'string');
      },
      'the document': async () => {
        const type = lem.GetTermsOfServiceDocumentRequest.TypeEnum.AdyenIssuing;
        const told = await a.TermsOfServiceApi.getTermsOfServiceDocument(s.company, { type, language: 'en' });
        holds(told, { id: s.company, type: 'adyenIssuing', language: 'en' });
        assert.equal(typeof told.document, 'string');
        s.document = given(told.termsOfServiceDocumentId, 'termsOfServiceDocumentId');
      },
      'it is accepted': async () => {
        const how = { acceptedBy: s.person, ipAddress: '192.0.2.1' };
        const told = await a.TermsOfServiceApi.acceptTermsOfService(s.company, s.document, how);
        holds(told, { acceptedBy: s.person, termsOfServiceDocumentId: s.document, type: 'adyenIssuing' });
        s.acceptance = given(told.id, 'id');
      },
      'who accepted what': async () => {
        const { data } = await a.TermsOfServiceApi.getTermsOfServiceInformationForLegalEntity(s.company);
        const row = given(data, 'data').find(({ id }) => id === s.acceptance);
        holds(given(row, 'acceptance'), { acceptedBy: s.person, acceptedFor: s.company, type: 'adyenIssuing' });
      },
      'it need not be accepted any more': async () => {
        const { termsOfServiceTypes } = await a.TermsOfServiceApi.getTermsOfServiceStatus(s.company);
        assert.ok(!(termsOfServiceTypes ?? []).map(String).includes('adyenIssuing'), 'it has to be');
      },
    }),

    'questionnaires of the card industry are signed': (a, s) => ({
      'a company and who signs for it': () => ready(a, s),
      'it sells on the web': () => a.BusinessLinesApi.createBusinessLine(selling(s.company)),
      'the questionnaires': async () => {
        const told = await a.PCIQuestionnairesApi.generatePciQuestionnaire(s.company, { language: 'fr' });
        assert.deepEqual([told.language, typeof told.content], ['fr', 'string']);
        s.templates = JSON.stringify(given(told.pciTemplateReferences, 'pciTemplateReferences'));
      },
      'they are signed': async () => {
        const how = { signedBy: s.person, pciTemplateReferences: JSON.parse(s.templates) };
        const told = await a.PCIQuestionnairesApi.signPciQuestionnaire(s.company, how);
        const ids = given(told.pciQuestionnaireIds, 'pciQuestionnaireIds');
        assert.equal(ids.length, how.pciTemplateReferences.length);
        s.id = given(ids[0], 'questionnaire');
      },
      'they are listed': async () => {
        const { data } = await a.PCIQuestionnairesApi.getPciQuestionnaireDetails(s.company);
        once(
          given(data, 'data').map(({ id }) => given(id, 'id')),
          [s.id],
          'questionnaires',
        );
      },
      'one is read': async () => {
        const read = await a.PCIQuestionnairesApi.getPciQuestionnaire(s.company, s.id);
        assert.deepEqual([read.id, typeof read.content], [s.id, 'string']);
      },
    }),

    'what verification says': (a, s) => ({
      'a company': () => ready(a, s),
      'its errors': async () => {
        const { problems } = await a.LegalEntitiesApi.checkLegalEntitysVerificationErrors(s.company);
        assert.ok(Array.isArray(problems ?? []), 'there is no list of problems');
      },
      'its data are reviewed': async () => {
        const { dataReviewedAt } = await a.LegalEntitiesApi.confirmDataReview(s.company);
        assert.ok(!Number.isNaN(Date.parse(given(dataReviewedAt, 'dataReviewedAt'))), dataReviewedAt);
      },
      'the company is as it was': async () => {
        const read = await a.LegalEntitiesApi.getLegalEntity(s.company);
        assert.deepEqual(
          [read.type, read.organization?.legalName, associated(read)],
          ['organization', 'Explorer Company', [s.person]],
        );
      },
      'errors of no one': () => refused(a.LegalEntitiesApi.checkLegalEntitysVerificationErrors(missing), ...unknown),
    }),

    'a credential that is refused': (a, s, another) => ({
      'an individual': async () => {
        s.id = (await person(a)).id;
      },
      'not read by another': () => refused(another('AQE_of_no_one').LegalEntitiesApi.getLegalEntity(s.id), 401),
      'not changed by another': () =>
        refused(
          another('AQE_of_no_one').LegalEntitiesApi.updateLegalEntity(s.id, {
            individual: { ...shelly, email: 'x@example.com' },
          }),
          401,
        ),
      'no account made by another': () =>
        refused(
          another('AQE_of_no_one').TransferInstrumentsApi.createTransferInstrument(account(s.id, 'NL62ABNA0000000123')),
          401,
        ),
      'nothing changed': async () =>
        holds(await a.LegalEntitiesApi.getLegalEntity(s.id), { individual: { email: shelly.email } }),
    }),

    'wrong requests, and what is not there': (a, s) => ({
      'a legal entity without a type': () =>
        refused(a.LegalEntitiesApi.createLegalEntity({ individual: shelly } as unknown as Asked), ...wrong),
      'a legal entity of no known type': () =>
        refused(a.LegalEntitiesApi.createLegalEntity({ type: 'club', individual: shelly } as unknown as Asked), ...wrong),
      'an individual': async () => {
        s.id = (await person(a)).id;
      },
      'a business line without an industry': () => {
        const { industryCode: _, ...rest } = banking(s.id);
        return refused(a.BusinessLinesApi.createBusinessLine(rest as Line), ...wrong);
      },
      'no business line was made': async () => assert.deepEqual(await lines(a, s.id), []),
      'a legal entity that is not there': () => refused(a.LegalEntitiesApi.getLegalEntity(missing), ...unknown),
      'an account of no one': () =>
        refused(a.TransferInstrumentsApi.createTransferInstrument(account(missing, 'NL62ABNA0000000123')), ...unknown),
      'a document that is not there': () => refused(a.DocumentsApi.deleteDocument('SE00000000000000000000404'), ...unknown),
    }),
  },
};
