/** Gives every definition a name of its own, made of the letters that OpenAPI and AsyncAPI allow in one. */
export class DefinitionNames {
  readonly #taken = new Set<string>();

  claim(text: string): string {
    const plain = text.replace(/[^A-Za-z0-9._-]/g, '_') || '_';
    let name = plain;
    for (let number = 2; this.#taken.has(name); number++) name = `${plain}_${number}`;
    this.#taken.add(name);
    return name;
  }
}
