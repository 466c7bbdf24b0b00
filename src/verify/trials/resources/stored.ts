import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import { takenOf } from '../../../parts/taking.ts';
import { moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, type Symbolic } from '../../exchange/symbol.ts';
import { lookAt } from '../../make/look.ts';
import { isShownToSomebody } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { isJsonMap } from '../../model/sent-fields.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { taken } from '../endpoints/bodies.ts';
import { claimRow } from './claim-row.ts';
import { foreignValue } from './foreign-value.ts';

const rounds = ['plain', 'full', 'full', 'full'] as const;

/** What is created has every field as it was sent, defaulted, set, generated, or left out: in the answer, and when it is read again. */
export const stored: Trial = {
  name: 'resources/stored',
  part: 'resources',
  about: 'What is created is what the document makes of what was sent, in the answer and afterwards.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      const seen = entriesOf(resource.fields).filter(
        ([, field]) => field.reveal === 'once' || isShownToSomebody(field, model.callers),
      );
      const facts = seen.map(([field]) => ({ kind: 'allowed values', subject: `${name}.${field}` }));
      // What refuses it is a matter of its own trial.
      const isRefused = model.endpointsThat('create', name).some(({ readOnlySent }) => readOnlySent !== undefined);
      for (const [field, stated] of entriesOf(resource.fields)) {
        const value = foreignValue(stated);
        if (value === undefined || isRefused || isWritable(model.spec, resource, stated)) continue;
        const fact = { kind: 'allowed values', subject: `${name}.${field}` };
        yield {
          name: `${name} with ${field}`,
          facts: [fact],
          run: (session) => createAndLook(session, name, 'plain', { [field]: value }),
        };
      }
      for (const [what, text] of [
        ['texts as long as they may be', longest],
        ['texts of all sorts', ofAllSorts],
      ] as const) {
        const body = textsOf(model, resource, text);
        const named = seen
          .filter(([field]) => Object.hasOwn(body, field))
          .map(([field]) => ({ kind: 'allowed values', subject: `${name}.${field}` }));
        if (named.length > 0)
          yield { name: `${name}, ${what}`, facts: named, run: (session) => createAndLook(session, name, 'plain', body) };
      }
      for (const [round, style] of rounds.entries()) {
        yield { name: `${name}, ${style} ${round}`, facts, run: (session) => createAndLook(session, name, style) };
      }
    }
  },
};

async function createAndLook(
  session: Session,
  resource: string,
  style: 'plain' | 'full',
  body: Readonly<Record<string, Symbolic>> = {},
): Promise<void> {
  const row = await session.make(resource, { style, body });
  const change = row.made;
  session.need(change !== undefined, `rows of ${resource} are given, not made`);
  claimLeftOut(session, resource, change);
  claimRow(session, { resource, change, seen: change, reason: 'answered' });
  const { done } = await lookAt(session, row);
  claimRow(session, { resource, change, seen: done, reason: 'stored' });
}

/** A text for each field that a caller may write any text into, of the length that its shape has. */
function textsOf(model: Model, resource: Resource, text: (least: number, most: number) => Fresh): Record<string, Symbolic> {
  const bound = new Set(model.endpointsThat('create', resource.name).flatMap((endpoint) => boundByPath(model.spec, endpoint)));
  const out: Record<string, Symbolic> = {};
  for (const [name, field] of entriesOf(resource.fields)) {
    const shape = statedValue(field.shape);
    const isText = shape?.type === 'string' && ['enum', 'const', 'pattern', 'format'].every((word) => shape[word] === undefined);
    if (!isText || field.ref !== undefined || bound.has(name) || !isWritable(model.spec, resource, field)) continue;
    const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
    const most = typeof shape.maxLength === 'number' ? shape.maxLength : 2 * shortest;
    if (most >= shortest && most <= longestMax) out[name] = text(least, most);
  }
  return out;
}

/** Shorter ones are not sure to be another each time. */
const shortest = 20;
/** Longer ones may be more than a body may have. */
const longestMax = 1000;

function longest(_least: number, most: number): Fresh {
  return new Fresh((draw) => Buffer.from(draw.bytes(most)).toString('base64url').slice(0, most));
}

/** Letters of other scripts, signs that mean something somewhere, more than one blank, and blanks at both ends. */
function ofAllSorts(least: number, most: number): Fresh {
  return new Fresh((draw) => {
    const own = Buffer.from(draw.bytes(5)).toString('hex');
    const text = ` ${own}  Ä"<&'\\%😀 `;
    return [...text.padStart(least)].slice(-most).join('');
  });
}

/** What may be left out was left out, and the row was made without it. */
function claimLeftOut(session: Session, name: string, change: Done<TrialExchange>): void {
  const resource = session.model.resource(name);
  for (const [field, stated] of resource ? entriesOf(resource.fields) : []) {
    if (statedValue(stated.required) !== false) continue;
    session.claim({
      fact: { kind: 'required flags', subject: `${name}.${field}` },
      reason: 'left out',
      of: [change] as const,
      judge(exchange: TrialExchange) {
        const sent = takenOf(exchange.endpoint ?? {}, exchange.sent.json);
        return !isJsonMap(sent) || sent[field] === undefined
          ? taken(session.model, exchange, `a body without ${field}`)
          : moot('it was not left out');
      },
    });
  }
}
