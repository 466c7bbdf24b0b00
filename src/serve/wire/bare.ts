/** An empty object that inherits no names; unlike one of `Object.create(null)`, it has the fast layout that V8 gives what `new` makes. */
export function newBare<Value>(): Record<string, Value> {
  return new Bare() as Record<string, Value>;
}

function BareObject(): void {}
BareObject.prototype = Object.create(null);
// The cast holds: `new` on a function whose prototype inherits nothing gives an empty object that inherits nothing.
const Bare = BareObject as unknown as new () => Record<string, unknown>;
