import type { Block } from './blocks.ts';
import type { Pointer } from './document.ts';
import type { Gathering } from './gathering.ts';
import { report } from './report.ts';
import type { Source } from './source.ts';

/** A walk over a Markdown text, as far as it keeps prose. */
export interface ProseWalk {
  readonly source: Source;
  readonly gathering: Gathering;
  /** The stretch of prose that is open: blocks that follow each other at one place are one piece. */
  prose: { readonly at: Pointer; readonly from: number; to: number } | undefined;
}

/** Keeps a block as prose of a place, together with the prose before it. */
export function addProse(block: Block, at: Pointer, walk: ProseWalk): void {
  warnOfFences(block, walk);
  const [from, to] = block.all;
  if (walk.prose?.at === at) walk.prose.to = to;
  else {
    closeProse(walk);
    walk.prose = { at, from, to };
  }
}

/** Ends the stretch of prose that is open. */
export function closeProse(walk: ProseWalk): void {
  const { prose, source, gathering } = walk;
  if (prose === undefined) return;
  walk.prose = undefined;
  const { at, from, to } = prose;
  gathering.prose.push({ at, text: source.text.slice(from, to), place: source.place(from, to) });
}

/** A fence that looks as if it stated something, and does not: in a quote or a list, or marked with another word for YAML. */
function warnOfFences(block: Block, { source, gathering }: ProseWalk): void {
  const isContainer = block.kind === 'container';
  const fences = isContainer ? block.fences : block.kind === 'fence' && block.info === 'yml' ? [block.open] : [];
  for (const fence of fences) {
    const why = isContainer ? 'it stands in a quote or a list' : 'it is marked `yml`';
    const remedy = isContainer ? 'Put it at the left edge, or mark it `yaml example`.' : 'Mark it `yaml`.';
    report(gathering, 'document/fence-ignored', source.place(...fence), `The fence states nothing: ${why}.`, { remedy });
  }
}
