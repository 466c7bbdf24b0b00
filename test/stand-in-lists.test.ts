import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { take } from './import/source.ts';
import { answers, integer, json, list, object, ref, sends, standIn, string, type Words, within } from './import/stand-in.ts';

/** Lists of stand-ins that are narrowed and ordered by parameters which no fact explains. */

const query = (...names: string[]): Words => ({ parameters: names.map((name) => ({ name, in: 'query', schema: string })) });

const boat = object({ id: string, name: string, length: integer, attributes: object({ port: string }) });

/** Three boats, and the names of those that a list shows. */
async function listed(parameters: readonly string[], queries: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const paths = {
    '/boats': {
      get: { ...query(...parameters), ...answers(object({ data: list(ref('Boat')), total: integer }, ['data'])) },
      post: { ...sends(ref('Boat')), ...answers(ref('Boat'), {}, '201') },
    },
    '/boats/{boatId}': { ...within('boatId'), get: answers(ref('Boat')) },
  };
  await standIn(paths, { Boat: boat }, async (ask) => {
    for (const [name, length, port] of [
      ['Anna', 9, 'Bern'],
      ['Berta', 12, 'Brest'],
      ['Hanna', 30, 'Brest'],
    ])
      assert.equal((await ask('POST', '/boats', { name, length, attributes: { port } })).status, 201);
    for (const [asked, names] of Object.entries(queries)) {
      const { json: page } = await ask('GET', `/boats?${asked}`);
      assert.deepEqual(
        page.data.map((row: { name: string }) => row.name),
        names,
        asked,
      );
    }
  });
}

test('a list is narrowed by fields in brackets, by how they compare, and by members of a map in its rows', () =>
  listed(['filter[name]', 'filter[name][contains]', 'length_gte', 'length[lt]', 'filter[port]', 'filter[unknown]'], {
    'filter[name]=Berta': ['Berta'],
    'filter[name][contains]=ANN': ['Anna', 'Hanna'],
    length_gte: ['Anna', 'Berta', 'Hanna'],
    'length_gte=12': ['Berta', 'Hanna'],
    'length[lt]=12': ['Anna'],
    'filter[port]=Brest': ['Berta', 'Hanna'],
    'filter[port]=Bern,Brest&length_gte=10': ['Berta', 'Hanna'],
    'filter[unknown]=x': ['Anna', 'Berta', 'Hanna'],
    'filter[name]=all': ['Anna', 'Berta', 'Hanna'],
  }));

test('a filter that says so by its name narrows though the document does not name it, and what else is not named does not', () =>
  listed([], {
    'filter[name]=Berta': ['Berta'],
    'filter[name]=ann': ['Anna', 'Hanna'],
    'filter[length]=1': [],
    'filters[length][gte]=12&filter[port]=Brest': ['Berta', 'Hanna'],
    'filter[unknown]=x': ['Anna', 'Berta', 'Hanna'],
    'name=Berta': ['Anna', 'Berta', 'Hanna'],
  }));

test('a list is ordered by the usual words, and searched for a word that has no signs of a language', () =>
  listed(['sort', 'order', 'q', 'filter'], {
    'filter={"name":{"_contains":"anna"}}': ['Anna', 'Hanna'],
    'filter={"$or":[{"name":"Anna"},{"length":{"$gt":20}}],"+order_by":"name","+order":"desc"}': ['Hanna', 'Anna'],
    'sort=-name': ['Hanna', 'Berta', 'Anna'],
    'sort=length&order=desc': ['Hanna', 'Berta', 'Anna'],
    'sort=name:desc': ['Hanna', 'Berta', 'Anna'],
    'sort=nothing': ['Anna', 'Berta', 'Hanna'],
    'q=ann': ['Anna', 'Hanna'],
    'q=name:Anna': ['Anna', 'Berta', 'Hanna'],
  }));

test('the pages of what is narrowed hold every row once, and count them', async () => {
  const page = object({ data: list(ref('Boat')), next_cursor: { ...string, nullable: true }, total: integer }, ['data']);
  const paths = {
    '/boats': {
      get: { ...query('filter[port]', 'cursor', 'limit', 'sort'), ...answers(page) },
      post: { requestBody: json(ref('Boat')), ...answers(ref('Boat'), {}, '201') },
    },
    '/boats/{boatId}': { ...within('boatId'), get: answers(ref('Boat')) },
  };
  await standIn(paths, { Boat: boat }, async (ask) => {
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await ask('POST', '/boats', { name, attributes: { port: name === 'c' ? 'Bern' : 'Brest' } });
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const { json: body } = await ask('GET', `/boats?filter[port]=Brest&sort=-name&limit=3${cursor}`);
      seen.push(...body.data.map((row: { name: string }) => row.name));
      assert.equal(body.total, 4);
      if (!body.next_cursor) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    assert.deepEqual(seen, ['e', 'd', 'b', 'a']);
  });
});

