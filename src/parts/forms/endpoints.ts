import { Type } from 'typebox';
import { separators } from '../parameters.ts';
import { AcceptForm } from './authentication.ts';
import { deprecation, schemaWords, shapeRef } from './shape.ts';
import { cel, exampled, fact, keys, listing, namedForm, ref, value, Words } from './standing.ts';

const { example: _example, ...parameterSchemaWords } = schemaWords;

const ParameterForm = Type.Union([
  Type.String(),
  keys({
    ...parameterSchemaWords,
    in: Type.Union([Type.Literal('path'), Type.Literal('query'), Type.Literal('header'), Type.Literal('cookie')]),
    required: Type.Boolean(),
    default: Type.Unknown(),
    filters: Type.String({
      description:
        'The field that it filters by, or a path: through references (`customer.email`), and by `RESOURCE.FIELD` to the rows that refer to this one (`line.invoice.price`). `none` where it is called like a field and filters by none.',
    }),
    keeps: cel('which rows are shown: a condition over `value`, what was sent, and `resource`'),
    search: Type.Union([Words], {
      description: 'The fields in which all words that are sent have to stand, whatever their case.',
    }),
    split: Type.Union(
      separators.map((one) => Type.Literal(one)),
      { description: 'What stands between several values in one parameter.' },
    ),
    match: Type.Union([Type.Literal('any'), Type.Literal('all')], {
      description: 'Whether one of several values is enough, or all have to be there; `any` unless said.',
    }),
    ignore_case: Type.Boolean({ description: 'Texts are compared whatever their case.' }),
    zone: Type.String({ description: 'The time zone (an IANA name) in which a date that is sent is meant.' }),
    op: Type.Union(['=', '!=', '<', '<=', '>', '>=', 'in', 'prefix', 'contains'].map((op) => Type.Literal(op))),
    sorts: Type.Union([Type.Boolean(), Type.Record(Type.String(), Type.String())], {
      description:
        'It names the field to sort by; a leading - turns the order. Or the fields by names of its own: `{ created: created_at }`.',
    }),
    directs: Type.String({ description: 'The parameter that sorts, whose order `desc` turns and `asc` leaves.' }),
    style: Type.Union(
      ['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'].map((style) => Type.Literal(style)),
    ),
    explode: Type.Boolean(),
    deprecated: deprecation,
    readOnly: Type.Boolean(),
  }),
]);

const DataForm = Type.Union([namedForm(ref<unknown>('made')), cel('the whole')]);

const AnswerForm = Type.Unsafe<unknown>({
  anyOf: [
    { $ref: '#/$defs/shape' },
    { type: 'array', items: { $ref: '#/$defs/answer' } },
    { $ref: '#/$defs/answer' },
    { enum: ['none', 'any'] },
  ],
});

/** One stated answer in its full form. */
export const FullAnswerForm = keys({
  shape: Type.Unsafe<unknown>({ anyOf: [{ $ref: '#/$defs/shape' }, { enum: ['none', 'any'] }] }),
  data: DataForm,
  headers: namedForm(
    Type.Union([
      cel('the value of this header'),
      keys({
        shape: Type.Unsafe<unknown>({ ...shapeRef }),
        data: cel('the value of this header'),
        required: Type.Boolean({ description: 'Whether the answer has it; it has unless this is false.' }),
      }),
    ]),
  ),
  produces: Words,
  if: cel('when this is the answer'),
  example: Type.Unknown(),
  stream: Type.Unsafe<unknown>({
    ...shapeRef,
    description: 'The shape of each piece, where the answer is given as a stream of events or lines.',
  }),
  examples: namedForm(Type.Unknown(), 'Whole bodies as they may be answered, by name; a stand-in shows them.'),
});

const keyForm = Type.Record(Type.String(), Type.String(), {
  description:
    'Fields that are unique together, through references too, and the path parameters that they are: `{ owner.login: owner, name: repo }`.',
});

