import type { JsonMap } from '../document/document.ts';
import { type Answer, isOfChosen } from '../parts/answers.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import { fitsAny } from '../parts/shapes/branches.ts';
import type { Spec } from '../parts/spec.ts';
import { errorSchema, payloadSchema } from './json-schema/write/payload-schemas.ts';
import { type SchemaWriter, writeSchemas } from './json-schema/write/schema-writer.ts';
import type { SchemaView } from './json-schema/write/shape-schema.ts';

/**
 * One self-contained JSON Schema 2020-12 with a definition for everything that travels: each resource as it is answered, made and
 * changed, and as what a caller chose of it, the stated bodies and answers of endpoints, the payload of each kind of event, and the refusal.
 */
export function toJsonSchemas(spec: Spec): JsonMap {
  const writer = writeSchemas(spec, { prefix: '#/$defs/' });
  for (const [name] of entriesOf(spec.resources.all)) for (const view of views) writer.resource(name, view);
  for (const [, { does, select }] of entriesOf(spec.endpoints.all)) {
    const resource = resourceOfEffect(statedValue(does));
    if (select && resource !== undefined) writer.resource(resource, 'chosen');
  }
  defineBodies(spec, writer);
  for (const [name, kind] of entriesOf(spec.events.kinds)) define(writer, `${name}_payload`, payloadSchema(kind, writer));
  define(writer, 'error', errorSchema(spec, writer));
  const purpose = statedValue(spec.purpose.purpose);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...(spec.title !== '' && { title: spec.title }),
    ...(purpose !== undefined && { description: purpose }),
    $defs: writer.definitions(),
  };
}

const views: readonly SchemaView[] = ['answer', 'create', 'update'];

/** What endpoints state of their own beside the shapes of resources. */
function defineBodies(spec: Spec, writer: SchemaWriter): void {
  for (const [, endpoint] of entriesOf(spec.endpoints.all)) {
    const { operation, request, response } = endpoint;
    if (isStated(request)) define(writer, `${operation}_request`, writer.shape(request.value, 'create'));
    for (const answer of statedValue(response) ?? []) {
      const schema = answerSchema(endpoint, answer, writer);
      if (schema) define(writer, `${operation}_${answer.status}`, schema);
    }
  }
}

/** What is stated, or, where that is the row itself and its caller may choose, what was chosen of it. */
function answerSchema(endpoint: Endpoint, answer: Answer, writer: SchemaWriter): JsonMap | undefined {
  if (!isStated(answer.shape)) return undefined;
  const whole = writer.shape(answer.shape.value, 'answer');
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const isWhole = resource === undefined || !isOfChosen(endpoint, answer);
  return isWhole ? whole : fitsAny<JsonMap>([whole, writer.resource(resource, 'chosen')]);
}

function define(writer: SchemaWriter, name: string, schema: JsonMap | undefined): void {
  if (schema) writer.define(name, schema);
}
