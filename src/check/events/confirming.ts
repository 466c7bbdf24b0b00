import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { handshakeKind, handshakeKinds } from '../../kinds/handshakes/all.ts';
import { signatureKind } from '../../kinds/signatures/all.ts';
import type { Push } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import { fieldOf } from '../subject/names.ts';
import { error, problemsOf, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

const words = handshakeKinds.filter(({ members }) => Object.keys(members).length === 0).map(({ word }) => `\`confirm: ${word}\``);

/** How addresses are asked before anything is delivered to them. */
export const confirmingRules: readonly Rule[] = [
  error(
    'events/confirm',
    'What addresses are asked before anything is delivered to them cannot be asked, or says nothing.',
    `Write ${words.join(' or ')}, or a request with \`{challenge}\` in it and the \`answer\` to it.`,
    (subject) => eachPush(subject, ({ confirm }) => (confirm ? wrongHandshake(confirm) : [])),
  ),
  error(
    'events/confirm-nobody',
    'Addresses are to be asked before anything is delivered to them, and no subscriber has one.',
    'State `subscribers` with their `url`, or take `confirm` out.',
    (subject) =>
      eachPush(subject, ({ confirm, subscribers }) =>
        confirm && subscribers?.url === undefined ? [{ message: 'Nobody is asked.', at: confirm.at, onKey: true }] : [],
      ),
  ),
  error(
    'events/confirmed-field',
    'The field that says whether an address has confirmed can be written by somebody else, or is never set.',
    'Let it be a field of its own, `{ type: boolean, readOnly: true, default: false }`, and state `confirm`.',
    (subject) => eachPush(subject, (push) => wrongField(subject, push)),
  ),
  error(
    'events/signature-header',
    'A header field that is stated of deliveries or of a handshake is one that their signature fills, so that it never says what is stated.',
    'Give it a name that the signature has not.',
    (subject) => eachPush(subject, signatureHeaders),
  ),
];

function eachPush({ spec }: Subject, find: (push: Push) => readonly Wrong[]): Wrong[] {
  const push = statedValue(spec.events.delivery)?.push;
  return push ? [...find(push)] : [];
}

function wrongHandshake(confirm: NonNullable<Push['confirm']>): Wrong[] {
  const kind = handshakeKind(confirm);
  if (!kind) return [];
  return problemsOf(kind.problems(confirm.facts), confirm.at, 'events/confirm');
}

/** What is delivered and what asks are signed alike; the signature is written last. */
function signatureHeaders({ at, signature, headers, confirm }: Push): Wrong[] {
  const kind = signature && signatureKind(signature);
  const own = kind ? kind.headers(signature.facts).map(({ name }) => name.toLowerCase()) : [];
  const asked = confirm && handshakeKind(confirm)?.made(confirm.facts).headers;
  const wrongs = (place: string, names: readonly string[]): Wrong[] =>
    names
      .filter((name) => own.includes(name.toLowerCase()))
      .map((name) => ({ message: `\`${name}\` carries the signature.`, at: below(place, name), onKey: true }));
  return [
    ...wrongs(below(at, 'headers'), Object.keys(headers)),
    ...(confirm ? wrongs(below(confirm.at, 'headers'), Object.keys(asked ?? {})) : []),
  ];
}

function wrongField({ spec, resources }: Subject, { confirm, subscribers }: Push): Wrong[] {
  const { confirmed } = subscribers ?? {};
  if (!subscribers || confirmed === undefined) return [];
  const at = below(subscribers.at, 'confirmed');
  if (!confirm && valueAt(spec.document.tree, below(statedValue(spec.events.delivery)?.push?.at ?? '', 'confirm')) === undefined)
    return [{ message: 'No address is asked: there is no `confirm`.', at }];
  if (confirmed.includes('.')) return [{ message: `\`${confirmed}\` is a field of a value.`, at }];
  const field = fieldOf(resources.get(subscribers.resource), confirmed);
  if (!field) return [];
  const also = [{ message: 'The field stands here.', at: field.at }];
  if (!field.readOnly) return [{ message: `Whoever subscribes may write \`${confirmed}\` itself.`, at, also }];
  if (field.default?.value === true)
    return [
      {
        message: `\`${confirmed}\` says from the beginning that an address has confirmed.`,
        remedy: 'Write `default: false`.',
        at,
        also,
      },
    ];
  return Object.keys(field.set).length > 0 || field.derive ? [{ message: `\`${confirmed}\` is set otherwise.`, at, also }] : [];
}
