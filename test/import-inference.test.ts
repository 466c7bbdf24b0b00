import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { check } from '../src/check/check.ts';
import { inferenceRules } from '../src/convert/openapi/infer/all.ts';
import { valueAt } from '../src/document/source.ts';
import { type Source, take } from './import/source.ts';

/** What a rule infers of a source: facts with their values; facts that it asks for instead; and facts that it must leave open. */
interface Trial {
  readonly source: Source;
  readonly infers: Readonly<Record<string, unknown>>;
  /** The questions that it leaves at facts of which it sees only that there is something to be stated. */
  readonly asks?: Readonly<Record<string, string>>;
  readonly leaves?: readonly string[];
}

type Words = Readonly<Record<string, unknown>>;

const string = { type: 'string' };
const pet: Words = { type: 'object', properties: { id: string, name: string }, required: ['id'] };
const ref = (name: string): Words => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: unknown): Words => ({ content: { 'application/json': { schema } } });
const answers = (schema: unknown, status = '200'): Words => ({ responses: { [status]: { description: 'ok', ...json(schema) } } });
const shownAs = (example: unknown): Words => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { example } } } },
});
const ok: Words = { responses: { 200: { description: 'ok' } } };
const sends = (schema: unknown): Words => ({ requestBody: json(schema) });
const inHeader = (name: string, required = true): Words => ({ name, in: 'header', required, schema: string });
const list = (items: unknown): Words => ({ type: 'array', items });
const id = [{ name: 'petId', in: 'path', required: true, schema: string }];
const thing = (properties: Words): Words => ({ type: 'object', properties });
const toy: Words = thing({ toyId: string, price: { type: 'number' } });
const toyShownIn = { ...toy, example: { data: { toyId: '7', price: 1 } } };
const bodyShownIn = { type: 'object', example: { data: { price: 2 } } };
const toyTold: Words = { properties: { toyId: 'string', price: 'number' } };
const thingIn = (inner: Words): Words => ({ type: 'object', properties: { data: inner }, required: ['data'] });
const shownIn = (schema: unknown, example: unknown): Words => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { schema, example } } } },
});
const linked = (of: string, next: string): Words =>
  shownIn(thing({ data: list(ref(of)), links: thing({ next: string, per_page: string }) }), {
    data: [{ id: 'a', name: 'b' }],
    links: { next: `https://api.example.com/${next}`, per_page: 20 },
  });
const one = { '/pets/{petId}': { parameters: id, get: { operationId: 'getPet', ...answers(ref('Pet')) } } };

function service(paths: Words, more: Words = {}, schemas: Words = {}): Source {
  return { paths, components: { schemas: { Pet: pet, ...schemas } }, ...more };
}

const endpoint = (key: string, word: string) => `/endpoints/${key.replaceAll('/', '~1')}/${word}`;

