import assert from 'node:assert/strict';
import { FullItem, GeneratorRecipe, ItemBuilder, OnePasswordConnect, type OPConnect } from '@1password/connect';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client itself begins each path with `/v1`, as the description's server for a machine of one's own does. */
const connect = (place: Place, token: string): OPConnect => OnePasswordConnect({ serverURL: place.url, token });

type Fields = NonNullable<FullItem['fields']>;
type NewField = Parameters<ItemBuilder['addField']>[0];
const category = FullItem.CategoryEnum;
const sets = GeneratorRecipe.CharacterSetsEnum;

/** The words for types and purposes: the client's own types have them as numbers, and it sends words. */
const purpose = (word: 'USERNAME' | 'PASSWORD' | 'NOTES'): NewField => ({ purpose: word as unknown as undefined });
const type = (word: 'EMAIL' | 'CONCEALED' | 'URL'): NewField => ({ type: word as unknown as undefined });

/** Vaults are made in the application alone: a token of Connect is given for one that is there. */
const vault = async (op: OPConnect, s: State): Promise<void> => {
  s.vault = given(given((await op.listVaults())[0], 'vault').id, 'id');
};

const login = (title: string, password = 'wK9-vd2.Lq7'): FullItem =>
  new ItemBuilder()
    .setCategory(category.Login)
    .setTitle(title)
    .addTag('office')
    .addField({ label: 'username', value: 'ada', ...purpose('USERNAME') })
    .addField({ label: 'password', value: password, ...purpose('PASSWORD') })
    .build();

const note = (title: string): FullItem =>
  new ItemBuilder()
    .setCategory(category.SecureNote)
    .setTitle(title)
    .addField({ label: 'notesPlain', value: 'The key is under the mat.', ...purpose('NOTES') })
    .build();

const make = async (op: OPConnect, s: State, item: FullItem): Promise<FullItem> => {
  if (!Object.keys(s).includes('vault')) await vault(op, s);
  const made = await op.createItem(s.vault, item);
  s.id = given(made.id, 'id');
  return made;
};

const ids = (rows: readonly { id?: string }[]): string[] => rows.map(({ id }) => given(id, 'id'));

const listed = async (op: OPConnect, s: State): Promise<string[]> => ids(await op.listItems(s.vault));

const field = (item: FullItem, label: string): Fields[number] =>
  given(
    (item.fields ?? []).find((one) => one.label === label),
    `field "${label}"`,
  );

const nobody = 'zzzzzzzzzz0000000000zzzzzz';

