import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { type Children, type ChildrenTaker, childrenTakers } from '../../parts/children.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { takesChildren } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { itemPlace, namedTwice } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** Fields that show the rows which refer to theirs. */
export const childrenRules: readonly Rule[] = [
  error(
    'resources/children-unknown',
    'It is not said which rows are the children of another.',
    'Write `children: line.invoice`: the rows of line whose field invoice refers to this one.',
    (subject) =>
      eachField(subject, (field, resource) => (field.children ? unknownChildren(subject, field.children, resource) : [])),
  ),
  error(
    'resources/children-order',
    'Children are sorted by what they are not kept with.',
    'Name stored fields of theirs that hold one value.',
    (subject) => eachField(subject, ({ children }) => (children ? wrongOrder(subject, children) : [])),
  ),
  error(
    'resources/children-beside',
    'A word stands beside children that says something of another sort of field, or a word of children stands beside none.',
    'Take it out; children are written where they are of, and beside them stand `order`, `page`, `envelope`, `taken_by`, `readOnly`, `visible`, `minItems` and `maxItems`.',
    (subject) => eachField(subject, (field) => strayWords(subject, field)),
  ),
  error(
    'resources/children-nested',
    'What is shown as a child has children of its own, or shows something whole that has.',
    'Show them at one of the two; the others are listed at an address of their own.',
    (subject) => eachField(subject, ({ children }) => (children ? nested(subject, children) : [])),
  ),
  error(
    'resources/children-replaced',
    'A row that is made with its children is put in place as well, where it is not said what becomes of these.',
    'Let replacements take them: `taken_by: [create, replace]`. Or state the `request`, without them; or let them be `readOnly`, and be made at an address of their own.',
    (subject) => subject.endpoints.flatMap((endpoint) => replaced(subject, endpoint)),
  ),
  error(
    'resources/children-taken',
    'It is said that changes take children, and they cannot, or would leave some of them out that nobody is shown.',
    'Let `maxItems` be no more than `page`, take `readOnly` out, and let creations take them where an upsert may make the row.',
    (subject) => eachField(subject, (field, resource) => wrongTaking(subject, field, resource)),
  ),
  warning(
    'resources/children-taken-by-nothing',
    'A change is to take children that no endpoint makes, or is named twice.',
    'State the endpoint, `PUT /invoices/{id}: { does: replace invoice }`, or take the word out.',
    (subject) => eachField(subject, (field, resource) => idleTakers(subject, field, resource)),
  ),
  error(
    'resources/children-bounds',
    'More children have to be sent with a row than may be.',
    'Let `minItems` be no more than `maxItems`, and no more than 1000.',
    (subject) => eachField(subject, ({ children, at }) => (children ? crossedBounds(children, at) : [])),
  ),
];

function unknownChildren({ names, resources }: Subject, { resource: name, field, at }: Children, parent: Resource): Wrong[] {
  if (field === '') return [{ message: 'It names no field of a resource.', at }];
  const unknown = unstated(names.resources, name, at);
  const child = resources.get(name);
  if (unknown.length > 0 || !child) return unknown;
  if (parent.identifier.standing === 'none')
    return [{ message: `\`${parent.name}\` is a value, which nothing refers to.`, remedy: 'Give it an identifier.', at }];
  if (child.identifier.standing === 'none')
    return [{ message: `\`${name}\` is a value, and has no rows of its own.`, remedy: `Write a list of it: \`[${name}]\`.`, at }];
  const tie = fieldOf(child, field);
  if (!tie) return unstated(fieldVocabulary(child), field, at);
  return tie.ref === parent.name ? [] : [{ message: `\`${field}\` of \`${name}\` does not refer to a \`${parent.name}\`.`, at }];
}

function wrongOrder({ resources }: Subject, { resource, order, at }: Children): Wrong[] {
  const child = resources.get(resource);
  if (!child) return [];
  const place = at.replace(/children$/, 'order');
  return order.flatMap(({ field }): readonly Wrong[] => {
    const stated = fieldOf(child, field);
    if (!stated) return unstated(fieldVocabulary(child), field, place);
    if (!stated.stored) return [{ message: `\`${field}\` of \`${resource}\` is never stored.`, at: place }];
    return [];
  });
}

/** Words about what is written to a field, of which children have none, and those that are of children alone. */
const ofOthers = [
  'default',
  'set',
  'derive',
  'generate',
  'within',
  'immutable',
  'writeOnly',
  'writable',
  'reveal',
  'stored',
  'onDelete',
  'show',
  'ref',
];
const ofChildren = ['order', 'page', 'envelope', 'taken_by'];

