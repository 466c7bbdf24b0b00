import { isSame } from '../../../document/values.ts';
import { askedFor, meansKind } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entryOf } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { ready } from '../../make/readied.ts';
import { askedKinds } from '../../model/asked-kinds.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { toldIn } from './envelope.ts';
import { actTwice, kindNames, makerOf, type Pair, pairOf, sureKind } from './pair.ts';
import { changing, deliveryFact, hear, kindsFact } from './reached.ts';
import { subscribe, subscribersOf, subscribing } from './subscribing.ts';

/** The reason of such a claim. */
export const familyAsked = 'a family of kinds';
const quietMs = 200;

/** Who asks for `parcel.*` hears of every kind of parcels, and of nothing else. */
export const families: Trial = {
  name: 'events/families',
  part: 'events',
  about: 'A subscriber of all kinds of one family hears of these, and of no other kind.',
  noise: 'alone',
  *cases(model) {
    const pair = pairOf(model);
    if (pair) for (const family of familiesOf(model, pair)) yield caseOf(model, pair, family);
    for (const foreign of foreignsOf(model)) yield foreignCase(model, foreign);
  },
};

/** The families of what a pair tells, with the name that it shares with others, and one that it tells nothing of. */
function familiesOf(model: Model, { first, second }: Pair): string[] {
  if (subscribersOf(model)?.events === undefined || subscribing(model).length === 0) return [];
  const prefixes = [askedFor(second), askedFor(first), ...kindNames(model)].flatMap((name) => prefixOf(name) ?? []);
  const told = new Set([askedFor(second), askedFor(first)].map(prefixOf));
  const other = prefixes.find((prefix) => !told.has(prefix));
  const families = [prefixOf(askedFor(second)), other].flatMap((prefix) => (prefix === undefined ? [] : [`${prefix}.*`]));
  const wanted = new Set([...families, ...(second.action === undefined ? [] : [second.called, askedFor(second)])]);
  return [...wanted].filter((family) => isSame([...(askedKinds(model, [family]) ?? [])], [family]));
}

/** A family that subscribers can ask for, and an operation that surely tells of something else. */
interface Foreign {
  readonly family: string;
  readonly operation: Operation;
  readonly kind: EventKind;
}

/** So many families are asked for while something else is told. */
const foreignMost = 6;

/** The families of a document, each with what is none of it. */
function foreignsOf(model: Model): readonly Foreign[] {
  if (subscribersOf(model)?.events === undefined || subscribing(model).length === 0) return [];
  const told = changing(model).flatMap((operation) => {
    const kind = sureKind(model, operation);
    return kind ? [{ operation, kind }] : [];
  });
  const prefixes = [...new Set(kindNames(model).flatMap((name) => prefixOf(name) ?? []))].slice(0, foreignMost);
  return prefixes.flatMap((prefix) => {
    const family = `${prefix}.*`;
    const other = told.find(({ kind }) => !meansKind(family, kind));
    return other && isSame([...(askedKinds(model, [family]) ?? [])], [family]) ? [{ family, ...other }] : [];
  });
}

/** A look at each of them, by the reason of its claim. */
export function foreignLooks(model: Model): readonly string[] {
  return foreignsOf(model).map(({ family }) => foreignTo(family));
}

const foreignTo = (family: string): string => `nothing else to who asks for ${family}`;

/** Who asks for a family is not told of what is none of it. */
function foreignCase(model: Model, { family, operation, kind }: Foreign): Case {
  const { endpoint } = operation;
  return {
    name: `a subscriber of ${family}, while ${operation.name} is done`,
    facts: [kindsFact],
    async run(session: Session) {
      if (!endpoint) throw new Untestable(`no caller reaches ${operation.name}`);
      const { request } = await ready(session, endpoint, { style: 'whole' });
      const makers = subscribing(model);
      const maker = makers.find((one) => one !== undefined && one.id === request.caller?.id) ?? makers[0];
      const all = await subscribe(session, maker, { events: ['*'] });
      const some = await subscribe(session, maker, { events: [family] });
      const acted = await session.send(request);
      session.need(isDone(acted.value), `${operation.name} was answered ${acted.value.status}`);
      const isTold = (deliveries: Listening['deliveries']) =>
        deliveries.some((one) => toldIn(model.spec, one).kind === kind.name);
      const loud = await hear(session, all, [acted], { isEnough: isTold, ms: eventMs, quietMs: 0 });
      const own = await session.do(some.hearing([loud], { isEnough: () => true, ms: 0, quietMs }));
      session.claim({
        shrinkingRuns: 2,
        fact: kindsFact,
        reason: foreignTo(family),
        of: [some.opened, loud, own],
        judge: (opened: TrialExchange, everything: Listening, heard: Listening): Judgement => {
          if (!isDone(opened) || !isTold(everything.deliveries)) return moot('nobody was told of anything');
          return isTold(heard.deliveries)
            ? { promised: `who asks for ${family} hears of nothing else`, seen: kind.name }
            : undefined;
        },
      });
    },
  };
}

/** Whether a subscriber can ask for a family of what surely comes. */
export function asksForFamilies(model: Model): boolean {
  const pair = pairOf(model);
  return pair !== undefined && familiesOf(model, pair).length > 0;
}

function prefixOf(kind: string): string | undefined {
  const at = kind.indexOf('.');
  return at < 1 ? undefined : kind.slice(0, at);
}

function caseOf(model: Model, pair: Pair, family: string): Case {
  const isOf = (name: string | undefined) => {
    const kind = name === undefined ? undefined : entryOf(model.spec.events.kinds, name);
    return kind !== undefined && meansKind(family, kind);
  };
  const kindsIn = ({ deliveries }: Listening) => deliveries.map((one) => toldIn(model.spec, one).kind);
  return {
    name: `a subscriber of ${family}, beside one of everything`,
    facts: [deliveryFact],
    async run(session: Session) {
      const maker = makerOf(model, pair, subscribing(model));
      const { ear, made, moved } = await actTwice(session, pair, async () => ({
        all: await subscribe(session, maker, { events: ['*'] }),
        some: await subscribe(session, maker, { events: [family] }),
      }));
      const isEnough = (deliveries: Listening['deliveries']) =>
        deliveries.some((one) => toldIn(model.spec, one).kind === pair.second.name);
      const loud = await hear(session, ear.all, [made, moved], { isEnough, ms: eventMs, quietMs });
      const isAnswered = ({ length }: Listening['deliveries']) => !isOf(pair.second.name) || length > 0;
      const own = await session.do(ear.some.hearing([loud], { isEnough: isAnswered, ms: eventMs / 4, quietMs }));
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: familyAsked,
        of: [ear.some.opened, loud, own],
        judge: (opened: TrialExchange, everything: Listening, heard: Listening): Judgement => {
          if (!isDone(opened) || everything.deliveries.length === 0) return moot('nobody was told of anything');
          const [told, come] = [kindsIn(everything), kindsIn(heard)];
          const foreign = come.find((kind) => !isOf(kind));
          if (foreign !== undefined) return { promised: `who asks for ${family} hears of nothing else`, seen: foreign };
          const missing = told.find((kind) => isOf(kind) && !come.includes(kind));
          return missing === undefined
            ? undefined
            : { promised: `who asks for ${family} hears of ${missing}`, seen: 'nothing of it came' };
        },
      });
    },
  };
}
