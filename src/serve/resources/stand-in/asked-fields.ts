import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { WireFile } from '../../http/violation.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { AskedFields } from '../stand-in.ts';

/**
 * Compiles what a creation says of the new row beside its body: a parameter of the query that is called like a field (`POST /hooks?site_id=s1`,
 * `POST /boxes/create?name=a`), and of a file that is sent, its name, size and media type.
 */
export function compileAskedFields({ parameters }: Endpoint, { fields }: RowModel, samples: Samples): AskedFields {
  const fieldCalled = new Map([...fields.keys()].map((name) => [plain(name), name]));
  const queries = entriesOf(parameters).flatMap(([, { name, in: place }]): [string, string][] => {
    const field = place === 'query' ? fieldCalled.get(plain(name)) : undefined;
    return field === undefined ? [] : [[name, field]];
  });
  const ofFiles = [...fields.keys()].flatMap((name): [string, (file: WireFile) => Value][] => {
    const tell = fileFields.find(({ named }) => named.test(name))?.tell;
    return tell ? [[name, tell]] : [];
  });
  const fits = (name: string, value: Value) =>
    value !== undefined && samples.of(statedValue(fields.get(name)?.shape ?? open) ?? {}, name).fits(value);
  return ({ params, request }: Exchange, sent) => {
    const out: Fields = {};
    const keep = (name: string, value: Value) => {
      if (sent[name] === undefined && out[name] === undefined && fits(name, value)) out[name] = value;
    };
    for (const [name, field] of queries) keep(field, params[name]);
    const file = isFields(request) ? Object.values(request).find((value: unknown) => value instanceof WireFile) : undefined;
    if ((file as unknown) instanceof WireFile) for (const [name, tell] of ofFiles) keep(name, tell(file as unknown as WireFile));
    return out;
  };
}

const open = { standing: 'open', at: '' } as const;

/** What the fields of a file are called that tell of what was sent. */
const fileFields: readonly { readonly named: RegExp; readonly tell: (file: WireFile) => Value }[] = [
  { named: /^(?:original_?)?(?:file_?)?name$/i, tell: ({ filename }) => filename },
  { named: /^(?:bytes|(?:file_?|content_?)?(?:size|length)|size_?(?:in_?)?bytes)$/i, tell: ({ bytes }) => bytes.length },
  { named: /^(?:mime_?type|content_?type|media_?type)$/i, tell: ({ type }) => type },
];

function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}
