import Addresses
import Bus
import Contracts
import Cryptography
import Frames
import LinuxSystem
import ListEditing
import Nostr
import NostrContracts
import PeopleLedger
import PersonAccounts
import Storage
import WorkerKit

// What callers ask of lists.

extension ListKeeper {
  private func key(
    _ account: String?, _ kind: UInt16, _ identifier: String?
  ) async throws(Refusal) -> (key: ListKey, account: SignerAccount) {
    guard ListChange.isEditable(kind: kind) else {
      throw Refusal(.badRequest, ListFault.noList(kind).description, outcome: .notStarted)
    }
    let identifier = identifier ?? ""
    guard identifier.isEmpty || KindClass(kind) == .addressable else {
      throw Refusal(.badRequest, "'identifier': an account has one list of kind \(kind)", outcome: .notStarted)
    }
    let found = try await accounts.account(account)
    return (ListKey(account: found.key, kind: kind, identifier: identifier), found.account)
  }

  // MARK: Reading

  func list(_ request: BusRequest, _ wanted: PeopleList) async throws(Refusal) -> KnownList? {
    let (key, account) = try await key(wanted.account, wanted.kind, wanted.identifier)
    if wanted.isFresh == true { _ = try await freshness.prove(key) }
    var known = KnownList(account: account.name, kind: key.kind, identifier: key.identifier)
    if let finding = freshness.known(key) {
      known.checkedAt = finding.freshness.isFresh ? finding.at : nil
      // What was answered a while ago is old, and its relay may be there.
      let away = finding.freshness.missing.filter { !finding.freshness.silent.contains($0) }
      known.silentRelays = away.isEmpty ? nil : away.map(\.text)
    }
    guard let event = try await version(wanted.id, key) else { return known }
    (known.id, known.createdAt) = ("\(event.id)", event.createdAt)
    (known.tags, known.content) = (event.tags, event.content)
    do throws(Refusal) {
      let (contents, problem) = try await opened(event)
      if let text = contents.hiddenText {
        // `try?`: what is no list of tags gets its problem below.
        known.privateTags = try? JSONPayload.decode([[String]].self, from: Array(text.utf8))
        if known.privateTags == nil { known.privateProblem = "they are no list of tags" }
      } else if contents.form != .none {
        known.privateProblem = problem ?? "they are in no known form"
      }
    } catch { known.privateProblem = error.message }
    return known
  }

  /// A version: the one with this id, or the newest.
  private func version(_ id: String?, _ key: ListKey) async throws(Refusal) -> Event? {
    guard let id else { return try await newest(key) }
    let found: Event?
    if let id = EventID(id) {
      let kept = try await reading { () throws(StorageFault) in try await ledger.event(id, of: key) }
      if let kept { found = kept } else { found = Self.event(try await query(Filter(ids: [id]))) }
    } else {
      throw Refusal(.badRequest, "'id' is not 64 hexadecimal digits", outcome: .notStarted)
    }
    guard let found, Self.key(of: found) == key else {
      throw Refusal(.noSuchEvent, "no version \(id) of this list is kept here", outcome: .notStarted)
    }
    return found
  }

  /// The newest version that is known: the store's, or one that was made here and is on its way there.
  private func newest(_ key: ListKey) async throws(Refusal) -> Event? {
    let stored = Self.event(try await storedNewest(key))
    let kept = try await reading { () throws(StorageFault) -> Event? in
      let memo = try await ledger.stored(key, withEvents: false)?.memo
      guard let head = memo?.head.flatMap({ EventID($0) }) else { return nil }
      return try await ledger.event(head, of: key)
    }
    guard let stored, let kept else { return stored ?? kept }
    return (stored.createdAt, kept.id) >= (kept.createdAt, stored.id) ? stored : kept
  }

  private func storedNewest(_ key: ListKey) async throws(Refusal) -> [UInt8]? {
    var filter = Filter(authors: [key.account], kinds: [key.kind], limit: 1)
    if KindClass(key.kind) == .addressable, let letter = TagLetter("d") {
      filter.tags[letter] = [TagValue(key.identifier)]
    }
    return try await query(filter)
  }