function strayWords({ spec }: Subject, { at, children, name }: Field): Wrong[] {
  const stated = valueAt(spec.document.tree, at);
  if (!isMap(stated)) return [];
  const words = (children ? ofOthers : ofChildren).filter((word) => Object.hasOwn(stated, word));
  return words.map((word) => ({
    message: children
      ? `\`${name}\` shows other rows, of which \`${word}\` says nothing.`
      : `\`${word}\` is about children, and \`${name}\` has none.`,
    at: below(at, word),
    onKey: true,
  }));
}

function nested({ resources }: Subject, { resource, at }: Children): Wrong[] {
  const child = resources.get(resource);
  return entriesOf(child?.fields).flatMap(([name, { children, ref, show }]) => {
    if (children) return [{ message: `\`${resource}\` has children itself: \`${name}\`.`, at }];
    const whole = show !== undefined && show !== 'id' && ref !== undefined ? resources.get(ref) : undefined;
    const isHolding = whole && entriesOf(whole.fields).some(([, one]) => one.children !== undefined);
    return isHolding
      ? [{ message: `\`${name}\` of \`${resource}\` shows a whole \`${ref}\`, which shows its children.`, at }]
      : [];
  });
}

function replaced({ resources }: Subject, { does, request, at }: Subject['endpoints'][number]): Wrong[] {
  const effect = statedValue(does);
  if ((effect?.verb !== 'replace' && effect?.verb !== 'upsert') || isStated(request)) return [];
  const fields = entriesOf(resources.get(effect.resource)?.fields);
  const taken = fields.find(([, field]) => takesChildren(field) && !takesChildren(field, 'replace'));
  if (!taken) return [];
  return [{ message: `\`${taken[0]}\` of \`${effect.resource}\` is sent with a new one.`, at: below(at, 'does') }];
}

/** What is wrong with the changes that are to take children. */
function wrongTaking({ spec, endpoints }: Subject, field: Field, { name }: Resource): Wrong[] {
  const { children, readOnly, at } = field;
  const place = below(at, 'taken_by');
  if (!children || valueAt(spec.document.tree, place) === undefined) return [];
  if (readOnly) return [{ message: `\`${field.name}\` is read-only, and taken by nothing.`, at: place, onKey: true }];
  const isChanged = children.takenBy.some((taker) => taker !== 'create');
  const wrong: Wrong[] = [];
  if (isChanged && children.most > children.page)
    wrong.push({
      message: `Up to ${children.most} are taken and ${children.page} shown: who sends back what it is shown leaves out the others.`,
      remedy: `Write \`maxItems: ${children.page}\`, or let \`page\` be ${children.most}.`,
      at: place,
      onKey: true,
    });
  const isMade = endpoints.some(({ does }) => {
    const effect = statedValue(does);
    return effect?.verb === 'upsert' && effect.resource === name;
  });
  if (isMade && takesChildren(field, 'replace') && !takesChildren(field))
    wrong.push({ message: `An upsert makes a \`${name}\` too, and creations take none.`, at: place, onKey: true });
  return wrong;
}

/** The operations of a row by which each change comes about. */
const verbsOf: Readonly<Record<ChildrenTaker, readonly string[]>> = {
  create: ['create', 'upsert'],
  update: ['update'],
  replace: ['replace', 'upsert'],
};

/** The changes that are said to take children and never come about, and those that are said twice. */
function idleTakers(subject: Subject, { children, readOnly, at }: Field, { name }: Resource): Wrong[] {
  const { spec, endpoints, names } = subject;
  const place = below(at, 'taken_by');
  const written = valueAt(spec.document.tree, place);
  if (!children || readOnly || written === undefined || subject.isBroken(place)) return [];
  const words = (Array.isArray(written) ? written : [written]).map((word) => (typeof word === 'string' ? word : ''));
  const verbs = new Set<string>(
    endpoints.flatMap(({ does }) => {
      const effect = statedValue(does);
      return effect && 'resource' in effect && effect.resource === name ? [effect.verb] : [];
    }),
  );
  const idle = names.operations.closed
    ? words.flatMap((word, index) => {
        const taker = childrenTakers.find((one) => one === word);
        if (taker === undefined || words.indexOf(word) < index || verbsOf[taker].some((verb) => verbs.has(verb))) return [];
        const message = `No endpoint does \`${word} ${name}\`, so nothing takes them so.`;
        return [
          {
            message,
            remedy: `State one that does \`${word} ${name}\`, or take \`${word}\` out.`,
            at: itemPlace(subject, place, words, index),
          },
        ];
      })
    : [];
  const twice = namedTwice(subject, place, words).map((wrong) => ({ ...wrong, remedy: 'Keep one of the two.' }));
  return [...idle, ...twice];
}

function crossedBounds({ least, most }: Children, at: string): Wrong[] {
  if (least <= most) return [];
  return [{ message: `At least ${least} have to be sent, and at most ${most} may be.`, at: below(at, 'minItems') }];
}
