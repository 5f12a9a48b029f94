public import Addresses
public import Contracts
internal import Frames
internal import Nostr

extension MirrorWishes {
  /// What the settings say. `roostd` has checked their URLs and filters; what cannot be read is left out.
  ///
  /// - Parameters:
  ///   - settings: the settings.
  ///   - archives: their relays that are asked for what is public.
  public init(_ settings: MirrorSettings, archives: [RelayURL]) {
    self.init(followsSeconds: settings.keepFollowsMilliseconds / 1_000, archives: archives)
    byteMaximums = [
      .named: settings.keepNamedBytes, .wraps: settings.keepWrapsBytes, .follows: settings.keepFollowsBytes,
    ]
    keeps = settings.keep.compactMap { keep in
      // `try?`: `roostd` has checked them; a worker that was started by hand leaves out what is wrong.
      guard MirrorKeep.objection(to: keep.filter) == nil, let filter = try? Filter(json: Array(keep.filter.utf8)) else {
        return nil
      }
      return Keep(
        name: keep.name, filter: filter, relays: keep.relays.compactMap { try? RelayURL($0) },
        byteMaximum: keep.bytes)
    }
  }
}