const trials: Readonly<Record<string, Trial>> = {
  'shown-envelope': {
    source: service({
      '/toys': { get: shownIn(list(toy), { data: [{ toyId: '7', price: 1 }], links: { next: 'u' } }), post: sends(toyShownIn) },
      '/toys/{toyId}': { get: shownIn(toy, { data: { toyId: '7', price: 1 } }), patch: sends(bodyShownIn) },
      // The schema says a list, and the answer is shown as one thing.
      '/toy': { get: shownIn(list(toy), { data: { toyId: '7', price: 1 } }) },
      '/best': { get: shownIn(toy, { data: { toyId: '7', price: 1 } }) },
      '/none': { get: shownIn(list(toy), { data: [] }) },
      // What a schema has a place for is no envelope, whatever its example is called like.
      '/boxes': { get: shownIn(thing({ data: toy }), { data: { toyId: '7', price: 1 } }) },
    }),
    infers: {
      [`${endpoint('GET /toys', 'response')}/200/shape`]: {
        type: 'object',
        properties: { data: list(toyTold), links: { type: 'object', properties: { next: { type: 'string', example: 'u' } } } },
        required: ['data'],
      },
      [`${endpoint('GET /toys/{toyId}', 'response')}/200/shape`]: thingIn(toyTold),
      [`${endpoint('GET /toy', 'response')}/200/shape`]: thingIn(toyTold),
      [`${endpoint('GET /none', 'response')}/200/shape`]: thingIn(list(toyTold)),
      [endpoint('POST /toys', 'request')]: { ...thingIn(toyTold), example: toyShownIn.example },
      [endpoint('PATCH /toys/{toyId}', 'request')]: { ...thingIn(thing({ price: {} })), example: bodyShownIn.example },
    },
    leaves: [`${endpoint('GET /boxes', 'response')}/200/shape`],
  },
  'example-shapes': {
    source: service({
      '/toys': {
        get: shownAs({
          code: 0,
          data: [
            { toyId: 7, price: 1 },
            { price: 2.5, maker: null },
          ],
        }),
        post: shownAs({ toyId: 7, box: { size: 1 } }),
      },
      '/counts': { get: shownAs({ '2026-01-01': { sold: 3 }, '2026-01-02': { sold: 4 } }) },
      '/kinds': { get: shownAs(['soft', 'hard']) },
    }),
    infers: {
      [`${endpoint('GET /toys', 'response')}/200/shape`]: {
        type: 'object',
        properties: {
          code: { type: 'integer', example: 0 },
          data: {
            type: 'array',
            items: {
              type: 'object',
              properties: { toyId: { type: 'integer', example: 7 }, price: { type: 'number', example: 1 }, maker: {} },
            },
          },
        },
        required: ['code', 'data'],
      },
      // What says which thing it is is a thing, and no envelope around one.
      [`${endpoint('POST /toys', 'response')}/200/shape`]: {
        type: 'object',
        properties: {
          toyId: { type: 'integer', example: 7 },
          box: { type: 'object', properties: { size: { type: 'integer', example: 1 } } },
        },
      },
    },
    leaves: [`${endpoint('GET /counts', 'response')}/200/shape`, `${endpoint('GET /kinds', 'response')}/200/shape`],
  },
  'resource-behind-path': {
    source: service({ '/toys/{toyId}': { get: answers({ type: 'object', properties: { toyId: string, price: string } }) } }),
    infers: { '/resources/toy': { fields: { price: 'string' } } },
  },
  'made-and-listed': {
    source: service({
      '/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet')) }, get: answers(list(ref('Pet'))) },
      '/owners': { post: { ...sends(ref('Pet')), ...answers(ref('Pet')) }, get: answers(list(string)) },
    }),
    infers: { [endpoint('GET /pets', 'does')]: 'list Pet', [endpoint('POST /pets', 'does')]: 'create Pet' },
    leaves: [endpoint('POST /owners', 'does')],
  },
  'things-of-methods': {
    source: service({
      '/pets.info': { get: answers({ type: 'object', properties: { ok: { enum: [true] }, pet: ref('Pet') } }) },
    }),
    infers: { '/resources/Pet/identifier': { field: 'id' } },
  },
  'fields-of-union': {
    source: service(
      { '/pets/{petId}': { parameters: id, get: answers(ref('Animal')) } },
      {},
      {
        Animal: { oneOf: [ref('Cat'), ref('Dog')] },
        Cat: { type: 'object', properties: { id: string, lives: { type: 'integer' } }, required: ['id', 'lives'] },
        Dog: { type: 'object', properties: { id: string, tricks: list(string) }, required: ['id'] },
      },
    ),
    infers: { '/resources/Animal/fields': { lives: 'integer', tricks: ['string'] }, '/resources/Animal/required': ['id'] },
  },
  identifier: { source: service(one), infers: { '/resources/Pet/identifier': { field: 'id' } } },
  'nested-collection': {
    source: service(
      {
        ...one,
        '/owners/{owner}/pets': {
          post: { ...sends(ref('Pet')), ...answers(ref('MadePet'), '201') },
          get: answers(list(ref('PetShort'))),
        },
        '/shops/{shop}/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Order'), '201') } },
        // Of what is answered nothing is said: a pet that is sent whole is made, and one that is named is bound.
        '/farms/{farm}/pets': { post: { ...sends(ref('Pet')), ...ok }, get: answers(list(ref('Pet'))) },
        '/fairs/{fair}/pets': { post: { ...sends(thing({ pets: list(string) })), ...ok }, get: answers(list(ref('Pet'))) },
      },
      {},
      {
        MadePet: { type: 'object', properties: { id: string, name: string, made: string } },
        PetShort: { type: 'object', properties: { id: string, name: string } },
        Order: { type: 'object', properties: { id: string, price: string, paid: { type: 'boolean' } } },
      },
    ),
    infers: {
      [endpoint('POST /owners/{owner}/pets', 'does')]: 'create Pet',
      [endpoint('POST /farms/{farm}/pets', 'does')]: 'create Pet',
      [endpoint('GET /owners/{owner}/pets', 'does')]: 'list Pet',
    },
    leaves: [endpoint('POST /shops/{shop}/pets', 'does'), endpoint('POST /fairs/{fair}/pets', 'does')],
  },
  'get-one-reads': { source: service(one), infers: { [endpoint('GET /pets/{petId}', 'does')]: 'read Pet' } },
  'get-many-lists': {
    source: service({
      ...one,
      '/pets': { get: answers(list(ref('Pet'))) },
      '/pets/popular': { get: { parameters: [{ name: 'q', in: 'query', schema: string }], ...answers(list(ref('Pet'))) } },
    }),
    infers: { [endpoint('GET /pets', 'does')]: 'list Pet' },
    leaves: [endpoint('GET /pets/popular', 'does')],
  },
  'search-lists': {
    source: service({
      ...one,
      '/pets/search': { post: { ...sends({ type: 'object', properties: { query: string } }), ...answers(list(ref('Pet'))) } },
      // What a query of its own language answers is no list of them.
      '/pets/query': { post: { ...sends({ type: 'object', properties: { sql: string } }), ...answers(list(string)) } },
      '/pets/import': { post: { ...sends(list(ref('Pet'))), ...answers(list(ref('Pet'))) } },
    }),
    infers: { [endpoint('POST /pets/search', 'does')]: 'list Pet' },
    leaves: [endpoint('POST /pets/query', 'does'), endpoint('POST /pets/import', 'does')],
  },
  'post-creates': {
    source: service({
      ...one,
      '/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet'), '201') } },
      '/pets/batch': { post: { ...sends(list(ref('Pet'))), ...answers(string) } },
    }),
    infers: { [endpoint('POST /pets', 'does')]: 'create Pet' },
    leaves: [endpoint('POST /pets/batch', 'does')],
  },
  'patch-updates': {
    source: service(
      {
        '/pets/{petId}': {
          ...one['/pets/{petId}'],
          patch: { ...sends({ type: 'object', properties: { name: string } }), ...answers(ref('Pet')) },
        },
        '/owners/{ownerId}/dogs': {
          post: { ...sends(ref('Dog')), ...answers(ref('Dog')) },
          patch: { ...sends(ref('Dog')), ...ok },
        },
        '/owners/{ownerId}/dogs/{dogId}': { get: answers(ref('Dog')) },
        '/owners/{ownerId}/cats': {
          post: { ...sends(ref('Cat')), ...answers(ref('Cat')) },
          patch: { ...sends(ref('Cat')), ...ok },
        },
        '/owners/{ownerId}/cats/{catId}': { get: answers(ref('Cat')), put: { ...sends(ref('Cat')), ...answers(ref('Cat')) } },
      },
      {},
      { Dog: pet, Cat: pet },
    ),
    infers: {
      [endpoint('PATCH /pets/{petId}', 'does')]: 'update Pet',
      [endpoint('PATCH /owners/{ownerId}/dogs', 'does')]: 'update Dog',
      [endpoint('PATCH /owners/{ownerId}/dogs', 'identity')]: 'request.id',
    },
    leaves: [endpoint('PATCH /owners/{ownerId}/cats', 'does')],
  },
  'put-replaces': {
    source: service({
      '/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet')) } },
      '/pets/{petId}': {
        ...one['/pets/{petId}'],
        put: { ...sends(ref('Pet')), responses: { 200: json(ref('Pet')), 201: json(ref('Pet')) } },
      },
    }),
    infers: { [endpoint('PUT /pets/{petId}', 'does')]: 'upsert Pet' },
  },
  'delete-deletes': {
    source: service({ '/pets/{petId}': { ...one['/pets/{petId}'], delete: { responses: { 204: { description: 'gone' } } } } }),
    infers: { [endpoint('DELETE /pets/{petId}', 'does')]: 'delete Pet' },
  },
  'action-changes-row': {
    source: service({
      ...one,
      '/pets/{petId}/adopt': { parameters: id, post: { operationId: 'adopt', ...answers(ref('Pet')) } },
      '/pets/{petId}/count': { parameters: id, post: answers({ type: 'integer' }) },
    }),
    infers: { [endpoint('POST /pets/{petId}/adopt', 'does')]: 'update Pet' },
    leaves: [endpoint('POST /pets/{petId}/count', 'does')],
  },
  'method-names': {
    source: service({
      '/pets.info': {
        get: {
          parameters: [{ name: 'pet', in: 'query', required: true, schema: string }],
          ...answers({ type: 'object', properties: { ok: { enum: [true] }, pet: ref('Pet') } }),
        },
      },
      '/pets.feed': { post: answers({ type: 'object', properties: { ok: { enum: [true] } } }) },
    }),
    infers: { [endpoint('GET /pets.info', 'does')]: 'read Pet', [endpoint('GET /pets.info', 'identity')]: 'params.pet' },
    leaves: [endpoint('POST /pets.feed', 'does')],
  },
  'example-replies': {
    source: service({
      '/version': { get: { responses: { 200: { description: 'ok', content: { 'text/plain': { example: '1.0' } } } } } },
    }),
    infers: { [endpoint('GET /version', 'does')]: 'reply' },
  },
  'parent-in-path': {
    source: service(
      { '/owners/{owner}': { get: answers(ref('Owner')) }, '/owners/{owner}/pets/{petId}': { get: answers(ref('Pet')) } },
      {},
      { Owner: { type: 'object', properties: { id: string, mail: string } } },
    ),
    infers: { '/resources/Pet/fields/owner': { ref: 'Owner', visible: 'none' } },
  },
  'members-said': {
    source: service(
      {
        '/owners/{owner}': { get: answers(ref('Owner')) },
      },
      {},
      {
        Owner: {
          type: 'object',
          properties: {
            id: string,
            since: { type: 'string', description: 'Output only. When it came.' },
            pin: { type: 'string', description: 'Input only. By what it opens.' },
            note: { type: 'string', description: 'Read only if locked.' },
            mark: { type: 'string', description: 'What tells it apart, ever.\n\nPopulated by the system. More below.' },
            heard: { type: 'string', description: 'When it was last heard of (read only).' },
            mount: { type: 'boolean', description: 'Mounts it read-only. Default: read only, if shared.' },
            alias: { type: 'string', description: 'Its name, generated by the system if none is given.' },
          },
        },
      },
    ),
    infers: {
      '/resources/Owner/fields/since/readOnly': true,
      '/resources/Owner/fields/mark/readOnly': true,
      '/resources/Owner/fields/heard/readOnly': true,
      '/resources/Owner/fields/pin/writeOnly': true,
    },
    leaves: ['/resources/Owner/fields/note/readOnly'],
  },
  'required-said': {
    source: service(
      {
        '/owners': {
          post: { ...sends(ref('Owner')), ...answers(ref('Owner'), '201') },
          get: {
            parameters: [{ name: 'realm', in: 'query', description: 'Required. Where they are.', schema: string }],
            ...answers({ type: 'array', items: ref('Owner') }),
          },
        },
        '/owners/{owner}': { get: answers(ref('Owner')) },
      },
      {},
      {
        Owner: {
          type: 'object',
          properties: {
            id: { type: 'string', description: 'Required. Which one.' },
            mail: { type: 'string', description: 'Required. Where to write to.' },
            note: { type: 'string', description: 'Required by some.' },
          },
        },
      },
    ),
    infers: {
      '/resources/Owner/required': ['mail'],
      [endpoint('GET /owners', 'parameters/realm/required')]: true,
    },
  },
  'names-in-place': {
    source: service(
      {
        '/owners/{owner}/boxes/{box}': {
          put: { ...sends(ref('Box')), ...answers(ref('Box'), '201') },
          get: answers(ref('Box')),
        },
        '/lids/{lid}': {
          put: { ...sends(ref('Lid')), ...answers(ref('Lid'), '201') },
          get: answers(ref('Lid')),
        },
      },
      {},
      {
        Box: { type: 'object', properties: { box: string, size: string } },
        Lid: { type: 'object', properties: { lid: string } },
      },
    ),
    infers: {
      '/resources/Box/identifier': { field: 'key', generate: 'client' },
      [endpoint('GET /owners/{owner}/boxes/{box}', 'identity')]: "params.owner + '/' + params.box",
    },
    leaves: [endpoint('GET /lids/{lid}', 'identity')],
  },
  'request-envelope': {
    source: service({
      ...one,
      '/pets': { post: { ...sends({ type: 'object', properties: { data: ref('Pet') } }), ...answers(ref('Pet'), '201') } },
      '/pets/{petId}': {
        ...one['/pets/{petId}'],
        patch: { ...sends({ type: 'object', properties: { name: string } }), ...answers(ref('Pet')) },
      },
    }),
    infers: { [endpoint('POST /pets', 'takes')]: 'data' },
    leaves: [endpoint('PATCH /pets/{petId}', 'takes')],
  },
  'inner-fields': {
    source: {
      paths: {
        '/users': { post: { ...sends({ type: 'object', properties: { nick: string } }), ...answers(ref('User'), '201') } },
        '/users/{petId}': {
          parameters: id,
          get: answers(ref('User')),
          patch: { ...sends(ref('User')), ...answers(ref('User')) },
        },
      },
      components: { schemas: { User: thing({ id: string, attributes: thing({ nick: string, role: string }) }) } },
    },
    infers: { [endpoint('POST /users', 'takes')]: { nick: 'attributes.nick' } },
    leaves: [endpoint('PATCH /users/{petId}', 'takes')],
  },
  'list-envelope': {
    source: service(
      {
        ...one,
        '/dogs': { get: linked('Dog', 'dogs?page=2') },
        '/dogs/{dogId}': { get: answers(ref('Dog')) },
        '/cats': { get: linked('Cat', 'cats?after=c2') },
        '/cats/{catId}': { get: answers(ref('Cat')) },
        '/fish': { get: linked('Fish', 'fish?page=2&page_size=1') },
        '/fish/{fishId}': { get: answers(ref('Fish')) },
        '/pets': {
          get: {
            parameters: [{ name: 'cursor', in: 'query', schema: string }],
            ...answers({
              type: 'object',
              properties: { items: list(ref('Pet')), next_cursor: string, total: { type: 'integer' } },
            }),
          },
        },
      },
      {},
      { Dog: pet, Cat: pet, Fish: pet },
    ),
    infers: {
      [endpoint('GET /pets', 'pagination')]: {
        style: 'cursor',
        cursor: 'cursor',
        items: 'items',
        next: 'next_cursor',
        total: 'total',
      },
      [endpoint('GET /pets', 'response/200/data')]: { items: 'items', next_cursor: 'next_cursor', total: 'total' },
      [endpoint('GET /dogs', 'pagination')]: { style: 'page', page: 'page', default: 20 },
      [endpoint('GET /fish', 'pagination')]: { style: 'page', page: 'page', size: 'page_size' },
      // What leads on is no page that is counted.
      [endpoint('GET /cats', 'pagination')]: { style: 'none' },
    },
  },
  'page-parameters': {
    source: service({
      ...one,
      '/pets': {
        get: {
          parameters: [
            { name: 'starting_after', in: 'query', schema: string },
            { name: 'limit', in: 'query', schema: { type: 'integer', default: 10, maximum: 100 } },
          ],
          ...answers({ type: 'object', properties: { data: list(ref('Pet')), has_more: { type: 'boolean' } } }),
        },
      },
    }),
    infers: {
      [endpoint('GET /pets', 'pagination')]: {
        style: 'after',
        after: 'starting_after',
        size: 'limit',
        max: 100,
        default: 10,
        items: 'data',
        has_more: 'has_more',
      },
    },
  },
  'told-headers': {
    source: service({
      ...one,
      '/pets': { get: { description: 'The X-Total-Count header counts them.', ...answers(list(ref('Pet'))) } },
    }),
    infers: {
      [endpoint('GET /pets', 'response/200/headers/X-Total-Count')]: { shape: { type: 'integer' }, required: false },
    },
    leaves: [endpoint('GET /pets/{petId}', 'response/200/headers')],
  },
  'extension-examples': {
    source: service({
      ...one,
      '/sums': {
        get: { 'x-docs': '{ "of": "all", "sum": 7 }', ...answers({ type: 'object', properties: { of: string, sum: string } }) },
      },
      '/means': {
        get: { 'x-docs': '{ "of": "all", "sum": 7 }', ...answers({ type: 'object', properties: { of: string, mean: string } }) },
      },
    }),
    infers: { [endpoint('GET /sums', 'response/200/examples')]: { extension: { of: 'all', sum: 7 } } },
    leaves: [endpoint('GET /means', 'response/200/examples')],
  },
  'filters-by-field': {
    source: service({
      ...one,
      '/pets': {
        get: {
          parameters: [
            { name: 'name', in: 'query', schema: { type: 'string', enum: ['all', 'Rex'] } },
            { name: 'id', in: 'query', schema: list(string) },
          ],
          ...answers(list(ref('Pet'))),
        },
      },
      '/pets/named': { get: { parameters: [{ name: 'name', in: 'query', schema: string }], ...answers(list(ref('Pet'))) } },
      '/pets/called': {
        get: { parameters: [{ name: 'name', in: 'query', schema: { ...string, default: '' } }], ...answers(list(ref('Pet'))) },
      },
    }),
    infers: {
      [endpoint('GET /pets', 'parameters/name/filters')]: 'none',
      [endpoint('GET /pets', 'parameters/id/op')]: 'in',
      [endpoint('GET /pets/called', 'parameters/name')]: { in: 'query', type: 'string' },
    },
    leaves: [endpoint('GET /pets/named', 'parameters/name/filters')],
  },
  'called-reading': {
    source: service({
      '/litters': { post: { ...sends(ref('Pet')), ...answers(ref('Pet'), '201') } },
      '/pets': {
        post: { operationId: 'searchPets', ...answers(list(ref('Pet'))) },
      },
      '/pets/{petId}': { ...one['/pets/{petId}'], get: undefined, post: { operationId: 'readPet', ...answers(ref('Pet')) } },
    }),
    infers: { [endpoint('POST /pets/{petId}', 'does')]: 'read Pet', [endpoint('POST /pets', 'does')]: 'list Pet' },
  },
  'newest-first': {
    source: service({
      ...one,
      '/pets': { get: { summary: 'Pets, the most recent first', ...answers(list(ref('Pet'))) } },
      '/pets/named': { get: { summary: 'Pets by their first name', ...answers(list(ref('Pet'))) } },
    }),
    infers: { [endpoint('GET /pets', 'ties')]: 'newest' },
    leaves: [endpoint('GET /pets/named', 'ties')],
  },
  'examples-of-things': {
    source: service({
      '/orgs': { post: shownAs({ id: 'o1', name: 'Old' }) },
      '/orgs/{orgId}': { get: shownAs({ id: 'o1', name: 'Old' }) },
      '/version': { get: shownAs({ major: 1, minor: 0 }) },
    }),
    infers: {
      [endpoint('POST /orgs', 'response/200/examples')]: { example: { id: 'o1', name: 'Old' } },
      [endpoint('GET /orgs/{orgId}', 'response/200/examples')]: { example: { id: 'o1', name: 'Old' } },
    },
    leaves: [endpoint('GET /version', 'response/200/examples')],
  },
  'unsaid-answer': {
    source: service({
      '/pets': { post: { ...sends(ref('Pet')), responses: { 201: { description: 'Created' } } } },
      '/pets/{petId}': {
        parameters: id,
        get: answers(ref('Pet')),
        put: { ...sends(ref('Pet')), responses: { 200: { description: 'ok' } } },
        delete: { responses: { 204: { description: 'Gone' } } },
      },
      '/toys': { post: { ...sends(toy), responses: { 201: { description: 'The Location header leads to it.' } } } },
      '/toys/{toyId}': { get: answers(toy), put: { ...sends(toy), responses: { 200: { description: 'ok' } } } },
    }),
    infers: {
      [`${endpoint('POST /pets', 'response')}/201`]: { shape: 'Pet' },
      [`${endpoint('PUT /pets/{petId}', 'response')}/200`]: { shape: 'Pet' },
    },
    leaves: [`${endpoint('POST /toys', 'response')}/201`, `${endpoint('PUT /toys/{toyId}', 'response')}/200`],
  },
  'row-envelope': {
    source: service({
      '/pets/{petId}': {
        ...one['/pets/{petId}'],
        delete: answers({
          type: 'object',
          properties: { id: string, deleted: { type: 'boolean' } },
          required: ['id', 'deleted'],
        }),
      },
    }),
    infers: { [endpoint('DELETE /pets/{petId}', 'response/200/data')]: { id: 'resource.id', deleted: 'true' } },
  },
  'generated-identifier': {
    source: service(one, {}, { Pet: { type: 'object', properties: { id: { type: 'string', pattern: '^pet_[a-z0-9]+$' } } } }),
    infers: { '/resources/Pet/identifier/generate': 'pet_{random:16}' },
  },
  'named-conflicts': {
    source: service({
      ...one,
      '/pets': {
        post: {
          ...sends(ref('Pet')),
          responses: {
            ...(answers(ref('Pet')).responses as Words),
            409: { description: 'A pet with this name already exists.' },
          },
        },
      },
    }),
    infers: { '/resources/Pet/unique': [['name']] },
  },
  'status-states': {
    source: service(
      one,
      {},
      { Pet: { type: 'object', properties: { id: string, status: { type: 'string', enum: ['free', 'sold'] } } } },
    ),
    infers: { '/states/Pet': { field: 'status', states: ['free', 'sold'] } },
  },
  'address-of-thing': {
    source: service({
      '/films/{film}': {
        parameters: [{ name: 'film', in: 'path', required: true, schema: string }],
        get: answers({ type: 'object', properties: { uri: { type: 'string', example: '/films/12' }, name: string } }),
        delete: { responses: { 204: { description: 'Gone.' } } },
      },
      // Nobody can do anything with these.
      '/genres/{genre}': {
        parameters: [{ name: 'genre', in: 'path', required: true, schema: string }],
        get: answers({ type: 'object', properties: { uri: { type: 'string', example: '/genres/noir' }, name: string } }),
      },
      // An address of something else tells nothing.
      '/clips/{clip}': {
        parameters: [{ name: 'clip', in: 'path', required: true, schema: string }],
        get: answers({ type: 'object', properties: { uri: { type: 'string', example: '/films/12' }, size: string } }),
        delete: { responses: { 204: { description: 'Gone.' } } },
      },
    }),
    infers: { '/resources/film/fields/uri/set': { create: "'/films/' + (has(next.film) ? string(next.film) : '12')" } },
    leaves: ['/resources/clip', '/resources/genre'],
  },
  'names-that-are-paths': {
    source: service(
      {
        '/v1/{parent}/racks': {
          parameters: [{ name: 'parent', in: 'path', required: true, schema: string }],
          post: {
            operationId: 'depot.yards.racks.create',
            parameters: [{ name: 'rackId', in: 'query', schema: string }],
            ...sends(ref('Rack')),
            ...answers(ref('Rack')),
          },
        },
        '/v1/{name}': {
          parameters: [{ name: 'name', in: 'path', required: true, schema: string }],
          get: { operationId: 'depot.yards.racks.bolts.get', ...answers(ref('Bolt')) },
        },
      },
      {},
      {
        Rack: { type: 'object', properties: { name: string, label: string } },
        Bolt: { type: 'object', properties: { name: string } },
      },
    ),
    infers: {
      '/resources/Rack/fields/name': {
        type: 'string',
        set: {
          create:
            "(has(request.name) && request.name != '' ? request.name : 'yards/' + params.yardsId + '/racks/' + (has(params.rackId) ? params.rackId : (has(next.name_end) ? string(next.name_end) : '')))",
        },
      },
    },
  },
  'deletion-keeps-row': {
    source: service({
      '/pets/{petId}': {
        ...one['/pets/{petId}'],
        delete: { operationId: 'archivePet', ...answers(ref('Pet')) },
      },
    }),
    infers: { [endpoint('DELETE /pets/{petId}', 'does')]: 'update Pet' },
  },
  'action-moves-state': {
    source: service(
      {
        '/orders/{id}': { parameters: [{ ...id[0], name: 'id' }], get: answers(ref('Order')) },
        '/orders/{id}/cancel': {
          parameters: [{ ...id[0], name: 'id' }],
          post: { operationId: 'cancelOrder', ...answers(ref('Order')) },
        },
        '/orders/{id}/unlock': {
          parameters: [{ ...id[0], name: 'id' }],
          post: { operationId: 'unlockOrder', ...answers(ref('Order')) },
        },
        '/orders/{id}/print': {
          parameters: [{ ...id[0], name: 'id' }],
          post: { operationId: 'printOrder', ...answers(ref('Order')) },
        },
      },
      {},
      {
        Order: {
          type: 'object',
          required: ['id'],
          properties: { id: string, status: { type: 'string', enum: ['open', 'cancelled'] }, locked: { type: 'boolean' } },
        },
      },
    ),
    infers: {
      '/states/Order/transitions/cancel': { from: ['open', 'cancelled'], to: 'cancelled' },
      '/resources/Order/fields/locked/set': { unlockOrder: 'false' },
    },
    leaves: ['/states/Order/transitions/print'],
  },
  'renamed-members': {
    source: service(
      {
        '/toys': { get: answers(list(ref('Toy'))) },
        '/shops/{shopId}/toys': {
          post: {
            parameters: [{ name: 'shopId', in: 'path', required: true, schema: string }],
            ...sends({
              type: 'object',
              properties: { FriendlyName: string, 'max-size': string, MaxSize: string, Colour: string },
            }),
            ...answers(ref('Toy'), '201'),
          },
        },
        '/toys/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, schema: string }],
          get: answers(ref('Toy')),
          patch: {
            ...sends({ type: 'object', properties: { FriendlyName: string, friendly_name: string } }),
            ...answers(ref('Toy')),
          },
        },
      },
      {},
      {
        Toy: {
          type: 'object',
          properties: { id: string, friendly_name: string, max_size: string, shop_id: string, colour_name: string },
          required: ['id'],
        },
      },
    ),
    infers: {
      [endpoint('POST /shops/{shopId}/toys', 'takes')]: { FriendlyName: 'friendly_name' },
      '/resources/Toy/fields/shop_id/set': { create: 'params.shopId' },
    },
    leaves: [endpoint('PATCH /toys/{id}', 'takes'), endpoint('POST /shops/{shopId}/toys', 'takes/Colour')],
  },
  'expandable-fields': {
    source: service(
      {
        ...one,
        '/owners/{owner}': {
          get: { parameters: [{ name: 'expand', in: 'query', schema: list(string) }], ...answers(ref('Owner')) },
        },
      },
      {},
      { Owner: { type: 'object', properties: { id: string, pet: { anyOf: [{ type: 'string', maxLength: 9 }, ref('Pet')] } } } },
    ),
    infers: {
      '/resources/Owner/fields/pet/ref': 'Pet',

      [endpoint('GET /owners/{owner}', 'expand')]: { parameter: 'expand' },
    },
  },
  'value-without-identifier': { source: service({}), infers: { '/resources/Pet/identifier': 'none' } },
  'error-payload': {
    source: service({
      '/pets': {
        get: {
          responses: {
            200: json(list(ref('Pet'))),
            default: json({ type: 'object', properties: { code: string, message: string, status: { type: 'integer' } } }),
          },
        },
      },
    }),
    infers: { '/errors/payload/data': { code: 'code', message: 'message', status: 'status' } },
  },
  'error-codes': {
    source: service({
      '/pets': {
        get: { responses: { 200: json(list(ref('Pet'))), 404: json({ type: 'object', properties: { message: string } }) } },
      },
    }),
    infers: { '/errors/codes/not_found': { status: 404, when: ['resource.missing'] } },
  },
  'event-envelope': {
    source: service(
      {},
      {
        webhooks: {
          'pet.born': { post: sends({ type: 'object', properties: { type: string, created_at: string, data: ref('Pet') } }) },
        },
      },
    ),
    infers: { '/events/delivery/envelope': { type: 'event.kind', created_at: 'event.at', data: 'event.payload' } },
  },
  'rate-limit-headers': {
    source: service({
      '/pets': {
        get: { responses: { 200: { description: 'ok', headers: { 'RateLimit-Limit': { schema: { type: 'integer' } } } } } },
      },
    }),
    infers: {},
    asks: { '/limits/rate': 'Answers carry `RateLimit-Limit`: how many requests may be made in which time?' },
    leaves: ['/limits/rate'],
  },
  'document-version': {
    source: service({}, { info: { title: 'T', version: '2024-05-01' } }),
    infers: { '/versioning/versions': { '2024-05-01': { current: true } } },
  },
  'public-operations': {
    source: {
      ...(service({
        '/pets': { get: { operationId: 'pets', ...answers(string) } },
        '/me': { get: { security: [{ key: [] }], ...answers(string) } },
      }) as Words),
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    },
    infers: { '/authentication/public': ['pets'] },
  },
  'header-credentials': {
    source: service({
      '/pets': { parameters: [inHeader('X-Api-Key'), inHeader('X-App-Id')], get: answers(string), post: answers(string) },
      '/toys': { parameters: [inHeader('X-Api-Key'), inHeader('X-App-Id')], get: answers(string), post: answers(string) },
      '/health': { get: { operationId: 'health', ...answers(string) } },
    }),
    infers: {
      '/authentication/schemes/X-Api-Key': { header: 'X-Api-Key' },
      '/authentication/accept': [['X-App-Id', 'X-Api-Key']],
      '/authentication/public': ['health'],
    },
  },
};

