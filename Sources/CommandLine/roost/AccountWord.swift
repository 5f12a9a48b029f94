internal import ArgumentParser
internal import RoostClient

/// The account that `--as` names: what was typed, or else the variable `ROOST_ACCOUNT`.
struct AccountWord: ExpressibleByArgument, Sendable {
  /// A name, an npub or 64 hexadecimal digits; nil if neither names one, and then the account of `roost account use` is
  /// meant.
  let name: String?

  init(argument: String) { name = argument }

  private init() {
    let variable = ProcessEnvironment.current()["ROOST_ACCOUNT"] ?? ""
    name = variable.isEmpty ? nil : variable
  }

  /// Nothing was typed.
  static var unnamed: AccountWord { AccountWord() }

  /// As help shows it, whatever the variable is at the time.
  var defaultValueDescription: String { "$ROOST_ACCOUNT" }
}
