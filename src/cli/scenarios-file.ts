import { BadScenario, readScenarios, type ScenarioInput } from '../serve/scenarios/scenario.ts';
import { readDataFile } from './data-file.ts';
import { Misuse } from './verb.ts';

/** Reads a file of scenarios, a list in YAML or JSON. @throws {Misuse} where it cannot be read, or holds what is no scenario. */
export async function readScenariosFile(path: string): Promise<readonly ScenarioInput[]> {
  const content = await readDataFile(path);
  try {
    // A scenario is told as it was written.
    return readScenarios(content).map(({ name, written }) => ({ ...(written as ScenarioInput), name }));
  } catch (error) {
    if (!(error instanceof BadScenario)) throw error;
    throw new Misuse(`${path}: ${error.message}`, { cause: error });
  }
}
