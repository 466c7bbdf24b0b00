import type { Case } from '../harness.ts';

export const statesCases: readonly Case[] = [
  { snippets: ['states: { nott: none }'], finds: ['states/unknown-resource @ /states/nott'] },
  {
    snippets: [
      'states: { label: { field: colour, initial: red, states: [red], transitions: {} }, book: { field: nme, initial: on, states: [on], transitions: {} } }',
    ],
    finds: [
      'states/field-not-read-only @ /resources/label/fields/colour',
      'states/unknown-field @ /states/book/field',
      'states/of-a-value @ /states/label',
    ],
  },
  {
    snippets: [
      'states: { note: { initial: drft, transitions: { publish: "draft -> pubished", archive: { from: [draft, gone], to: archived, after: 30d } } } }',
    ],
    finds: [
      'states/unknown-state @ /states/note/initial',
      'states/unknown-state @ /states/note/transitions/publish',
      'states/unknown-state @ /states/note/transitions/archive/from/1',
    ],
  },
  {
    snippets: ['states: { note: { states: [draft, published, archived, draft] } }'],
    finds: ['states/state-twice @ /states/note/states/3'],
  },
  { snippets: ['states: { note: { field: state } }'], finds: ['states/unknown-field @ /states/note/field'] },
  {
    snippets: ['resources: { note: { fields: { status: string } } }'],
    finds: ['states/field-not-read-only @ /resources/note/fields/status'],
  },
  {
    snippets: ['resources: { note: { fields: { status: { default: published, set: { create: "\'draft\'" } } } } }'],
    finds: [
      'states/field-written @ /resources/note/fields/status/default',
      'states/field-written @ /resources/note/fields/status/set',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { status: { type: integer } } } }'],
    finds: ['states/field-type @ /resources/note/fields/status/type'],
  },
  {
    snippets: ['resources: { note: { fields: { status: { enum: [draft, published, gone] } } } }'],
    finds: ['states/field-values @ /resources/note/fields/status/enum'],
  },
  {
    snippets: ['states: { note: { transitions: { delete: published -> archived } } }'],
    finds: ['states/verb-name @ /states/note/transitions/delete'],
  },
  {
    snippets: ['states: { note: { transitions: { put away: { from: draft, to: archived, by: service } } } }'],
    finds: ['states/name-with-space @ /states/note/transitions/put away'],
  },
  {
    snippets: ['states: { note: { transitions: { publish: draft => published } } }'],
    finds: ['states/arrow @ /states/note/transitions/publish'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { after: a month } } } }'],
    finds: ['states/after @ /states/note/transitions/archive/after'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { by: service } } } }'],
    finds: ['states/two-triggers @ /states/note/transitions/archive/by'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { from: "*", else: not_now } } } }'],
    finds: ['states/idle-else @ /states/note/transitions/archive/else'],
  },
  {
    snippets: ['states: { note: { initial: [draft, { if: "next.pinned", state: published }] } }'],
    finds: ['states/target-after-rest @ /states/note/initial/1'],
  },
  {
    snippets: ['states: { note: { states: [draft, published, archived, lost] } }'],
    finds: ['states/unreachable @ /states/note/states/3'],
  },
  {
    snippets: [
      'states: { note: { states: [draft, published, archived, lent], transitions: { lend: draft -> lent, keep: lent -> lent, back: lent -> draft } } }',
      '{ endpoints: { "POST /notes/{id}/lend": { does: lend note }, "POST /notes/{id}/keep": { does: keep note } } }',
    ],
    finds: ['states/never-left @ /states/note/states/3', 'states/never-fired @ /states/note/transitions/back'],
  },
  {
    snippets: ['states: { note: { transitions: { hide: published -> archived } } }'],
    finds: ['states/never-fired @ /states/note/transitions/hide'],
  },
];
