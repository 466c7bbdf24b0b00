import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { Response, SourceOperation } from '../read/operation.ts';
import { madeOrNew } from '../read/reader.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint, shapeOfAnswer, successOf } from './context.ts';

/** `POST /things` answers 201 and nothing more is said, where 204 is what the source says of answers without a body. */
export const unsaidAnswer: InferenceRule = {
  name: 'unsaid-answer',
  says: 'A creation that answers 200 or 201, of whose content and headers nothing is said, answers with the thing as reading it does, where other answers of the source are 204; so does a change of such things, where as little is said of it. Where words tell of a place or of an empty body, it has none.',
  infer(context) {
    if (!context.operations.some(({ responses }) => responses.some(({ status }) => status === '204'))) return;
    const read = readAnswers(context);
    const silent = context.operations.flatMap((operation) => silentAnswer(context, operation) ?? []);
    const made = new Set(silent.filter(({ verb }) => verb === 'create').map(({ resource }) => resource));
    for (const { operation, status, verb, resource } of silent) {
      const shown = read.get(resource);
      if (!shown || !made.has(resource) || !(verb === 'create' || changing.has(verb))) continue;
      madeOrNew(endpointOf(context, operation).response)[status] = structuredClone(shown);
      const at = below(below(placeOfEndpoint(operation), 'response'), status);
      context.trail.infer(at, unsaidAnswer.name, operation.map.at, 0.6);
    }
  },
};

function silentAnswer(context: InferenceContext, operation: SourceOperation) {
  const about = effectOf(context, operation);
  const answer = about && operation.responses.find(({ status }) => status === '200' || status === '201');
  return answer && isSilent(answer, operation) ? { operation, status: answer.status, ...about } : undefined;
}

const changing: ReadonlySet<string> = new Set(['update', 'replace', 'upsert']);

function effectOf(context: InferenceContext, operation: SourceOperation) {
  const { does } = endpointOf(context, operation);
  const effect = typeof does === 'string' ? readEffect(does) : undefined;
  return effect && 'resource' in effect ? { verb: effect.verb, resource: effect.resource } : undefined;
}

/** What reading one thing of each resource answers: its shape, and what holds the thing. */
function readAnswers(context: InferenceContext): ReadonlyMap<string, OpenMap> {
  const answers = new Map<string, OpenMap>();
  for (const operation of context.operations) {
    const about = effectOf(context, operation);
    if (about?.verb !== 'read' || answers.has(about.resource)) continue;
    const endpoint = endpointOf(context, operation);
    const status = successOf(endpoint);
    const shape = shapeOfAnswer(endpoint, status);
    const answer = status !== undefined && isMap(endpoint.response) ? endpoint.response[status] : undefined;
    if (shape === undefined || !context.written.propertiesOf(shape)) continue;
    const data = answer !== undefined && isMap(answer) ? answer.data : undefined;
    answers.set(about.resource, Object.assign(newMap(), { shape, ...(data !== undefined && { data }) }));
  }
  return answers;
}

/** Whether neither schema nor header nor word says what an answer has. */
function isSilent({ map, content, headers }: Response, { map: operation, responses }: SourceOperation): boolean {
  if (headers.length > 0 || responses.some(({ status }) => /^2/.test(status) && status !== '200' && status !== '201'))
    return false;
  if (content.some(({ schema, map: media }) => schema.value !== undefined || (media && showsValue(media.value)))) return false;
  return ![map.value, operation.value].some((one) => isMap(one) && saysEmpty(one.description));
}

function showsValue({ example, examples }: JsonMap): boolean {
  const named = isMap(examples) ? Object.values(examples).map((one) => (isMap(one) ? one.value : one)) : [];
  return [example, ...named].some((value) => value !== undefined && value !== null);
}

function saysEmpty(words: Json | undefined): boolean {
  return typeof words === 'string' && /\bLocation\b|\bempty\b|\bno (?:content|body|data)\b|\bwithout (?:a )?body\b/i.test(words);
}
