import { accountOf } from '../crash/account.ts';
import type { Row } from '../crash/records.ts';
import type { Answer } from '../crash/server.ts';
import {
  at,
  change,
  exchanges,
  further,
  isMade,
  isRefused,
  lastRows,
  listsOf,
  type Mutable,
  type Planted,
  type Planting,
  toldOf,
  unlist,
  waitedFor,
  without,
} from './planting.ts';

const set = (value: object | undefined, changes: Mutable): void => {
  if (value) Object.assign(value, changes);
};

/** What was asked of a resource by a verb, and how it was answered. */
const asked = (planting: Planting, verb: string, resource: string) =>
  exchanges(planting).filter(({ request }) => request.verb === verb && request.resource === resource);

/** Accounts of the last list with what was told of their change before the last. */
function withEarlier(planting: Planting): { readonly row: Row; readonly before: Row }[] {
  return lastRows(planting, 'account').flatMap((row) => {
    const [found] = toldOf(
      planting,
      ({ envelope: { type, data } }) =>
        type === 'account.stored' && data.id === row.id && data.changes === accountOf(row).changes - 1,
    );
    return found ? [{ row, before: found.envelope.data }] : [];
  });
}

/** Nobody was ever told of the last change of a row, and no list has it. */
function forgetLast(planting: Planting, { row, before }: { readonly row: Row; readonly before: Row }): void {
  const { id, changes } = row;
  without(planting, new Set(toldOf(planting, ({ envelope: { data } }) => data.id === id && data.changes === changes)));
  for (const { rows, resting } of listsOf(planting))
    for (const one of [...rows.account, ...resting]) if (one.id === id && one.changes === changes) set(one, before);
}

const lastWord = (row: Row): string => accountOf(row).log.split(' ').at(-1) ?? '';

/** One more ticket of a place, made by an operation. */
function ticket(planting: Planting, op: string, place: unknown): void {
  const all = lastRows(planting, 'ticket');
  const numbers = all.filter((row) => row.place === place).map(({ number }) => Number(number));
  all.push({
    ...all[0],
    id: 1_000_000 + all.length,
    place,
    op,
    number: Math.max(0, ...numbers) + 1,
    created_at: all.at(-1)?.created_at,
  });
}

/** A ticket has another number wherever it is shown. */
function renumber(p: Planting, { id, op, number: before }: Row, number: number): void {
  for (const { rows } of listsOf(p)) for (const row of rows.ticket) if (row.id === id) set(row, { number });
  for (const { request, answers } of exchanges(p))
    if (request.op === op)
      for (const answer of answers) set(answer, { text: answer.text.replace(`"number":${before}`, `"number":${number}`) });
}

