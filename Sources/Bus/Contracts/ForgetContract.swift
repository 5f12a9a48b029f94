// `people.forget`: removes an account from this machine, step by step.
//
//     signer.leave (caller) ─▶ relays looked up ─▶ people's own ─▶ account.forget at each worker ─▶ signer.remove
//
// The steps that are done are in the ledger of `people`, so it continues after the death of any process, with or
// without a caller. When the key is removed, these notes are removed too: nothing says afterwards that there was such
// an account.

/// `people.forget`: an account to forget. It must be left for it (`signer.leave` with `isForgetting`), which only a
/// client can do. If it is brought back before its key is removed, the forgetting ends where it is.
public struct PeopleForget: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"…, 64 hexadecimal digits"}"#

  /// The account, 64 hexadecimal digits.
  public var account: String

  /// An account to forget.
  public init(account: String) { self.account = account }
}

/// A part of `people.forget`: a step is done, or waits.
public struct ForgetStep: Codable, Sendable, Hashable, Payload {
  /// What is done: a worker's name, `relays`, `people` or `key`.
  public var step: String
  /// Whether it is done.
  public var isDone: Bool
  /// What was removed.
  public var gone: [AccountForgotten.Part]
  /// Why it waits, or what stays, as a sentence.
  public var remark: String?

  /// A step.
  public init(_ step: String, isDone: Bool, gone: [AccountForgotten.Part] = [], remark: String? = nil) {
    (self.step, self.isDone, self.gone, self.remark) = (step, isDone, gone, remark)
  }
}

/// The answer of `people.forget`: the key is gone.
public struct PeopleForgotten: Codable, Sendable, Hashable, Payload {
  /// What was removed, all steps together.
  public var gone: [AccountForgotten.Part]
  /// What stays on this machine, as sentences.
  public var remarks: [String]
  /// Relays that have events of the account, if that was known here, the one with the most first. Nothing is asked of
  /// them: deletion at relays is another thing (NIP-62), and needs the key.
  public var relays: [SourceRelays.Relay]

  /// What was removed, and what stays.
  public init(gone: [AccountForgotten.Part], remarks: [String], relays: [SourceRelays.Relay]) {
    (self.gone, self.remarks, self.relays) = (gone, remarks, relays)
  }
}
