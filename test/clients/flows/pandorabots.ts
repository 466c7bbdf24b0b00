import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { given, type Place, refused, type Vendor } from '../kit.ts';

type Told = (error: Error | null, answer?: unknown) => void;
type Talk = Readonly<Record<string, string | boolean>>;
interface Options {
  qs?: Record<string, unknown>;
  form?: Record<string, unknown>;
  httpModules?: Record<string, unknown>;
}

/** The part of the client that is used here: it has no types of its own. */
interface Client {
  _makeRequestOptions(...asked: readonly unknown[]): Options;
  list(told: Told): void;
  create(told: Told): void;
  delete(told: Told): void;
  get(told: Told): void;
  upload(path: string, told: Told): void;
  remove(file: string, told: Told): void;
  getFile(file: string, told: Told): void;
  compile(told: Told): void;
  talk(params: Talk, told: Told): void;
  atalk(params: Talk, told: Told): void;
}
const PandorabotsClient = createRequire(import.meta.url)('pb-node') as new (options: {
  url: string;
  app_id: string;
  user_key: string;
  botname: string | null;
}) => Client;

/** A bot through its client. What was refused is thrown, with its status, which the client does not tell. */
interface Bot {
  create(): Promise<unknown>;
  delete(): Promise<unknown>;
  files(): Promise<unknown>;
  upload(file: string, content: string): Promise<unknown>;
  read(file: string): Promise<unknown>;
  remove(file: string): Promise<unknown>;
  compile(): Promise<unknown>;
  talk(params: Talk): Promise<Record<string, unknown>>;
  atalk(params: Talk): Promise<Record<string, unknown>>;
}
interface Application {
  list(): Promise<unknown>;
  bot(name: string): Bot;
}

const connect = (place: Place, key: string): Application => {
  const ask = async (name: string | null, call: (client: Client, told: Told) => void): Promise<unknown> => {
    const client = new PandorabotsClient({ url: place.base, app_id: '1409612345678', user_key: key, botname: name });
    let status = 0;
    /** Node's own http, which looks at the status of each answer. */
    const watched = {
      ...http,
      request: (options: http.RequestOptions): http.ClientRequest =>
        http.request(options).on('response', (answer) => {
          status = answer.statusCode ?? 0;
        }),
    };
    const make = client._makeRequestOptions.bind(client);
    /** The client puts into a form what the description and the guide's calls have in the query. */
    client._makeRequestOptions = (...asked) => {
      const { form, ...options } = make(...asked);
      return { ...options, httpModules: { 'http:': watched }, ...(form === undefined ? {} : { qs: form }) };
    };
    const answer = await new Promise<unknown>((resolve, reject) => {
      call(client, (error, body) => {
        if (error === null) resolve(body);
        else reject(error);
      });
    });
    if (status > 299) throw Object.assign(new Error(`${status} ${JSON.stringify(answer)}`), { status });
    return answer;
  };
  const object = async (asked: Promise<unknown>): Promise<Record<string, unknown>> => {
    const answer = await asked;
    assert.ok(typeof answer === 'object' && answer !== null && !Array.isArray(answer), 'the answer is no object');
    return answer as Record<string, unknown>;
  };
  return {
    list: () => ask(null, (client, told) => client.list(told)),
    bot: (name) => ({
      create: () => ask(name, (client, told) => client.create(told)),
      delete: () => ask(name, (client, told) => client.delete(told)),
      files: () => ask(name, (client, told) => client.get(told)),
      upload: async (file, content) => {
        const folder = await mkdtemp(join(tmpdir(), 'pandorabots-'));
        try {
          const path = join(folder, file);
          await writeFile(path, content);
          return await ask(name, (client, told) => client.upload(path, told));
        } finally {
          await rm(folder, { recursive: true });
        }
      },
      read: (file) => ask(name, (client, told) => client.getFile(file, told)),
      remove: (file) => ask(name, (client, told) => client.remove(file, told)),
      compile: () => ask(name, (client, told) => client.compile(told)),
      talk: (params) => object(ask(name, (client, told) => client.talk(params, told))),
      atalk: (params) => object(ask(name, (client, told) => client.atalk(params, told))),
    }),
  };
};

