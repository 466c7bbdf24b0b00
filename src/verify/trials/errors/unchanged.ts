import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { requestShape } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { membersSent } from '../../make/fields-sent.ts';
import { claimNothingLeft } from '../../make/left-behind.ts';
import { lookAt } from '../../make/look.ts';
import { stage } from '../../make/staged.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { bodyMedia } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { bodyBreaks } from '../endpoints/breaks.ts';

const changing: ReadonlySet<string> = new Set(['create', 'upsert', 'update', 'replace', 'transition']);

/** A body of which one member is wrong changes nothing, whatever else is in it. */
export const unchangedByRefused: Trial = {
  name: 'errors/unchanged',
  part: 'errors',
  about: 'What is refused as invalid leaves no row behind, and a row that is there as it was.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const code = model.refusals.of('request.invalid.value', model.operationOf(endpoint))?.code.name;
      if (!effect || !('resource' in effect) || !changing.has(effect.verb) || code === undefined || !bodyMedia(endpoint))
        continue;
      if (!isStated(requestShape(model.spec, endpoint))) continue;
      const isNew = effect.verb === 'create' || effect.verb === 'upsert';
      if (isNew && model.endpointsThat('list', effect.resource).length === 0) continue;
      const fact: FactName = { kind: 'conditions', subject: code };
      const { resource } = effect;
      yield {
        name: endpoint.key,
        facts: [fact],
        run: (session) => (isNew ? create(session, endpoint, resource, fact) : change(session, endpoint, fact)),
      };
    }
  },
};

async function create(session: Session, endpoint: Endpoint, resource: string, fact: FactName): Promise<void> {
  const scene = { values: new Map(), state: undefined };
  const { request, marks } = await stage(session, endpoint, [], { scene, resource });
  const wrong = wrongMember(session, endpoint, request.caller, marks);
  const { body } = request;
  session.need(wrong !== undefined && body !== undefined && 'value' in body, 'no member of its body can be wrong by itself');
  const plan = { ...request, body: { ...body, value: withMember(body.value, [wrong.name], wrong.value) } };
  const done = await session.send(plan);
  await claimNothingLeft(session, { resource, request: plan, done, marks, fact });
}

async function change(session: Session, endpoint: Endpoint, fact: FactName): Promise<void> {
  const begun = await beginBody(session, endpoint, 'full');
  const { row, caller } = begun;
  const wrong = wrongMember(session, endpoint, caller, []);
  session.need(row !== undefined && wrong !== undefined, 'no member of its body can be wrong by itself');
  const before = (await lookAt(session, row)).done;
  const plan: RequestPlan = begun.request(wrongLast(begun.json, wrong));
  const attempt = await session.send(plan);
  await claimUnchanged(session, row, { before, attempt, fact });
}

interface WrongMember {
  readonly name: string;
  readonly value: Json;
}

/** What is right comes first, so that whoever takes one member after the other has taken it already. */
function wrongLast(json: Symbolic, { name, value }: WrongMember): Symbolic {
  const { [name]: _right, ...rest } = json as Readonly<Record<string, Symbolic>>;
  return withMember(rest, [name], value);
}

/** A member with a value that its shape does not admit, by its bounds rather than its type where it can be. */
function wrongMember(
  session: Session,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
  marks: readonly string[],
): WrongMember | undefined {
  const found = membersSent(session.model, endpoint, caller).flatMap(({ path, shape, isImmutable }) => {
    const [name] = path;
    if (name === undefined || path.length > 1 || isImmutable || marks.includes(name)) return [];
    return bodyBreaks(session.model, endpoint, shape).map(({ value, kind }) => ({ name, value, kind }));
  });
  return found.find(({ kind }) => kind === 'allowed values') ?? found[0];
}
