import assert from 'node:assert/strict';
import { createTrelloClient, type TrelloClient } from 'trello.js';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Trello = TrelloClient & { readonly ownToken: string };

const key = '0471642aefef5fa1fa76530ce1ba4c85';

/** The client throws the status within its message alone (`Request failed: 404 Not Found`): it is told beside it too. */
const told = async (call: unknown): Promise<unknown> => {
  try {
    return await call;
  } catch (thrown) {
    const status = /^Request failed: (\d{3})\b/.exec((thrown as Error).message)?.[1];
    throw status === undefined ? thrown : Object.assign(thrown as Error, { status: Number(status) });
  }
};
const telling = <T extends object>(held: T): T =>
  new Proxy(held, {
    get(from, name) {
      const value = Reflect.get(from, name) as unknown;
      if (typeof value === 'function') return (...asked: unknown[]) => told(value(...asked));
      return typeof value === 'object' && value !== null ? telling(value) : value;
    },
  });

/** The key and the token go in the query of each call, as `key` and `token`; there is no header. */
const connect = (place: Place, token: string): Trello =>
  Object.assign(telling(createTrelloClient({ host: place.base, apiKey: key, apiToken: token })), { ownToken: token });

const nowhere = '5abbe4b7ddc1b351ef961414';

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));

const board = async (t: Trello, s: State, as = 'board', name = 'Trello Platform Changes'): Promise<void> => {
  s[as] = (await t.boards.createBoard({ name, defaultLists: false, defaultLabels: false })).id;
};
const list = async (t: Trello, s: State, as = 'list', name = 'To Do', on = 'board'): Promise<void> => {
  s[as] = (await t.lists.createList({ name, idBoard: given(s[on], on), pos: 'bottom' })).id;
};
/** A board with one list on it. */
const ground = async (t: Trello, s: State): Promise<void> => {
  await board(t, s);
  await list(t, s);
};
const card = async (t: Trello, s: State, as = 'card', name = 'Water the plants', on = 'list'): Promise<void> => {
  s[as] = (await t.cards.createCard({ name, idList: given(s[on], on) })).id;
};

