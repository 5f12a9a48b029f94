/// A relay's address from an event that another person signed: a job request, a stranger's list.
///
/// It is a separate type so that it never turns into a relay of the user's own choice by accident. Code that receives
/// one plans it as foreign. It is dialled at public addresses only (`RelayURL.isPublic`, and `AddressScope` again after
/// the name was resolved), within a dial budget of its own, separate from the user's.
public struct ForeignRelayURL: Hashable, Sendable, CustomStringConvertible {
  /// The address, for messages, and for plans that stay foreign.
  public let url: RelayURL

  /// An address that another person named.
  public init(_ url: RelayURL) { self.url = url }

  /// The address.
  public var description: String { url.text }
}
