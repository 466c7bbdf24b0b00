/** The JSON Schemas of the books, as Fastify validates and serialises with them. */

const written = {
  title: { type: 'string', minLength: 1, maxLength: 200 },
  author: { type: 'string', minLength: 1, maxLength: 120 },
  isbn: { type: 'string', pattern: '^[0-9]{13}$' },
  genre: { type: 'string', enum: ['novel', 'poetry', 'history', 'science', 'travel'] },
  year: { type: 'integer', minimum: 1450, maximum: 2100 },
  pages: { type: 'integer', minimum: 1, maximum: 10000 },
};
const price = { type: 'integer', minimum: 0, maximum: 1000000 };
const note = { type: 'string', maxLength: 500 };
const required = ['title', 'author', 'isbn', 'genre', 'year', 'pages', 'price'];

/** The shapes of one version of the service: what is sent, a stored book, and a page of them. */
export interface BookSchemas {
  readonly sent: object;
  readonly stored: object;
  readonly page: object;
}

function schemas(fields: object, readOnly: Readonly<Record<string, object>>): BookSchemas {
  const properties = { ...written, ...fields };
  const stored = {
    type: 'object',
    properties: { id: { type: 'string' }, ...readOnly, ...properties, created_at: { type: 'string' } },
    required: ['id', ...Object.keys(readOnly), ...required, 'created_at'],
  };
  const page = {
    type: 'object',
    properties: { data: { type: 'array', items: stored }, next_cursor: { type: ['string', 'null'] } },
    required: ['data', 'next_cursor'],
  };
  return { sent: { type: 'object', properties, required, additionalProperties: false }, stored, page };
}

const seller = { seller: { type: 'string' } };
/** The books of `small.md`. */
export const plainBooks = schemas({ price, note }, {});
/** The books of `guarded.md`, in its newest version and in the one before. */
export const sellersBooks = schemas({ price, note }, seller);
export const oldSellersBooks = schemas({ price: { type: 'number', minimum: 0, maximum: 10000 }, remark: note }, seller);

const bookingFields = {
  trip: { type: 'string' },
  passenger: { type: 'string', minLength: 1, maxLength: 120 },
  seats: { type: 'integer', minimum: 1, maximum: 9 },
};
/** The bookings of `booked.md`: what is sent, a stored one, and a page of them. */
export const newBooking = {
  type: 'object',
  properties: bookingFields,
  required: ['trip', 'passenger', 'seats'],
  additionalProperties: false,
};
export const storedBooking = {
  type: 'object',
  properties: { id: { type: 'string' }, seller: { type: 'string' }, ...bookingFields, created_at: { type: 'string' } },
  required: ['id', 'trip', 'seller', 'passenger', 'seats', 'created_at'],
};
export const pageOfBookings = {
  type: 'object',
  properties: { data: { type: 'array', items: storedBooking }, next_cursor: { type: ['string', 'null'] } },
  required: ['data', 'next_cursor'],
};

export const pageQuery = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, cursor: { type: 'string' } },
};
