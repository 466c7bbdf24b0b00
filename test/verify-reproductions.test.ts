import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { verifyHtml, verifyMarkdown } from '../src/cli/verify/reports.ts';
import { verifyText } from '../src/cli/verify/text.ts';
import { parseDocument } from '../src/index.ts';
import type { Breach, VerifyReport } from '../src/verify/report.ts';
import { smallService } from './verify/small-service.ts';
import { openStand, type Stand, type StandOptions } from './verify/stand.ts';

const faulty = (stated: string, served: string): StandOptions => {
  assert.ok(smallService.includes(stated), 'the document states it');
  return { served: smallService.replace(stated, () => served), serve: { allowPrivateWebhooks: true } };
};

async function heldTo(options: StandOptions, use: (stand: Stand) => Promise<void>): Promise<void> {
  const stand = await openStand(smallService, options);
  try {
    await use(stand);
  } finally {
    await stand.close();
  }
}

/** What a breach's commands print at a service, with each placeholder set to what it asks for. */
async function printed({ script }: Breach, { url, credentials }: Stand): Promise<string> {
  const lines = script.map((line) => (line.startsWith('URL=') ? `URL=${url}` : line));
  const environment: Record<string, string> = {};
  for (const { user, value } of credentials) environment[user.toUpperCase()] = value;
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? '', ...environment };
    execFile('sh', ['-c', lines.join('\n')], { env, timeout: 60_000 }, (error, out, err) => {
      if (error) reject(new Error(`${error.message}\n${err}`));
      else resolve(out);
    });
  });
}

/** One fault that several tests look at from its sides, and what a run says of it. */
let known: Promise<{ readonly report: VerifyReport; readonly credentials: Stand['credentials'] }> | undefined;
const ofDefault = 'allowed values:note.kind';

function reportOfDefault() {
  known ??= (async () => {
    const stand = await openStand(smallService, faulty('default: memo', 'default: letter'));
    try {
      return { report: await stand.verify({ only: [ofDefault] }), credentials: stand.credentials };
    } finally {
      await stand.close();
    }
  })();
  return known;
}

const terminal = { isTTY: false, columns: 80, colour: false, write: () => {}, complain: () => {} };

const found = ({ breaches }: VerifyReport, name: string): Breach => {
  const breach = breaches.find(({ kind, subject }) => `${kind}:${subject}` === name);
  assert.ok(breach, breaches.map(({ kind, subject }) => `${kind}:${subject}`).join(', '));
  return breach;
};

