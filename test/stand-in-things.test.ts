import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { answers, integer, list, object, ref, sends, standIn, string, type Words, within } from './import/stand-in.ts';

/** How things are found again: by what they show of themselves, and where they are put. */

const gone = { responses: { 204: { description: 'Done.' } } };
const told = { responses: { 204: { description: 'It is there.' }, 404: { description: 'It is not.' } } };
const numbered = (...names: string[]) => ({
  parameters: names.map((name) => ({ name, in: 'path', required: true, schema: integer })),
});

const film = object({ uri: { type: 'string', example: '/films/12' }, name: string }, ['uri', 'name']);
const films = {
  '/me/films': {
    get: answers(list(ref('film'))),
    post: { ...sends(object({ name: string })), ...answers(ref('film'), {}, '201') },
  },
  '/films/{film_id}': {
    ...numbered('film_id'),
    get: answers(ref('film')),
    patch: { ...sends(object({ name: string })), ...answers(ref('film')) },
    delete: gone,
  },
};

test('a thing that shows its address and no identifier is found under it, and so is what is below it', async () => {
  const note = object({ uri: { type: 'string', example: '/films/12/notes/7' }, text: string }, ['uri', 'text']);
  const paths = {
    ...films,
    '/films/{film_id}/notes': {
      ...numbered('film_id'),
      get: answers(list(ref('note'))),
      post: { ...sends(object({ text: string })), ...answers(ref('note'), {}, '201') },
    },
    '/films/{film_id}/notes/{note_id}': { ...numbered('film_id', 'note_id'), get: answers(ref('note')), delete: gone },
  };
  await standIn(paths, { film, note }, async (ask) => {
    const { json: one } = await ask('POST', '/me/films', { name: 'A' });
    const { json: other } = await ask('POST', '/me/films', { name: 'B' });
    assert.notEqual(one.uri, other.uri);
    assert.deepEqual(Object.keys(other), ['uri', 'name']);
    assert.deepEqual((await ask('GET', other.uri)).json, other);
    await ask('PATCH', other.uri, { name: 'C' });
    assert.deepEqual((await ask('GET', other.uri)).json, { ...other, name: 'C' });
    assert.deepEqual((await ask('GET', one.uri)).json, one);
    const { json: below } = await ask('POST', `${other.uri}/notes`, { text: 'Hello' });
    assert.ok(below.uri.startsWith(`${other.uri}/notes/`), below.uri);
    assert.deepEqual((await ask('GET', below.uri)).json, below);
    assert.deepEqual((await ask('GET', `${one.uri}/notes`)).json, []);
    assert.equal((await ask('DELETE', other.uri)).status, 204);
    assert.equal((await ask('GET', other.uri)).status, 404);
  });
});

test('what nothing but 204 or 404 is told of is there once it was put there, until it is taken away', async () => {
  const gist = object({ id: string, text: string }, ['id']);
  const paths = {
    '/gists': { post: { ...sends(object({ text: string })), ...answers(ref('gist'), {}, '201') } },
    '/gists/{id}': { ...within('id'), get: answers(ref('gist')) },
    '/gists/{id}/star': { ...within('id'), get: told, put: gone, delete: gone },
    // Nothing puts anything there: it is there as ever.
    '/gists/{id}/seal': { ...within('id'), get: told },
  };
  await standIn(paths, { gist }, async (ask) => {
    const { json: one } = await ask('POST', '/gists', { text: 'A' });
    const { json: other } = await ask('POST', '/gists', { text: 'B' });
    const star = async (id: string) => (await ask('GET', `/gists/${id}/star`)).status;
    assert.equal(await star(one.id), 404);
    assert.equal((await ask('PUT', `/gists/${one.id}/star`)).status, 204);
    assert.deepEqual([await star(one.id), await star(other.id)], [204, 404]);
    assert.equal((await ask('DELETE', `/gists/${one.id}/star`)).status, 204);
    assert.equal(await star(one.id), 404);
    assert.equal((await ask('GET', `/gists/${one.id}/seal`)).status, 204);
  });
});

