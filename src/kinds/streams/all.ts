import type { StreamKind } from './kind.ts';
import { sse } from './sse.ts';

/** Every format that a stream may have; the first is meant where none is stated. */
export const streamKinds = [sse] as const satisfies readonly [StreamKind, ...StreamKind[]];

export type StreamWord = (typeof streamKinds)[number]['word'];

/** The format of a word, the usual one where nothing is written; nothing for a word that is none. */
export function streamWord(text: string | undefined): StreamWord | undefined {
  return text === undefined ? streamKinds[0].word : streamKinds.find(({ word }) => word === text)?.word;
}

/** The format of a stream; nothing where there are no means for it. */
export function streamKind(word: StreamWord | undefined): StreamKind | undefined {
  return streamKinds.find((kind) => kind.word === word);
}
