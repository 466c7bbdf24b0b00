import type { Case } from '../harness.ts';

export const purposeCases: readonly Case[] = [
  {
    snippets: [
      'purpose: { functions: { write: [create note, update note, publsh note, publish note, delete note, create book] } }',
    ],
    finds: ['purpose/unknown-operation @ /purpose/functions/write/2'],
  },
  { snippets: ['purpose: { functions: { tidy: all label } }'], finds: ['purpose/unknown-operation @ /purpose/functions/tidy'] },
  {
    snippets: ['purpose: { functions: { dream: [] } }'],
    finds: ['purpose/function-without-operations @ /purpose/functions/dream'],
  },
  {
    snippets: ['purpose: { functions: { read: [read note, list note, notes of a book] } }'],
    finds: [
      'purpose/operation-without-function @ /endpoints/GET ~1count',
      'purpose/operation-without-function @ /events/delivery/stream',
    ],
  },
  {
    snippets: ['{ purpose: { users: { ghost: Is never seen. } }, authentication: { public: null } }'],
    finds: ['purpose/idle-user @ /purpose/users/ghost', 'authentication/nobody-may-call @ /endpoints/GET ~1count'],
  },
  {
    snippets: ['{ purpose: { users: null } }', '{ purpose: { users: [writer, reader, writer] } }'],
    finds: ['purpose/user-twice @ /purpose/users/2'],
  },
  { snippets: ['purpose: { users: { anyone: Everybody. } }'], finds: ['purpose/reserved-user @ /purpose/users/anyone'] },
  {
    snippets: ['purpose: { base_url: [https://notes.example, notes.example/v1] }'],
    finds: ['purpose/base-url @ /purpose/base_url/1'],
  },
  { snippets: ['purpose: { base_url: "https://notes.example/v1?x=1" }'], finds: ['purpose/base-url-tail @ /purpose/base_url'] },
];
