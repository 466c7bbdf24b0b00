import type { Json, JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { isPlainMap } from '../../parts/source.ts';
import { readDataFile } from '../data-files.ts';
import { Misuse, type Option, type VerbCall } from '../verb.ts';

/** What an option is called in the environment: `NINEFOLD_DRAIN_DELAY` is `--drain-delay`. */
export function variableOf(option: string): string {
  return `NINEFOLD_${option.replaceAll('-', '_').toUpperCase()}`;
}

/**
 * Options as they are given, from the first that says so: the command line, the environment, the file of `--settings`. There, an option without
 * a value is `true` or `false`; one that may be given several times is a list in the file, and words with blanks between them in the environment.
 * @throws {Misuse} for a file that cannot be read, an option that there is not, or a value that it does not take.
 */
export async function withSettings(
  asked: VerbCall,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<VerbCall> {
  const path = asked.value('settings') ?? given(environment, 'settings');
  const file = path === undefined ? [] : fileSettings(path, await readDataFile(path), asked.options);
  const layers: Layer[] = [...environmentSettings(environment, asked.options), ...file];
  const beside = new Map<string, Layer>();
  for (const layer of layers) if (!asked.has(layer.option) && !beside.has(layer.option)) beside.set(layer.option, layer);
  const values = (option: string) => beside.get(option)?.values;
  return {
    ...asked,
    spelt: (option) => beside.get(option)?.spelt ?? asked.spelt(option),
    has: (option) => asked.has(option) || values(option) !== undefined,
    value: (option) => asked.value(option) ?? values(option)?.at(-1),
    values: (option) => values(option) ?? asked.values(option),
  };
}

/** What one place says of one option; nothing where it says that it is not wanted. */
interface Layer {
  readonly option: string;
  readonly spelt: string;
  /** Empty for an option without a value. */
  readonly values: readonly string[] | undefined;
}

/** A variable; one that is empty counts as not there. */
function given(environment: Readonly<Record<string, string | undefined>>, option: string): string | undefined {
  return environment[variableOf(option)] || undefined;
}

function environmentSettings(
  environment: Readonly<Record<string, string | undefined>>,
  options: Readonly<Record<string, Option>>,
): Layer[] {
  return Object.entries(options).flatMap(([option, { value, many }]) => {
    const text = given(environment, option);
    if (text === undefined) return [];
    const spelt = variableOf(option);
    if (value === undefined) return [{ option, spelt, values: switched(spelt, text) }];
    return [{ option, spelt, values: many ? text.trim().split(/\s+/) : [text] }];
  });
}

/** Variables that are no options and are written nearly like one, each with what was meant: others may be somebody else's. */
export function misspeltVariables(
  environment: Readonly<Record<string, string | undefined>>,
  options: Readonly<Record<string, Option>>,
): string[] {
  const known = new Map(Object.keys(options).map((option) => [variableOf(option), option]));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('NINEFOLD_') || known.has(name) || environment[name] === '') return [];
    const word = (variable: string) => variable.slice('NINEFOLD_'.length);
    const meant = nearest(word(name), [...known.keys()].map(word));
    return meant === undefined ? [] : [`${name} says nothing: there is no such setting. Did you mean NINEFOLD_${meant}?`];
  });
}

function fileSettings(path: string, read: Json | undefined, options: Readonly<Record<string, Option>>): Layer[] {
  if (!isPlainMap(read)) throw new Misuse(`${path}: settings are a map from option to value, such as "port: 8080".`);
  return Object.entries(read as JsonMap).map(([option, value]) => {
    const known = Object.hasOwn(options, option) && option !== 'settings' ? options[option] : undefined;
    const spelt = `${path}: ${option}`;
    if (known === undefined) throw unknownSetting(spelt, option, options);
    if (known.value === undefined) return { option, spelt, values: switched(spelt, String(value)) };
    const all = known.many && Array.isArray(value) ? value : [value];
    if (!all.every((one) => typeof one === 'string' || typeof one === 'number'))
      throw new Misuse(`${spelt}: write ${known.value}, as a text or a number${known.many ? ', or a list of such' : ''}.`);
    return { option, spelt, values: all.map(String) };
  });
}

function switched(spelt: string, text: string): readonly string[] | undefined {
  if (text === 'true' || text === '1') return [];
  if (text === 'false' || text === '0') return undefined;
  throw new Misuse(`${spelt} ${text}: write true or false.`);
}

function unknownSetting(spelt: string, option: string, options: Readonly<Record<string, Option>>): Misuse {
  const known = Object.keys(options).filter((name) => name !== 'settings');
  const meant = nearest(option, known);
  return new Misuse(
    `${spelt}: there is no such setting. ${meant === undefined ? `There are ${known.join(', ')}.` : `Did you mean ${meant}?`}`,
  );
}