test('beside a key that is good another one is taken as it is, and none where the document is kept to the letter', async () => {
  const schemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    app: { type: 'apiKey', in: 'header', name: 'X-App' },
  };
  const source = {
    paths: { '/mood': { get: answers(object({ mood: string })) } },
    components: { securitySchemes: schemes },
    security: [{ key: [], app: [] }],
  };
  for (const strict of [false, true]) {
    const service = await serve(take(source), { sample: true, strict, development: true });
    const { value = '' } = service.credentials?.find(({ name }) => name === 'X-Key') ?? {};
    const ask = async (headers: Readonly<Record<string, string>>) =>
      (await service.fetch(new Request('http://127.0.0.1/mood', { headers }))).status;
    assert.equal(await ask({ 'x-key': value, 'x-app': 'mine' }), strict ? 401 : 200);
    assert.equal(await ask({ 'x-key': 'mine', 'x-app': 'mine' }), 401);
    assert.equal(await ask({ 'x-key': value }), 401);
    await service.close();
  }
});

test('what the example of a schema breaks holds nobody to it, and what was not sent is empty', async () => {
  const flag = { type: 'boolean' };
  const shape = object({
    id: { ...string, readOnly: true },
    label: { ...string, pattern: '^[a-z]((?!..)[a-z])+$', example: 'label' },
    code: { ...string, pattern: '^[a-z]+$', example: 'abc' },
    hook: { ...string, format: 'url', nullable: true, default: '' },
    tags: list(string),
    archived: flag,
    enabled: { ...flag, example: true },
    note: string,
    parent: { ...string, nullable: true },
    resource_type: { ...string, readOnly: true, example: 'shed' },
  });
  const paths = {
    '/barns': { post: { ...sends(ref('Barn')), ...answers(ref('Barn'), {}, '201') }, get: answers(list(ref('Barn'))) },
    '/barns/{barnId}': { ...within('barnId'), get: answers(ref('Barn')), delete: answers(object({ data: ref('Barn') })) },
  };
  await standIn(paths, { Barn: shape, Shed: object({ id: string }) }, async (ask) => {
    const { status, json: made } = await ask('POST', '/barns', { label: 'label' });
    assert.equal(status, 201);
    const { id, ...rest } = made;
    const empty = { tags: [], archived: false, enabled: true, parent: null, hook: null };
    assert.deepEqual(rest, { label: 'label', ...empty, resource_type: 'barn' });
    assert.equal((await ask('POST', '/barns', { code: '1' })).status, 400);
    assert.deepEqual((await ask('DELETE', `/barns/${id}`)).json, { data: made });
    assert.deepEqual((await ask('GET', '/barns')).json, []);
  });
});