const endpointWords = {
  does: value(
    Type.String(),
    'create | read | list | update | replace | upsert | delete RESOURCE, a transition (buy parcel), handler NAME, or reply.',
  ),
  as: Type.String({ description: 'The name of the operation.' }),
  parameters: fact(namedForm(value(ParameterForm)), 'Its parameters.'),
  identity: Type.Union([cel('the identifier of the row that is meant'), keyForm], {
    description: 'Which row is meant: an expression for its identifier, or the fields by which it is found.',
  }),
  moved: cel('the identifier of the row that is meant, where the path names none: who may read it is told its address'),
  request: fact(Type.Unsafe<unknown>({ ...shapeRef }), 'The shape of the request body.'),
  takes: Type.Union([Type.String(), Type.Record(Type.String(), Type.String())], {
    description:
      'The member of the stated body that holds the fields of the row: `data`, `data.attributes`. Or the fields that members of other names stand for, or their places inside of one: `{ FriendlyName: friendly_name, title: attributes.title }`.',
  }),
  body: Type.Union([Type.Literal('required'), Type.Literal('optional')], {
    description: 'Whether a request may go without its stated body; required unless said.',
  }),
  response: fact(namedForm(AnswerForm), 'The answers, by status.'),
  accept: fact(
    AcceptForm,
    'What is accepted here instead of what the document accepts: one scheme, or all of a list inside the list.',
  ),
  consumes: Words,
  produces: Type.Union([Words], {
    description: 'The media types of its answers; `always` = they are what they are, whatever Accept says.',
  }),
  headers: namedForm(cel('the value of this header'), 'Header fields of every answer, refusals too.'),
  order: Type.Union([Words], { description: 'The fields that a list is sorted by; a leading - turns the order.' }),
  ties: Type.Union([Type.Literal('oldest'), Type.Literal('newest')], {
    description: 'Which of rows that the order does not tell apart comes first: the one made first, unless `newest`.',
  }),
  in: Type.Union([Words], { description: 'The states in which it may happen.' }),
  if_match: Type.Union([Type.Literal('required'), Type.Literal('accepted'), Type.Literal('none')]),
  etag: Type.Union([Type.Literal('strong'), Type.Literal('weak'), Type.Literal('none')]),
  cache: Type.String({ description: 'Cache-Control of its answers.' }),
  idempotency: fact(keys({ header: Type.String(), keep: Type.String(), required: Type.Boolean() }), 'Idempotency keys.'),
  read_only: Type.Union([Type.Literal('ignore'), Type.Literal('refuse')], {
    description: 'What becomes of fields that are sent and that the caller cannot write: ignored, unless they are refused.',
  }),
  exists: Type.Literal(200, {
    description: 'Where a row that is there holds the unique values, a creation answers with it, and changes nothing.',
  }),
  empty: Type.Union([Type.Literal('value'), Type.Literal('removes')], {
    description: 'What an empty text in a form is: a value, unless it takes its member away.',
  }),
  counts: Type.Literal('always', {
    description: 'An update is a change also where it changes nothing: it stores, sets and emits.',
  }),
  expand: fact(
    keys({
      parameter: Type.String({ description: 'The query parameter; one that ends with [] takes numbered items too.' }),
      depth: Type.Integer({ minimum: 1, maximum: 8 }),
      member: Type.String({ description: 'The member of a body that asks for the same.' }),
      below: Type.String({ description: 'What paths begin with in lists: the member that holds the rows.' }),
    }),
    'Which references may be shown whole.',
  ),
  select: fact(
    keys({ parameter: Type.String({ description: 'The query parameter that names the fields, parted by commas.' }) }),
    'Callers choose the fields that its answer shows.',
  ),
  pagination: ref<unknown>('pagination'),
  errors: fact(Words, "The service's own errors that it may answer with."),
  deprecated: deprecation,
};

export const EndpointForm = exampled(keys(endpointWords), { does: 'list parcel' });

export const EndpointsForm = fact(
  listing(value(ref('endpoint')), {
    defaults: namedForm(ref('endpoint'), 'What holds for every endpoint of a method, or for `all`.'),
    under: namedForm(
      namedForm(keyForm, 'The resource of which the prefix names a row.'),
      'What the paths below a prefix name, by prefix: `"/repos/{owner}/{repo}": { repository: { owner.login: owner, name: repo } }`.',
    ),
  }),
  'Part 4: endpoints, by method and path.',
);
