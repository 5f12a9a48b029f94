import Addresses
import PushRequests

/// A request as received.
struct FrontRequest: Sendable {
  var method: String
  var target: String
  var fields: [HeaderField]
  /// The body; nil if it was longer than its route accepts.
  var body: [UInt8]?
  var peer: IPAddress?
}

/// The answer to it.
struct FrontReply: Sendable {
  var status: Int
  var fields: [HeaderField] = []
  var body: [UInt8]

  init(_ body: [UInt8], status: Int = 200) {
    self.status = status
    self.body = body
  }

  init(_ refusal: PushRefusal) {
    status = refusal.status
    fields = refusal.fields
    body = refusal.body
  }
}