test('an act on a thing binds what it is called like, the list beside it shows that in its short form, and what was named is shown as a thing', async () => {
  const short = object({ gid: string, name: string });
  const schemas = {
    TaskResponse: object({ gid: string, name: string, assignee: object({ gid: string, name: string }), notes: string }),
    TagResponse: object({ gid: string, name: string, color: string }),
    TagCompact: short,
    TaskCompact: short,
  };
  const data = (shape: Words) => object({ data: shape });
  const made = (name: string) => answers(data(ref(name)), {}, '201');
  const nothing = answers(data(object({})));
  const paths = {
    '/tasks': { post: { ...sends(data(object({ name: string, assignee: string }))), ...made('TaskResponse') } },
    '/tasks/{task}': { ...within('task'), get: answers(data(ref('TaskResponse'))) },
    '/tags': { post: { ...sends(data(object({ name: string }))), ...made('TagResponse') } },
    '/tags/{tag}': { ...within('tag'), get: answers(data(ref('TagResponse'))) },
    '/tasks/{task}/addTag': { ...within('task'), post: { ...sends(data(object({ tag: string }))), ...nothing } },
    '/tasks/{task}/removeTag': { ...within('task'), post: { ...sends(data(object({ tag: string }))), ...nothing } },
    '/tasks/{task}/tags': { ...within('task'), get: answers(data(list(ref('TagCompact')))) },
    '/tasks/{task}/addNeeds': { ...within('task'), post: { ...sends(data(object({ needs: list(string) }))), ...nothing } },
    '/tasks/{task}/needs': { ...within('task'), get: answers(data(list(ref('TaskCompact')))) },
    '/tags/{tag}/tasks': { ...within('tag'), get: answers(data(list(ref('TaskCompact')))) },
  };
  await standIn(paths, schemas, async (ask) => {
    const make = async (path: string, sent: Words) => (await ask('POST', path, { data: sent })).json.data;
    const shown = async (path: string) => (await ask('GET', path)).json.data.map(({ name }: { name: string }) => name);
    const tag = await make('/tags', { name: 'urgent' });
    const first = await make('/tasks', { name: 'first', assignee: tag.gid });
    const second = await make('/tasks', { name: 'second' });
    assert.deepEqual(first.assignee, { gid: tag.gid, name: 'urgent' });
    await ask('POST', `/tasks/${second.gid}/addTag`, { data: { tag: tag.gid } });
    assert.deepEqual(await shown(`/tasks/${second.gid}/tags`), ['urgent']);
    assert.deepEqual(await shown(`/tasks/${first.gid}/tags`), []);
    assert.deepEqual(await shown(`/tags/${tag.gid}/tasks`), ['second']);
    await ask('POST', `/tasks/${second.gid}/removeTag`, { data: { tag: tag.gid } });
    assert.deepEqual(await shown(`/tasks/${second.gid}/tags`), []);
    await ask('POST', `/tasks/${first.gid}/addNeeds`, { data: { needs: [second.gid] } });
    assert.deepEqual(await shown(`/tasks/${first.gid}/needs`), ['second']);
    assert.deepEqual(await shown(`/tasks/${second.gid}/needs`), []);
  });
});

test('what is made below a thing shows whose it is, what its body states is kept though answers call it read-only, and a copy is another', async () => {
  const readOnly = { ...string, readOnly: true };
  const port = object({ id: readOnly, number: integer, hub_id: string, zone: readOnly, hub: object({ id: string }) });
  const hub = object({ id: readOnly, name: string });
  const paths = {
    '/hubs': { post: { ...sends(ref('Hub')), ...answers(ref('Hub'), {}, '201') }, get: answers(list(ref('Hub'))) },
    '/hubs/{hubId}': {
      ...within('hubId'),
      get: answers(ref('Hub')),
      patch: { ...sends(ref('Hub')), ...answers(object({ data: { type: 'object' } })) },
    },
    '/hubs/{hubId}/clone': { ...within('hubId'), post: { ...sends(ref('Hub')), ...answers(ref('Hub')) } },
    '/hubs/{hubId}/ports': {
      ...within('hubId'),
      post: { ...sends(object({ number: integer, zone: string })), ...answers(ref('Port'), {}, '201') },
    },
    '/hubs/{hubId}/ports/{portId}': { ...within('hubId', 'portId'), get: answers(ref('Port')) },
  };
  await standIn(paths, { Hub: hub, Port: port }, async (ask) => {
    const { json: made } = await ask('POST', '/hubs', { name: 'one' });
    const { json: below } = await ask('POST', `/hubs/${made.id}/ports`, { number: 80, zone: 'eu' });
    assert.deepEqual(below, { id: below.id, number: 80, zone: 'eu', hub_id: made.id, hub: { id: made.id } });
    assert.deepEqual((await ask('PATCH', `/hubs/${made.id}`, { name: 'two' })).json, { data: { ...made, name: 'two' } });
    const { json: copied } = await ask('POST', `/hubs/${made.id}/clone`, { name: 'copy' });
    assert.notEqual(copied.id, made.id);
    assert.deepEqual(
      (await ask('GET', '/hubs')).json.map(({ name }: { name: string }) => name),
      ['two', 'copy'],
    );
  });
});

