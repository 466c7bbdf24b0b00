import type { Case } from '../harness.ts';

export const versioningCases: readonly Case[] = [
  {
    snippets: ['versioning: { versions: { "2026-01-15": { current: true } } }'],
    finds: ['versioning/two-current @ /versioning/versions/2026-06-01/current'],
  },
  {
    snippets: [
      'purpose: { base_url: "https://notes.example/{version}" }',
      'versioning: { select: { header: null, default: null, path: "/{version}" } }',
    ],
    finds: ['versioning/path-twice @ /purpose/base_url'],
  },
  {
    snippets: ['versioning: { versions: { "2026-06-01": { current: false } } }'],
    finds: ['versioning/no-current @ /versioning/versions'],
  },
  {
    snippets: ['versioning: { versions: { "2025-01-01": { deprecated: 2024-01-01 } } }'],
    finds: [
      'versioning/order @ /versioning/versions/2026-06-01/current',
      'versioning/order @ /versioning/versions/2025-01-01',
      'versioning/order @ /versioning/versions/2025-01-01/deprecated',
    ],
  },
  {
    snippets: ['versioning: { versions: { "2026-01-15": { sunset: next summer } } }'],
    finds: ['versioning/not-a-date @ /versioning/versions/2026-01-15/sunset'],
  },
  {
    snippets: ['endpoints: { GET /count: { deprecated: { deprecated: 2026-06-01, sunset: 2026-05-01 } } }'],
    finds: ['versioning/sunset-before-deprecated @ /endpoints/GET ~1count/deprecated/sunset'],
  },
  {
    snippets: ['versioning: { versions: { "2026-01-15": { alternative: "2026-06" } }, changes: { "2026-02-01": none } }'],
    finds: [
      'versioning/unknown-version @ /versioning/versions/2026-01-15/alternative',
      'versioning/unknown-version @ /versioning/changes/2026-02-01',
    ],
  },
  {
    snippets: ['versioning: { versions: { "2026-01-15": { alternative: "2026-01-15" } } }'],
    finds: ['versioning/own-alternative @ /versioning/versions/2026-01-15/alternative'],
  },
  {
    snippets: ['versioning: { select: { header: null, path: /v1 } }'],
    finds: ['versioning/path-template @ /versioning/select/path'],
  },
  { snippets: ['versioning: { select: { query: version } }'], finds: ['versioning/two-selections @ /versioning/select/query'] },
  {
    snippets: ['{ versioning: { select: { default: pinned } }, authentication: { schemes: { key: null } } }'],
    finds: ['versioning/pinned-without-keys @ /versioning/select/default'],
  },
  { snippets: ['versioning: { select: { header: Notes Version } }'], finds: ['versioning/header @ /versioning/select/header'] },
  {
    snippets: ['versioning: { changes: { "2026-06-01": [{ remove: nite.colour }] } }'],
    finds: ['versioning/unknown-resource @ /versioning/changes/2026-06-01/0/remove'],
  },
  {
    snippets: [
      'versioning: { changes: { "2026-06-01": [{ rename: note.length, to: sise }, { map: note.made, was: string, down: "string(value)", up: "value" }] } }',
    ],
    finds: [
      'versioning/unknown-field @ /versioning/changes/2026-06-01/0/to',
      'versioning/unknown-field @ /versioning/changes/2026-06-01/1/map',
    ],
  },
  {
    snippets: ['versioning: { changes: { "2026-01-15": [{ add: note.size, default: 1 }] } }'],
    finds: ['versioning/unknown-field @ /versioning/changes/2026-01-15/0/add'],
  },
  {
    snippets: ['versioning: { changes: { "2026-01-15": [{ add: note.pinned, default: true }] } }'],
    finds: ['versioning/unknown-field @ /versioning/changes/2026-01-15/0/add'],
  },
  {
    snippets: ['versioning: { changes: { "2026-06-01": [{ remove: note.title, was: string }] } }'],
    finds: ['versioning/still-there @ /versioning/changes/2026-06-01/0/remove'],
  },
  {
    snippets: ['versioning: { changes: { "2026-06-01": [{ endpoint: GET /cuont, added: true }] } }'],
    finds: ['versioning/unknown-endpoint @ /versioning/changes/2026-06-01/0/endpoint'],
  },
  {
    snippets: [
      'versioning: { changes: { "2026-06-01": [{ add: note.title }, { map: note.size }, { endpoint: GET /count }, { to: size }] } }',
    ],
    finds: [
      'versioning/incomplete-change @ /versioning/changes/2026-06-01/0',
      'versioning/incomplete-change @ /versioning/changes/2026-06-01/1',
      'versioning/incomplete-change @ /versioning/changes/2026-06-01/2',
      'versioning/incomplete-change @ /versioning/changes/2026-06-01/3',
    ],
  },
  {
    snippets: ['versioning: { changes: { "2026-06-01": [{ enum: note.kind, values: { normal: plian } }] } }'],
    finds: ['versioning/unknown-value @ /versioning/changes/2026-06-01/0/values/normal'],
  },
  {
    snippets: [
      'versioning: { changes: { "2026-06-01": [{ map: note.size, was: integer, down: "value / 10", up: "value * 10" }] } }',
    ],
    finds: ['versioning/lossy-map @ /versioning/changes/2026-06-01/0/map'],
  },
  {
    snippets: [
      'versioning: { changes: { "2026-06-01": [{ map: note.size, was: { type: integer, maximum: 3 }, down: "value", up: "value" }] } }',
    ],
    finds: ['versioning/outside-shape @ /versioning/changes/2026-06-01/0/down'],
  },
  {
    snippets: [
      'versioning: { changes: { "2026-06-01": [{ map: note.size, was: integer, down: "value", up: "value - 1000000" }] } }',
    ],
    finds: ['versioning/outside-shape @ /versioning/changes/2026-06-01/0/up'],
  },
  {
    snippets: [
      'versioning: { changes: { "2026-06-01": [{ map: note.size, was: integer, down: "value == 7 ? 1 / (value - value) : value", up: "value" }] } }',
    ],
    finds: ['versioning/outside-shape @ /versioning/changes/2026-06-01/0/down'],
  },
  {
    snippets: ['versioning: { changes: { "2026-06-01": [{ enum: note.kind, values: { normal: plain, usual: plain } }] } }'],
    finds: ['versioning/not-one-to-one @ /versioning/changes/2026-06-01/0/values/usual'],
  },
  {
    snippets: ['versioning: { versions: { "2026-01-15": { sunset: { on: some day, then: serves } } } }'],
    finds: ['versioning/not-a-date @ /versioning/versions/2026-01-15/sunset'],
  },
];
