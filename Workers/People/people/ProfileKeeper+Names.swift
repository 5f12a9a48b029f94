import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Nostr
import Profiles

// people.name: the word of a name's server, kept for its time. Which claims are looked up is the caller's decision; no
// claim is looked up by itself, because the hosts are chosen by strangers.

extension ProfileKeeper {
  func name(_ wanted: PeopleName) async throws(Refusal) -> NameClaim? {
    guard let key = PublicKey(wanted.pubkey) else {
      throw Refusal(
        .badRequest, "'pubkey' is no key: 64 lower-case hexadecimal digits are expected", outcome: .notStarted)
    }
    var text = wanted.name
    if text == nil { text = try await read([key])[key]?.claimedName }
    guard let text else {
      throw Refusal(.noSuchName, "the profile of \(key.npub) claims no name (NIP-05)", outcome: .notStarted)
    }
    guard let identifier = InternetIdentifier(text) else {
      throw Refusal(.badRequest, "'name' is not name@domain, nor a domain", outcome: .notStarted)
    }
    let name = identifier.description
    if let known = claims.claim(name, by: key, at: EventLoop.process.now) { return known }
    let finding: NameClaims.Finding
    do throws(Refusal) {
      let found = try await bus.request(RelayMethod.resolveName, NameResolve(name: name))
      guard let owner = PublicKey(found.pubkey) else {
        throw Refusal(.badPayload, "the key of \(name) cannot be read")
      }
      finding = .key(owner)
    } catch {
      switch error.code {
      case .noSuchName: finding = .unknown(error.message)
      case .nameUnreachable, "timed-out": finding = .unreachable(error.message)
      // No connector may ask, or has asked for too many names: that says nothing of the name.
      default: throw error
      }
    }
    claims.found(name, finding, at: EventLoop.process.now, wall: WallClock.seconds)
    changed(key)
    return claims.claim(name, by: key, at: EventLoop.process.now)
  }
}
