import { beginsBlock, type Fence, fenceOf, headingOf, htmlEnd, isBreak, itemWidth } from './block-starts.ts';
import { columnsBetween, isBlank, type Line } from './markdown-lines.ts';
import type { Stretch } from './source.ts';

/**
 * The line after the last one of the quote or list item (CommonMark section 5) that begins at a line, and the fences in it that
 * are marked as if they stated something. What a line ends is known from its indentation and from whether text may go on.
 */
export function containerEnd(lines: readonly Line[], from: number): { end: number; fences: Stretch[] } {
  const first = lines[from] as Line;
  const width = first.rest.startsWith('>') ? undefined : itemWidth(first, false);
  const inner: Inner = { textOpen: false, fence: undefined, fences: [] };
  follow(inner, first);
  let end = from + 1;
  if (width !== undefined && isEmptyItem(first) && lines[end]?.rest === '') return { end, fences: inner.fences };
  for (let line = lines[end]; line !== undefined && belongs(line, width, inner); line = lines[++end]) follow(inner, line);
  return { end, fences: inner.fences };
}

interface Inner {
  /** A paragraph is open inside, and a line of text goes on with it without any mark (a lazy continuation line). */
  textOpen: boolean;
  fence: Fence | undefined;
  readonly fences: Stretch[];
}

function belongs(line: Line, width: number | undefined, inner: Inner): boolean {
  if (line.rest === '') return width !== undefined;
  if (width === undefined ? line.rest.startsWith('>') && line.indent < 4 : line.indent >= width) return true;
  if (!inner.textOpen || beginsBlock(line)) return false;
  return true;
}

function isEmptyItem(line: Line): boolean {
  return /^(?:[-+*]|\d{1,9}[.)])[ \t]*$/.test(line.rest);
}

/** Takes notice of what a line does inside the container. */
function follow(inner: Inner, line: Line): void {
  const { rest, indent } = insideOf(line);
  if (inner.fence !== undefined) {
    const closing = fenceOf(rest);
    if (closing?.mark === inner.fence.mark && closing.length >= inner.fence.length && closing.info === '')
      inner.fence = undefined;
    return;
  }
  const fence = indent < 4 || !inner.textOpen ? fenceOf(rest) : undefined;
  if (fence !== undefined) {
    inner.fence = fence;
    inner.textOpen = false;
    if (/^(?:yaml|json)$/i.test(fence.info)) inner.fences.push([line.end - rest.length, line.end]);
    return;
  }
  if (rest === '' || isBreak(rest) || headingOf(rest) !== undefined || htmlEnd(rest, inner.textOpen) !== undefined)
    inner.textOpen = false;
  else inner.textOpen ||= indent < 4;
}

/** What stands on a line after all marks of quotes and items, a bounded number of them. */
function insideOf(line: Line): { rest: string; indent: number } {
  let { rest, indent } = line;
  for (let marks = 0; marks < 100; marks++) {
    const mark = isBreak(rest) ? undefined : /^(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/.exec(rest)?.[0];
    if (mark === undefined) break;
    let at = mark.length;
    while (at < rest.length && isBlank(rest.charCodeAt(at))) at += 1;
    indent = Math.max(0, columnsBetween(rest, mark.length, at, indent + mark.length) - 1);
    rest = rest.slice(at);
  }
  return { rest, indent };
}
