import assert from 'node:assert/strict';
import { type Models, ServerClient } from 'postmark';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

const mail: Models.Message = {
  From: 'sender@example.com',
  To: 'receiver@example.com',
  Subject: 'Hello from Postmark',
  TextBody: 'Hello dear Postmark user.',
  HtmlBody: '<strong>Hello</strong> dear Postmark user.',
  Tag: 'invitation',
};

const words = {
  Subject: 'Welcome to {{product_name}}',
  HtmlBody: '<p>Hello, {{name}}</p>',
  TextBody: 'Hello, {{name}}',
};

const template = async (postmark: ServerClient, s: State, name: string, alias?: string): Promise<void> => {
  const made = await postmark.createTemplate({ Name: name, ...words, ...(alias === undefined ? {} : { Alias: alias }) });
  s.id = String(given(made.TemplateId, 'TemplateId'));
};

const rule = async (postmark: ServerClient, address: string): Promise<string> =>
  String(given((await postmark.createInboundRuleTrigger({ Rule: address })).ID, 'ID'));

const ids = (rows: readonly { ID: number | string }[] | undefined): string[] => (rows ?? []).map(({ ID }) => String(ID));

/** Postmark refuses what is wrong or not there with 422 and a code of its own; 404 is of paths alone, and taken too. */
const gone = [422, 404] as const;

/**
 * The client writes `/triggers/inboundRules` and `/deliveryStats`, the guide and the description have both in lower case: Postmark
 * takes either. It reads a list of templates from `Templates`, which the description calls `Templates API`: no flow asks for one.
 *
 * Guide: postmarkapp.com/developer, "Sending an email", "Templates", "Server", "Inbound rules", "Bounces", "Messages", "Stats".
 */
