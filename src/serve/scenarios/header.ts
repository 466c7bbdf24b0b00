import type { Json } from '../../document/document.ts';
import { BadScenario, readScenario, type Scenario } from './scenario.ts';

/** What a request asks for in `Ninefold-Scenario`: a scenario of its own, or one by its name. */
type AskedScenario = { readonly own: Scenario } | { readonly name: string };

const lengthMost = 1000;

/**
 * Reads `Ninefold-Scenario`: the name of a scenario, or parts with semicolons between them, such as `status=503; delay=200ms`,
 * `error=sold_out`, `example=empty`, `fault=truncate`, `force`. @throws {BadScenario}
 */
export function readScenarioHeader(text: string): AskedScenario {
  if (text.length > lengthMost) throw new BadScenario(`Ninefold-Scenario is longer than ${lengthMost} characters.`);
  const parts = text.split(';').map((part) => part.trim());
  const [first = ''] = parts;
  if (parts.length === 1 && !first.includes('=') && first !== 'force') return { name: first.replace(/^"(.*)"$/, '$1') };
  const answer: Record<string, Json> = {};
  const scenario: Record<string, Json> = {};
  for (const part of parts) {
    const [, word = part, quoted] = /^([a-z]+)\s*=\s*(.*)$/.exec(part) ?? [];
    const value = quoted?.replace(/^"(.*)"$/, '$1');
    if (word === 'force' && value === undefined) scenario.force = true;
    else if (value !== undefined && (word === 'error' || word === 'example')) answer[word] = value;
    else if (value !== undefined && word === 'status') answer.status = /^\d{3}$/.test(value) ? Number(value) : value;
    else if (value !== undefined && (word === 'delay' || word === 'fault')) scenario[word] = value;
    else
      throw new BadScenario(
        `Ninefold-Scenario: "${part}" is none of its parts: status=503, error=CODE, example=NAME, delay=200ms, fault=cut, force, or the name of a scenario.`,
      );
  }
  if (Object.keys(answer).length > 0) scenario.answer = answer;
  return { own: { ...readScenario(scenario, 'Ninefold-Scenario'), name: parts.join('; ') } };
}