test('what is put among the things of a caller, or of another thing, is listed there, and stays where it is when it is taken out', async () => {
  const shelf = object({ id: string, name: string }, ['id']);
  const paths = {
    ...films,
    '/me/likes': { get: answers(list(ref('film'))) },
    '/me/likes/{film_id}': { ...numbered('film_id'), get: told, put: gone, delete: gone },
    '/shelves': { post: { ...sends(object({ name: string })), ...answers(ref('shelf'), {}, '201') } },
    '/shelves/{id}': { ...within('id'), get: answers(ref('shelf')) },
    '/shelves/{id}/films': { ...within('id'), get: answers(list(ref('film'))) },
    '/shelves/{id}/films/{film_id}': { ...within('id', 'film_id'), get: answers(ref('film')), put: gone, delete: gone },
  };
  await standIn(paths, { film, shelf }, async (ask) => {
    const { json: one } = await ask('POST', '/me/films', { name: 'A' });
    const { json: other } = await ask('POST', '/me/films', { name: 'B' });
    const { json: made } = await ask('POST', '/shelves', { name: 'S' });
    for (const place of ['/me/likes', `/shelves/${made.id}/films`]) {
      const id = one.uri.split('/').at(-1);
      assert.deepEqual((await ask('GET', place)).json, []);
      assert.equal((await ask('GET', `${place}/${id}`)).status, 404);
      assert.equal((await ask('PUT', `${place}/${id}`)).status, 204);
      assert.deepEqual((await ask('GET', place)).json, [one]);
      assert.equal((await ask('GET', `${place}/${id}`)).status, place === '/me/likes' ? 204 : 200);
      assert.equal((await ask('GET', `${place}/${other.uri.split('/').at(-1)}`)).status, 404);
      assert.equal((await ask('DELETE', `${place}/${id}`)).status, 204);
      assert.deepEqual((await ask('GET', place)).json, []);
      assert.deepEqual((await ask('GET', one.uri)).json, one);
    }
  });
});

test('what was deleted is there again as it was, where an act is called so', async () => {
  const note = object({ id: string, text: string }, ['id']);
  const below = { ...within('id') };
  const kind = (act: string, answer: Words) => ({
    [`/${act}s`]: {
      get: answers(list(ref('note'))),
      post: { ...sends(object({ text: string })), ...answers(ref('note'), {}, '201') },
    },
    [`/${act}s/{id}`]: { ...below, get: answers(ref('note')), delete: gone },
    [`/${act}s/{id}/${act}`]: { ...below, post: answer },
  });
  for (const [act, answer] of [
    ['restore', answers(ref('note'))],
    ['untrash', gone],
    ['touch', gone],
  ] as const) {
    await standIn(kind(act, answer), { note }, async (ask) => {
      const { json: made } = await ask('POST', `/${act}s`, { text: 'A' });
      const at = `/${act}s/${made.id}`;
      assert.equal((await ask('DELETE', at)).status, 204);
      assert.equal((await ask('GET', at)).status, 404);
      const back = await ask('POST', `${at}/${act}`);
      assert.equal(back.status, act === 'touch' ? 404 : act === 'restore' ? 200 : 204);
      assert.equal((await ask('POST', `/${act}s/nothing/${act}`)).status, 404);
      assert.deepEqual((await ask('GET', `/${act}s`)).json, act === 'touch' ? [] : [made]);
      assert.equal((await ask('GET', at)).status, act === 'touch' ? 404 : 200);
      if (act !== 'touch') assert.equal((await ask('DELETE', at)).status, 204);
      assert.equal((await ask('GET', at)).status, 404);
    });
  }
});

test('a thing is called by what a description says that its name is reckoned of, and by nothing of which it says so little', async () => {
  const hash = { type: 'string', description: "The MD5 hash of the lowercase version of the member's email address." };
  const member = object({ id: hash, email_address: string, name: string }, ['id', 'email_address']);
  const other = object({ id: { type: 'string', description: 'The MD5 hash of the file.' }, email_address: string }, ['id']);
  const place = (word: string, slug: string) => ({
    [`/${word}`]: { post: { ...sends(object({ email_address: string, title: string })), ...answers(ref(slug), {}, '201') } },
    [`/${word}/{id}`]: { ...within('id'), get: answers(ref(slug)), delete: gone },
  });
  const page = object({ id: string, title: string }, ['id', 'title']);
  const paths = {
    ...place('members', 'member'),
    ...place('others', 'other'),
    ...place('pages', 'page'),
    '/pages/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, description: 'The slug of the title, or the ID.', schema: string }],
      get: answers(ref('page')),
    },
  };
  await standIn(paths, { member, other, page }, async (ask) => {
    const { json: made } = await ask('POST', '/members', { email_address: 'Prudence@Example.com' });
    const md5 = '1f91dd3b9d38e73d31aa24cc08e0b8c2';
    assert.equal(made.id.length, md5.length);
    assert.equal(made.id, createHash('md5').update('prudence@example.com').digest('hex'));
    assert.deepEqual((await ask('GET', `/members/${made.id}`)).json, made);
    assert.equal((await ask('GET', `/members/${md5}`)).status, 404);
    const { json: another } = await ask('POST', '/others', { email_address: 'a@example.com' });
    assert.match(another.id, /^other_/);
    const { json: written } = await ask('POST', '/pages', { title: 'Wet feet, & all' });
    assert.deepEqual((await ask('GET', '/pages/wet-feet-all')).json, written);
    assert.equal((await ask('GET', '/pages/wet-feet')).status, 404);
  });
});

