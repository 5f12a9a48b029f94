internal import Contracts
internal import Wording

extension RelayRemarkText {
  /// Lines below the table of relays: the remarks on each, the latest first.
  static func lines(_ relays: [RelayStates.Relay], _ style: Style) -> [String] {
    relays.flatMap { relay in
      (relay.remarks ?? []).flatMap { remark in
        style.prose(
          "\(VisibleText.make(relay.relay)) \(words(remark))" + (advice(remark).map { "; \($0)" } ?? "") + ".")
      }
    }
  }
}
