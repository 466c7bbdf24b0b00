import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { timeFormat } from '../../../kinds/formats/all.ts';
import { readEffect } from '../../../parts/effects.ts';
import { describedWords } from '../../../parts/samples/described-words.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { actSegments, formsOf, opposite, participles, plainOf, wordShownAfter } from './act-words.ts';
import {
  collectionAt,
  endpointOf,
  hasSibling,
  type InferenceContext,
  type InferenceRule,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { makesOne } from './creations.ts';
import { infer } from './effects.ts';
import { tellsOperation } from './envelopes.ts';
import { isInCapitals } from './error-components.ts';
import { isAlike } from './memberships.ts';
import { isCopying, pathParts, shapeOfPath, wholeParameter, wordsOfName } from './paths.ts';
import { stateField } from './renamed-members.ts';
import { documentFields, isAnyMap, shownRowOf } from './rows.ts';
import { wordsOf } from './shapes.ts';

/** `POST /invoices/{invoice}/pay`: whatever else it does, it answers with the thing as it is afterwards. */
export const actionChangesRow: InferenceRule = {
  name: 'action-changes-row',
  says: 'POST, PUT or PATCH below one thing that answers with that same resource, or writes the thing out alike, changes the thing, or makes another where it is called a copy; so does an act that takes nothing of the thing and answers nothing of it (or a few members, or an operation that takes long), where a flag or a word of a status is called like it; and one to which mostly fields of the thing are sent, and which answers nothing, sets these. A word that gathers acts (`/lifecycle/`, `/actions/`) is passed over. What it sets off, nothing says.',
  infer(context) {
    for (const operation of context.operations) {
      const about = acting.has(operation.method) ? actedOn(context, operation) : undefined;
      const resource = about !== undefined && makesOne(context, operation, about) ? about : undefined;
      const silent = resource === undefined ? silentlyActedOn(context, operation) : undefined;
      if (silent !== undefined) infer(context, operation, 'update', silent, actionChangesRow.name, 0.6);
      if (resource === undefined) continue;
      if (isCopying(operation.path)) infer(context, operation, 'create', resource, actionChangesRow.name, 0.7);
      else infer(context, operation, 'update', resource, actionChangesRow.name, 0.4);
    }
  },
};

const acting: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

function actedOn(context: InferenceContext, operation: SourceOperation): string | undefined {
  const segments = actSegments(operation.path);
  const last = segments.findLastIndex((segment) => wholeParameter(segment) !== undefined);
  if (last < 1 || last !== segments.length - 2) return undefined;
  const collection = collectionAt(context, `/${segments.slice(0, last).join('/')}`);
  return collection && answersWith(context, operation, collection.resource) ? collection.resource : undefined;
}

/** `POST /todos/{todo}/completion` sets `completed`, and DELETE there clears it; `POST /users/{id}/suspend` where a user may be `SUSPENDED`: nothing of the thing is sent, and nothing of it answered. */
function silentlyActedOn(context: InferenceContext, operation: SourceOperation): string | undefined {
  const isTakenBack = operation.method === 'DELETE';
  if (!acting.has(operation.method) && !isTakenBack) return undefined;
  const segments = actSegments(operation.path);
  const verb = segments.at(-1) ?? '';
  if (wholeParameter(segments.at(-2)) === undefined) return undefined;
  const resource = collectionAt(context, `/${segments.slice(0, -2).join('/')}`)?.resource;
  if (resource === undefined) return undefined;
  if (operation.body !== undefined && sendsFields(context, operation, resource)) return resource;
  if (!isCalledLike(context, resource, verb, !isTakenBack)) return undefined;
  return asksNothing(context, operation, resource) && tellsHowItWent(context, operation) ? resource : undefined;
}

/** Whether what is sent need have no member, and has none of the thing but what tells which it is. */
function asksNothing(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  if (operation.body === undefined) return true;
  const { request } = endpointOf(context, operation);
  const sent = context.written.propertiesOf(request);
  if (sent === undefined) return request === undefined || isAnyMap(context.written, request);
  const fields = documentFields(context.resources, resource);
  const own = new Set(['id', 'name', ...pathParts(operation.path).parameters]);
  return sent.required.length === 0 && Object.keys(sent.all).every((name) => own.has(name) || fields[name] === undefined);
}

/** `POST /pools/{id}/resize` with `{ target_nodes }`, which a pool has: whether mostly fields of a thing are sent to an act on it, and nothing is answered. */
function sendsFields(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const endpoint = endpointOf(context, operation);
  const sent = context.written.propertiesOf(endpoint.request);
  const names = Object.keys(sent?.all ?? {});
  const fields = documentFields(context.resources, resource);
  const own = names.filter((name) => fields[name] !== undefined);
  // What is called like a member is that member.
  const isMember = fields[actSegments(operation.path).at(-1) ?? ''] !== undefined;
  const isAct =
    !isMember && operation.method !== 'DELETE' && !hasSibling(context, operation, 'GET') && successOf(endpoint) !== '201';
  if (!isAct || 2 * own.length <= names.length || !saysNothing(context, operation)) return false;
  const within = `${shapeOfPath(operation.path)}/`;
  return !context.byPath.keys().some((path) => path.startsWith(within));
}

/** Whether an answer has nothing in it, a few members that say how an act went, or those of an operation that takes long. */
function tellsHowItWent(context: InferenceContext, operation: SourceOperation): boolean {
  if (saysNothing(context, operation)) return true;
  const endpoint = endpointOf(context, operation);
  const shown = context.written.propertiesOf(shapeOfAnswer(endpoint, successOf(endpoint)))?.all;
  return shown !== undefined && (Object.keys(shown).length <= shownMost || tellsOperation(context, shown));
}

/** Whether a flag of a thing, or a word of its state, is called like an act. */
function isCalledLike(context: InferenceContext, resource: string, verb: string, orStates: boolean): boolean {
  const forms = formsOf(verb);
  const fields = documentFields(context.resources, resource);
  const isFlag = Object.keys(fields).some(
    (name) => context.written.typeOf(fields[name]) === 'boolean' && forms.has(plainOf(name)),
  );
  const states = Object.keys(fields).filter((name) => stateNames.includes(name) || name === stateField(resource, fields));
  return isFlag || (orStates && states.some((name) => wordAfter(context, fields[name], name, verb) !== undefined));
}

/** Whether a method that is told a thing, and answers with nothing more than its state, moves it to a state that is called like the method: `StopServer`. */
export function movesState(context: InferenceContext, operation: SourceOperation, resource: string, verb: string): boolean {
  const endpoint = endpointOf(context, operation);
  const shown = context.written.propertiesOf(shapeOfAnswer(endpoint, successOf(endpoint)))?.all ?? {};
  return Object.keys(shown).length <= shownMost && isCalledLike(context, resource, verb, true);
}

/** So many members has an answer at most that says how an act went. */
const shownMost = 3;

/** Whether an answer has nothing in it, or a map of which nothing is known. */
function saysNothing(context: InferenceContext, operation: SourceOperation): boolean {
  const endpoint = endpointOf(context, operation);
  const shape = shapeOfAnswer(endpoint, successOf(endpoint));
  const members = Object.values(context.written.propertiesOf(shape)?.all ?? {});
  return (
    shape === undefined || (context.written.typeOf(shape) === 'object' && members.every((one) => isAnyMap(context.written, one)))
  );
}

function answersWith(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const endpoint = endpointOf(context, operation);
  const shape = shapeOfAnswer(endpoint, successOf(endpoint));
  const shown = shownRowOf(context.written, shape, 'id');
  if (context.written.resourceOf(shape) === resource || shown?.resource === resource) return true;
  return shown !== undefined && shown.resource === undefined && isAlike(context, shown.shape, resource);
}

/** `DELETE /payments/{id}`, called `cancel-payment`, which answers with the payment: it is still there. */
export const deletionKeepsRow: InferenceRule = {
  name: 'deletion-keeps-row',
  says: 'DELETE that is called after another act, and answers with the whole thing, changes the thing and leaves it there.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'DELETE') continue;
      const { last, parent } = pathParts(operation.path);
      const collection = last === undefined ? undefined : collectionAt(context, parent);
      const [verb = ''] = wordsOfName(operation.id ?? '');
      if (!collection || !keeping.has(verb) || !answersWith(context, operation, collection.resource)) continue;
      infer(context, operation, 'update', collection.resource, deletionKeepsRow.name, 0.6);
    }
  },
};

