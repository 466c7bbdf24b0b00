import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { parseAllDocuments } from 'yaml';
import type { Json, JsonMap } from '../src/document/document.ts';
import { durationMs } from '../src/kinds/measures.ts';
import { type Door, doors, type StoryAnswer, type StoryServer } from './stories/doors.ts';
import type { StoryListener } from './stories/listener.ts';
import { differences } from './stories/match.ts';
import { bodyWords, requestOf } from './stories/request.ts';

/** A document with requests and the answers they get. `test/stories/writing-stories.md` says how one is written. */
export interface Story {
  readonly story: string;
  /** The rule that it holds, as the language page says it. */
  readonly why?: string;
  /** A path from the project's root, or the text of a document. */
  readonly document: string;
  readonly handlers?: string;
  readonly rows?: JsonMap;
  /** Who sends the requests that do not say it themselves; `credentials`: who their credentials show. */
  readonly as?: Json;
  readonly open?: 'accept';
  /** Whether it listens at `{listener}`. */
  readonly listens?: boolean;
  /** When the clock starts. */
  readonly clock: string;
  readonly doors: readonly Door[];
  readonly steps: readonly JsonMap[];
  /** File and line, for whoever looks for it. */
  readonly place: string;
}

const storyWords = ['story', 'why', 'document', 'handlers', 'rows', 'as', 'open', 'clock', 'doors', 'listens', 'steps'];
const requestWords = ['send', 'as', 'headers', 'signed', ...bodyWords];
const stepWords = [
  ...requestWords,
  'times',
  'expect',
  'keep',
  'administer',
  'input',
  'advance',
  'fire',
  'refused',
  'restart',
  'together',
  'answers',
  'heard',
  'note',
];
const expectWords = ['status', 'headers', 'body', 'text', 'bytes', 'statuses', 'empty'];

/** Reads the stories of one file; several stand one after another, parted by `---`. */
export function readStories(file: string, text: string): Story[] {
  return parseAllDocuments(text).map((document) => {
    const line = text.slice(0, document.range[0]).split('\n').length;
    const place = `${file}:${line}`;
    assert.ok(!document.errors[0], `${place} is not YAML: ${document.errors[0]?.message}`);
    const story = document.toJS() as JsonMap;
    assert.ok(typeof story.story === 'string' && typeof story.document === 'string', `${place} needs a story and a document`);
    assert.ok(Array.isArray(story.steps) && story.steps.length > 0, `${place} needs steps`);
    onlyWords(story, storyWords, place);
    for (const step of story.steps as JsonMap[]) checkStep(step, place);
    return { clock: '2026-06-01T09:00:00Z', doors, ...story, place } as unknown as Story;
  });
}

function checkStep(step: JsonMap, place: string): void {
  onlyWords(step, stepWords, place);
  const acts = ['send', 'administer', 'advance', 'fire', 'restart', 'together', 'answers', 'heard'].filter((word) =>
    Object.hasOwn(step, word),
  );
  assert.equal(
    acts.length,
    1,
    `${place}: a step does one thing, this one ${acts.join(' and ') || 'nothing'}: ${JSON.stringify(step)}`,
  );
  onlyWords((step.expect ?? {}) as JsonMap, expectWords, place);
  for (const one of (step.together ?? []) as JsonMap[]) onlyWords(one, [...requestWords, 'times', 'expect'], place);
}

function onlyWords(map: JsonMap, words: readonly string[], place: string): void {
  for (const key of Object.keys(map)) assert.ok(words.includes(key), `${place}: nobody knows ${key} here`);
}

/** Plays a story; throws at the first step that goes otherwise than told. */
export async function playStory(story: Story, server: StoryServer, listener?: StoryListener): Promise<void> {
  const kept = new Map<string, Json>(listener && [['listener', listener.url]]);
  for (const [index, step] of story.steps.entries()) {
    const where = `${story.place}, step ${index + 1}`;
    if (step.advance !== undefined) await server.advance(milliseconds(String(step.advance), where));
    else if (step.restart !== undefined) await server.restart(asOf(step.restart));
    else if (step.administer !== undefined) await administer(server, step, kept, where);
    else if (step.fire !== undefined) await fire(server, filled(step.fire, kept) as string, step.refused === true, where);
    else if (step.answers !== undefined) listener?.answers(step.answers);
    else if (step.heard !== undefined) await hear(server, listener, filled(step.heard, kept), where);
    else if (step.together !== undefined) await sendTogether(server, step, kept, where);
    else for (let n = 1; n <= Number(step.times ?? 1); n++) await sendOne(server, step, kept.set('n', n), where);
  }
}

