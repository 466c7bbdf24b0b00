/** What a place is asked for, as `GET /places/{row}` states it. */
type PlaceParams = { readonly row: number; readonly scale: 'small' | 'large' };

/** Answers with what it was asked for, and with a number that is another one each time. */
let asked = 0;
export const handlers = {
  place: async ({ params: { row, scale } }: { readonly params: PlaceParams }) => {
    asked += 1;
    return { row, scale, asked };
  },
};
