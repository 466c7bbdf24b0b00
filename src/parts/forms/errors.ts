import { Type } from 'typebox';
import { conditions, type ErrorCondition } from '../conditions.ts';
import { orderWords, violationPaths } from '../errors.ts';
import { shapeRef } from './shape.ts';
import { cel, fact, keys, listing, namedForm, ref, value, Words } from './standing.ts';

const NeverForm = Type.Unsafe<unknown>({ anyOf: [{ enum: ['none', 'any'] }, { $ref: '#/$defs/none' }, { $ref: '#/$defs/any' }] });

const headersForm = namedForm(cel('the value of this header'), 'Header fields of the refusal.');

const RuleForm = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  properties: {
    status: value(Type.Integer({ minimum: 200, maximum: 599 }), 'The HTTP status.'),
    when: fact(
      Type.Unsafe<string | string[]>({ anyOf: [{ enum: [...conditions] }, { type: 'array', items: { enum: [...conditions] } }] }),
      'The conditions that it answers.',
    ),
    on: Words,
    if: cel("the service's own condition"),
    message: Type.String(),
    headers: headersForm,
  },
  additionalProperties: true,
  examples: [{ status: 404 }],
});

export const ErrorsForm = fact(
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    properties: {
      payload: fact(
        Type.Unsafe<unknown>({
          anyOf: [
            { const: 'problem' },
            {
              type: 'object',
              properties: {
                shape: shapeRef,
                data: {
                  anyOf: [namedForm(ref<unknown>('made')), cel('the whole')],
                },
              },
              additionalProperties: false,
            },
          ],
        }),
        'problem (RFC 9457), or an own shape.',
      ),
      codes: fact(
        listing(value(Type.Unsafe<unknown>({ anyOf: [RuleForm, { type: 'array', items: RuleForm }] }))),
        'The error codes.',
      ),
      headers: headersForm,
      paths: Type.Unsafe<string>({
        enum: [...violationPaths],
        description: 'How the place of a violation in a body is written: /items/0/price, items.0.price or items[0][price].',
      }),
      order: fact(
        Type.Unsafe<string[]>({ type: 'array', items: { enum: [...orderWords] } }),
        'In which order a request is refused; none is promised where this is not stated.',
      ),
      conditions: keys(
        // The cast holds: the keys are those of the list.
        Object.fromEntries(conditions.map((word) => [word, NeverForm])) as Record<ErrorCondition, typeof NeverForm>,
        'Conditions that never arise (none), or that are left to the implementation (any).',
      ),
    },
    additionalProperties: false,
  }),
  'Part 7: errors.',
);
