import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type CheckReport, check, type Document, movableClock, parseDocument, readDocument, serve } from '../src/index.ts';
import { isLong } from './long.ts';
import { callersOf } from './stories/callers.ts';
import { openDoor } from './stories/doors.ts';
import { openListener } from './stories/listener.ts';
import { playStory, readStories, type Story } from './story.ts';

/** Every story, through its two doors in turn: `fetch` in process, and a socket. The long run takes each through both. */
const root = join(import.meta.dirname, '..');
const files = globSync('test/stories/**/*.story.yaml', { cwd: root }).map((file) => file.replaceAll(sep, '/'));

let told = 0;

for (const file of files.sort()) {
  for (const story of readStories(file, readFileSync(join(root, file), 'utf8'))) {
    told++;
    for (const door of isLong ? story.doors : [story.doors[told % story.doors.length] ?? 'in process']) {
      test(`${story.story} (${door})`, async () => {
        const folder = mkdtempSync(join(tmpdir(), 'ninefold-story-'));
        const clock = movableClock(Date.parse(story.clock));
        const restarts = story.steps.some((step) => step.restart !== undefined);
        const options = { clock, store: restarts ? join(folder, 'story.sqlite') : ':memory:', ...(await optionsOf(story)) };
        const report = await reportOf(story);
        const start = (as = story.as) =>
          serve(report, { ...options, ...(as !== 'credentials' && { identify: callersOf(report, as) }) });
        const server = await openDoor(door, clock, start);
        const listener = story.listens ? await openListener() : undefined;
        try {
          await playStory(story, server, listener);
        } finally {
          await server.close();
          await listener?.close();
          rmSync(folder, { recursive: true, force: true });
        }
      });
    }
  }
}

/** Documents that were read and checked, by their text: many stories are told of one. */
const known = new Map<string, Promise<CheckReport>>();

function reportOf({ document }: Story): Promise<CheckReport> {
  const found = known.get(document) ?? documentOf(document).then(check);
  known.set(document, found);
  return found;
}

/** A text of several lines is a document itself: Markdown where it begins with a heading, YAML otherwise. */
async function documentOf(text: string): Promise<Document> {
  if (!text.includes('\n')) return readDocument(join(root, text));
  return parseDocument(text, /^#{1,2} /.test(text) ? 'story.md' : 'story.yaml');
}

async function optionsOf(story: Story) {
  const module = story.handlers && (await import(pathToFileURL(join(root, story.handlers)).href));
  return {
    ...(module && { handlers: module.handlers, before: module.before }),
    ...(story.rows && { rows: story.rows }),
    ...(story.open && { open: story.open }),
    ...(story.listens && { allowPrivateWebhooks: true }),
  };
}