  /// The first event that matches, as its text.
  private func query(_ filter: Filter) async throws(Refusal) -> [UInt8]? {
    let answer = try await bus.ask(
      StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]), ttlMilliseconds: Self.answerMilliseconds)
    var first: [UInt8]?
    while let part = try await answer.nextPart() { first = first ?? part.bytes }
    return first
  }

  private static func event(_ json: [UInt8]?) -> Event? {
    // `try?`: the store has verified it.
    json.flatMap { try? Event(json: $0) }
  }

  /// The id and the signature of an event. The rest of a long list is read only if it is not known.
  private static func marks(of json: [UInt8]) -> (id: EventID, signature: Signature)? {
    json.withUnsafeBytes { bytes in
      // `try?`: what is no event is refused.
      guard let event = try? ScannedEvent(bytes), let signature = event.signature(in: bytes) else { return nil }
      return (event.id, signature)
    }
  }

  func versions(_ request: BusRequest, _ wanted: PeopleVersions) async throws(Refusal) -> StoreCount? {
    let (key, _) = try await key(wanted.account, wanted.kind, wanted.identifier)
    let stored = try await reading { () throws(StorageFault) in try await ledger.stored(key, withEvents: false) }
    let waiting = try await reading { () throws(StorageFault) in try await ledger.waiting(of: key) }
    let records = (stored?.records ?? []).filter(\.isKept)
      .sorted { ($0.createdAt, $1.id) > ($1.createdAt, $0.id) }
    for record in records {
      let row = ListVersionRow(
        id: "\(record.id)", createdAt: record.createdAt, isOurs: record.isOurs, entries: record.entryCount,
        isWaiting: waiting.contains(record.id))
      try await request.send(row, of: PeopleMethod.versions)
    }
    return StoreCount(count: records.count)
  }

  // MARK: Changing

  func edit(_ request: BusRequest, _ wanted: PeopleEdit) async throws(Refusal) -> EditedList? {
    let (key, account) = try await key(wanted.account, wanted.kind, wanted.identifier)
    guard account.state == .unlocked else {
      let why =
        account.awaitsPassphrase
        ? "'\(account.name)' is locked, and a list is signed: roost key unlock \(account.name)"
        : "a list is signed, and there is no key of \(account.name) here, only its public key; "
          + "'roost key import \(account.name)' takes it"
      throw Refusal(.locked, why, outcome: .notStarted)
    }
    let changes = try Self.changes(wanted.changes, of: key.kind)
    var silent: [String]?
    if wanted.fromHere != true {
      let freshness = try await freshness.prove(key)
      guard freshness.isFresh else {
        throw Refusal(
          .notFresh,
          "it is not known which version is the newest: \(freshness.sentence ?? "relays have not answered"); try again "
            + "when they can be reached, or change the version that is here (--from-here; 'fromHere' in a request)",
          outcome: .notStarted)
      }
      silent = freshness.missing.isEmpty ? nil : freshness.missing.map(\.text)
    }
    return try await turn(key) { () async throws(Refusal) in
      let known = try await history(key)
      if let newest = try await storedNewest(key), Self.marks(of: newest).map({ !known.isKnown($0.id) }) ?? false,
        let event = Self.event(newest)
      {
        _ = try await remember(event, key)
      }
      let edit: ListEdit
      if let undone = wanted.undo { edit = try await undo(undone, key) } else { edit = .changes(changes) }
      let step = try await step(edit, key)
      let none = ListContents(none: key.kind, identifier: key.identifier)
      let before = step.before ?? none
      if wanted.isMeant != true, let after = step.contents,
        let loss = ListShrinkage(from: before, to: after)
      {
        throw Refusal(
          .wouldReplace, "\(loss.sentence); if that is meant, say so (--yes; 'isMeant' in a request)",
          outcome: .notStarted)
      }
      let event = try await take(step, key)
      return EditedList(
        account: account.name, kind: key.kind, identifier: key.identifier, id: (event?.id ?? step.newest)?.description,
        isNew: event != nil, before: before.entryCount, after: (step.contents ?? before).entryCount,
        silentRelays: silent)
    }
  }

  private func step(_ edit: ListEdit, _ key: ListKey) async throws(Refusal) -> ListStep {
    var history = try await history(key)
    if history.isUndecided { history = try await learnPlaces(key) }
    do throws(ListFault) { return try history.next(edit) } catch {
      throw Refusal(.badRequest, error.description, outcome: .notStarted)
    }
  }

  /// What a version changed.
  private func undo(_ id: String, _ key: ListKey) async throws(Refusal) -> ListEdit {
    guard let version = try await version(id, key) else {
      throw Refusal(.noSuchEvent, "no version \(id) of this list is kept here", outcome: .notStarted)
    }
    let stored = try await reading { () throws(StorageFault) in try await ledger.stored(key, withEvents: false) }
    let older = (stored?.records ?? []).filter { record in
      record.isKept && (record.createdAt, version.id) < (version.createdAt, record.id)
    }.max { ($0.createdAt, $1.id) < ($1.createdAt, $0.id) }
    var previous = ListContents(none: key.kind, identifier: key.identifier)
    if let older,
      let event = try await reading({ () throws(StorageFault) in try await ledger.event(older.id, of: key) })
    {
      previous = try await contents(event)
    }
    return .undo(of: try await contents(version), to: previous)
  }

  /// The differences as the machine takes them.
  private static func changes(_ edits: [EntryEdit], of kind: UInt16) throws(Refusal) -> [ListChange] {
    var changes: [ListChange] = []
    for (place, edit) in edits.enumerated() {
      let given = [edit.add != nil, edit.remove != nil, edit.set != nil, edit.unset != nil].count { $0 }
      guard given == 1 else {
        throw bad("'changes[\(place)]' has \(given) of 'add', 'remove', 'set' and 'unset'; it has one")
      }
      if let tag = edit.add {
        guard tag.count > 1 else { throw bad("'changes[\(place)].add' is a tag of a name and a value") }
        let further: [String?]? = tag.count > 2 ? tag.dropFirst(2).map { $0.isEmpty ? nil : $0 } : nil
        changes.append(.add(tag[0], tag[1], further: further, to: edit.isPrivate == true ? .hidden : .open))
      } else if let tag = edit.remove {
        guard tag.count == 2 else { throw bad("'changes[\(place)].remove' is a name and a value") }
        changes.append(.remove(tag[0], tag[1], from: edit.isPrivate.map { $0 ? .hidden : .open }))
      } else if let field = edit.set {
        guard let value = edit.value else { throw bad("'changes[\(place)].value' is missing") }
        changes.append(.set(field, json: String(decoding: JSONPayload.encode(value), as: UTF8.self)))
      } else if let field = edit.unset {
        changes.append(.unset(field))
      }
    }
    for change in changes where change.action == .add || change.action == .set {
      let texts = [change.value] + (change.further ?? []).compactMap(\.self)
      guard !texts.contains(where: { SpottedSecret(in: $0) != nil }) else {
        throw bad("there is a secret key in it, and all would have it: nothing was changed")
      }
    }
    do throws(ListFault) { return try ListChange.checked(changes, kind: kind) } catch { throw bad(error.description) }
  }

  private static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }

  // MARK: The signer

  /// A version with its private part, if that can be decrypted.
  ///
  /// - Throws: when it cannot be decrypted now, and may be later.
  func contents(_ event: Event) async throws(Refusal) -> ListContents { try await opened(event).contents }

  /// The same, and why the private part does not decrypt.
  private func opened(_ event: Event) async throws(Refusal) -> (contents: ListContents, problem: String?) {
    let form = ListContents(event).form
    let method: Method<SignerCipher, SignerText>
    switch form {
    case .none, .unknown: return (ListContents(event), nil)
    case .nip44: method = SignerMethod.nip44Decrypt
    case .nip04: method = SignerMethod.nip04Decrypt
    }
    let key = "\(event.pubkey)"
    guard accounts.isOpen(event.pubkey) else {
      throw Refusal(.locked, "the account is locked, and the list has private entries", outcome: .notStarted)
    }
    do throws(Refusal) {
      let shown: JSONValue = try JSONPayload.decode(JSONValue.self, from: event.json)
      let opened = try await bus.request(
        method, SignerCipher(account: key, peer: key, contentOf: shown), ttlMilliseconds: Self.answerMilliseconds)
      return (ListContents(event, hiddenText: opened.text), nil)
    } catch {
      // What was never encrypted for this account does not decrypt later either.
      guard [.badRequest, .failed, .badPayload].contains(error.code) else { throw error }
      return (ListContents(event), error.message)
    }
  }

  func encrypted(_ text: String, _ account: PublicKey) async throws(Refusal) -> String {
    let key = "\(account)"
    return try await bus.request(
      SignerMethod.nip44Encrypt, SignerCipher(account: key, peer: key, text: text),
      ttlMilliseconds: Self.answerMilliseconds
    ).text
  }

  func signed(_ template: UnsignedEvent) async throws(Refusal) -> Event {
    // What is in the list already is no secret: all have it.
    let answer = try await bus.request(
      SignerMethod.sign,
      SignerSign(account: "\(template.pubkey)", event: RawJSON(template.json), allowSecrets: true),
      ttlMilliseconds: Self.answerMilliseconds)
    guard let signed = Self.marks(of: answer.event.bytes) else {
      throw Refusal(.failed, "the signer's answer is no event", outcome: .notStarted)
    }
    let event = Event(template, signature: signed.signature)
    guard event.id == signed.id else {
      throw Refusal(.failed, "the signer has signed something else", outcome: .notStarted)
    }
    return event
  }
}
