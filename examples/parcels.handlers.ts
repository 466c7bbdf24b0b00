/** What a quote is asked for, as `GET /quotes` states it. */
type QuoteParams = { readonly weight_g: number; readonly service: 'standard' | 'express' };

/** The same price that `buy parcel` sets. */
export const handlers = {
  quote: async ({ params }: { readonly params: QuoteParams }) => ({
    price: params.service === 'express' ? 900 : 400,
    service: params.service,
  }),
};