/** Guide: developer.atlassian.com/cloud/trello, "API Introduction", "Authorization", "Object Definitions", REST reference. */
export const vendor: Vendor<Trello> = {
  document: 'trello/trello.com.json',
  header: 'token',
  made: 'ATTA5f1a8bd0cf2e5d1f2ad25cb4b9ac1e5cd7e8a0cbe9f1ad2bcf3d4e5f60718293A1B2C3D4',
  client: connect,
  strict: ['a key and a token that are refused'],
  flows: {
    'a board from its making to its closing': (t, s) => ({
      create: async () => {
        const made = await t.boards.createBoard({ name: 'Road trip', desc: 'All the stops', defaultLists: false });
        s.board = made.id;
        assert.deepEqual([made.name, made.desc], ['Road trip', 'All the stops']);
      },
      read: async () => {
        const read = await t.boards.getBoard({ id: s.board });
        assert.deepEqual([read.id, read.name, read.desc], [s.board, 'Road trip', 'All the stops']);
        assert.equal(read.closed, false);
      },
      'it is among my boards': async () => once(ids(await t.members.getMemberBoards({ id: 'me' })), [s.board], 'my boards'),
      rename: async () => {
        const changed = await t.boards.updateBoard({ id: s.board, name: 'Road trip 2', desc: 'Some of the stops' });
        assert.deepEqual([changed.id, changed.name, changed.desc], [s.board, 'Road trip 2', 'Some of the stops']);
      },
      'one field of it': async () =>
        assert.equal((await t.boards.getBoardField({ id: s.board, field: 'name' }))._value, 'Road trip 2'),
      close: async () => assert.equal((await t.boards.updateBoard({ id: s.board, closed: true })).closed, true),
      'it stays closed': async () => {
        const read = await t.boards.getBoard({ id: s.board });
        assert.deepEqual([read.closed, read.name], [true, 'Road trip 2']);
      },
      'it is listed with the closed': async () =>
        once(ids(await t.members.getMemberBoards({ id: 'me', filter: 'closed' })), [s.board], 'closed boards'),
      'and not with the open': async () =>
        assert.ok(!ids(await t.members.getMemberBoards({ id: 'me', filter: 'open' })).includes(s.board)),
    }),

    'the lists of a board': (t, s) => ({
      'a board without lists': async () => {
        await board(t, s);
        assert.deepEqual(await t.boards.getBoardLists({ id: s.board }), []);
      },
      'two lists': async () => {
        await list(t, s, 'doing', 'Doing');
        await list(t, s, 'done', 'Done');
      },
      'in their order': async () => {
        const lists = await t.boards.getBoardLists({ id: s.board });
        assert.deepEqual(names(lists), ['Doing', 'Done']);
      },
      'one before them': async () => {
        const made = await t.boards.createBoardList({ id: s.board, name: 'To Do', pos: 'top' });
        s.todo = made.id;
        assert.deepEqual([made.name, made.idBoard], ['To Do', s.board]);
      },
      'it is the first': async () =>
        assert.deepEqual(ids(await t.boards.getBoardLists({ id: s.board })), [s.todo, s.doing, s.done]),
      rename: async () => {
        assert.equal((await t.lists.updateList({ id: s.doing, name: 'In progress' })).name, 'In progress');
        const read = await t.lists.getList({ id: s.doing });
        assert.deepEqual([read.id, read.name, read.idBoard], [s.doing, 'In progress', s.board]);
      },
      archive: async () => assert.equal((await t.lists.archiveList({ id: s.done, value: 'true' })).closed, true),
      'it is no longer among the open': async () =>
        assert.deepEqual(ids(await t.boards.getBoardLists({ id: s.board, filter: 'open' })), [s.todo, s.doing]),
      'but among the closed': async () =>
        assert.deepEqual(ids(await t.boards.getBoardListsByFilter({ id: s.board, filter: 'closed' })), [s.done]),
      'the board of a list': async () => assert.equal((await t.lists.getListBoard({ id: s.todo })).id, s.board),
    }),

    'a card from its making to its end': (t, s) => ({
      'a board and a list': () => ground(t, s),
      create: async () => {
        const made = await t.cards.createCard({
          idList: s.list,
          name: 'Buy milk',
          desc: 'Two litres',
          due: '2027-03-01T12:00:00.000Z',
        });
        s.card = made.id;
        assert.deepEqual([made.name, made.desc, made.idList], ['Buy milk', 'Two litres', s.list]);
      },
      read: async () => {
        const read = await t.cards.getCard({ id: s.card });
        assert.deepEqual(
          [read.id, read.name, read.desc, read.idList, read.idBoard],
          [s.card, 'Buy milk', 'Two litres', s.list, s.board],
        );
        assert.equal(given(read.due, 'due date').toISOString(), '2027-03-01T12:00:00.000Z');
        assert.equal(read.closed, false);
      },
      'it is on its list once': async () => once(ids(await t.lists.getListCards({ id: s.list })), [s.card], 'cards of the list'),
      change: async () => {
        const changed = await t.cards.updateCard({ id: s.card, name: 'Buy oat milk' });
        assert.deepEqual([changed.id, changed.name, changed.desc], [s.card, 'Buy oat milk', 'Two litres']);
      },
      'it stays changed': async () => {
        const read = await t.cards.getCard({ id: s.card });
        assert.deepEqual([read.name, read.desc, read.idList], ['Buy oat milk', 'Two litres', s.list]);
      },
      delete: async () => t.cards.deleteCard({ id: s.card }),
      'it is gone': () => refused(t.cards.getCard({ id: s.card }), 404),
      'it is on no list': async () => assert.ok(!ids(await t.lists.getListCards({ id: s.list })).includes(s.card)),
    }),

    'a card on its way across the board': (t, s) => ({
      'a board with two lists': async () => {
        await ground(t, s);
        await list(t, s, 'done', 'Done');
      },
      'two cards': async () => {
        await card(t, s);
        await card(t, s, 'other', 'Feed the cat');
      },
      'one is done': async () => {
        const moved = await t.cards.updateCard({ id: s.card, idList: s.done });
        assert.deepEqual([moved.id, moved.idList, moved.name], [s.card, s.done, 'Water the plants']);
      },
      'each is where it should be': async () => {
        assert.deepEqual(ids(await t.lists.getListCards({ id: s.list })), [s.other]);
        assert.deepEqual(ids(await t.lists.getListCards({ id: s.done })), [s.card]);
      },
      'its list': async () => {
        const found = await t.cards.getCardList({ id: s.card });
        assert.deepEqual([found.id, found.name], [s.done, 'Done']);
      },
      'its board': async () => assert.equal((await t.cards.getCardBoard({ id: s.card })).id, s.board),
      'the board has both': async () => once(ids(await t.boards.getBoardCards({ id: s.board })), [s.card, s.other], 'cards'),
    }),

    'cards that are archived': (t, s) => ({
      'a board and a list': () => ground(t, s),
      'three cards': async () => {
        for (const [as, name] of [
          ['a', 'Paris'],
          ['b', 'Rome'],
          ['c', 'Oslo'],
        ] as const)
          await card(t, s, as, name);
      },
      'one is archived': async () => assert.equal((await t.cards.updateCard({ id: s.b, closed: true })).closed, true),
      'the others are open': async () => {
        const open = await t.boards.getBoardCardsByFilter({ id: s.board, filter: 'open' });
        assert.deepEqual(ids(open).sort(), [s.a, s.c].sort());
      },
      'it is closed': async () =>
        assert.deepEqual(ids(await t.boards.getBoardCardsByFilter({ id: s.board, filter: 'closed' })), [s.b]),
      'all of them': async () =>
        assert.deepEqual(
          ids(await t.boards.getBoardCardsByFilter({ id: s.board, filter: 'all' })).sort(),
          [s.a, s.b, s.c].sort(),
        ),
      'and back again': async () => {
        await t.cards.updateCard({ id: s.b, closed: false });
        once(ids(await t.lists.getListCards({ id: s.list })), [s.a, s.b, s.c], 'cards of the list');
      },
      'the whole list': async () => {
        await t.lists.archiveAllListCards({ id: s.list });
        assert.deepEqual(await t.lists.getListCards({ id: s.list }), []);
        assert.equal((await t.cards.getCard({ id: s.a })).closed, true);
      },
    }),

    'all cards of a list are moved': (t, s) => ({
      'two boards': async () => {
        await ground(t, s);
        await board(t, s, 'elsewhere', 'Next year');
        await list(t, s, 'later', 'Later', 'elsewhere');
      },
      'two cards': async () => {
        await card(t, s, 'a', 'Sow');
        await card(t, s, 'b', 'Reap');
      },
      move: async () => t.lists.moveAllListCards({ id: s.list, idBoard: s.elsewhere, idList: s.later }),
      'none is left': async () => assert.deepEqual(await t.lists.getListCards({ id: s.list }), []),
      'they are there': async () => once(ids(await t.lists.getListCards({ id: s.later })), [s.a, s.b], 'cards'),
      'and on the other board': async () => {
        const read = await t.cards.getCard({ id: s.a });
        assert.deepEqual([read.idBoard, read.idList], [s.elsewhere, s.later]);
      },
    }),

    'comments on a card': (t, s) => ({
      'a card': async () => {
        await ground(t, s);
        await card(t, s);
      },
      comment: async () => {
        const made = await t.cards.createCardComment({ id: s.card, text: 'With rain water' });
        s.comment = made.id;
        assert.deepEqual([made.type, made.data.text], ['commentCard', 'With rain water']);
      },
      'it is an action of the card': async () => {
        const actions = await t.cards.getCardActions({ id: s.card, filter: 'commentCard' });
        assert.deepEqual(
          actions.map(({ id, data }) => [id, data.text]),
          [[s.comment, 'With rain water']],
        );
      },
      'and can be read': async () => {
        const read = await t.actions.getAction({ id: s.comment });
        assert.deepEqual([read.id, read.type, read.data.text], [s.comment, 'commentCard', 'With rain water']);
      },
      'of which card': async () => assert.equal((await t.actions.getActionCard({ id: s.comment })).id, s.card),
      change: async () => {
        await t.cards.updateCardComment({ id: s.card, idAction: s.comment, text: 'With tap water' });
        assert.equal((await t.actions.getAction({ id: s.comment })).data.text, 'With tap water');
      },
      delete: async () => t.cards.deleteCardComment({ id: s.card, idAction: s.comment }),
      'it is gone': () => refused(t.actions.getAction({ id: s.comment }), 404),
      'there is none': async () => assert.deepEqual(await t.cards.getCardActions({ id: s.card, filter: 'commentCard' }), []),
    }),

    'comments page by page': (t, s) => ({
      'a card with five': async () => {
        await ground(t, s);
        await card(t, s);
        const made: string[] = [];
        for (const text of ['one', 'two', 'three', 'four', 'five'])
          made.push((await t.cards.createCardComment({ id: s.card, text })).id);
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two of them': async () =>
        assert.equal((await t.cards.getCardActions({ id: s.card, filter: 'commentCard', limit: 2 })).length, 2),
      'the next two are others': async () => {
        const first = ids(await t.cards.getCardActions({ id: s.card, filter: 'commentCard', limit: 2, page: 0 }));
        const second = ids(await t.cards.getCardActions({ id: s.card, filter: 'commentCard', limit: 2, page: 1 }));
        assert.equal(new Set([...first, ...second]).size, 4);
      },
      'all pages': async () => {
        const rows = await numbered((page) => t.cards.getCardActions({ id: s.card, filter: 'commentCard', limit: 2, page }), 0);
        once(ids(rows), s.all.split(' '), 'comments');
        assert.equal(rows.length, 5);
      },
      'the newest is the first': async () => {
        const [newest] = await t.cards.getCardActions({ id: s.card, filter: 'commentCard', limit: 1 });
        assert.equal(given(newest, 'comment').data.text, 'five');
      },
    }),

    'a checklist': (t, s) => ({
      'a card': async () => {
        await ground(t, s);
        await card(t, s);
      },
      create: async () => {
        const made = await t.checklists.createChecklist({ idCard: s.card, name: 'Before we go' });
        s.checklist = made.id;
        assert.deepEqual([made.name, made.idCard], ['Before we go', s.card]);
      },
      'two items': async () => {
        const first = await t.checklists.createChecklistItem({ id: s.checklist, name: 'Passports' });
        const second = await t.checklists.createChecklistItem({ id: s.checklist, name: 'Tickets', checked: true });
        [s.first, s.second] = [first.id, second.id];
        assert.deepEqual(
          [first.name, first.state, second.name, second.state],
          ['Passports', 'incomplete', 'Tickets', 'complete'],
        );
      },
      'the checklist has them': async () => {
        const { name, checkItems } = await t.checklists.getChecklist({ id: s.checklist });
        assert.equal(name, 'Before we go');
        once(ids(given(checkItems, 'items')), [s.first, s.second], 'items');
      },
      'the card has the checklist': async () => {
        assert.deepEqual(ids(await t.cards.getCardChecklists({ id: s.card })), [s.checklist]);
        assert.deepEqual((await t.cards.getCard({ id: s.card })).idChecklists, [s.checklist]);
      },
      rename: async () => {
        await t.checklists.updateChecklist({ id: s.checklist, name: 'Packing' });
        assert.equal((await t.checklists.getChecklistField({ id: s.checklist, field: 'name' }))._value, 'Packing');
      },
      'an item less': async () => {
        await t.checklists.deleteChecklistItem({ id: s.checklist, idCheckItem: s.first });
        assert.deepEqual(ids(await t.checklists.getChecklistItems({ id: s.checklist })), [s.second]);
      },
      delete: async () => t.checklists.deleteChecklist({ id: s.checklist }),
      'it is gone': () => refused(t.checklists.getChecklist({ id: s.checklist }), 404),
      'the card has none': async () => assert.deepEqual(await t.cards.getCardChecklists({ id: s.card }), []),
    }),

    'labels of a board and on a card': (t, s) => ({
      'a card': async () => {
        await ground(t, s);
        await card(t, s);
      },
      create: async () => {
        const made = await t.labels.createLabel({ name: 'Important', color: 'red', idBoard: s.board });
        s.label = made.id;
        assert.deepEqual([made.name, made.color, made.idBoard], ['Important', 'red', s.board]);
      },
      'another on the board itself': async () => {
        const made = await t.boards.createBoardLabel({ id: s.board, name: 'Fun', color: 'green' });
        s.other = made.id;
        assert.deepEqual([made.name, made.color], ['Fun', 'green']);
      },
      'the board has both': async () => once(ids(await t.boards.getBoardLabels({ id: s.board })), [s.label, s.other], 'labels'),
      'the card has one': async () => {
        await t.cards.addCardLabel({ id: s.card, value: s.label });
        const read = await t.cards.getCard({ id: s.card });
        assert.deepEqual(read.idLabels, [s.label]);
        assert.deepEqual(
          given(read.labels, 'labels').map(({ id, name, color }) => [id, name, color]),
          [[s.label, 'Important', 'red']],
        );
      },
      change: async () => {
        await t.labels.updateLabel({ id: s.label, name: 'Urgent', color: 'orange' });
        const read = await t.labels.getLabel({ id: s.label });
        assert.deepEqual([read.id, read.name, read.color], [s.label, 'Urgent', 'orange']);
      },
      'the card no longer': async () => {
        await t.cards.removeCardLabel({ id: s.card, idLabel: s.label });
        assert.deepEqual((await t.cards.getCard({ id: s.card })).idLabels, []);
      },
      delete: async () => t.labels.deleteLabel({ id: s.label }),
      'it is gone': () => refused(t.labels.getLabel({ id: s.label }), 404),
      'the board has the other': async () => {
        const left = ids(await t.boards.getBoardLabels({ id: s.board }));
        once(left, [s.other], 'labels');
        assert.ok(!left.includes(s.label));
      },
    }),

    'only the fields that are asked for': (t, s) => ({
      'a card': async () => {
        await ground(t, s);
        await card(t, s);
      },
      'its name': async () => {
        const read = await t.cards.getCard({ id: s.card, fields: 'name' });
        assert.deepEqual(
          [read.id, read.name, read.desc, read.idList, read.url],
          [s.card, 'Water the plants', undefined, undefined, undefined],
        );
      },
      'two of the list': async () => {
        const read = await t.lists.getList({ id: s.list, fields: 'name,closed' });
        assert.deepEqual([read.id, read.name, read.closed, read.idBoard], [s.list, 'To Do', false, undefined]);
      },
      'of all lists': async () => {
        for (const { name, idBoard } of await t.boards.getBoardLists({ id: s.board, fields: 'name' }))
          assert.deepEqual([name, idBoard], ['To Do', undefined]);
      },
      'one alone': async () =>
        assert.equal((await t.cards.getCardField({ id: s.card, field: 'name' }))._value, 'Water the plants'),
      'of all boards': async () => {
        for (const { name, desc, url } of await t.members.getMemberBoards({ id: 'me', fields: 'name' }))
          assert.deepEqual([typeof name, desc, url], ['string', undefined, undefined]);
      },
    }),

    'a workspace and its boards': (t, s) => ({
      create: async () => {
        const made = await t.organizations.createOrganization({
          displayName: 'Team of the garden',
          desc: 'We dig',
          website: 'https://example.com',
        });
        s.org = made.id;
        assert.deepEqual([made.displayName, made.desc], ['Team of the garden', 'We dig']);
      },
      read: async () => {
        const read = await t.organizations.getOrganization({ id: s.org });
        assert.deepEqual([read.id, read.displayName, read.desc], [s.org, 'Team of the garden', 'We dig']);
      },
      'it is among mine': async () => once(ids(await t.members.getMemberOrganizations({ id: 'me' })), [s.org], 'my workspaces'),
      'a board in it': async () => {
        const made = await t.boards.createBoard({ name: 'Beds', idOrganization: s.org });
        s.board = made.id;
        assert.equal(made.idOrganization, s.org);
        assert.deepEqual(ids(await t.organizations.getOrganizationBoards({ id: s.org })), [s.board]);
      },
      change: async () => {
        const changed = await t.organizations.updateOrganization({ id: s.org, displayName: 'Gardeners' });
        assert.deepEqual([changed.id, changed.displayName, changed.desc], [s.org, 'Gardeners', 'We dig']);
      },
      'it stays changed': async () =>
        assert.equal((await t.organizations.getOrganizationField({ id: s.org, field: 'displayName' }))._value, 'Gardeners'),
      delete: async () => t.organizations.deleteOrganization({ id: s.org }),
      'it is gone': () => refused(t.organizations.getOrganization({ id: s.org }), 404),
    }),

    'what I keep: searches and starred boards': (t, s) => ({
      'save a search': async () => {
        const made = await t.members.createMemberSavedSearch({ id: 'me', name: 'Mine', query: '@me is:open', pos: 'bottom' });
        s.search = given(made.id, 'id');
        assert.deepEqual([made.name, made.query], ['Mine', '@me is:open']);
      },
      'it is listed': async () => {
        const rows = await t.members.getMemberSavedSearches({ id: 'me' });
        once(
          rows.map(({ id }) => given(id, 'id')),
          [s.search],
          'searches',
        );
      },
      change: async () => {
        await t.members.updateMemberSavedSearch({ id: 'me', idSearch: s.search, name: 'All of mine', query: '@me' });
        const read = await t.members.getMemberSavedSearch({ id: 'me', idSearch: s.search });
        assert.deepEqual([read.name, read.query], ['All of mine', '@me']);
      },
      'forget it': async () => {
        await t.members.deleteMemberSavedSearch({ id: 'me', idSearch: s.search });
        await refused(t.members.getMemberSavedSearch({ id: 'me', idSearch: s.search }), 404);
      },
      'star a board': async () => {
        await board(t, s);
        await t.members.starBoard({ id: 'me', idBoard: s.board, pos: 'top' });
        const stars = await t.members.getMemberBoardStars({ id: 'me' });
        const star = given(
          stars.find(({ idBoard }) => idBoard === s.board),
          'star',
        );
        s.star = given(star.id, 'id of the star');
      },
      'and no longer': async () => {
        await t.members.unstarBoard({ id: 'me', idStar: s.star });
        const stars = await t.members.getMemberBoardStars({ id: 'me' });
        assert.ok(!stars.some(({ id }) => id === s.star));
      },
    }),

    'a webhook of a board': (t, s) => ({
      'a board': () => board(t, s),
      create: async () => {
        const made = await t.tokens.createTokenWebhook({
          token: t.ownToken,
          description: 'My first webhook',
          callbackURL: 'https://example.com/',
          idModel: s.board,
        });
        s.hook = made.id;
        assert.deepEqual(
          [made.description, made.callbackURL, made.idModel],
          ['My first webhook', 'https://example.com/', s.board],
        );
      },
      read: async () => {
        const read = await t.webhooks.getWebhook({ id: s.hook });
        assert.deepEqual([read.id, read.description, read.idModel], [s.hook, 'My first webhook', s.board]);
      },
      'the token has it': async () => once(ids(await t.tokens.getTokenWebhooks({ token: t.ownToken })), [s.hook], 'webhooks'),
      'switch off': async () => {
        assert.equal((await t.webhooks.updateWebhook({ id: s.hook, active: false })).active, false);
        const read = await t.webhooks.getWebhook({ id: s.hook });
        assert.deepEqual([read.active, read.description], [false, 'My first webhook']);
      },
      delete: async () => t.webhooks.deleteWebhook({ id: s.hook }),
      'it is gone': () => refused(t.webhooks.getWebhook({ id: s.hook }), 404),
      'the token has it no longer': async () =>
        assert.ok(!ids(await t.tokens.getTokenWebhooks({ token: t.ownToken })).includes(s.hook)),
    }),

    'what is wrong': (t) => ({
      'a card that is not there': () => refused(t.cards.getCard({ id: nowhere }), 404),
      'a board that is not there': () => refused(t.boards.getBoard({ id: nowhere }), 404),
      'no change of a list that is not there': () => refused(t.lists.updateList({ id: nowhere, name: 'None' }), 404),
      'no end of a label that is not there': () => refused(t.labels.deleteLabel({ id: nowhere }), 404),
      'a card without a list': () => refused(t.cards.createCard({ name: 'Homeless' } as { name: string; idList: string }), 400),
      'a board without a name': () => refused(t.boards.createBoard({} as { name: string }), 400),
    }),

    'a key and a token that are refused': (_t, _, another) => ({
      'whose boards': () => refused(another('nobodyHasThisToken').members.getMemberBoards({ id: 'me' }), 401),
      'no board is made': () => refused(another('nobodyHasThisToken').boards.createBoard({ name: 'Intruder' }), 401),
      'none at all': () => refused(another('').members.getMember({ id: 'me' }), 401),
      'nor is one told of': () => refused(another('nobodyHasThisToken').boards.getBoard({ id: nowhere }), 401),
    }),
  },
};
