import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { main } from '../src/cli.ts';
import { serve } from '../src/index.ts';

/** The commands of docs/store.md write what the page shows, over the notes that it speaks of. */
const page = readFileSync(join(import.meta.dirname, '../docs/store.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-docs-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('docs/store.md shows what its commands write', async () => {
  for (const [, name = '', text = ''] of page.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm))
    writeFileSync(join(folder, name), text);
  const rows = [{ text: 'a', stars: 3 }, { text: 'b' }, { text: 'c', stars: 3 }];
  const service = await serve(join(folder, 'notes.yaml'), { store: join(folder, 'notes.sqlite'), rows: { note: rows } });
  await service.close();
  const before = process.cwd();
  process.chdir(folder);
  try {
    for (const [, command = '', told = ''] of page.matchAll(/^```console\n\$ ninefold (.*)\n([\s\S]*?)^```$/gm)) {
      let out = '';
      const write = (more: string) => {
        out += more;
      };
      await main(command.split(' '), { write, complain: write, isTTY: false, columns: 120, colour: false });
      assert.equal(out, told, command);
    }
  } finally {
    process.chdir(before);
  }
});