test('a list shows the members of its own short shape, and those that are asked for; a read shows what is asked for alone', async () => {
  const attributes = object({ name: string, size: string });
  const full = object({ id: string, name: string, notes: string, kind: string, attributes });
  const fields = { parameters: [{ name: 'fields', in: 'query', schema: string }] };
  const paths = {
    '/notes': {
      get: { ...fields, ...answers(list(ref('NoteShort'))) },
      post: { ...sends(ref('Note')), ...answers(ref('Note'), {}, '201') },
    },
    '/notes/{noteId}': {
      parameters: [...within('noteId').parameters, ...fields.parameters],
      get: answers(ref('Note')),
    },
  };
  await standIn(paths, { Note: full, NoteShort: object({ id: string, name: string }) }, async (ask) => {
    const sent = { name: 'a', notes: 'b', kind: 'c', attributes: { name: 'd', size: 'e' } };
    const { id } = (await ask('POST', '/notes', sent)).json;
    const got = async (path: string) => (await ask('GET', path)).json;
    assert.deepEqual(await got('/notes'), [{ id, name: 'a' }]);
    assert.deepEqual(await got('/notes?fields=notes'), [{ id, name: 'a', notes: 'b' }]);
    assert.deepEqual(await got(`/notes/${id}?fields=size`), { ...sent, id, attributes: { size: 'e' } });
    assert.deepEqual(await got(`/notes/${id}?fields=*`), { ...sent, id });
    assert.deepEqual(await got(`/notes/${id}`), { ...sent, id });
  });
});

test('a list by more conditions than anybody asks for is not narrowed, which is told; words without an end are no order', async () => {
  const paths = {
    '/boats': {
      get: { ...query('filter', 'sort'), ...answers(object({ data: list(ref('Boat')) }, ['data'])) },
      post: { ...sends(ref('Boat')), ...answers(ref('Boat'), {}, '201') },
    },
    '/boats/{boatId}': { ...within('boatId'), get: answers(ref('Boat')) },
  };
  await standIn(paths, { Boat: boat }, async (ask) => {
    for (const name of ['Berta', 'Anna']) await ask('POST', '/boats', { name });
    const found = async (asked: Readonly<Record<string, string>>) => {
      const { json: page, headers } = await ask('GET', `/boats?${new URLSearchParams(asked)}`);
      return [page.data.map(({ name }: { name: string }) => name).join(), headers.get('ninefold-warning') ?? ''];
    };
    const sides = (count: number) => JSON.stringify({ $or: Array.from({ length: count }, () => ({ name: 'Anna' })) });
    assert.deepEqual(await found({ filter: sides(20) }), ['Anna', '']);
    assert.deepEqual(await found({ filter: sides(120) }), ['Berta,Anna', 'the list is not narrowed by so many conditions']);
    assert.deepEqual(await found({ sort: 'name' }), ['Anna,Berta', '']);
    assert.deepEqual(await found({ sort: `name${' '.repeat(500)}` }), ['Berta,Anna', '']);
  });
});

test('what is made elsewhere is listed below the thing that it names, and below no other', async () => {
  const file = object({ id: { ...string, readOnly: true }, name: string }, ['id']);
  const item = object({ id: string, type: string });
  const comment = object({ id: { ...string, readOnly: true }, message: string, item }, ['id']);
  const sent = object({ message: string, item });
  const paths = {
    '/files': { post: { ...sends(object({ name: string })), ...answers(ref('File'), {}, '201') } },
    '/files/{file_id}': { ...within('file_id'), get: answers(ref('File')) },
    '/files/{file_id}/comments': { ...within('file_id'), get: answers(object({ entries: list(ref('Comment')) })) },
    '/comments': { post: { ...sends(sent), ...answers(ref('Comment'), {}, '201') } },
    '/comments/{comment_id}': { ...within('comment_id'), get: answers(ref('Comment')) },
  };
  await standIn(paths, { File: file, Comment: comment }, async (ask) => {
    const { json: one } = await ask('POST', '/files', { name: 'one' });
    const { json: other } = await ask('POST', '/files', { name: 'other' });
    const { json: made } = await ask('POST', '/comments', { message: 'Hello', item: { id: one.id, type: 'file' } });
    await ask('POST', '/comments', { message: 'Nowhere', item: { id: 'none', type: 'file' } });
    const { json: told } = await ask('GET', `/files/${one.id}/comments`);
    assert.deepEqual(
      told.entries.map(({ id }: { id: string }) => id),
      [made.id],
    );
    assert.deepEqual((await ask('GET', `/files/${other.id}/comments`)).json.entries, []);
  });
});

