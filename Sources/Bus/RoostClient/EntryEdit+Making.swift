public import Contracts
public import Cryptography
public import Frames

// The differences of which an edit of a list consists, and the edits that most applications need.

extension EntryEdit {
  /// An entry is to be in the list.
  ///
  /// - Parameters:
  ///   - tag: the entry, `["t", "nostr"]`; the name and a value at least.
  ///   - isPrivate: whether only the account can read it.
  public static func adding(_ tag: [String], isPrivate: Bool = false) -> EntryEdit {
    var edit = EntryEdit()
    edit.add = tag
    edit.isPrivate = isPrivate ? true : nil
    return edit
  }

  /// An entry is not to be in the list.
  ///
  /// - Parameters:
  ///   - name: the tag's name.
  ///   - value: its first value.
  ///   - isPrivate: whether it goes from the private or from the public entries only; nil: from both.
  public static func removing(_ name: String, _ value: String, isPrivate: Bool? = nil) -> EntryEdit {
    var edit = EntryEdit()
    edit.remove = [name, value]
    edit.isPrivate = isPrivate
    return edit
  }

  /// A field of a profile gets a value.
  public static func setting(_ field: String, to value: JSONValue) -> EntryEdit {
    var edit = EntryEdit()
    edit.set = field
    edit.value = value
    return edit
  }

  /// A field is not to be in the profile.
  public static func unsetting(_ field: String) -> EntryEdit {
    var edit = EntryEdit()
    edit.unset = field
    return edit
  }
}

extension RoostClient {
  /// Follows people: adds them to the follow list (kind 3), and leaves everything else in it. Refused as
  /// ``edit(_:)`` is.
  @discardableResult
  public func follow(_ keys: [PublicKey], as account: String? = nil) async throws(Refusal) -> EditedList {
    try await edit(PeopleEdit(account: account, kind: 3, changes: keys.map { .adding(["p", "\($0)"]) }))
  }

  /// Follows people no longer.
  @discardableResult
  public func unfollow(_ keys: [PublicKey], as account: String? = nil) async throws(Refusal) -> EditedList {
    try await edit(PeopleEdit(account: account, kind: 3, changes: keys.map { .removing("p", "\($0)") }))
  }

  /// Mutes people (kind 10000), so that only the account can read whom, unless `isPrivate` is false.
  @discardableResult
  public func mute(
    _ keys: [PublicKey], as account: String? = nil, isPrivate: Bool = true
  ) async throws(Refusal) -> EditedList {
    let changes = keys.map { EntryEdit.adding(["p", "\($0)"], isPrivate: isPrivate) }
    return try await edit(PeopleEdit(account: account, kind: 10_000, changes: changes))
  }

  /// Mutes people no longer, whether publicly or privately.
  @discardableResult
  public func unmute(_ keys: [PublicKey], as account: String? = nil) async throws(Refusal) -> EditedList {
    try await edit(PeopleEdit(account: account, kind: 10_000, changes: keys.map { .removing("p", "\($0)") }))
  }

  /// Changes fields of the account's profile (kind 0); the others stay as they are, byte for byte.
  ///
  /// - Parameters:
  ///   - fields: each field with its value; nil: the field goes.
  ///   - account: the account.
  @discardableResult
  public func editProfile(
    _ fields: [String: String?], as account: String? = nil
  ) async throws(Refusal) -> EditedList {
    let changes = fields.sorted { $0.key < $1.key }.map { field, value in
      value.map { EntryEdit.setting(field, to: .string($0)) } ?? .unsetting(field)
    }
    return try await edit(PeopleEdit(account: account, kind: 0, changes: changes))
  }

  /// Takes back what a version of a list changed, see ``versions(_:)``; later changes stay.
  @discardableResult
  public func undo(
    _ version: String, of kind: UInt16, named identifier: String? = nil, as account: String? = nil
  ) async throws(Refusal) -> EditedList {
    var wanted = PeopleEdit(account: account, kind: kind, identifier: identifier, changes: [])
    wanted.undo = version
    return try await edit(wanted)
  }
}

extension InboxItem {
  /// The event, read.
  ///
  /// - Throws: `bad-payload` when it cannot be read as one.
  public func received() throws(Refusal) -> ReceivedEvent { try ReceivedEvent(json: event.bytes, seq: seq) }
}
