import type { FindingKind } from './catalogue.ts';

/** What is found in a document of another language while it is taken over: it was shipped so, so none of it is an error. */
export const foreignFindings = [
  warning(
    'ref-unresolved',
    'A reference leads to nothing, or round in a circle.',
    'Correct the reference; until then what it stood for is open.',
  ),
  warning(
    'invalid',
    'A value is none that the format has at its place.',
    'Write what the format asks for; the value was left out.',
  ),
  warning(
    'contradiction',
    'Two things that the source says exclude each other.',
    'Correct one of the two; the one that is marked was left out.',
  ),
  warning('too-deep', 'Schemas are nested deeper than the importer follows.', 'Name the inner schema, and refer to it.'),
  warning(
    'parameter-twice',
    'Two parameters of one operation have the same name in different places.',
    'Give one of them another name, if the interface allows it; the first was kept.',
  ),
  warning(
    'other-version',
    'A word of another version of the format stands in the document.',
    'Write the word of the version that the document names; it was read as it was meant.',
  ),
  warning(
    'not-read-back',
    'An export of this project was changed where it only repeats what stands elsewhere in it.',
    'Change it where it is stated: the schema of the resource, the parameter, the answer, or the words under `x-ninefold`.',
  ),
] as const satisfies readonly FindingKind[];

/** The code of a finding of taking over. */
export type ForeignCode = (typeof foreignFindings)[number]['code'];

function warning<const Name extends string>(name: Name, meaning: string, remedy: string) {
  return { code: `import/${name}`, severity: 'warning', meaning, remedy } as const;
}
