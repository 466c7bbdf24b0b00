import type { BrokerKind, StatedBroker } from './broker.ts';

const mediaType = 'application/cloudevents+json';

/** Events are posted as CloudEvents 1.0 in structured mode (CloudEvents HTTP protocol binding 1.0.2, section 3.2), which brokers with an HTTP door take. */
export const cloudevents = {
  word: 'cloudevents',
  meaning: 'Events are posted to one address as CloudEvents 1.0 in structured mode, which brokers with an HTTP door take.',
  transport: 'http',
  protocols: ['http:', 'https:'],
  members: { source: { form: { type: 'string', description: 'Who sends, a reference to a URI: https://parcels.example/' } } },
  problems({ own: { source } }) {
    // CloudEvents 1.0.2, section "source": a non-empty URI-reference.
    if (typeof source === 'string' && /^[\w\-.~:/?#[\]@!$&'()*+,;=%]{1,1024}$/.test(source)) return [];
    const message =
      source === undefined
        ? 'There is no `source`, which says who sends.'
        : `\`${typeof source === 'string' ? source : JSON.stringify(source)}\` is no reference to a URI.`;
    return [
      {
        code: 'events/broker-member',
        message,
        remedy: 'Write `source: https://parcels.example/`.',
        at: source === undefined ? [] : ['source'],
      },
    ];
  },
  message(stated, { id, kind, at, row, payload }) {
    const subject = row === undefined ? {} : { subject: row };
    const context = { specversion: '1.0', id, source: sourceOf(stated), type: kind, time: at, ...subject };
    const head = JSON.stringify({ ...context, datacontenttype: 'application/json' });
    return {
      subject: undefined,
      headers: { 'content-type': mediaType },
      // The payload is passed on as it is written: no number of it changes.
      body: `${head.slice(0, -1)},"data":${payload}}`,
    };
  },
  channel: {
    key: 'broker',
    title: 'Broker',
    description: 'Events are posted to one address as CloudEvents 1.0 in structured mode.',
    operation: 'publishEvents',
    summary: 'Publishes events to a broker.',
    protocol: 'https',
    bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    address: () => null,
  },
  describes: (stated, kind, data) => ({
    contentType: mediaType,
    payload: {
      type: 'object',
      properties: {
        specversion: { const: '1.0' },
        id: { type: 'string', minLength: 1 },
        source: { const: sourceOf(stated) },
        type: { const: kind },
        time: { type: 'string', format: 'date-time' },
        subject: { type: 'string', description: 'The row that it is about.' },
        datacontenttype: { const: 'application/json' },
        data,
      },
      required: ['specversion', 'id', 'source', 'type', 'time', 'datacontenttype', 'data'],
    },
    headers: {},
  }),
  compare: (before, after) => (sourceOf(before) === sourceOf(after) ? 'same' : 'other'),
} as const satisfies BrokerKind;

function sourceOf({ own: { source } }: StatedBroker): string {
  return typeof source === 'string' ? source : '/';
}
