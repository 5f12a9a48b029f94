internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

// What the commands of links and messages do in the same way: whom a text means, what people are called, sending, and
// showing page by page.

extension CommandSession {
  // MARK: Whom a text means

  /// Asks the worker with what was typed. A contact's name, and the id of a conversation, are for the worker to know;
  /// an account's name is tried when the worker knows no such conversation.
  func addressing<Value>(
    _ texts: [String], _ body: ([String]) async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    var spelled: [String] = []
    for text in texts { spelled.append(try await address(text)) }
    do throws(Refusal) { return try await body(spelled) } catch {
      guard error.code == .noSuchConversation else { throw error }
      // `try?`: without a signer the worker's refusal is shown.
      let accounts = (try? await client.accounts()) ?? []
      let keys = spelled.map { text in accounts.first { $0.name == text }?.publicKey ?? text }
      guard keys != spelled else { throw Self.explained(error) }
      do throws(Refusal) { return try await body(keys) } catch { throw Self.explained(error) }
    }
  }

  /// The same for one.
  func addressing<Value>(
    _ text: String, _ body: (String) async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await addressing([text]) { texts throws(Refusal) in try await body(texts[0]) }
  }

  /// A key in hexadecimal digits; any other text as it was typed.
  private func address(_ text: String) async throws(Refusal) -> String {
    // `try?`: what is no key may be a name.
    if let key = try? PublicKey(spelled: text) { return "\(key)" }
    let looksLikeKey = ["npub1", "nprofile1", "nsec1", "nostr:"].contains { text.lowercased().hasPrefix($0) }
    return looksLikeKey || KeyArgument.isName(text) ? "\(try await publicKey(text))" : text
  }

  private static func explained(_ refusal: Refusal) -> Refusal {
    guard refusal.code == .noSuchConversation else { return refusal }
    var refusal = refusal
    refusal.message += "\nType an npub or name@domain, or add a contact: roost links contacts add NPUB NAME"
    return refusal
  }

  /// The contact that a text names, by its name or its key.
  func contact(_ text: String, of account: String?) async throws(Refusal) -> LinkContact {
    let contacts = try await client.contacts(of: account)
    if let contact = contacts.first(where: { $0.name.lowercased() == text.lowercased() }) { return contact }
    // `try?`: what is no key and no name is reported below.
    let key = try? await publicKey(text)
    if let key, let contact = contacts.first(where: { $0.publicKey == "\(key)" }) { return contact }
    throw Refusal(
      .badRequest, "there is no contact '\(text)'; 'roost links contacts' shows them", outcome: .notStarted)
  }

  /// The conversation of messages with exactly these people.
  func messageConversation(with texts: [String], of account: String?) async throws(Refusal) -> String {
    var members: Set<String> = []
    let contacts = try await client.contacts(of: account)
    for text in texts {
      if let contact = contacts.first(where: { $0.name.lowercased() == text.lowercased() }) {
        members.insert(contact.publicKey)
      } else {
        members.insert("\(try await publicKey(text))")
      }
    }
    var wanted = LinksList(account: account)
    wanted.limit = LinksList.limitMaximum
    while true {
      let rows = try await client.messageConversations(wanted)
      if let row = rows.first(where: { Set($0.members) == members }) { return row.id }
      guard let last = rows.last, last.place != wanted.before else { break }
      wanted.before = last.place
    }
    throw Refusal(
      .noSuchConversation, "there is no conversation with exactly these people; 'roost messages list' shows them",
      outcome: .notStarted)
  }

  // MARK: Names

  /// How long profiles may take, in milliseconds: without them keys are shown.
  private static let profileMilliseconds: UInt32 = 3_000

  /// What people are called. Nothing is asked of relays.
  func linkNames(_ account: String?, of keys: [String]) async -> LinkNames {
    guard !isJSON else { return LinkNames() }
    // `try?`: without names keys are shown.
    var names = LinkNames(contacts: (try? await client.contacts(of: account)) ?? [])
    await add(keys, to: &names)
    return names
  }

  /// Adds the names of people whose profiles are known.
  func add(_ keys: [String], to names: inout LinkNames) async {
    let unknown = Set(keys).filter { names.isUnknown($0) && PublicKey($0) != nil }.sorted()
    guard !isJSON, !unknown.isEmpty, isReady(.people) else { return }
    for start in stride(from: 0, to: unknown.count, by: PeopleProfiles.keyMaximum) {
      let some = Array(unknown[start..<min(start + PeopleProfiles.keyMaximum, unknown.count)])
      let options = RequestOptions.idempotent(ttlMilliseconds: Self.profileMilliseconds)
      // `try?`: as above.
      let pages = try? await client.stream(
        PeopleMethod.profiles, PeopleProfiles(keys: some, policy: .cacheOnly), options: options
      ).collect()
      for page in pages ?? [] { names.add(page.profiles) }
    }
  }

