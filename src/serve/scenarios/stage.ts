/** The scenarios that are played, and which of them a request asks for. */

import { hash } from 'node:crypto';
import type { Json, JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import type { Exchange, Plan } from '../exchange/exchange.ts';
import { BadScenario, readScenario, readScenarios, type Scenario, type ScenarioInput, scenariosMost } from './scenario.ts';

/** A scenario as it is told: what was written, and what became of it. */
export interface ToldScenario extends ScenarioInput {
  readonly name: string;
  /** For how many requests it was meant so far, and how many of them it changed. */
  readonly met: number;
  readonly played: number;
}

/** The scenarios of a service by name, which its library, its files and its workbench share. They outlive the document that is served. */
export interface Scenarios {
  list(): readonly ToldScenario[];
  /** Puts these in the place of all. @throws {BadScenario} */
  replace(scenarios: readonly ScenarioInput[]): void;
  /** Adds one before the others; one of the same name goes. Gives its name. @throws {BadScenario} */
  add(scenario: ScenarioInput): string;
  /** Takes one away; whether it was there. */
  remove(name: string): boolean;
}

/** What is played for one request. */
export interface Played {
  readonly name: string;
  readonly scenario: Scenario;
  /** The n-th request that it was meant for. */
  readonly met: number;
}

interface Standing {
  readonly scenario: Scenario;
  met: number;
  played: number;
}

/** Finds what is to be played for a request, and counts it. */
export class Stage implements Scenarios {
  readonly #seed: string;
  readonly #demand: (scenarios: readonly Scenario[]) => void;
  #standing: Standing[] = [];
  #byPlan = new WeakMap<Plan, readonly Standing[]>();
  #number = 0;
  readonly #asked = new Map<string, Scenario>();

  /** `demand` throws for scenarios that cannot be played over the document of the time. */
  constructor(seed: string, demand: (scenarios: readonly Scenario[]) => void, scenarios: readonly ScenarioInput[] = []) {
    this.#seed = seed;
    this.#demand = demand;
    this.replace(scenarios);
  }

  list(): readonly ToldScenario[] {
    return this.#standing.map(({ scenario, met, played }) => ({
      ...(scenario.written as ScenarioInput),
      name: scenario.name,
      met,
      played,
    }));
  }

  replace(scenarios: readonly ScenarioInput[]): void {
    const read = readScenarios(structuredClone(scenarios) as unknown as JsonMap[]);
    this.#demand(read);
    this.#become(read.map(standing));
  }

  add(input: ScenarioInput): string {
    this.#number += 1;
    const scenario = readScenario(structuredClone(input) as unknown as JsonMap, `scenario ${this.#number}`);
    this.#demand([scenario]);
    const others = this.#standing.filter((one) => one.scenario.name !== scenario.name);
    if (others.length >= scenariosMost)
      throw new BadScenario(`There are ${scenariosMost} scenarios, which are the most; remove some first.`);
    this.#become([standing(scenario), ...others]);
    return scenario.name;
  }

  remove(name: string): boolean {
    const others = this.#standing.filter((one) => one.scenario.name !== name);
    const isThere = others.length < this.#standing.length;
    if (isThere) this.#become(others);
    return isThere;
  }

  /** Counts begin anew. */
  rewind(): void {
    for (const one of this.#standing) {
      one.met = 0;
      one.played = 0;
    }
  }

  /** What is played for a request; nothing for most. @throws {BadScenario} where it asks for what cannot be. */
  find(exchange: Exchange): Played | undefined {
    const { 'ninefold-scenario': own, prefer } = exchange.call.headers;
    const asked = own ?? (prefer === undefined ? undefined : statusPreferred(String(prefer)));
    if (asked !== undefined) return this.#find(exchange, String(asked));
    if (this.#standing.length === 0) return undefined;
    for (const one of this.#of(exchange.plan)) {
      if (one.scenario.asked || !isFor(one.scenario, exchange)) continue;
      const played = this.#count(one);
      if (played) return played;
    }
    return undefined;
  }

  #find(exchange: Exchange, text: string): Played | undefined {
    const own = this.#asked.get(text);
    if (own) return { name: own.name, scenario: own, met: 1 };
    const asked = readScenarioHeader(text);
    if ('own' in asked) {
      if (this.#asked.size >= askedMost) this.#asked.clear();
      this.#asked.set(text, asked.own);
      return { name: asked.own.name, scenario: asked.own, met: 1 };
    }
    const found = this.#standing.find(({ scenario }) => scenario.name === asked.name);
    if (found) return isFor(found.scenario, exchange) && this.#of(exchange.plan).includes(found) ? this.#count(found) : undefined;
    const names = this.#standing.map(({ scenario }) => scenario.name);
    const meant = nearest(asked.name, names);
    const known = names.length === 0 ? 'there are none' : `there are ${names.slice(0, 12).join(', ')}`;
    throw new BadScenario(
      `There is no scenario "${asked.name}"; ${meant === undefined ? known : `did you mean "${meant}"?`} Or write parts such as status=503; delay=200ms.`,
    );
  }

  #count(one: Standing): Played | undefined {
    const { calls, share, name } = one.scenario;
    one.met += 1;
    if (calls && (one.met < calls.from || one.met > calls.to)) return undefined;
    if (share !== undefined && chance(`${this.#seed}\n${name}\n${one.met}`) >= share) return undefined;
    one.played += 1;
    return { name, scenario: one.scenario, met: one.met };
  }

  /** Those that are for an operation, found once. */
  #of(plan: Plan): readonly Standing[] {
    const known = this.#byPlan.get(plan);
    if (known) return known;
    const names = [plan.operation.name, plan.endpoint.key];
    const found = this.#standing.filter(({ scenario: { on } }) => on?.some((one) => names.includes(one)) ?? true);
    this.#byPlan.set(plan, found);
    return found;
  }

  #become(standing: Standing[]): void {
    this.#standing = standing;
    this.#byPlan = new WeakMap();
  }
}

/** So many different texts of the header are remembered as they were read. */
const askedMost = 100;

function standing(scenario: Scenario): Standing {
  return { scenario, met: 0, played: 0 };
}

function isFor({ caller, row }: Scenario, exchange: Exchange): boolean {
  if (caller !== undefined && exchange.caller?.id !== caller) return false;
  return row === undefined || Object.values(exchange.pathParams).includes(row);
}

/** A number from 0 to 1 that follows from a text. */
export function chance(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) / 2 ** 48;
}

/** The status that `Prefer` (RFC 7240) asks for as `code=503`, with the example beside it, in the words of `Ninefold-Scenario`. */
function statusPreferred(prefer: string): string | undefined {
  const code = /(?:^|[;,]\s*)code\s*=\s*"?(\d{3})"?\s*(?:[;,]|$)/i.exec(prefer)?.[1];
  const example = /(?:^|[;,]\s*)example\s*=\s*"?([^";,]{1,100})"?/i.exec(prefer)?.[1]?.trim();
  if (code === undefined) return undefined;
  return example === undefined ? `status=${code}` : `status=${code}; example=${example}`;
}

/** What a request asks for in `Ninefold-Scenario`: a scenario of its own, or one by its name. */
type AskedScenario = { readonly own: Scenario } | { readonly name: string };

const lengthMost = 1000;

/**
 * Reads `Ninefold-Scenario`: the name of a scenario, or parts with semicolons between them, such as `status=503; delay=200ms`,
 * `error=sold_out`, `example=empty`, `fault=truncate`, `force`. @throws {BadScenario}
 */
function readScenarioHeader(text: string): AskedScenario {
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
