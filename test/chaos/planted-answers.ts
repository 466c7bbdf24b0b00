import { accountOf } from '../crash/account.ts';
import type { Entry } from '../crash/journal.ts';
import type { Row } from '../crash/records.ts';
import type { Answer } from '../crash/server.ts';
import {
  at,
  exchanges,
  hooks,
  isMade,
  isRefused,
  lastRows,
  type Mutable,
  type Planted,
  type Planting,
  streams,
  toldOf,
  waitedFor,
  without,
} from './planting.ts';

type Told = Extract<Entry, { readonly kind: 'told' }>;
type Read = Extract<Entry, { readonly kind: 'read' }>;

const set = (value: object | undefined, changes: Mutable): void => {
  if (value) Object.assign(value, changes);
};
const isReplay = ({ headers }: Answer): boolean => headers['idempotency-replayed'] === 'true';

const answers: readonly Planted[] = [
  {
    name: 'what was sent again was done again',
    plant: (p) =>
      at(
        p,
        exchanges(p)
          .filter(isMade)
          .flatMap((one) =>
            one.answers
              .slice(1)
              .filter((answer) => isReplay(answer) && one.answers.some((other) => other.status < 300 && !isReplay(other))),
          ),
        (answer) => set(answer, { headers: {} }),
      ),
  },
  {
    name: 'what was sent again was answered otherwise',
    plant: (p) =>
      at(
        p,
        exchanges(p)
          .filter(({ request }) => request.verb === 'create')
          .flatMap((one) => one.answers.filter(({ text }) => one.answers.length > 1 && text.includes('"op":"'))),
        (answer) => set(answer, { text: answer.text.replace('"op":"', '"op":"x') }),
      ),
  },
  {
    name: 'what was acknowledged was refused when it was sent again',
    plant: (p) =>
      at(
        p,
        exchanges(p).filter(
          (one) => one.request.key && one.answers.length > 1 && one.answers.every(({ status }) => status < 300),
        ),
        ({ answers: all }) => set(all.at(-1), { status: 409, text: '{"code":"taken"}' }),
      ),
  },
  {
    name: 'a request failed',
    plant: (p) =>
      at(p, exchanges(p).filter(isRefused), ({ answers: all }) => set(all[0], { status: 500, text: '{"code":"internal"}' })),
  },
  {
    name: 'an acknowledgement tells of another row than is stored',
    plant: (p) =>
      at(
        p,
        exchanges(p).filter(
          (one) =>
            one.request.resource === 'entry' &&
            one.answers.length === 1 &&
            isMade(one) &&
            lastRows(p, 'entry').some(({ op }) => op === one.request.op),
        ),
        ({ answers: all }) => set(all[0], { text: all[0]?.text.replace(/"id":"ent_\w/, '"id":"ent_9') }),
      ),
  },
  {
    name: 'a request was refused that is stored',
    plant: (p) =>
      at(
        p,
        exchanges(p).filter((one) => one.request.resource === 'ticket' && one.answers.length === 1 && isMade(one)),
        ({ answers: all }) => set(all[0], { status: 503, text: '{"code":"late"}' }),
      ),
  },
  {
    name: 'a deletion was acknowledged, and the row is there',
    plant: (p) =>
      at(
        p,
        exchanges(p).filter(
          (one) =>
            one.request.verb === 'delete' &&
            isRefused(one) &&
            one.answers.every(({ text }) => text.includes('"held"')) &&
            lastRows(p, one.request.resource).some(({ id }) => String(id) === one.request.id),
        ),
        ({ answers: all }) => set(all[0], { status: 204, text: '' }),
      ),
  },
  {
    name: 'a read gave what had been changed before it was asked for',
    plant: (p) => {
      const reads = p.entries.filter((entry): entry is Read => entry.kind === 'read' && entry.answer?.status === 200);
      const stale = reads.flatMap((read) => {
        const row = JSON.parse(read.answer?.text ?? '{}') as Row;
        const asked = p.entries.findIndex((entry) => entry.kind === 'asked' && entry.turn === read.turn);
        const isKnown = p.entries
          .slice(0, asked)
          .some(
            (entry) => entry.kind === 'told' && entry.envelope.data.id === row.id && entry.envelope.data.changes === row.changes,
          );
        const [before] = toldOf(p, ({ envelope: { data } }) => data.id === row.id && data.changes === accountOf(row).changes - 1);
        return isKnown && before ? [{ read, text: JSON.stringify(before.envelope.data) }] : [];
      });
      return at(p, stale, ({ read, text }) => set(read.answer, { text }));
    },
  },
  {
    name: 'a read did not find what is there',
    plant: (p) =>
      at(
        p,
        p.entries.filter(
          (entry): entry is Read =>
            entry.kind === 'read' &&
            entry.answer?.status === 200 &&
            lastRows(p, 'account').some(({ id }) => id === JSON.parse(entry.answer?.text ?? '{}').id),
        ),
        (read) => set(read.answer, { status: 404 }),
      ),
  },
];

/** Two things that one subscriber was told right after each other, of accounts that are or are not the same. */
function neighbours(p: Planting, isMeant: (told: Told) => boolean, isSame: boolean): readonly (readonly [Told, Told])[] {
  return [...Map.groupBy(toldOf(p, isMeant), ({ subscriber }) => subscriber).values()].flatMap((all) => {
    const groups = isSame ? [...Map.groupBy(all, ({ envelope }) => envelope.data.id).values()] : [all];
    return groups.flatMap((group) =>
      group.flatMap((told, index): [Told, Told][] => {
        const next = group[index + 1];
        const isPair =
          next !== undefined &&
          next.envelope.id !== told.envelope.id &&
          (isSame || next.envelope.data.id !== told.envelope.data.id);
        return isPair ? [[told, next]] : [];
      }),
    );
  });
}

function swap([first, second]: readonly [Told, Told]): void {
  const { envelope } = first;
  set(first, { envelope: second.envelope });
  set(second, { envelope });
}

/** What was told once alone. */
const once = (p: Planting, isMeant: (told: Told) => boolean): Told[] => {
  const counts = Map.groupBy(toldOf(p, isMeant), ({ subscriber, envelope }) => `${subscriber} ${envelope.id}`);
  return [...counts.values()].flatMap((all) => (all.length === 1 ? all : []));
};

const insertAfter = ({ entries }: Planting, told: Told, more: Told): void => {
  entries.splice(entries.indexOf(told) + 1, 0, more);
};

const onBoth = (name: string, plant: (p: Planting, isMeant: (told: Told) => boolean) => boolean): Planted[] => [
  { name: `${name} (web hook)`, plant: (p) => plant(p, hooks) },
  { name: `${name} (stream)`, plant: (p) => plant(p, streams) },
];

const events: readonly Planted[] = [
  ...onBoth('an event is lost', (p, isMeant) => {
    waitedFor(p);
    return at(p, once(p, isMeant), (told) => without(p, new Set([told])));
  }),
  ...onBoth('the last event of an account is lost', (p, isMeant) => {
    waitedFor(p);
    const last = lastRows(p, 'account').flatMap((row) =>
      once(p, (told) => isMeant(told) && told.envelope.data.id === row.id && told.envelope.data.changes === row.changes),
    );
    return at(p, last, (told) => without(p, new Set([told])));
  }),
  ...onBoth('the end of an account is never told', (p, isMeant) => {
    waitedFor(p);
    const ends = once(p, (told) => isMeant(told) && told.envelope.type === 'account.gone');
    return at(p, ends, (told) => without(p, new Set([told])));
  }),
  ...onBoth('two events of an account are out of order', (p, isMeant) => at(p, neighbours(p, isMeant, true), swap)),
  ...onBoth('a change is told by two events', (p, isMeant) =>
    at(p, toldOf(p, isMeant), (told) => insertAfter(p, told, { ...told, envelope: { ...told.envelope, id: 'evt_another' } })),
  ),
  ...onBoth('an event tells of a change that nobody made', (p, isMeant) =>
    at(
      p,
      toldOf(p, (told) => isMeant(told) && told.envelope.type === 'account.stored'),
      (told) => {
        const { data } = told.envelope;
        const log = `${data.log} r1.99999`;
        insertAfter(p, told, {
          ...told,
          envelope: {
            ...told.envelope,
            id: 'evt_phantom',
            data: { ...data, log, op: 'r1.99999', changes: Number(data.changes) + 1 },
          },
        });
      },
    ),
  ),
  ...onBoth('an event tells of a row as it never was', (p, isMeant) =>
    at(
      p,
      toldOf(p, (told) => isMeant(told) && told.envelope.type === 'account.stored'),
      ({ envelope: { data } }) => set(data, { balance: Number(data.balance) + 1 }),
    ),
  ),
  ...onBoth('an event tells of the end of an account that is there', (p, isMeant) =>
    at(
      p,
      toldOf(
        p,
        (told) =>
          isMeant(told) &&
          lastRows(p, 'account').some(
            ({ id, changes }) => id === told.envelope.data.id && changes === told.envelope.data.changes,
          ),
      ),
      (told) =>
        insertAfter(p, told, {
          ...told,
          envelope: { ...told.envelope, id: 'evt_end', type: 'account.gone', data: { id: told.envelope.data.id } },
        }),
    ),
  ),
  {
    name: 'an event came twice on a stream',
    plant: (p) => at(p, toldOf(p, streams), (told) => insertAfter(p, told, { ...told })),
  },
  { name: 'one stream tells events of two accounts in another order', plant: (p) => at(p, neighbours(p, streams, false), swap) },
];

export const plantedInAnswers: readonly Planted[] = [...answers, ...events];
