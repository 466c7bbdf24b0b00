import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readScenariosFile } from '../src/cli/data-files.ts';
import { readDocument, serve } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { workbenchCommands } from '../src/serve/service/admin/workbench.ts';

/** The examples of docs/workbench.md are what really happens. */
const page = readFileSync(join(import.meta.dirname, '../docs/workbench.md'), 'utf8');
const fences = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }));
const folder = mkdtempSync(join(tmpdir(), 'ninefold-docs-workbench-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('docs/workbench.md shows what its scenarios do to its document', async () => {
  for (const { text } of fences.filter(({ language }) => language === 'yaml'))
    writeFileSync(join(folder, /^# (\S+)\n/.exec(text)?.[1] ?? assert.fail()), text);
  const document = await readDocument(join(folder, 'shop.yaml'));
  const scenarios = await readScenariosFile(join(folder, 'scenarios.yaml'), readSpec(document));
  const service = await serve(document, { scenarios });
  const exchanges = fences.filter(({ language }) => language === 'http');
  assert.equal(exchanges.length, 4);
  for (const { text } of exchanges) {
    const [, method = '', path = '', rest = ''] = /^(\S+) (\S+) ?(.*)\n/.exec(text) ?? [];
    const body = rest.startsWith('{') ? rest : undefined;
    const [, name, value] = /^([\w-]+): (.*)$/.exec(rest) ?? [];
    const headers = { 'content-type': 'application/json', ...(name !== undefined && value !== undefined && { [name]: value }) };
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${path}`, { method, headers, ...(body !== undefined && { body }) }),
    );
    const scenario = answer.headers.get('ninefold-scenario');
    const told = (await answer.text()).replace(/req_[\w-]+/, 'ID');
    const asked = text.slice(0, text.indexOf('\n') + 1);
    assert.equal(`${asked}${answer.status}\n${scenario === null ? '' : `ninefold-scenario: ${scenario}\n`}${told}\n`, text);
  }
  await service.close();
});

test('docs/workbench.md names every command of the workbench', () => {
  for (const { name } of workbenchCommands) {
    const path = `/${name.replace(/ (?:list|show)$/, '').replaceAll(' ', '/')}`;
    assert.ok(page.includes(`\`POST ${path}\``) || page.includes(`\`GET ${path}\``), path);
  }
});
