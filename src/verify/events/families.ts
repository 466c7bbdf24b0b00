import { isSame } from '../../document/values.ts';
import { askedKinds } from '../model/asked-kinds.ts';
import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Case, Trial } from '../trial.ts';
import { deliveryFact } from './changing.ts';
import { eventMs, type Listening } from './ear.ts';
import { toldIn } from './envelope.ts';
import { actTwice, kindNames, makerOf, type Pair, pairOf } from './pair.ts';
import { hear } from './reached.ts';
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
  },
};

/** The families of what a pair tells, and one that it tells nothing of. */
function familiesOf(model: Model, { first, second }: Pair): string[] {
  if (subscribersOf(model)?.events === undefined || subscribing(model).length === 0) return [];
  const prefixes = [second.name, first.name, ...kindNames(model)].flatMap((name) => prefixOf(name) ?? []);
  const told = new Set([second.name, first.name].map(prefixOf));
  const other = prefixes.find((prefix) => !told.has(prefix));
  const wanted = new Set([prefixOf(second.name), other].flatMap((prefix) => (prefix === undefined ? [] : [`${prefix}.*`])));
  return [...wanted].filter((family) => isSame([...(askedKinds(model, [family]) ?? [])], [family]));
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
  const isOf = (kind: string | undefined) => kind !== undefined && `${prefixOf(kind)}.*` === family;
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
