internal import Addresses
internal import ArgumentParser
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import Rendering
internal import RoostClient

// `roost encode` and `roost decode` need no running Roost, except for a name (NIP-05) or an account.

/// `roost decode`
struct Decode: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Says what is in npub1…, note1…, nevent1… and the like, or behind a name (NIP-19, NIP-05).",
    discussion: """
      TEXT is npub, nprofile, note, nevent, naddr or nrelay, with or without nostr: in front; 64 hexadecimal digits, which \
      are shown both as a key and as an event's id; or name@domain, which the running Roost looks up. Without --json the first \
      line is the key, the id or the address alone.

      A secret key (nsec) is not decoded: its digits are the key without its checksum, and would be in the terminal and \
      its history. 'roost key import' reads one.

        roost decode npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6
        roost decode nevent1… --json | jq -r .relays[]
      """)
  @Argument(help: ArgumentHelp("What to decode; - for lines of standard input.", valueName: "text"))
  var texts: [String]
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    for text in texts {
      guard text == "-" else {
        try await show(text, in: session)
        continue
      }
      let source = try LineSource("-")
      while let line = try await source.next() {
        let text = String(decoding: line, as: UTF8.self)
        if let first = text.split(whereSeparator: \.isWhitespace).first { try await show(String(first), in: session) }
      }
    }
    return .done
  }

  @EventLoopActor
  private func show(_ text: String, in session: CommandSession) async throws(Refusal) {
    let decoded = try await Self.decoded(text, in: session)
    await session.print(decoded, decoded.lines)
  }

  @EventLoopActor
  private static func decoded(_ text: String, in session: CommandSession) async throws(Refusal) -> DecodedEntity {
    if let digits = EventID(text.lowercased()) { return DecodedEntity(digits: digits) }
    if KeyArgument.isName(text) {
      try await session.client.connect()
      let found = try await session.resolved(text)
      return DecodedEntity(name: found.key, relays: found.relays)
    }
    do throws(EntityFault) {
      let isURI = text.lowercased().hasPrefix("nostr:")
      return DecodedEntity(try isURI ? NostrEntity(uri: text) : NostrEntity(text))
    } catch {
      let shown = SpottedSecret.redacted(String(text.prefix(shownLengthMaximum)))
      let reason =
        error == .secret
        ? "that is a secret key, and is not decoded; 'roost key import NAME' reads one"
        : "'\(shown)' cannot be decoded: \(error)"
      throw Refusal(.badRequest, reason, outcome: .notStarted)
    }
  }

  /// The most characters of a wrong text that are repeated.
  private static let shownLengthMaximum = 100
}

