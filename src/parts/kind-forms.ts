import { pullKinds, pushKinds } from '../kinds/deliveries/all.ts';
import { brokerKinds } from '../kinds/deliveries/all-brokers.ts';
import { envelopeKinds } from '../kinds/envelopes/all.ts';
import type { EnvelopeKind } from '../kinds/envelopes/kind.ts';
import { handshakeKinds } from '../kinds/handshakes/all.ts';
import { rateKinds } from '../kinds/limits/all.ts';
import type { Members } from '../kinds/member.ts';
import { pageStyles } from '../kinds/pages/all.ts';
import { pageMembers } from '../kinds/pages/kind.ts';
import { tellings } from '../kinds/pages/telling.ts';
import { schemeKinds } from '../kinds/schemes/all.ts';
import { signatureKinds } from '../kinds/signatures/all.ts';
import { streamKinds } from '../kinds/streams/all.ts';

/** A form as JSON, as far as it is looked into here. */
interface FormJson {
  readonly [keyword: string]: unknown;
  readonly anyOf?: readonly FormJson[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** What the form of a kind is made of. */
interface StatedKind {
  readonly word: string;
  readonly meaning: string;
  readonly members: Members;
}

/** The lists of kinds that a document may name, each with the definition of their words and that of the statement they stand in. */
const sorts: readonly { readonly words: string; readonly statement: string; readonly kinds: readonly StatedKind[] }[] = [
  { words: 'brokerKind', statement: 'broker', kinds: brokerKinds },
  { words: 'rateKind', statement: 'rate', kinds: rateKinds },
  { words: 'schemeType', statement: 'scheme', kinds: schemeKinds },
  {
    words: 'pageStyle',
    statement: 'pagination',
    kinds: pageStyles.map((style) => ({ ...style, members: pageMembers(style) })),
  },
  { words: 'telling', statement: 'pagination', kinds: tellings.map((telling) => ({ ...telling, members: {} })) },
];

/**
 * The definitions of the schema with what the lists of kinds say: which words there are, and what may stand beside them. The
 * published schema is made so, and read so: a kind that is in its list is in both.
 */
export function withKinds<Definitions extends Readonly<Record<string, unknown>>>(definitions: Definitions): Definitions {
  const made: Record<string, unknown> = { ...definitions };
  for (const { words, statement, kinds } of sorts) {
    made[words] = { anyOf: kinds.map(({ word, meaning }) => ({ const: word, type: 'string', description: meaning })) };
    made[statement] = beside((made[statement] ?? {}) as FormJson, kinds);
  }
  made.delivery = deliveryForm((made.delivery ?? {}) as FormJson);
  made.signature = wordOrMembers(signatureKinds);
  made.handshake = wordOrMembers(handshakeKinds);
  made.envelope = envelopeForm(envelopeKinds);
  made.streamFormat = wordOrMembers(streamKinds.map((kind) => ({ ...kind, members: {} })));
  // What was given is there, and what was added is of the same kind.
  return made as Record<string, unknown> & Definitions;
}

/** What is stated by a word alone, or, where its kind has members, by a map of them. */
function wordOrMembers(kinds: readonly StatedKind[]): FormJson {
  return {
    anyOf: kinds.map(({ word, meaning, members }) =>
      Object.keys(members).length === 0
        ? { const: word, type: 'string', description: meaning }
        : { ...beside({ properties: {} }, [{ word, meaning, members }]), type: 'object', additionalProperties: false },
    ),
  };
}

/** The ways of delivery under their words, of each manner one: a service sends in one way, and is listened to in one. */
function deliveryForm({ properties, anyOf: [first] = [] }: FormJson): FormJson {
  const { envelope } = properties ?? first?.properties ?? {};
  const broker = {
    anyOf: [{ $ref: '#/$defs/broker' }, { const: 'none' }, { const: 'any' }, ...standings],
    description: 'Events are published to a broker, whose address the service is started with.',
  };
  const way = (manner: string, { word, meaning }: { readonly word: string; readonly meaning: string }) => ({
    [word]: { anyOf: [{ $ref: `#/$defs/${manner}` }, { const: 'none' }, { const: 'any' }, ...standings], description: meaning },
  });
  const anyOf = pushKinds.flatMap((push) =>
    pullKinds.map((pull) => ({
      type: 'object',
      additionalProperties: false,
      properties: { ...way('push', push), ...way('pull', pull), broker, envelope },
    })),
  );
  return anyOf.length === 1 ? (anyOf[0] ?? {}) : { anyOf };
}

/** What may stand as an envelope, but for `none`, which may stand for any fact. */
function envelopeForm(kinds: readonly EnvelopeKind[]): FormJson {
  return {
    anyOf: kinds.flatMap(({ word, meaning, stated }): readonly FormJson[] => {
      if (typeof stated === 'object') return [{ ...stated.form }];
      return stated === 'by word' ? [{ const: word, type: 'string', description: meaning }] : [];
    }),
  };
}

/** A map, wherever it stands in a form, with the words that belong to its kinds. */
function beside(form: FormJson, kinds: readonly StatedKind[]): FormJson {
  if (form.anyOf) return { ...form, anyOf: form.anyOf.map((branch) => beside(branch, kinds)) };
  if (!form.properties) return form;
  const properties: Record<string, unknown> = { ...form.properties };
  for (const { members } of kinds) {
    for (const [word, { form: own }] of Object.entries(members)) {
      const { description, ...value } = own;
      properties[word] = { anyOf: [value, ...standings], description };
    }
  }
  return { ...form, properties };
}

const standings = ['open', 'none', 'any'].map((name) => ({ $ref: `#/$defs/${name}` }));
