import type { StoredDelivery, StoredEvent } from '../../store/outbox.ts';
import { type TracedDelivery, traceChannels } from '../exchange/traces.ts';
import type { Posts } from './posts.ts';

type Sending = Pick<Posts, 'send'>;

/** Sends one try as part of the trace that its event came of, where anybody follows: the receiver is told which it is. */
export function traced(posts: Sending, event: StoredEvent, delivery: StoredDelivery): Sending {
  const { deliveryStart, deliveryEnd } = traceChannels;
  if (!deliveryStart.hasSubscribers) return posts;
  return {
    send(post, timeoutMs, done) {
      const told: TracedDelivery = {
        event: event.id,
        kind: event.kind,
        subscriber: delivery.subscriber,
        // The address of a broker may have a password in it.
        url: post.broker ? (post.broker.subject ?? 'broker') : post.url,
        attempt: delivery.tries + 1,
        traceparent: event.trace,
      };
      deliveryStart.publish(told);
      const { traceparent } = told;
      const headers = traceparent === undefined ? post.headers : { ...post.headers, traceparent };
      return posts.send({ ...post, headers }, timeoutMs, (posted) => {
        told.status = posted.status;
        told.error = posted.error;
        deliveryEnd.publish(told);
        done(posted);
      });
    },
  };
}