test('a filter in a language of its own narrows where all of it is understood, and is warned of where not', async () => {
  const paths = {
    '/boats': {
      post: { ...sends(boat), ...answers(ref('Boat'), {}, '201') },
      get: { ...query('filter', '$filter', 'q', 'order', 'ids'), ...answers(list(ref('Boat'))) },
    },
    '/boats/{id}': { ...within('id'), get: answers(ref('Boat')) },
  };
  await standIn(paths, { Boat: boat }, async (ask) => {
    for (const [name, length, port] of [
      ['Ann', 9, 'Kiel'],
      ["Bo's", 12, 'Hull'],
      ['Cy', 15, 'Kiel'],
    ] as const)
      await ask('POST', '/boats', { id: name, name, length, attributes: { port } });
    const asked = async (word: string, text: string) => {
      const { json: rows, headers } = await ask('GET', `/boats?${encodeURIComponent(word)}=${encodeURIComponent(text)}`);
      const names = rows.map(({ name }: { name: string }) => name).join(' ');
      return headers.get('ninefold-warning')?.includes('not narrowed') ? `${names}!` : names;
    };
    assert.equal(await asked('filter', 'name eq "Ann"'), 'Ann');
    assert.equal(await asked('filter', 'name == "Ann" AND length>=10'), '');
    assert.equal(await asked('filter', 'length lt 10 or length gt 14'), 'Ann Cy');
    assert.equal(await asked('$filter', "name eq 'Bo''s'"), "Bo's");
    assert.equal(await asked('filter', 'and(equals(port,"Kiel"),greater-than(length,10))'), 'Cy');
    assert.equal(await asked('filter', 'attributes.port sw "Ki"'), 'Ann Cy');
    assert.equal(await asked('q', 'port eq "Hull"'), "Bo's");
    assert.equal(await asked('filter', 'length lt 10 or length gt 14 and name eq "Cy"'), "Ann Bo's Cy!");
    assert.equal(await asked('filter', 'weight eq 3'), "Ann Bo's Cy!");
    assert.equal(await asked('filter', `name eq "${'a'.repeat(3000)}"`), "Ann Bo's Cy!");
    assert.equal(await asked('order', 'name DESC'), "Cy Bo's Ann");
    assert.equal(await asked('ids', 'Ann,Cy'), 'Ann Cy');
  });
});

test('a cursor leads on by the text that is called like it, and beside a bare list by Link', async () => {
  const paged = {
    parameters: [
      { name: 'cursor', in: 'query', schema: string },
      { name: 'limit', in: 'query', schema: integer },
    ],
  };
  const made = { ...sends(object({ name: string })), ...answers(ref('Boat'), {}, '201') };
  const one = { ...within('id'), get: answers(ref('Boat')) };
  for (const isBare of [true, false]) {
    const shown = isBare ? list(ref('Boat')) : object({ boats: list(ref('Boat')), cursor: string });
    const paths = { '/boats': { post: made, get: { ...paged, ...answers(shown) } }, '/boats/{id}': one };
    await standIn(paths, { Boat: object({ id: { ...string, readOnly: true }, name: string }, ['id']) }, async (ask) => {
      for (const name of ['One', 'Two', 'Three']) await ask('POST', '/boats', { name });
      const names: string[] = [];
      let next: string | undefined = '/boats?limit=2';
      for (let pages = 0; next !== undefined && pages < 5; pages++) {
        const { json, headers } = await ask('GET', next);
        names.push(...(isBare ? json : json.boats).map(({ name }: { name: string }) => name));
        const link = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
        const token = json.cursor === undefined ? undefined : `/boats?limit=2&cursor=${json.cursor}`;
        next = isBare ? link?.replace(/^https?:\/\/[^/]+/, '') : token;
      }
      assert.deepEqual(names.sort(), ['One', 'Three', 'Two']);
    });
  }
});

test('a size that is -1 unless another is sent stands for as many as are usual', async () => {
  const limit = { name: 'limit', in: 'query', schema: { ...integer, default: -1 } };
  const paths = {
    '/boats': {
      post: { ...sends(boat), ...answers(ref('Boat'), {}, '201') },
      get: { parameters: [limit, { name: 'after', in: 'query', schema: string }], ...answers(list(ref('Boat'))) },
    },
    '/boats/{id}': { ...within('id'), get: answers(ref('Boat')) },
  };
  await standIn(paths, { Boat: boat }, async (ask) => {
    await ask('POST', '/boats', { id: 'one' });
    await ask('POST', '/boats', { id: 'two' });
    assert.deepEqual([(await ask('GET', '/boats')).json.length, (await ask('GET', '/boats?limit=-1')).json.length], [2, 2]);
    assert.equal((await ask('GET', '/boats?limit=1')).json.length, 1);
    assert.equal((await ask('GET', '/boats?limit=-2')).status, 400);
  });
});