/** Every string that an answer holds, wherever: lists are described as info for each, without a shape. */
const strings = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
};
/** The rows of a list, whether it is bare or within an object, that name this bot. */
const named = (list: unknown, name: string): number => {
  assert.ok(typeof list === 'object' && list !== null, 'the answer is no list');
  const rows: unknown[] = Array.isArray(list) ? list : (Object.values(list).find(Array.isArray) ?? Object.entries(list));
  return rows.filter((row) => strings(row).includes(name)).length;
};
const listed = async (a: Application, ...names: readonly string[]): Promise<void> => {
  const list = await a.list();
  for (const name of names)
    assert.equal(named(list, name), 1, `the list of bots holds "${name}" ${named(list, name)} times, not once`);
};
const unlisted = async (a: Application, ...names: readonly string[]): Promise<void> => {
  const list = await a.list();
  for (const name of names) assert.equal(named(list, name), 0, `the list of bots holds "${name}"`);
};
/** How a file is named in a list of files: with its extension or, where its kind is told by its place, without. */
const has = (files: unknown, file: string): boolean => {
  const [stem = ''] = file.split('.');
  return strings(files).some((one) => one === file || one === stem);
};

const aiml = (pattern: string, template: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<aiml version="2.0">
  <category><pattern>${pattern}</pattern><template>${template}</template></category>
</aiml>
`;
/** An answer that is text, also where the client has read it as JSON. */
const text = (answer: unknown): string => (typeof answer === 'string' ? answer : JSON.stringify(answer)).trim();
const said = (answer: Record<string, unknown>): string[] => {
  const { responses } = answer;
  assert.ok(Array.isArray(responses) && responses.length > 0, 'the bot said nothing');
  return responses.map(String);
};
const talking = async (bot: Bot): Promise<void> => {
  await bot.create();
  await bot.upload('greeting.aiml', aiml('HELLO', 'Hi there!'));
  await bot.compile();
};

/** A file of a kind which is JSON, from its upload to its end. */
const kept = (a: Application, name: string, file: string, first: unknown, second: unknown) => {
  const bot = a.bot(name);
  return {
    'create a bot': async () => bot.create(),
    upload: async () => bot.upload(file, JSON.stringify(first)),
    'read it': async () => assert.deepEqual(await bot.read(file), first),
    // A bot has one file of properties and one of predicates at most: how a list names them is not said.
    'it is among the files': async () => assert.ok(has(await bot.files(), file) || file.startsWith(name), 'it is not'),
    'upload another in its place': async () => bot.upload(file, JSON.stringify(second)),
    'it is the other one': async () => assert.deepEqual(await bot.read(file), second),
    remove: async () => bot.remove(file),
    gone: async () => refused(bot.read(file), 412),
  };
};

/** Guide: pandorabots.com/docs, "API Basics" and "API Endpoints"; pb-node's README. */
export const vendor: Vendor<Application> = {
  document: 'pandorabots/pandorabots.com.json',
  // Not a header: the client puts its key into the query.
  header: 'user_key',
  made: '5c1f0e8a7b6d4c3b2a190f8e7d6c5b4a',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a bot from its making to its end': (a) => {
      const bot = a.bot('olimpia');
      return {
        'it is not there yet': async () => unlisted(a, 'olimpia'),
        create: async () => bot.create(),
        'it is listed': async () => listed(a, 'olimpia'),
        'its files are listed': async () => assert.equal(typeof (await bot.files()), 'object'),
        delete: async () => bot.delete(),
        gone: async () => refused(bot.files(), 404),
        'it is listed no more': async () => unlisted(a, 'olimpia'),
        'it cannot be deleted again': async () => refused(bot.delete(), 412),
      };
    },

    'several bots': (a) => ({
      create: async () => {
        for (const name of ['bot1', 'bot2', 'bot3', 'bot4']) await a.bot(name).create();
      },
      'list each once': async () => listed(a, 'bot1', 'bot2', 'bot3', 'bot4'),
      'delete one': async () => a.bot('bot3').delete(),
      'list the others': async () => {
        await listed(a, 'bot1', 'bot2', 'bot4');
        await unlisted(a, 'bot3');
      },
      'create it again': async () => a.bot('bot3').create(),
      'it is back': async () => listed(a, 'bot3'),
    }),

    'a name that is taken': (a) => {
      const bot = a.bot('taken');
      return {
        create: async () => bot.create(),
        'a file of it': async () => bot.upload('colors.set', '[["red"]]'),
        'not a second time': async () => refused(bot.create(), 409),
        'it is listed once': async () => listed(a, 'taken'),
        'it kept its file': async () => assert.deepEqual(await bot.read('colors.set'), [['red']]),
        'free again after its end': async () => {
          await bot.delete();
          await bot.create();
        },
        'without the file of the first': async () => refused(bot.read('colors.set'), 412),
      };
    },

    'names that are wrong': (a) => ({
      'too short': async () => refused(a.bot('ab').create(), 400),
      'too long': async () => refused(a.bot('a'.repeat(65)).create(), 400),
      'with capitals': async () => refused(a.bot('Olimpia').create(), 400),
      'with a dash': async () => refused(a.bot('my-bot').create(), 400),
      'none was made': async () => unlisted(a, 'ab', 'Olimpia', 'my-bot'),
      'the longest that is right': async () => a.bot('b'.repeat(64)).create(),
      'the end of a wrong one': async () => refused(a.bot('my-bot').delete(), 400),
    }),

    'an AIML file': (a) => {
      const bot = a.bot('foobot');
      return {
        'create a bot': async () => bot.create(),
        upload: async () => bot.upload('greeting.aiml', aiml('HELLO', 'Hi there!')),
        'read it': async () => assert.equal(text(await bot.read('greeting.aiml')), aiml('HELLO', 'Hi there!').trim()),
        'it is among the files': async () => assert.ok(has(await bot.files(), 'greeting.aiml'), 'it is not'),
        'upload another in its place': async () => bot.upload('greeting.aiml', aiml('HELLO', 'Good morning!')),
        'it is the other one': async () =>
          assert.equal(text(await bot.read('greeting.aiml')), aiml('HELLO', 'Good morning!').trim()),
        'a second file': async () => bot.upload('farewell.aiml', aiml('BYE', 'See you!')),
        'remove the first': async () => bot.remove('greeting.aiml'),
        gone: async () => refused(bot.read('greeting.aiml'), 412),
        'the second is there': async () => {
          const files = await bot.files();
          assert.ok(has(files, 'farewell.aiml') && !has(files, 'greeting.aiml'));
        },
      };
    },

    'a set': (a) => kept(a, 'setbot', 'colors.set', [['red'], ['green']], [['red'], ['dark', 'blue']]),
    'a map': (a) =>
      kept(
        a,
        'mapbot',
        'capitals.map',
        [['france', 'Paris']],
        [
          ['france', 'Paris'],
          ['peru', 'Lima'],
        ],
      ),
    'a substitution': (a) => kept(a, 'subbot', 'normal.substitution', [[' dont ', ' do not ']], [[' cant ', ' can not ']]),
    'the properties of a bot': (a) =>
      kept(
        a,
        'propbot',
        'propbot.properties',
        [
          ['name', 'Foo'],
          ['age', '3'],
        ],
        [['name', 'Bar']],
      ),
    'the defaults of its predicates': (a) => kept(a, 'predbot', 'predbot.pdefaults', [['he', 'somebody']], [['it', 'something']]),

    'files of two bots': (a) => ({
      create: async () => {
        await a.bot('first').create();
        await a.bot('second').create();
      },
      'one of the same name for each': async () => {
        await a.bot('first').upload('colors.set', '[["red"]]');
        await a.bot('second').upload('colors.set', '[["blue"]]');
      },
      'one of the same name and another kind': async () => a.bot('first').upload('colors.map', '[["red","warm"]]'),
      'each has its own': async () => {
        assert.deepEqual(await a.bot('first').read('colors.set'), [['red']]);
        assert.deepEqual(await a.bot('second').read('colors.set'), [['blue']]);
        assert.deepEqual(await a.bot('first').read('colors.map'), [['red', 'warm']]);
      },
      'remove that of the first': async () => a.bot('first').remove('colors.set'),
      'the others stay': async () => {
        assert.deepEqual(await a.bot('second').read('colors.set'), [['blue']]);
        assert.deepEqual(await a.bot('first').read('colors.map'), [['red', 'warm']]);
      },
      'delete the second': async () => a.bot('second').delete(),
      'its file is gone with it': async () => refused(a.bot('second').read('colors.set'), 412),
    }),

    'a talk with a bot': (a, s) => {
      const bot = a.bot('talker');
      return {
        'create a bot': async () => bot.create(),
        'upload what it knows': async () => bot.upload('greeting.aiml', aiml('HELLO', 'Hi there!')),
        'not before it is compiled': async () => refused(bot.talk({ input: 'hello' }), 412),
        compile: async () => bot.compile(),
        talk: async () => {
          const answer = await bot.talk({ input: 'hello', client_name: 'pbnode001' });
          s.said = said(answer)[0];
          s.session = String(given(answer.sessionid, 'sessionid'));
        },
        'it says what it was taught': async () => assert.equal(s.said, 'Hi there!'),
        'on in the same session': async () => {
          const answer = await bot.talk({ input: 'hello', client_name: 'pbnode001', sessionid: s.session });
          assert.equal(String(answer.sessionid), s.session);
        },
        'as if for the first time': async () => said(await bot.talk({ input: 'hello', client_name: 'pbnode001', reset: true })),
      };
    },

    'a talk with somebody new': (a, s) => {
      const bot = a.bot('stranger');
      return {
        'a bot that talks': async () => talking(bot),
        'a name is given': async () => {
          const answer = await bot.atalk({ input: 'hello' });
          said(answer);
          s.name = String(given(answer.client_name, 'client_name'));
          s.session = String(given(answer.sessionid, 'sessionid'));
        },
        'the next one has another': async () => {
          const answer = await bot.atalk({ input: 'hello' });
          assert.notEqual(String(given(answer.client_name, 'client_name')), s.name);
        },
        'on by that name': async () => {
          const answer = await bot.talk({ input: 'hello', client_name: s.name, sessionid: s.session });
          said(answer);
          assert.equal(String(answer.sessionid), s.session);
        },
        'not with a bot that is not there': async () => refused(a.bot('nobody').atalk({ input: 'hello' }), 412),
      };
    },

    'talks that are wrong': (a) => ({
      'a bot that is not there': async () => refused(a.bot('nobody').talk({ input: 'hello' }), 412),
      'its compilation': async () => refused(a.bot('nobody').compile(), 400),
      'a bot that talks': async () => talking(a.bot('talker')),
      'nothing to say': async () => refused(a.bot('talker').talk({}), 400),
      'too much to say': async () => refused(a.bot('talker').talk({ input: 'hello '.repeat(200) }), 400),
      'a client of no right name': async () => refused(a.bot('talker').talk({ input: 'hello', client_name: 'A!' }), 400),
    }),

    'files that are wrong': (a) => {
      const bot = a.bot('foobot');
      return {
        'create a bot': async () => bot.create(),
        'a kind that is none': async () => refused(bot.read('notes.txt'), 404),
        'its upload': async () => refused(bot.upload('notes.txt', 'hello'), 404),
        'its end': async () => refused(bot.remove('notes.txt'), 404),
        'a set that is no JSON': async () => refused(bot.upload('colors.set', '[["red"'), 400),
        'it was not kept': async () => refused(bot.read('colors.set'), 412),
        'the end of a file that is not there': async () => refused(bot.remove('colors.set'), 412),
        'a file of a bot that is not there': async () => refused(a.bot('nobody').upload('colors.set', '[["red"]]'), 412),
      };
    },

    'a key that is refused': (a, _, another) => {
      const b = another('nobody-has-this-key');
      return {
        'the right one': async () => a.bot('guarded').create(),
        'a wrong one lists nothing': async () => refused(b.list(), 401),
        'it makes nothing': async () => refused(b.bot('intruder').create(), 401),
        'it deletes nothing': async () => refused(b.bot('guarded').delete(), 401),
        'all is as it was': async () => {
          await listed(a, 'guarded');
          await unlisted(a, 'intruder');
        },
      };
    },
  },
};
