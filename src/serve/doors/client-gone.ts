/** What reading a body ends in when the client went away or broke off: nobody waits for an answer any more. */
export class ClientGone extends Error {
  constructor(options?: ErrorOptions) {
    super('The client went away before its request was complete.', options);
  }
}
