import { accountOf } from './account.ts';
import type { History } from './history.ts';
import type { Row, Told, ToldTo } from './records.ts';

/** An event as it is sent. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly data: Row;
}

/** Begins a subscriber that is told of everything from here on. */
export function subscribe(history: History, subscriber: string, repeats: ToldTo['repeats']): void {
  if (!history.told.has(subscriber)) history.told.set(subscriber, { repeats, accounts: new Map(), ids: [] });
}

/** An event counts once a subscriber has taken it. Of each account its changes come one after the other, and then its end. */
export function accept(history: History, subscriber: string, { id, type, data }: Envelope): void {
  const to = history.told.get(subscriber);
  if (!to) throw new Error(`Nobody began ${subscriber}.`);
  const account = String(data.id);
  const told: Told = to.accounts.get(account) ?? { changes: 0, ids: new Map() };
  to.accounts.set(account, told);
  const violated = (what: string): void => {
    history.violations.push({
      what: `${subscriber}: ${type} ${id} ${what}`,
      row: history.seen.account.get(account) ?? data,
      resource: 'account',
    });
  };
  const isEnd = type === 'account.gone';
  const change = isEnd ? 'gone' : accountOf(data).changes;
  const known = told.ids.get(change);
  if (known !== undefined && known !== id) violated(`tells of what ${known} told before`);
  if (known !== undefined && to.repeats === 'none') violated('came twice');
  told.ids.set(change, id);
  if (known === undefined) to.ids.push(id);
  // What was told before may come again where an answer got lost, or somebody was stopped in the middle of sending it.
  else if (to.repeats === 'any') return;
  if (change === 'gone') {
    history.missing.set(`account ${account}`, `${subscriber}, by ${id}`);
    return;
  }
  if (told.ids.has('gone')) violated('came after the end of the account');
  if (change !== told.changes && change !== told.changes + 1) violated(`tells of change ${change} after change ${told.changes}`);
  told.changes = change;
  history.see('account', data, `the event ${id}`);
}

/** Accounts of which a subscriber is not told everything yet: what is there, and what was known of those that are gone. */
export function untold(history: History, { accounts }: ToldTo, there: ReadonlyMap<string, Row>): Row[] {
  const now = [...there].filter(([id, row]) => (accounts.get(id)?.changes ?? 0) < accountOf(row).changes);
  const past = [...history.seen.account].filter(([id]) => !there.has(id));
  const gone = [...new Map([...history.gone, ...past])].filter(([id, row]) => {
    const told = accounts.get(id);
    return !told?.ids.has('gone') || told.changes < accountOf(row).changes;
  });
  return [...now, ...gone].map(([, row]) => row);
}