// Most of the time goes into waiting for what does not come.
describe('what is found', { concurrency: 8 }, () => {
  test('a reproduction that starts from nothing tells a faulty service from a correct one', async () => {
    const breach = found((await reportOfDefault()).report, ofDefault);
    assert.deepEqual(breach.reproduced, { runs: 2, shown: 2, from: 'alone' });
    await heldTo(faulty('default: memo', 'default: letter'), async (wrong) =>
      assert.match(await printed(breach, wrong), /"kind":"letter"/),
    );
    await heldTo({}, async (correct) => assert.match(await printed(breach, correct), /"kind":"memo"/));
  });

  test('a reproduction of an event brings its own receiver', async () => {
    await heldTo(faulty('note.gone: { on: [delete note],', 'note.gone: { on: [close note],'), async (stand) => {
      const breach = found(await stand.verify({ only: ['emitting operations:note.gone'] }), 'emitting operations:note.gone');
      assert.doesNotMatch(breach.script.slice(1).join('\n'), /127\.0\.0\.1:\d/);
      assert.match(breach.script.join('\n'), /createServer/);
      const delivered = async (at: Stand) => /what was delivered:(.*)/s.exec(await printed(breach, at))?.[1] ?? '';
      assert.doesNotMatch(await delivered(stand), /note\.gone/);
      await heldTo({ serve: { allowPrivateWebhooks: true } }, async (correct) =>
        assert.match(await delivered(correct), /note\.gone/),
      );
    });
  });

  test('a reproduction of a body that never comes writes on a connection of its own', async () => {
    await heldTo(faulty('timeout: { request: 1s, idle: 20s }', 'timeout: { request: 60s, idle: 20s }'), async (stand) => {
      const breach = found(await stand.verify({ only: ['limits/times'] }), 'time-outs:service');
      assert.match(await printed(breach, stand), /still open after \d+ ms/);
      await heldTo({}, async (correct) => assert.match(await printed(breach, correct), /HTTP\/1\.1 408.*closed after \d+ ms/s));
    });
  });

  test('the exchange is shown with what matters marked, and with no credential', async () => {
    const { report, credentials } = await reportOfDefault();
    const [exchange] = found(report, ofDefault).exchanges;
    assert.equal(exchange?.request[0]?.text, 'POST /v1/notes');
    assert.ok(exchange.request.some(({ text }) => text === 'x-key: (the credential of writer)'));
    assert.deepEqual(
      exchange.answer.filter(({ matters }) => matters).map(({ text }) => text.trim()),
      ['"kind": "letter",'],
    );
    const text = verifyText(report, parseDocument(smallService, 'stand.yaml'), terminal);
    const all = [JSON.stringify(report), text, verifyHtml(report), verifyMarkdown(report)].join('\n');
    for (const { value } of credentials) assert.ok(!all.includes(value));
    assert.match(text, /< ▸ {3}"kind": "letter"/);
    assert.match(text, /run again {2}twice, each from a clean start, with nothing beside them/);
    assert.match(verifyMarkdown(report), /^< ▸ {3}"kind": "letter",$/m);
    assert.match(verifyHtml(report), /<mark> {2}&quot;kind&quot;: &quot;letter&quot;,<\/mark>/);
  });

  test('no line of a breach is longer than 80 columns but what is to be copied', async () => {
    const { report } = await reportOfDefault();
    const text = verifyText({ ...report, facts: [] }, parseDocument(smallService, 'stand.yaml'), terminal);
    const long = text.split('\n').filter((line) => line.length > 80 && !/^ {4}|replay|^http/.test(line));
    assert.deepEqual(long, []);
  });

  test('the service is started anew before a breach is shown once more, and what does not come again then is said', async () => {
    let starts = 0;
    await heldTo(faulty('default: memo', 'default: letter'), async (stand) => {
      const only = ['allowed values:note.kind'];
      const restart = async () => {
        starts += 1;
      };
      const report = await stand.verify({ only, restart });
      assert.equal(starts, 2 * report.breaches.length);
      assert.deepEqual(found(report, 'allowed values:note.kind').reproduced, { runs: 2, shown: 2, from: 'restarted' });
    });
    // A fault of a service that has been up for some time, which is gone once it is started anew.
    let isFresh = false;
    const spoil: StandOptions['spoil'] = ({ text, method }) =>
      isFresh || method !== 'POST' ? {} : { text: text.replace('"memo"', '"letter"') };
    await heldTo({ spoil }, async (stand) => {
      const restart = async () => {
        isFresh = true;
      };
      const report = await stand.verify({ only: ['allowed values:note.kind'], restart });
      assert.deepEqual(found(report, 'allowed values:note.kind').reproduced, { runs: 2, shown: 0, from: 'restarted' });
      assert.match(verifyMarkdown(report), /run again: not reproduced every time: shown in 0 of 2 runs/);
    });
  });

  test('a restart that fails is told, and what was found stays', async () => {
    await heldTo(faulty('default: memo', 'default: letter'), async (stand) => {
      const restart = () => Promise.reject(new Error('no such unit'));
      const report = await stand.verify({ only: ['allowed values:note.kind'], restart });
      assert.ok(report.breaches.length > 0);
      assert.match(report.notes.join(), /from a new start of the service: no such unit/);
    });
  });

  test('several facts that one fault breaks are one cause', async () => {
    const spoil: StandOptions['spoil'] = ({ method, target, text, status }) =>
      method === 'GET' && /\/notes\/[^/]+$/.test(target) && status === 200
        ? { status: 500, text: text.replace(/^.*$/s, '{"oops":true}') }
        : {};
    await heldTo({ spoil }, async (stand) => {
      const { breaches, causes } = await stand.verify({ only: ['response payload shapes:GET /notes/{id}', 'types', 'formats'] });
      assert.deepEqual(causes.flatMap((cause) => cause.breaches).sort(), breaches.map(({ id }) => id).sort());
      assert.ok(causes.length < breaches.length, `${causes.length} causes of ${breaches.length} breaches`);
    });
  });
});