const keeping: ReadonlySet<string> = new Set([
  'cancel',
  'archive',
  'revoke',
  'close',
  'disable',
  'deactivate',
  'suspend',
  'void',
  'expire',
]);

/** `POST /batches/{id}/cancel` where a batch may be `cancelled`: that is where it leads. */
export const actionMovesState: InferenceRule = {
  name: 'action-moves-state',
  says: 'An act that changes a thing, and is called like one of its states, moves it there from any other; where a flag is called so, it sets the flag, and the time that is called so. A status of which no words are listed is called as the act usually leaves it, in capitals where the words of nearly all lists of the source are.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      const verb = effect?.verb === 'update' ? verbOf(operation) : undefined;
      if (verb === undefined || !effect || !('resource' in effect)) continue;
      if (!moveState(context, operation, effect.resource, verb)) setFlag(context, operation, effect.resource, verb);
      setTime(context, operation, effect.resource, verb);
    }
    for (const states of Object.values(isMap(context.tree.states) ? context.tree.states : {}))
      if (isMap(states) && moved.has(states) && isMap(states.transitions))
        made(states.transitions).others = { $open: 'What else moves it?' };
  },
};

/** The states whose transitions were found. */
const moved = new WeakSet<object>();

/** The one word of an act: the last of its path, after the thing; of a deletion, the first of its name. */
function verbOf({ path, method, id }: SourceOperation): string | undefined {
  const segments = actSegments(path);
  const last = segments.at(-1) ?? '';
  const before = segments.at(-2);
  if (method === 'DELETE' && wholeParameter(last) !== undefined) return wordsOfName(id ?? '')[0];
  const [act, ...things] = wordsOfName(last);
  if (method === 'POST' && pathParts(path).parameters.length === 0 && things.length > 0) return act;
  if (wholeParameter(before) === undefined || wholeParameter(last) !== undefined) return undefined;
  const words = wordsOfName(last);
  return words.length === 1 ? words[0] : undefined;
}

