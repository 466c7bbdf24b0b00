import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { alarmsOf } from '../bench/own/hold.ts';
import { holdStandIn } from '../bench/own/stand-in.ts';
import { isLong } from './long.ts';

const folder = join(import.meta.dirname, 'fixtures/corpus');

/** Descriptions of real services; `npm run bench own -- --corpus DIR` does the same with whole ones. */
const descriptions = globSync('{box,lob,museum,petstore3,resend,slack,stripe,svix}/*.{json,yaml,json.gz}', {
  cwd: folder,
})
  .filter(
    // Pieces without operations.
    (path) => !/slack_(common|events)/.test(path),
  )
  .sort();

for (const description of isLong ? descriptions : descriptions.filter((one) => /petstore/.test(one))) {
  test(`a stand-in of ${description} is not said to break anything that it keeps`, async () => {
    const own = await holdStandIn(join(folder, description), 1);
    assert.deepEqual(alarmsOf(own), []);
    assert.ok(own.report.total.held > 0);
  });
}
