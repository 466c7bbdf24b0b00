import { servedOtherwise } from './verify/served-otherwise.ts';

/** Pages that are bare lists: that there are more is told by a link alone. */
const document = `title: Lamps
purpose: { purpose: Keeps lamps., users: { clerk: Keeps them. } }
resources:
  lamp:
    identifier: { field: id, generate: integer }
    fields: { id: integer, word: { type: string, maxLength: 20 } }
    required: [id, word]
states: none
endpoints:
  POST /lamps: { does: create lamp }
  GET /lamps: { does: list lamp, pagination: { style: after, after: after, size: size, default: 3, max: 6, told: link } }
  GET /lamps/{id}: { does: read lamp }
authentication: none
events: none
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none }
versioning: { versions: none }
`;

servedOtherwise(document, [
  ['pages are smaller by themselves', 'default: 3', 'default: 2', 'pagination bounds:GET /lamps', /default/],
  ['pages are larger than the most', 'max: 6', 'max: 9', 'pagination bounds:GET /lamps', /above the most/],
  ['pages are smaller than asked for', 'max: 6', 'max: 5', 'pagination bounds:GET /lamps', /at the most/],
]);