const writes: readonly Planted[] = [
  {
    name: 'an acknowledged ticket is lost, the last of its place',
    plant: (p) => {
      const last = [...Map.groupBy(lastRows(p, 'ticket'), ({ place }) => place).values()].map((all) => all.at(-1)!);
      return at(p, last, (row) => unlist(p, 'ticket', ({ id }) => id === row.id));
    },
  },
  {
    name: 'an acknowledged entry is lost',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'entry').filter((row) => asked(p, 'create', 'entry').some((one) => one.request.op === row.op && isMade(one))),
        (row) => unlist(p, 'entry', ({ id }) => id === row.id),
      ),
  },
  {
    name: 'an account is lost with all that was told of it and all that belongs to it',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').filter((row) =>
          asked(p, 'create', 'account').some(
            (one) => one.request.op === lastWord(row) || (isMade(one) && accountOf(row).log.startsWith(`${one.request.op} `)),
          ),
        ),
        ({ id }) => {
          unlist(p, 'account', (row) => row.id === id);
          for (const resource of ['entry', 'card'] as const) unlist(p, resource, (row) => row.account === id);
          without(p, new Set(toldOf(p, ({ envelope }) => envelope.data.id === id)));
        },
      ),
  },
  {
    name: 'the last acknowledged change of an account is lost, also to those who are told',
    plant: (p) => {
      const made = new Set(
        exchanges(p)
          .filter(isMade)
          .map(({ request }) => request.op),
      );
      return at(
        p,
        withEarlier(p).filter(({ row }) => made.has(lastWord(row))),
        (one) => forgetLast(p, one),
      );
    },
  },
  {
    name: 'a refused create is there',
    plant: (p) =>
      at(p, asked(p, 'create', 'ticket').filter(isRefused), ({ request }) => ticket(p, request.op, request.body?.place)),
  },
  {
    name: 'a create that was answered 503 is there',
    plant: (p) =>
      at(p, asked(p, 'create', 'entry').filter(isRefused), ({ request, answers }) => {
        for (const answer of answers) set(answer, { status: 503, text: '{"code":"late"}' });
        const entries = lastRows(p, 'entry');
        entries.push({ ...entries[0], ...request.body, account: entries[0]?.account, id: 'ent_00000000000000000000000000' });
      }),
  },
  {
    name: 'a refused change is there',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').flatMap((row) =>
          exchanges(p)
            .filter((one) => one.request.id === String(row.id) && one.request.verb === 'update' && isRefused(one))
            .map(({ request }) => ({ row, request })),
        ),
        ({ row, request }) => {
          const { op, ...fields } = request.body ?? {};
          further(p, row, request.op, fields);
        },
      ),
  },
  {
    name: 'a request with a key made two rows',
    plant: (p) => at(p, lastRows(p, 'entry'), (row) => void lastRows(p, 'entry').push({ ...row, id: `${row.id}0` })),
  },
  {
    name: 'a request made two tickets, with the next number',
    plant: (p) => at(p, lastRows(p, 'ticket'), (row) => ticket(p, String(row.op), row.place)),
  },
  { name: 'a change was done twice', plant: (p) => at(p, lastRows(p, 'account'), (row) => further(p, row, lastWord(row))) },
  {
    name: 'a change that nobody sent is there',
    plant: (p) => at(p, lastRows(p, 'account'), (row) => further(p, row, 'r1.99999')),
  },
  {
    name: 'a field is another, and nobody changed it',
    plant: (p) => at(p, lastRows(p, 'account'), ({ id }) => change(p, id, { handle: 'h9999' })),
  },
  {
    name: 'a balance is wrong by one',
    plant: (p) => at(p, lastRows(p, 'account'), ({ id, balance }) => change(p, id, { balance: Number(balance) + 1 })),
  },
  {
    name: 'a row lacks a required field',
    plant: (p) => at(p, lastRows(p, 'account'), ({ id }) => change(p, id, { handle: undefined })),
  },
  {
    name: 'a change in the middle is lost',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').filter((row) => accountOf(row).changes > 2),
        (row) => {
          const words = accountOf(row).log.split(' ');
          change(p, row.id, { log: words.toSpliced(1, 1).join(' '), changes: words.length - 1 });
        },
      ),
  },
  {
    name: 'an update went over another one that its ETag did not know',
    plant: (p) => {
      const made = exchanges(p).filter(
        (one) =>
          one.request.ifMatch &&
          isMade(one) &&
          lastRows(p, 'account').some((row) => accountOf(row).log.includes(` ${one.request.op}`)),
      );
      return at(p, made, ({ request }) => {
        const log = request.ifMatch?.log ?? '';
        for (const entry of p.entries)
          if (entry.kind === 'sent' && entry.request.op === request.op)
            set(entry.request as unknown as Row, { ifMatch: { ...request.ifMatch, log: `${log} r0.1` } });
      });
    },
  },
  {
    name: 'a deleted account is back',
    plant: (p) => {
      const gone = asked(p, 'delete', 'account').filter(isMade);
      const known = gone.flatMap(({ request }) =>
        toldOf(p, ({ envelope: { type, data } }) => type === 'account.stored' && String(data.id) === request.id).slice(-1),
      );
      return at(p, known, ({ envelope }) => {
        const all = lastRows(p, 'account');
        all.push({ ...envelope.data, seat: undefined, handle: 'h9999' });
        all.sort((a, b) => Number(a.id) - Number(b.id));
      });
    },
  },
];

