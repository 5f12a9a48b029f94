public import Contracts
internal import Frames
internal import Wording

/// Accounts as `roost key` shows them. They contain nothing secret.
public enum AccountText {
  /// What to type where there is no account.
  public static let advice = "'roost setup' makes one, takes one over, or reads along with one"

  /// A table of the accounts, and remarks about their files.
  public static func list(_ accounts: SignerAccounts, _ style: Style) -> [String] {
    var lines: [String] = []
    if accounts.accounts.isEmpty {
      lines.append("No accounts: \(advice).")
    } else {
      var table = TextTable([.init(title: "ACCOUNT"), .init(title: "STATE"), .init(title: "KEPT"), .init(title: "KEY")])
      for account in accounts.accounts {
        table.append([
          .init(account.name), .init(state(account), account.awaitsPassphrase ? .warning : .good),
          .init(kept(account)), .init(account.npub),
        ])
      }
      lines += table.lines(style)
    }
    if accounts.waiting > 0 {
      let text = accounts.waiting == 1 ? "1 request waits" : "\(accounts.waiting) requests wait"
      lines.append(style.paint("\(text) for a locked account.", .warning))
    }
    for problem in accounts.problems { lines.append(style.paint("Refused: ", .bad) + VisibleText.make(problem)) }
    if !accounts.isMemoryLocked {
      lines.append(style.paint("Keys are not locked into memory: the limit of locked memory is too low.", .warning))
    }
    return lines
  }

  /// The doctor's checks: one for each file that is refused, and one for the others.
  public static func checks(_ accounts: SignerAccounts) -> [DoctorResult.Check] {
    var text = Amount.count(accounts.accounts.count, "account")
    if accounts.problems.isEmpty { text += ", no key file refused" }
    var checks = [DoctorResult.Check(name: "keys", isGood: true, text: text)]
    let locked = accounts.accounts.present.filter(\.awaitsPassphrase).map(\.name)
    if let first = locked.first {
      // This is normal after each start of a signer whose keys have passphrases; nothing needs fixing.
      let are = locked.count == 1 ? "is locked and signs" : "are locked and sign"
      let text =
        "\(locked.joined(separator: ", ")) \(are) nothing until unlocked: roost key unlock \(first); "
        + "docs/workers/signer.md says how to have that done at each start"
      checks.append(DoctorResult.Check(name: "locked keys", isGood: true, isPending: true, text: text))
    }
    checks += accounts.problems.map { DoctorResult.Check(name: "key file", isGood: false, text: $0) }
    if !accounts.isMemoryLocked {
      let text = "keys are not locked into memory: the limit of locked memory is too low"
      checks.append(DoctorResult.Check(name: "key memory", isGood: false, text: text))
    }
    return checks
  }

  /// One account, a fact a line.
  public static func one(_ account: SignerAccount, _ style: Style) -> [String] {
    [
      ("account", account.name), ("npub", account.npub), ("hex", account.publicKey), ("state", state(account)),
      ("kept", kept(account)),
    ].map { name, value in
      style.paint(name + String(repeating: " ", count: 9 - name.count), .strong) + VisibleText.make(value)
    }
  }

  /// `alice is unlocked.` and its public key.
  public static func changed(_ account: SignerAccount, _ verb: String, _ style: Style) -> [String] {
    ["\(VisibleText.make(account.name)) is \(verb)."]
      + ["npub " + account.npub, "hex  " + account.publicKey].map { style.paint("  " + VisibleText.make($0), .dim) }
  }

  /// `unlocked, used`, `read-only`, `left`, `being forgotten`.
  private static func state(_ account: SignerAccount) -> String {
    if account.isForgetting == true { return "being forgotten" }
    if account.isLeft == true { return "left" }
    let word = account.isReadOnly == true ? "read-only" : account.state.rawValue
    return word + (account.isUsed == true ? ", used" : "")
  }

  private static func kept(_ account: SignerAccount) -> String {
    if account.isReadOnly == true { return "public key only" }
    if account.origin == .credential { return "credential" }
    return account.isEncrypted ? "encrypted" : "unencrypted"
  }
}
