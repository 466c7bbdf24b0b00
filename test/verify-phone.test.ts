import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inTemporaryFolder } from '../bench/temporary-folder.ts';
import { verifyHtml } from '../src/cli/verify/reports.ts';
import type { VerifyReport } from '../src/verify/report.ts';
import { smallService } from './verify/small-service.ts';
import { openStand } from './verify/stand.ts';

/** A report with a breach, in which whatever comes from outside has a word that is as long as words get. */
let page = '';
const phonePixels = 375;

before(async () => {
  const served = smallService.replace('maxLength: ', 'maxLength: 9');
  assert.notEqual(served, smallService);
  const stand = await openStand(smallService, { served });
  try {
    const report = await stand.verify({ only: ['endpoints/bodies'], until: () => true });
    assert.ok(report.breaches.length > 0, 'there is something to tell');
    page = verifyHtml(widened(report)).replaceAll('<details>', '<details open>');
  } finally {
    await stand.close();
  }
});

const fromOutside = new Set(['title', 'url', 'subject', 'file', 'promised', 'seen', 'does', 'came', 'text', 'why', 'stopped']);

function widened(report: VerifyReport): VerifyReport {
  const longer = (key: string, value: unknown): unknown =>
    typeof value === 'string' && fromOutside.has(key) ? `${value} ${'wide'.repeat(100)}` : value;
  // What is read again is the report that was written, with longer texts.
  return JSON.parse(JSON.stringify(report), longer) as VerifyReport;
}

test('whatever stands in a report and comes from outside is broken where a line ends', () => {
  const [style = ''] = /<style>[\s\S]*<\/style>/.exec(page) ?? [];
  const rules = [...style.matchAll(/([^{}]+)\{([^{}]*)\}/g)];
  const broken = new Set(
    rules
      .filter(([, , declared = '']) => declared.includes('overflow-wrap: anywhere'))
      .flatMap(([, selectors = '']) => selectors.split(',').map((one) => one.trim())),
  );
  // What else has text has words of the report's own, or stands inside of one of these.
  const ownWords = ['title', 'style', 'h2', 'th', 'dt', 'summary', 'mark', 'span'];
  const withText = new Set([...page.matchAll(/<(\w+)[^>]*>[^<\s]/g)].map(([, tag = '']) => tag));
  assert.deepEqual(
    [...withText].filter((tag) => !broken.has(tag) && !ownWords.includes(tag)),
    [],
  );
  assert.match(page, /name="viewport" content="width=device-width/);
});

const chromium = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

test('a report fits the width of a phone in a browser', {
  skip: chromium === undefined && 'there is no Chromium here',
}, async () => {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'phone.html');
    writeFileSync(file, framed(page));
    const shown = await new Promise<string>((resolve, reject) => {
      const args = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${folder}`, '--dump-dom'];
      execFile(chromium ?? '', [...args, pathToFileURL(file).href], { timeout: 60_000, maxBuffer: 2 ** 26 }, (error, out) =>
        error ? reject(error) : resolve(out),
      );
    });
    const [, width = 'nothing'] = /<pre id="width">(\d+)<\/pre>/.exec(shown) ?? [];
    assert.ok(Number(width) <= phonePixels, `it is ${width} pixels wide`);
  });
});

/** A page in a frame as wide as a phone, and below it how wide what it shows is. */
function framed(html: string): string {
  const text = JSON.stringify(html).replaceAll('<', '\\u003c');
  return `<!doctype html><iframe id="frame" style="width:${phonePixels}px;height:900px;border:0"></iframe><pre id="width"></pre><script>
    const frame = document.getElementById('frame');
    frame.onload = () => { document.getElementById('width').textContent = frame.contentDocument.documentElement.scrollWidth; };
    frame.srcdoc = ${text};
  </script>`;
}
