import type { Comparison } from '../comparison.ts';
import type { DeliveryKind, PullKind, PushKind, StatedPull, StatedPush } from './kind.ts';
import { stream } from './stream.ts';
import { webhook, webhookForm } from './webhook.ts';

/** Every way in which events may reach whoever listens; the first of its manner is what is usual. */
export const deliveryKinds = [webhook, webhookForm, stream] as const satisfies readonly DeliveryKind[];

type Known = (typeof deliveryKinds)[number];
export type PushWord = Extract<Known, { readonly manner: 'push' }>['word'];
export type PullWord = Extract<Known, { readonly manner: 'pull' }>['word'];

type Worded<Kind, Word> = Kind & { readonly word: Word };
const known: readonly (Worded<PushKind, PushWord> | Worded<PullKind, PullWord>)[] = deliveryKinds;

/** Those that send to addresses. */
export const pushKinds = known.filter((kind) => kind.manner === 'push');
/** Those that whoever listens connects to. */
export const pullKinds = known.filter((kind) => kind.manner === 'pull');

/** How what is pushed without being stated goes: to an address that a service is started with. */
export const usualPush: Worded<PushKind, PushWord> = pushKinds[0] ?? webhook;

/** The kind of a push; the usual one of none. */
export function pushKind(word: PushWord | undefined): PushKind {
  return pushKinds.find((kind) => kind.word === word) ?? usualPush;
}

/** The kind of a pull; the usual one of none. */
export function pullKind(word: PullWord | undefined): PullKind {
  return pullKinds.find((kind) => kind.word === word) ?? stream;
}

/** How a later statement of a push stands to an earlier one. */
export function comparePushes(
  before: StatedPush & { readonly word: PushWord },
  after: StatedPush & { readonly word: PushWord },
): Comparison {
  return before.word === after.word ? pushKind(before.word).compare(before, after) : 'other';
}

/** How a later statement of a pull stands to an earlier one. */
export function comparePulls(
  before: StatedPull & { readonly word: PullWord },
  after: StatedPull & { readonly word: PullWord },
): Comparison {
  return before.word === after.word ? pullKind(before.word).compare(before, after) : 'other';
}
