import assert from 'node:assert/strict';
import {
  type LanguageCode,
  Polly,
  paginateListSpeechSynthesisTasks,
  type StartSpeechSynthesisTaskInput,
  type SynthesisTask,
  type SynthesizeSpeechInput,
  type TaskStatus,
  type Voice,
} from '@aws-sdk/client-polly';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { gather, given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). By itself this client speaks HTTP/2, for the
 * one call that streams both ways; here it is given the handler for HTTP/1.1. What the client throws keeps its status
 * below `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Polly => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new Polly({
    endpoint: place.base,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({ requestTimeout: 10_000 }),
  });
  client.middlewareStack.add(
    (next) => async (sent) => {
      try {
        return await next(sent);
      } catch (thrown) {
        const status = (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status !== undefined) Object.defineProperty(thrown as object, 'status', { value: status, enumerable: true });
        throw thrown;
      }
    },
    { step: 'initialize', name: 'status beside the message' },
  );
  return client;
};

/** The guide has a 400 for the service's own exceptions; the description has a number of its own for each, by operation. */
const denied = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> => refused(call, 400, ...described);
/** The guide has 404 for a lexicon that is not there. */
const missing = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 404, described);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const recent = (value: Date | undefined, what: string): void => {
  assert.ok(value instanceof Date, `${what} at no time`);
  assert.ok(Math.abs(value.getTime() - Date.now()) < 600_000, `${what} at ${value.toISOString()}`);
};

/** A lexicon in the W3C's Pronunciation Lexicon Specification, as the guide has it. */
const pls = (words: Readonly<Record<string, string>>, language = 'en-US'): string => `<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0"
      xmlns="http://www.w3.org/2005/01/pronunciation-lexicon"
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
      xsi:schemaLocation="http://www.w3.org/2005/01/pronunciation-lexicon
        http://www.w3.org/TR/2007/CR-pronunciation-lexicon-20071212/pls.xsd"
      alphabet="ipa"
      xml:lang="${language}">
${Object.entries(words)
  .map(([grapheme, alias]) => `  <lexeme>\n    <grapheme>${grapheme}</grapheme>\n    <alias>${alias}</alias>\n  </lexeme>`)
  .join('\n')}