/** Rules whose findings an earlier rule writes down with its own. */
const saidByOthers: Readonly<Record<string, string>> = { 'page-parameters': 'list-envelope' };

for (const { name } of inferenceRules) {
  test(`${name} infers what it says, with where it was read off and how sure that is, and leaves the rest`, () => {
    const trial = trials[name];
    assert.ok(trial, `${name} has no trial`);
    holdTo(trial);
    const errors = check(take(trial.source)).findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      errors.map(({ message }) => message),
      [],
    );
  });

  const other = saidByOthers[name];
  test(`what is said of ${name} ${other === undefined ? 'does not come to be without it' : `is said by ${other}`}`, () => {
    const trial = trials[name];
    assert.ok(trial, `${name} has no trial`);
    const silenced = inferenceRules.find((one) => one.name === (other ?? name));
    assert.ok(silenced);
    const silence = mock.method(silenced, 'infer', () => {});
    try {
      assert.throws(() => holdTo(trial), assert.AssertionError);
    } finally {
      silence.mock.restore();
    }
  });
}

/** What came of a source is what the trial says. */
function holdTo({ source, infers, asks = {}, leaves = [] }: Trial): void {
  const { tree } = take(source);
  const evidence = new Map(((tree.evidence ?? []) as readonly Record<string, unknown>[]).map((row) => [row.fact, row]));
  const foundAt = (fact: string): unknown => JSON.parse(JSON.stringify(valueAt(tree, fact) ?? null));
  for (const [fact, value] of Object.entries(infers)) {
    assert.partialDeepStrictEqual(foundAt(fact), value, fact);
    const row = evidence.get(fact);
    assert.ok(row, `${fact} has no evidence`);
    assert.ok(typeof row.from === 'string' && Number(row.confidence) > 0 && Number(row.confidence) < 1, fact);
  }
  for (const [fact, question] of Object.entries(asks)) assert.deepEqual(foundAt(fact), { $open: question }, fact);
  for (const fact of leaves) assert.equal(evidence.has(fact), false, fact);
}

