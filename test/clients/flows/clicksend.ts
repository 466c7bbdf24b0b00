import assert from 'node:assert/strict';
import * as sdk from 'clicksend';
import { once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;

interface ClickSend {
  readonly account: sdk.AccountApi;
  readonly addresses: sdk.PostReturnAddressApi;
  readonly campaigns: sdk.SmsCampaignApi;
  readonly contacts: sdk.ContactApi;
  readonly countries: sdk.CountriesApi;
  readonly lists: sdk.ContactListApi;
  readonly rules: sdk.SMSDeliveryReceiptRulesApi;
  readonly sms: sdk.SMSApi;
  readonly subaccounts: sdk.SubaccountApi;
}

const pair = (username: string, key: string): string => Buffer.from(`${username}:${key}`).toString('base64');

/** The header has the user's name and the key, and a colon between them, in Base64. */
const connect = (place: Place, token: string): ClickSend => {
  const [username = '', ...key] = Buffer.from(token, 'base64').toString().split(':');
  const who = [username, key.join(':'), place.base] as const;
  return {
    account: new sdk.AccountApi(...who),
    addresses: new sdk.PostReturnAddressApi(...who),
    campaigns: new sdk.SmsCampaignApi(...who),
    contacts: new sdk.ContactApi(...who),
    countries: new sdk.CountriesApi(...who),
    lists: new sdk.ContactListApi(...who),
    rules: new sdk.SMSDeliveryReceiptRulesApi(...who),
    sms: new sdk.SMSApi(...who),
    subaccounts: new sdk.SubaccountApi(...who),
  };
};

type Answer = Promise<{ body: string }>;

/** The client throws an answer that is no success as it is; here it is an error with its status. */
const sent = (answer: Answer): Answer =>
  answer.catch((thrown: { response?: { statusCode?: number }; body?: Row }) => {
    if (thrown.response === undefined) throw thrown;
    const words = `${String(thrown.body?.response_code)}: ${String(thrown.body?.response_msg)}`;
    throw Object.assign(new Error(words), { status: thrown.response.statusCode });
  });

/** What is in the envelope of an answer. The client says that its body is a text, and gives what it parsed. */
const data = async (answer: Answer): Promise<Row> => {
  const { http_code, response_code, data: inside } = (await sent(answer)).body as unknown as Row;
  assert.deepEqual([http_code, response_code], [200, 'SUCCESS']);
  return inside as Row;
};
const wrong = (answer: Answer, status: number): Promise<unknown> => refused(sent(answer), status);

const rowsOf = (page: Row): readonly Row[] => {
  assert.ok(Array.isArray(page.data), 'the page has a list in data');
  return page.data as Row[];
};
const next = ({ current_page: at, last_page: last }: Row): string | undefined =>
  Number(at) < Number(last) ? String(Number(at) + 1) : undefined;
const of = (rows: readonly Row[], name: string): string[] => rows.map((row) => String(row[name]));

/** Numbers enough that fifteen, the guide's smallest page, do not hold them all. */
const many = Array.from({ length: 17 }, (_, n) => n + 1);

const list = async (click: ClickSend, listName: string): Promise<number> => {
  const made = await data(click.lists.listsPost({ listName }));
  assert.equal(typeof made.list_id, 'number');
  return Number(made.list_id);
};
const ellen: sdk.Contact = {
  phoneNumber: '+16783270696',
  firstName: 'Ellen',
  lastName: 'Diaz',
  email: 'ellen@diaz.com',
  custom1: '',
};
const contact = async (click: ClickSend, listId: number, more: Partial<sdk.Contact> = {}): Promise<Row> =>
  data(click.contacts.listsContactsByListIdPost({ ...ellen, ...more }, listId));

const message = (more: Partial<sdk.SmsMessage> = {}): sdk.SmsMessage => ({
  to: '+61411111111',
  body: 'Jelly liquorice marshmallow candy carrot cake.',
  source: 'sdk',
  ...more,
});
const send = async (click: ClickSend, ...messages: readonly sdk.SmsMessage[]): Promise<readonly Row[]> => {
  const answer = await data(click.sms.smsSendPost({ messages: [...messages] }));
  assert.ok(Array.isArray(answer.messages), 'the answer has the messages');
  return answer.messages as Row[];
};
const later = 2_114_380_800;

const worker = (apiUsername: string): sdk.Subaccount => ({
  apiUsername,
  password: 'Pa55word!long',
  email: `${apiUsername}@example.com`,
  phoneNumber: '+61433333333',
  firstName: 'First',
  lastName: 'Last',
});
const address: sdk.Address = {
  addressName: 'John Smith',
  addressLine1: 'Maritime Avenue',
  addressLine2: '',
  addressCity: 'Flynn',
  addressState: 'WA',
  addressPostalCode: '6302',
  addressCountry: 'AU',
};
const campaign = async (click: ClickSend, s: State): Promise<Row> => {
  s.list = String(await list(click, 'Customers'));
  await contact(click, Number(s.list));
  const asked = { listId: Number(s.list), name: 'My Campaign 1', body: 'This is my new campaign message.', from: '+61353787448' };
  return data(click.campaigns.smsCampaignsSendPost({ ...asked, schedule: later, urlToShorten: 'http://yourdomain.com/' }));
};
const rule = { ruleName: 'My Rule', matchType: 3, action: 'EMAIL_FIXED', actionAddress: 'john@doe.com', enabled: 1 };

/** Guide: developers.clicksend.com/docs, "Authentication", "Status codes", "Pagination", "Contacts", "SMS", "Subaccounts", "Return addresses". */
export const vendor: Vendor<ClickSend> = {
  document: 'clicksend/clicksend.com.json',
  header: 'Authorization',
  word: 'Basic',
  made: pair('api-username', '367C506E-FBCA-1EDA-E8E0-1384F9F196D5'),
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a contact list is made, renamed and deleted': (click, s) => ({
      create: async () => {
        const made = await data(click.lists.listsPost({ listName: 'Newsletter' }));
        s.id = String(made.list_id);
        assert.equal(made.list_name, 'Newsletter');
      },
      read: async () => {
        const read = await data(click.lists.listsByListIdGet(Number(s.id)));
        assert.deepEqual([read.list_id, read.list_name], [Number(s.id), 'Newsletter']);
      },
      rename: async () => {
        const changed = await data(click.lists.listsByListIdPut(Number(s.id), { listName: 'Readers' }));
        assert.equal(changed.list_name, 'Readers');
      },
      'it is listed as renamed': async () => {
        const rows = rowsOf(await data(click.lists.listsGet(1, 100))).filter(({ list_id }) => String(list_id) === s.id);
        assert.deepEqual(of(rows, 'list_name'), ['Readers']);
      },
      delete: () => data(click.lists.listsByListIdDelete(Number(s.id))),
      'it is gone': () => wrong(click.lists.listsByListIdGet(Number(s.id)), 404),
      'it is listed no more': async () =>
        assert.ok(!of(rowsOf(await data(click.lists.listsGet(1, 100))), 'list_id').includes(s.id)),
    }),
    'contact lists through all pages': (click, s) => ({
      'create seventeen': async () => {
        for (const n of many) s[`id${n}`] = String(await list(click, `List ${n}`));
      },
      'pages of fifteen, until the last': async () => {
        const rows = await pages((_, page) => data(click.lists.listsGet(page, 15)), rowsOf, next);
        once(
          of(rows, 'list_id'),
          many.map((n) => s[`id${n}`]),
          'pages',
        );
      },
      'a page says which it is': async () => {
        const page = await data(click.lists.listsGet(1, 15));
        assert.deepEqual([page.current_page, page.per_page, page.from, page.to], [1, 15, 1, 15]);
        assert.ok(Number(page.total) >= 17 && Number(page.last_page) >= 2);
      },
    }),
    'a contact is made, changed and deleted': (click, s) => ({
      'create the list': async () => {
        s.list = String(await list(click, 'Friends'));
      },
      create: async () => {
        const made = await contact(click, Number(s.list));
        s.id = String(made.contact_id);
        assert.partialDeepStrictEqual(made, { list_id: Number(s.list), first_name: 'Ellen', phone_number: '+16783270696' });
      },
      read: async () => {
        const read = await data(click.contacts.listsContactsByListIdAndContactIdGet(Number(s.list), Number(s.id)));
        assert.deepEqual([read.contact_id, read.last_name, read.email], [Number(s.id), 'Diaz', 'ellen@diaz.com']);
      },
      change: async () => {
        const asked = { ...ellen, firstName: 'Helen' };
        const changed = await data(click.contacts.listsContactsByListIdAndContactIdPut(Number(s.list), Number(s.id), asked));
        assert.deepEqual([changed.contact_id, changed.first_name, changed.last_name], [Number(s.id), 'Helen', 'Diaz']);
      },
      'it is in the list as changed': async () => {
        const rows = rowsOf(await data(click.contacts.listsContactsByListIdGet(Number(s.list))));
        assert.deepEqual(of(rows, 'first_name'), ['Helen']);
      },
      delete: () => data(click.contacts.listsContactsByListIdAndContactIdDelete(Number(s.list), Number(s.id))),
      'it is gone': () => wrong(click.contacts.listsContactsByListIdAndContactIdGet(Number(s.list), Number(s.id)), 404),
    }),
    'contacts of a list through all pages': (click, s) => ({
      'create seventeen, and one elsewhere': async () => {
        s.list = String(await list(click, 'Everybody'));
        for (const n of many) {
          const made = await contact(click, Number(s.list), { phoneNumber: `+6141111${1100 + n}`, firstName: `Person ${n}` });
          s[`id${n}`] = String(made.contact_id);
        }
        s.other = String((await contact(click, await list(click, 'Somebody'))).contact_id);
      },
      'pages of fifteen, until the last': async () => {
        const rows = await pages(
          (_, page) => data(click.contacts.listsContactsByListIdGet(Number(s.list), page, 15)),
          rowsOf,
          next,
        );
        assert.equal(rows.length, 17);
        once(
          of(rows, 'contact_id'),
          many.map((n) => s[`id${n}`]),
          'pages',
        );
      },
      'the total is of all pages': async () =>
        assert.equal((await data(click.contacts.listsContactsByListIdGet(Number(s.list), 1, 15))).total, 17),
    }),
    'contacts belong to their list': (click, s) => ({
      'create two lists, and two contacts of the first': async () => {
        s.list = String(await list(click, 'Leads'));
        s.other = String(await list(click, 'Customers'));
        s.id = String((await contact(click, Number(s.list))).contact_id);
        await contact(click, Number(s.list), { phoneNumber: '+16783270697', firstName: 'Ann' });
      },
      'the list counts them': async () =>
        assert.equal((await data(click.lists.listsByListIdGet(Number(s.list))))._contacts_count, 2),
      'the other has none': async () => {
        assert.equal((await data(click.lists.listsByListIdGet(Number(s.other))))._contacts_count, 0);
        assert.deepEqual(rowsOf(await data(click.contacts.listsContactsByListIdGet(Number(s.other)))), []);
      },
      'one of them is not read there': () =>
        wrong(click.contacts.listsContactsByListIdAndContactIdGet(Number(s.other), Number(s.id)), 404),
      'one less': async () => {
        await data(click.contacts.listsContactsByListIdAndContactIdDelete(Number(s.list), Number(s.id)));
        assert.equal((await data(click.lists.listsByListIdGet(Number(s.list))))._contacts_count, 1);
      },
    }),
    'messages are sent': (click) => ({
      'what they cost': async () => {
        const price = await data(click.sms.smsPricePost({ messages: [message(), message({ to: '+61422222222' })] }));
        assert.deepEqual(of(price.messages as Row[], 'to'), ['+61411111111', '+61422222222']);
      },
      'send two': async () => {
        const both = await send(click, message({ customString: 'one' }), message({ to: '+61422222222', customString: 'two' }));
        assert.deepEqual(
          both.map(({ to, custom_string, status }) => [to, custom_string, status]),
          [
            ['+61411111111', 'one', 'SUCCESS'],
            ['+61422222222', 'two', 'SUCCESS'],
          ],
        );
        assert.ok(both.every(({ message_id }) => typeof message_id === 'string'));
        assert.notEqual(both[0]?.message_id, both[1]?.message_id);
      },
      'send to a list': async () => {
        const id = await list(click, 'Readers');
        await contact(click, id);
        const asked = { body: 'Hello, readers', source: 'sdk', listId: id };
        assert.equal((await send(click, asked))[0]?.body, 'Hello, readers');
      },
    }),
    'a message for later is cancelled': (click, s) => ({
      send: async () => {
        const [first] = await send(click, message({ schedule: later }));
        s.id = String(first?.message_id);
        assert.equal(first?.schedule, later);
      },
      cancel: () => data(click.sms.smsCancelByMessageIdPut(s.id)),
      'cancel all the others': async () => assert.equal(typeof (await data(click.sms.smsCancelAllPut())).count, 'number'),
      'one that there is not': () => wrong(click.sms.smsCancelByMessageIdPut('00000000-0000-4000-8000-000000000000'), 404),
    }),
    'a template is made, changed and deleted': (click, s) => ({
      create: async () => {
        const asked = { templateName: 'Reminder', body: 'This is a sample content for this template.' };
        const made = await data(click.sms.smsTemplatesPost(asked));
        s.id = String(made.template_id);
        assert.deepEqual([made.template_name, made.body], ['Reminder', 'This is a sample content for this template.']);
      },
      change: async () => {
        const asked = { templateName: 'I am updated', body: 'Other content' };
        const changed = await data(click.sms.smsTemplatesByTemplateIdPut(Number(s.id), asked));
        assert.deepEqual([changed.template_id, changed.template_name], [Number(s.id), 'I am updated']);
      },
      'it is listed as changed': async () => {
        const rows = rowsOf(await data(click.sms.smsTemplatesGet(1, 100)));
        assert.deepEqual(
          rows.filter(({ template_id }) => String(template_id) === s.id).map(({ template_name, body }) => [template_name, body]),
          [['I am updated', 'Other content']],
        );
      },
      delete: () => data(click.sms.smsTemplatesByTemplateIdDelete(Number(s.id))),
      'it is listed no more': async () =>
        assert.ok(!of(rowsOf(await data(click.sms.smsTemplatesGet(1, 100))), 'template_id').includes(s.id)),
      'it cannot be deleted again': () => wrong(click.sms.smsTemplatesByTemplateIdDelete(Number(s.id)), 404),
    }),
    'a subaccount and its key': (click, s) => ({
      create: async () => {
        const made = await data(click.subaccounts.subaccountsPost(worker('nameP99')));
        s.id = String(made.subaccount_id);
        s.key = String(made.api_key);
        assert.deepEqual([made.api_username, made.email, made.password], ['nameP99', 'nameP99@example.com', undefined]);
      },
      'another key': async () => {
        const fresh = await data(click.subaccounts.subaccountsRegenApiKeyBySubaccountIdPut(Number(s.id)));
        s.fresh = String(fresh.api_key);
        assert.notEqual(s.fresh, s.key);
      },
      'it has that key': async () => {
        const read = await data(click.subaccounts.subaccountsBySubaccountIdGet(Number(s.id)));
        assert.deepEqual([read.subaccount_id, read.api_key], [Number(s.id), s.fresh]);
      },
      change: async () => {
        const asked = { ...worker('nameP99'), firstName: 'Updated' };
        const changed = await data(click.subaccounts.subaccountsBySubaccountIdPut(Number(s.id), asked));
        assert.deepEqual([changed.first_name, changed.last_name], ['Updated', 'Last']);
      },
      delete: async () => {
        await data(click.subaccounts.subaccountsBySubaccountIdDelete(Number(s.id)));
      },
      'it is gone': () => wrong(click.subaccounts.subaccountsBySubaccountIdGet(Number(s.id)), 404),
    }),
    'a return address': (click, s) => ({
      create: async () => {
        const made = await data(click.addresses.postReturnAddressesPost(address));
        s.id = String(made.return_address_id);
        assert.deepEqual([made.address_name, made.address_city, made.address_country], ['John Smith', 'Flynn', 'AU']);
      },
      change: async () => {
        const asked = { ...address, addressName: 'Jane Smith' };
        const changed = await data(click.addresses.postReturnAddressesByReturnAddressIdPut(Number(s.id), asked));
        assert.equal(changed.address_name, 'Jane Smith');
      },
      read: async () => {
        const read = await data(click.addresses.postReturnAddressesByReturnAddressIdGet(Number(s.id)));
        assert.deepEqual([read.return_address_id, read.address_name, read.address_city], [Number(s.id), 'Jane Smith', 'Flynn']);
      },
      list: async () =>
        once(of(rowsOf(await data(click.addresses.postReturnAddressesGet(1, 100))), 'return_address_id'), [s.id], 'addresses'),
      delete: () => data(click.addresses.postReturnAddressesByReturnAddressIdDelete(Number(s.id))),
      'it is gone': () => wrong(click.addresses.postReturnAddressesByReturnAddressIdGet(Number(s.id)), 404),
    }),
    'a rule for receipts': (click, s) => ({
      create: async () => {
        const made = await data(click.rules.smsDeliveryReceiptAutomationPost(rule));
        s.id = String(made.receipt_rule_id);
        assert.deepEqual([made.rule_name, made.action, made.action_address], ['My Rule', 'EMAIL_FIXED', 'john@doe.com']);
      },
      'switch it off': async () => {
        const asked = { ...rule, enabled: 0 };
        const changed = await data(click.rules.smsDeliveryReceiptAutomationPut(Number(s.id), asked));
        assert.deepEqual([changed.rule_name, changed.enabled], ['My Rule', 0]);
      },
      'it is off': async () => assert.equal((await data(click.rules.smsDeliveryReceiptAutomationGet(Number(s.id)))).enabled, 0),
      delete: () => data(click.rules.smsDeliveryReceiptAutomationDelete(Number(s.id))),
      'it is gone': () => wrong(click.rules.smsDeliveryReceiptAutomationGet(Number(s.id)), 404),
    }),
    'a campaign for later is cancelled': (click, s) => ({
      send: async () => {
        const made = await campaign(click, s);
        s.id = String(made.sms_campaign_id);
        assert.deepEqual([made.name, made.list_id], ['My Campaign 1', Number(s.list)]);
      },
      read: async () => {
        const read = await data(click.campaigns.smsCampaignBySmsCampaignIdGet(Number(s.id)));
        assert.deepEqual([read.sms_campaign_id, read.name], [Number(s.id), 'My Campaign 1']);
      },
      'it is listed': async () =>
        once(of(rowsOf(await data(click.campaigns.smsCampaignsGet(1, 100))), 'sms_campaign_id'), [s.id], 'campaigns'),
      cancel: () => data(click.campaigns.smsCampaignsCancelBySmsCampaignIdPut(Number(s.id))),
      'it is cancelled': async () =>
        assert.match(String((await data(click.campaigns.smsCampaignBySmsCampaignIdGet(Number(s.id)))).status), /^cancell?ed$/i),
    }),
    'who is asking, and where to': (click) => ({
      account: async () => {
        const account = await data(click.account.accountGet());
        assert.deepEqual([typeof account.user_id, typeof account.username], ['number', 'string']);
      },
      countries: async () => {
        const rows = (await data(click.countries.countriesGet())) as unknown as Row[];
        assert.ok(rows.length > 0 && rows.every(({ code, value }) => typeof code === 'string' && typeof value === 'string'));
      },
    }),
    'a credential that is refused': (click, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(rowsOf(await data(click.lists.listsGet())))),
      'another is not': () => wrong(another(pair('nobody', 'not-a-key')).lists.listsGet(), 401),
      'it makes nothing': () => wrong(another(pair('nobody', 'not-a-key')).lists.listsPost({ listName: 'Theirs' }), 401),
    }),
    'requests that are wrong': (click) => ({
      'a list that nobody made': () => wrong(click.lists.listsByListIdGet(99_999_999), 404),
      'a list without a name': () => wrong(click.lists.listsPost({} as sdk.ContactList), 400),
      'a template without a text': () => wrong(click.sms.smsTemplatesPost({ templateName: 'None' } as sdk.SmsTemplate), 400),
      'a contact of a list that nobody made': () => refused(contact(click, 99_999_999), 404),
      'a subaccount without a name': () =>
        wrong(click.subaccounts.subaccountsPost({ password: 'Pa55word!long' } as sdk.Subaccount), 400),
    }),
  },
};
