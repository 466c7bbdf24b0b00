import { isDeepStrictEqual } from 'node:util';
import { accountOf, extendsRow, replayed } from './account.ts';
import type { History } from './history.ts';
import {
  hourOf,
  makerOf,
  type Observed,
  type Operation,
  type Resource,
  type Row,
  resources,
  type Told,
  type Violation,
} from './records.ts';
import { misshapen } from './row-shapes.ts';

/**
 * What has to hold after every restart, over all that clients know and all rows that are there. Something more to hold,
 * such as deliveries or counters, is one more entry, and what it looks at one more member of `Observed`.
 */
export interface Check {
  readonly name: string;
  readonly check: (history: History, observed: Observed) => Violation[];
}

/** How many tickets an address may have made in an hour, as the document has it. */
const quota = 5;

export const checks: readonly Check[] = [
  {
    name: 'rows are whole',
    check: (_, { rows }) =>
      resources.flatMap((resource) =>
        rows[resource].flatMap((row) => misshapen(resource, row).map((what) => ({ what, row, resource }))),
      ),
  },
  {
    name: 'what nobody was told of and nobody asked for is not there',
    check: ({ ops }, { rows }) =>
      resources.flatMap((resource) =>
        rows[resource].flatMap((row) => {
          const what = resource === 'account' ? unheld(row, ops) : unasked(resource, row, ops);
          return what ? [{ what, row, resource }] : [];
        }),
      ),
  },
  {
    name: 'what was acknowledged or read is there, or what came after it',
    check: (history, { byId, known }) =>
      resources.flatMap((resource) =>
        [...known[resource].values()].flatMap((row): Violation[] => {
          const now = byId[resource].get(String(row.id));
          if (!now && !mayBeGone(history, resource, row)) return [{ what: 'it is gone, and nobody deleted it', row, resource }];
          const what = now && changed(resource, now, row, history);
          return what ? [{ what, row: now, resource }] : [];
        }),
      ),
  },
  {
    name: 'what was deleted or missing is gone',
    check: ({ deletes, missing }, { rows }) =>
      resources.flatMap((resource) =>
        rows[resource].flatMap((row): Violation[] => {
          const name = `${resource} ${row.id}`;
          const op = deletes.get(name)?.find(({ state }) => state === 'made')?.op;
          if (op !== undefined) return [{ what: `its deletion ${op} was acknowledged`, row, resource }];
          return missing.has(name) ? [{ what: `${missing.get(name)} was told that it is missing`, row, resource }] : [];
        }),
      ),
  },
  {
    name: 'no value is there twice that has to be unique',
    check: (_, { rows }) => [
      ...twice('team', rows.team, ({ name }) => name),
      ...twice('account', rows.account, ({ handle }) => handle),
      ...twice('account', rows.account, ({ seat, status }) =>
        ['invited', 'active'].includes(String(status)) ? seat : undefined,
      ),
    ],
  },
  {
    name: 'one request makes one row, and lists give each row once, in the order of creation',
    check: (_, { rows }) => [
      ...resources.flatMap((resource) => twice(resource, rows[resource], ({ id }) => id)),
      ...resources.flatMap((resource) => twice(resource, rows[resource], (row) => makerOf(resource, row))),
      ...rows.account
        .filter((row, index) => index > 0 && Number(row.id) <= Number(rows.account[index - 1]?.id))
        .map((row) => ({ what: 'it stands behind a younger one', row, resource: 'account' as const })),
    ],
  },
  {
    name: 'references refer to something',
    check: (_, { rows, byId }) => {
      const dangling = (resource: Resource, field: string, to: Resource): Violation[] =>
        rows[resource]
          .filter((row) => row[field] !== undefined && !byId[to].has(String(row[field])))
          .map((row) => ({ what: `there is no ${to} ${row[field]}`, row, resource }));
      return [
        ...dangling('account', 'team', 'team'),
        ...dangling('entry', 'account', 'account'),
        ...dangling('card', 'account', 'account'),
        ...dangling('card', 'issuer', 'team'),
      ];
    },
  },
  {
    name: 'a filtered list gives the rows that the whole list has',
    check: (_, { rows, resting }) => {
      const whole = rows.account.filter(({ status }) => status === 'suspended' || status === 'closed');
      const byState = new Map(resting.map((row) => [row.id, row]));
      const wrong = whole.find((row) => !isDeepStrictEqual(row, byState.get(row.id)));
      if (whole.length === resting.length && !wrong) return [];
      return [{ what: `${resting.length} of ${whole.length} are listed by their state`, row: wrong, resource: 'account' }];
    },
  },
  {
    name: 'a quota is never exceeded, and used up only by what was made',
    check: ({ usedUp }, { rows }) => {
      const made = Map.groupBy(rows.ticket, ({ place, created_at }) => `${place} ${hourOf(Date.parse(String(created_at)))}`);
      const over = [...made.values()]
        .filter(({ length }) => length > quota)
        .map((all) => ({ what: `there are ${all.length} from ${all[0]?.place}`, row: all.at(-1), resource: 'ticket' as const }));
      const short = [...usedUp].flatMap(([place, { op, hour }]) => {
        // The window may have ended between the refusal and its arrival, and others have asked in the next one since.
        const [before = 0, there = 0] = [hour - 1, hour].map((one) => made.get(`${place} ${one}`)?.length);
        return Math.max(before, there) < quota
          ? [{ what: `${op} was told that it is used up, and ${place} has ${there}`, ops: [op] }]
          : [];
      });
      return [...over, ...short];
    },
  },
  {
    name: 'counted numbers have no gap, and none is there twice',
    check: (_, { rows }) =>
      [...Map.groupBy(rows.ticket, ({ place }) => place).values()].flatMap((all) => {
        const numbers = new Set(all.map(({ number }) => number));
        const wrong = all.find(({ number }) => Number(number) > all.length) ?? all.at(-1);
        if (numbers.size === all.length && Math.max(...all.map(({ number }) => Number(number))) === all.length) return [];
        const told = all.map(({ number }) => number).join(', ');
        return [{ what: `the numbers of ${wrong?.place} are ${told}`, row: wrong, resource: 'ticket' as const }];
      }),
  },
  {
    name: 'every change is told',
    check: ({ told }, { untold }) =>
      untold.map((row) => ({
        what: `${[...told].map(([name, { accounts }]) => toldOf(name, accounts.get(String(row.id))))} of its changes are told, and not all of ${untold.length - 1} accounts besides`,
        row,
        resource: 'account' as const,
      })),
  },
  {
    name: 'all subscribers are told in one order',
    check: ({ told }) => {
      const [[firstName = '', first] = [], ...others] = [...told].filter(([, { repeats }]) => repeats === 'none');
      return others.flatMap(([name, { ids }]) => {
        const at = ids.findIndex((id, index) => first?.ids[index] !== undefined && first.ids[index] !== id);
        return at < 0 ? [] : [{ what: `${name} was told ${ids[at]} where ${firstName} was told ${first?.ids[at]}` }];
      });
    },
  },
  {
    name: 'what was due fires',
    check: (_, { late }) => late.map((row) => ({ what: 'it still waits for the clock', row, resource: 'account' as const })),
  },
];

