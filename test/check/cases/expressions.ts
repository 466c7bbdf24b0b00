import type { Case } from '../harness.ts';

export const expressionsCases: readonly Case[] = [
  {
    snippets: ['resources: { note: { fields: { made_at: { set: { create: "now +" } } } } }'],
    finds: ['expressions/does-not-parse @ /resources/note/fields/made_at/set/create'],
  },
  {
    snippets: ['resources: { note: { fields: { owner: { set: { create: "caller.id + \'@@@\'" } } } } }'],
    finds: ['expressions/too-large @ /resources/note/fields/owner/set/create'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "next.title > 3" } } }'],
    finds: ['expressions/wrong-type @ /errors/codes/too_big/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "next.title" } } }'],
    finds: ['expressions/wrong-result @ /errors/codes/too_big/if'],
  },
  {
    snippets: [
      `endpoints:
        GET /notes:
          response:
            200:
              shape: { type: object, properties: { all: { type: array, items: { type: object, properties: { t: string, n: integer } } } } }
              data: { all: "items.map(one, {'t': one.title, 'n': one.title})" }`,
    ],
    finds: ['expressions/wrong-result @ /endpoints/GET ~1notes/response/200/data/all'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { if: "request.really" } } } }'],
    finds: ['expressions/not-in-scope @ /states/note/transitions/archive/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "next.titel == \'\'" } } }'],
    finds: ['expressions/unknown-field @ /errors/codes/too_big/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "next.size > 900" } } }'],
    finds: ['expressions/may-be-absent @ /errors/codes/too_big/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "has(find(book, { name: next.title }))" } } }'],
    finds: ['expressions/finds-several @ /errors/codes/too_big/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "has(find(bok, { id: next.title }))" } } }'],
    finds: ['expressions/finds-several @ /errors/codes/too_big/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "has(find(book))" } } }'],
    finds: ['expressions/does-not-parse @ /errors/codes/too_big/if'],
  },
  {
    snippets: ['errors: { codes: { too_big: { if: "find(book, { id: next.title }).name == next.title" } } }'],
    finds: ['expressions/may-be-absent @ /errors/codes/too_big/if'],
  },
  {
    snippets: [
      'resources: { book: { fields: { shared: { type: boolean, derive: "has(find(note, { id: resource.name }))" } } } }',
    ],
    finds: ['expressions/not-in-scope @ /resources/book/fields/shared/derive'],
  },
  {
    snippets: ['resources: { note: { rules: { known: { if: "has(find(book, { id: next.title }))", field: title } } } }'],
    finds: ['expressions/not-in-scope @ /resources/note/rules/known/if'],
  },
  {
    snippets: [
      'resources: { book: { fields: { name: { ignore_case: true } }, unique: [[name]] } }',
      'authentication: { permissions: [{ allow: [create note, update note, publish note, delete note, create book, all hook, stream events, read note], to: [writer, reader] }, { allow: [list note, notes of a book], to: reader, if: "has(find(book, { name: resource.title }))" }] }',
    ],
    finds: ['expressions/not-decidable @ /authentication/permissions/1/if'],
  },
  {
    snippets: ['resources: { note: { fields: { owner: { set: { create: link(next.book) } } } } }'],
    finds: ['expressions/may-be-absent @ /resources/note/fields/owner/set/create'],
  },
  {
    snippets: ['resources: { book: { fields: { name: { readOnly: true, set: { create: link(next) } } } } }'],
    finds: ['expressions/no-address @ /resources/book/fields/name/set/create'],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [create note, update note, publish note, delete note, create book, all hook, stream events, read note], to: [writer, reader] }, { allow: [list note, notes of a book], to: reader, if: "resource.title == link(resource)" }] }',
    ],
    finds: ['expressions/not-decidable @ /authentication/permissions/1/if'],
  },
  { snippets: ['errors: { codes: { too_big: { if: "1 < 2" } } }'], finds: ['expressions/constant @ /errors/codes/too_big/if'] },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [create note, update note, publish note, delete note, create book, all hook, stream events, read note], to: [writer, reader] }, { allow: [list note, notes of a book], to: reader, if: "resource.owner.size() > 3" }] }',
    ],
    finds: ['expressions/not-decidable @ /authentication/permissions/1/if'],
  },
];
