import type { JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, type OpenMap } from '../../../document/values.ts';
import { made } from '../read/reader.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint } from './context.ts';

/** `Output only. When it was made.`, `When it was made. Read-only.`: what the words about a member say, where no keyword does. */
export const membersSaid: InferenceRule = {
  name: 'members-said',
  says: 'A member whose words begin with `Output only` or `Read-only`, or say that or `Populated by the system` in a sentence of its own or in brackets, is read-only, and one whose words begin with `Input only` or `Write-only` is never shown.',
  infer(context) {
    for (const [name, resource] of Object.entries(context.resources))
      if (isMap(resource) && isMap(resource.fields))
        mark(context, made(resource.fields), below(below('/resources', name), 'fields'), 0);
  },
};

function mark(context: InferenceContext, members: OpenMap, at: Pointer, depth: number): void {
  for (const [name, member] of Object.entries(members)) {
    if (!isMap(member)) continue;
    const place = below(at, name);
    if (depth < depthMost && isMap(member.properties))
      mark(context, made(member.properties), below(place, 'properties'), depth + 1);
    const word = wordOf(member);
    if (word === undefined) continue;
    members[name] = { ...member, [word]: true };
    context.trail.infer(below(place, word), membersSaid.name, context.trail.origin(place) ?? '', 0.8);
  }
}

const depthMost = 8;

function wordOf({ description, readOnly, writeOnly }: JsonMap): 'readOnly' | 'writeOnly' | undefined {
  if (typeof description !== 'string' || readOnly !== undefined || writeOnly !== undefined) return undefined;
  if (saysShown.test(description)) return 'readOnly';
  return saysSent.test(description) ? 'writeOnly' : undefined;
}

const saysShown = new RegExp(
  [
    String.raw`^\W*(?:(?:required|optional|immutable)\.\s*)?(?:output|read)[- ]?only\b(?!\s+\w)`,
    // A sentence of its own, or in brackets: `The time of it (read only).`
    String.raw`[.;:(\[\n]\s*(?:output|read)[- ]?only\s*(?:[.;,)\]\n]|$)`,
    String.raw`(?:^|[.;\n])\s*(?:populated|generated|assigned|set) by the (?:system|server|service|api)\s*(?:[.;,\n]|$)`,
  ].join('|'),
  'i',
);
const saysSent = /^\W*(?:(?:required|optional|immutable)\.\s*)?(?:input|write)[- ]?only\b(?!\s+\w)/i;

/** `Required. What it is called.`: what a request has to have, where no keyword says it. */
export const requiredSaid: InferenceRule = {
  name: 'required-said',
  says: 'A member or a parameter of a query whose words begin with `Required.` is required, but for what tells a thing from others and what is read-only.',
  infer(context) {
    for (const [name, resource] of Object.entries(context.resources))
      if (isMap(resource) && isMap(resource.fields)) requireFields(context, name, resource, resource.fields);
    for (const operation of context.operations) {
      const { parameters } = endpointOf(context, operation);
      if (!isMap(parameters)) continue;
      const open = made(parameters);
      for (const [name, parameter] of Object.entries(parameters)) {
        if (!isMap(parameter) || parameter.in !== 'query' || parameter.required !== undefined) continue;
        if (typeof parameter.description !== 'string' || !saysRequired.test(parameter.description)) continue;
        open[name] = { ...parameter, required: true };
        const at = below(below(below(placeOfEndpoint(operation), 'parameters'), name), 'required');
        context.trail.infer(at, requiredSaid.name, operation.map.at, 0.8);
      }
    }
  },
};

function requireFields(context: InferenceContext, name: string, resource: JsonMap, fields: JsonMap): void {
  const stated = Array.isArray(resource.required) ? resource.required : [];
  const identifier = isMap(resource.identifier) ? resource.identifier.field : undefined;
  const said = Object.entries(fields).flatMap(([field, shape]) => {
    if (!isMap(shape) || field === identifier || stated.includes(field)) return [];
    const isLeftOut = shape.readOnly === true || shape.visible !== undefined || shape.set !== undefined;
    return typeof shape.description === 'string' && !isLeftOut && saysRequired.test(shape.description) ? [field] : [];
  });
  if (said.length === 0) return;
  context.resources[name] = { ...resource, required: [...stated, ...said] };
  const at = below('/resources', name);
  context.trail.infer(below(at, 'required'), requiredSaid.name, context.trail.origin(at) ?? '', 0.8);
}

const saysRequired = /^\W*(?:input only\.\s*)?required[.:;]/i;