function unheld(row: Row, ops: ReadonlyMap<string, Operation>): string | undefined {
  const account = accountOf(row);
  const past = account.log.split(' ').find((word) => ops.get(word)?.state === 'past');
  return past === undefined ? replayed(account, ops) : `${past} was not there before, and nobody sent it since`;
}

function unasked(resource: Resource, row: Row, ops: ReadonlyMap<string, Operation>): string | undefined {
  const op = ops.get(makerOf(resource, row));
  if (op?.verb !== 'create' || op.resource !== resource) return 'nobody ever asked for it';
  if (op.state === 'refused' || op.state === 'past') return `${op.op} was refused, or was not there after an earlier restart`;
  const { id, issuer, created_at, number, ...fields } = row;
  const { issuer: asked, ...body } = op.body ?? {};
  if (!isDeepStrictEqual(fields, body) || (issuer !== undefined && issuer !== asked))
    return `${JSON.stringify(op.body)} was asked for`;
  return undefined;
}

function changed(resource: Resource, now: Row, before: Row, history: History): string | undefined {
  if (resource === 'account') return extendsRow(accountOf(now), accountOf(before));
  const { issuer, ...rest } = now;
  const { issuer: was, ...restBefore } = before;
  const isCleared = issuer === undefined && mayBeGone(history, 'team', { id: was });
  return isDeepStrictEqual(rest, restBefore) && (issuer === was || isCleared) ? undefined : `it was ${JSON.stringify(before)}`;
}

/** Whether somebody deleted a row, or what it goes with, or may have. */
function mayBeGone(history: History, resource: Resource, row: Row): boolean {
  const isDeleted = (history.deletes.get(`${resource} ${row.id}`) ?? []).some(({ state }) => state !== 'refused');
  if (isDeleted || resource === 'team' || resource === 'card' || resource === 'ticket') return isDeleted;
  if (resource === 'account') return mayBeGone(history, 'team', { id: row.team });
  const account = history.seen.account.get(String(row.account)) ?? { id: row.account };
  return mayBeGone(history, 'account', account);
}

function twice(resource: Resource, rows: readonly Row[], uniqueOf: (row: Row) => unknown): Violation[] {
  const first = new Map<unknown, Row>();
  return rows.flatMap((row) => {
    const value = uniqueOf(row);
    const other = value === undefined ? undefined : first.get(value);
    if (value !== undefined) first.set(value, other ?? row);
    return other ? [{ what: `it has ${JSON.stringify(value)}, and so has ${JSON.stringify(other)}`, row, resource }] : [];
  });
}

function toldOf(name: string, told: Told | undefined): string {
  return `${told?.changes ?? 'none'}${told?.ids.has('gone') ? ' and its end' : ''} to ${name}`;
}
