internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient

// Notes in a terminal: example-notes [TEXT]. Publishes TEXT, if there is one, signed by the signer's one account; shows
// the last ten notes that are stored, and then each new one as it comes, until Ctrl-C.
//
// Restart roostd or kill the event store meanwhile: it waits, and misses nothing.

/// Who wrote it: the name they go by, if it is stored, and always the beginning of the key, which nobody can imitate.
@EventLoopActor
func author(_ key: PublicKey, _ roost: RoostClient) async -> String {
  let short = "\(key.npub.prefix(12))…"
  // A profile that cannot be read is no reason to stop.
  guard let name = (try? await roost.profile(key))?.bestName else { return short }
  return "\(String(reflecting: name)) \(short)"
}

RoostClient.run(ClientSettings(name: "example-notes")) { (roost: RoostClient) throws(Refusal) in
  try await roost.connect()
  if let text = CommandLine.arguments.dropFirst().first {
    let published = try await roost.publish(.note(text))
    print("published \(published.event.id.note), for \(published.publication.targets.count) relays")
  }
  for try await item in roost.observe(Filter(kinds: [EventKind.textNote], limit: 10)) {
    switch item {
    case .event(let received):
      // Quoted with escapes: the text is a stranger's, and must not drive the terminal.
      print("\(await author(received.event.pubkey, roost)): \(String(reflecting: received.event.content))")
    case .storedEnd(let seq):
      print("-- all up to number \(seq); what follows is new --")
    }
    fflush(nil)
  }
}