test('a thing is found by the field that the word before a parameter is called like, and by no other', async () => {
  const release = object({ id: integer, tag_name: string, note: string }, ['id', 'tag_name']);
  const paths = {
    '/releases': { post: { ...sends(object({ tag_name: string, note: string })), ...answers(ref('release'), {}, '201') } },
    '/releases/{id}': { ...numbered('id'), get: answers(ref('release')) },
    '/releases/tags/{tag}': { ...within('tag'), get: answers(ref('release')) },
    '/releases/moods/{mood}': { ...within('mood'), get: answers(ref('release')) },
  };
  await standIn(paths, { release }, async (ask) => {
    const { json: made } = await ask('POST', '/releases', { tag_name: 'v1.0', note: 'A' });
    const { json: other } = await ask('POST', '/releases', { tag_name: `${made.id}`, note: 'v2.0' });
    assert.deepEqual((await ask('GET', '/releases/tags/v1.0')).json, made);
    assert.deepEqual((await ask('GET', `/releases/tags/${made.id}`)).json, other);
    assert.equal((await ask('GET', '/releases/tags/v2.0')).status, 404);
    assert.equal((await ask('GET', '/releases/moods/v1.0')).status, 404);
  });
});

test('an act that is called a copy makes another, also where a word gathers acts', async () => {
  const poster = object({ id: string, title: string }, ['id', 'title']);
  const paths = {
    '/posters': { get: answers(list(ref('poster'))), post: { ...sends(object({ title: string })), ...answers(ref('poster')) } },
    '/posters/{id}': { ...within('id'), get: answers(ref('poster')), delete: gone },
    '/posters/{id}/actions/replicate': { ...within('id'), post: answers(ref('poster')) },
    '/posters/{id}/actions/iron': { ...within('id'), post: answers(ref('poster')) },
  };
  await standIn(paths, { poster }, async (ask) => {
    const { json: made } = await ask('POST', '/posters', { title: 'A' });
    const { json: copied } = await ask('POST', `/posters/${made.id}/actions/replicate`);
    assert.deepEqual(copied, { id: copied.id, title: 'A' });
    assert.notEqual(copied.id, made.id);
    assert.deepEqual((await ask('POST', `/posters/${made.id}/actions/iron`)).json, made);
    assert.deepEqual((await ask('GET', '/posters')).json, [made, copied]);
    assert.equal((await ask('DELETE', `/posters/${copied.id}`)).status, 204);
    assert.deepEqual((await ask('GET', '/posters')).json, [made]);
  });
});

test('a thing that paths name by a word of their own is known by its pk, and by that word where it has it', async () => {
  const uuid = { ...string, format: 'uuid' };
  const readOnly = { readOnly: true };
  const group = object({ pk: { ...uuid, ...readOnly }, num_pk: { ...integer, ...readOnly }, name: string }, ['pk', 'name']);
  const app = object({ pk: { ...uuid, ...readOnly }, slug: string, name: string }, ['pk', 'slug', 'name']);
  const whole = (name: string, schema: string) => ({
    ...within(name),
    get: answers(ref(schema)),
    patch: { ...sends(object({ name: string })), ...answers(ref(schema)) },
  });
  const paths = {
    '/groups/': { post: { ...sends(object({ name: string }, ['name'])), ...answers(ref('Group'), {}, '201') } },
    '/groups/{group_uuid}/': whole('group_uuid', 'Group'),
    '/apps/': { post: { ...sends(object({ name: string, slug: string }, ['slug'])), ...answers(ref('App'), {}, '201') } },
    '/apps/{slug}/': whole('slug', 'App'),
  };
  await standIn(paths, { Group: group, App: app }, async (ask) => {
    const { json: made } = await ask('POST', '/groups/', { name: 'One' });
    assert.deepEqual((await ask('GET', `/groups/${made.pk}/`)).json, made);
    assert.deepEqual((await ask('PATCH', `/groups/${made.pk}/`, { name: 'Two' })).json, { ...made, name: 'Two' });
    const { json: shown } = await ask('POST', '/apps/', { name: 'Shop', slug: 'shop' });
    assert.deepEqual((await ask('GET', '/apps/shop/')).json, shown);
    assert.equal((await ask('GET', `/apps/${shown.pk}/`)).status, 404);
  });
});

test('an identifier that only answers have, in a shape that is sent too, names nothing: what is sent makes a thing below its owner', async () => {
  const key = object({ id: { type: 'string', readOnly: true }, key: { type: 'string', readOnly: true }, name: string });
  const keys = { post: { ...sends(ref('key')), ...answers(ref('key'), {}, '201') }, get: answers(list(ref('key'))) };
  const paths = {
    '/keys': keys,
    '/keys/{id}': { ...within('id'), get: answers(ref('key')) },
    '/targets/{target}/keys': { ...within('target'), ...keys },
    '/targets/{target}/keys/{id}': { ...within('target', 'id'), get: answers(ref('key')), delete: answers(undefined, {}, '204') },
  };
  await standIn(paths, { key }, async (ask) => {
    const { id } = (await ask('POST', '/targets/t/keys', { name: 'a' })).json;
    assert.deepEqual(
      (await ask('GET', '/targets/t/keys')).json.map(({ id: one }: { id: string }) => one),
      [id],
    );
    assert.equal((await ask('DELETE', `/targets/t/keys/${id}`)).status, 204);
    assert.equal((await ask('GET', `/targets/t/keys/${id}`)).status, 404);
  });
});
