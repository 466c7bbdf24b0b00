import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, type Service, serve } from '../src/index.ts';

/** Bounds of pages in every style: sizes at and beside their bounds, starts that there are not, and all rows gone through. */
const rows = Array.from({ length: 7 }, (_, n) => ({ id: `n${n}`, n }));

const styles = {
  cursor: { names: 'cursor: from', wrong: ['x', '', 'a.b'] },
  after: { names: 'after: from, before: until', wrong: ['x', ''] },
  offset: { names: 'offset: from', wrong: ['-1', 'x', '', '1.5', '1e1', '0x1', '9999999999999999'] },
  page: { names: 'page: from', wrong: ['0', '-1', 'x', '', '1.5', '9999999999999999'] },
} as const;
type Style = keyof typeof styles;

function start(style: Style, bounds: string): Promise<Service> {
  const document = `
purpose: { purpose: Tries pages., users: { anybody: Asks. } }
resources: { note: { identifier: { field: id, generate: client }, fields: { id: string, n: integer }, required: [id, n] } }
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note, parameters: { n: { in: query } } }
authentication: none
errors: { payload: problem, codes: { bad_page: { status: 418, when: limit.page } } }
limits: { pagination: { style: ${style}, ${styles[style].names}, size: size, ${bounds}, items: data, next: next, has_more: more } }
`;
  return serve(parseDocument(document, 'pages.yaml'), { rows: { note: rows } });
}

interface PageOfNotes {
  readonly data: readonly { readonly id: string; readonly n: number }[];
  readonly next: string | number | null;
  readonly more: boolean;
}

async function get(service: Service, query: string): Promise<[number, PageOfNotes]> {
  const response = await service.fetch(new Request(`http://127.0.0.1/notes${query}`));
  return [response.status, (await response.json()) as PageOfNotes];
}

test('where no greatest size is stated a page has at most 10,000 rows', async () => {
  const service = await start('cursor', 'default: 2');
  assert.equal((await get(service, '?size=10000'))[1].data.length, rows.length);
  assert.equal((await get(service, '?size=10001'))[0], 418);
  const clamping = await start('cursor', 'default: 2, over_max: clamp');
  assert.equal((await get(clamping, '?size=10001'))[0], 200);
  await Promise.all([service.close(), clamping.close()]);
});

for (const style of Object.keys(styles) as Style[]) {
  test(`${style}: a page holds what is asked for up to its bound; more is refused`, async () => {
    const service = await start(style, 'default: 2, max: 4, over_max: refuse');
    const taken: [string, number][] = [
      ['', 2],
      ['?size=1', 1],
      ['?size=4', 4],
      ['?size=04', 4],
    ];
    for (const [query, count] of taken) {
      const [status, { data, more }] = await get(service, query);
      assert.deepEqual([status, data.length, more], [200, count, true], query);
    }
    const wrong = ['5', '0', '-1', '1.5', 'x', '', '1e0', '%201', '99999999999999999999'];
    for (const size of wrong) assert.equal((await get(service, `?size=${size}`))[0], 418, `size=${size}`);
    const [, problem] = (await get(service, '?size=5')) as unknown as [
      number,
      { violations: { path: string; expected: string }[] },
    ];
    assert.deepEqual(
      problem.violations.map(({ path, expected }) => [path, expected]),
      [['size', 'a whole number from 1 to 4']],
    );
    await service.close();
  });

  test(`${style}: a page that may be cut down is, and what is no size is refused`, async () => {
    const service = await start(style, 'max: 4, over_max: clamp');
    for (const query of ['', '?size=4', '?size=5', '?size=999999999999999']) {
      const [status, { data }] = await get(service, query);
      assert.deepEqual([status, data.length], [200, 4], query);
    }
    for (const size of ['0', 'x', '']) assert.equal((await get(service, `?size=${size}`))[0], 418);
    await service.close();
  });

  test(`${style}: a start that there is not is refused`, async () => {
    const service = await start(style, 'default: 2, max: 4, over_max: refuse');
    for (const from of styles[style].wrong) assert.equal((await get(service, `?from=${from}`))[0], 418, `from=${from}`);
    if (style === 'cursor') {
      const [, { next }] = await get(service, '');
      assert.equal((await get(service, `?from=${next}`))[0], 200);
      assert.equal((await get(service, `?from=${next}&n=1`))[0], 418);
      assert.equal((await get(service, `?from=${String(next).slice(0, -1)}`))[0], 418);
    }
    if (style === 'after') {
      assert.equal((await get(service, '?from=n1&until=n3'))[0], 418);
      assert.equal((await get(service, '?until=x'))[0], 418);
    }
    await service.close();
  });

  test(`${style}: pages of every size give every row once, in order, and end`, async () => {
    const service = await start(style, 'default: 2, max: 8, over_max: refuse');
    for (let size = 1; size <= 8; size++) {
      const seen: string[] = [];
      let from: string | number | null = null;
      for (let pages = 0; pages === 0 || from !== null; pages++) {
        assert.ok(pages <= 7, 'the pages do not end');
        const [, { data, next, more }] = await get(
          service,
          `?size=${size}${from === null ? '' : `&from=${encodeURIComponent(from)}`}`,
        );
        seen.push(...data.map(({ id }) => id));
        assert.equal(more, next !== null);
        from = next;
      }
      assert.deepEqual(
        seen,
        rows.map(({ id }) => id),
        `pages of ${size}`,
      );
    }
    await service.close();
  });

  if (style === 'offset' || style === 'page') {
    test(`${style}: a start beyond the last row is an empty page, however far`, async () => {
      const service = await start(style, 'default: 2, max: 4, over_max: refuse');
      for (const from of ['100', '999999999999999']) {
        const [status, { data, next, more }] = await get(service, `?from=${from}&size=4`);
        assert.deepEqual([status, data, next, more], [200, [], null, false], from);
      }
      await service.close();
    });
  }
}