/// `roost encode`
struct Encode: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Makes npub1…, note1…, nprofile1…, nevent1… or naddr1… (NIP-19).",
    discussion: """
      A key is 64 hexadecimal digits, npub, nprofile, name@domain (NIP-05) or one of the signer's accounts; an id is 64 \
      hexadecimal digits, note or nevent. An address is kind:pubkey:d, or comes from --kind, --author and --identifier.

        roost encode npub 3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d
        roost encode nevent note1… --relay wss://relay.example --author alice
        roost encode naddr --kind 30023 --author alice --identifier my-article --uri
      """)

  /// What can be made.
  enum Form: String, CaseIterable, Sendable {
    case npub, nprofile, note, nevent, naddr

    static let words = allCases.map(\.rawValue)

    @Sendable static func read(_ text: String) throws -> Form {
      if let form = Form(rawValue: text) { return form }
      throw ValidationError(
        text == "nsec"
          ? "A secret key is not encoded here: it must not be an argument. 'roost key import NAME' reads one, in digits too."
          : "It is one of \(words.joined(separator: ", ")).")
    }
  }

  @Argument(
    help: "What to make: \(Form.words.joined(separator: ", ")).", completion: .list(Form.words), transform: Form.read)
  var form: Form
  @Argument(help: ArgumentHelp("The key, the id or the address.", valueName: "value"))
  var value: String?
  @Option(
    name: .shortAndLong, help: ArgumentHelp("Where it may be found; several times.", valueName: "url"))
  var relay: [String] = []
  @Option(name: .shortAndLong, help: ArgumentHelp("Who wrote it.", valueName: "key"))
  var author: String?
  @Option(name: .shortAndLong, help: ArgumentHelp("Its kind.", valueName: "number"), transform: KindArgument.read)
  var kind: UInt16?
  @Option(name: [.customShort("d"), .long], help: ArgumentHelp("The address's d.", valueName: "text"))
  var identifier: String?
  @Flag(help: "With nostr: in front (NIP-21).")
  var uri = false
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    let text: String
    let uri: String
  }

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    let (isPlain, isAddress) = (form == .npub || form == .note, form == .naddr)
    if value == nil, !isAddress { throw ValidationError("What is to be encoded?") }
    if isPlain, !relay.isEmpty {
      throw ValidationError("An \(form) has no relays; \(form == .npub ? "nprofile" : "nevent") has.")
    }
    if author != nil || kind != nil, !isAddress, form != .nevent {
      throw ValidationError("--author and --kind go with nevent and naddr.")
    }
    if identifier != nil, !isAddress { throw ValidationError("--identifier goes with naddr.") }
    let isInParts = author != nil && kind != nil
    let hasParts = author != nil || kind != nil || identifier != nil
    if isAddress, value == nil ? !isInParts : hasParts {
      throw ValidationError("An naddr needs kind:pubkey:d, or --kind, --author and, if it has one, --identifier.")
    }
    guard relay.count <= NostrEntity.relayCountMaximum else {
      throw ValidationError("At most \(NostrEntity.relayCountMaximum) relays.")
    }
    do throws(RelayURLFault) { _ = try relays() } catch { throw ValidationError("\(error).") }
  }

  private func relays() throws(RelayURLFault) -> [RelayURL] {
    var urls: [RelayURL] = []
    for text in relay { urls.append(try RelayURL(text)) }
    return urls
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let entity = try await entity(in: session)
    guard let text = entity.text, let address = entity.uri else {
      throw Refusal(
        .badRequest, "an identifier in an naddr has at most \(AddressPointer.identifierByteCountMaximum) bytes",
        outcome: .notStarted)
    }
    await session.print(Answer(text: text, uri: address), [uri ? address : text])
    return .done
  }

  @EventLoopActor
  private func entity(in session: CommandSession) async throws(Refusal) -> NostrEntity {
    // `try?`: they were validated.
    let relays = (try? relays()) ?? []
    var writer: PublicKey?
    if let author { writer = try await Self.key(author, in: session) }
    switch form {
    case .npub: return .publicKey(try await Self.key(value ?? "", in: session))
    case .nprofile:
      return .profile(ProfilePointer(pubkey: try await Self.key(value ?? "", in: session), relays: relays))
    case .note: return .note(try eventID())
    case .nevent: return .event(EventPointer(id: try eventID(), relays: relays, author: writer, kind: kind))
    case .naddr:
      let address =
        if let value { EventAddress(value) } else {
          writer.flatMap { EventAddress(kind: kind ?? 0, pubkey: $0, identifier: TagValue(identifier ?? "")) }
        }
      guard let address else {
        throw Refusal(
          .badRequest, "that is no address: kind:pubkey:d, the kind replaceable (without d) or addressable",
          outcome: .notStarted)
      }
      return .address(AddressPointer(address, relays: relays))
    }
  }

  /// Only a name or an account needs a running Roost.
  @EventLoopActor
  private static func key(_ text: String, in session: CommandSession) async throws(Refusal) -> PublicKey {
    if PublicKey(text) == nil, !KeyArgument.looksLikeEntity(text) { try await session.client.connect() }
    return try await session.publicKey(text)
  }

  private func eventID() throws(Refusal) -> EventID {
    do throws(EntityFault) { return try EventID(spelled: value ?? "") } catch {
      throw Refusal(.badRequest, "the id cannot be read: \(error)", outcome: .notStarted)
    }
  }
}
