import Cryptography
import Nostr
import Reconciliation
import TestSupport

/// A relay that reconciles (NIP-77), as a script: what it has, and what is wrong with it.
struct ReconcilingRelay: Sendable {
  /// What it has.
  var events: [Event]
  /// Ids that it names, and does not have.
  var phantoms: [EventID] = []
  /// With more events in a window it refuses with this reason, and tells this number.
  var recordMaximum: Int?
  var refusal = "blocked: this query is too big"
  /// The most events that it sends for a REQ.
  var cap = Int.max

  /// Serves until the other side leaves.
  var step: RelayStep {
    RelayStep("reconcile") { peer in
      var side: Reconciler?
      while true {
        let text = try peer.next()
        switch try? Self.read(text) {
        case .reconciliation(let id, let filter, let message)?:
          let records = records(filter)
          if let recordMaximum, records.count > recordMaximum {
            try peer.send(WebSocketFrame.text(#"["NEG-ERR","\#(id)","\#(refusal)",\#(recordMaximum)]"#).bytes)
            continue
          }
          let opened = Reconciler(ReconcileRecords(records))
          side = opened
          try Self.answer(message, opened, id, peer)
        case .reconciliationMessage(let id, let message)?: if let side { try Self.answer(message, side, id, peer) }
        case .subscription(let id, let filters)?: try send(filters, id, peer)
        default: break
        }
      }
    }
  }

  private static func read(_ text: String) throws -> ClientMessage {
    try Array(text.utf8).withUnsafeBytes { try ClientMessage($0) }
  }

  private static func answer(_ message: [UInt8], _ side: Reconciler, _ id: String, _ peer: RelayConversation) throws {
    let answer = Hexadecimal.text(of: try side.answer(to: message))
    try peer.send(WebSocketFrame.text(#"["NEG-MSG","\#(id)","\#(answer)"]"#).bytes)
  }

  private func records(_ filter: Filter) -> [ReconcileRecord] {
    let window = (filter.since ?? 0)...(filter.until ?? .max)
    let own = events.filter { window.contains($0.createdAt) }.map {
      ReconcileRecord(timestamp: UInt64($0.createdAt), id: $0.id)
    }
    return own + phantoms.map { ReconcileRecord(timestamp: UInt64(window.lowerBound), id: $0) }
  }

  private func send(_ filters: [Filter], _ id: String, _ peer: RelayConversation) throws {
    let wanted = Set(filters.flatMap { $0.ids ?? [] })
    for event in events.filter({ wanted.contains($0.id) }).prefix(cap) {
      try peer.send(WebSocketFrame.text(#"["EVENT","\#(id)",\#(String(decoding: event.json, as: UTF8.self))]"#).bytes)
    }
    try peer.send(WebSocketFrame.text(#"["EOSE","\#(id)"]"#).bytes)
  }
}
