import assert from 'node:assert/strict';
import { Api, GrammyError, InlineKeyboard, InputFile } from 'grammy';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** The token is in each path; an error has the status in a field that is called `error_code`, which is told as `status` too. */
const connect = (place: Place, token: string): Api => {
  const api = new Api(token, { apiRoot: place.url });
  api.config.use(async (ask, method, payload, signal) => {
    const answer = await ask(method, payload, signal);
    if (answer.ok) return answer;
    throw Object.assign(new GrammyError(`${method} failed`, answer, method, payload), { status: answer.error_code });
  });
  return api;
};

/** A person who wrote to the bot, and a group that has the bot among its administrators. */
const person = 987654321;
const group = -1001234567890;

/** The message that an edit of a bot's own one answers. */
const edited = <Message extends object>(answer: Message | true): Message & { readonly text?: string | undefined } => {
  if (answer === true) throw new Error('the edited message is not given back');
  return answer;
};

const letter = (name: string): InputFile => new InputFile(new TextEncoder().encode('Dear Ada,\n'), name);

/** Guide: core.telegram.org/bots/api, "Making requests", "Getting updates", "Available methods", "Updating messages", and grammy.dev. */
export const vendor: Vendor<Api> = {
  document: 'telegram/telegram.org.json',
  header: 'Authorization',
  made: '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11',
  hides: true,
  client: connect,
  flows: {
    'the bot itself': (api, s) => ({
      'it is a bot': async () => {
        const me = await api.getMe();
        assert.deepEqual([me.is_bot, typeof me.id, typeof me.first_name], [true, 'number', 'string']);
        s.id = String(me.id);
      },
      'it stays the same one': async () => assert.equal(String((await api.getMe()).id), s.id),
      'its messages are from it': async () => {
        const { from, text } = await api.sendMessage(person, 'hello');
        assert.deepEqual([text, from?.is_bot, String(from?.id)], ['hello', true, s.id]);
      },
    }),
    'commands of the bot': (api) => ({
      set: async () => {
        const commands = [
          { command: 'start', description: 'Start the bot' },
          { command: 'help', description: 'Show help text' },
        ];
        assert.equal(await api.setMyCommands(commands), true);
      },
      read: async () => {
        const commands = await api.getMyCommands();
        assert.deepEqual(
          commands.map(({ command, description }) => [command, description]),
          [
            ['start', 'Start the bot'],
            ['help', 'Show help text'],
          ],
        );
      },
      'set others': async () => {
        assert.equal(await api.setMyCommands([{ command: 'settings', description: 'Open settings' }]), true);
      },
      'these are instead of the first': async () =>
        assert.deepEqual(
          (await api.getMyCommands()).map(({ command }) => command),
          ['settings'],
        ),
      'set none': async () => assert.equal(await api.setMyCommands([]), true),
      'there are none': async () => assert.deepEqual(await api.getMyCommands(), []),
    }),
    'a webhook is set and removed': (api) => ({
      set: async () => assert.equal(await api.setWebhook('https://bot.example.com/secret-path'), true),
      'it is told': async () => assert.equal((await api.getWebhookInfo()).url, 'https://bot.example.com/secret-path'),
      'set another': async () => assert.equal(await api.setWebhook('https://bot.example.com/other-path'), true),
      'the other is told': async () => assert.equal((await api.getWebhookInfo()).url, 'https://bot.example.com/other-path'),
      remove: async () => assert.equal(await api.deleteWebhook(), true),
      'its address is empty': async () => assert.equal((await api.getWebhookInfo()).url, ''),
    }),
    'a webhook with its settings': (api) => ({
      set: async () => {
        const asked = { max_connections: 20, allowed_updates: ['message', 'callback_query'] as const };
        assert.equal(await api.setWebhook('https://bot.example.com/hook', asked), true);
      },
      'they are told': async () => {
        const info = await api.getWebhookInfo();
        assert.deepEqual([info.url, info.max_connections], ['https://bot.example.com/hook', 20]);
        assert.deepEqual(info.allowed_updates, ['message', 'callback_query']);
      },
      'nothing of a certificate of its own': async () => {
        const info = await api.getWebhookInfo();
        assert.deepEqual([info.has_custom_certificate, typeof info.pending_update_count], [false, 'number']);
      },
    }),
    'a message is sent, edited and deleted': (api, s) => ({
      send: async () => {
        const sent = await api.sendMessage(person, 'Good mornign');
        assert.deepEqual([sent.text, sent.chat.id, typeof sent.date], ['Good mornign', person, 'number']);
        s.id = String(sent.message_id);
      },
      edit: async () => {
        const message = edited(await api.editMessageText(person, Number(s.id), 'Good morning'));
        assert.deepEqual([String(message.message_id), message.text, message.chat.id], [s.id, 'Good morning', person]);
      },
      'forwarded, it is as it was edited': async () =>
        assert.partialDeepStrictEqual(await api.forwardMessage(person, person, Number(s.id)), { text: 'Good morning' }),
      delete: async () => assert.equal(await api.deleteMessage(person, Number(s.id)), true),
      'it cannot be edited': async () => refused(api.editMessageText(person, Number(s.id), 'Good night'), 400),
      'it cannot be deleted again': async () => refused(api.deleteMessage(person, Number(s.id)), 400),
    }),
    'each message has a number of its own': (api, s) => ({
      'send three': async () => {
        const numbers = [];
        for (const text of ['one', 'two', 'three']) numbers.push(String((await api.sendMessage(person, text)).message_id));
        [s.one, s.two, s.three] = numbers as [string, string, string];
        once(numbers, numbers, 'numbers');
      },
      'delete the second': async () => assert.equal(await api.deleteMessage(person, Number(s.two)), true),
      'the first is still there': async () =>
        assert.equal(edited(await api.editMessageText(person, Number(s.one), 'uno')).text, 'uno'),
      'so is the third': async () => assert.equal(edited(await api.editMessageText(person, Number(s.three), 'tre')).text, 'tre'),
      'the second is not': async () => refused(api.editMessageText(person, Number(s.two), 'due'), 400),
    }),
    'a message goes on to others': (api, s) => ({
      send: async () => {
        s.id = String((await api.sendMessage(person, 'The meeting is at ten.')).message_id);
      },
      forward: async () => {
        const there = await api.forwardMessage(group, person, Number(s.id));
        assert.partialDeepStrictEqual(there, { text: 'The meeting is at ten.', chat: { id: group } });
      },
      'copy it': async () => {
        const copy = await api.copyMessage(person, person, Number(s.id));
        assert.equal(typeof copy.message_id, 'number');
        assert.notEqual(String(copy.message_id), s.id);
        s.copy = String(copy.message_id);
      },
      'the copy can be edited': async () => {
        const message = edited(await api.editMessageText(person, Number(s.copy), 'The meeting is at noon.'));
        assert.deepEqual([String(message.message_id), message.text], [s.copy, 'The meeting is at noon.']);
      },
      'what is not there cannot be forwarded': async () => refused(api.forwardMessage(group, person, 999_999_999), 400),
    }),
    'buttons under a message': (api, s) => ({
      send: async () => {
        const reply_markup = new InlineKeyboard().text('Yes', 'answer-yes').text('No', 'answer-no');
        const sent = await api.sendMessage(person, 'Are you coming?', { reply_markup });
        s.id = String(sent.message_id);
        assert.deepEqual(sent.reply_markup?.inline_keyboard, [
          [
            { text: 'Yes', callback_data: 'answer-yes' },
            { text: 'No', callback_data: 'answer-no' },
          ],
        ]);
      },
      'change them': async () => {
        const reply_markup = new InlineKeyboard().url('Where it is', 'https://example.com/map');
        const message = edited(await api.editMessageReplyMarkup(person, Number(s.id), { reply_markup }));
        assert.partialDeepStrictEqual(message, {
          message_id: Number(s.id),
          text: 'Are you coming?',
          reply_markup: { inline_keyboard: [[{ text: 'Where it is', url: 'https://example.com/map' }]] },
        });
      },
      'the text changes without them': async () => {
        const message = edited(await api.editMessageText(person, Number(s.id), 'See you there!'));
        assert.deepEqual([String(message.message_id), message.text], [s.id, 'See you there!']);
      },
    }),
    'a poll from its start to its end': (api, s) => ({
      send: async () => {
        const sent = await api.sendPoll(group, 'Where do we eat?', [{ text: 'Pizza' }, { text: 'Ramen' }], {
          is_anonymous: false,
          allows_multiple_answers: true,
        });
        s.id = String(sent.message_id);
        s.poll = sent.poll.id;
        assert.partialDeepStrictEqual(sent.poll, {
          question: 'Where do we eat?',
          is_anonymous: false,
          allows_multiple_answers: true,
          is_closed: false,
        });
        assert.deepEqual(
          sent.poll.options.map(({ text, voter_count }) => [text, voter_count]),
          [
            ['Pizza', 0],
            ['Ramen', 0],
          ],
        );
      },
      stop: async () => {
        const poll = await api.stopPoll(group, Number(s.id));
        assert.deepEqual([poll.id, poll.question, poll.is_closed], [s.poll, 'Where do we eat?', true]);
      },
      'it cannot be stopped again': async () => refused(api.stopPoll(group, Number(s.id)), 400),
      'a message that is no poll cannot be stopped': async () => {
        const { message_id } = await api.sendMessage(group, 'no poll');
        await refused(api.stopPoll(group, message_id), 400);
      },
    }),
    'contacts, places and venues': (api) => ({
      'a contact': async () => {
        const { contact } = await api.sendContact(person, '+15550100', 'Ada', { last_name: 'Lovelace' });
        assert.partialDeepStrictEqual(contact, { phone_number: '+15550100', first_name: 'Ada', last_name: 'Lovelace' });
      },
      'a place': async () => {
        const { location } = await api.sendLocation(person, 51.5, -0.125);
        assert.deepEqual([location.latitude, location.longitude], [51.5, -0.125]);
      },
      'a venue': async () => {
        const { venue } = await api.sendVenue(person, 48.75, 2.25, 'Town hall', '1 Main Street');
        assert.partialDeepStrictEqual(venue, {
          location: { latitude: 48.75, longitude: 2.25 },
          title: 'Town hall',
          address: '1 Main Street',
        });
      },
      'a die shows one to six': async () => {
        const { dice } = await api.sendDice(person, '🎲');
        assert.equal(dice.emoji, '🎲');
        assert.ok(dice.value >= 1 && dice.value <= 6, `a die shows ${dice.value}`);
      },
    }),
    'a file is sent and sent again': (api, s) => ({
      send: async () => {
        const sent = await api.sendDocument(person, letter('letter.txt'), { caption: 'A letter' });
        assert.deepEqual([sent.caption, sent.document.file_name], ['A letter', 'letter.txt']);
        s.id = String(sent.message_id);
        s.file = given(sent.document.file_id, 'file id');
      },
      'it is there to be read': async () => {
        const file = await api.getFile(s.file);
        assert.deepEqual([file.file_id, typeof file.file_unique_id], [s.file, 'string']);
      },
      'send it by its id': async () => {
        const sent = await api.sendDocument(group, s.file, { caption: 'The same letter' });
        assert.deepEqual([sent.caption, sent.chat.id], ['The same letter', group]);
        assert.equal(typeof sent.document.file_id, 'string');
      },
      'another caption': async () => {
        const message = edited(await api.editMessageCaption(person, Number(s.id), { caption: 'An old letter' }));
        assert.deepEqual([String(message.message_id), message.caption], [s.id, 'An old letter']);
      },
    }),
    'a group has a title and a description': (api) => ({
      'set its title': async () => assert.equal(await api.setChatTitle(group, 'Book club'), true),
      'it has it': async () => assert.partialDeepStrictEqual(await api.getChat(group), { id: group, title: 'Book club' }),
      'set its description': async () => assert.equal(await api.setChatDescription(group, 'A book a month'), true),
      'it has both': async () =>
        assert.partialDeepStrictEqual(await api.getChat(group), { title: 'Book club', description: 'A book a month' }),
      'an empty title is refused': async () => refused(api.setChatTitle(group, ''), 400),
    }),
    'a message is pinned': (api, s) => ({
      'send and pin': async () => {
        s.id = String((await api.sendMessage(group, 'House rules')).message_id);
        assert.equal(await api.pinChatMessage(group, Number(s.id)), true);
      },
      'the group shows it': async () => {
        const pinned = given((await api.getChat(group)).pinned_message, 'pinned message');
        assert.deepEqual([String(pinned.message_id), pinned.text], [s.id, 'House rules']);
      },
      unpin: async () => assert.equal(await api.unpinChatMessage(group, Number(s.id)), true),
      'the group shows none': async () => assert.equal((await api.getChat(group)).pinned_message, undefined),
    }),
    'what is wrong': (api, s) => ({
      'no text': async () => refused(api.raw.sendMessage({ chat_id: person } as never), 400),
      'no chat': async () => refused(api.raw.sendMessage({ text: 'hello' } as never), 400),
      'an error says what it is': async () => {
        const thrown = await refused(api.raw.sendMessage({ chat_id: person } as never), 400);
        assert.ok(thrown instanceof GrammyError);
        assert.deepEqual([thrown.ok, thrown.error_code, typeof thrown.description], [false, 400, 'string']);
      },
      'the same bot goes on': async () => {
        const sent = await api.sendMessage(person, 'hello');
        s.id = String(sent.message_id);
        assert.equal(sent.text, 'hello');
      },
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.equal((await api.getMe()).is_bot, true),
      'another one': async () => refused(another('999999:AAF-nobodyHasThisToken1234567890abcd').getMe(), 401, 404),
      'it cannot send': async () => {
        await refused(another('999999:AAF-nobodyHasThisToken1234567890abcd').sendMessage(person, 'hello'), 401, 404);
      },
    }),
  },
};
