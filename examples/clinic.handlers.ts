type Row = { readonly [field: string]: unknown };

/** What these handlers ask of the store. */
interface Store {
  get(resource: 'document', id: string): Promise<Row | undefined>;
  list(resource: 'appointment', where: Row): Promise<readonly Row[]>;
  update(resource: 'document', id: string, change: { readonly content: Uint8Array }): Promise<Row>;
}

interface FreeSlots {
  readonly params: {
    readonly practitioner: string;
    readonly window: { readonly from: string; readonly to: string };
    readonly 'X-Clinic-Locale': 'en' | 'nl';
    readonly site: 'harbour' | 'hill';
  };
  readonly store: Store;
}

interface Calendar {
  readonly params: { readonly year: number; readonly month: number };
}

interface ReplaceContent {
  readonly params: { readonly id: string };
  readonly request: Uint8Array;
  readonly store: Store;
  fail(code: 'not_found'): never;
}

interface CreatePayment {
  readonly next: { readonly by: { readonly method: 'card'; readonly number: string } | { readonly method: 'transfer' } };
  fail(code: 'card_declined'): never;
}

const slotMs = 30 * 60_000;
const slotsShown = 20;
const isHeld = ({ status }: Row) => ['requested', 'confirmed', 'arrived'].includes(String(status));

export const handlers = {
  /** Every half hour of the window at which the practitioner has nobody. */
  'free slots': async ({ params, store }: FreeSlots) => {
    const appointments = await store.list('appointment', { practitioner: params.practitioner });
    const taken = new Set(appointments.filter(isHeld).map(({ starts_at }) => Date.parse(String(starts_at))));
    const slots: string[] = [];
    const end = Date.parse(params.window.to);
    for (let time = Date.parse(params.window.from); time < end && slots.length < slotsShown; time += slotMs) {
      if (!taken.has(time)) slots.push(new Date(time).toISOString());
    }
    return { site: params.site, locale: params['X-Clinic-Locale'], slots };
  },

  calendar: async ({ params: { year, month } }: Calendar) => ({
    year,
    month,
    days: new Date(Date.UTC(year, month, 0)).getUTCDate(),
  }),

  'replace content': async ({ params, request, store, fail }: ReplaceContent) => {
    if (!(await store.get('document', params.id))) fail('not_found');
    await store.update('document', params.id, { content: request });
    return { id: params.id, bytes: request.byteLength };
  },
};

export const before = {
  /** The bank knows one card that it declines; the number is seen here and kept nowhere. */
  'create payment': async ({ next, fail }: CreatePayment) => {
    if (next.by.method === 'card' && next.by.number.endsWith('0002')) fail('card_declined');
  },
};