test('paths with versions of their own are about the same things, unless an operation is there in two versions', () => {
  const paths = {
    '/v5/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet')) } },
    '/v4/pets': { get: answers(list(ref('Pet'))) },
    '/v5/pets/{petId}': { parameters: id, get: answers(ref('Pet')) },
    '/v6/pets/{pet}': { parameters: [{ ...id[0], name: 'pet' }], delete: { responses: { 204: { description: 'Gone' } } } },
  };
  const does = (source: Source, key: string) => valueAt(take(source).tree, endpoint(key, 'does'));
  assert.equal(does(service(paths), 'DELETE /v6/pets/{pet}'), 'delete Pet');
  assert.equal(does(service(paths), 'GET /v4/pets'), 'list Pet');
  const again = { ...paths, '/v7/pets': { post: { ...sends(string), ...answers(string) } } };
  assert.equal(does(service(again), 'DELETE /v6/pets/{pet}'), undefined);
});

test('where nothing tells of a rate, nothing asks for it', () => {
  const { tree } = take(service({ '/pets': { get: { responses: { 200: { description: 'ok', headers: { 'X-Pet': {} } } } } } }));
  assert.equal(valueAt(tree, '/limits/rate'), undefined);
});

test('docs/inference.md has one row a rule, in the order in which they are applied, and says what the rule says', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/inference.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (.+?) \|$/gm)].map(([, name, says]) => ({
    name,
    says: says?.replaceAll('\\|', '|'),
  }));
  assert.deepEqual(
    rows,
    inferenceRules.map(({ name, says }) => ({ name, says })),
  );
});