</lexicon>`;
const w3c = pls({ W3C: 'World Wide Web Consortium' });
const lexicons = async (p: Polly): Promise<string[]> => {
  const rows = await pages(
    (NextToken) => p.listLexicons({ ...(NextToken !== undefined && { NextToken }) }),
    (page) => page.Lexicons ?? [],
    (page) => page.NextToken,
  );
  return rows.map(({ Name }) => given(Name, 'Name'));
};
type Asked = NonNullable<Parameters<Polly['describeVoices']>[0]>;
const voices = (p: Polly, asked: Asked = {}): Promise<Voice[]> =>
  pages(
    (NextToken) => p.describeVoices({ ...asked, ...(NextToken !== undefined && { NextToken }) }),
    (page) => page.Voices ?? [],
    (page) => page.NextToken,
  );

const bucket = 'my-speech-bucket';
const topic = 'arn:aws:sns:us-east-1:123456789012:speech-events';
type Wish = Partial<StartSpeechSynthesisTaskInput>;
const start = async (p: Polly, wish: Wish = {}): Promise<SynthesisTask> => {
  const { SynthesisTask } = await p.startSpeechSynthesisTask({
    OutputFormat: 'mp3',
    OutputS3BucketName: bucket,
    Text: 'Hello from Polly.',
    VoiceId: 'Joanna',
    ...wish,
  });
  return given(SynthesisTask, 'SynthesisTask');
};
const task = async (p: Polly, wish: Wish = {}): Promise<string> => given((await start(p, wish)).TaskId, 'TaskId');
const tasks = (p: Polly, Status?: TaskStatus, pageSize = 100): Promise<SynthesisTask[]> =>
  gather(
    paginateListSpeechSynthesisTasks({ client: p, pageSize }, { ...(Status && { Status }) }),
    (page) => page.SynthesisTasks ?? [],
  );
const ids = (rows: readonly SynthesisTask[]): string[] => rows.map(({ TaskId }) => given(TaskId, 'TaskId'));

interface Speech {
  readonly bytes: Uint8Array;
  readonly type: string | undefined;
  readonly characters: number | undefined;
}
const say = async (p: Polly, wish: Partial<SynthesizeSpeechInput> = {}): Promise<Speech> => {
  const how: SynthesizeSpeechInput = { OutputFormat: 'mp3', Text: 'Hello from Polly.', VoiceId: 'Joanna', ...wish };
  const { AudioStream, ContentType, RequestCharacters } = await p.synthesizeSpeech(how);
  const stream = given(AudioStream, 'AudioStream') as { transformToByteArray(): Promise<Uint8Array> };
  return { bytes: await stream.transformToByteArray(), type: ContentType, characters: RequestCharacters };
};
interface Mark {
  readonly time: number;
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly value: string;
}
/** Speech marks come as lines, each of them JSON. */
const marks = ({ bytes }: Speech): Mark[] =>
  Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Mark);

/** Guide: docs.aws.amazon.com/polly/latest/dg (lexicons, voices, SSML, speech marks, asynchronous synthesis) and its API reference. */
export const vendor: Vendor<Polly> = {
  document: 'polly/polly.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a lexicon, from the first to the last day': (p) => ({
      stored: () => p.putLexicon({ Name: 'w3c', Content: w3c }),
      read: async () => {
        const { Lexicon } = await p.getLexicon({ Name: 'w3c' });
        assert.deepEqual([Lexicon?.Name, Lexicon?.Content], ['w3c', w3c]);
      },
      'is in the list': async () => once(await lexicons(p), ['w3c'], 'lexicons'),
      'another in its place': () => p.putLexicon({ Name: 'w3c', Content: pls({ W3C: 'the consortium' }) }),
      'read as it is now': async () => {
        const { Lexicon } = await p.getLexicon({ Name: 'w3c' });
        assert.equal(Lexicon?.Content, pls({ W3C: 'the consortium' }));
        once(await lexicons(p), ['w3c'], 'lexicons');
      },
      deleted: () => p.deleteLexicon({ Name: 'w3c' }),
      gone: () => missing(p.getLexicon({ Name: 'w3c' }), 480),
      'no longer in the list': async () => without(await lexicons(p), 'w3c'),
    }),

    'what is known of a lexicon': (p, s) => ({
      'one of two words': () => p.putLexicon({ Name: 'acronyms', Content: pls({ W3C: 'the consortium', AWS: 'the cloud' }) }),
      'its language and alphabet': async () => {
        const { LexiconAttributes } = await p.getLexicon({ Name: 'acronyms' });
        assert.deepEqual([LexiconAttributes?.LanguageCode, LexiconAttributes?.Alphabet], ['en-US', 'ipa']);
      },
      'its words and size': async () => {
        const { Lexicon, LexiconAttributes } = await p.getLexicon({ Name: 'acronyms' });
        assert.deepEqual([LexiconAttributes?.LexemesCount, LexiconAttributes?.Size], [2, Lexicon?.Content?.length]);
      },
      'its ARN, and when it was stored': async () => {
        const { LexiconAttributes } = await p.getLexicon({ Name: 'acronyms' });
        s.arn = given(LexiconAttributes?.LexiconArn, 'LexiconArn');
        assert.match(s.arn, /^arn:aws[^:]*:polly:[^:]*:\d{12}:lexicon\/acronyms$/);
        recent(LexiconAttributes?.LastModified, 'stored');
      },
      'the list says the same': async () => {
        const { LexiconAttributes } = await p.getLexicon({ Name: 'acronyms' });
        const rows = await pages(
          (NextToken) => p.listLexicons({ ...(NextToken !== undefined && { NextToken }) }),
          (page) => page.Lexicons ?? [],
          (page) => page.NextToken,
        );
        assert.deepEqual(rows.find(({ Name }) => Name === 'acronyms')?.Attributes, LexiconAttributes);
      },
      'in German, with three words, it is the same one': async () => {
        const Content = pls({ ADAC: 'der Automobilclub', BMW: 'die Motorenwerke', TÜV: 'der Verein' }, 'de-DE');
        await p.putLexicon({ Name: 'acronyms', Content });
        const { Lexicon, LexiconAttributes } = await p.getLexicon({ Name: 'acronyms' });
        assert.equal(Lexicon?.Content, Content);
        assert.deepEqual(
          [LexiconAttributes?.LanguageCode, LexiconAttributes?.LexemesCount, LexiconAttributes?.LexiconArn],
          ['de-DE', 3, s.arn],
        );
      },
    }),

    'lexicons through all pages': (p) => ({
      'six are stored, in no order': async () => {
        for (const letter of ['c', 'a', 'f', 'b', 'e', 'd']) {
          await p.putLexicon({ Name: `page${letter}`, Content: pls({ word: letter }) });
        }
      },
      'all of them, each once': async () => {
        const rows = await lexicons(p);
        once(rows, [...new Set(rows), 'pagea', 'pageb', 'pagec', 'paged', 'pagee', 'pagef'], 'lexicons');
      },
      'each with its own content': async () => {
        for (const letter of ['a', 'd', 'f']) {
          const { Lexicon } = await p.getLexicon({ Name: `page${letter}` });
          assert.deepEqual([Lexicon?.Name, Lexicon?.Content], [`page${letter}`, pls({ word: letter })]);
        }
      },
      'two less': async () => {
        await p.deleteLexicon({ Name: 'pageb' });
        await p.deleteLexicon({ Name: 'pagee' });
        const rows = await lexicons(p);
        once(rows, ['pagea', 'pagec', 'paged', 'pagef'], 'lexicons');
        without(rows, 'pageb');
        without(rows, 'pagee');
      },
      'not from a page that never was': () => denied(p.listLexicons({ NextToken: 'no-such-token' }), 480),
      'a name can be used again': async () => {
        await p.putLexicon({ Name: 'pageb', Content: pls({ word: 'again' }) });
        assert.equal((await p.getLexicon({ Name: 'pageb' })).Lexicon?.Content, pls({ word: 'again' }));
        once(await lexicons(p), ['pageb'], 'lexicons');
      },
    }),

    'lexicons that are not taken': (p) => ({
      'what is no XML': () => denied(p.putLexicon({ Name: 'broken', Content: '<lexicon version="1.0"><lexeme>' }), 480),
      'in a language nobody speaks': () =>
        denied(p.putLexicon({ Name: 'klingon', Content: pls({ Qapla: 'success' }, 'tlh') }), 482, 480),
      'of more than 40,000 letters': () => {
        const words = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`W${at}`, 'World Wide Web Consortium']));
        return denied(p.putLexicon({ Name: 'long', Content: pls(words) }), 483);
      },
      'with a name of forbidden letters': () => denied(p.putLexicon({ Name: 'not_allowed', Content: w3c }), 480),
      'with a name of twenty-one': () => denied(p.putLexicon({ Name: 'abcdefghijklmnopqrstu', Content: w3c }), 480),
      'none of them was stored': async () => {
        const rows = await lexicons(p);
        for (const name of ['broken', 'klingon', 'long', 'not_allowed', 'abcdefghijklmnopqrstu']) without(rows, name);
      },
      'what is stored stays when its change is not taken': async () => {
        await p.putLexicon({ Name: 'abcdefghijklmnopqrst', Content: w3c });
        await denied(p.putLexicon({ Name: 'abcdefghijklmnopqrst', Content: 'no lexicon' }), 480);
        assert.equal((await p.getLexicon({ Name: 'abcdefghijklmnopqrst' })).Lexicon?.Content, w3c);
      },
    }),

    'who can speak': (p) => ({
      'all voices, each once': async () => {
        const rows = (await voices(p)).map(({ Id }) => given(Id, 'Id'));
        assert.ok(rows.length > 0, 'nobody can');
        once(rows, [...new Set(rows)], 'voices');
      },
      'each with a name, a language and an engine': async () => {
        for (const voice of await voices(p)) {
          given(voice.Name, 'Name');
          given(voice.LanguageName, 'LanguageName');
          given(voice.LanguageCode, 'LanguageCode');
          oneOf(voice.Gender, 'Female', 'Male');
          assert.ok(given(voice.SupportedEngines, 'SupportedEngines').length > 0, `${voice.Id} has no engine`);
        }
      },
      'Joanna can, in American English': async () => {
        const voice = (await voices(p)).find(({ Id }) => Id === 'Joanna');
        assert.deepEqual(
          [voice?.Name, voice?.Gender, voice?.LanguageCode, voice?.LanguageName],
          ['Joanna', 'Female', 'en-US', 'US English'],
        );
        assert.partialDeepStrictEqual(new Set(voice?.SupportedEngines), new Set(['neural', 'standard']));
      },
      'the same ones when asked again': async () => {
        const sorted = async () => (await voices(p)).map(({ Id }) => Id).toSorted();
        assert.deepEqual(await sorted(), await sorted());
      },
      'not from a page that never was': () => denied(p.describeVoices({ NextToken: 'no-such-token' }), 480),
    }),

    'voices of a language and of an engine': (p) => ({
      'those of British English': async () => {
        const rows = await voices(p, { LanguageCode: 'en-GB' });
        for (const { LanguageCode } of rows) assert.equal(LanguageCode, 'en-GB');
        once(
          rows.map(({ Id }) => given(Id, 'Id')),
          ['Amy', 'Brian', 'Emma'],
          'voices',
        );
      },
      'neural ones': async () => {
        const rows = await voices(p, { Engine: 'neural' });
        for (const { Id, SupportedEngines } of rows) assert.ok(SupportedEngines?.includes('neural'), `${Id} is not neural`);
        without(
          rows.map(({ Id }) => given(Id, 'Id')),
          'Hans',
        );
      },
      'both at once': async () => {
        const rows = await voices(p, { Engine: 'standard', LanguageCode: 'de-DE' });
        for (const { LanguageCode, SupportedEngines } of rows) {
          assert.equal(LanguageCode, 'de-DE');
          assert.ok(SupportedEngines?.includes('standard'), 'not a standard one');
        }
        once(
          rows.map(({ Id }) => given(Id, 'Id')),
          ['Hans', 'Marlene', 'Vicki'],
          'voices',
        );
      },
      'no more than there are': async () => {
        const all = (await voices(p)).map(({ Id }) => given(Id, 'Id'));
        const some = (await voices(p, { LanguageCode: 'fr-FR' })).map(({ Id }) => given(Id, 'Id'));
        once(all, some, 'voices');
        assert.ok(some.length < all.length, 'all of them speak French');
      },
      'who speaks Hindi beside another language': async () => {
        const plain = (await voices(p, { LanguageCode: 'hi-IN' })).map(({ Id }) => given(Id, 'Id'));
        without(plain, 'Aditi');
        const rows = await voices(p, { LanguageCode: 'hi-IN', IncludeAdditionalLanguageCodes: true });
        const aditi = rows.find(({ Id }) => Id === 'Aditi');
        assert.deepEqual([aditi?.LanguageCode, aditi?.AdditionalLanguageCodes], ['en-IN', ['hi-IN']]);
      },
      'not of a language nobody speaks': () => denied(p.describeVoices({ LanguageCode: 'tlh' as LanguageCode }), 480),
    }),

    'text is spoken': (p) => ({
      'as MP3': async () => {
        const { bytes, type } = await say(p);
        assert.equal(type, 'audio/mpeg');
        assert.ok(bytes.length > 0, 'nothing is heard');
      },
      'its letters are counted': async () => {
        assert.equal((await say(p, { Text: 'Hello' })).characters, 5);
        assert.equal((await say(p, { Text: 'Hello, world' })).characters, 12);
      },
      'as Ogg Vorbis': async () => {
        const { bytes, type } = await say(p, { OutputFormat: 'ogg_vorbis', SampleRate: '22050' });
        assert.match(type ?? '', /^(audio|application)\/ogg/);
        assert.ok(bytes.length > 0, 'nothing is heard');
      },
      'as bare numbers': async () => {
        const { bytes, type } = await say(p, { OutputFormat: 'pcm', SampleRate: '8000' });
        assert.match(type ?? '', /^audio\/pcm/);
        assert.ok(bytes.length > 0, 'nothing is heard');
      },
      'by a neural engine': async () => {
        const { bytes, type } = await say(p, { Engine: 'neural', VoiceId: 'Matthew' });
        assert.equal(type, 'audio/mpeg');
        assert.ok(bytes.length > 0, 'nothing is heard');
      },
      'in another language of a bilingual voice': async () => {
        const { type } = await say(p, { VoiceId: 'Aditi', LanguageCode: 'hi-IN', Text: 'नमस्ते' });
        assert.equal(type, 'audio/mpeg');
      },
    }),

    'speech with marks of its own': (p) => ({
      'a pause': async () => {
        const { type } = await say(p, { TextType: 'ssml', Text: '<speak>Hello <break time="300ms"/> world</speak>' });
        assert.equal(type, 'audio/mpeg');
      },
      'the tags are not counted': async () => {
        const { characters } = await say(p, { TextType: 'ssml', Text: '<speak>Hello</speak>' });
        assert.equal(characters, 5);
      },
      'what is only text may look like tags': async () => {
        const { type } = await say(p, { TextType: 'text', Text: '1 < 2' });
        assert.equal(type, 'audio/mpeg');
      },
      'a tag that is not closed': () => denied(say(p, { TextType: 'ssml', Text: '<speak>Hello' }), 482),
      'no tag at all': () => denied(say(p, { TextType: 'ssml', Text: 'Hello' }), 482),
      'not of another type of text': () => denied(say(p, { TextType: 'morse' as 'text' }), 480, 482),
    }),

    'where the words are': (p) => ({
      'as lines of JSON': async () => {
        const { type } = await say(p, { OutputFormat: 'json', SpeechMarkTypes: ['word'], Text: 'Mary had a little lamb.' });
        assert.match(type ?? '', /^application\/x-json-stream/);
      },
      'a mark for every word': async () => {
        const speech = await say(p, { OutputFormat: 'json', SpeechMarkTypes: ['word'], Text: 'Mary had a little lamb.' });
        const found = marks(speech);
        assert.deepEqual(
          found.map(({ type, start: from, end, value }) => [type, from, end, value]),
          [
            ['word', 0, 4, 'Mary'],
            ['word', 5, 8, 'had'],
            ['word', 9, 10, 'a'],
            ['word', 11, 17, 'little'],
            ['word', 18, 22, 'lamb'],
          ],
        );
        const times = found.map(({ time }) => time);
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
        );
      },
      'and for every sentence': async () => {
        const Text = 'Mary had a little lamb. Its fleece was white as snow.';
        const found = marks(await say(p, { OutputFormat: 'json', SpeechMarkTypes: ['sentence', 'word'], Text }));
        assert.equal(found.filter(({ type }) => type === 'sentence').length, 2);
        assert.equal(found.filter(({ type }) => type === 'word').length, 11);
      },
      'not within MP3': () => denied(say(p, { OutputFormat: 'mp3', SpeechMarkTypes: ['word'] }), 485),
      'none of tags within plain text': () =>
        denied(say(p, { OutputFormat: 'json', TextType: 'text', SpeechMarkTypes: ['ssml'] }), 486),
    }),

    'speech after a lexicon': (p) => ({
      'not after one that is not there': () => missing(say(p, { LexiconNames: ['spoken'] }), 483),
      'after one that is': async () => {
        await p.putLexicon({ Name: 'spoken', Content: w3c });
        const { bytes, type } = await say(p, { LexiconNames: ['spoken'], Text: 'W3C' });
        assert.equal(type, 'audio/mpeg');
        assert.ok(bytes.length > 0, 'nothing is heard');
      },
      'after two': async () => {
        await p.putLexicon({ Name: 'second', Content: pls({ AWS: 'the cloud' }) });
        assert.equal((await say(p, { LexiconNames: ['spoken', 'second'] })).type, 'audio/mpeg');
      },
      'not when one of two is not there': () => missing(say(p, { LexiconNames: ['spoken', 'third'] }), 483),
      'not after more than five': () => denied(say(p, { LexiconNames: Array.from({ length: 6 }, () => 'spoken') }), 483),
      'not after one that is deleted': async () => {
        await p.deleteLexicon({ Name: 'spoken' });
        await missing(say(p, { LexiconNames: ['spoken'] }), 483);
        assert.equal((await say(p, { LexiconNames: ['second'] })).type, 'audio/mpeg');
      },
    }),

    'a task, from its start': (p, s) => ({
      started: async () => {
        const made = await start(p, { OutputS3KeyPrefix: 'books/one', SnsTopicArn: topic, SampleRate: '22050' });
        s.id = given(made.TaskId, 'TaskId');
        oneOf(made.TaskStatus, 'scheduled', 'inProgress', 'completed');
        assert.deepEqual([made.OutputFormat, made.VoiceId, made.SampleRate, made.SnsTopicArn], ['mp3', 'Joanna', '22050', topic]);
        recent(made.CreationTime, 'started');
      },
      read: async () => {
        const { SynthesisTask: read } = await p.getSpeechSynthesisTask({ TaskId: s.id });
        assert.deepEqual(
          [read?.TaskId, read?.OutputFormat, read?.VoiceId, read?.SampleRate, read?.SnsTopicArn],
          [s.id, 'mp3', 'Joanna', '22050', topic],
        );
        recent(read?.CreationTime, 'started');
      },
      'its letters are counted': async () => {
        const { SynthesisTask: read } = await p.getSpeechSynthesisTask({ TaskId: s.id });
        assert.equal(read?.RequestCharacters, 'Hello from Polly.'.length);
      },
      'where it is put': async () => {
        const { SynthesisTask: read } = await p.getSpeechSynthesisTask({ TaskId: s.id });
        assert.match(given(read?.OutputUri, 'OutputUri'), /^https:\/\//);
        assert.ok(read?.OutputUri?.includes(`${bucket}/books/one`), `it is put at ${read?.OutputUri}`);
        assert.ok(read?.OutputUri?.endsWith(`${s.id}.mp3`), `it is put at ${read?.OutputUri}`);
      },
      'is in the list, once': async () => once(ids(await tasks(p)), [s.id], 'tasks'),
      'it gets on, and does not fail': async () => {
        const order = ['scheduled', 'inProgress', 'completed'];
        let before = 0;
        for (let turn = 0; turn < 10 && before < 2; turn += 1) {
          const { SynthesisTask: read } = await p.getSpeechSynthesisTask({ TaskId: s.id });
          const now = order.indexOf(read?.TaskStatus ?? '');
          assert.ok(now >= before, `${read?.TaskStatus} after ${order[before]}`);
          before = now;
          if (before < 2) await new Promise((done) => setTimeout(done, 200));
        }
      },
    }),

    'all that a task can be given': (p, s) => ({
      'a lexicon': () => p.putLexicon({ Name: 'tasks', Content: w3c }),
      'marks of a text with tags': async () => {
        const made = await start(p, {
          Engine: 'neural',
          LanguageCode: 'en-US',
          LexiconNames: ['tasks'],
          OutputFormat: 'json',
          SpeechMarkTypes: ['word', 'ssml'],
          Text: '<speak>W3C <mark name="here"/> stands for it</speak>',
          TextType: 'ssml',
        });
        s.id = given(made.TaskId, 'TaskId');
        assert.deepEqual([made.Engine, made.LanguageCode, made.OutputFormat, made.TextType], ['neural', 'en-US', 'json', 'ssml']);
      },
      'all of it is read': async () => {
        const { SynthesisTask: read } = await p.getSpeechSynthesisTask({ TaskId: s.id });
        assert.deepEqual(
          [read?.Engine, read?.LanguageCode, read?.OutputFormat, read?.TextType],
          ['neural', 'en-US', 'json', 'ssml'],
        );
        assert.deepEqual(read?.LexiconNames, ['tasks']);
        assert.deepEqual(read?.SpeechMarkTypes?.toSorted(), ['ssml', 'word']);
      },
      'and listed': async () => {
        const row = (await tasks(p)).find(({ TaskId }) => TaskId === s.id);
        assert.deepEqual([row?.Engine, row?.OutputFormat, row?.LexiconNames], ['neural', 'json', ['tasks']]);
      },
      'a plain one has none of it': async () => {
        const { SynthesisTask: read } = await p.getSpeechSynthesisTask({ TaskId: await task(p) });
        assert.deepEqual([read?.LexiconNames ?? [], read?.SpeechMarkTypes ?? []], [[], []]);
        assert.equal(read?.SnsTopicArn, undefined);
      },
      'the lexicon is deleted, the task stays': async () => {
        await p.deleteLexicon({ Name: 'tasks' });
        assert.equal((await p.getSpeechSynthesisTask({ TaskId: s.id })).SynthesisTask?.TaskId, s.id);
      },
    }),

    'tasks through all pages': (p, s) => ({
      'five are started': async () => {
        for (const at of ['1', '2', '3', '4', '5']) s[`t${at}`] = await task(p, { Text: `Number ${at}.` });
        assert.equal(new Set([s.t1, s.t2, s.t3, s.t4, s.t5]).size, 5, 'not five');
      },
      'no more on a page than asked for': async () => {
        const page = await p.listSpeechSynthesisTasks({ MaxResults: 2 });
        assert.equal(given(page.SynthesisTasks, 'SynthesisTasks').length, 2);
        given(page.NextToken, 'NextToken');
      },
      'all of them, each once': async () => {
        const rows = ids(await tasks(p, undefined, 2));
        once(rows, [...new Set(rows), s.t1, s.t2, s.t3, s.t4, s.t5], 'tasks');
      },
      'one on each page': async () => once(ids(await tasks(p, undefined, 1)), [s.t1, s.t2, s.t3, s.t4, s.t5], 'tasks'),
      'no page of no rows, and none of 101': async () => {
        await denied(p.listSpeechSynthesisTasks({ MaxResults: 0 }), 480);
        await denied(p.listSpeechSynthesisTasks({ MaxResults: 101 }), 480);
      },
      'not from a page that never was': () => denied(p.listSpeechSynthesisTasks({ NextToken: 'no-such-token' }), 480),
    }),

    'tasks by their state': (p, s) => ({
      'two are started': async () => {
        s.one = await task(p);
        s.two = await task(p, { OutputFormat: 'ogg_vorbis', VoiceId: 'Matthew' });
      },
      'each state has its own': async () => {
        for (const status of ['scheduled', 'inProgress', 'completed', 'failed'] as const) {
          for (const { TaskId, TaskStatus } of await tasks(p, status))
            assert.equal(TaskStatus, status, `${TaskId} is not ${status}`);
        }
      },
      'both are in one of them': async () => {
        const seen: string[] = [];
        for (const status of ['scheduled', 'inProgress', 'completed'] as const) seen.push(...ids(await tasks(p, status, 1)));
        for (const id of [s.one, s.two]) assert.ok(seen.includes(id), `${id} is in no state`);
      },
      'neither has failed': async () => {
        const rows = ids(await tasks(p, 'failed'));
        without(rows, s.one);
        without(rows, s.two);
      },
      'each with its own voice': async () => {
        const rows = (await tasks(p)).map((row) => `${row.TaskId} ${row.VoiceId} ${row.OutputFormat}`);
        once(rows, [`${s.one} Joanna mp3`, `${s.two} Matthew ogg_vorbis`], 'tasks');
      },
      'no state that is not there': () => denied(p.listSpeechSynthesisTasks({ Status: 'asleep' as TaskStatus }), 480),
    }),

    'a credential that is refused': (p, s, another) => ({
      'a lexicon and a task': async () => {
        await p.putLexicon({ Name: 'guarded', Content: w3c });
        s.id = await task(p);
      },
      'neither read by another': async () => {
        await stranger(another('a-wrong-token').getLexicon({ Name: 'guarded' }));
        await stranger(another('a-wrong-token').getSpeechSynthesisTask({ TaskId: s.id }));
      },
      'nor listed by another': async () => {
        await stranger(another('a-wrong-token').listLexicons({}));
        await stranger(another('a-wrong-token').listSpeechSynthesisTasks({}));
      },
      'no word for another': () => stranger(say(another('a-wrong-token'))),
      'nothing stored by another': () => stranger(another('a-wrong-token').putLexicon({ Name: 'intruder', Content: w3c })),
      'nothing deleted by another': () => stranger(another('a-wrong-token').deleteLexicon({ Name: 'guarded' })),
      'it is still there, and alone': async () => {
        const rows = await lexicons(p);
        once(rows, ['guarded'], 'lexicons');
        without(rows, 'intruder');
        assert.equal((await p.getLexicon({ Name: 'guarded' })).Lexicon?.Content, w3c);
      },
    }),

    'wrong requests, and what is not there': (p, s) => ({
      'a lexicon that is not there': async () => {
        await missing(p.getLexicon({ Name: 'nosuchlexicon' }), 480);
        await missing(p.deleteLexicon({ Name: 'nosuchlexicon' }), 480);
      },
      'nor is it deleted twice': async () => {
        await p.putLexicon({ Name: 'twice', Content: w3c });
        await p.deleteLexicon({ Name: 'twice' });
        await missing(p.deleteLexicon({ Name: 'twice' }), 480);
      },
      'a task that is not there': () =>
        refused(p.getSpeechSynthesisTask({ TaskId: '00000000-dead-4000-8000-00000000beef' }), 400, 404, 482),
      'a task with forbidden letters': () => denied(p.getSpeechSynthesisTask({ TaskId: 'not a task!' }), 480),
      'text without a voice': async () => {
        s.count = String((await tasks(p)).length);
        await denied(p.synthesizeSpeech({ OutputFormat: 'mp3', Text: 'Hello', VoiceId: undefined }), 480, 487, 488);
        await denied(say(p, { VoiceId: 'Nobody' as 'Joanna' }), 480, 487, 488);
      },
      'numbers too fine for the format': () => denied(say(p, { OutputFormat: 'pcm', SampleRate: '44100' }), 481),
      'more than can be said at once': () => denied(say(p, { Text: 'word '.repeat(1300) }), 480),
      'no task for a bucket of forbidden letters': () => denied(task(p, { OutputS3BucketName: 'No Bucket' }), 481),
      'nor after a lexicon that is not there, and none was started': async () => {
        await missing(task(p, { LexiconNames: ['nosuchlexicon'] }), 487);
        assert.equal(String((await tasks(p)).length), s.count);
      },
    }),
  },
};
