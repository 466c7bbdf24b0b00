import type { Json } from '../../../document/document.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { Flaw } from '../../exchange/claim.ts';
import type { Model } from '../../model/model.ts';

/** What is wrong with the value of a header that is stated by its shape; nothing where one reading of the text fits. */
export function headerFlaw(model: Model, name: string, shape: Shape, text: string): Flaw | undefined {
  const fits = model.schemas.of(shape, 'shown');
  const misfits = readings(text).map((value) => fits(value));
  if (misfits.some((list) => list.length === 0)) return undefined;
  const said = misfits.flatMap(([first]) => (first ? [first.message] : []));
  return { promised: `a header ${name} that ${said.at(-1) ?? 'fits its shape'}`, seen: text };
}

/** What a header may mean: the text, the number or word that it is written like, and a list by commas (RFC 9110 section 5.6.1). */
function readings(text: string): Json[] {
  const list = text.split(',').map((item) => item.trim());
  return [list, list.map(scalar), text, scalar(text)];
}

function scalar(text: string): Json {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : text;
}
