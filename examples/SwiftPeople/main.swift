internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient

// The feed of one's own account in a terminal: example-people [PERSON]. PERSON is an npub, a key or a name such as
// bob@example.com, and is followed first. Then the last texts of the people whom the account follows, each with the
// name that its author goes by, and each new one as it comes, until Ctrl-C.
//
// Kill any worker meanwhile: it waits, and misses nothing.

/// The key that a text means.
@EventLoopActor
func person(_ text: String, _ roost: RoostClient) async throws(Refusal) -> PublicKey {
  if let key = PublicKey(text) { return key }
  // `try?`: what is no key is a name.
  if case .publicKey(let key)? = try? NostrEntity(text) { return key }
  guard let key = PublicKey(try await roost.resolve(text).pubkey) else {
    throw Refusal(.failed, "\(text) leads to no key", outcome: .done)
  }
  return key
}

/// The names of authors, each asked for once; ready to be shown.
@EventLoopActor
final class Names {
  private let roost: RoostClient
  private var known: [PublicKey: String] = [:]

  /// The most names that are remembered; then they are asked for again.
  private static let countMaximum = 1_000

  init(_ roost: RoostClient) { self.roost = roost }

  func name(of key: PublicKey) async throws(Refusal) -> String {
    if let name = known[key] { return name }
    if known.count >= Self.countMaximum { known = [:] }
    // What is known here; a feed is no reason to ask relays for each author.
    for try await page in roost.profiles([key], policy: .cacheOnly) {
      for profile in page.profiles { known[key] = profile.shownName }
    }
    return known[key] ?? "\(key.npub.prefix(12))…"
  }
}

RoostClient.run(ClientSettings(name: "example-people")) { (roost: RoostClient) throws(Refusal) in
  try await roost.connect()
  if let text = CommandLine.arguments.dropFirst().first {
    let list = try await roost.follow([try await person(text, roost)])
    // The version is on its way to the store, and the feed goes by it.
    if list.isNew, let id = list.id.flatMap({ EventID($0) }) {
      for try await item in roost.observe(Filter(ids: [id]), options: ObserveOptions(policy: .cacheOnly)) {
        if case .event = item { break }
      }
    }
    print(list.isNew ? "followed: \(list.after) people now" : "followed already, with \(list.after) people in all")
  }
  let names = Names(roost)
  for try await item in roost.feed(PeopleFeed(kinds: [EventKind.textNote])) {
    switch item {
    case .event(let received):
      // Quoted with escapes: the text is a stranger's, and must not drive the terminal.
      let event = received.event
      print("\(try await names.name(of: event.pubkey)): \(String(reflecting: event.content))")
    case .storedEnd: print("-- what follows is new --")
    case .state(let state): print("-- the feed of \(state.people ?? 0) people --")
    }
    fflush(nil)
  }
}
