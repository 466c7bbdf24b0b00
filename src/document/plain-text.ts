/**
 * The text of a heading or a name in a table as it is meant: without the backticks of code, with Markdown's backslash escapes
 * (CommonMark section 2.4) undone outside of code, and everything else, such as braces and stars, as it stands there.
 */
export function plainText(written: string): string {
  let text = '';
  let code = 0;
  for (const [piece] of written.matchAll(/`+|\\.|[^`\\]+|\\/gs)) {
    if (piece.startsWith('`')) {
      if (code === 0) code = piece.length;
      else if (code === piece.length) code = 0;
    } else text += code === 0 && escaped.test(piece) ? piece.slice(1) : piece;
  }
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .join(' ')
    .trim();
}

const escaped = /^\\[!-/:-@[-`{-~]$/;
