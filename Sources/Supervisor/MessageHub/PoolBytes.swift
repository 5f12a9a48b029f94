/// Payload bytes kept in mailboxes and with unanswered requests.
struct PoolBytes {
  private(set) var count = 0

  mutating func keep(_ payload: HubPayload) { count += payload.storedByteCount }

  mutating func release(_ payload: HubPayload) { count -= payload.storedByteCount }
}