const rules: readonly Planted[] = [
  {
    name: 'a number is left out',
    plant: (p) => {
      const last = [...Map.groupBy(lastRows(p, 'ticket'), ({ place }) => place).values()].map((all) => all.at(-1)!);
      return at(p, last, (row) => renumber(p, row, Number(row.number) + 1));
    },
  },
  {
    name: 'a number is there twice',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'ticket').filter(({ number }) => Number(number) > 1),
        (row) => renumber(p, row, Number(row.number) - 1),
      ),
  },
  {
    name: 'a quota is exceeded, and the request acknowledged',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'ticket').filter(({ number }) => number === 5),
        ({ place }) => ticket(p, 'one too many', place),
      ),
  },
  {
    name: 'a quota is told to be used up that is not',
    plant: (p) => {
      const [op, place] = ['early', '10.99.0.1'];
      const request = {
        op,
        verb: 'create',
        resource: 'ticket',
        method: 'POST',
        path: '/tickets',
        body: { place, op },
        address: place,
        round: 1,
      } as const;
      const answer: Answer = { status: 429, headers: {}, text: '{"code":"used_up"}' };
      const first = p.entries.findIndex(({ kind }) => kind === 'listing');
      p.entries.splice(first, 0, { kind: 'sent', turn: -1, request }, { kind: 'answered', turn: -1, answer, atMs: 0 });
      return true;
    },
  },
  {
    name: 'two accounts have one handle',
    plant: (p) =>
      at(p, withEarlier(p), ({ row }) =>
        change(p, row.id, { handle: lastRows(p, 'account').find(({ id }) => id !== row.id)?.handle }),
      ),
  },
  {
    name: 'two teams have one name',
    plant: (p) =>
      at(p, lastRows(p, 'team'), (row) => void lastRows(p, 'team').push({ ...row, id: 'team_00000000000000000000000000' })),
  },
  {
    name: 'an entry refers to no account',
    plant: (p) => at(p, lastRows(p, 'entry'), (row) => unlist(p, 'account', ({ id }) => id === row.account)),
  },
  {
    name: 'a card let go of its issuer, which is there',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'card').filter(({ issuer }) => lastRows(p, 'team').some(({ id }) => id === issuer)),
        (row) => set(row, { issuer: undefined }),
      ),
  },
  {
    name: 'a filtered list lacks a row',
    plant: (p) =>
      at(
        p,
        listsOf(p).filter(({ resting }) => resting.length > 0),
        ({ resting }) => void (resting as Row[]).pop(),
      ),
  },
  { name: 'a list gives a row twice', plant: (p) => at(p, lastRows(p, 'ticket'), (row) => void lastRows(p, 'ticket').push(row)) },
  {
    name: 'a list is in another order',
    plant: (p) => lastRows(p, 'account').length > 1 && lastRows(p, 'account').reverse().length > 0,
  },
];

const clock: readonly Planted[] = [
  {
    name: 'a timer is lost',
    plant: (p) => {
      waitedFor(p);
      return at(
        p,
        withEarlier(p).filter(({ row }) => lastWord(row).startsWith('@')),
        (one) => forgetLast(p, one),
      );
    },
  },
  {
    name: 'a timer fired twice',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').filter((row) => lastWord(row) === '@remind'),
        (row) => further(p, row, '@remind'),
      ),
  },
  {
    name: 'a row expired twice',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').filter((row) => lastWord(row) === '@expire'),
        (row) => further(p, row, '@expire'),
      ),
  },
  {
    name: 'a timer fired early',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').filter((row) => lastWord(row) === '@expire'),
        ({ id, created_at }) => {
          for (const { data } of toldOf(p, ({ envelope }) => envelope.data.id === id).map(({ envelope }) => envelope))
            if (data.op === '@expire') set(data, { entered_at: created_at });
          change(p, id, { entered_at: created_at });
        },
      ),
  },
  {
    name: 'a timer fired in a state that it does not leave',
    plant: (p) =>
      at(
        p,
        lastRows(p, 'account').filter(({ status }) => status === 'closed'),
        (row) => further(p, row, '@remind', { status: 'active' }),
      ),
  },
];

export const plantedInRows: readonly Planted[] = [...writes, ...rules, ...clock];
