import type { JsonMap } from '../../../src/index.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const refused = { description: 'refused', content: { 'application/problem+json': { schema: ref('Problem') } } };
const refusals = (...statuses: number[]) => Object.fromEntries(statuses.map((status) => [status, refused]));
const uuid = { type: 'string', format: 'uuid' };
const berthId = { name: 'berthId', in: 'path', required: true, schema: uuid };
const bookingId = { name: 'bookingId', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } };

const berth = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'length', 'kind'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 30 },
    code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' },
    length: { type: 'integer', minimum: 3, maximum: 60 },
    depth: { type: 'number', exclusiveMinimum: 0, maximum: 20 },
    kind: { type: 'string', enum: ['quay', 'buoy', 'pontoon'] },
    tags: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 12 }, maxItems: 3, uniqueItems: true },
    contact: { type: 'string', format: 'email' },
    note: { type: ['string', 'null'], maxLength: 100 },
  },
};

const made = { id: uuid, created_at: { type: 'string', format: 'date-time' }, state: { enum: ['free', 'taken', 'shut'] } };

/** A harbour's interface as its author published it: OpenAPI alone. */
export const harbourDocument = {
  openapi: '3.1.0',
  info: { title: 'Harbour', version: '2.3' },
  security: [{ pass: [] }],
  paths: {
    '/status': {
      get: {
        operationId: 'status',
        security: [],
        responses: {
          200: {
            description: 'up',
            headers: {
              'X-Build': { required: true, schema: { type: 'string', pattern: '^[0-9]+\\.[0-9]+$' } },
              'X-Node': { schema: { type: 'integer' } },
            },
            ...json({
              type: 'object',
              required: ['up'],
              properties: { up: { type: 'boolean' }, load: { type: 'number', minimum: 0, maximum: 1 } },
            }),
          },
        },
      },
    },
    '/berths': {
      get: {
        operationId: 'listBerths',
        parameters: [
          { name: 'kind', in: 'query', schema: { enum: ['quay', 'buoy', 'pontoon'] } },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50, default: 20 } },
          { name: 'code', in: 'query', schema: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' } },
        ],
        responses: {
          200: {
            description: 'some',
            headers: { 'X-Total': { required: true, schema: { type: 'integer', minimum: 0 } } },
            ...json({
              type: 'object',
              required: ['items'],
              properties: { items: { type: 'array', items: ref('Berth') } },
              additionalProperties: false,
            }),
          },
          ...refusals(400, 401),
        },
      },
      post: {
        operationId: 'addBerth',
        requestBody: { required: true, ...json(ref('NewBerth')) },
        responses: {
          201: {
            description: 'made',
            headers: { Location: { required: true, schema: { type: 'string' } } },
            ...json(ref('Berth')),
          },
          ...refusals(400, 401, 422),
        },
      },
    },
    '/berths/{berthId}': {
      parameters: [berthId],
      get: {
        operationId: 'getBerth',
        responses: { 200: { description: 'one', ...json(ref('Berth')) }, ...refusals(400, 401, 404) },
      },
      patch: {
        operationId: 'changeBerth',
        requestBody: { required: true, ...json({ ...berth, required: [], minProperties: 1 }) },
        responses: { 200: { description: 'changed', ...json(ref('Berth')) }, ...refusals(400, 401, 404, 422) },
      },
      delete: { operationId: 'dropBerth', responses: { 204: { description: 'gone' }, ...refusals(400, 401, 404) } },
    },
    '/berths/{berthId}/measure': {
      post: {
        operationId: 'measure',
        parameters: [berthId, { name: 'X-Unit', in: 'header', required: true, schema: { enum: ['metre', 'foot'] } }],
        requestBody: {
          required: true,
          ...json({
            type: 'object',
            required: ['by'],
            properties: { by: { type: 'string', minLength: 1 }, at: { type: 'string' } },
          }),
        },
        responses: {
          200: {
            description: 'measured',
            ...json({
              type: 'object',
              required: ['length', 'unit'],
              properties: { length: { type: 'number' }, unit: { enum: ['metre', 'foot'] } },
            }),
          },
          ...refusals(400, 401, 404, 422),
        },
      },
    },
    '/bookings': {
      post: {
        operationId: 'book',
        requestBody: { required: true, ...json(ref('NewBooking')) },
        responses: { 201: { description: 'booked', ...json(ref('Booking')) }, ...refusals(400, 401, 409, 422) },
      },
    },
    '/bookings/{bookingId}': {
      parameters: [bookingId],
      get: {
        operationId: 'getBooking',
        responses: { 200: { description: 'one', ...json(ref('Booking')) }, ...refusals(400, 401, 404) },
      },
      delete: { operationId: 'cancel', responses: { 204: { description: 'gone' }, ...refusals(400, 401, 404) } },
    },
    '/tides': {
      get: {
        operationId: 'tides',
        security: [],
        parameters: [
          { name: 'port', in: 'query', required: true, schema: { type: 'string', minLength: 3, maxLength: 3 }, example: 'AMS' },
          { name: 'days', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 7 } },
        ],
        responses: { 200: { description: 'heights', ...json({ type: 'array', items: ref('Tide') }) }, ...refusals(400) },
      },
    },
    '/messages': {
      post: {
        operationId: 'say',
        requestBody: { required: true, ...json({ oneOf: [ref('Text'), ref('Signal')] }) },
        responses: {
          202: {
            description: 'taken',
            ...json({ type: 'object', required: ['ticket'], properties: { ticket: { type: 'string', minLength: 4 } } }),
          },
          ...refusals(400, 401, 422),
        },
      },
    },
    '/convert': {
      post: {
        operationId: 'convert',
        security: [],
        requestBody: {
          required: true,
          ...json({
            type: 'object',
            required: ['value', 'to'],
            properties: { value: { type: 'number' }, to: { enum: ['metre', 'foot'] } },
            additionalProperties: false,
          }),
        },
        responses: {
          200: {
            description: 'converted',
            ...json({
              type: 'object',
              required: ['value'],
              properties: { value: { type: 'number' } },
              additionalProperties: false,
            }),
          },
          ...refusals(400, 422),
        },
      },
    },
  },
  components: {
    securitySchemes: { pass: { type: 'http', scheme: 'bearer' } },
    schemas: {
      NewBerth: berth,
      Berth: { ...berth, required: [...berth.required, ...Object.keys(made)], properties: { ...berth.properties, ...made } },
      NewBooking: {
        type: 'object',
        required: ['berth', 'boat', 'nights'],
        properties: {
          berth: uuid,
          boat: { type: 'string', minLength: 1, maxLength: 40 },
          nights: { type: 'integer', minimum: 1, maximum: 30 },
        },
      },
      Booking: {
        type: 'object',
        required: ['id', 'berth', 'boat', 'nights', 'price'],
        properties: {
          id: { type: 'integer' },
          berth: uuid,
          boat: { type: 'string' },
          nights: { type: 'integer' },
          price: { type: 'number' },
        },
      },
      Tide: {
        type: 'object',
        required: ['at', 'cm'],
        properties: { at: { type: 'string', format: 'date-time' }, cm: { type: 'integer' } },
      },
      Text: {
        type: 'object',
        required: ['type', 'text'],
        additionalProperties: false,
        properties: { type: { const: 'text' }, text: { type: 'string', minLength: 1, maxLength: 50 } },
      },
      Signal: {
        type: 'object',
        required: ['type', 'flags'],
        additionalProperties: false,
        properties: {
          type: { const: 'signal' },
          flags: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[A-Z]$' } },
        },
      },
      Problem: {
        type: 'object',
        required: ['title', 'status'],
        properties: {
          title: { type: 'string' },
          status: { type: 'integer' },
          errors: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
} as unknown as JsonMap;
