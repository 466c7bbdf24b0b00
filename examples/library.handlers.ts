type Row = { readonly [field: string]: unknown };

/** What these handlers ask of the store. */
interface Store {
  list(resource: 'loan' | 'book', where: Row): Promise<readonly Row[]>;
}

interface Recommend {
  readonly params: { readonly member: string; readonly most: number };
  readonly store: Store;
}

interface CreateLoan {
  /** The loan as it would be stored. */
  readonly next: { readonly member: string };
  readonly store: Store;
  fail(code: 'loan_limit'): never;
}

const loansAtOnce = 3;

export const handlers = {
  /** Printed books by ISBN; a librarian would do better. */
  recommend: async ({ params, store }: Recommend) => {
    const books = await store.list('book', { kind: 'print' });
    const sorted = books.toSorted((one, other) => String(one.isbn).localeCompare(String(other.isbn)));
    return { member: params.member, books: sorted.slice(0, params.most) };
  },
};

export const before = {
  /** Three loans at a time. */
  'create loan': async ({ next, store, fail }: CreateLoan) => {
    const loans = await store.list('loan', { member: next.member });
    const open = loans.filter(({ status }) => status === 'out' || status === 'overdue');
    if (open.length >= loansAtOnce) fail('loan_limit');
  },
};