function moveState(context: InferenceContext, operation: SourceOperation, resource: string, verb: string): boolean {
  const { tree, trail } = context;
  const states = isMap(tree.states) ? tree.states[resource] : undefined;
  if (!isMap(states) || readEffect(`${verb} ${resource}`)?.verb !== 'transition') return false;
  const all = wordsOf(states.states);
  const to = all.find((state) => formsOf(verb).has(state.toLowerCase()));
  if (to === undefined) return false;
  const entry = made(states);
  const known = isMap(states.transitions) && moved.has(states) ? states.transitions : newMap();
  const transitions: OpenMap = Object.assign(newMap(), known, { [verb]: { from: all, to } });
  entry.transitions = transitions;
  moved.add(states);
  const endpoint = endpointOf(context, operation);
  endpoint.as ??= String(endpoint.does);
  endpoint.does = `${verb} ${resource}`;
  const at = below(below(below('/states', resource), 'transitions'), verb);
  trail.infer(at, actionMovesState.name, operation.map.at, 0.7);
  return true;
}

/** `lock` sets `locked`, `unlock` clears it, `enable` clears `disabled`. */
function setFlag(context: InferenceContext, operation: SourceOperation, resource: string, verb: string): void {
  const fields = documentFields(context.resources, resource);
  const isFlag = (name: string) => context.written.typeOf(fields[name]) === 'boolean';
  const forward = Object.keys(fields).find((name) => isFlag(name) && formsOf(verb).has(plainOf(name)));
  const [, undoing] = /^(?:un|de|dis)(\w{3,})$/.exec(verb) ?? [];
  const opposites = [undoing, opposite.get(verb)].flatMap((word) => (word === undefined ? [] : [...formsOf(word)]));
  const name = forward ?? Object.keys(fields).find((one) => isFlag(one) && opposites.includes(plainOf(one)));
  if (name === undefined) {
    setWord(context, operation, resource, verb);
    return;
  }
  const isTakenBack = operation.method === 'DELETE' && wholeParameter(pathParts(operation.path).segments.at(-1)) === undefined;
  setField(context, operation, resource, name, String((forward !== undefined) !== isTakenBack));
}

/** `archive` sets `archived_at` to the time at which it is done. */
function setTime(context: InferenceContext, operation: SourceOperation, resource: string, verb: string): void {
  const fields = documentFields(context.resources, resource);
  const forms = [...formsOf(verb)].flatMap((form) => [`${form}at`, `${form}on`]);
  const name = Object.keys(fields).find((one) => forms.includes(plainOf(one)));
  const isTime = name !== undefined && timeFormat === context.written.expand(fields[name] ?? {}).format;
  if (isTime) setField(context, operation, resource, name, 'now');
}

/** A status that is no state of a machine, since others say what may stand in it, has words all the same. */
function setWord(context: InferenceContext, operation: SourceOperation, resource: string, verb: string): void {
  if (isMap(context.tree.states) && context.tree.states[resource] !== undefined) return;
  const fields = documentFields(context.resources, resource);
  for (const name of stateNames) {
    const known = wordAfter(context, fields[name], name, verb);
    const isFree = known !== undefined && context.written.listedOf(fields[name]) === undefined;
    const word = (isFree ? wordShownAfter(context, operation, name, verb) : undefined) ?? known;
    if (word === undefined || !/^[\w .-]+$/.test(word)) continue;
    setField(context, operation, resource, name, `'${word}'`);
    return;
  }
}

const stateNames = ['status', 'state'];

/** The word that a status has after an act: one that is listed or described and called like it; else, where no words are known, the usual one. */
function wordAfter(context: InferenceContext, shape: Json | undefined, name: string, verb: string): string | undefined {
  const listed = context.written.listedOf(shape);
  const known = wordsOf(listed && [...listed]);
  const isFree = known.length === 0 && shape !== undefined && context.written.typeOf(shape) === 'string';
  const told = isFree ? describedWords(name, context.written.expand(shape).description) : known;
  const usual = isFree && told.length === 0 ? participles.get(verb) : undefined;
  if (usual !== undefined) return isInCapitals(context) ? usual.toUpperCase() : usual;
  return told.find((one) => formsOf(verb).has(one.toLowerCase()));
}

/** Says what an act sets a field to. */
function setField(context: InferenceContext, operation: SourceOperation, resource: string, name: string, value: string): void {
  const fields = documentFields(context.resources, resource);
  const endpoint = endpointOf(context, operation);
  endpoint.as ??= operation.key;
  const shape = fields[name];
  const whole = isMap(shape) ? shape : { type: shape ?? 'boolean' };
  const known = isMap(whole.set) ? whole.set : {};
  made(fields)[name] = { ...whole, set: { ...known, [String(endpoint.as)]: value } };
  const at = below(below(below(below('/resources', resource), 'fields'), name), 'set');
  context.trail.infer(at, actionMovesState.name, operation.map.at, 0.7);
}
