import type { Case } from '../harness.ts';

export const errorsCases: readonly Case[] = [
  {
    snippets: [
      'states: { note: { transitions: { archive: { if: { if: "resource.pinned", else: pined }, else: not_nw } } } }',
      '{ endpoints: { POST /notes: { errors: [too_bg] } } }',
    ],
    finds: [
      'errors/unknown-error @ /states/note/transitions/archive/if/else',
      'errors/unknown-error @ /states/note/transitions/archive/else',
      'errors/unknown-error @ /endpoints/POST ~1notes/errors/0',
    ],
  },
  {
    snippets: ['errors: { codes: { too_big: { on: [craete note] } } }'],
    finds: ['errors/unknown-operation @ /errors/codes/too_big/on/0'],
  },
  {
    snippets: [
      'errors: { codes: { held: { status: 409, when: reference.held }, not_now: { status: 409, when: [transition.illegal], on: [create note] } } }',
    ],
    finds: ['errors/cannot-arise @ /errors/codes/not_now/when/0', 'errors/cannot-arise @ /errors/codes/held/when'],
  },
  { snippets: ['errors: { codes: { lost: { status: 410 } } }'], finds: ['errors/never-given @ /errors/codes/lost'] },
  {
    snippets: [
      'errors: { codes: { wrong: { status: 400, when: [request.invalid, request.malformed] }, draft_only: { status: 409, on: [update note, publish note], when: transition.illegal } } }',
    ],
    finds: ['errors/two-for-one @ /errors/codes/wrong/when/0', 'errors/two-for-one @ /errors/codes/draft_only/when'],
  },
  {
    snippets: [
      'errors: { conditions: { request.accept: none, request.invalid: none, limit.time: none, transition.illegal: any } }',
      'limits: { timeout: { request: 5s } }',
    ],
    finds: [
      'errors/cannot-arise @ /errors/codes/invalid/when',
      'errors/never-arises @ /errors/conditions/request.invalid',
      'errors/never-arises @ /errors/conditions/limit.time',
    ],
  },
  {
    snippets: ['errors: { order: [body, user, caller, body] }'],
    finds: ['errors/order @ /errors/order', 'errors/order @ /errors/order/3'],
  },
  {
    snippets: [`errors: { headers: { Content-Type: "'text/plain'" }, codes: { invalid: { headers: { X Code: code } } } }`],
    finds: ['errors/header @ /errors/codes/invalid/headers/X Code', 'errors/header @ /errors/headers/Content-Type'],
  },
  {
    snippets: ['errors: { codes: { invalid: { message: "{nmae} is wrong" }, not_found: { message: "There is no {name}" } } }'],
    finds: ['errors/message @ /errors/codes/invalid/message', 'errors/message @ /errors/codes/not_found/message'],
  },
  {
    snippets: ['errors: { codes: { fixed: { status: 422, when: request.invalid.read_only } } }'],
    finds: ['errors/cannot-arise @ /errors/codes/fixed/when'],
  },
  { snippets: ['errors: { codes: { not_found: { status: 200 } } }'], finds: ['errors/status @ /errors/codes/not_found/status'] },
  {
    snippets: [
      'errors: { payload: { shape: { type: object, properties: { error: string }, required: [error], additionalProperties: false }, data: { eror: code } } }',
    ],
    finds: ['errors/data-misfit @ /errors/payload/data', 'errors/data-misfit @ /errors/payload/data/eror'],
  },
  {
    snippets: ['errors: { codes: { elsewhere: { status: 404, when: resource.moved } } }'],
    finds: ['errors/moved-status @ /errors/codes/elsewhere/status', 'errors/cannot-arise @ /errors/codes/elsewhere/when'],
  },
  {
    snippets: [
      'errors: { payload: { shape: { type: object, properties: { code: string }, required: [code] }, data: { code: code } } }',
    ],
    finds: ['expressions/wrong-result @ /errors/payload/data/code'],
  },
];