export const vendor: Vendor<ServerClient> = {
  document: 'postmark/server.json',
  header: 'X-Postmark-Server-Token',
  made: '5b1e0f3a-7c2d-4e8b-9a6f-1d4c8b2e7f05',
  client: ({ port }: Place, token: string) => new ServerClient(token, { useHttps: false, requestHost: `127.0.0.1:${port}` }),
  flows: {
    'a message is sent': (postmark, s) => ({
      send: async () => {
        const sent = await postmark.sendEmail(mail);
        s.id = given(sent.MessageID, 'MessageID');
        assert.deepEqual([sent.ErrorCode, sent.To], [0, 'receiver@example.com']);
      },
      'another one has an id of its own': async () => assert.notEqual((await postmark.sendEmail(mail)).MessageID, s.id),
      'it has its details': async () => {
        const read = await postmark.getOutboundMessageDetails(s.id);
        assert.deepEqual([read.MessageID, read.Subject, read.Tag], [s.id, 'Hello from Postmark', 'invitation']);
      },
    }),
    'messages are sent in a batch': (postmark, s) => ({
      send: async () => {
        const sent = await postmark.sendEmailBatch([
          { ...mail, To: 'one@example.com' },
          { ...mail, To: 'two@example.com' },
        ]);
        s.ids = sent.map(({ MessageID }) => given(MessageID, 'MessageID')).join(' ');
        assert.deepEqual(
          sent.map(({ ErrorCode, To }) => [ErrorCode, To]),
          [
            [0, 'one@example.com'],
            [0, 'two@example.com'],
          ],
        );
      },
      'each has an id of its own': async () => assert.equal(new Set(s.ids.split(' ')).size, 2),
    }),
    'messages that were sent': (postmark, s) => ({
      'send two': async () => {
        s.one = given((await postmark.sendEmail({ ...mail, To: 'ada@example.com', Tag: 'ada' })).MessageID, 'MessageID');
        s.two = given((await postmark.sendEmail({ ...mail, To: 'bob@example.com', Tag: 'bob' })).MessageID, 'MessageID');
      },
      'both are listed': async () => {
        const { Messages } = await postmark.getOutboundMessages({ count: 50, offset: 0 });
        once(
          Messages.map(({ MessageID }) => MessageID),
          [s.one, s.two],
          'messages',
        );
      },
      'by tag': async () => {
        const { Messages } = await postmark.getOutboundMessages({ count: 50, offset: 0, tag: 'ada' });
        assert.deepEqual(
          Messages.map(({ MessageID }) => MessageID),
          [s.one],
        );
      },
      'one that was never sent': async () => {
        await refused(postmark.getOutboundMessageDetails('0a129aee-e1cd-480d-b08d-4f48548ff48d'), ...gone);
      },
    }),
    'a template is made, changed and deleted': (postmark, s) => ({
      create: async () => {
        const made = await postmark.createTemplate({ Name: 'Onboarding', ...words });
        s.id = String(given(made.TemplateId, 'TemplateId'));
        assert.equal(made.Name, 'Onboarding');
      },
      read: async () => {
        const read = await postmark.getTemplate(Number(s.id));
        assert.partialDeepStrictEqual(read, { Name: 'Onboarding', ...words });
      },
      change: async () => {
        const changed = await postmark.editTemplate(Number(s.id), { Name: 'Onboarding, second', Subject: 'Hi, {{name}}' });
        assert.deepEqual([String(changed.TemplateId), changed.Name], [s.id, 'Onboarding, second']);
      },
      'it keeps what was not changed': async () => {
        const read = await postmark.getTemplate(Number(s.id));
        assert.deepEqual([read.Name, read.Subject, read.TextBody], ['Onboarding, second', 'Hi, {{name}}', words.TextBody]);
      },
      delete: async () => postmark.deleteTemplate(Number(s.id)),
      'it is gone': async () => {
        await refused(postmark.getTemplate(Number(s.id)), ...gone);
      },
      'it cannot be deleted again': async () => {
        await refused(postmark.deleteTemplate(Number(s.id)), ...gone);
      },
    }),
    'a template by its alias': (postmark, s) => ({
      create: async () => template(postmark, s, 'Receipt', 'receipt-v1'),
      'read it by its alias': async () => {
        const read = await postmark.getTemplate('receipt-v1');
        assert.deepEqual([read.Name, read.Alias], ['Receipt', 'receipt-v1']);
      },
      'change it by its alias': async () => {
        assert.equal((await postmark.editTemplate('receipt-v1', { Name: 'Receipt of payment' })).Name, 'Receipt of payment');
      },
      'its number leads to the same': async () =>
        assert.equal((await postmark.getTemplate(Number(s.id))).Name, 'Receipt of payment'),
      'delete it by its alias': async () => postmark.deleteTemplate('receipt-v1'),
      'it is gone by both': async () => {
        await refused(postmark.getTemplate('receipt-v1'), ...gone);
        await refused(postmark.getTemplate(Number(s.id)), ...gone);
      },
    }),
    'a template is tried and not kept': (postmark) => ({
      validate: async () => {
        const tried = await postmark.validateTemplate({ ...words, TestRenderModel: { name: 'Ada', product_name: 'Ninefold' } });
        assert.equal(typeof tried.AllContentIsValid, 'boolean');
        assert.equal(typeof tried.Subject.ContentIsValid, 'boolean');
      },
      'it gives each part back': async () => {
        const tried = await postmark.validateTemplate(words);
        assert.equal(typeof tried.HtmlBody.RenderedContent, 'string');
      },
    }),
    'messages from a template': (postmark, s) => ({
      'a template': async () => template(postmark, s, 'Reminder', 'reminder'),
      send: async () => {
        const sent = await postmark.sendEmailWithTemplate({
          From: 'sender@example.com',
          To: 'receiver@example.com',
          TemplateId: Number(s.id),
          TemplateAlias: 'reminder',
          TemplateModel: { name: 'Ada' },
        });
        assert.deepEqual([sent.ErrorCode, sent.To, typeof sent.MessageID], [0, 'receiver@example.com', 'string']);
      },
      'send two': async () => {
        const one = { From: 'sender@example.com', TemplateId: Number(s.id), TemplateAlias: 'reminder', TemplateModel: {} };
        const sent = await postmark.sendEmailBatchWithTemplates([
          { ...one, To: 'one@example.com' },
          { ...one, To: 'two@example.com' },
        ]);
        assert.deepEqual(
          sent.map(({ To }) => To),
          ['one@example.com', 'two@example.com'],
        );
      },
      'there has to be a receiver': async () => {
        const asked = { From: 'sender@example.com', TemplateId: Number(s.id), TemplateAlias: 'reminder', TemplateModel: {} };
        await refused(postmark.sendEmailWithTemplate(asked), 422);
      },
    }),
    'the server is renamed': (postmark, s) => ({
      read: async () => {
        const read = await postmark.getServer();
        s.id = String(given(read.ID, 'ID'));
        s.color = given(read.Color, 'Color');
        s.hash = given(read.InboundHash, 'InboundHash');
      },
      rename: async () => {
        const changed = await postmark.editServer({ Name: 'Production Test' });
        assert.deepEqual([String(changed.ID), changed.Name], [s.id, 'Production Test']);
      },
      'it stays renamed, and keeps the rest': async () => {
        const read = await postmark.getServer();
        assert.deepEqual([read.Name, read.Color, read.InboundHash], ['Production Test', s.color, s.hash]);
      },
      'another colour': async () => {
        assert.equal((await postmark.editServer({ Color: 'purple' })).Color, 'purple');
        assert.deepEqual(((read) => [read.Name, read.Color])(await postmark.getServer()), ['Production Test', 'purple']);
      },
      'no such colour': async () => {
        await refused(postmark.editServer({ Color: 'invisible' }), 422);
      },
      'it has its colour still': async () => assert.equal((await postmark.getServer()).Color, 'purple'),
    }),
    'where the server tells of its mail': (postmark) => ({
      set: async () => {
        const asked = {
          InboundHookUrl: 'https://hooks.example.com/inbound',
          BounceHookUrl: 'https://hooks.example.com/bounce',
          InboundSpamThreshold: 5,
          TrackOpens: true,
        };
        assert.partialDeepStrictEqual(await postmark.editServer(asked), asked);
      },
      'change one': async () => {
        const changed = await postmark.editServer({ BounceHookUrl: 'https://hooks.example.com/bounces' });
        assert.equal(changed.BounceHookUrl, 'https://hooks.example.com/bounces');
      },
      'the others stay': async () => {
        const read = await postmark.getServer();
        assert.deepEqual(
          [read.InboundHookUrl, read.InboundSpamThreshold, read.TrackOpens],
          ['https://hooks.example.com/inbound', 5, true],
        );
      },
      'a threshold is a number': async () => {
        await refused(postmark.editServer({ InboundSpamThreshold: 'low' as unknown as number }), 422);
      },
    }),
    'a rule for inbound mail': (postmark, s) => ({
      create: async () => {
        const made = await postmark.createInboundRuleTrigger({ Rule: 'someone@example.com' });
        s.id = String(given(made.ID, 'ID'));
        assert.equal(made.Rule, 'someone@example.com');
      },
      list: async () => {
        const { InboundRules } = await postmark.getInboundRuleTriggers({ count: 50, offset: 0 });
        once(ids(InboundRules), [s.id], 'rules');
        assert.equal(InboundRules.find(({ ID }) => String(ID) === s.id)?.Rule, 'someone@example.com');
      },
      delete: async () => {
        assert.equal((await postmark.deleteInboundRuleTrigger(Number(s.id))).ErrorCode, 0);
      },
      'it is not listed': async () =>
        assert.ok(!ids((await postmark.getInboundRuleTriggers({ count: 50, offset: 0 })).InboundRules).includes(s.id)),
      'it cannot be deleted again': async () => {
        await refused(postmark.deleteInboundRuleTrigger(Number(s.id)), ...gone);
      },
    }),
    'rules through pages of an offset': (postmark, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await rule(postmark, `sender${n}@example.com`);
      },
      'pages of two, until all are read': async () => {
        let read = 0;
        const rows = await pages(
          async (from) => postmark.getInboundRuleTriggers({ count: 2, offset: Number(from ?? 0) }),
          ({ InboundRules }) => ids(InboundRules),
          ({ InboundRules, TotalCount }) => {
            read += InboundRules.length;
            return InboundRules.length === 0 || read >= TotalCount ? undefined : String(read);
          },
        );
        once(rows, [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages');
        s.count = String(rows.length);
      },
      'each page says how many there are in all': async () => {
        const page = await postmark.getInboundRuleTriggers({ count: 2, offset: 0 });
        assert.deepEqual([page.InboundRules.length, String(page.TotalCount)], [2, s.count]);
      },
      'the second page has others than the first': async () => {
        const first = ids((await postmark.getInboundRuleTriggers({ count: 2, offset: 0 })).InboundRules);
        const second = ids((await postmark.getInboundRuleTriggers({ count: 2, offset: 2 })).InboundRules);
        assert.deepEqual(
          second.filter((id) => first.includes(id)),
          [],
        );
      },
    }),
    'a bounced address is activated again': (postmark, s) => ({
      list: async () => {
        const { Bounces } = await postmark.getBounces({ count: 50, offset: 0 });
        s.id = String(given(Bounces[0], 'bounce').ID);
      },
      read: async () => {
        const read = await postmark.getBounce(Number(s.id));
        assert.deepEqual([String(read.ID), typeof read.Inactive, typeof read.CanActivate], [s.id, 'boolean', 'boolean']);
      },
      activate: async () => assert.equal(String((await postmark.activateBounce(Number(s.id))).Bounce.ID), s.id),
      'it is not inactive': async () => assert.equal((await postmark.getBounce(Number(s.id))).Inactive, false),
      'a bounce that is not there': async () => {
        await refused(postmark.activateBounce(692560173), ...gone);
      },
    }),
    'what was delivered': (postmark) => ({
      'delivery statistics': async () => {
        const read = await postmark.getDeliveryStatistics();
        assert.deepEqual([typeof read.InactiveMails, Array.isArray(read.Bounces)], ['number', true]);
      },
      'an overview': async () => assert.equal(typeof (await postmark.getOutboundOverview()).Sent, 'number'),
      'an overview of a tag': async () =>
        assert.equal(typeof (await postmark.getOutboundOverview({ tag: 'invitation' })).Sent, 'number'),
    }),
    'a wrong request': (postmark) => ({
      'a template needs a name': async () => {
        await refused(postmark.createTemplate({ Alias: 'nameless', ...words } as Models.CreateTemplateRequest), 422);
      },
      'it was not made': async () => {
        await refused(postmark.getTemplate('nameless'), ...gone);
      },
      'links are followed in one of four ways': async () => {
        await refused(postmark.sendEmail({ ...mail, TrackLinks: 'Everywhere' as Models.LinkTrackingOptions }), 422);
      },
      'a rule is an address': async () => {
        await refused(postmark.createInboundRuleTrigger({ Rule: 12 as unknown as string }), 422);
      },
    }),
    'a credential that is refused': (_postmark, _s, another) => ({
      'a token of no server': async () => {
        await refused(another('nobody').getServer(), 401);
      },
      'nor does it send': async () => {
        await refused(another('nobody').sendEmail(mail), 401);
      },
    }),
  },
  strict: ['a credential that is refused'],
};