  // MARK: Sending

  /// Sends, waits, and prints what became of it.
  ///
  /// - Parameters:
  ///   - way: who sends, and how long it waits.
  ///   - typed: what a person must not lose.
  ///   - method: what is asked.
  ///   - command: what shows later what became of it.
  ///   - body: asks.
  func sendLink(
    _ way: LinkWay, typed: TypedText, _ method: MethodDeclaration, shownBy command: String,
    _ body: () async throws(Refusal) -> SentLink
  ) async throws(Refusal) -> ExitStatus {
    try way.check(typed.text)
    try onInterrupt(.interrupted) { [unowned self] in
      display.interrupted()
      if !isJSON { note("What the worker has accepted is kept, and sent: \(command)", .warning) }
    }
    let sent: SentLink
    do throws(Refusal) {
      sent = try await waiting(
        for: method, needing: [Role.outboxPlanner.name, Role.signer.name], otherwise: "relays are asked to take it",
        body)
    } catch {
      if !isJSON, typed.isFromInput || error.code == .notSent { giveBack(typed.text) }
      throw error
    }
    if isJSON {
      await output.writeLine(JSONPayload.encode(sent))
    } else {
      let own = await ownKey(way.account.name)
      let names = await linkNames(way.account.name, of: sent.copies.map(\.recipient))
      let command = sent.session == nil ? command : "roost links show \(ShellWord.make(sent.conversation))"
      await output.writeLines(LinkSendingText.lines(sent, own: own, names: names, command: command, style))
    }
    return sent.stage == .failed || sent.stage == .partly ? .failed : .done
  }

  /// The account's key; nil if it is not clear which account is meant.
  private func ownKey(_ account: String?) async -> String? {
    // `try?`: it only decides whether a copy is called the recipient's.
    (try? self.account(account, among: try await accounts()))?.publicKey
  }

  /// Prints a text that was not sent.
  private func giveBack(_ text: String) {
    note("What you typed:", .warning)
    SecretInput.say(LinkSendingText.typed(text, isTerminal: Terminal.isTerminal(STDERR_FILENO)) + "\n")
  }

  // MARK: Showing

  /// Shows entries page by page, as many as are wanted.
  ///
  /// - Parameters:
  ///   - wanted: of which conversation or post.
  ///   - paging: how many.
  ///   - page: asks for a page.
  /// - Returns: how many were shown.
  func showEntries(
    _ wanted: LinksShow, _ paging: LinkPaging, _ page: (LinksShow) async throws(Refusal) -> [LinkRow]
  ) async throws(Refusal) -> ShownRows {
    output.leaveWithReader()
    var wanted = wanted
    var shown = 0
    var (newest, oldest): (String?, String?) = (nil, nil)
    var names = await linkNames(wanted.account, of: [])
    let isBlock = Terminal.isTerminal(STDOUT_FILENO)
    while paging.maximum.map({ shown < $0 }) ?? true {
      wanted.limit = min(paging.maximum.map { $0 - shown } ?? .max, LinksList.limitMaximum)
      let rows = try await page(wanted)
      guard let last = rows.last, last.place != wanted.before else { break }
      if isJSON {
        for row in rows { await output.writeLine(JSONPayload.encode(row)) }
      } else {
        await add(rows.flatMap { row in [row.author] + (row.reactions ?? []).map(\.author) }, to: &names)
        await output.writeLines(rows.flatMap { LinkText.lines($0, isBlock: isBlock, names: names, style) })
      }
      shown += rows.count
      newest = newest ?? rows.first?.place
      oldest = last.place
      wanted.before = last.place
    }
    if !isJSON, paging.limit == nil, shown == paging.maximum { note("-- there may be more: --all") }
    return ShownRows(count: shown, newest: newest, oldest: oldest)
  }
}

/// The rows that were shown: only these are marked as read.
struct ShownRows {
  /// How many.
  let count: Int
  /// The place of the first one; nil: there was none.
  let newest: String?
  /// The place of the last one.
  let oldest: String?

  /// What is read by it.
  func read(_ account: String?, _ conversation: String) -> LinksRead {
    var wanted = LinksRead(account: account, conversation: conversation)
    (wanted.newest, wanted.oldest) = (newest, oldest)
    return wanted
  }
}
