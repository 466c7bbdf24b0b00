import {
  Composer,
  type CST,
  isCollection,
  isScalar,
  Lexer,
  type ParsedNode,
  Parser,
  type YAMLError,
  type Document as YamlDocument,
} from 'yaml';
import { report } from '../catalogue.ts';
import type { Json, Place, Pointer } from '../document.ts';
import { type Located, type ReadContext, Stop } from '../read-context.ts';
import type { Snippet } from '../source.ts';
import { newWalk, readNode } from './values.ts';

/**
 * Reads one YAML 1.2 text (core schema) into a value with the place of everything in it, `!open`, `!none` and `!any` in their
 * JSON forms. Undefined where the text states nothing. `at` is where the value will stand, `depth` how deep that is; a text of the
 * style `flow` is one scalar or one bracketed value and nothing else.
 */
export function readYaml(
  snippet: Snippet,
  at: Pointer,
  depth: number,
  gathering: ReadContext,
  style: 'flow' | 'any' = 'any',
): Located | undefined {
  const document = compose(snippet, gathering);
  if (document === undefined) return undefined;
  if (reportPaths(document.errors, snippet, gathering)) return undefined;
  reportErrors(document.errors, snippet, gathering);
  const { contents } = document;
  if (contents === null || isNothing(contents)) return undefined;
  if (style === 'flow' && (document.errors.length > 0 || !isFlow(contents, snippet.text))) return undefined;
  const places: Located['places'] = new Map();
  let root: Json | undefined;
  try {
    readNode(contents, at, depth, newWalk(snippet, gathering, places), (value) => {
      root = value;
    });
  } catch (cause) {
    if (!(cause instanceof Stop)) throw cause;
  }
  return root === undefined ? undefined : { value: root, places };
}

/** The one document of a YAML text. Depth and length are held while the tokens come in, before anything recurses over them. */
function compose(snippet: Snippet, gathering: ReadContext): YamlDocument.Parsed | undefined {
  const { bounds } = gathering;
  const parser = new Parser();
  const composer = new Composer(composing);
  let documents = 0;
  let lexemes = 0;
  const take = (tokens: Iterable<CST.Token>): boolean => {
    for (const token of tokens) {
      if (token.type === 'document') documents += 1;
      if (documents > 1) {
        const place = snippet.place(token.offset, token.offset + 3);
        report(gathering, 'document/many-documents', place, 'A second YAML document begins here.');
        return false;
      }
      // One document is held back by the composer until its end, so nothing comes out here.
      for (const _ of composer.next(token));
    }
    return true;
  };
  for (const lexeme of new Lexer().lex(snippet.text)) {
    lexemes += 1;
    if (!take(parser.next(lexeme))) return finished(composer, snippet);
    const place = (): Place => snippet.place(parser.offset, parser.offset + 1);
    // Beside the open collections the stack holds the document and the scalar at hand.
    if (parser.stack.length > bounds.depth + 4) {
      report(gathering, 'document/too-deep', place(), `Values are nested more than ${bounds.depth} deep.`);
      return undefined;
    }
    if (lexemes > bounds.tokens) {
      report(gathering, 'document/too-many-values', place(), 'The YAML text is too long to be read.');
      return undefined;
    }
  }
  take(parser.end());
  return finished(composer, snippet);
}

function finished(composer: Composer, snippet: Snippet): YamlDocument.Parsed | undefined {
  for (const document of composer.end(true, snippet.text.length)) return document;
  return undefined;
}

const composing = { version: '1.2', schema: 'core', uniqueKeys: false, prettyErrors: false, resolveKnownTags: false } as const;

/** Reports the paths with braces that stand unquoted within brackets; what else is wrong with a text that has some comes of them. */
function reportPaths(errors: readonly YAMLError[], snippet: Snippet, gathering: ReadContext): boolean {
  const { text } = snippet;
  const starts = errors.flatMap(({ code, pos: [brace] }) => {
    if (code !== 'MISSING_CHAR' || text[brace] !== '{') return [];
    const before = /(?:[A-Z]+ +)?\/[^\s"'{}[\],]*$/.exec(text.slice(Math.max(0, brace - pathMost), brace))?.[0];
    return before === undefined ? [] : [brace - before.length];
  });
  for (const start of starts.slice(0, gathering.bounds.findings)) {
    const [path = ''] =
      /^(?:[A-Z]+ +)?\/(?:\{[^\s{}]*\}|[^\s"'{}[\],:]|:(?!\s))*/.exec(text.slice(start, start + pathMost)) ?? [];
    const place = snippet.place(start, start + path.length);
    report(gathering, 'document/yaml-syntax', place, 'A path with braces is not quoted.', { remedy: `Write \`"${path}"\`.` });
  }
  return starts.length > 0;
}

/** How long a path is looked at. */
const pathMost = 1000;

function reportErrors(errors: readonly YAMLError[], snippet: Snippet, gathering: ReadContext): void {
  const end = snippet.text.length;
  for (const error of errors.slice(0, gathering.bounds.findings)) {
    const [from, to] = error.pos;
    const place = snippet.place(Math.min(from, end), Math.min(Math.max(to, from), end));
    const remedy = remedies[error.code];
    report(gathering, 'document/yaml-syntax', place, sentence(error.message), remedy === undefined ? {} : { remedy });
  }
}

const remedies: Partial<Record<YAMLError['code'], string>> = {
  BAD_DQ_ESCAPE: 'Write `\\\\` for a backslash, or use single quotes.',
  BAD_INDENT: 'Indent the lines of one map or list equally, with spaces.',
  BAD_SCALAR_START: 'Put the value in double quotes.',
  BLOCK_AS_IMPLICIT_KEY: 'Put a value that contains `: ` in double quotes.',
  BLOCK_IN_FLOW: 'Inside `{ }` and `[ ]` write maps and lists with brackets too.',
  MISSING_CHAR: 'Close what was opened, and put a comma between entries.',
  MULTILINE_IMPLICIT_KEY: 'Write the key on one line, with `:` after it.',
  TAB_AS_INDENT: 'Indent with spaces.',
  UNEXPECTED_TOKEN: 'Put text that contains brackets, `#` or `: ` in double quotes.',
};

function sentence(message: string): string {
  const line = message.split('\n', 1)[0] ?? '';
  return line.endsWith('.') ? line : `${line}.`;
}

/** True of a text without a value, such as one of comments alone. */
function isNothing(contents: ParsedNode): boolean {
  return isScalar(contents) && contents.source === '' && contents.type === 'PLAIN' && contents.tag === undefined;
}

function isFlow(contents: ParsedNode, text: string): boolean {
  const flow = isScalar(contents) ? !contents.type?.startsWith('BLOCK') : isCollection(contents) && contents.flow === true;
  return flow && text.slice(contents.range[1]).trim() === '';
}