/** Guide: developer.1password.com/docs/connect, "Get started", "API reference", "Item", "Vault", "Field"; the client's README. */
export const vendor: Vendor<OPConnect> = {
  document: '1password/connect.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImZsb3dzIn0.eyJzdWIiOiJuaW5lZm9sZCJ9.c2lnbmVk',
  client: connect,
  flows: {
    'the vaults of a token': (op, s) => ({
      list: async () => vault(op, s),
      'read one': async () => {
        const read = await op.getVaultById(s.vault);
        assert.equal(read.id, s.vault);
        s.name = given(read.name, 'name');
      },
      'find it by its name': async () => {
        const found = await op.listVaultsByTitle(s.name);
        assert.ok(ids(found).includes(s.vault));
        for (const { name } of found) assert.equal(name, s.name);
      },
      'no vault has another name': async () => assert.deepEqual(await op.listVaultsByTitle('No vault is called this'), []),
      'a vault that is not there': async () => refused(op.getVaultById(nobody), 403, 404),
    }),
    'a login is made, changed and deleted': (op, s) => ({
      create: async () => {
        const made = await make(op, s, login('Payroll'));
        assert.match(s.id, /^[\da-z]{26}$/);
        assert.deepEqual([made.title, made.category, made.vault.id], ['Payroll', category.Login, s.vault]);
      },
      read: async () => {
        const read = await op.getItemById(s.vault, s.id);
        assert.deepEqual([read.id, read.title, read.tags], [s.id, 'Payroll', ['office']]);
        assert.deepEqual([field(read, 'username').value, field(read, 'password').value], ['ada', 'wK9-vd2.Lq7']);
      },
      change: async () => {
        const item = await op.getItemById(s.vault, s.id);
        item.title = 'Payroll of Oslo';
        field(item, 'password').value = 'another one';
        const changed = await op.updateItem(s.vault, item);
        assert.deepEqual([changed.id, changed.title], [s.id, 'Payroll of Oslo']);
      },
      'it stays changed, and the rest as it was': async () => {
        const read = await op.getItemById(s.vault, s.id);
        assert.deepEqual([read.title, read.category, read.tags], ['Payroll of Oslo', category.Login, ['office']]);
        assert.deepEqual([field(read, 'username').value, field(read, 'password').value], ['ada', 'another one']);
      },
      delete: async () => op.deleteItemById(s.vault, s.id),
      'it is gone': async () => refused(op.getItemById(s.vault, s.id), 404),
      'it is not listed': async () => assert.ok(!(await listed(op, s)).includes(s.id)),
    }),
    'items of a vault': (op, s) => ({
      'make three': async () => {
        for (const n of [1, 2, 3]) {
          await make(op, s, login(`Machine ${n}`));
          s[`id${n}`] = s.id;
        }
      },
      'each is listed once': async () => once(await listed(op, s), [s.id1, s.id2, s.id3], 'items'),
      'a list tells titles and categories': async () => {
        const row = (await op.listItems(s.vault)).find(({ id }) => id === s.id2);
        assert.deepEqual([row?.title, row?.category as unknown], ['Machine 2', 'LOGIN']);
      },
      'one less': async () => {
        await op.deleteItemById(s.vault, s.id2);
        const rows = await listed(op, s);
        once(rows, [s.id1, s.id3], 'items');
        assert.ok(!rows.includes(s.id2));
      },
    }),
    'an item by its title': (op, s) => ({
      'two items': async () => {
        await make(op, s, login('Wiki'));
        s.other = s.id;
        await make(op, s, login('Build server'));
      },
      'find one': async () => {
        const found = await op.getItemByTitle(s.vault, 'Build server');
        assert.deepEqual([found.id, found.title, field(found, 'username').value], [s.id, 'Build server', 'ada']);
      },
      'the same by either': async () => assert.equal((await op.getItem(s.vault, 'Wiki')).id, s.other),
      'a title that nothing has': async () => refused(op.getItemByTitle(s.vault, 'Nothing is called this'), 404),
      'delete by title': async () => op.deleteItemByTitle(s.vault, 'Build server'),
      'the other is there still': async () => {
        await refused(op.getItemById(s.vault, s.id), 404);
        assert.equal((await op.getItemById(s.vault, s.other)).title, 'Wiki');
      },
    }),
    'two items of one title': (op, s) => ({
      'make both': async () => {
        await make(op, s, login('Printer', 'one'));
        s.first = s.id;
        await make(op, s, login('Printer', 'two'));
        assert.notEqual(s.id, s.first);
      },
      'both are found': async () => {
        const found = await op.listItemsByTitle(s.vault, 'Printer');
        assert.deepEqual(ids(found).sort(), [s.first, s.id].sort());
      },
      'each with its own password': async () => {
        const found = await op.listItemsByTitle(s.vault, 'Printer');
        assert.deepEqual(found.map((item) => field(item, 'password').value).sort(), ['one', 'two']);
      },
      'one by title is too few': async () => refused(op.getItemByTitle(s.vault, 'Printer'), 400),
      'until one is gone': async () => {
        await op.deleteItemById(s.vault, s.first);
        assert.equal((await op.getItemByTitle(s.vault, 'Printer')).id, s.id);
      },
    }),
    'a password is generated': (op, s) => ({
      create: async () => {
        const item = new ItemBuilder()
          .setCategory(category.Password)
          .setTitle('Door')
          .addField({
            label: 'password',
            generate: true,
            recipe: { length: 24, characterSets: [sets.Letters, sets.Digits] },
            ...purpose('PASSWORD'),
          })
          .build();
        const made = await make(op, s, item);
        assert.deepEqual([made.title, made.category], ['Door', category.Password]);
        s.value = given(field(made, 'password').value, 'value');
      },
      'it follows the recipe': async () => assert.match(s.value, /^[A-Za-z0-9]{24}$/),
      'it is the same when it is read': async () =>
        assert.equal(field(await op.getItemById(s.vault, s.id), 'password').value, s.value),
    }),
    'fields in sections': (op, s) => ({
      create: async () => {
        const item = new ItemBuilder()
          .setCategory(category.Server)
          .setTitle('Mail server')
          .addField({ label: 'host', value: 'mail.example.com', sectionName: 'Network' })
          .addField({ label: 'admin', value: 'root@example.com', sectionName: 'People', ...type('EMAIL') })
          .addField({ label: 'pin', value: '1234', sectionName: 'People', ...type('CONCEALED') })
          .build();
        const made = await make(op, s, item);
        assert.equal(made.sections?.length, 2);
      },
      'each field is in its section': async () => {
        const read = await op.getItemById(s.vault, s.id);
        const labels = new Map((read.sections ?? []).map(({ id, label }) => [id, label]));
        const of = (label: string) => labels.get(given(field(read, label).section?.id, 'section of the field'));
        assert.deepEqual([of('host'), of('admin'), of('pin')], ['Network', 'People', 'People']);
      },
      'each field has its type': async () => {
        const read = await op.getItemById(s.vault, s.id);
        const types = ['host', 'admin', 'pin'].map((label) => field(read, label).type as unknown);
        assert.deepEqual(types, ['STRING', 'EMAIL', 'CONCEALED']);
      },
      'take a field away': async () => {
        const item = await op.getItemById(s.vault, s.id);
        item.fields = (item.fields ?? []).filter(({ label }) => label !== 'pin');
        await op.updateItem(s.vault, item);
        const left = (await op.getItemById(s.vault, s.id)).fields ?? [];
        assert.ok(!left.some(({ label }) => label === 'pin'));
        assert.ok(left.some(({ label }) => label === 'admin'));
      },
    }),
    'the addresses of a login': (op, s) => ({
      create: async () => {
        const item = new ItemBuilder()
          .setCategory(category.Login)
          .setTitle('Shop')
          .addUrl({ href: 'https://shop.example.com', primary: true })
          .addUrl({ href: 'https://shop.example.org' })
          .build();
        assert.equal((await make(op, s, item)).urls?.length, 2);
      },
      read: async () => {
        const urls = (await op.getItemById(s.vault, s.id)).urls ?? [];
        assert.deepEqual(
          urls.map(({ href }) => href),
          ['https://shop.example.com', 'https://shop.example.org'],
        );
      },
      'one is the first to go to': async () => {
        const urls = (await op.getItemById(s.vault, s.id)).urls ?? [];
        assert.deepEqual(
          urls.filter(({ primary }) => primary === true).map(({ href }) => href),
          ['https://shop.example.com'],
        );
      },
      'leave one': async () => {
        const item = await op.getItemById(s.vault, s.id);
        item.urls = [{ href: 'https://shop.example.net', primary: true }];
        await op.updateItem(s.vault, item);
        const { urls } = await op.getItemById(s.vault, s.id);
        assert.deepEqual(
          (urls ?? []).map(({ href }) => href),
          ['https://shop.example.net'],
        );
      },
    }),
    'favourites and tags': (op, s) => ({
      'an item is none': async () => assert.notEqual((await make(op, s, note('Key'))).favorite, true),
      'make it one': async () => {
        const item = await op.getItemById(s.vault, s.id);
        const changed = await op.updateItem(s.vault, Object.assign(item, { favorite: true, tags: ['home', 'keys'] }));
        assert.deepEqual([changed.id, changed.favorite, changed.tags], [s.id, true, ['home', 'keys']]);
      },
      'it stays one, with its note': async () => {
        const read = await op.getItemById(s.vault, s.id);
        assert.deepEqual([read.favorite, read.tags], [true, ['home', 'keys']]);
        assert.equal(field(read, 'notesPlain').value, 'The key is under the mat.');
      },
      'made one from the start': async () => {
        const item = new ItemBuilder().setCategory(category.SecureNote).setTitle('Spare key').toggleFavorite().build();
        assert.equal((await make(op, s, item)).favorite, true);
      },
    }),
    'categories of items': (op, s) => ({
      'one of each': async () => {
        await make(op, s, note('Alarm'));
        s.note = s.id;
        await make(op, s, new ItemBuilder().setCategory(category.Database).setTitle('Ledger').build());
        s.database = s.id;
        await make(op, s, new ItemBuilder().setCategory(category.CreditCard).setTitle('Card').build());
        s.card = s.id;
      },
      'each keeps its own': async () => {
        const kinds = [];
        for (const id of [s.note, s.database, s.card]) kinds.push((await op.getItemById(s.vault, id)).category);
        assert.deepEqual(kinds, [category.SecureNote, category.Database, category.CreditCard]);
      },
      'so does the list': async () => {
        const rows = new Map((await op.listItems(s.vault)).map(({ id, category: kind }) => [id, kind as unknown]));
        assert.deepEqual([rows.get(s.note), rows.get(s.database), rows.get(s.card)], ['SECURE_NOTE', 'DATABASE', 'CREDIT_CARD']);
      },
    }),
    'files of an item': (op, s) => ({
      'an item': async () => make(op, s, login('Scanner')),
      'it has none': async () => assert.deepEqual(await op.listFiles(s.vault, s.id), []),
      'a file that is not there': async () => refused(op.getFileById(s.vault, s.id, nobody), 404),
      'files of an item that is not there': async () => refused(op.listFiles(s.vault, nobody), 404),
    }),
    'wrong requests': (op, s) => ({
      'a vault': async () => vault(op, s),
      'an item has a category that there is': async () => {
        await refused(op.createItem(s.vault, Object.assign(login('Odd one'), { category: 'HOBBY' })), 400);
      },
      'nothing came of it': async () => {
        const rows = (await op.listItems(s.vault)).filter(({ title }) => title === 'Odd one');
        assert.deepEqual(rows, []);
      },
      'what is not there cannot be changed': async () => {
        await refused(op.updateItem(s.vault, Object.assign(login('Ghost'), { id: nobody, vault: { id: s.vault } })), 404);
      },
      'nor deleted': async () => refused(op.deleteItemById(s.vault, nobody), 404),
      'an error says its status and what is wrong': async () => {
        const thrown = (await refused(op.getItemById(s.vault, nobody), 404)) as { status?: unknown; message?: unknown };
        assert.deepEqual([thrown.status, typeof thrown.message], [404, 'string']);
      },
    }),
    'a token that is refused': (op, s, another) => ({
      'the right one is taken': async () => make(op, s, login('Safe')),
      'another one reads no vaults': async () => refused(another('nobody').listVaults(), 401),
      'nor items': async () => refused(another('nobody').getItemById(s.vault, s.id), 401),
      'nor does it delete': async () => refused(another('nobody').deleteItemById(s.vault, s.id), 401),
      'the item is there still': async () => assert.equal((await op.getItemById(s.vault, s.id)).title, 'Safe'),
    }),
  },
  strict: ['a token that is refused'],
};
