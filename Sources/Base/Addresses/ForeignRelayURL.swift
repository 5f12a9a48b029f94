/// A relay's address out of an event that somebody else has signed: a request for a job, a stranger's list.
///
/// It is a type of its own, which nothing turns into a relay of the user's own choice by itself: who is given one plans
/// it as foreign, and it is dialled at public addresses only (`RelayURL.isPublic`, and `AddressScope` once more when
/// the name has been looked up), within a dial budget that is not the user's.
public struct ForeignRelayURL: Hashable, Sendable, CustomStringConvertible {
  /// The address, for telling it, and for plans that stay foreign.
  public let url: RelayURL

  /// An address that somebody else has named.
  public init(_ url: RelayURL) { self.url = url }

  /// The address.
  public var description: String { url.text }
}
