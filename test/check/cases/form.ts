import type { Case } from '../harness.ts';

/** One of each finding of the form; what the form asks for is tested with it. */
export const formCases: readonly Case[] = [
  { snippets: ['limits: { quoat: none }'], finds: ['form/unknown-key @ /limits/quoat'] },
  {
    snippets: [
      'endpoints: { "POST /notes/{id}/copies": create note, "GET /notes": { does: list note, rate: [], loud: true } }',
      'limits: { rate: 5/1m }',
    ],
    finds: [
      'form/unknown-key @ /endpoints/GET ~1notes/rate',
      'form/unknown-key @ /endpoints/GET ~1notes/loud',
      'form/wrong-value @ /endpoints/POST ~1notes~1{id}~1copies',
      'form/wrong-value @ /limits/rate',
    ],
  },
  {
    snippets: [
      'resources: { label: { fields: { name: { type: string, min: 1, nullable: true, optional: true }, size: { type: integer, max: 9, values: [1] } } } }',
      'endpoints: { GET /notes: { query: none } }',
    ],
    finds: [
      'form/unknown-key @ /resources/label/fields/name/min',
      'form/unknown-key @ /resources/label/fields/name/nullable',
      'form/unknown-key @ /resources/label/fields/name/optional',
      'form/unknown-key @ /resources/label/fields/size/max',
      'form/unknown-key @ /resources/label/fields/size/values',
      'form/unknown-key @ /endpoints/GET ~1notes/query',
    ],
  },
  {
    snippets: [
      'limits: { rate: [{ per: caller, limit: 5, window: [{ a: 1 }], uncounted: [{ a: 1 }] }], size: { url: [{ a: 1 }] } }',
      'states: { note: { transitions: { archive: { after: [{ a: 1 }] } } } }',
      'resources: { book: { fields: { pages: { type: array, items: { type: { a: 1 } } } } } }',
      'endpoints: { GET /books: { does: list book } }',
    ],
    finds: [
      'form/wrong-value @ /resources/book/fields/pages/items/type',
      'form/wrong-value @ /states/note/transitions/archive/after',
      'form/wrong-value @ /limits/rate/0/window',
      'form/wrong-value @ /limits/rate/0/uncounted/0',
      'form/wrong-value @ /limits/size/url',
    ],
  },
  { snippets: ['limits: { timeout: 10s }'], finds: ['form/wrong-value @ /limits/timeout'] },
  { snippets: ['resources: { label: { required: [name, null] } }'], finds: ['form/null @ /resources/label/required/1'] },
];
