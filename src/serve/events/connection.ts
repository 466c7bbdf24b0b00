import type { StreamKind } from '../../kinds/streams/kind.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Reply, ReplySink, ReplyStream } from '../call.ts';
import type { Caller } from '../exchange.ts';
import type { EventsSetting } from './setting.ts';
import type { Listeners } from './told.ts';

/** One open stream. */
export interface Connection {
  readonly group: Group;
  readonly sink: ReplySink;
  /** The last event that was looked at for it. */
  position: number;
  isLive: boolean;
  /** Goes on with what it has missed, once there is room. */
  resume: (() => void) | undefined;
}

/** Callers that are the same caller in the same version hear the same. */
export interface Group extends Listeners {
  readonly key: string;
  readonly connections: Set<Connection>;
}

/** A token says when it ends; a stream that it opened ends with it. */
export function isExpired({ claims }: Caller, nowMs: number): boolean {
  const exp = claims?.exp;
  return typeof exp === 'number' && exp * 1000 <= nowMs;
}

export function streamReply({ mediaType }: StreamKind, start: ReplyStream['start']): Reply {
  const headers = { 'content-type': mediaType, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return { status: 200, headers, body: undefined, stream: { start } };
}

const keepMsUnstated = 86_400_000;

/** How far back a reader can resume. */
export function keptMs({ compilation }: EventsSetting): number {
  return statedValue(compilation.spec.events.delivery)?.stream?.keepMs ?? keepMsUnstated;
}
