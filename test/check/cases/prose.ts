/** Markdown below a title, and what is found in it: code, pointer and line. */
export const proseCases: readonly { readonly text: string; readonly finds: readonly string[] }[] = [
  {
    text: '## Purpose\n\nThe API lives at https://api.notes.example/v1 and nowhere else.',
    finds: ['prose/looks-stated @ /purpose, line 3'],
  },
  {
    text: '## Resources\n\nA note looks like this.\n\n| Name | Type | What |\n|---|---|---|\n| id | string | the identifier |',
    finds: ['prose/looks-stated @ /resources, line 5'],
  },
  { text: '## States\n\nA note goes from draft -> published.', finds: ['prose/looks-stated @ /states, line 3'] },
  { text: '## Endpoints\n\n- `GET /notes` lists\n- `POST /notes` makes one', finds: ['prose/looks-stated @ /endpoints, line 3'] },
  {
    text: '## Authentication\n\nSend the header.\n\n    Authorization: Bearer <token>',
    finds: ['prose/looks-stated @ /authentication, line 5'],
  },
  { text: '## Events\n\nThere are `note.created` and `note.deleted`.', finds: ['prose/looks-stated @ /events, line 3'] },
  { text: '## Errors\n\nWhat is not there is 404, what is wrong is 422.', finds: ['prose/looks-stated @ /errors, line 3'] },
  {
    text: '## Limits\n\nThere is a rate limit of 100 requests per minute.\n\nA body has at most 64 KB. Lists show 20 items per page.\n\nA timeout comes after 30 seconds.',
    finds: [
      'prose/looks-stated @ /limits, line 3',
      'prose/looks-stated @ /limits, line 5',
      'prose/looks-stated @ /limits, line 5',
      'prose/looks-stated @ /limits, line 7',
    ],
  },
  { text: '## Versioning\n\nThe version is `2026-01-15`.', finds: ['prose/looks-stated @ /versioning, line 3'] },
  {
    text: '## Errors\n\n| code | status |\n|---|---|\n| sold_out | 409 |',
    finds: ['prose/lost-table @ /errors, line 3'],
  },
  {
    text: '## Resources\n\n### note\n\n```yaml\nidentifier: none\n```\n\n| field | type |\n|---|---|\n| id | string |',
    finds: ['prose/lost-table @ /resources/note, line 9'],
  },
  {
    text: '## States\n\n### note\n\n| state | means |\n|---|---|\n| sent | gone |\n\n```yaml\nnone\n```',
    finds: ['prose/misspelt-table @ /states/note, line 5'],
  },
  {
    text: '## Limits\n\n| page | size |\n|---|---|\n| x | 9 |\n\n| Rats | to |\n|:-|-|\n| 1 | 2 |',
    finds: ['prose/misspelt-table @ /limits, line 7'],
  },
  { text: '## Limits\n\n```\nrate: none\nsize: none\n```', finds: ['prose/unmarked-fence @ /limits, line 3'] },
  {
    text: '## Resources\n\n~~~\n# a book\nbook:\n  identifier: none\n  fields: { a: string }\n~~~',
    finds: ['prose/unmarked-fence @ /resources, line 3'],
  },
];

/** Markdown below a title in which nothing is found. */
export const silentProse: readonly string[] = [
  '## Purpose\n\nNotes for everyone. See https://en.wikipedia.org/wiki/Note for what a note is.',
  '## Resources\n\nA note has a title and a type of its own.',
  '## States\n\nA note is a draft first, and published later.',
  '## Endpoints\n\nNotes are made with POST and read with GET, as one would expect.',
  '## Authentication\n\nA key in a header. Which header is not decided.',
  '## Errors\n\nA 404 says little, so the answer says more.',
  '## Limits\n\nThere will be a rate limit. The first 100 customers are asked.',
  '## Limits\n\nUp to 600 requests per minute.\n\n```yaml\nrate: [{ per: caller, limit: 600, window: 1m }]\n```',
  '## Errors\n\n| status | means |\n|---|---|\n| conflict | somebody was first |\n\n```text\n| code | x |\n|---|---|\n```',
  '## Limits\n\n```\nHTTP/1.1 200 OK\nrate: 5\n```\n\n```text\nrate: none\n```\n\n```\nHost: notes.example\n```',
  '## Versioning\n\nThe first version came out in 2026.',
  'A note goes from draft -> published at 100 requests per minute, before any part begins.',
];
