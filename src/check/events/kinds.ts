import type { JsonMap, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { deliveryKinds } from '../../kinds/deliveries/all.ts';
import { askedFor, logOf } from '../../parts/event-telling.ts';
import { type EventKind, pullOf } from '../../parts/events.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { dataMisfits, isExpression, objectPropertiesOf } from '../subject/data.ts';
import { listed, unstated } from '../subject/names.ts';
import { unknownOperations } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What emits events, and what they carry. */
export const kindRules: readonly Rule[] = [
  error(
    'events/unknown-operation',
    'An event is emitted by an operation that is not there.',
    "Write the operation's name, or bind an endpoint to it.",
    (subject) => eachKind(subject, ({ on }) => unknownOperations(subject, statedValue(on) ?? [], on.at)),
  ),
  warning(
    'events/never-emitted',
    'No operation emits an event: none is named, or only such as store nothing.',
    'Name an operation that stores something, or take the event out.',
    (subject) => eachKind(subject, (kind) => neverEmitted(subject, kind)),
  ),
  error(
    'events/told-alike',
    'Two kinds of event have one name and nothing that tells them apart.',
    'Give each an `action` of its own, or another `name`.',
    ({ spec }) => {
      const known = new Map<string, EventKind>();
      return entriesOf(spec.events.kinds).flatMap(([, kind]) => {
        const asked = askedFor(kind);
        const other = known.get(asked) ?? [...known.values()].find((one) => isUntold(one, kind));
        known.set(asked, kind);
        if (!other) return [];
        const also = [{ message: `\`${other.name}\` is told the same.`, at: other.at }];
        return [{ message: `\`${asked}\` may be either of two kinds.`, at: kind.at, onKey: true, also }];
      });
    },
  ),
  error(
    'events/clock',
    'What the clock tells lacks its time or its rows, or is emitted by operations too.',
    'Write `of: RESOURCE` and `at: "resource.ends_at"`, and neither `on` nor `each`.',
    (subject) => eachKind(subject, (kind) => wrongClock(subject, kind)),
  ),
  error(
    'events/payload-misfit',
    'What an operation gives does not fit the payload of the event.',
    'Say under `data` what each required property is, and no other.',
    (subject) => eachKind(subject, (kind) => misfits(subject, kind)),
  ),
  warning(
    'events/before-in-versions',
    'What a change altered is told in older versions by the names and values of the newest one.',
    'Name the fields that are told: `data: { title: { from: event.before.title } }`, or take `event.before` out.',
    (subject) => eachKind(subject, (kind) => toldInVersions(subject, kind)),
  ),
  warning(
    'events/undelivered',
    'Events are stated, and nothing delivers them.',
    `State ${[...deliveryKinds.map(({ word }) => `\`${word}\``), '`broker`'].join(' or ')} under \`delivery\`, or a \`log\`, or take the events out.`,
    ({ spec }) => {
      const { kinds, delivery } = spec.events;
      // Who reads the log hears of them too.
      if (logOf(spec)) return [];
      const ways = statedValue(delivery);
      const isNone =
        delivery.standing === 'none' ||
        (ways && !ways.push && !ways.pull && !ways.broker && !hasOpenWay(ways.at, spec.document.tree));
      return isNone && entriesOf(kinds).length > 0
        ? [{ message: 'Nothing delivers these events.', at: kinds.at, onKey: true }]
        : [];
    },
  ),
];

/** Whether of two kinds of one name one has no action: who hears of the name knows not which it is. */
function isUntold(one: EventKind, other: EventKind): boolean {
  return one.called === other.called && (one.action === undefined || other.action === undefined);
}

function eachKind({ spec }: Subject, find: (kind: EventKind) => readonly Wrong[]): Wrong[] {
  return entriesOf(spec.events.kinds).flatMap(([, kind]) => find(kind));
}

/** A way of delivery that is open stands in the tree, and not in the model. */
function hasOpenWay(at: Pointer, tree: JsonMap): boolean {
  return [...deliveryKinds.map(({ word }) => word), 'broker'].some((word) => {
    const way = valueAt(tree, below(at, word));
    return isMap(way) && ('$open' in way || '$any' in way);
  });
}

function emittersOf({ operations }: Subject, names: readonly string[]): Operation[] {
  return operations.filter((operation) => namesOperation(names, operation, 'event'));
}

