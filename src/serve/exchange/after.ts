/** A value, or the promise of it: what is answered by whatever may have to wait, such as a store, a key set or a handler. */
export type PromiseOrValue<T> = T | Promise<T>;

/**
 * Goes on with a value: at once where it is there, later where it is promised. This file is the one way on from a
 * `PromiseOrValue`; no promise is made where nothing has to be waited for. What `next` throws is thrown in the first case
 * and is the rejection in the second; a promise that is rejected goes to `failed`, where there is one, and never to `next`.
 */
export function after<T, R>(
  value: PromiseOrValue<T>,
  next: (value: T) => PromiseOrValue<R>,
  failed?: (failure: unknown) => PromiseOrValue<R>,
): PromiseOrValue<R> {
  return value instanceof Promise ? value.then(next, failed) : next(value);
}

/** The same with what the way on needs besides the value, so that nothing is made to hold it where the value is there. */
export function afterFor<C, T, R>(
  context: C,
  value: PromiseOrValue<T>,
  next: (value: T, context: C) => PromiseOrValue<R>,
): PromiseOrValue<R> {
  return value instanceof Promise ? value.then((told) => next(told, context)) : next(value, context);
}
