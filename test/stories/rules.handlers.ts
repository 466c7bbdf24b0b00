type Row = { readonly [field: string]: unknown };

interface Transfer {
  readonly request: { readonly from: string; readonly to: string; readonly amount: number };
  readonly store: {
    get(resource: string, id: string): Promise<Row | undefined>;
    update(resource: string, id: string, patch: Row): Promise<Row>;
  };
  fail(code: string): never;
}

export const handlers = {
  echo: async ({ params }: { readonly params: Row }) => params,
  wrong: async () => ({ n: 'hunter2' }),
  thrown: async () => {
    throw new Error('hunter2');
  },
  refused: async ({ fail }: { fail(code: string): never }) => fail('not_today'),
  /** Writes before it looks, so that what it has written has to be undone where it refuses. */
  transfer: async ({ request: { from, to, amount }, store, fail }: Transfer) => {
    const [giver, taker] = [await store.get('account', from), await store.get('account', to)];
    await store.update('account', to, { balance: Number(taker?.balance) + amount });
    const left = Number(giver?.balance) - amount;
    if (left < 0) fail('too_poor');
    await store.update('account', from, { balance: left });
    return { left };
  },
};
