/** A plugin whose hooks and decorators belong to the whole application. */
export function plugin(register) {
  register[Symbol.for('skip-override')] = true;
  return register;
}