function wrongClock({ spec, names }: Subject, { name, at, clock }: EventKind): Wrong[] {
  const stated = (word: string) => valueAt(spec.document.tree, below(at, word)) !== undefined;
  if (!clock) {
    const [here, lacking] = stated('of') ? ['of', 'at'] : ['at', 'of'];
    return stated(here) && !stated(lacking) ? [{ message: `\`${name}\` has no \`${lacking}\`.`, at: below(at, here) }] : [];
  }
  const unknown = unstated(names.resources, clock.of, below(at, 'of'));
  const beside = ['on', 'each'].filter(stated);
  const isRow = isStated(entryOf(spec.resources.all, clock.of)?.identifier ?? { standing: 'open', at });
  return [
    ...unknown,
    ...(unknown.length > 0 || isRow
      ? []
      : [{ message: `\`${clock.of}\` is a value, of which no row is kept.`, at: below(at, 'of') }]),
    ...beside.map((word) => ({ message: `The clock tells it, and nothing else does.`, at: below(at, word) })),
  ];
}

/** Handlers emit by themselves, so an event without operations may be one of theirs. */
function neverEmitted(subject: Subject, { name, at, on, clock }: EventKind): Wrong[] {
  if (clock) return [];
  const names = statedValue(on);
  if (!names || unknownOperations(subject, names, on.at).length > 0) return [];
  const hasHandlers = subject.endpoints.some(({ does }) => !isStated(does) || does.value.verb === 'handler');
  if (names.length === 0) return hasHandlers ? [] : [{ message: `No operation emits \`${name}\`.`, at, onKey: true }];
  const emitters = emittersOf(subject, names);
  if (emitters.length === 0 || emitters.some((operation) => stores(subject, operation))) return [];
  return [
    {
      message: `Nothing is stored by ${listed(emitters.map((operation) => operation.name))}, so \`${name}\` is never emitted.`,
      at: on.at,
    },
  ];
}

function stores({ spec }: Subject, { name, endpoint }: Operation): boolean {
  const pull = pullOf(spec.events)?.operation.name;
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb !== 'read' && verb !== 'list' && verb !== 'reply' && name !== pull && name !== 'read ledger';
}

/** What is told as a whole has no shape by which it could be carried to an older version. */
function toldInVersions({ spec, operations }: Subject, { data, on }: EventKind): Wrong[] {
  if (!data) return [];
  const emitters = operations.filter((operation) => namesOperation(statedValue(on) ?? [], operation, 'event'));
  const changed = new Set(
    entriesOf(spec.versioning.changes).flatMap(([, changes]) =>
      (statedValue(changes) ?? []).flatMap((change) => ('resource' in change ? [change.resource] : [])),
    ),
  );
  if (!emitters.some(({ resource }) => resource !== undefined && changed.has(resource))) return [];
  const parts = isExpression(data) ? [data] : Object.values(data);
  return wholeBefore(parts).map(({ at }) => ({ message: 'Its fields have other names or values in older versions.', at }));
}

/** The expressions that are `event.before` itself, as deep as they stand. */
function wholeBefore(expressions: readonly Expression[]): Expression[] {
  return expressions.flatMap((one) =>
    one.parts ? wholeBefore(Object.values(one.parts)) : one.source.trim() === 'event.before' ? [one] : [],
  );
}

/** Without `data` the payload is the resource that the operation stored. */
function misfits(subject: Subject, kind: EventKind): Wrong[] {
  const { payload, data, on } = kind;
  const shape = statedValue(payload);
  if (!shape) return [];
  if (data) return isExpression(data) ? [] : dataMisfits(subject, shape, data, below(kind.at, 'data'));
  const stored = new Map<string, string[]>();
  for (const operation of emittersOf(subject, statedValue(on) ?? [])) {
    const { name, resource } = operation;
    if (resource === undefined || !stores(subject, operation) || shape.resource === resource) continue;
    stored.set(resource, [...(stored.get(resource) ?? []), name]);
  }
  const { of } = kind.clock ?? {};
  if (of !== undefined && shape.resource !== of && subject.resources.has(of)) stored.set(of, []);
  return [...stored].flatMap(([resource, names]) => {
    const which = names.length === 0 ? `\`${resource}\`` : `\`${resource}\`, stored by ${listed(names)},`;
    if (typeof shape.ref === 'string')
      return shape.ref === resource ? [] : [{ message: `A ${which} is no \`${shape.ref}\` to refer to.`, at: payload.at }];
    if (typeof shape.resource === 'string') return [{ message: `A ${which} is no \`${shape.resource}\`.`, at: payload.at }];
    const fields = objectPropertiesOf(subject, { resource });
    const asked = objectPropertiesOf(subject, shape);
    const missing = asked && fields?.closed ? asked.required.filter((property) => !fields.names.has(property)) : [];
    return missing.length === 0 ? [] : [{ message: `A ${which} has no ${listed(missing)}.`, at: payload.at }];
  });
}
