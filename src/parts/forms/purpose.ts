import { Type } from 'typebox';
import { fact, keys, namedForm, value, Words } from './standing.ts';

export const PurposeForm = fact(
  keys({
    purpose: value(Type.String(), 'What the service is for, in a sentence.'),
    base_url: fact(Words, 'The absolute base URL, or a list; its path is the prefix under which the endpoints are served.'),
    users: fact(Type.Union([namedForm(Type.String()), Words]), 'Who uses the service, each with what it is.'),
    functions: fact(namedForm(fact(Words)), 'What a user can do, and the operations that do it.'),
  }),
  'Part 1: what the service does.',
);
