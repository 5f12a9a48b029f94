/// Which relays are asked once at the beginning, so that the first choice rests on what they hold: each declared relay,
/// for all who declare it.
public enum RelayCensus {
  /// Relays at most: what twelve dials a minute reach in two hours.
  public static let relayMaximum = 1_440

  /// The relays and whom each is asked for: those that a monitor calls alive before others (unless it would leave out
  /// nearly everything), then those with most authors.
  public static func plan(_ candidates: RelayCandidates) -> [RelayAssignment.Ask] {
    let index = RelayIndex(candidates)
    let relays = (0..<Int32(candidates.relayCount)).filter { !index.range(Int($0)).isEmpty }
    func rank(_ relay: Int32) -> (Int, Int, Int32) {
      let isListed = candidates.alive.map { Int(relay) < $0.count && $0[Int(relay)] } ?? true
      return (isListed ? 0 : 1, -index.range(Int(relay)).count, relay)
    }
    return relays.sorted { rank($0) < rank($1) }.prefix(relayMaximum)
      .map { RelayAssignment.Ask(relay: $0, authors: index.authors(of: $0, in: candidates)) }
  }
}
