import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { readEffect } from '../../../parts/effects.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint, shapeOfAnswer, successOf } from './context.ts';
import { wordsOfName } from './paths.ts';
import { documentFields } from './rows.ts';

/** `{ data: { name } }`, `{ customer: { email } }`: the row stands in one member of what is sent. */
export const requestEnvelope: InferenceRule = {
  name: 'request-envelope',
  says: 'A body whose one map shares fields with the resource, and which has none of its fields itself, holds the row in that member; so does the one member of a body that the answer has too.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect) || !written.has(effect.verb) || endpoint.request === undefined) continue;
      const answer = shapeOfAnswer(endpoint, successOf(endpoint));
      const member = memberOfRow(context, endpoint.request, effect.resource, answer);
      if (member === undefined) continue;
      endpoint.takes = member;
      context.trail.infer(below(placeOfEndpoint(operation), 'takes'), requestEnvelope.name, operation.map.at, 0.9);
    }
  },
};

const written: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert']);

/** The one member of a body that holds the fields of a row. */
function memberOfRow(context: InferenceContext, request: Json, resource: string, answer: Json | undefined): string | undefined {
  const sent = context.written.propertiesOf(request)?.all ?? {};
  const fields = documentFields(context.resources, resource);
  const names = Object.keys(sent);
  const answered = context.written.propertiesOf(answer)?.all ?? {};
  // What the answer holds the thing in holds it in the body too, also where most of what is sent of it is shown otherwise.
  const isSame = (name: string) => names.length === 1 && Object.hasOwn(answered, name) && !Object.hasOwn(fields, name);
  const enclosing = names.filter((name) => isRow(context, sent[name], resource, fields, isSame(name)));
  const [only] = enclosing;
  if (only === undefined || enclosing.length > 1) return undefined;
  if (!names.some((name) => Object.hasOwn(fields, name))) return only;
  // A field of the row may be called like the envelope of the answer, which then is that of the body too.
  return isSame(only) || (names.length === 1 && isCalled(only, resource)) ? only : undefined;
}

/** A map that is the resource, or of whose members most are fields of it; one is enough where the answer has a member of its name. */
function isRow(
  { written }: InferenceContext,
  shape: Json | undefined,
  resource: string,
  fields: Readonly<Record<string, Json>>,
  isSame: boolean,
) {
  if (shape === undefined || written.itemsOf(shape) !== undefined) return false;
  if (written.resourceOf(shape) === resource) return true;
  const members = Object.keys(written.propertiesOf(shape)?.all ?? {});
  const shared = members.filter((name) => Object.hasOwn(fields, name)).length;
  return shared > 0 && (isSame || shared * 2 >= members.length);
}

function isCalled(member: string, resource: string): boolean {
  return wordsOfName(resource).join('').endsWith(wordsOfName(member).join(''));
}
