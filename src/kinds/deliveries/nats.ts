import type { BrokerKind, StatedBroker } from './broker.ts';

/** A subject of NATS: words with dots between them, and no wildcard. */
const subjectForm = /^[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,15}$/;

/** Events are published to JetStream, under a subject for each kind; their identifier lets it take each once. */
export const nats = {
  word: 'nats',
  meaning: 'Events are published to NATS JetStream, under `subject` and their kind, with their identifier as `Nats-Msg-Id`.',
  transport: 'jetstream',
  protocols: ['nats:', 'tls:'],
  members: { subject: { form: { type: 'string', description: 'What the subject of each event begins with: parcels.events' } } },
  problems({ own: { subject } }) {
    if (typeof subject === 'string' && subjectForm.test(subject)) return [];
    const message =
      subject === undefined
        ? 'There is no `subject`, under which events would be published.'
        : `\`${typeof subject === 'string' ? subject : JSON.stringify(subject)}\` is no subject.`;
    return [
      {
        code: 'events/broker-member',
        message,
        remedy: 'Write `subject: parcels.events`.',
        at: subject === undefined ? [] : ['subject'],
      },
    ];
  },
  message: (stated, { id, kind, enveloped }) => ({
    // What a kind is called may have letters that a subject cannot.
    subject: `${subjectOf(stated)}.${kind.replace(/[^\w.-]/g, '_')}`,
    headers: { 'Nats-Msg-Id': id },
    body: enveloped,
  }),
  channel: {
    key: 'broker',
    title: 'Broker',
    description: 'Events are published to NATS JetStream, each kind under a subject of its own.',
    operation: 'publishEvents',
    summary: 'Publishes events to a broker.',
    protocol: 'nats',
    bindings: { nats: { bindingVersion: '0.1.0' } },
    address: (stated) => `${subjectOf(stated)}.{kind}`,
  },
  describes: () => ({
    contentType: 'application/json',
    payload: undefined,
    headers: { 'Nats-Msg-Id': 'The identifier of the event, by which JetStream takes it once.' },
  }),
  compare: (before, after) => (subjectOf(before) === subjectOf(after) ? 'same' : 'other'),
} as const satisfies BrokerKind;

function subjectOf({ own: { subject } }: StatedBroker): string {
  return typeof subject === 'string' ? subject : 'events';
}
