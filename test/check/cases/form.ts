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
  { snippets: ['limits: { timeout: 10s }'], finds: ['form/wrong-value @ /limits/timeout'] },
  { snippets: ['resources: { label: { required: [name, null] } }'], finds: ['form/null @ /resources/label/required/1'] },
];
