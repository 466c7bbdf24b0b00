/** Pages at which a list ends, and after its end. */

import { pageStyles } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { Exchange, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import type { PageTold } from '../stand-in.ts';
import { listsIn } from './lists-shown.ts';

/** Whether a request asks for a page after the first, by one of the usual parameters. */
export function asksFurther({ call, params, request }: Exchange): boolean {
  const isInBody = call.method !== 'GET';
  // An address that leads on may say what no parameter is stated for.
  const sent = isInBody
    ? isFields(request)
      ? request
      : {}
    : { ...Object.fromEntries(new URLSearchParams(call.query)), ...params };
  return Object.entries(sent).some(([name, value]) => {
    const plain = name.replaceAll(/[^A-Za-z]/g, '').toLowerCase();
    const isText = typeof value === 'string' && !(isInBody && ordinary.test(plain));
    return pageNames.has(plain) && (isText || typeof value === 'number') && !/^[01]?$/.test(String(value));
  });
}

/** Names by which a body tells of what is sent, and not of pages: `{ from: '+15551113333', to: [ … ] }`. */
const ordinary = /^(?:from|start|begin|since|next)$/;

const pageNames: ReadonlySet<string> = new Set(
  (pageStyles as readonly PageStyle[]).flatMap(({ parameters }) => parameters.flatMap(({ usualNames }) => usualNames)),
);

/** What nobody knows more of has one page: on a later one no list has an item, and nothing leads on. */
export function endPages(whole: Value, depth: number): void {
  if (!isFields(whole) || depth > 1) return;
  for (const [name, value] of Object.entries(whole)) {
    if (Array.isArray(value)) whole[name] = [];
    else if (/^(?:next|has_?more)/i.test(name)) {
      if (typeof value === 'boolean') whole[name] = false;
      else delete whole[name];
    } else endPages(value, depth + 1);
  }
}

/** Compiles the emptying of a page behind the last row, where the list of an answer has to hold something (`minItems`): who walks on would meet samples without an end. */
export function compileEmptyPage(shape: Shape, samples: Samples): (whole: Value, page: PageTold | undefined) => Value {
  const [list, ...others] = listsIn(shape, samples);
  if (!list || others.length > 0) return (whole) => whole;
  const { name } = list;
  return (whole, page) => {
    if (!page || page.shown > 0 || (page.total ?? 0) === 0) return whole;
    if (name === undefined) return [];
    return isFields(whole) && Array.isArray(whole[name]) ? { ...whole, [name]: [] } : whole;
  };
}