/** `restart: true`, or `restart: { as: doctor }` to be taken for another user from then on. */
function asOf(restart: Json): Json | undefined {
  return typeof restart === 'object' && restart !== null ? (restart as JsonMap).as : undefined;
}

function milliseconds(text: string, where: string): number {
  const ms = durationMs(text);
  assert.ok(ms !== undefined, `${where}: ${text} is no duration`);
  return ms;
}

/** `fire: make_ready hold {hold}`. */
async function fire(server: StoryServer, words: string, isRefused: boolean, where: string): Promise<void> {
  const [transition = '', resource = '', id = ''] = words.split(/\s+/);
  const firing = server.fire(resource, id, transition);
  if (isRefused) await assert.rejects(firing, `${where}: ${words} should be refused`);
  else await firing;
}

/** `heard: [{ type: order.placed }]`: what came at the listener since this was asked last, once all that is due is done. */
async function hear(server: StoryServer, listener: StoryListener | undefined, wanted: Json, where: string): Promise<void> {
  assert.ok(listener, `${where}: a story that hears says \`listens: true\``);
  await server.advance(0);
  const came = listener.heard();
  assert.deepEqual(differences(wanted, came, 'heard'), [], `${where}: ${JSON.stringify(came)}`);
}

/** `administer: keys add` with its `input`; what comes out is looked at like a body, and kept by name. */
async function administer(server: StoryServer, step: JsonMap, kept: Map<string, Json>, where: string): Promise<void> {
  const command = String(step.administer);
  const told = server.administer(command, filled(step.input ?? {}, kept) as JsonMap);
  if (step.refused === true) {
    await assert.rejects(told, `${where}: ${command} should be refused`);
    return;
  }
  const result = (await told) as JsonMap;
  const expected = (step.expect as JsonMap | undefined)?.body;
  if (expected !== undefined) {
    const different = differences(filled(expected, kept), result, 'body');
    assert.deepEqual(different, [], `${where}, ${command}: ${JSON.stringify(result)}`);
  }
  for (const [name, word] of Object.entries((step.keep ?? {}) as JsonMap)) {
    const value = result[String(word)];
    assert.ok(value !== undefined, `${where}: nothing to keep at ${String(word)} of ${command}`);
    kept.set(name, value);
  }
}

async function sendOne(server: StoryServer, step: JsonMap, kept: Map<string, Json>, where: string): Promise<void> {
  const answer = await server.send(requestOf(filledRequest(step, kept)));
  verify((step.expect ?? {}) as JsonMap, answer, kept, `${where}, ${filledTarget(String(step.send), kept)}`);
  for (const [name, path] of Object.entries((step.keep ?? {}) as JsonMap)) {
    const value = pick(answer, String(path));
    assert.ok(value !== undefined, `${where}: nothing to keep at ${String(path)} in ${describe(answer)}`);
    kept.set(name, value);
  }
}

/** Sends all at once. `expect: { statuses: [201, 409] }` is what came back, in whatever order. */
async function sendTogether(server: StoryServer, step: JsonMap, kept: Map<string, Json>, where: string): Promise<void> {
  const requests = (step.together as JsonMap[]).flatMap((one) => Array<JsonMap>(Number(one.times ?? 1)).fill(one));
  const sent = requests.map(async (one, index) => {
    const numbered = new Map(kept).set('n', index + 1);
    const answer = await server.send(requestOf(filledRequest(one, numbered)));
    verify((one.expect ?? {}) as JsonMap, answer, numbered, `${where}, ${String(one.send)}`);
    return answer.status;
  });
  const statuses = (await Promise.all(sent)).toSorted((one, other) => one - other);
  const expected = ((step.expect ?? {}) as JsonMap).statuses as number[] | undefined;
  if (expected)
    assert.deepEqual(
      statuses,
      expected.toSorted((one, other) => one - other),
      `${where}: statuses`,
    );
}

function verify(expect: JsonMap, answer: StoryAnswer, kept: ReadonlyMap<string, Json>, where: string): void {
  const wanted = filled(expect, kept) as JsonMap;
  const wrong: string[] = [];
  if (wanted.status !== undefined) wrong.push(...differences(wanted.status, answer.status, 'status'));
  for (const [name, value] of Object.entries((wanted.headers ?? {}) as JsonMap)) {
    wrong.push(
      ...differences(typeof value === 'number' ? String(value) : value, answer.headers[name.toLowerCase()], `header ${name}`),
    );
  }
  if (wanted.text !== undefined) wrong.push(...differences(wanted.text, textOf(answer), 'text'));
  if (wanted.bytes !== undefined) wrong.push(...differences(wanted.bytes, Buffer.from(answer.bytes).toString('hex'), 'bytes'));
  if (wanted.empty === true && answer.bytes.byteLength > 0) wrong.push('the body should be empty');
  if (wanted.body !== undefined) wrong.push(...differences(wanted.body, jsonOf(answer), 'body'));
  if (wrong.length > 0) assert.fail(`${where}\n  ${wrong.join('\n  ')}\n  The answer was ${describe(answer)}`);
}

function filledRequest(step: JsonMap, kept: ReadonlyMap<string, Json>): JsonMap {
  const { send, expect: _expect, keep: _keep, ...rest } = step;
  return { ...(filled(rest, kept) as JsonMap), send: filledTarget(String(send), kept) };
}

/** In a target a kept value is one word of the path or query, unless it is itself a path or an address. */
function filledTarget(line: string, kept: ReadonlyMap<string, Json>): string {
  return line.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = kept.get(name);
    if (value === undefined) return whole;
    const text = String(value);
    if (text.startsWith('/')) return text;
    if (!/^https?:\/\//.test(text)) return encodeURIComponent(text);
    const { pathname, search } = new URL(text);
    return pathname + search;
  });
}

/** Puts kept values in for `{name}`; a string that is nothing else becomes the value, with its type. `{ab*3}` is ababab. */
function filled(value: Json, kept: ReadonlyMap<string, Json>): Json {
  if (typeof value === 'string') {
    const alone = /^\{(\w+)\}$/.exec(value);
    const whole = alone ? kept.get(alone[1] as string) : undefined;
    if (whole !== undefined) return whole;
    return value
      .replaceAll(/\{(\w+)\}/g, (text, name: string) => (kept.has(name) ? String(kept.get(name)) : text))
      .replaceAll(/\{([^{}]+?)\*(\d+)\}/g, (_text, part: string, times: string) => part.repeat(Number(times)));
  }
  if (Array.isArray(value)) return value.map((item: Json) => filled(item, kept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, kept)]));
}

/** `body.items.0.id`, `headers.etag`, or `headers.link ~ <([^>]+)>` for a part of it. */
function pick(answer: StoryAnswer, path: string): Json | undefined {
  const [words = '', pattern] = path.split(' ~ ');
  const [root, ...keys] = words.split('.');
  const start = root === 'body' ? jsonOf(answer) : root === 'text' ? textOf(answer) : (answer.headers as JsonMap);
  const value = keys.reduce<Json | undefined>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as JsonMap)[key] : undefined),
    start,
  );
  return pattern === undefined ? value : new RegExp(pattern, 'u').exec(String(value))?.[1];
}

function textOf(answer: StoryAnswer): string {
  return Buffer.from(answer.bytes).toString('utf8');
}

function jsonOf(answer: StoryAnswer): Json | undefined {
  try {
    return JSON.parse(textOf(answer));
  } catch {
    return undefined;
  }
}

function describe(answer: StoryAnswer): string {
  return `${answer.status} ${JSON.stringify(answer.headers)} ${textOf(answer).slice(0, 1500)}`;
}
